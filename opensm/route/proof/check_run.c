// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many LIDs at once: those of one destination switch that follow each other, up to 64 of them.
 *
 * Nearly always every step comes one hop nearer to the destination. Then one pass over the
 * switches, farthest first, proves that all arrive and sums the flows on every channel; a switch
 * that carries nothing for a LID is skipped, and of a row only the bytes of the run are read. LIDs
 * with other paths are found on the way; their sums are taken away again (the same pass once more,
 * for them alone), and each is followed by itself (check_any.c).
 */
#include <string.h>

#include "route/proof/check_internal.h"
#include "route/proof/cdg_internal.h"
#include "util/mem.h"

struct run {
	struct check_worker *w;
	lid_t first;
	uint64_t lids;		/* of the run, bit i is LID first + i */
	uint64_t bad;		/* some step does not come nearer */
	uint32_t add;		/* to loads: 1, 2^32 - 1 to take away, 0 for those set aside */
	uint16_t vls[64];	/* per LID: VLs it is sent on; with `simple` only */
	bool notes;		/* the pass notes dependencies */
	const uint8_t *rows;	/* of switch s from the first LID on: rows + s * step */
	size_t step;
	uint32_t gap; /* routes.gap */
};

/* Rows are in pages of their own: short runs in a row share a copy of the block they are in. */
#define SHORT_RUN 16

static void find_rows(struct run *r, unsigned n)
{
	struct check_worker *w = r->w;
	const struct routes *routes = w->j->routes;
	uint32_t block = r->first / LFT_BLOCK_LIDS, offset = r->first % LFT_BLOCK_LIDS;

	r->rows = routes->lft + r->first;
	r->step = routes->row_size;
	r->gap = routes->gap;
	if (n > SHORT_RUN || offset + n > LFT_BLOCK_LIDS ||
	    (block + 1) * LFT_BLOCK_LIDS > routes->row_size)
		return;
	if (w->block != block)
		for (uint32_t s = 0; s < w->j->topo->n_switches; s++)
			memcpy(w->rows + (size_t)s * LFT_BLOCK_LIDS,
			       routes_row(routes, s) + block * LFT_BLOCK_LIDS, LFT_BLOCK_LIDS);
	w->block = block;
	r->rows = w->rows + offset;
	r->step = LFT_BLOCK_LIDS;
	r->gap = ROUTES_NO_GAP;
}

/* Sets at, dist, order. */
static void aim_at(struct check_worker *w, uint32_t at)
{
	if (w->at == at)
		return;
	w->at = at;
	w->dist = distances_from(w->j->distances, at);
	for (uint32_t s = 0; s < w->j->topo->n_switches; s++) {
		w->state[s] = w->dist[s] != DISTANCE_NONE && w->dist[s];
		w->hops[s] = w->dist[s];
	}
	w->n_order = check_sort_by_hops(w, true, w->order);
}

/* Packets that come in by `in`, a word of ports, leave through `channel`, on the VLs of LID `i`. */
static inline void depend_on(const struct run *r, uint32_t channel, unsigned i, uint64_t in,
			     unsigned word, unsigned words)
{
	struct cdg *g = r->w->j->dependencies;
	size_t first = (size_t)channel * g->n_vls;

	if (g->n_vls == 1) {
		cdg_add_bits(&g->into[first * words + word], in);
		return;
	}
	for (unsigned left = r->vls[i]; left; left &= left - 1)
		cdg_add_bits(&g->into[(first + (unsigned)__builtin_ctz(left)) * words + word], in);
}

/* The same for what came by ports from 64 on; TOPO_NONE: for none. Forgets them. */
static inline void leave_high(const struct run *r, uint32_t channel, unsigned i, size_t cell,
			      unsigned words)
{
	uint64_t *high = r->w->high + cell * (words - 1);

	for (unsigned k = 1; k < words; k++) {
		if (high[k - 1] && channel != TOPO_NONE)
			depend_on(r, channel, i, high[k - 1], k, words);
		high[k - 1] = 0;
	}
}

