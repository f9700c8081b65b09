// SPDX-License-Identifier: BSD-2-Clause
/* What happens to a world: one function per kind of fault, and the mending of them all. */
#include "tests/lib/campaign-impl.h"

#include <string.h>

#include "ib/attrs.h"
#include "ib/records.h"
#include "util/mem.h"

static mono_t some_ms(struct dice *d, uint32_t below)
{
	return (mono_t)roll(d, below) * MONO_MS;
}

/* Some node that no manager sits on; the last one tried if there is none. */
static int victim(struct world *w, struct dice *d)
{
	int node = 0;

	for (unsigned i = 0; i < 50; i++) {
		node = (int)roll(d, w->n_nodes);
		if (!world_hosts_manager(w, node))
			return node;
	}
	return -1;
}

static const struct cable *some_cable(struct world *w, struct dice *d)
{
	return &w->cables[roll(d, w->n_cables)];
}

/* ---- cables -------------------------------------------------------------------------------- */

static void fault_links(struct world *w, struct dice *d)
{
	unsigned n = chance(d, 1, 5) ? 1 + roll(d, 4) : 1;

	for (unsigned i = 0; i < n; i++) {
		const struct cable *c = some_cable(w, d);
		bool far = chance(d, 1, 2);
		int node = far ? c->b : c->a;
		unsigned port = far ? c->b_port : c->a_port;

		if (chance(d, 1, 3))
			sim_link_down(w->sim, node, port);
		else if (chance(d, 1, 2))
			sim_link_up(w->sim, node, port);
		else
			sim_link_flap(w->sim, node, port, (mono_t)roll(d, 200000));
	}
}

static bool far_end(const struct world *w, const struct cable *c, int *ret_node, unsigned *ret_port)
{
	return !world_hosts_manager(w, c->a) &&
	       sim_peer(w->sim, c->a, c->a_port, ret_node, ret_port) &&
	       !world_hosts_manager(w, *ret_node);
}

static void swap(struct world *w, const struct cable *x, const struct cable *y, struct dice *d)
{
	unsigned x_port, y_port;
	int xb, yb;

	if (x == y || !far_end(w, x, &xb, &x_port) || !far_end(w, y, &yb, &y_port) ||
	    (xb == y->a && x_port == y->a_port))
		return;
	sim_unplug(w->sim, x->a, x->a_port);
	if (sim_unplug(w->sim, y->a, y->a_port) < 0 || chance(d, 1, 4))
		return;
	sim_plug(w->sim, x->a, x->a_port, yb, y_port);
	sim_plug(w->sim, y->a, y->a_port, xb, x_port);
}

/* Out, and back into itself, into some free port, or nowhere. */
static void move(struct world *w, const struct cable *x, struct dice *d)
{
	unsigned port;
	int node;

	if (!far_end(w, x, &node, &port))
		return;
	sim_unplug(w->sim, x->a, x->a_port);
	if (chance(d, 1, 8)) {
		sim_plug(w->sim, x->a, x->a_port, x->a, x->a_port);
		return;
	}
	for (unsigned i = 0; i < 20; i++) {
		int to = (int)roll(d, w->n_nodes);

		if (!world_hosts_manager(w, to) &&
		    sim_plug(w->sim, x->a, x->a_port, to,
			     1 + roll(d, sim_node_ports(w->sim, to))) == 0)
			return;
	}
}

static void fault_cables(struct world *w, struct dice *d)
{
	bool swaps = chance(d, 1, 2);
	const struct cable *c = some_cable(w, d);

	if (swaps)
		swap(w, c, some_cable(w, d), d);
	else
		move(w, c, d);
}

static void fault_link_loss(struct world *w, struct dice *d)
{
	const struct cable *c = some_cable(w, d);

	sim_set_link_loss(w->sim, c->a, c->a_port, chance(d, 1, 3) ? 0 : roll(d, 21));
}

