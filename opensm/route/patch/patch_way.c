// SPDX-License-Identifier: BSD-2-Clause
/*
 * One new port for one entry: do packets arrive, and can they block others?
 *
 * Switches forward a LID as the tables in force say, or as they did before a Set that is on its
 * way. All these cables together are searched for the switch itself. That there is no loop then,
 * patch.c explains.
 *
 * Dependencies are those of packets that pass: from the senders of the end ports that come to the
 * switch, on the VLs of their SLs, by the new cable and on to the destination. Mostly all of them
 * are known already, which masks of ports tell without a look at any sender.
 */
#include <assert.h>
#include <string.h>

#include "route/patch/patch_internal.h"

#define CLASSES_MAX 255
#define STEPS_MAX   4096 /* turns that one new port may add; more: it is not taken */
#define OUTS_MAX    3	 /* the entry now, the one held before, the one left in this call */

/* ---- where a switch may forward a LID -------------------------------------------------------- */

static uint8_t port_now(const struct patch_run *r, uint32_t sw, lid_t lid)
{
	return routes_row(r->routes, sw)[lid];
}

/* The entry of a port; TOPO_NONE: no cable to a switch, or a dead one. */
static uint32_t entry_of(const struct patch_ground *g, uint32_t sw, uint8_t port)
{
	const struct patch_switch *s = &g->switches[sw];

	return port <= s->n_ports && g->ways[s->first + port].to != TOPO_NONE ? s->first + port
									      : TOPO_NONE;
}

/* All entries are those that tables in force have. */
static bool is_settled(const struct patch_run *r, lid_t lid)
{
	return !r->held && !r->moved_of[lid];
}

struct outs {
	uint32_t entries[OUTS_MAX];
	unsigned n;
};

static void add_out(const struct patch_run *r, struct outs *o, uint32_t sw, uint8_t port)
{
	uint32_t entry = entry_of(r->ground, sw, port);

	if (entry == TOPO_NONE)
		return;
	for (unsigned i = 0; i < o->n; i++)
		if (o->entries[i] == entry)
			return;
	assert(o->n < OUTS_MAX);
	o->entries[o->n++] = entry;
}

bool patch_has_moved(const struct patch_run *r, uint32_t sw, lid_t lid, uint8_t *ret)
{
	for (uint32_t i = r->moved_of[lid]; i; i = r->moved[i - 1].next)
		if (r->moved[i - 1].sw == sw) {
			*ret = r->moved[i - 1].port;
			return true;
		}
	return false;
}

/* The cables by which `sw` may forward `lid` until all Sets have arrived. */
static struct outs outs_of(const struct patch_run *r, uint32_t sw, lid_t lid)
{
	struct outs o = { .n = 0 };
	uint8_t was;

	if (sw == r->ground->goals[lid].at)
		return o;
	add_out(r, &o, sw, port_now(r, sw, lid));
	if (r->held)
		add_out(r, &o, sw, r->held->port(r->held->arg, sw, lid));
	if (patch_has_moved(r, sw, lid, &was))
		add_out(r, &o, sw, was);
	return o;
}

/* ---- loops ----------------------------------------------------------------------------------- */

bool patch_way_arrives(const struct patch_run *r, uint32_t sw, lid_t lid)
{
	const struct patch_ground *g = r->ground;
	const struct patch_goal *goal = &g->goals[lid];

	for (uint32_t steps = 0; steps <= g->n; steps++) {
		uint8_t port = port_now(r, sw, lid);
		uint32_t out = entry_of(g, sw, port);

		if (sw == goal->at)
			return port == goal->port;
		if (out == TOPO_NONE)
			return false;
		sw = g->ways[out].to;
	}
	return false;
}

