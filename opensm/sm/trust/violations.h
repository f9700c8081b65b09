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

struct violations;

enum violation_kind {
	VIOLATION_M_KEY,    /* trap 256 */
	VIOLATION_P_KEY,    /* traps 257 and 259 */
	VIOLATION_Q_KEY,    /* trap 258 */
	VIOLATION_CC_KEY,   /* trap 0 of congestion control (cc_traps.h) */
	VIOLATION_TRAP,	    /* a trap about another port than its sender */
	VIOLATION_MANAGER,  /* a subnet manager that is not to be obeyed */
	VIOLATION_IDENTITY, /* a GUID or a node type that belongs elsewhere (read/identity.h) */
	VIOLATION_LOCKOUT,  /* a port that refuses every M_Key of this manager (lockout.h) */
	VIOLATION_CAPABILITY, /* MTU, VLs, width or speed that cannot be (read/capability.h) */
	VIOLATION_KINDS
};

struct violation_counts {
	uint64_t n[VIOLATION_KINDS];
};

const char *violation_kind_name(enum violation_kind kind); /* "m_key" */

/* `is_listed`: is this port GUID in allowed_sm_guids? Such a port is never switched off. */
void violations_new(struct sm *sm, bool (*is_listed)(const struct sm *sm, guid_t guid));
void violations_free(struct sm *sm);
/* Before it is freed. */
void violations_forget(struct sm *sm, struct node *n);

/*
 * The end port `p`, or what is behind the switch port `p`, broke a rule. True: that was not said
 * within the last hour.
 */
bool violation_count(struct sm *sm, enum violation_kind kind, struct port *p);
/*
 * True: its caller is to say so, with the place, and it counts as said; false: there is too much to
 * say at present, the next one will be new again.
 */
bool violation_may_tell(struct sm *sm, enum violation_kind kind, const struct port *p);
/*
 * The counter of violations of port `witness` should have grown because of `p`, which was counted
 * just now. Looked into once the threshold is reached.
 */
void violation_witnessed(struct sm *sm, enum violation_kind kind, struct port *p,
			 struct port *witness);
/* Counts; `proven`: as seen through the port itself, so that no threshold has to be reached. */
void violation_seen(struct sm *sm, enum violation_kind kind, struct port *p, bool proven);
/* A rule that was counted just now is proven broken: the port is switched off by policy. */
void violation_proven(struct sm *sm, enum violation_kind kind, struct port *p);
/* As master, with security_violation_policy isolate. */
bool violations_isolate(const struct sm *sm);

/* ---- what others may know ---- */

/* Of an end port, or of what is behind a switch port; NULL: nothing is known against it. */
const struct violation_counts *violations_of(const struct port *p);
/* Of all ports since the start. */
const struct violation_counts *violations_total(const struct sm *sm);
/* Ports with something on record, and those of them that are switched off. */
unsigned violations_ports(const struct sm *sm, unsigned *ret_isolated);