/* The LIDs `lids` on their path from switch `s`, which has `own` end ports. `words`: w->words. */
static inline __attribute__((always_inline)) void
leave_switch(struct run *r, uint32_t s, uint32_t own, uint64_t lids, unsigned words)
{
	struct check_worker *w = r->w;
	const struct verifier *j = w->j;
	const struct topo_switch *sw = &j->topo->switches[s];
	const uint8_t *row = r->rows + (s + (s >= r->gap)) * r->step;
	const uint32_t *behind = j->behind + sw->first_port;
	uint32_t *load = w->load + sw->first_port;
	unsigned stride = w->stride;
	struct cell *all = w->cells, *cells = all + (size_t)s * stride;
	uint64_t *carries = w->carries, came = carries[s];
	const uint16_t *dist = w->dist;
	unsigned d = dist[s], n_ports = sw->n_ports, add = r->add;

	carries[s] = 0;
	for (uint64_t left = lids; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		uint8_t port = row[i];
		uint32_t to = port <= n_ports ? behind[port] : BEHIND_NONE, flow = own;
		struct cell *there;

		if (to == BEHIND_NONE || dist[to >> 8] >= d) {
			r->bad |= UINT64_C(1) << i;
			if (came >> i & 1)
				cells[i] = (struct cell){ .flow = 0 };
			if (words > 1 && came >> i & 1)
				leave_high(r, TOPO_NONE, i, (size_t)s * stride + i, words);
			continue;
		}
		if (came >> i & 1) {
			flow += cells[i].flow;
			if (r->notes)
				depend_on(r, sw->first_port + port, i, cells[i].in, 0, words);
			if (words > 1)
				leave_high(r, r->notes ? sw->first_port + port : TOPO_NONE, i,
					   (size_t)s * stride + i, words);
			cells[i] = (struct cell){ .flow = 0 };
		}
		load[port] += flow * add;
		there = &all[(size_t)(to >> 8) * stride + i];
		there->flow += flow;
		if (words > 1 && (to & 255) / 64)
			w->high[(size_t)(there - all) * (words - 1) + (to & 255) / 64 - 1] |=
				UINT64_C(1) << (to & 63);
		else
			there->in |= UINT64_C(1) << (to & 63);
		carries[to >> 8] |= UINT64_C(1) << i;
	}
}

static inline __attribute__((always_inline)) void
pass_words(struct run *r, uint64_t all, unsigned words)
{
	struct check_worker *w = r->w;
	const struct verifier *j = w->j;

	for (uint32_t k = 0; k < w->n_order; k++) {
		uint32_t s = w->order[k], own = j->sources[s];
		uint64_t lids = own ? all : w->carries[s];

		if (lids)
			leave_switch(r, s, own, lids, words);
	}
}

static void forget_arrivals(struct check_worker *w)
{
	size_t first = (size_t)w->at * w->stride;

	for (uint64_t left = w->carries[w->at]; left; left &= left - 1)
		w->cells[first + (unsigned)__builtin_ctzll(left)] = (struct cell){ .flow = 0 };
	memset(w->high + first * (w->words - 1), 0,
	       w->stride * (w->words - 1) * sizeof(*w->high));
	w->carries[w->at] = 0;
}

/* Adds the LIDs `lids` on their path to w->at, `add` times. */
static void pass(struct run *r, uint64_t lids, uint32_t add)
{
	r->add = r->w->j->targets[r->first].aside ? 0 : add;
	r->notes = r->w->j->simple && r->add == 1;
	if (r->w->words == 1)
		pass_words(r, lids, 1);
	else
		pass_words(r, lids, r->w->words);
	forget_arrivals(r->w);
}

/* LIDs with entries on switches that no cable connects to the destination, or that do not fit. */
static void look_at_the_rest(struct run *r)
{
	struct check_worker *w = r->w;
	const struct verifier *j = w->j;
	unsigned last = 63u - (unsigned)__builtin_clzll(r->lids);

	for (uint32_t s = 0; s < j->topo->n_switches; s++) {
		const struct topo_switch *sw = &j->topo->switches[s];
		uint32_t end = MIN((uint32_t)sw->lft_cap, j->routes->top + 1u);
		bool apart = w->dist[s] == DISTANCE_NONE && j->sources[s];

		for (unsigned i = 0; (apart || end <= r->first + last) && i <= last; i++) {
			uint8_t port = r->first + i < end ? routes_row(j->routes, s)[r->first + i]
							  : LFT_NO_PORT;

			if (r->first + i >= end
				    ? w->dist[s] != DISTANCE_NONE
				    : apart && port <= sw->n_ports &&
					      j->behind[sw->first_port + port] != BEHIND_NONE)
				r->bad |= UINT64_C(1) << i;
		}
	}
	for (uint64_t left = r->lids; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		lid_t lid = (lid_t)(r->first + i);

		if (lid > j->routes->top ||
		    routes_row(j->routes, w->at)[lid] != j->targets[lid].port)
			r->bad |= UINT64_C(1) << i;
	}
	r->bad &= r->lids;
}

static void count(struct run *r, uint64_t good)
{
	struct check_worker *w = r->w;
	const struct verifier *j = w->j;
	uint64_t n = (uint64_t)__builtin_popcountll(good), connected = j->sources[w->at];
	const struct target to = j->targets[r->first];

	w->v.pairs += n * (j->n_sources - !to.aside);
	w->pairs_at[0] += n * verifier_pairs(j, w->at, to);
	for (uint32_t k = 0; k < w->n_order; k++) {
		uint32_t s = w->order[k];

		connected += j->sources[s];
		w->pairs_at[w->dist[s]] += n * j->sources[s];
	}
	w->v.unreachable += n * (j->n_sources - connected);
	w->v.cut += n * (j->n_sources - connected);
}

