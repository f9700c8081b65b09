// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of ports: as the simulated devices have them, and as the master knows them. */
#include <errno.h>

#include "ib/attrs.h"
#include "sm/health/sick.h"
#include "sm/marks/marks.h"
#include "sm/trust/violations.h"
#include "tests/scenario/look.h"
#include "util/mem.h"

static struct port *known_port(struct look *l, int node, unsigned port)
{
	struct sm *master = rig_master(l->s->rig);
	struct node *n =
		master ? fabric_find_node(sm_fabric(master), sim_node_guid(l->s->rig->sim, node))
		       : NULL;

	return n ? &n->ports[port] : NULL;
}

/* cable A:P STATE: at both ends */
static int cond_cable(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	unsigned port, far_port;
	int node, far;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	if (!sim_peer(sim, node, port, &far, &far_port))
		return fault(l->s, "no cable at %s", arg[0]);
	return require(l,
		       is(state_names[sim_port_state(sim, node, port)], arg[1]) &&
			       is(state_names[sim_port_state(sim, far, far_port)], arg[1]),
		       "%s is %s, its other end %s", arg[0],
		       state_names[sim_port_state(sim, node, port)],
		       state_names[sim_port_state(sim, far, far_port)]);
}

/* disabled A:P: as by ibportstate */
static int cond_disabled(struct look *l, const char *const *arg)
{
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	return require(l, sim_phys_state(l->s->rig->sim, node, port) == IB_PHYS_DISABLED,
		       "%s is not disabled", arg[0]);
}

bool port_holds(struct sim *sim, int node, unsigned port, uint64_t key)
{
	uint8_t block[SMP_DATA_SIZE];

	for (unsigned i = 0; sim_read(sim, node, IB_ATTR_PKEY_TABLE, port << 16 | i, block) == 0;
	     i++)
		for (unsigned k = 0; k < PKEYS_PER_BLOCK; k++)
			if (ib_bits_get(block, k * 16, 16) == key)
				return true;
	return false;
}

/* holds A[:P] KEY: in its P_Key table */
static int cond_holds(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	unsigned port;
	uint64_t key;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0 ||
	    parse_number(l->s, arg[1], UINT16_MAX, &key) < 0)
		return -EINVAL;
	port = sim_node_is_switch(sim, node) ? port : 0;
	return require(l, port_holds(sim, node, port, key), "%s does not hold %s", arg[0], arg[1]);
}

/* active-with HOST KEY: its port is ACTIVE, and it and its switch port hold the P_Key */
static int cond_active_with(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	unsigned port;
	uint64_t key;
	int host, leaf;

	if (parse_node(l->s, arg[0], &host) < 0 ||
	    parse_number(l->s, arg[1], UINT16_MAX, &key) < 0)
		return -EINVAL;
	return require(l,
		       sim_port_state(sim, host, 1) == IB_PORT_ACTIVE &&
			       sim_peer(sim, host, 1, &leaf, &port) &&
			       port_holds(sim, host, 0, key) && port_holds(sim, leaf, port, key),
		       "%s cannot use %s", arg[0], arg[1]);
}

/* table NODE TABLE MODIFIER BIT WIDTH VALUE: these bits of a block, as the device has them */
static int cond_table(struct look *l, const char *const *arg)
{
	uint8_t block[SMP_DATA_SIZE];
	struct table_bits at;

	if (parse_table_bits(l->s, arg, &at) < 0)
		return -EINVAL;
	if (sim_read(l->s->rig->sim, at.node, at.attr, at.mod, block) < 0)
		return require(l, false, "%s has no such block", arg[0]);
	return compare(l, "the entry", ib_bits_get(block, at.bit, at.width), arg[5]);
}

/* speed A:P TENTHS: of Gb/s a lane, as the device says to programs that know extended speeds */
static int cond_speed(struct look *l, const char *const *arg)
{
	uint8_t info[SMP_DATA_SIZE];
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	if (sim_read(l->s->rig->sim, node, IB_ATTR_PORT_INFO, port | PI_MOD_EXTENDED_SPEEDS, info) <
	    0)
		return fault(l->s, "there is no port %s", arg[0]);
	return compare(l, "speed", ib_link_speed(info, ib_speed_sets(info), false), arg[1]);
}

/* entries SWITCH:P N: of its table that lead to this port */
static int cond_entries(struct look *l, const char *const *arg)
{
	unsigned port, n = 0;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	for (unsigned lid = 1; lid < 0xC000; lid++)
		n += sim_lft(l->s->rig->sim, node, (lid_t)lid) == port;
	return compare(l, "number of entries", n, arg[1]);
}

