// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of services that hosts registered, shared by service.c, events.c and the database.
 *
 * Quota: SA_QUOTA_SERVICES; the requester is charged, not the port of the GID.
 */
#pragma once

#include "sa/base/sa_internal.h"

#define SERVICE_FOREVER 0xFFFFFFFFu /* ServiceLease */

struct service {
	uint64_t id;		   /* number in the roll */
	uint64_t hash;		   /* hash of the identity */
	struct service *chain;	   /* next service with the same hash */
	bool manager;		   /* set for a record with SA_MANAGER_ID */
	guid_t owner;		   /* port that registered it; after a restore that of its GID */
	uint8_t record[SVR_BYTES]; /* as registered, with the requested lease and the key */
	uint32_t left;		   /* seconds left at `since`, or SERVICE_FOREVER */
	mono_t since;		   /* MONO_NEVER: restored, the lease runs from the first tick on */
	/* value in the file it was restored from; written again, not used */
	uint64_t modified_time;
};

/* The next older service; see roll_before(). */
struct service *services_before(const struct sa *sa, uint64_t *cursor);
/* The seconds that remain, rounded up; SERVICE_FOREVER: no end. */
uint32_t service_left(const struct service *s, mono_t now);
/* Restores a service. Returns 0; -EEXIST: same identity; -ENOSPC: quota. `record`: SVR_BYTES. */
int services_restore(struct sa *sa, const uint8_t *record, uint32_t left, uint64_t modified_time);
void services_clear(struct sa *sa); /* drops all but our own manager's */
/* drop_event_subscriptions: removes services of ports that went, or all after standby. */
void services_view_changed(struct sa *sa, const struct view *before);
