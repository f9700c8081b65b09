// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects dependencies: from columns of forwarding tables (the scheme decides the VL at every
 * step) and from multicast trees. Cycles are searched in cycle.c.
 *
 * SLs that lead to the same VLs everywhere are one *layer*. A column is walked once per layer that
 * some source uses for it, farthest switch first; per switch it is enough to know by which ports,
 * on which VLs, something comes in.
 */
#include "route/proof/cdg.h"

#include <assert.h>
#include <string.h>

#include "route/proof/cdg_internal.h"

/* SLs 0..15 into layers: equal columns of the VL table are one. */
static void find_layers(struct cdg *g)
{
	const struct sl2vl *l = g->lanes;
	unsigned rows = l->n_classes * l->n_classes;

	g->scheme_vls = l->n_vls;
	g->n_layers = 0;
	memset(g->layers, 0, sizeof(g->layers));
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++) {
		unsigned layer = 0, i;

		for (; layer < g->n_layers; layer++) {
			for (i = 0; i < rows; i++)
				if (l->vl[i * SL2VL_SLS + sl] !=
				    l->vl[i * SL2VL_SLS + g->layer_sl[layer]])
					break;
			if (i == rows)
				break;
		}
		if (layer == g->n_layers)
			g->layer_sl[g->n_layers++] = (uint8_t)sl;
		g->layer_of[sl] = (uint8_t)layer;
	}
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		for (unsigned wish = 0; wish < SL2VL_SLS; wish++)
			g->layers[sl] |= (uint16_t)(1u << g->layer_of[(sl & l->sl_mask) |
								      (wish & ~l->sl_mask & 15u)]);
}

/* Which ports of a switch are of which class. */
static void find_classes(struct cdg *g)
{
	const struct topo *t = g->topo;

	if (!g->lanes || g->lanes->n_classes == 1 || !g->lanes->class_of)
		return;
	g->n_classes = g->lanes->n_classes;
	free(g->of_class);
	g->of_class =
		xcalloc((size_t)t->n_switches * g->n_classes * g->words, sizeof(*g->of_class));
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 0; p <= t->switches[s].n_ports; p++) {
			unsigned c = g->lanes->class_of[t->switches[s].first_port + p];
			uint64_t *mask = &g->of_class[((size_t)s * g->n_classes + c) * g->words];

			mask[p / 64] |= UINT64_C(1) << p % 64;
		}
}

void cdg_find_peers(struct cdg *g)
{
	g->n_ports = topo_n_entries(g->topo);
	g->peer = xrealloc(g->peer, g->n_ports + 1u, sizeof(*g->peer));
	for (uint32_t e = 0; e < g->n_ports; e++)
		g->peer[e] = topo_peer(g->topo, e);
}

unsigned cdg_words(const struct topo *t)
{
	unsigned most = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		most = MAX(most, (unsigned)t->switches[s].n_ports);
	return most / 64 + 1;
}

static void find_ports(struct cdg *g)
{
	const struct topo *t = g->topo;

	g->words = cdg_words(t);
	g->hosts = xcalloc((size_t)t->n_switches * g->words, sizeof(*g->hosts));
	cdg_find_peers(g);
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t host = topo_port(t, s, p)->host;

			if (host != TOPO_NONE && t->hosts[host].lid)
				g->hosts[(size_t)s * g->words + p / 64] |= UINT64_C(1) << p % 64;
		}
}

struct cdg *cdg_new(const struct topo *t, const struct sl2vl *lanes)
{
	struct cdg *g = xcalloc(1, sizeof(*g));

	g->topo = t;
	find_ports(g);
	g->n_layers = g->n_vls = g->n_in = g->n_classes = 1;
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		g->layers[sl] = 1;
	/* With one class and SLs that are free every VL is like the other: one will do. */
	if (lanes && (lanes->by != SL2VL_BY_NOTHING || (lanes->n_classes > 1 && lanes->class_of))) {
		g->lanes = lanes;
		g->n_vls = lanes->n_vls;
		find_layers(g);
		find_classes(g);
		g->n_in = g->n_classes > 1 ? g->n_vls : 1;
	}
	g->into = xcalloc((size_t)g->n_ports * g->n_vls * g->n_in * g->words, sizeof(*g->into));
	return g;
}