/* Every cable between two halves goes out, or all come back. */
static void fault_splits(struct world *w, struct dice *d)
{
	bool out = chance(d, 1, 2);
	uint32_t salt = roll(d, UINT32_MAX);
	bool leaf = chance(d, 1, 2); /* one switch alone, with its hosts */
	int alone = (int)roll(d, w->n_nodes);

	w->ambiguous = w->ghosts = true;
	for (unsigned i = 0; i < w->n_cables; i++) {
		const struct cable *c = &w->cables[i];
		struct dice a = { .s = salt + (uint64_t)c->a }, b = { .s = salt + (uint64_t)c->b };
		bool apart = leaf ? (c->a == alone) != (c->b == alone)
				  : chance(&a, 1, 2) != chance(&b, 1, 2);

		if (!sim_node_is_switch(w->sim, c->a) || !sim_node_is_switch(w->sim, c->b))
			continue;
		if (out && apart)
			sim_link_down(w->sim, c->a, c->a_port);
		else if (!out)
			sim_link_up(w->sim, c->a, c->a_port);
	}
}

/* ---- nodes --------------------------------------------------------------------------------- */

static void fault_reboots(struct world *w, struct dice *d)
{
	unsigned n = chance(d, 1, 4) ? 1 + roll(d, 4) : 1;

	for (unsigned i = 0; i < n; i++) {
		int node = victim(w, d);

		if (node >= 0 && !w->off[node])
			sim_reboot(w->sim, node, some_ms(d, chance(d, 1, 2) ? 100 : 8000));
	}
}

static void fault_power(struct world *w, struct dice *d)
{
	int node = victim(w, d);

	if (node < 0)
		return;
	w->off[node] = !w->off[node];
	sim_power(w->sim, node, !w->off[node]);
}

static void fault_silence(struct world *w, struct dice *d)
{
	int node = victim(w, d);

	if (node >= 0)
		sim_set_silent(w->sim, node, chance(d, 1, 2) ? SIM_SILENT : SIM_ANSWERS, 0);
}

static const uint16_t attrs[] = {
	IB_ATTR_NODE_INFO, IB_ATTR_NODE_DESC, IB_ATTR_SWITCH_INFO, IB_ATTR_PORT_INFO,
	IB_ATTR_LFT,	   IB_ATTR_MFT,	      IB_ATTR_PKEY_TABLE,
};

static void fault_partial(struct world *w, struct dice *d)
{
	int node = victim(w, d);
	uint32_t how = roll(d, 3), attr = roll(d, ARRAY_SIZE(attrs));

	if (node >= 0)
		sim_set_silent(w->sim, node, SIM_SILENT + how, attrs[attr]);
}

/* P_Key tables that are refused are given up until the file changes: they are spared. */
static void fault_refusals(struct world *w, struct dice *d)
{
	int node = victim(w, d);
	uint32_t attr = roll(d, 3);

	if (node >= 0)
		sim_set_refuse(w->sim, node, attrs[2 + attr],
			       chance(d, 1, 2) ? 1 : MAD_STATUS_BAD_VALUE);
}

static void fault_addresses(struct world *w, struct dice *d)
{
	int node = victim(w, d);
	lid_t lid = (lid_t)roll(d, 60), sm_lid = (lid_t)roll(d, 60);

	if (node < 0)
		return;
	w->ambiguous = true;
	sim_set_lid(w->sim, node, sim_node_is_switch(w->sim, node) ? 0 : 1, lid, 0, sm_lid);
}

static void fault_names(struct world *w, struct dice *d)
{
	int node = (int)roll(d, w->n_nodes);
	char desc[32];

	if (chance(d, 1, 3)) {
		bool on = chance(d, 1, 2);

		/*
		 * IsConnectionManagementSupported: of no meaning to a subnet manager, but a trap.
		 */
		sim_set_cap_mask(w->sim, node, on ? 1u << 16 : 0, on ? 0 : 1u << 16);
		return;
	}
	snprintf(desc, sizeof(desc), "name %u", roll(d, 1000));
	sim_set_desc(w->sim, node, desc);
}