/* health A:P STATE: what is done about its link, as the master has it; none: it is in order */
static int cond_health(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	const char *state = "none";
	struct sick_shown shown;
	unsigned port;
	guid_t guid;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	if (!master)
		return require(l, false, "no single master");
	guid = sim_node_guid(l->s->rig->sim, node);
	for (unsigned i = 0; sm_sick_at(master, i, &shown); i++)
		for (unsigned e = 0; e < 2; e++)
			if (shown.verdict->end[e].node == guid &&
			    shown.verdict->end[e].port == port)
				state = sm_sick_state_name(shown.state);
	return require(l, is(state, arg[1]), "health of %s: %s", arg[0], state);
}

/* isolated N: links, for their health */
static int cond_isolated(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of isolated links", sm_sick_links(master, SICK_ISOLATED), arg[0]);
}

static int cond_marks(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of marks",
		       sm_marks(master, MARK_DRAIN) + sm_marks(master, MARK_ISOLATE), arg[0]);
}

/* knows NODE: the master has it in its picture */
static int cond_knows(struct look *l, const char *const *arg)
{
	int node;

	if (parse_node(l->s, arg[0], &node) < 0)
		return -EINVAL;
	return require(l, known_port(l, node, 0), "%s is not known", arg[0]);
}

/* nodes N: in the picture of the master */
static int cond_nodes(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of nodes", sm_fabric(master)->n_nodes, arg[0]);
}

/* linked A:P: the master knows its other end */
static int cond_linked(struct look *l, const char *const *arg)
{
	const struct port *p;
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	p = known_port(l, node, port);
	return require(l, p && p->peer, "no link is known at %s", arg[0]);
}

/* violations A:P KIND N: held against the port */
static int cond_violations(struct look *l, const char *const *arg)
{
	const struct violation_counts *counts;
	const struct port *p;
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	p = known_port(l, node, port);
	counts = p ? violations_of(p) : NULL;
	for (unsigned i = 0; i < VIOLATION_KINDS; i++)
		if (is(violation_kind_name(i), arg[1]))
			return compare(l, "number of violations", counts ? counts->n[i] : 0,
				       arg[2]);
	return fault(l->s, "no violations of kind '%s'", arg[1]);
}

/* violations-of KIND N: of all ports together, as the master counts them */
static int cond_violations_of(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	for (unsigned i = 0; i < VIOLATION_KINDS; i++)
		if (is(violation_kind_name(i), arg[0]))
			return compare(l, arg[0], violations_total(master)->n[i], arg[1]);
	return fault(l->s, "no violations of kind '%s'", arg[0]);
}

/* violators N: ports with violations; switched-off N: of these, for that */
static int cond_violators(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	unsigned isolated;

	return master ? compare(l, "number of ports with violations",
				violations_ports(master, &isolated), arg[0])
		      : require(l, false, "no single master");
}

static int cond_switched_off(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	unsigned isolated = 0;

	if (!master)
		return require(l, false, "no single master");
	violations_ports(master, &isolated);
	return compare(l, "number of ports switched off", isolated, arg[0]);
}

/* called NODE NAME: as the master has it */
static int cond_called(struct look *l, const char *const *arg)
{
	const struct port *p;
	int node;

	if (parse_node(l->s, arg[0], &node) < 0)
		return -EINVAL;
	p = known_port(l, node, 0);
	return require(l, p && is(p->node->desc, arg[1]), "%s is called '%s'", arg[0],
		       p ? p->node->desc : "");
}

static int cond_unreachable(struct look *l, const char *const *arg)
{
	return compare(l, "number of unreachable pairs", judge(l)->unreachable, arg[0]);
}

const struct cond port_conds[] = {
	{ "cable", 2, cond_cable },
	{ "disabled", 1, cond_disabled },
	{ "holds", 2, cond_holds },
	{ "active-with", 2, cond_active_with },
	{ "table", 6, cond_table },
	{ "speed", 2, cond_speed },
	{ "entries", 2, cond_entries },
	{ "health", 2, cond_health },
	{ "isolated", 1, cond_isolated },
	{ "marks", 1, cond_marks },
	{ "knows", 1, cond_knows },
	{ "nodes", 1, cond_nodes },
	{ "linked", 1, cond_linked },
	{ "violations", 3, cond_violations },
	{ "violations-of", 2, cond_violations_of },
	{ "violators", 1, cond_violators },
	{ "switched-off", 1, cond_switched_off },
	{ "called", 2, cond_called },
	{ "unreachable", 1, cond_unreachable },
	{ 0 },
};