/* Room for more VLs. */
static void widen(struct cdg *g, unsigned n_vls)
{
	unsigned n_in = g->n_classes > 1 ? n_vls : 1;
	uint64_t *into = xcalloc((size_t)g->n_ports * n_vls * n_in * g->words, sizeof(*into));
	uint32_t *rank = xcalloc((size_t)g->n_ports * n_vls, sizeof(*rank));

	for (size_t was = 0; was < (size_t)g->n_ports * g->n_vls; was++) {
		size_t now = was / g->n_vls * n_vls + was % g->n_vls;

		rank[now] = g->rank[was];
		memcpy(&into[now * n_in * g->words], &g->into[was * g->n_in * g->words],
		       g->n_in * g->words * sizeof(*into));
	}
	FREE_ALL(g->into, g->rank);
	g->into = into;
	g->rank = rank;
	g->n_vls = n_vls;
	g->n_in = n_in;
}

void cdg_move(struct cdg *g, const struct topo *t, const struct sl2vl *lanes)
{
	g->topo = t;
	cdg_find_peers(g);
	if (!g->lanes && (!lanes || lanes->n_classes == 1))
		return;
	g->lanes = lanes;
	find_layers(g);
	find_classes(g);
	if (lanes->n_vls > g->n_vls)
		widen(g, lanes->n_vls);
}

struct cdg *cdg_copy(const struct cdg *g)
{
	struct cdg *c = xmemdup(g, sizeof(*g));
	size_t masks = g->words * sizeof(uint64_t), n = g->topo->n_switches;

	c->peer = xmemdup(g->peer, g->n_ports * sizeof(*g->peer));
	c->hosts = xmemdup(g->hosts, n * masks);
	c->into = xmemdup(g->into, (size_t)g->n_ports * g->n_vls * g->n_in * masks);
	c->of_class = g->of_class ? xmemdup(g->of_class, n * g->n_classes * masks) : NULL;
	c->rank =
		g->rank ? xmemdup(g->rank, (size_t)g->n_ports * g->n_vls * sizeof(*g->rank)) : NULL;
	c->turns = NULL;
	c->added = NULL;
	return c;
}

struct cdg *cdg_free(struct cdg *g)
{
	if (!g)
		return NULL;
	FREE_ALL(g->peer, g->hosts, g->of_class, g->into, g->rank);
	cdg_turns_free(g->turns);
	free(g);
	return NULL;
}

/* Layers that end ports of `s` use for a LID of switch `at`. */
static uint16_t layers_at(const struct cdg *g, uint32_t s, uint32_t at, lid_t lid)
{
	return g->lanes ? g->layers[sl2vl_sl(g->lanes, s, at, lid, 0)] : 1;
}

/* VLs that packets of these layers may be on. */
static uint16_t vls_of_layers(const struct cdg *g, uint16_t layers)
{
	uint16_t vls = 0;

	for (unsigned i = 0; i < g->n_classes * g->n_classes; i++)
		for (unsigned left = layers; left; left &= left - 1)
			vls |= (uint16_t)(1u << cdg_vl(g, i / g->n_classes, i % g->n_classes,
						       (unsigned)__builtin_ctz(left)));
	return vls & (uint16_t)~(1u << SL2VL_VL_DROP);
}

uint16_t cdg_vls_of(const struct cdg *g, uint32_t at, lid_t lid)
{
	return vls_of_layers(g, layers_at(g, 0, at, lid));
}

uint16_t cdg_vls(const struct cdg *g)
{
	return g->vls;
}

uint16_t cdg_vls_with(const struct cdg *g, uint16_t sls)
{
	uint16_t layers = 0;

	if (!g->lanes)
		return g->vls;
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		layers |= sls >> sl & 1 ? g->layers[sl] : 0;
	return g->vls & vls_of_layers(g, layers);
}

/* VLs of first cables stay: paths of one cable have no dependency. */
void cdg_forget_vls(struct cdg *g)
{
	size_t masks = (size_t)g->n_in * g->words;
	uint16_t used = 0;

	for (unsigned out = 0; out < g->n_classes; out++)
		for (unsigned layer = 0; layer < g->n_layers; layer++)
			used |= (uint16_t)(1u << cdg_vl(g, 0, out, layer));
	for (size_t v = 0; v < (size_t)g->n_ports * g->n_vls; v++)
		for (size_t i = 0; i < masks; i++)
			if (g->into[v * masks + i])
				used |= (uint16_t)(1u << v % g->n_vls);
	g->vls &= used;
}