/* Another adapter in its place: it is off for a while, and has lost everything. */
static void fault_replaced(struct world *w, struct dice *d)
{
	int node = victim(w, d);

	if (node < 0 || sim_node_is_switch(w->sim, node) || w->off[node])
		return;
	w->ambiguous = true;
	sim_power(w->sim, node, false);
	sim_set_guid(w->sim, node, 0x500000 + (guid_t)roll(d, 100000) * 16);
	sim_reboot(w->sim, node, some_ms(d, 3000));
}

/* ---- MADs ---------------------------------------------------------------------------------- */

/* No copy of a Set arrives after a later one: no manager could know, only read all back. */
static void fault_weather(struct world *w, struct dice *d)
{
	bool fine = chance(d, 1, 4), doubles = chance(d, 1, 3);
	uint32_t there = roll(d, 21), back = roll(d, 21), odd = roll(d, 30);
	uint32_t late = roll(d, 5000), delay = roll(d, 200), jitter = roll(d, 30000);

	sim_set_loss(w->sim, fine ? 0 : there, fine ? 0 : back);
	sim_set_duplicates(w->sim, doubles ? odd : 0);
	sim_set_reorder(w->sim, doubles || fine ? 0 : odd, late);
	sim_set_delay(w->sim, 1 + delay, doubles || fine ? 0 : jitter);
	sim_set_sma_queue(w->sim, fine ? 0 : roll(d, 10));
}

static void fault_traps_lost(struct world *w, struct dice *d)
{
	static const unsigned pct[] = { 0, 20, 50, 90, 100 };

	sim_set_trap_loss(w->sim, pct[roll(d, ARRAY_SIZE(pct))]);
}

static void fault_noise(struct world *w, struct dice *d)
{
	static const uint16_t traps[] = {
		128, 129, 130, 131, 144, 145, 256, 257, 258, 259, 0xFFFF
	};
	unsigned n = chance(d, 1, 4) ? 1 + roll(d, 30) : 1;
	int node = (int)roll(d, w->n_nodes);
	unsigned number = traps[roll(d, ARRAY_SIZE(traps))];

	for (unsigned i = 0; i < n; i++) {
		uint8_t notice[SMP_DATA_SIZE] = { 0 };
		unsigned port = sim_node_is_switch(w->sim, node) ? 0 : 1;
		lid_t lid = sim_port_lid(w->sim, node, port);

		ib_put(notice, NT_IS_GENERIC, 1);
		ib_put(notice, NT_TYPE, roll(d, 5));
		ib_put(notice, NT_PRODUCER, sim_node_is_switch(w->sim, node) ? 2 : 1);
		ib_put(notice, NT_TRAP, number);
		ib_put(notice, NT_ISSUER_LID, lid);
		for (unsigned at = 10; chance(d, 1, 2) && at < SMP_DATA_SIZE; at++)
			notice[at] = (uint8_t)roll(d, 256);
		ib_bits_put(notice, (number == 128 ? 10 : 12) * 8, 16, lid);
		sim_send_trap(w->sim, node, port, notice);
		rig_run(w->rig, sim_now(w->sim) + (mono_t)roll(d, 20000));
	}
}

/* ---- managers and their hosts -------------------------------------------------------------- */

static void fault_managers(struct world *w, struct dice *d)
{
	struct manager *m = &w->managers[roll(d, w->n_managers)];

	w->ghosts = true;
	switch (roll(d, 4)) {
	case 0:
		manager_freeze(w, m, some_ms(d, 30000));
		break;
	case 1:
		m->priority = roll(d, 16);
		managers_reload(w);
		break;
	default:
		manager_kill(w, m, some_ms(d, chance(d, 1, 2) ? 500 : 60000));
		break;
	}
}

