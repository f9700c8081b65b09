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

#define SIM_CC_BLOCKS 2 /* of the control table, unless another number was set */

/* How the agent of a node is; SIM_CC_ANSWERS at first. */
enum sim_cc {
	SIM_CC_ANSWERS,
	SIM_CC_SILENT,	/* no answer to anything */
	SIM_CC_ABSENT,	/* class not supported */
	SIM_CC_ROUNDS,	/* timers, thresholds and delays lose their lowest bit */
	SIM_CC_PLAIN,	/* no SwitchPortCongestionSetting */
	SIM_CC_REFUSES, /* each Set of a setting: invalid field */
};
void sim_set_cc(struct sim *sim, int node, enum sim_cc how);
/* Blocks of 64 entries, 1 to 255. */
void sim_set_cc_blocks(struct sim *sim, int node, unsigned blocks);
/* MADs of the class that came to an agent, whatever it made of them. */
uint64_t sim_cc_count(const struct sim *sim, uint8_t method);

/* What end ports hold: port 0 of a switch, 1..n of others. */
struct sim_cc_key {
	uint64_t key;
	bool protect;
	unsigned lease, violations;
};
/* -EINVAL: no such end port. */
int sim_cc_key(const struct sim *sim, int node, unsigned port, struct sim_cc_key *ret);
int sim_set_cc_key(struct sim *sim, int node, unsigned port, const struct sim_cc_key *key);
/* What a Get of this attribute would show, 192 bytes. -EINVAL, -ENOENT. */
int sim_cc_read(struct sim *sim, int node, unsigned port, uint16_t attr, uint32_t mod,
		uint8_t *ret);
/* Packets of a flow were marked at `out`, a port of a switch; a host: a mark arrived there. */
int sim_cc_mark(struct sim *sim, int node, unsigned out, lid_t from, lid_t to);

bool cca_answers(const uint8_t *mad);
void cca_arrive(struct sim *sim, struct event *ev); /* takes ev */
/* As after a power cycle. */
void cca_reset(struct sim_port *p);
