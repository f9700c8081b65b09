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
	struct subscription *next; /* of the same subscriber */
	uint64_t id;		   /* in the roll */
	uint8_t info[INF_BYTES]; /* InformInfo: QPN is the subscriber's, Subscribe 1, reserved 0 */
	bool trusted; /* may have security traps; of a restored one: it names such a trap */
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
	SUBSCRIBER_BLOCKED, /* did not answer last time; all slots for such are used */
	SUBSCRIBER_CROWDED, /* its port has as many Reports on their way as a port may have */
	SUBSCRIBER_WAITING,
	SUBSCRIBER_RESTING,
	SUBSCRIBER_STATES
};

struct subscriber {
	guid_t port_guid;
	struct transport_addr addr;
	lid_t lid_offset;	  /* of addr.lid above the base LID */
	struct subscriber *chain; /* of the same port */
	struct subscription *subscriptions;

	/* Writer: report.c. */
	enum subscriber_state state;
	TAILQ_ENTRY(subscriber) link; /* in the list of its state */
	uint64_t seen;		      /* number of the next event to look at */
	unsigned failures;	      /* Reports in a row without an answer */
	mono_t rest_until;
};

/* ---- inform.c ---- */

/* Does a notice (NT_BYTES) match the subscription `info` (INF_BYTES)? traps.md 6, 13.4.11. */
bool inform_matches(const uint8_t *info, const uint8_t *notice);
/* Traps 256 to 259: they name the ports of both ends, whatever partitions these are in. */
bool inform_is_security(const uint8_t *notice);
/* Takes a subscription back. True: it was the subscriber's last, and s->subscriber is freed too. */
bool informs_remove(struct sa *sa, struct subscription *s);
/* Takes back all subscriptions of a subscriber; frees it. */
void informs_remove_subscriber(struct sa *sa, struct subscriber *sub);
/* Newest first; see roll_before(). */
struct subscription *informs_before(const struct sa *sa, uint64_t *cursor);
void informs_clear(struct sa *sa); /* takes all of them back */
/*
 * Puts a subscription where it was before a restart. `port_guid` is not 0; `addr` is copied; `info`
 * has INF_BYTES. 0, -EEXIST, -ENOSPC (quota).
 */
int informs_restore(struct sa *sa, guid_t port_guid, const struct transport_addr *addr,
		    const uint8_t *info);

/* ---- report.c ---- */

/* A new subscriber gets events from now on. */
void reports_admit(struct sa *sa, struct subscriber *sub);
/* The subscriber is about to be freed: Reports on the wire to it have no receiver any more. */
void reports_forget(struct sa *sa, struct subscriber *sub);
/* A new view, or none: then no Report is sent any more, and all events are forgotten. */
void reports_view_changed(struct sa *sa);
/*
 * Trap 64 to 67 of a GID that `view` has: the port `about` is there (it may be missing in sa->view
 * by now).
 */
void reports_raise_gid(struct sa *sa, enum ib_trap trap, guid_t interface_id,
		       const struct view *view, uint32_t about);