static void each_edge_to(const struct cdg *g, size_t to, unsigned a,
			 void (*edge)(void *arg, struct cdg_vertex from, struct cdg_vertex to),
			 void *arg)
{
	const uint64_t *into = &g->into[(to * g->n_in + a) * g->words];

	for (unsigned k = 0; k < g->words; k++)
		for (uint64_t left = into[k]; left; left &= left - 1) {
			unsigned port = k * 64 + (unsigned)__builtin_ctzll(left);
			size_t from = cdg_from(g, to, a, port);

			if (from / g->n_vls == TOPO_NONE)
				continue; /* a former path's cable is gone */
			edge(arg,
			     (struct cdg_vertex){ (uint32_t)(from / g->n_vls),
						  (uint8_t)(from % g->n_vls) },
			     (struct cdg_vertex){ (uint32_t)(to / g->n_vls),
						  (uint8_t)(to % g->n_vls) });
		}
}

void cdg_each_edge(const struct cdg *g,
		   void (*edge)(void *arg, struct cdg_vertex from, struct cdg_vertex to), void *arg)
{
	assert(g && edge);
	for (size_t to = 0; to < (size_t)g->n_ports * g->n_vls; to++)
		for (unsigned a = 0; g->peer[to / g->n_vls] != TOPO_NONE && a < g->n_in; a++)
			each_edge_to(g, to, a, edge, arg);
}

/* ---- columns --------------------------------------------------------------------------------- */

struct cdg_walk {
	struct cdg *g;
	uint64_t *kinds;  /* per switch, for g->turns */
	uint64_t *in;	/* in[(switch * n_in + VL) * words]: ports that the column comes in by */
	uint16_t *layers; /* per switch: layers its end ports use for the column */
	struct arena memory;
};

struct cdg_walk *cdg_walk_new(struct cdg *g)
{
	struct cdg_walk *w = xcalloc(1, sizeof(*w));
	uint32_t n = g->topo->n_switches;

	w->g = g;
	ARENA_ARRAYS(&w->memory, n, w->kinds, w->layers);
	ARENA_ARRAY(&w->memory, w->in, (size_t)n * g->n_in * g->words);
	return w;
}

ARENA_FREE(cdg_walk_free, struct cdg_walk)

static bool is_any(const uint64_t *words, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		if (words[k])
			return true;
	return false;
}

static bool has_hosts(const struct cdg *g, uint32_t s)
{
	return is_any(&g->hosts[(size_t)s * g->words], g->words);
}

/*
 * Ports in of class `class` that lead to channel `out`: their dependencies; true if anything goes
 * there. `in` are the masks of the switch per VL, `own` says that end ports of the switch send too.
 */
static bool add_class(struct cdg *g, uint64_t *into, const uint64_t *in, const uint64_t *class,
		      const uint64_t *own)
{
	uint64_t any = 0;

	for (unsigned a = 0; a < g->n_in; a++)
		for (unsigned k = 0; k < g->words; k++) {
			uint64_t bits = in[a * g->words + k] & (class ? class[k] : UINT64_MAX);

			any |= bits;
			if (g->added)
				cdg_note_bits(g->added, &into[a * g->words + k], bits);
			else
				cdg_add_bits(&into[a * g->words + k], bits);
		}
	for (unsigned k = 0; own && k < g->words; k++)
		any |= own[k] & (class ? class[k] : UINT64_MAX);
	return any;
}

/* Traffic that reached switch `s` leaves by `port`, and reaches the switch behind it, if any. */
static void pass_on(struct cdg_walk *w, uint32_t s, unsigned port, unsigned layer,
		    const uint64_t *own)
{
	struct cdg *g = w->g;
	uint32_t channel = g->topo->switches[s].first_port + port;
	const struct topo_port *to = &g->topo->ports[channel];
	const uint64_t *in = &w->in[(size_t)s * g->n_in * g->words];
	unsigned out = g->n_classes > 1 ? g->lanes->class_of[channel] : 0;

	for (unsigned c = 0; c < g->n_classes; c++) {
		const uint64_t *class = g->n_classes > 1 ?
			&g->of_class[((size_t)s * g->n_classes + c) * g->words] : NULL;
		unsigned vl = cdg_vl(g, c, out, layer);
		uint64_t *into = &g->into[((size_t)channel * g->n_vls + vl) * g->n_in * g->words];
		uint64_t *there =
			&w->in[((size_t)to->sw * g->n_in + (g->n_in > 1 ? vl : 0)) * g->words];

		if (vl == SL2VL_VL_DROP || !add_class(g, into, in, class, own))
			continue;
		there[to->port / 64] |= UINT64_C(1) << to->port % 64;
		if (!(__atomic_load_n(&g->vls, __ATOMIC_RELAXED) >> vl & 1))
			__atomic_fetch_or(&g->vls, (uint16_t)(1u << vl), __ATOMIC_RELAXED);
	}
}

