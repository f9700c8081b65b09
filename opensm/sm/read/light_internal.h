// SPDX-License-Identifier: BSD-2-Clause
/* The light sweep from inside: which node is asked next (light.c), which tables are (audit.c). */
#pragma once

#include "sm/base/news.h"
#include "util/log.h"

struct light {
	unsigned pending;
	bool found_change, missed; /* results of this sweep */
	uint32_t name_turn;	   /* number of nodes asked for their names so far */
	uint32_t wake_turn;	   /* which of the silent nodes are asked out of turn */
	uint32_t wake_rounds;	   /* number of sweeps within which all of them are asked */
	/* number of silent nodes in this sweep and in the one before */
	uint32_t silent, silent_before;

	/* audit.c */
	uint32_t turn; /* number of the audit, one a light sweep; from 1 */
	/* set if another writer changed a table, and no heavy sweep came since */
	bool others_wrote;
	uint32_t others_seen; /* number of heavy sweeps when that was found */
	uint32_t look_from;   /* first turn in which another heavy sweep may be requested */
	struct log_limit told;
};

/* ---- audit.c ---- */

/* Begins the next audit. */
void audit_begin(struct sm *sm);
/* Asks for this audit's share of the tables of this switch, and of the hosts at it. */
void audit_switch(struct sm *sm, struct node *n);
/* Asks for the tables of our own port, which is first in each audit. */
void audit_own_port(struct sm *sm);
