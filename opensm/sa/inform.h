// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who wants to hear of what: shared by inform.c (who subscribed), report.c (who is told), and db.c.
 *
 * A subscriber is a queue pair of a port, at the address its request came from; it has one or more
 * subscriptions and one place in the log of events. It is remembered by the GUID of its port: when
 * the LID moves, the address moves along, and while the port is away nothing is sent.
 *
 * Quotas: one port has at most INFORM_PER_PORT subscriptions (a hypervisor subscribes for its guests),
 * all of them INFORM_MAX; of these, the last eighth is only for ports that have INFORM_FEW or less.
 *
 * Order of what is told, and what is lost: report.c.
 */
#pragma once

#include "sa/impl.h"
#include "sa/roll.h"

#define INFORM_PER_PORT 512
#define INFORM_MAX	65536
#define INFORM_FEW	8

struct subscriber;

struct subscription {
	struct subscriber *who;
	struct subscription *next; /* of the same subscriber */
	uint64_t id;		   /* in the roll */
	uint8_t info[INF_BYTES]; /* InformInfo: QPN is the subscriber's, Subscribe 1, reserved 0 */
};

struct link {
	struct link *prev, *next;
};

/*
 *   LISTENING --an event, and room--> WAITING --answered--> LISTENING
 *       ^                                \--last try lost--> RESTING --time is over-.
 *       \---------------------------------------------------------------------------'
 */
enum subscriber_state { SUBSCRIBER_LISTENING, SUBSCRIBER_WAITING, SUBSCRIBER_RESTING };

struct subscriber {
	guid_t port_guid;
	struct transport_addr addr;
	lid_t lid_offset;	 /* of addr.lid above the base LID */
	struct subscriber *next; /* of the same port */
	struct subscription *subscriptions;

	/* Writer: report.c. */
	enum subscriber_state state;
	struct link link;  /* in the list of its state */
	uint64_t seen;	   /* number of the event it has not looked at yet */
	unsigned failures; /* reports in a row that nobody answered */
	mono_t rest_until;
};

/* ---- inform.c ---- */

/* Does a notice (NT_BYTES) interest who subscribed with `info` (INF_BYTES)? traps.md 6. */
bool inform_matches(const uint8_t *info, const uint8_t *notice);
/* Takes a subscription back. True: it was the subscriber's last, and `s->who` is gone too. */
bool informs_remove(struct sa *sa, struct subscription *s);
/* Takes back all that one subscriber has; frees it. */
void informs_remove_subscriber(struct sa *sa, struct subscriber *who);
/* Newest first; see roll_before(). */
struct subscription *informs_before(const struct sa *sa, uint64_t *cursor);
size_t informs_count(const struct sa *sa);
void informs_clear(struct sa *sa); /* takes all of them back */
/* Puts a subscription where it was before a restart. 0, -EEXIST, -ENOSPC (quota). */
int informs_restore(struct sa *sa, guid_t port_guid, const struct transport_addr *addr,
		    const uint8_t *info);

/* ---- report.c ---- */

/* A new subscriber hears of events from now on. */
void reports_admit(struct sa *sa, struct subscriber *who);
/* It is about to be freed: whatever is on the wire to it is nobody's. */
void reports_forget(struct sa *sa, struct subscriber *who);
/* A new view, or none: then nothing is sent any more, and what was to be told is forgotten. */
void reports_view_changed(struct sa *sa);
/*
 * Trap 64 to 67, seen from `view`, which holds the port `about` (or VIEW_NONE, with the pkey of a
 * group): for ports that are in the last view no more.
 */
void reports_raise_gid(struct sa *sa, enum ib_trap trap, guid_t interface_id,
		       const struct view *view, uint32_t about);
