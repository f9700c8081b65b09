// SPDX-License-Identifier: BSD-2-Clause
/*
 * The congestion control agent that every end port has (IBA annex A10): it stores what is set,
 * checks the CC_Key and its lease, and refuses what the annex refuses. Nothing is congested here;
 * tests write into its log.
 */
#pragma once

#include "sim/sim.h"

struct event;
struct sim_port;

#define SIM_CC_BLOCKS 2 /* blocks of the control table, unless another number was set */

/* Behaviour of the agent of a node; SIM_CC_ANSWERS at first. */
enum sim_cc {
	SIM_CC_ANSWERS,
	SIM_CC_SILENT,	/* gives no answer */
	SIM_CC_ABSENT,	/* answers that the class is not supported */
	SIM_CC_ROUNDS,	/* clears the lowest bit of timers, thresholds and delays */
	SIM_CC_PLAIN,	/* has no SwitchPortCongestionSetting */
	SIM_CC_REFUSES, /* refuses Sets of settings with "invalid field" */
};
void sim_set_cc(struct sim *sim, int node, enum sim_cc how);
/* Sets the number of blocks of 64 entries, 1 to 255. */
void sim_set_cc_blocks(struct sim *sim, int node, unsigned blocks);
/* Number of MADs of the class that reached an agent, answered or not. */
uint64_t sim_cc_count(const struct sim *sim, uint8_t method);

/* The CC_Key and its settings of an end port: port 0 of a switch, 1..n of others. */
struct sim_cc_key {
	uint64_t key;
	bool protect;
	unsigned lease, violations;
};
/* -EINVAL: no such end port. */
int sim_cc_key(const struct sim *sim, int node, unsigned port, struct sim_cc_key *ret);
int sim_set_cc_key(struct sim *sim, int node, unsigned port, const struct sim_cc_key *key);
/* The data that a Get of this attribute returns, 192 bytes. -EINVAL, -ENOENT. */
int sim_cc_read(struct sim *sim, int node, unsigned port, uint16_t attr, uint32_t mod,
		uint8_t *ret);
/* Logs marked packets of a flow at `out`, a port of a switch; on a host: the arrival of a mark. */
int sim_cc_mark(struct sim *sim, int node, unsigned out, lid_t from, lid_t to);

bool cca_answers(const uint8_t *mad);
void cca_arrive(struct sim *sim, struct event *ev); /* takes ev */
/* Resets the agent as a power cycle does. */
void cca_reset(struct sim_port *p);
