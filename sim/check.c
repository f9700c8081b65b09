// SPDX-License-Identifier: BSD-2-Clause
/*
 * Judges a whole fabric on demand: states, LIDs, SM LIDs, and whether every end port reaches every
 * LID by the programmed tables. Per LID each switch is visited once, whatever hangs on it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "sim/sim_internal.h"
#include "util/hash.h"

#define N_LIDS 0xC000u
#define TO_HOST 0x80000000u

enum fate { FATE_UNKNOWN, FATE_ON_THE_WAY, FATE_REACHED, FATE_DROPPED, FATE_LOOPS };

/* A node as the walk needs it: small, so that thousands stay in the cache. */
struct fast {
	const uint8_t *lft;
	uint32_t lft_end;    /* entries that count */
	uint32_t first_port; /* index into next[] */
	uint32_t weight;     /* end ports that send into the fabric here, port 0 included */
	lid_t lid;           /* range of port 0 */
	uint8_t lmc;
	uint8_t nports;
};

struct check {
	struct sim *sim;
	struct sim_verdict *v;
	bool *judged;
	struct fast *fast;
	uint32_t *switches, n_switches;
	/* per port: switch behind it, or TO_HOST | node, SIM_NONE if no data passes */
	uint32_t *next;
	uint32_t *fate_lid;  /* the LID `fate` is about */
	uint8_t *fate;
	uint32_t *stack;
	uint32_t *owner;     /* per LID: 1 + port index */
	uint32_t end_ports;
};

__attribute__((format(printf, 2, 3))) static void note(struct check *c, const char *fmt, ...)
{
	va_list ap;

	if (c->v->first[0])
		return;
	va_start(ap, fmt);
	vsnprintf(c->v->first, sizeof(c->v->first), fmt, ap);
	va_end(ap);
}

static bool answers(const struct sim_node *n)
{
	return !n->off && !n->ignored &&
	       !(n->mood && n->mood->silence != SIM_ANSWERS && n->mood->silent_attr == 0);
}

bool sim_port_hears(const struct sim *sim, int node, unsigned port)
{
	const struct sim_node *n = sim_node(sim, node);

	return n && port <= n->nports && answers(n) && n->ports[port].loss < 100;
}

static uint32_t port_index(const struct check *c, uint32_t node, unsigned port)
{
	return c->fast[node].first_port + port;
}

/* SMPs pass its cable, be it now and then. */
static bool speaks(const struct sim_port *p)
{
	return p->peer != SIM_NONE && port_up(p) && p->loss < 100;
}

/* A cable the manager is expected to use. */
static bool is_link(const struct check *c, uint32_t node, unsigned port)
{
	const struct sim_port *p = &c->sim->nodes[node].ports[port];

	return port > 0 && speaks(p) && p->peer != node && c->judged[p->peer];
}

/* Everything that discovery from this port finds: adapters do not pass it on. */
static void spread(struct check *c, uint32_t start, unsigned port)
{
	uint32_t n = 0;

	if (!answers(&c->sim->nodes[start]))
		return;
	c->judged[start] = true;
	c->stack[n++] = start;
	while (n > 0) {
		uint32_t at = c->stack[--n];
		const struct sim_node *node = &c->sim->nodes[at];

		for (unsigned p = 1; p <= node->nports; p++) {
			uint32_t peer = node->ports[p].peer;

			if (!node_is_switch(node) && (at != start || p != port))
				continue;
			if (!speaks(&node->ports[p]) || c->judged[peer] ||
			    !answers(&c->sim->nodes[peer]))
				continue;
			c->judged[peer] = true;
			c->stack[n++] = peer;
		}
	}
}

static bool is_end_port(const struct check *c, uint32_t node, unsigned port)
{
	if (!c->judged[node])
		return false;
	return node_is_switch(&c->sim->nodes[node]) ? port == 0 : is_link(c, node, port);
}

static bool passes(const struct sim_port *from, const struct sim_port *to)
{
	return port_up(from) && port_state(from) == IB_PORT_ACTIVE &&
	       port_state(to) >= IB_PORT_ARMED;
}

static void index_ports(struct check *c)
{
	struct sim *sim = c->sim;

	for (uint32_t i = 0; i < sim->n_nodes; i++) {
		struct sim_node *n = &sim->nodes[i];
		struct fast *f = &c->fast[i];

		f->first_port = (uint32_t)(n->ports - sim->ports);
		f->nports = n->nports;
		f->lft = n->lft;
		f->lft_end = n->lft ? MIN(n->lft_size, n->lft_top + 1u) : 0;
		f->lid = (lid_t)ib_get(n->ports[0].info, PI_LID);
		f->lmc = (uint8_t)ib_get(n->ports[0].info, PI_LMC);
		if (!c->judged[i] || !node_is_switch(n))
			continue;
		f->weight++;
		c->switches[c->n_switches++] = i;
	}
}