static void forget(struct cdg_walk *w, uint32_t s)
{
	memset(&w->in[(size_t)s * w->g->n_in * w->g->words], 0,
	       w->g->n_in * w->g->words * sizeof(*w->in));
}

static void add_layer(struct cdg_walk *w, const struct cdg_column *c, unsigned layer)
{
	struct cdg *g = w->g;
	unsigned masks = g->n_in * g->words;

	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		const uint64_t *own =
			w->layers[s] >> layer & 1 ? &g->hosts[(size_t)s * g->words] : NULL;

		if (!own && !is_any(&w->in[(size_t)s * masks], masks))
			continue;
		if (c->next[s] < g->topo->n_switches)
			pass_on(w, s, c->ports[s], layer, own);
		forget(w, s);
	}
	forget(w, c->at);
}

void cdg_add_column(struct cdg_walk *w, const struct cdg_column *c)
{
	struct cdg *g = w->g;
	uint16_t all = 0;

	if (g->turns) {
		cdg_turns_add_column(g->turns, w->kinds, c);
		return;
	}
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];

		w->layers[s] = has_hosts(g, s) ? layers_at(g, s, c->at, c->lid) : 0;
		all |= w->layers[s];
	}
	for (unsigned layer = 0; layer < g->n_layers; layer++)
		if (all >> layer & 1)
			add_layer(w, c, layer);
}

void cdg_add_way(struct cdg_walk *w, const struct cdg_column *c, uint32_t from)
{
	struct cdg *g = w->g;
	uint32_t n = g->topo->n_switches;
	uint16_t layers = has_hosts(g, from) ? layers_at(g, from, c->at, c->lid) : 0;

	for (unsigned layer = 0; layer < g->n_layers; layer++) {
		const uint64_t *own = &g->hosts[(size_t)from * g->words];
		uint32_t s = from;

		if (!(layers >> layer & 1))
			continue;
		/* In, once round, and over the seam: the VL depends on the port before only. */
		for (uint32_t i = 0; i < 2 * n + 2 && s < n && c->next[s] < n; i++) {
			pass_on(w, s, c->ports[s], layer, own);
			forget(w, s);
			own = NULL;
			s = c->next[s];
		}
		if (s < n)
			forget(w, s);
	}
}

/* ---- multicast trees ------------------------------------------------------------------------- */

/* Flooding a tree: (row, port in, VL) that something comes in by. */
struct flood {
	struct cdg *g;
	const struct mcast_tree *tree;
	uint8_t sl;
	struct cdg_added *added;
	struct arrival {
		uint32_t row;
		uint8_t port, vl;
		bool own; /* from an end port: by any port that leads to none of our switches */
	} *queue;
	size_t n, cap;
	uint16_t *seen; /* per entry of topo->ports: VLs that arrived there */
	uint32_t *row;	/* per switch: its row + 1; 0: it has none */
};

static void arrive(struct flood *f, uint32_t sw, unsigned port, unsigned vl)
{
	uint16_t *seen = &f->seen[f->g->topo->switches[sw].first_port + port];

	if (!f->row[sw] || *seen >> vl & 1)
		return;
	*seen |= (uint16_t)(1u << vl);
	APPEND(f->queue, f->n, f->cap) = (struct arrival){
		.row = f->row[sw] - 1, .port = (uint8_t)port, .vl = (uint8_t)vl,
	};
}

/* A copy from port `in` (VL `vl`; own: from an end port there) to port `out`. */
static void copy_out(struct flood *f, uint32_t s, struct arrival a, unsigned out)
{
	struct cdg *g = f->g;
	uint32_t channel = g->topo->switches[s].first_port + out;
	const struct topo_port *to = &g->topo->ports[channel];
	unsigned b = g->lanes ? sl2vl_vl(g->lanes, g->topo, s, a.port, out, f->sl) : 0;
	uint64_t *into = &g->into[((size_t)channel * g->n_vls + b) * g->n_in * g->words];

	if (b == SL2VL_VL_DROP)
		return;
	if (!a.own)
		cdg_note_bits(f->added, &into[(g->n_in > 1 ? a.vl : 0u) * g->words + a.port / 64],
			  UINT64_C(1) << a.port % 64);
	g->vls |= (uint16_t)(1u << b);
	arrive(f, to->sw, to->port, b);
}

