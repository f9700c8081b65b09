// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of services that hosts registered, shared by service.c, events.c and the database.
 *
 * Quota: SA_QUOTA_SERVICES; the requester is charged, not the port of the GID.
 */
#pragma once

#include "sa/base/sa_internal.h"

#define SERVICE_FOREVER	0xFFFFFFFFu /* ServiceLease */

struct service {
	uint64_t id;		   /* in the roll */
	uint64_t hash;		   /* of the identity */
	struct service *chain;	   /* of the same hash */
	bool manager;		   /* see SA_MANAGER_ID */
	guid_t owner;		   /* port that registered it; after a restore that of the GID */
	uint8_t record[SVR_BYTES]; /* as registered: the lease that was asked for, and the key */
	uint32_t left;		   /* seconds at `since`, or SERVICE_FOREVER */
	mono_t since;		   /* MONO_NEVER: restored, begins to count with the first tick */
	uint64_t modified_time;	   /* of the file it comes from; shown there, not used */
};

/* Newest first; see roll_before(). */
struct service *services_before(const struct sa *sa, uint64_t *cursor);
/* Seconds that remain, rounded up; SERVICE_FOREVER. */
uint32_t service_left(const struct service *s, mono_t now);
/* 0, -EEXIST (same identity), -ENOSPC (quota). `record`: SVR_BYTES. */
int services_restore(struct sa *sa, const uint8_t *record, uint32_t left, uint64_t modified_time);
void services_clear(struct sa *sa); /* drops all but our own manager's */
/* drop_event_subscriptions: services of ports that went, or all of them after standby. */
void services_view_changed(struct sa *sa, const struct view *before);
