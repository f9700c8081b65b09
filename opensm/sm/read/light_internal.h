// SPDX-License-Identifier: BSD-2-Clause
/* The light sweep from inside: which node is asked next (light.c), which tables are (audit.c). */
#pragma once

#include "sm/base/news.h"
#include "util/log.h"

struct light {
	unsigned pending;
	bool found_change, missed;	/* in this sweep */
	uint32_t name_turn;		/* nodes asked for their names so far */
	uint32_t wake_turn;		/* which of the silent nodes are asked out of their turn, */
	uint32_t wake_rounds;		/* and within how many sweeps all of them */
	uint32_t silent, silent_before; /* of these there are, in this sweep and the one before */

	/* audit.c */
	uint32_t turn;	    /* of audits: one a light sweep; from 1 */
	bool others_wrote;    /* another changed a table, and no heavy sweep came since */
	uint32_t others_seen; /* number of heavy sweeps so far when that was found */
	uint32_t look_from;   /* the first turn in which another heavy sweep may be asked for */
	struct log_limit told;
};

/* ---- audit.c ---- */

/* The next turn. */
void audit_begin(struct sm *sm);
/* Asks for the share of the turn of the tables of this switch, and of the hosts at it. */
void audit_switch(struct sm *sm, struct node *n);
/* The same for our own port, which is first in each turn. */
void audit_own_port(struct sm *sm);
