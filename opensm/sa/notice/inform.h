// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subscriptions to notices: shared by inform.c (subscribing), report.c (sending), and db.c.
 *
 * A subscriber is a queue pair of a port, at the address its request came from; it has one or more
 * subscriptions and one place in the log of events. It is remembered by the GUID of its port: when
 * the LID moves, the address moves along, and while the port is away no Report is sent to it.
 *
 * Quota: SA_QUOTA_SUBSCRIPTIONS (a hypervisor subscribes for its guests). Order and loss of
 * Reports: report.c.
 */
#pragma once

#include <sys/queue.h>

#include "sa/base/roll.h"
#include "sa/base/sa_internal.h"

struct subscriber;

struct subscription {
	struct subscriber *subscriber;
	struct subscription *next; /* next subscription of the same subscriber */
	uint64_t id;		   /* number in the roll */
	uint8_t info[INF_BYTES]; /* InformInfo: QPN is the subscriber's, Subscribe 1, reserved 0 */
	/* set if it may have security traps; when restored: if it names such a trap */
	bool trusted;
};

/*
 * Each state is a list of report.c.
 *
 *   READY --all events looked at--> IDLE --an event is raised--> READY
 *     |  \--no slot of its kind is free--> BLOCKED, CROWDED --a slot is free--> READY
 *     \--a matching event, and room--> WAITING --answered--> READY
 *                                         \--last try lost--> RESTING --time is over--> READY
 */
enum subscriber_state {
	SUBSCRIBER_READY,
	SUBSCRIBER_IDLE,
	/* did not answer last time; all slots for such subscribers are in use */
	SUBSCRIBER_BLOCKED,
	SUBSCRIBER_CROWDED, /* its port has as many Reports under way as allowed */
	SUBSCRIBER_WAITING,
	SUBSCRIBER_RESTING,
	SUBSCRIBER_STATES
};

struct subscriber {
	guid_t port_guid;
	struct transport_addr addr;
	lid_t lid_offset;	  /* offset of addr.lid from the base LID */
	struct subscriber *chain; /* next subscriber of the same port */
	struct subscription *subscriptions;

	/* Writer: report.c. */
	enum subscriber_state state;
	TAILQ_ENTRY(subscriber) link; /* link in the list of its state */
	uint64_t seen;		      /* number of the next event to examine */
	unsigned failures;	      /* Reports in a row without an answer */
	mono_t rest_until;
};

/* ---- inform.c ---- */

/* Does a notice (NT_BYTES) match the subscription `info` (INF_BYTES)? traps.md 6, 13.4.11. */
bool inform_matches(const uint8_t *info, const uint8_t *notice);
/* Is it one of traps 256 to 259, which name the ports of both ends, whatever their partitions? */
bool inform_is_security(const uint8_t *notice);
/* Removes a subscription. True: it was the subscriber's last, and s->subscriber is freed, too. */
bool informs_remove(struct sa *sa, struct subscription *s);
/* Removes all subscriptions of a subscriber, and frees it. */
void informs_remove_subscriber(struct sa *sa, struct subscriber *sub);
/* The next older subscription; see roll_before(). */
struct subscription *informs_before(const struct sa *sa, uint64_t *cursor);
void informs_clear(struct sa *sa); /* removes all */
/*
 * Restores a subscription after a restart. `port_guid` is not 0; `addr` is copied; `info` has
 * INF_BYTES. Returns 0; -EEXIST; -ENOSPC (quota).
 */
int informs_restore(struct sa *sa, guid_t port_guid, const struct transport_addr *addr,
		    const uint8_t *info);

/* ---- report.c ---- */

/* Adds a new subscriber, which gets events from now on. */
void reports_admit(struct sa *sa, struct subscriber *sub);
/* Called before the subscriber is freed: Reports under way to it have no receiver any more. */
void reports_forget(struct sa *sa, struct subscriber *sub);
/* A new view, or none: then no Report is sent any more, and all events are forgotten. */
void reports_view_changed(struct sa *sa);
/*
 * Raises trap 64 to 67 for a GID that `view` has: port `about` is in it, though perhaps not in
 * sa->view.
 */
void reports_raise_gid(struct sa *sa, enum ib_trap trap, guid_t interface_id,
		       const struct view *view, uint32_t about);