static void index_links(struct check *c)
{
	struct sim *sim = c->sim;

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++) {
			const struct sim_port *from = &sim->nodes[i].ports[p], *to;
			uint32_t *next = &c->next[port_index(c, i, p)];
			bool to_switch;

			*next = SIM_NONE;
			if (!c->judged[i] || !is_link(c, i, p))
				continue;
			to = &sim->nodes[from->peer].ports[from->peer_port];
			if (!passes(from, to))
				continue;
			to_switch = node_is_switch(&sim->nodes[from->peer]);
			*next = to_switch ? from->peer : TO_HOST | from->peer;
			if (!node_is_switch(&sim->nodes[i]) && to_switch)
				c->fast[from->peer].weight++;
		}
}

static void check_states(struct check *c)
{
	for (uint32_t i = 0; i < c->sim->n_nodes; i++)
		for (unsigned p = 1; c->judged[i] && p <= c->sim->nodes[i].nports; p++) {
			unsigned state = port_state(&c->sim->nodes[i].ports[p]);

			if (!is_link(c, i, p) || state == IB_PORT_ACTIVE)
				continue;
			c->v->ports_not_active++;
			note(c, "%s:%u is %s", c->sim->nodes[i].id, p, ib_port_state_name(state));
		}
}

static bool is_sm_lid(const struct check *c, lid_t lid)
{
	uint32_t at = lid < N_LIDS ? c->owner[lid] : 0;

	return at && c->sim->ports[at - 1].link;
}

static const char *owner_name(const struct check *c, uint32_t port)
{
	for (uint32_t i = c->sim->n_nodes; i-- > 0;)
		if (c->fast[i].first_port <= port)
			return c->sim->nodes[i].id;
	return "?";
}

static void own_lids(struct check *c, uint32_t node, unsigned port)
{
	const struct sim_port *p = &c->sim->nodes[node].ports[port];
	uint32_t lid = (uint32_t)ib_get(p->info, PI_LID), n = 1u << ib_get(p->info, PI_LMC);

	c->end_ports++;
	if (!lid_is_unicast(lid)) {
		c->v->lids_missing++;
		note(c, "%s:%u has no LID", c->sim->nodes[node].id, port);
		return;
	}
	for (uint32_t i = lid; i < lid + n && i < N_LIDS; i++) {
		if (c->owner[i]) {
			c->v->lids_duplicate++;
			note(c, "%s:%u shares LID %u with %s", c->sim->nodes[node].id, port, i,
			     owner_name(c, c->owner[i] - 1));
		}
		c->owner[i] = port_index(c, node, port) + 1;
	}
}

static void check_lids(struct check *c)
{
	struct sim *sim = c->sim;
	bool attached = false;

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++)
			if (is_end_port(c, i, p)) {
				own_lids(c, i, p);
				attached |= sim->nodes[i].ports[p].link;
			}
	for (uint32_t i = 0; i < sim->n_nodes && attached; i++)
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++) {
			lid_t sm_lid = (lid_t)ib_get(sim->nodes[i].ports[p].info, PI_MASTER_SM_LID);

			if (!is_end_port(c, i, p) || is_sm_lid(c, sm_lid))
				continue;
			c->v->sm_lid_wrong++;
			note(c, "%s:%u has SM LID %u", sim->nodes[i].id, p, sm_lid);
		}
}

/* One hop of `lid` from switch `at`; FATE_UNKNOWN: *ret_next is the next switch. */
static enum fate hop(const struct check *c, uint32_t at, uint32_t lid, uint32_t *ret_next)
{
	const struct fast *f = &c->fast[at];
	uint32_t next, out;

	if (f->lid && lid >> f->lmc == (uint32_t)f->lid >> f->lmc)
		return FATE_REACHED;
	out = lid < f->lft_end ? f->lft[lid] : LFT_NO_PORT;
	if (out == 0 || out > f->nports)
		return FATE_DROPPED;
	next = c->next[f->first_port + out];
	if (next == SIM_NONE)
		return FATE_DROPPED;
	if (next & TO_HOST) {
		const struct sim_port *p = &c->sim->ports[f->first_port + out];

		return port_has_lid(&c->sim->nodes[p->peer].ports[p->peer_port], (lid_t)lid)
			       ? FATE_REACHED
			       : FATE_DROPPED;
	}
	*ret_next = next;
	return FATE_UNKNOWN;
}

static enum fate known_fate(const struct check *c, uint32_t node, uint32_t lid)
{
	return c->fate_lid[node] == lid ? (enum fate)c->fate[node] : FATE_UNKNOWN;
}

