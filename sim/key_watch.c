// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches M_Keys: is an end port that was locked open again? Looked at is the port that a Set came
 * to, after the Set, and every port that is asked, as its lease may have run out meanwhile. Whether
 * a manager has the keys of locked ports is asked of others after each Set (serve/key_files.c).
 *
 * What M_Keys let through is in sma.c.
 */
#include "sim/sim_internal.h"

static bool is_end_port(const struct sim_node *n, unsigned port)
{
	return node_is_switch(n) ? port == 0 : port > 0 && port <= n->nports;
}

bool sim_port_m_key(const struct sim *sim, int node, unsigned port, struct sim_m_key *ret)
{
	const struct sim_node *n = sim_node(sim, node);
	const struct sim_port *p;

	if (!n || !is_end_port(n, port))
		return false;
	p = &n->ports[port];
	*ret = (struct sim_m_key){
		.guid = p->guid,
		.key = ib_get(p->info, PI_M_KEY),
		.protect = (unsigned)ib_get(p->info, PI_M_KEY_PROTECT),
		.lease = (unsigned)ib_get(p->info, PI_M_KEY_LEASE),
		.violations = (unsigned)ib_get(p->info, PI_M_KEY_VIOLATIONS),
	};
	return true;
}

void key_watch_look(struct sim *sim, uint32_t node, unsigned port)
{
	struct sim_key_watch *w = &sim->key_watch;
	struct sim_node *n = &sim->nodes[node];
	unsigned end_port = node_is_switch(n) ? 0 : port;
	struct sim_port *p = &n->ports[end_port];
	struct sim_m_key has;
	bool is_open;

	if (!w->level || !sim_port_m_key(sim, (int)node, end_port, &has))
		return;
	w->looks++;
	if (has.key)
		p->flags |= PF_KEYED;
	is_open = p->flags & PF_KEYED && (!has.key || has.protect < w->level);
	if (is_open && !(p->flags & PF_OPEN)) {
		if (w->opened < ARRAY_SIZE(w->first))
			w->first[w->opened] = (struct sim_opened){
				.node = (int)node, .port = end_port, .at = sim->now, .has = has
			};
		w->opened++;
	}
	p->flags = (uint8_t)(is_open ? p->flags | PF_OPEN : p->flags & ~PF_OPEN);
}

void key_watch_reset(struct sim_port *p)
{
	p->flags &= (uint8_t) ~(PF_KEYED | PF_OPEN);
}

void sim_watch_keys(struct sim *sim, unsigned level)
{
	sim->key_watch = (struct sim_key_watch){ .level = level };
	for (uint32_t i = 0; i < sim->n_nodes; i++) {
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++) {
			key_watch_reset(&sim->nodes[i].ports[p]);
			if (is_end_port(&sim->nodes[i], p))
				key_watch_look(sim, i, p);
		}
	}
	sim->key_watch.looks = 0;
}

void key_watch_set(struct sim *sim, uint32_t node, unsigned port)
{
	key_watch_look(sim, node, port);
	if (sim->on_set)
		sim->on_set(sim->on_set_arg, (int)node);
}

void sim_on_set(struct sim *sim, sim_set_fn fn, void *arg)
{
	sim->on_set = fn;
	sim->on_set_arg = arg;
}

const struct sim_key_watch *sim_keys_watched(const struct sim *sim)
{
	return &sim->key_watch;
}