static void flood_from(struct flood *f, struct arrival a)
{
	const struct mcast_row *row = &f->tree->rows[a.row];
	const struct topo *t = f->g->topo;

	for (unsigned out = 1; out <= t->switches[row->sw].n_ports; out++)
		if (out != a.port && row->mask[out / 64] >> out % 64 & 1 &&
		    topo_port(t, row->sw, out)->sw != TOPO_NONE)
			copy_out(f, row->sw, a, out);
}

/* Rows are in no order that says where a switch is: switches are numbered by order GUID. */
static void flood_tree(struct flood *f)
{
	const struct topo *t = f->g->topo;

	f->seen = xcalloc(f->g->n_ports, sizeof(*f->seen));
	f->row = xcalloc(t->n_switches, sizeof(*f->row));
	for (uint32_t i = 0; i < f->tree->n_rows; i++)
		f->row[f->tree->rows[i].sw] = i + 1;
	for (uint32_t i = 0; i < f->tree->n_rows; i++) {
		uint32_t s = f->tree->rows[i].sw;

		for (unsigned p = 0; p <= t->switches[s].n_ports; p++)
			if (!p || topo_port(t, s, p)->host != TOPO_NONE)
				flood_from(f, (struct arrival){
						      .row = i, .port = (uint8_t)p, .own = true });
	}
	for (size_t i = 0; i < f->n; i++)
		flood_from(f, f->queue[i]);
	FREE_ALL(f->queue, f->seen, f->row);
}

static void take_back(struct cdg_added *added)
{
	while (added->n) {
		struct cdg_added_bits *last = &added->all[--added->n];

		*last->mask &= ~last->bits;
	}
}

bool cdg_add_tree(struct cdg *g, const struct mcast_tree *tree, uint8_t sl)
{
	struct cdg_added added = { .n = 0 };
	struct flood f = { .g = g, .tree = tree, .sl = sl, .added = &added };
	bool ok;

	if (!g->rank)
		cdg_is_acyclic(g);
	flood_tree(&f);
	ok = g->rank ? cdg_is_still_acyclic(g, &added) : cdg_is_acyclic(g);
	if (!ok)
		take_back(&added);
	free(added.all);
	return ok;
}

void cdg_force_tree(struct cdg *g, const struct mcast_tree *tree, uint8_t sl)
{
	struct cdg_added added = { .n = 0 };

	flood_tree(&(struct flood){ .g = g, .tree = tree, .sl = sl, .added = &added });
	free(added.all);
}

bool cdg_turn_fits(const struct cdg *g, uint32_t sw, unsigned in, unsigned out, uint8_t sl)
{
	uint32_t first = g->topo->switches[sw].first_port;
	unsigned vl = g->lanes ? sl2vl_vl(g->lanes, g->topo, sw, in, out, sl) : 0;
	size_t from, to;

	if (!g->rank || g->n_in > 1 || vl == SL2VL_VL_DROP)
		return false;
	from = (size_t)g->peer[first + in] * g->n_vls + vl;
	to = (size_t)(first + out) * g->n_vls + vl;
	return g->into[to * g->words + in / 64] >> in % 64 & 1 || cdg_allows(g, from, to);
}

/* A packet that waits in the channel came by the other end of its cable. */
void cdg_remove_channel(struct cdg *g, uint32_t channel)
{
	size_t per_channel = (size_t)g->n_vls * g->n_in;
	const struct topo_port *p = &g->topo->ports[channel];
	const struct topo_switch *far;

	memset(&g->into[channel * per_channel * g->words], 0,
	       per_channel * g->words * sizeof(*g->into));
	if (p->sw == TOPO_NONE)
		return;
	far = &g->topo->switches[p->sw];
	for (unsigned out = 0; out <= far->n_ports; out++)
		for (size_t i = 0; i < per_channel; i++)
			g->into[((far->first_port + out) * per_channel + i) * g->words +
				p->port / 64] &= ~(UINT64_C(1) << p->port % 64);
}