static void set_fate(struct check *c, uint32_t node, uint32_t lid, enum fate fate)
{
	c->fate_lid[node] = lid;
	c->fate[node] = (uint8_t)fate;
}

/*
 * The fate of packets for `lid` that enter at switch `start`; it is noted for all switches on the
 * way.
 */
static enum fate follow(struct check *c, uint32_t start, uint32_t lid)
{
	uint32_t at = start, n = 0;
	enum fate fate = known_fate(c, at, lid);

	while (fate == FATE_UNKNOWN) {
		uint32_t next = SIM_NONE;

		c->stack[n++] = at;
		fate = hop(c, at, lid, &next);
		if (fate != FATE_UNKNOWN)
			break;
		set_fate(c, at, lid, FATE_ON_THE_WAY);
		at = next;
		fate = known_fate(c, at, lid);
	}
	if (fate == FATE_ON_THE_WAY)
		fate = FATE_LOOPS;
	while (n > 0)
		set_fate(c, c->stack[--n], lid, fate);
	return fate;
}

/* End ports that reach `lid`, its owner excluded; the same for those whose packets go round. */
static void check_lid(struct check *c, uint32_t lid, const struct sim_port *owner)
{
	uint64_t reached = 0, looping = 0;
	const struct sim_port *peer = owner->peer == SIM_NONE
					      ? NULL
					      : &c->sim->nodes[owner->peer].ports[owner->peer_port];

	for (uint32_t i = 0; i < c->n_switches; i++) {
		uint32_t sw = c->switches[i];
		enum fate fate = follow(c, sw, lid);

		if (fate == FATE_REACHED)
			reached += c->fast[sw].weight;
		else if (fate == FATE_LOOPS)
			looping += c->fast[sw].weight;
		if (fate != FATE_REACHED)
			note(c, "%s does not reach LID %u%s", c->sim->nodes[sw].id, lid,
			     fate == FATE_LOOPS ? " (loop)" : "");
	}
	if (!peer) { /* port 0 of a switch: it counted itself */
		reached--;
	} else if (node_is_switch(&c->sim->nodes[owner->peer])) {
		if (passes(owner, peer) && known_fate(c, owner->peer, lid) == FATE_REACHED)
			reached--;
		else if (passes(owner, peer) && known_fate(c, owner->peer, lid) == FATE_LOOPS)
			looping--;
	} else if (passes(peer, owner)) {
		reached++; /* back to back */
	}
	c->v->pairs += c->end_ports - 1;
	c->v->unreachable += c->end_ports - 1 - reached;
	c->v->looping += looping;
	if (c->end_ports - 1 != reached)
		note(c, "LID %u is reached by %llu of %u end ports", lid,
		     (unsigned long long)reached, c->end_ports - 1);
}

static void check_paths(struct check *c)
{
	for (uint32_t lid = 1; lid < N_LIDS; lid++)
		if (c->owner[lid])
			check_lid(c, lid, &c->sim->ports[c->owner[lid] - 1]);
}

/*
 * Judges one subnet: the nodes found from this port; with SIM_NONE all nodes. `seen` of its ports
 * is set.
 */
static void judge(struct sim *sim, uint32_t node, unsigned port, bool *seen, struct sim_verdict *v)
{
	size_t n = sim->n_nodes + 1u, n_ports = 1;
	struct check c = { .sim = sim, .v = v };

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		n_ports += sim->nodes[i].nports + 1u;
	c.judged = xcalloc(n, sizeof(*c.judged));
	c.fast = xcalloc(n, sizeof(*c.fast));
	c.switches = xcalloc(n, sizeof(*c.switches));
	c.next = xcalloc(n_ports, sizeof(*c.next));
	c.fate_lid = xcalloc(n, sizeof(*c.fate_lid));
	c.fate = xcalloc(n, sizeof(*c.fate));
	c.stack = xcalloc(n, sizeof(*c.stack));
	c.owner = xcalloc(N_LIDS, sizeof(*c.owner));
	if (node != SIM_NONE)
		spread(&c, node, port);
	for (uint32_t i = 0; i < sim->n_nodes && node == SIM_NONE; i++)
		c.judged[i] = answers(&sim->nodes[i]);
	index_ports(&c);
	index_links(&c);
	check_states(&c);
	check_lids(&c);
	v->end_ports += c.end_ports;
	check_paths(&c);
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++)
			seen[port_index(&c, i, p)] |=
				is_end_port(&c, i, p) || (i == node && p == port);
	free(c.judged);
	free(c.fast);
	free(c.switches);
	free(c.next);
	free(c.fate_lid);
	free(c.fate);
	free(c.stack);
	free(c.owner);
}

