// SPDX-License-Identifier: BSD-2-Clause
/* The manager's part of partitions at run time, for one test: linked by --wrap. */
#pragma once

#include "tests/unit/control-talk.h"

static struct {
	struct tenant_request rq; /* the last one; its members are ours */
	bool wait, dry_run;
	unsigned n_requests;
	sm_tenancy_done_fn *done;
	sm_tenancy_audit_fn *audited;
	void *arg;
	bool busy, standby;
	const char *closed;
	unsigned open;
	uint16_t open_of; /* the P_Key that was asked about; 0: none */
	unsigned n_looked_up; /* members, one by one */
	struct tenants *table;
	char log[4096];
} fake;

void __wrap_sm_tenancy_request(struct sm *sm, const struct tenant_request *rq, bool wait,
			       bool dry_run, sm_tenancy_done_fn *done, void *arg);
void __wrap_sm_tenancy_abandon(struct sm *sm, const void *arg);
enum sm_state __real_sm_state(const struct sm *sm);
enum sm_state __wrap_sm_state(const struct sm *sm);
const struct tenants *__wrap_sm_tenants(const struct sm *sm);
const char *__wrap_sm_tenancy_closed(const struct sm *sm);
unsigned __wrap_sm_tenancy_open(struct sm *sm, uint16_t pkey);
const char *__wrap_sm_tenancy_pending(const struct sm *sm, guid_t guid);
struct sm_tenancy_pending *__wrap_sm_tenancy_all_pending(const struct sm *sm, size_t *ret_n,
							 const char **ret_other);
bool __wrap_sm_tenancy_verify(struct sm *sm, sm_tenancy_audit_fn *done, void *arg);

void __wrap_sm_tenancy_request(struct sm *sm, const struct tenant_request *rq, bool wait,
			       bool dry_run, sm_tenancy_done_fn *done, void *arg)
{
	free(fake.rq.members);
	fake.rq = *rq;
	fake.rq.members = xmemdup(rq->members, rq->n_members * sizeof(rq->members[0]));
	fake.wait = wait;
	fake.dry_run = dry_run;
	fake.done = done;
	fake.arg = arg;
	fake.n_requests++;
}

void __wrap_sm_tenancy_abandon(struct sm *sm, const void *arg)
{
}

enum sm_state __wrap_sm_state(const struct sm *sm)
{
	return fake.standby ? SM_STANDBY : __real_sm_state(sm);
}

const struct tenants *__wrap_sm_tenants(const struct sm *sm)
{
	return fake.table;
}

const char *__wrap_sm_tenancy_closed(const struct sm *sm)
{
	return fake.closed;
}

unsigned __wrap_sm_tenancy_open(struct sm *sm, uint16_t pkey)
{
	fake.open_of = pkey;
	return fake.open;
}

const char *__wrap_sm_tenancy_pending(const struct sm *sm, guid_t guid)
{
	fake.n_looked_up++;
	return guid == 0xdead ? "no such port in the fabric" : NULL;
}

/* Two ports. */
struct sm_tenancy_pending *__wrap_sm_tenancy_all_pending(const struct sm *sm, size_t *ret_n,
							 const char **ret_other)
{
	static const struct sm_tenancy_pending ports[] = {
		{ 0xbeef, "its link is down" }, { 0xace, NULL },
	};

	*ret_n = ARRAY_SIZE(ports);
	*ret_other = "no such port in the fabric";
	return xmemdup(ports, sizeof(ports));
}

bool __wrap_sm_tenancy_verify(struct sm *sm, sm_tenancy_audit_fn *done, void *arg)
{
	fake.audited = done;
	fake.arg = arg;
	return !fake.busy;
}
