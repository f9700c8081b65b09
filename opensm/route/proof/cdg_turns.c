// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adds the paths of a destination to the dependency graph, all VLs at once.
 *
 * The VLs of a packet on a cable depend on the class of the port by which it came to the switch
 * before and on its layer (cdg.c): that is its *kind*, and all kinds of a destination on a cable
 * are one word. A *turn* is a port in and a port out of a switch. Of each turn we know the kinds
 * that were ever seen to make it; nearly always a destination has no other, so that a step costs
 * one comparison, however many VLs and sources there are.
 *
 * Schemes with more kinds than a word has bits are walked layer by layer (cdg.c).
 */
#include "route/proof/cdg_internal.h"

#include "util/mem.h"

#define TILE 64

struct cdg_turns {
	struct cdg *g;
	unsigned width;		/* layers; the kind is class * width + layer */
	uint64_t any_layer;	/* of class 0 */
	struct turns_way {
		uint32_t sw;	/* where a channel leads to */
		uint8_t port;
		uint8_t class_in; /* of that port */
		uint8_t class_out;/* of the port it leaves by */
	} *ways;
	struct turns_switch {
		size_t first;	/* seen[first + (port in - 1) * ports + port out - 1] */
		uint64_t own;	/* layer 0 of all classes that ports of senders have */
	} *switches;
	uint64_t *seen;
	uint64_t *used;		/* per class of the port out */
	uint64_t *dropped;	/* per class of the port out: kinds that switches drop there */
	uint8_t *sl_to;		/* by switches: sl_to[destination * n + source] */
	struct arena memory;
};

static void find_ways(struct cdg_turns *t)
{
	const struct cdg *g = t->g;
	const struct topo *topo = g->topo;
	size_t sum = 0;

	for (uint32_t s = 0; s < topo->n_switches; s++) {
		const struct topo_switch *sw = &topo->switches[s];

		t->switches[s].first = sum;
		sum += (size_t)sw->n_ports * sw->n_ports;
		for (unsigned p = 1; p <= sw->n_ports; p++) {
			uint32_t channel = sw->first_port + p, peer = g->peer[channel];

			if (peer == TOPO_NONE)
				continue;
			t->ways[channel] = (struct turns_way){
				.sw = topo_port(topo, s, p)->sw,
				.port = topo_port(topo, s, p)->port,
				.class_in = cdg_class(g, peer),
				.class_out = cdg_class(g, channel),
			};
		}
	}
	ARENA_ARRAY(&t->memory, t->seen, sum);
}

static void find_senders(struct cdg_turns *t)
{
	const struct cdg *g = t->g;

	for (uint32_t s = 0; s < g->topo->n_switches; s++)
		for (unsigned p = 0; p <= g->topo->switches[s].n_ports; p++)
			if (g->hosts[(size_t)s * g->words + p / 64] >> p % 64 & 1)
				t->switches[s].own |= UINT64_C(1) << t->width *
					cdg_class(g, g->topo->switches[s].first_port + p);
}

static void find_dropped(struct cdg_turns *t)
{
	const struct cdg *g = t->g;

	for (unsigned out = 0; out < g->n_classes; out++)
		for (unsigned kind = 0; kind < g->n_classes * t->width; kind++)
			if (cdg_vl(g, kind / t->width, out, kind % t->width) == SL2VL_VL_DROP)
				t->dropped[out] |= UINT64_C(1) << kind;
}

/* Turns the table around: the reader goes by destination. */
static void turn_over(struct cdg_turns *t, unsigned threads)
{
	const struct sl2vl *l = t->g->lanes;
	uint32_t n = t->g->topo->n_switches;

	ARENA_ARRAY(&t->memory, t->sl_to, (size_t)n * n);
#pragma omp parallel for num_threads(threads) schedule(static)
	for (uint32_t to = 0; to < n; to += TILE)
		for (uint32_t from = 0; from < n; from++)
			for (uint32_t k = to; k < MIN(to + TILE, n); k++)
				t->sl_to[(size_t)k * n + from] = l->sl[(size_t)from * n + k];
}

struct cdg_turns *cdg_turns_new(struct cdg *g, unsigned threads)
{
	struct cdg_turns *t;

	if (g->n_classes * g->n_layers > 64 ||
	    (g->lanes && g->lanes->n_switches != g->topo->n_switches))
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->g = g;
	t->width = g->n_layers;
	t->any_layer = (UINT64_C(1) << g->n_layers) - 1;
	ARENA_ARRAY(&t->memory, t->ways, g->n_ports);
	ARENA_ARRAY(&t->memory, t->switches, g->topo->n_switches);
	ARENA_ARRAYS(&t->memory, g->n_classes, t->used, t->dropped);
	find_ways(t);
	find_senders(t);
	find_dropped(t);
	if (g->lanes && g->lanes->by == SL2VL_BY_SWITCHES)
		turn_over(t, threads);
	return t;
}

ARENA_FREE(cdg_turns_free, struct cdg_turns)

/* The VLs of kinds that leave by a port of class `out`. */
static void note_vls(struct cdg_turns *t, unsigned out, uint64_t kinds)
{
	struct cdg *g = t->g;

	for (; kinds; kinds &= kinds - 1) {
		unsigned kind = (unsigned)__builtin_ctzll(kinds);
		unsigned vl = cdg_vl(g, kind / t->width, out, kind % t->width);

		__atomic_fetch_or(&g->vls, (uint16_t)(1u << vl), __ATOMIC_RELAXED);
	}
}

