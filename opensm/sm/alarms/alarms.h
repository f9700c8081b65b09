// SPDX-License-Identifier: BSD-2-Clause
/*
 * The list of alarms: faults, degraded links and planned work. Every page, metric and event that
 * names a fault names a row of it.
 *
 *   nothing wrong --found by a look--> ALARM --not found any more, or forgotten--> nothing wrong
 *
 * An object (a device, a cable, a switch port, the manager) has one alarm, of the severest kind
 * that was found (alarm_kinds.def); further kinds are named beside it. What an administrator took
 * out of service is one alarm of class PLANNED, which takes the place of all that follows from it.
 * A device that is gone, or silent, stands for what is behind it.
 *
 * The list is looked for when a sweep has ended, and when it is shown and the last
 * look is old.
 * Only a MASTER looks at the fabric: in other states the list has the manager's own alarms.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "sm/base/alarm_kinds.h"
#include "sm/sm.h"

#define ALARM_OBJECT_STRLEN 160
#define ALARM_TEXT_STRLEN   320
/* Most alarms that are kept; the others are counted. */
#define ALARMS_MAX	    4096u

struct alarm_end {
	guid_t node;  /* 0: none */
	uint8_t port; /* 0: the node as a whole */
};

struct alarm {
	enum alarm_kind kind;
	unsigned long long also; /* bit mask of further kinds found at the object */
	struct alarm_end at;	 /* object; of a cable one end. GUID 0: the manager */
	struct alarm_end far;	 /* other end of the cable */
	/* port of the fabric where an administrator looks: of a device that is gone the switch port
	 * that it was behind; GUID 0: none */
	struct alarm_end where;
	unsigned n;    /* ports or hosts that the alarm stands for, beside the object; 0: none */
	int64_t since; /* begin in seconds since 1970; 0: not known */
	bool before;   /* set if it was so when this manager began to look */
	char object[ALARM_OBJECT_STRLEN]; /* "leaf3/7 - spine2/3", "spine9", "this manager" */
	char text[ALARM_TEXT_STRLEN]; /* cause, the rest of a sentence that begins with `object` */
	char by[64], why[128]; /* PLANNED: the administrator, and the reason given; "": not known */
};

/* The n-th alarm (from 0), the severest kinds first, valid until the next dispatch; NULL: none. */
const struct alarm *sm_alarm_at(struct sm *sm, unsigned n);
/* The next step of an administrator, with the name of the object. Returns `ret`. */
#define ALARM_TODO_STRLEN 320
char *sm_alarm_todo(const struct alarm *a, char ret[ALARM_TODO_STRLEN]);
/* Since when the fabric is looked at, in seconds since 1970; 0: it is not, or not known. */
int64_t sm_alarms_since(const struct sm *sm);
/* The number of alarms by class, also of those beyond ALARMS_MAX. */
unsigned sm_alarms(struct sm *sm, enum alarm_class class);
/*
 * Writes the counts, and the causes of the severest, in at most `cap` bytes: "2 faults, 1 planned:
 * h5: is gone; leaf1/7 - spine2/1: the link is down"; "": no alarm. Returns the number of alarms.
 */
unsigned sm_alarms_line(struct sm *sm, char *ret, size_t cap);
/*
 * Forgets the cables and devices that are not there any more and were met at the port, or at any
 * port of the node (0), or are the node. Returns the number of cables forgotten.
 */
unsigned sm_alarms_forget(struct sm *sm, guid_t node, unsigned port);

/*
 * The alarm whose object, or cable, this port belongs to, as of the last look; NULL: none. Valid
 * until the next dispatch.
 */
const struct alarm *sm_alarm_of(const struct sm *sm, const struct port *p);

/* Lanes of a link, and tenths of Gb/s of each; 0: not known. */
struct link_rate {
	unsigned width, speed;
};
struct link_rate sm_link_rate(const struct port *p);
/* The best that both ends of the cable support; `p` has a peer, and both were read. */
struct link_rate sm_link_best(const struct port *p);

/* ---- the machine ---- */

/* A question to the machine below: sm_unserved(). */
typedef bool alarms_oldest_fn(const struct sm *sm, mono_t now, struct sm_unserved *ret);

void alarms_new(struct sm *sm, alarms_oldest_fn *oldest);
void alarms_free(struct sm *sm);
void alarms_sweep_ended(struct sm *sm);
void alarms_state_changed(struct sm *sm);
/* Keeps the name of a node that goes. */
void alarms_node_goes(struct sm *sm, struct node *n);