/* Does the way from the cable of entry `out` end at the destination, and not at `sw`? */
static bool arrives(struct patch_run *r, uint32_t sw, lid_t lid, uint32_t out)
{
	const struct patch_ground *g = r->ground;
	const struct patch_goal *goal = &g->goals[lid];

	r->n_hops = 0;
	r->work++;
	for (uint32_t steps = 0; steps < g->n; steps++) {
		uint32_t at = g->ways[out].to, next;
		uint8_t port = port_now(r, at, lid);

		if (at == goal->at)
			return port == goal->port;
		next = entry_of(g, at, port);
		if (at == sw || next == TOPO_NONE)
			return false;
		if (r->n_hops < PATCH_HOPS)
			r->hops[r->n_hops] = (struct patch_hop){ out, next };
		r->n_hops++;
		r->work++;
		out = next;
	}
	return false;
}

/*
 * Begins a search: no switch counts as seen. A switch is seen if r->seen has the number of this
 * search, so nothing is cleared before the numbers begin again.
 */
static void begin_search(struct patch_run *r)
{
	if (!++r->search) {
		memset(r->seen, 0, r->ground->n * sizeof(*r->seen));
		r->search = 1;
	}
}

static bool is_new(struct patch_run *r, uint32_t sw)
{
	if (r->seen[sw] == r->search)
		return false;
	r->seen[sw] = r->search;
	return true;
}

/* May packets that leave `sw` by `out` come back to it, as long as former entries are held? */
static bool may_come_back(struct patch_run *r, uint32_t sw, lid_t lid, uint32_t out)
{
	const struct patch_ground *g = r->ground;
	uint32_t n = 0;

	begin_search(r);
	is_new(r, g->ways[out].to);
	r->stack[n++] = g->ways[out].to;
	while (n) {
		uint32_t at = r->stack[--n];
		struct outs o = outs_of(r, at, lid);

		r->work++;
		if (at == sw)
			return true;
		for (unsigned i = 0; i < o.n; i++)
			if (is_new(r, g->ways[o.entries[i]].to))
				r->stack[n++] = g->ways[o.entries[i]].to;
	}
	return false;
}

/* ---- senders --------------------------------------------------------------------------------- */

/* Layers that end ports of the switch use for the LID. */
static uint16_t own_layers(const struct patch_run *r, uint32_t sw, lid_t lid)
{
	const struct patch_ground *g = r->ground;

	if (!g->switches[sw].sends)
		return 0;
	return g->layers[sl2vl_sl(g->lanes, sw, g->goals[lid].at, lid, 0)];
}

/* Entries that are looked at: those of the tables from now on, or all that switches may hold. */
enum when { NOW, EVER };

/* May the switch behind this entry send the LID by its cable? */
static bool leads_here(const struct patch_run *r, uint32_t entry, lid_t lid, enum when when)
{
	const struct patch_ground *g = r->ground;
	uint32_t from = g->ways[entry].to, peer = g->ways[entry].peer;
	uint8_t port = g->ways[entry].port;
	struct outs o;

	if (from == g->goals[lid].at)
		return false;
	if (port_now(r, from, lid) == port)
		return true;
	if (when == NOW || is_settled(r, lid))
		return false;
	o = outs_of(r, from, lid);
	for (unsigned i = 0; i < o.n; i++)
		if (o.entries[i] == peer)
			return true;
	return false;
}

/*
 * Ports of `sw` by which packets to `lid` may come in: those by which some came that left by its
 * port. Where that is not known, all.
 */
static uint64_t mask_in(const struct patch_run *r, uint32_t sw, lid_t lid, enum when when,
			unsigned word)
{
	const struct patch_ground *g = r->ground;
	uint8_t port = port_now(r, sw, lid);
	uint64_t mask = 0;

	if ((r->held && when == EVER) || !g->goals[lid].counts || !port ||
	    port > g->switches[sw].n_ports)
		return UINT64_MAX;
	for (unsigned i = 0; i < g->n_planes; i++)
		mask |= patch_before(g, i, g->switches[sw].first + port)[word];
	return mask;
}

