// SPDX-License-Identifier: BSD-2-Clause
/*
 * The map of a view, and walking on it. Knows tables and links; nothing about requests.
 *
 * hop[] has a row per port of the view: what leaving through this port costs (both ends of the
 * cable), and where that leads. A row of a switch's port 0 costs port 0 itself, and leads from
 * there into the switch: port 0 is where a way may begin or end, never pass.
 */
#include "view/path_walk.h"

#include <assert.h>

#include "ib/codes.h"
#include "util/mem.h"

#define AT_END	 0x80000000u /* the rest is an end port */
#define NOWHERE	 UINT32_MAX
#define NO_LIMIT UINT8_MAX

struct path_hop {
	uint32_t next; /* switch of the topo; AT_END | port; NOWHERE */
	uint8_t mtu;
	uint8_t rank; /* ib_rate_rank() */
};

struct path_switch {
	uint32_t first_port;
	uint8_t n_ports;
};

struct path_map {
	struct path_hop *hops;	      /* by port of the view */
	struct path_switch *switches; /* by switch of routes->topo; n_ports 0: not in the view */
	uint32_t *ends;
	uint32_t n_ends;
	uint32_t router;
};

static void limit_hop(struct path_hop *hop, const struct view_port *p)
{
	unsigned rank = ib_rate_rank(p->rate);

	hop->mtu = MIN(hop->mtu, p->mtu_cap);
	if (rank)
		hop->rank = (uint8_t)MIN(hop->rank, rank);
}

static uint32_t entering(const struct view *v, uint32_t port)
{
	const struct view_port *p = &v->ports[port];
	uint32_t sw = v->nodes[p->node].topo_sw;

	if (!view_is_switch(v, p))
		return AT_END | port;
	return sw == TOPO_NONE ? NOWHERE : sw;
}

static struct path_hop hop_of(const struct view *v, const struct view_port *p)
{
	struct path_hop hop = { .next = NOWHERE, .mtu = NO_LIMIT, .rank = NO_LIMIT };
	const struct view_port *peer = p->peer == VIEW_NONE ? NULL : &v->ports[p->peer];

	limit_hop(&hop, p);
	if (view_is_switch(v, p) && p->num == 0) {
		hop.next = entering(v, (uint32_t)(p - v->ports));
	} else if (peer && p->state != IB_PORT_DOWN && peer->state != IB_PORT_DOWN) {
		limit_hop(&hop, peer);
		hop.next = entering(v, p->peer);
	}
	return hop;
}

static void add_end(struct path_map *m, const struct view *v, uint32_t port)
{
	const struct view_port *p = &v->ports[port];

	if (!p->lid || !view_port_is_end(v, p))
		return;
	m->ends[m->n_ends++] = port;
	if (v->nodes[p->node].type == IB_NODE_ROUTER &&
	    (m->router == VIEW_NONE || p->guid < v->ports[m->router].guid))
		m->router = port;
}

struct path_map *path_map_new(const struct view *v)
{
	struct path_map *m = xcalloc(1, sizeof(*m));
	uint32_t n_switches = v->routes ? v->routes->topo->n_switches : 0;

	assert(v);
	m->hops = xcalloc(v->n_ports + 1, sizeof(*m->hops));
	m->switches = xcalloc(n_switches + 1, sizeof(*m->switches));
	m->ends = xcalloc(v->n_ports + 1, sizeof(*m->ends));
	m->router = VIEW_NONE;
	for (uint32_t i = 0; i < v->n_ports; i++) {
		m->hops[i] = hop_of(v, &v->ports[i]);
		add_end(m, v, i);
	}
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct view_node *n = &v->nodes[i];

		if (n->type == IB_NODE_SWITCH && n->topo_sw < n_switches)
			m->switches[n->topo_sw] = (struct path_switch){
				.first_port = n->first_port,
				.n_ports = n->n_ports,
			};
	}
	return m;
}

struct path_map *path_map_free(struct path_map *m)
{
	if (!m)
		return NULL;
	free(m->hops);
	free(m->switches);
	free(m->ends);
	free(m);
	return NULL;
}

struct path_ends path_map_ends(const struct path_map *m)
{
	return (struct path_ends){ .ports = m->ends, .n = m->n_ends };
}

