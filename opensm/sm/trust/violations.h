// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports that break rules: counted by the switch port that they are behind, told once per port and
 * kind, and by security_violation_policy switched off there.
 *
 *   first of its kind for an hour --> to be told
 *   threshold within the window, and a witness --> its counter is read twice --it grows--> isolated
 *
 * A trap is a claim: any host can send one in the name of a switch. A claim is enough to name a
 * port, and never enough to switch one off. That takes a counter of the device that complains, read
 * from the device itself, or an SMInfo that was asked for along the cable.
 */
#pragma once

#include "fabric/fabric.h"
#include "sm/sm.h"

enum violation_kind {
	VIOLATION_M_KEY,      /* trap 256 */
	VIOLATION_P_KEY,      /* traps 257 and 259 */
	VIOLATION_Q_KEY,      /* trap 258 */
	VIOLATION_CC_KEY,     /* trap 0 of congestion control (cc_traps.h) */
	VIOLATION_TRAP,	      /* a trap about another port than its sender */
	VIOLATION_MANAGER,    /* a subnet manager that is not to be obeyed */
	VIOLATION_IDENTITY,   /* a GUID or a node type that belongs elsewhere (read/identity.h) */
	VIOLATION_LOCKOUT,    /* a port that refuses every M_Key of this manager (lockout.h) */
	VIOLATION_CAPABILITY, /* MTU, VLs, width or speed that cannot be (read/capability.h) */
	VIOLATION_KINDS
};

struct violation_counts {
	uint64_t n[VIOLATION_KINDS];
};

const char *violation_kind_name(enum violation_kind kind); /* "m_key" */

/* `is_listed`: is a port GUID in allowed_sm_guids? Such a port is never switched off. */
void violations_new(struct sm *sm, bool (*is_listed)(const struct sm *sm, guid_t guid));
void violations_free(struct sm *sm);
/* Called before the node is freed. */
void violations_forget(struct sm *sm, struct node *n);

/*
 * Counts a rule broken by end port `p`, or by the device behind switch port `p`. True: no such
 * violation was logged within the last hour.
 */
bool violation_count(struct sm *sm, enum violation_kind kind, struct port *p);
/*
 * May the caller log the violation, with its place? True: it counts as logged. False: too much is
 * being logged, and the next one counts as new.
 */
bool violation_may_tell(struct sm *sm, enum violation_kind kind, const struct port *p);
/*
 * Names the port whose violation counter should have grown because of `p`, which was counted just
 * now. It is read once the threshold is reached.
 */
void violation_witnessed(struct sm *sm, enum violation_kind kind, struct port *p,
			 struct port *witness);
/* Counts and logs a violation; `proven`: seen through the port itself, needs no threshold. */
void violation_seen(struct sm *sm, enum violation_kind kind, struct port *p, bool proven);
/* A violation counted just now is proven: the port is switched off if the policy says so. */
void violation_proven(struct sm *sm, enum violation_kind kind, struct port *p);
/* Are offenders switched off: MASTER, with security_violation_policy isolate? */
bool violations_isolate(const struct sm *sm);

/* ---- what others may know ---- */

/* The counts of an end port, or of the device behind a switch port; NULL: no violation is known. */
const struct violation_counts *violations_of(const struct port *p);
/* The counts of all ports since the start. */
const struct violation_counts *violations_total(const struct sm *sm);
/* The number of ports with violations, and of those that are switched off. */
unsigned violations_ports(const struct sm *sm, unsigned *ret_isolated);