/* Sets next[] by the entries for one LID. Do all arrive, nearer with every step? */
static bool find_next(struct check_worker *w, const uint8_t *column)
{
	const struct verifier *j = w->j;
	const uint16_t *dist = w->dist;
	bool nearer = true;

	w->next[w->at] = TOPO_NONE;
	for (uint32_t k = 0; k < w->n_order; k++) {
		uint32_t s = w->order[k], to = BEHIND_NONE;
		const struct topo_switch *sw = &j->topo->switches[s];

		if (column[s] <= sw->n_ports)
			to = j->behind[sw->first_port + column[s]];
		w->next[s] = to == BEHIND_NONE ? TOPO_NONE : to >> 8;
		nearer &= to != BEHIND_NONE && dist[to >> 8] < dist[s];
	}
	return nearer;
}

/* The dependencies of one LID; next[] is set, in order[]. */
static void add_column(struct check_worker *w, const uint8_t *column, lid_t lid)
{
	cdg_add_column(w->walk, &(struct cdg_column){ .ports = column, .next = w->next,
						      .order = w->order, .n_order = w->n_order,
						      .at = w->at, .lid = lid });
}

/* LIDs that the pass did not check, one by one; with dependencies where the pass notes none. */
static void verify_each(struct run *r, uint64_t bad)
{
	struct check_worker *w = r->w;
	const struct verifier *j = w->j;
	uint32_t n = j->topo->n_switches;

	for (uint64_t left = r->lids; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		uint8_t *column = w->columns + (size_t)i * n;

		if (bad >> i & 1) {
			verify_any(w, column, (lid_t)(r->first + i));
		} else if (!j->simple && !j->targets[r->first].aside) {
			find_next(w, column);
			add_column(w, column, (lid_t)(r->first + i));
		}
	}
}

/* Turns rows by switch into rows by LID. */
static void find_columns(struct run *r)
{
	const struct verifier *j = r->w->j;
	uint32_t n = j->topo->n_switches,
		 last = r->first + 63u - (unsigned)__builtin_clzll(r->lids);

	for (uint32_t s = 0; s < n; s++) {
		const uint8_t *row = r->rows + (s + (s >= r->gap)) * r->step;
		uint32_t end = MIN((uint32_t)j->topo->switches[s].lft_cap, j->routes->top + 1u);

		for (uint32_t lid = r->first; lid <= last; lid++)
			r->w->columns[(size_t)(lid - r->first) * n + s] =
				lid < end ? row[lid - r->first] : LFT_NO_PORT;
	}
}

static void find_vls(struct run *r, unsigned n)
{
	struct cdg *g = r->w->j->dependencies;

	for (unsigned i = 0; r->w->j->simple && !r->w->j->targets[r->first].aside && i < n; i++) {
		r->vls[i] = cdg_vls_of(g, r->w->at, (lid_t)(r->first + i));
		if (r->w->n_order && (r->vls[i] & ~__atomic_load_n(&g->vls, __ATOMIC_RELAXED)))
			__atomic_fetch_or(&g->vls, r->vls[i], __ATOMIC_RELAXED);
	}
}

void verify_run(struct check_worker *w, lid_t first, unsigned n)
{
	struct run r = { .w = w,
			 .first = first,
			 .lids = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX };

	aim_at(w, w->j->targets[first].sw);
	w->stride = n;
	find_rows(&r, n);
	find_vls(&r, n);
	/* Where paths are seldom shortest, the pass does not pay: it is tried only now and then. */
	if (w->n_runs++ % 16 == 0 || w->n_bad < 32) {
		uint64_t given_up;

		look_at_the_rest(&r);
		given_up = r.bad;
		pass(&r, r.lids & ~given_up, 1);
		w->n_bad = (3 * w->n_bad + 64 * (unsigned)__builtin_popcountll(r.bad) / n) / 4;
		if (r.bad & ~given_up)
			pass(&r, r.bad & ~given_up, UINT32_MAX);
	} else {
		r.bad = r.lids;
	}
	if (r.lids & ~r.bad)
		count(&r, r.lids & ~r.bad);
	if (r.bad || !w->j->simple) {
		find_columns(&r);
		verify_each(&r, r.bad);
	}
}

void verify_dependencies(struct check_worker *w, lid_t first, unsigned n)
{
	struct run r = { .w = w, .first = first,
			 .lids = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX };

	aim_at(w, w->j->targets[first].sw);
	w->stride = n;
	find_rows(&r, n);
	find_columns(&r);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *column = w->columns + (size_t)i * w->j->topo->n_switches;

		if (find_next(w, column) && column[w->at] == w->j->targets[first + i].port)
			add_column(w, column, (lid_t)(first + i));
		else
			verify_any(w, column, (lid_t)(first + i));
	}
}
