// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two and three managers of ours, changes that one of them is asked for, and what devices hold
 * then: for test-sm-ledger*.c.
 */
#pragma once

#include <sys/stat.h>

#include "two-managers.h"
#include "util/random.h"
#include "sm/ledger/settle.h"

struct answer {
	bool is_there, replicated;
	unsigned with, of; /* standbys */
	enum sm_tenancy_end end;
	char text[300];
};

static inline void on_answer(void *arg, const struct sm_tenancy_result *r)
{
	struct answer *a = arg;

	*a = (struct answer){ .is_there = true,
			      .replicated = r->replicated,
			      .with = r->n_standbys_with,
			      .of = r->n_standbys,
			      .end = r->end };
	snprintf(a->text, sizeof(a->text), "%s", r->text);
}

/* Asks the manager for a change of one membership, and does not wait for the answer. */
static inline void submit(struct world *w, unsigned which, bool give, unsigned pkey, unsigned host,
			  struct answer *a)
{
	struct tenant_member member = { w->host[host]->guid, true, false };
	const struct tenant_request rq = {
		.action = give ? TENANT_ADD : TENANT_REMOVE,
		.pkey = (uint16_t)pkey,
		.members = &member,
		.n_members = 1,
		.keep_empty = true,
	};

	*a = (struct answer){ 0 };
	sm_tenancy_request(sm_of(w, which), &rq, true, false, on_answer, a);
}

static inline struct answer ask_for(struct world *w, unsigned which, bool give, unsigned pkey,
				    unsigned host)
{
	static struct answer a;
	mono_t until = sim_now(w->rig->sim) + 20 * MONO_S;

	submit(w, which, give, pkey, host, &a);
	while (!a.is_there && rig_step(w->rig, until))
		;
	assert_true(a.is_there);
	return a;
}

static inline bool table_holds(struct world *w, int node, unsigned port, unsigned key)
{
	for (unsigned i = 0; i < 64; i++) {
		uint8_t block[SMP_DATA_SIZE];

		if (sim_read(w->rig->sim, node, IB_ATTR_PKEY_TABLE, port << 16 | i / 32, block) < 0)
			return false;
		if (ib_bits_get(block, i % 32 * 16, 16) == key)
			return true;
	}
	return false;
}

static inline bool host_holds(struct world *w, unsigned host, unsigned key)
{
	return table_holds(w, w->host[host]->node, 0, key);
}

static inline bool switch_holds(struct world *w, unsigned host, unsigned key)
{
	unsigned port;
	int leaf;

	assert_true(sim_peer(w->rig->sim, w->host[host]->node, 1, &leaf, &port));
	return table_holds(w, leaf, port, key);
}

static inline uint64_t generation_of(struct world *w, unsigned which)
{
	return tenants_generation(sm_tenants(sm_of(w, which)));
}

static const char *const ports[] = { "h0", "h11", "h10" };

/* The n-th manager (0: h0, 1: h11, 2: h10) starts, with the folder that it has; its number. */
static inline unsigned begin(struct world *w, unsigned which)
{
	_cleanup_free_ char *third = xasprintf("%s/third", w->dir[SPARE]);
	int n;

	if (which == 2) {
		w->host[10] = client_free(w->host[10]);
		mkdir(third, 0700);
	}
	n = rig_start(w->rig, ports[which], 1, w->conf[MIN(which, 1u)],
		      which < 2 ? w->dir[which] : third);
	assert_true(n >= 0);
	return (unsigned)n;
}

static inline bool has_standbys(struct world *w, unsigned n)
{
	struct sm *master = rig_master(w->rig);

	return master && settle_may_write(master) && sm_tenancy_standbys(master) >= n;
}

/* Runs until there is one master that may write, and `n` standbys have all it has. */
static inline struct sm *settled(struct world *w, unsigned n)
{
	mono_t until = sim_now(w->rig->sim) + 180 * MONO_S;

	while (!has_standbys(w, n) || rig_sweeping(w->rig))
		assert_true(rig_step(w->rig, until));
	return rig_master(w->rig);
}

static inline unsigned number_of(struct world *w, const struct sm *sm)
{
	for (unsigned i = 0; i < w->rig->n_sms; i++) {
		if (w->rig->sms[i].sm == sm)
			return i;
	}
	fail();
	return 0;
}

static inline void start_connected(struct world *w)
{
	start_both(w);
	settled(w, 1);
}

/* Cables of leaf1 to both spines: h0 to h5 are on their own. */
static inline void split(struct world *w, bool apart)
{
	int leaf = sim_find(w->rig->sim, "leaf1");

	for (unsigned port = 1, n = 0; port <= 12 && n < 2; port++) {
		unsigned peer_port;
		int peer;

		if (!sim_peer(w->rig->sim, leaf, port, &peer, &peer_port) ||
		    (peer != sim_find(w->rig->sim, "spine1") &&
		     peer != sim_find(w->rig->sim, "spine2")))
			continue;
		if (apart)
			sim_link_down(w->rig->sim, leaf, port);
		else
			sim_link_up(w->rig->sim, leaf, port);
		n++;
	}
}