/* The entries of `sw` whose cable is alive and may bring packets to the LID. */
static unsigned list_ins(struct patch_run *r, uint32_t sw, lid_t lid, enum when when,
			 uint32_t ret[255])
{
	const struct patch_ground *g = r->ground;
	const struct patch_switch *s = &g->switches[sw];
	unsigned n = 0;

	r->work++;
	for (unsigned word = 0; word <= s->n_ports / 64u; word++) {
		uint64_t mask = mask_in(r, sw, lid, when, word);

		for (; mask; mask &= mask - 1, r->work++) {
			unsigned port = word * 64 + (unsigned)__builtin_ctzll(mask);
			uint32_t entry = s->first + port;

			if (port > s->n_ports)
				break;
			if (g->ways[entry].to != TOPO_NONE && leads_here(r, entry, lid, when))
				ret[n++] = entry;
		}
	}
	return n;
}

/*
 * Layers of packets to the LID that come to the switch, those of its own end ports included; the
 * search ends when there are all of `most`.
 */
static uint16_t layers_at(struct patch_run *r, uint32_t sw, lid_t lid, uint16_t most)
{
	uint32_t n = 0, ins[255];
	uint16_t layers = 0;

	begin_search(r);
	is_new(r, sw);
	r->stack[n++] = sw;
	while (n && (layers & most) != most) {
		uint32_t at = r->stack[--n];
		unsigned n_ins;

		layers |= own_layers(r, at, lid);
		if ((layers & most) == most)
			break;
		n_ins = list_ins(r, at, lid, EVER, ins);
		for (unsigned i = 0; i < n_ins; i++)
			if (is_new(r, r->ground->ways[ins[i]].to))
				r->stack[n++] = r->ground->ways[ins[i]].to;
	}
	return layers;
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* Layers of packets on a cable, by the class of the port by which they came before. */
struct load {
	uint16_t layers[CLASSES_MAX];
};

static uint16_t all_layers(const struct patch_ground *g, const struct load *l)
{
	uint16_t all = 0;

	for (unsigned c = 0; c < g->n_classes; c++)
		all |= l->layers[c];
	return all;
}

/* Adds what packets from end ports of the switch are. */
static void add_own(struct patch_run *r, uint32_t sw, lid_t lid, struct load *l)
{
	const struct patch_ground *g = r->ground;
	uint32_t first = g->switches[sw].first;
	uint16_t own = own_layers(r, sw, lid);

	if (g->n_classes == 1) {
		l->layers[0] |= own;
		return;
	}
	for (unsigned p = 1; own && p <= g->switches[sw].n_ports; p++) {
		uint32_t host = g->topo->ports[first + p].host;

		if (host != TOPO_NONE && g->topo->hosts[host].lid)
			l->layers[patch_class(g, first + p)] |= own;
	}
}

/* What comes to `sw` for the LID, by the class of the port in. */
static void find_load(struct patch_run *r, uint32_t sw, lid_t lid, struct load *ret)
{
	const struct patch_ground *g = r->ground;
	uint16_t most = g->goals[lid].layers;
	uint32_t ins[255];
	unsigned n;

	memset(ret->layers, 0, g->n_classes * sizeof(*ret->layers));
	if (g->n_classes == 1) {
		ret->layers[0] = layers_at(r, sw, lid, most);
		return;
	}
	add_own(r, sw, lid, ret);
	n = list_ins(r, sw, lid, EVER, ins);
	for (unsigned i = 0; i < n; i++)
		ret->layers[patch_class(g, ins[i])] |= layers_at(r, g->ways[ins[i]].to, lid, most);
}

/* Packets of one kind that are on cable `in` leave by cable `out`. */
static bool take_turn(struct patch_run *r, uint32_t in, unsigned class, uint16_t layers,
		      uint32_t out)
{
	const struct patch_ground *g = r->ground;
	unsigned here = patch_class(g, g->ways[in].peer);

	for (unsigned left = layers; left; left &= left - 1) {
		unsigned layer = (unsigned)__builtin_ctz(left);
		uint8_t before = patch_vl(g, class, patch_class(g, in), layer),
			after = patch_vl(g, here, patch_class(g, out), layer);

		if (before == SL2VL_VL_DROP)
			continue;
		if (after == SL2VL_VL_DROP) {
			patch_trial_drop(&r->trial);
			return false;
		}
		if (!patch_trial_turn(&r->trial, in, before, out, after))
			return false;
	}
	return true;
}

static bool take_turns(struct patch_run *r, uint32_t in, const struct load *l, uint32_t out)
{
	for (unsigned c = 0; c < r->ground->n_classes; c++)
		if (l->layers[c] && !take_turn(r, in, c, l->layers[c], out))
			return false;
	return true;
}

/* What is on the cable of entry `in` goes on to the destination, by every way that it may take. */
static bool follow(struct patch_run *r, lid_t lid, uint32_t in, unsigned class, uint16_t layers,
		   unsigned *steps)
{
	const struct patch_ground *g = r->ground;
	struct outs o;

	for (;;) {
		unsigned next = patch_class(g, g->ways[in].peer);

		o = outs_of(r, g->ways[in].to, lid);
		for (unsigned i = 0; i < o.n; i++) {
			if (++*steps > STEPS_MAX) {
				patch_trial_drop(&r->trial);
				return false;
			}
			if (!take_turn(r, in, class, layers, o.entries[i]))
				return false;
			if (i && !follow(r, lid, o.entries[i], next, layers, steps))
				return false;
		}
		if (!o.n)
			return true;
		in = o.entries[0];
		class = next;
	}
}

/* All that comes to `sw` for the LID leaves by the cable of entry `out`. */
static bool lead_out(struct patch_run *r, uint32_t sw, lid_t lid, uint32_t out, struct load *ret)
{
	const struct patch_ground *g = r->ground;
	struct load before;
	uint32_t ins[255];
	unsigned n = list_ins(r, sw, lid, EVER, ins);

	memset(ret->layers, 0, g->n_classes * sizeof(*ret->layers));
	add_own(r, sw, lid, ret);
	for (unsigned i = 0; i < n; i++) {
		find_load(r, g->ways[ins[i]].to, lid, &before);
		if (!take_turns(r, g->ways[ins[i]].peer, &before, out))
			return false;
		ret->layers[patch_class(g, ins[i])] |= all_layers(g, &before);
	}
	return true;
}

/* May the packets of end ports of `sw` leave by a port of the class of `out`? */
static bool own_may_leave(const struct patch_run *r, const struct load *l, uint32_t out)
{
	const struct patch_ground *g = r->ground;

	for (unsigned c = 0; c < g->n_classes; c++)
		for (unsigned left = l->layers[c]; left; left &= left - 1)
			if (patch_vl(g, c, patch_class(g, out), (unsigned)__builtin_ctz(left)) ==
			    SL2VL_VL_DROP)
				return false;
	return true;
}

static bool prove(struct patch_run *r, uint32_t sw, lid_t lid, uint32_t out)
{
	const struct patch_ground *g = r->ground;
	struct load l;
	unsigned steps = 0;

	patch_trial_begin(&r->trial);
	if (!lead_out(r, sw, lid, out, &l))
		return false;
	if (!own_may_leave(r, &l, out)) {
		patch_trial_drop(&r->trial);
		return false;
	}
	for (unsigned c = 0; c < g->n_classes; c++)
		if (l.layers[c] && !follow(r, lid, out, c, l.layers[c], &steps))
			return false;
	patch_trial_keep(&r->trial);
	return true;
}

/* ---- without a look at senders --------------------------------------------------------------- */

static bool has_turn(const struct patch_ground *g, unsigned plane, uint32_t in, uint32_t out)
{
	unsigned port = g->ways[in].port;

	return patch_before(g, plane, out)[port / 64] >> port % 64 & 1;
}

/* Do all packets that left by entry `was` come by ports by which some left by `out`? */
static bool has_turns_here(const struct patch_ground *g, uint16_t planes, uint32_t was,
			   uint32_t out)
{
	for (unsigned left = planes; left; left &= left - 1) {
		unsigned plane = (unsigned)__builtin_ctz(left);
		const uint64_t *a = patch_before(g, plane, was), *b = patch_before(g, plane, out);

		for (unsigned k = 0; k < g->words; k++)
			if (a[k] & ~b[k])
				return false;
	}
	return true;
}

/* Those of the planes on which the turns of the way that arrives() found are known. */
static uint16_t planes_with_way(const struct patch_run *r, uint16_t planes)
{
	uint16_t known = 0;

	for (unsigned left = planes; left; left &= left - 1) {
		unsigned plane = (unsigned)__builtin_ctz(left), i = 0;

		while (i < r->n_hops && has_turn(r->ground, plane, r->hops[i].in, r->hops[i].out))
			i++;
		if (i == r->n_hops)
			known |= (uint16_t)(1u << plane);
	}
	return known;
}

/* Planes of packets that come to the switch for the LID, or more. */
static uint16_t planes_at(const struct patch_run *r, uint32_t sw, lid_t lid, uint32_t was)
{
	const struct patch_ground *g = r->ground;
	uint16_t planes = 0;

	for (unsigned left = g->goals[lid].planes; left; left &= left - 1) {
		unsigned plane = (unsigned)__builtin_ctz(left);

		for (unsigned k = 0; k < g->words; k++)
			if (patch_before(g, plane, was)[k])
				planes |= (uint16_t)(1u << plane);
	}
	for (unsigned left = own_layers(r, sw, lid); left; left &= left - 1) {
		uint8_t vl = patch_vl(g, 0, 0, (unsigned)__builtin_ctz(left));

		if (vl != SL2VL_VL_DROP)
			planes |= (uint16_t)(1u << vl);
	}
	return planes;
}

/* The entry that the LID leaves by now, to a cable perhaps dead; TOPO_NONE: to none. */
static uint32_t entry_now(const struct patch_run *r, uint32_t sw, lid_t lid)
{
	const struct patch_switch *s = &r->ground->switches[sw];
	uint8_t port = port_now(r, sw, lid);

	return port && port <= s->n_ports ? s->first + port : TOPO_NONE;
}

/* All of one plane: the turns of the way are added, whichever of the senders make them. */
static bool add_way(struct patch_run *r, const struct patch_goal *goal)
{
	patch_trial_begin(&r->trial);
	for (unsigned i = 0; i < r->n_hops; i++)
		if (!take_turn(r, r->hops[i].in, 0, goal->layers, r->hops[i].out))
			return false;
	patch_trial_keep(&r->trial);
	return true;
}

/* Only after arrives(), and where packets keep their VL. `memo` is of this switch and port. */
static bool needs_no_proof(struct patch_run *r, uint32_t sw, lid_t lid, uint32_t out,
			   struct patch_memo *memo)
{
	const struct patch_ground *g = r->ground;
	const struct patch_goal *goal = &g->goals[lid];
	uint32_t was = entry_now(r, sw, lid);
	uint16_t planes;

	if (g->n_classes > 1 || r->n_hops > PATCH_HOPS || was == TOPO_NONE)
		return false;
	memo->planes = planes_with_way(r, goal->planes);
	planes = planes_at(r, sw, lid, was);
	if (!has_turns_here(g, planes, was, out))
		return false;
	if (planes & ~memo->planes && !(goal->planes & (goal->planes - 1)) &&
	    r->trial.work <= r->ground->most_trials && add_way(r, goal))
		memo->planes = goal->planes;
	return !(planes & ~memo->planes);
}

/* ---- ways that are known --------------------------------------------------------------------- */

/* Only after arrives(). */
static struct patch_memo *note_way(struct patch_run *r, uint32_t sw, lid_t lid, uint8_t port)
{
	struct patch_memo *m = &r->memos[port];

	*m = (struct patch_memo){ .sw = TOPO_NONE, .n = r->n_hops + 1 };
	if (r->n_hops >= PATCH_MEMO_HOPS)
		return m;
	m->sw = sw;
	m->at = r->ground->goals[lid].at;
	for (unsigned i = 0; i < r->n_hops; i++) {
		uint32_t at = r->ground->ways[r->hops[i].in].to;

		m->rows[i] = routes_row(r->routes, at);
		m->ports[i] = m->rows[i][lid];
	}
	m->rows[r->n_hops] = routes_row(r->routes, m->at);
	return m;
}

bool patch_way_is_known(const struct patch_run *r, uint32_t sw, lid_t lid, uint8_t port)
{
	const struct patch_ground *g = r->ground;
	const struct patch_goal *goal = &g->goals[lid];
	const struct patch_memo *m = &r->memos[port];
	uint32_t was;

	if (!is_settled(r, lid) || m->sw != sw || m->at != goal->at ||
	    m->rows[m->n - 1][lid] != goal->port)
		return false;
	for (unsigned i = 0; i + 1 < m->n; i++)
		if (m->rows[i][lid] != m->ports[i])
			return false;
	if (!goal->counts)
		return true;
	was = entry_now(r, sw, lid);
	return g->n_classes == 1 && !(goal->planes & ~m->planes) && was != TOPO_NONE &&
	       has_turns_here(g, goal->planes, was, g->switches[sw].first + port);
}

bool patch_way_take(struct patch_run *r, uint32_t sw, lid_t lid, uint8_t port)
{
	const struct patch_ground *g = r->ground;
	uint32_t out = entry_of(g, sw, port);
	bool settled = is_settled(r, lid);
	struct patch_memo *memo;

	if (out == TOPO_NONE)
		return false;
	if (patch_way_is_known(r, sw, lid, port))
		return true;
	if (r->work > r->ground->most_walks || !arrives(r, sw, lid, out) ||
	    (!settled && may_come_back(r, sw, lid, out)))
		return false;
	memo = note_way(r, sw, lid, port);
	if (!g->goals[lid].counts || (settled && needs_no_proof(r, sw, lid, out, memo)))
		return true;
	return r->trial.work <= r->ground->most_trials && prove(r, sw, lid, out);
}

/* ---- what an entry is for -------------------------------------------------------------------- */

unsigned patch_way_senders(struct patch_run *r, uint32_t sw, lid_t lid, uint32_t *ret)
{
	uint32_t ins[255];
	unsigned n = list_ins(r, sw, lid, NOW, ins), used = 0;

	for (unsigned i = 0; i < n; i++)
		if (patch_way_is_used(r, r->ground->ways[ins[i]].to, lid))
			ret[used++] = r->ground->ways[ins[i]].to;
	return used;
}

bool patch_way_is_used(struct patch_run *r, uint32_t sw, lid_t lid)
{
	const struct patch_ground *g = r->ground;
	uint32_t n = 0, ins[255];

	if (patch_is_spent(r))
		return true;
	begin_search(r);
	is_new(r, sw);
	r->stack[n++] = sw;
	while (n) {
		uint32_t at = r->stack[--n];
		unsigned n_ins;

		if (g->switches[at].sends)
			return true;
		n_ins = list_ins(r, at, lid, NOW, ins);
		for (unsigned i = 0; i < n_ins; i++)
			if (is_new(r, g->ways[ins[i]].to))
				r->stack[n++] = g->ways[ins[i]].to;
	}
	return false;
}