static void fault_hups(struct world *w, struct dice *d)
{
	struct conf *c = conf_copy(w->conf);

	if (chance(d, 2, 3))
		world_write_partitions(w, d);
	if (chance(d, 1, 2)) {
		c->packet_life_time = (uint8_t)(15 + roll(d, 4));
		c->subnet_timeout = (uint8_t)(16 + roll(d, 4));
		c->head_of_queue_lifetime = (uint8_t)(0x10 + roll(d, 4));
		c->no_partition_enforcement = chance(d, 1, 4);
		c->sweep_interval = 1 + roll(d, 20);
		c->max_wire_smps = c->max_wire_smps2 = 1u << roll(d, 6);
	}
	conf_unref(w->conf);
	w->conf = c;
	managers_reload(w);
}

/* ---- the table ----------------------------------------------------------------------------- */

static void (*const fault_of[FIRST_SHAPE])(struct world *w, struct dice *d) = {
	[FAULT_LINKS] = fault_links,
	[FAULT_REBOOTS] = fault_reboots,
	[FAULT_POWER] = fault_power,
	[FAULT_SILENCE] = fault_silence,
	[FAULT_PARTIAL] = fault_partial,
	[FAULT_REFUSALS] = fault_refusals,
	[FAULT_WEATHER] = fault_weather,
	[FAULT_LINK_LOSS] = fault_link_loss,
	[FAULT_TRAPS_LOST] = fault_traps_lost,
	[FAULT_NOISE] = fault_noise,
	[FAULT_CABLES] = fault_cables,
	[FAULT_ADDRESSES] = fault_addresses,
	[FAULT_NAMES] = fault_names,
	[FAULT_REPLACED] = fault_replaced,
	[FAULT_MANAGERS] = fault_managers,
	[FAULT_SPLITS] = fault_splits,
	[FAULT_HUPS] = fault_hups,
	[FAULT_GROUPS] = hosts_change,
};

void world_fault(struct world *w, const struct life_fault *f)
{
	struct dice d = { .s = f->dice };

	fault_of[f->kind](w, &d);
}

static void mend_cables(struct world *w)
{
	for (unsigned i = 0; i < w->n_cables; i++) {
		const struct cable *c = &w->cables[i];
		unsigned port;
		int node;

		if (sim_peer(w->sim, c->a, c->a_port, &node, &port) && node == c->b &&
		    port == c->b_port)
			continue;
		sim_unplug(w->sim, c->a, c->a_port);
		sim_unplug(w->sim, c->b, c->b_port);
		sim_plug(w->sim, c->a, c->a_port, c->b, c->b_port);
	}
}

static void mend_node(struct world *w, int node)
{
	sim_set_silent(w->sim, node, SIM_ANSWERS, 0);
	sim_set_refuse(w->sim, node, 0, 0);
	if (w->off[node])
		sim_power(w->sim, node, true);
	w->off[node] = false;
	for (unsigned p = 1; p <= sim_node_ports(w->sim, node); p++) {
		if (!sim_port_hears(w->sim, node, p)) /* another cable */
			sim_link_down(w->sim, node, p);
		sim_set_link_loss(w->sim, node, p, 0);
		sim_link_up(w->sim, node, p);
	}
}

void world_mend(struct world *w)
{
	w->rotate_at = MONO_NEVER;
	sim_set_loss(w->sim, 0, 0);
	sim_set_duplicates(w->sim, 0);
	sim_set_reorder(w->sim, 0, 0);
	sim_set_delay(w->sim, 1, 0);
	sim_set_sma_queue(w->sim, 0);
	sim_set_trap_loss(w->sim, 0);
	mend_cables(w);
	for (int n = 0; n < (int)w->n_nodes; n++)
		mend_node(w, n);
	for (unsigned i = 0; i < w->n_managers; i++)
		w->managers[i].again_at = w->managers[i].place < 0 || w->managers[i].frozen
						  ? sim_now(w->sim)
						  : MONO_NEVER;
}
