// SPDX-License-Identifier: BSD-2-Clause
/*
 * The light sweep from inside: which node is asked next (light.c), which tables are (audit.c), what
 * the states of the ports of a switch are (state_poll.c).
 */
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

/* ---- state_poll.c ---- */

/*
 * SwitchPortStateTable: the states of all ports of a switch in a Get for each 128 ports, where
 * PortInfo takes one for each port. Is it read at this switch: has it the attribute, does the
 * configuration allow it, and was it right so far?
 */
bool state_table_is_used(const struct sm *sm, const struct node *n);
/* Number of blocks of the table of this switch, 1 to PST_BLOCKS: port 0 is in it. */
unsigned state_table_blocks(const struct node *n);
/* State of a port in a table of all blocks, one behind the other; Active-Defer counts as ACTIVE. */
unsigned state_table_state(const uint8_t *table, unsigned port);
/*
 * The first port from `from` on, 1 or more, whose state in the table is not that of its PortInfo;
 * 0: none. Ports whose PortInfo is not known are not compared.
 */
unsigned state_table_differs(const struct node *n, const uint8_t *table, unsigned from);
/*
 * Asks for the table of a switch; what differs is told. `done` is called when that has ended, with
 * or without an answer. False: too many are being asked.
 */
bool state_table_ask(struct sm *sm, struct node *n, void (*done)(struct sm *sm));
/* The reason why a SwitchInfo calls for reading the switch; NULL: none. */
const char *switch_info_news(const struct sm *sm, const struct node *n, const uint8_t *switch_info);
/* Has the ports of a switch read, whatever its PortStateChange says. */
void state_poll_doubt_ports(struct sm *sm, struct node *n, const char *why);

/* ---- audit.c ---- */

/* Begins the next audit. */
void audit_begin(struct sm *sm);
/* Asks for this audit's share of the tables of this switch, and of the hosts at it. */
void audit_switch(struct sm *sm, struct node *n);
/* Asks for the tables of our own port, which is first in each audit. */
void audit_own_port(struct sm *sm);