/* Kinds that come in by the end of `a` and were never seen before to leave by channel `out`. */
static void note_turn(struct cdg_turns *t, const struct turns_way *a, uint32_t out, uint64_t kinds)
{
	struct cdg *g = t->g;

	for (; kinds; kinds &= kinds - 1) {
		unsigned kind = (unsigned)__builtin_ctzll(kinds), layer = kind % t->width;
		unsigned before = cdg_vl(g, kind / t->width, a->class_out, layer);
		unsigned after = cdg_vl(g, a->class_in, t->ways[out].class_out, layer);
		size_t vertex = (size_t)out * g->n_vls + after;
		uint64_t *into =
			&g->into[(vertex * g->n_in + (g->n_in > 1 ? before : 0)) * g->words];

		if (after == SL2VL_VL_DROP)
			continue;
		cdg_add_bits(&into[a->port / 64], UINT64_C(1) << a->port % 64);
	}
}

/* SLs of a destination, source after source. */
struct sls {
	const uint8_t *sl;
	size_t step;
	uint8_t mask;
};

static struct sls sls_of(const struct cdg_turns *t, const struct cdg_column *c)
{
	static const uint8_t zero;
	const struct sl2vl *l = t->g->lanes;

	if (l && l->by == SL2VL_BY_SWITCHES)
		return (struct sls){ &t->sl_to[(size_t)c->at * t->g->topo->n_switches], 1,
				     l->sl_mask };
	if (l && l->by != SL2VL_BY_NOTHING && c->lid < l->row_size)
		return (struct sls){ &l->sl[c->lid], l->by == SL2VL_BY_LID ? 0 : l->row_size,
				     l->sl_mask };
	return (struct sls){ &zero, 0, 0 };
}

/* Whatever the class they came in by, layers of all of it. */
static inline uint64_t layers_of(const struct cdg_turns *t, uint64_t kinds)
{
	uint64_t layers = kinds;

	for (unsigned c = 1; c < t->g->n_classes; c++)
		layers |= kinds >> c * t->width;
	return layers & t->any_layer;
}

/* A step of the paths to a destination. */
struct turn {
	uint32_t from, to; /* to: n_switches or more, and the way ends here */
	uint32_t out;	/* channel that `to` sends it on by; TOPO_NONE: none */
	const struct turns_way *way;
	uint64_t *seen;
};

/* What `n` switches do; memory is asked for that will be needed soon. */
static void find_turns(const struct cdg_turns *t, const struct cdg_column *c, const uint32_t *order,
			   unsigned n, struct turn *ret)
{
	const struct topo *topo = t->g->topo;

	for (unsigned i = 0; i < n; i++) {
		uint32_t s = order[i], to = c->next[s];
		const struct topo_switch *sw;

		ret[i] = (struct turn){ .from = s, .to = to, .out = TOPO_NONE };
		if (to >= topo->n_switches)
			continue;
		ret[i].way = &t->ways[topo->switches[s].first_port + c->ports[s]];
		if (c->next[to] >= topo->n_switches)
			continue;
		sw = &topo->switches[to];
		ret[i].out = sw->first_port + c->ports[to];
		ret[i].seen = &t->seen[t->switches[to].first +
				       (ret[i].way->port - 1u) * sw->n_ports + c->ports[to] - 1u];
		__builtin_prefetch(ret[i].seen);
	}
}

static inline void take_turn(struct cdg_turns *t, const struct turn *turn, uint64_t kinds,
			     uint64_t *kinds_there)
{
	const struct turns_way *way = turn->way;

	kinds &= ~t->dropped[way->class_out];
	if (kinds & ~__atomic_load_n(&t->used[way->class_out], __ATOMIC_RELAXED))
		note_vls(t, way->class_out, cdg_add_bits(&t->used[way->class_out], kinds));
	*kinds_there |= layers_of(t, kinds) << way->class_in * t->width;
	if (turn->out != TOPO_NONE && (kinds & ~__atomic_load_n(turn->seen, __ATOMIC_RELAXED)))
		note_turn(t, way, turn->out, cdg_add_bits(turn->seen, kinds));
}

void cdg_turns_add_column(struct cdg_turns *t, uint64_t *kinds_at, const struct cdg_column *c)
{
	struct sls sls = sls_of(t, c);
	struct turn turns[TILE];

	for (uint32_t base = 0; base < c->n_order; base += TILE) {
		unsigned n = MIN(c->n_order - base, (uint32_t)TILE);

		find_turns(t, c, c->order + base, n, turns);
		for (unsigned i = 0; i < n; i++) {
			uint32_t s = turns[i].from;
			uint64_t kinds = kinds_at[s], own = t->switches[s].own;

			kinds_at[s] = 0;
			if (own)
				kinds |= own * t->g->layers[sls.sl[s * sls.step] & sls.mask];
			if (kinds && turns[i].to < t->g->topo->n_switches)
				take_turn(t, &turns[i], kinds, &kinds_at[turns[i].to]);
		}
	}
	kinds_at[c->at] = 0;
}