uint32_t path_map_router(const struct path_map *m)
{
	return m->router;
}

static void pass_hop(struct path_hop *way, const struct path_hop *hop)
{
	way->mtu = MIN(way->mtu, hop->mtu);
	way->rank = MIN(way->rank, hop->rank);
	way->next = hop->next;
}

/* Port 0 of the switch where a way ends limits it like others, and leads nowhere else. */
static void arrive_at(struct path_hop *way, const struct path_hop *hop, uint32_t port)
{
	pass_hop(way, hop);
	way->next = AT_END | port;
}

static bool finish_way(const struct path_hop *way, unsigned n, struct path_way *ret)
{
	if (!ib_mtu_bytes(way->mtu))
		return false;
	*ret = (struct path_way){
		.mtu = way->mtu,
		.rate = way->rank == NO_LIMIT ? IB_RATE_MIN : (uint8_t)ib_rate_of_rank(way->rank),
		.n = (uint8_t)n,
	};
	return true;
}

static bool stay_at(const struct view_port *p, struct path_way *ret)
{
	struct path_hop here = { .mtu = NO_LIMIT, .rank = NO_LIMIT };

	limit_hop(&here, p);
	return finish_way(&here, 0, ret);
}

/* A packet on its way. */
struct walker {
	struct path_hop way; /* so far; `next` is where it stands */
	uint32_t dst;
	lid_t dlid;
	uint8_t n; /* switches passed */
	bool lost;
};

static struct walker set_out(const struct view *v, uint32_t src, lid_t dlid, uint32_t dst)
{
	return (struct walker){ .way = v->paths->hops[src], .dst = dst, .dlid = dlid };
}

static bool under_way(const struct walker *w)
{
	return !(w->way.next & AT_END) && !w->lost;
}

/* Through one switch. Returns the port left through. */
static inline uint32_t step(const struct view *v, struct walker *w)
{
	const struct path_map *m = v->paths;
	const struct path_switch *sw = &m->switches[w->way.next];
	uint8_t out = routes_port(v->routes, w->way.next, w->dlid);
	uint32_t port = sw->first_port + out;

	if (out > sw->n_ports || !sw->n_ports || ++w->n > PATH_SWITCHES_MAX)
		w->lost = true;
	else if (out)
		pass_hop(&w->way, &m->hops[port]);
	else
		arrive_at(&w->way, &m->hops[port], port);
	return port;
}

static bool has_arrived(const struct walker *w, struct path_way *ret)
{
	return w->way.next == (AT_END | w->dst) && !w->lost && finish_way(&w->way, w->n, ret);
}

bool path_walk(const struct view *v, const struct path_ask *ask, struct path_way *ret_there,
	       struct path_way *ret_back)
{
	struct walker there = set_out(v, ask->src, ask->dlid, ask->dst);
	struct walker back = set_out(v, ask->dst, ask->slid, ask->src);

	assert(v->paths && ask->src < v->n_ports && ask->dst < v->n_ports);
	ret_back->n = PATH_NO_WAY;
	if (ask->src == ask->dst) {
		bool valid = stay_at(&v->ports[ask->src], ret_there);

		if (valid)
			*ret_back = *ret_there;
		return valid;
	}
	/* In step: neither waits for the other's memory. */
	while (under_way(&there) || under_way(&back)) {
		if (under_way(&there))
			step(v, &there);
		if (under_way(&back))
			step(v, &back);
	}
	has_arrived(&back, ret_back);
	return has_arrived(&there, ret_there);
}

bool path_trace(const struct view *v, uint32_t src, lid_t dlid, uint32_t dst, struct path_way *ret,
		uint32_t ret_ports[static PATH_SWITCHES_MAX + 1])
{
	struct walker w = set_out(v, src, dlid, dst);

	assert(v->paths && src < v->n_ports && dst < v->n_ports);
	ret_ports[0] = src;
	if (src == dst)
		return stay_at(&v->ports[src], ret);
	while (under_way(&w)) {
		uint32_t port = step(v, &w);

		if (!w.lost)
			ret_ports[w.n] = port;
	}
	return has_arrived(&w, ret);
}