void sim_check_all(struct sim *sim, struct sim_verdict *ret)
{
	_cleanup_free_ bool *seen = NULL;
	bool attached = false;
	size_t n_ports = 1;

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		n_ports += sim->nodes[i].nports + 1u;
	seen = xcalloc(n_ports, sizeof(*seen));
	*ret = (struct sim_verdict){
		.loops_ever = sim->loops_ever,
		.mcast_loops_ever = sim->mcast_loops_ever,
		.mcast_twice_ever = sim->mcast_twice_ever,
	};
	if (!oracle_is_current(sim))
		abort(); /* the simulator itself is wrong */
	ret->mcast_faults = mcast_count_faults(sim);
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		for (unsigned p = 0; p <= sim->nodes[i].nports; p++) {
			if (!sim->nodes[i].ports[p].link)
				continue;
			attached = true;
			if (!seen[&sim->nodes[i].ports[p] - sim->ports])
				judge(sim, i, p, seen, ret);
		}
	if (!attached)
		judge(sim, SIM_NONE, 0, seen, ret);
}

bool sim_verdict_good(const struct sim_verdict *v)
{
	return !v->ports_not_active && !v->lids_missing && !v->lids_duplicate && !v->sm_lid_wrong &&
	       !v->unreachable && !v->looping && !v->loops_ever && !v->mcast_faults &&
	       !v->mcast_loops_ever && !v->mcast_twice_ever;
}

static uint64_t mix_numbered(uint64_t h, const struct intern *in, const uint16_t *numbers, size_t n)
{
	for (size_t i = 0; numbers && i < n; i++)
		h = hash_bytes(h, intern_get(in, numbers[i]), in->size);
	return h;
}

/*
 * All entries of the table that a port has. Of those behind the first eight the empty ones do not
 * count, and so the number of a table with few keys does not depend on its length.
 */
static uint64_t mix_pkeys(const struct sim_node *n, unsigned port, uint64_t h)
{
	const uint16_t *keys = n->tables->pkeys[port];
	unsigned cap = sma_pkey_cap(n, port);

	if (!keys)
		return h;
	h = hash_bytes(h, keys, sizeof(*keys) * MIN(cap, 8u));
	for (unsigned i = 8; i < cap; i++)
		if (keys[i]) {
			h = hash_bytes(h, &i, sizeof(i));
			h = hash_bytes(h, &keys[i], sizeof(keys[i]));
		}
	return h;
}

static uint64_t mix_tables(const struct sim *sim, const struct sim_node *n, uint64_t h)
{
	size_t side = n->nports + 1u;
	const struct tables *t = n->tables;

	if (!t)
		return h;
	h = hash_bytes(h, t->mft, t->mft_rows * 16ul * sizeof(*t->mft));
	h = mix_numbered(h, &sim->sl2vl, t->sl2vl, side * side);
	h = mix_numbered(h, &sim->vlarb, t->vlarb, side * 4);
	for (size_t p = 0; t->pkeys && p < side; p++)
		h = mix_pkeys(n, (unsigned)p, h);
	return h;
}

/* Adds the state of a node to the hash `h`, but for its count of SMPs with a wrong M_Key. */
static uint64_t mix_node(const struct sim *sim, const struct sim_node *n, uint64_t h)
{
	for (unsigned p = 0; p <= n->nports; p++) {
		uint8_t info[PI_BYTES];

		memcpy(info, n->ports[p].info, PI_BYTES);
		ib_put(info, PI_M_KEY_VIOLATIONS, 0);
		h = hash_bytes(h, info, PI_BYTES);
	}
	if (n->lft)
		h = hash_bytes(h, n->lft, MIN(n->lft_size, n->lft_top + 1u));
	return mix_tables(sim, n, h);
}

uint64_t sim_fingerprint(const struct sim *sim)
{
	uint64_t h = HASH_START;

	for (uint32_t i = 0; i < sim->n_nodes; i++)
		h = mix_node(sim, &sim->nodes[i], h);
	return h;
}

uint64_t sim_node_fingerprint(const struct sim *sim, int node)
{
	const struct sim_node *n = sim_node(sim, node);
	uint64_t h = HASH_START;

	if (!n)
		return 0;
	for (unsigned p = 0; n->tables && n->tables->guids && p <= n->nports; p++) {
		const guid_t *guids = n->tables->guids[p];

		if (guids)
			h = hash_bytes(h, guids,
				       ib_get(n->ports[p].info, PI_GUID_CAP) * sizeof(*guids));
	}
	if (node_is_switch(n)) {
		uint8_t info[SI_BYTES];

		memcpy(info, n->sw_info, SI_BYTES);
		ib_put(info, SI_PORT_STATE_CHANGE, 0);
		h = hash_bytes(h, info, SI_BYTES);
	}
	h = hash_bytes(h, n->node_info, NI_BYTES);
	h = hash_bytes(h, n->desc, SMP_DATA_SIZE);
	return mix_node(sim, n, h);
}
