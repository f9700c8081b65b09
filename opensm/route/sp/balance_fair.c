// SPDX-License-Identifier: BSD-2-Clause
/* How little a channel can carry: what its switches have to send over all their cables. */
#include "route/sp/balance_internal.h"

#include "route/proof/keep_policy.h"
#include "route/shape/recognise.h"

#define RANKS 8
#define NEAR 128 /* what may be left on a channel of a large fabric above its floor: a 128th */

/* The load of several channels if each had its share of the flows: n in cables of the median. */
struct mean {
	uint64_t sum;
	double n;
};

static void mean_add(struct mean *m, const struct relief *f, uint32_t channel)
{
	m->sum += f->flows[channel];
	m->n += topo_room(f->paces, channel);
}

static uint32_t mean_of(const struct mean *m)
{
	return m->n > 0 ? (uint32_t)((double)m->sum / m->n) : 0;
}

/* The loads of channels: between two levels, from each switch to a level, and to it from there. */
struct means {
	uint32_t *rank; /* per switch: hops to the nearest leaf, RANKS - 1 at most */
	struct mean all[RANKS][RANKS], (*out)[RANKS], (*in)[RANKS];
};

/* Is it a leaf, or has it no neighbour of a higher level? */
static bool is_end(const struct means *m, uint32_t s)
{
	uint32_t rank = m->rank[s];

	return !rank || rank == RANKS - 1 || m->out[s][rank + 1].n <= 0;
}

/* What is not to be taken off a channel. A root with slow cables gives its share to others. */
static uint32_t floor_of(const struct means *m, uint32_t s, uint32_t v, bool slow)
{
	bool from = slow ? !m->rank[s] : is_end(m, s), to = slow ? !m->rank[v] : is_end(m, v);
	uint32_t out = from ? mean_of(&m->out[s][m->rank[v]]) : 0;
	uint32_t in = to ? mean_of(&m->in[v][m->rank[s]]) : 0;

	return m->rank[s] == m->rank[v] ? 0 : MAX(out, in);
}

/*
 * Nothing can be taken off the cables of stubs (topo.h), and they are no measure for others. Other
 * floors are the means of what leads from a leaf or root to another level, or from there to it. No
 * channel need carry less than the mean between two levels, nor, but in trees, than the highest
 * floor. On flat graphs all are one level; else a few cables within one are no measure for others.
 *
 * In a tree none need carry less than the cable of an end port while each sends a flow to every
 * other one: engines of trees keep the flows of a shift apart, and entries that move spoil that.
 * `bench-trees` of -d 5 -r 74 tree 20 10 19, an end port 199 flows: bisections, permutations and
 * shifts .860 .752 .924, load 120, without that; .890 .799 .932, load 190, with it. Not so with a
 * flow to each LID (LMC): several destinations would share such a channel, and most is sent to
 * first LIDs. The same tree, 10 % cut, LMC 2, would lose 2 to 4 % by that. Elsewhere load is all
 * there is to go by.
 */
void balance_find_fair(struct relief *f)
{
	_cleanup_(arena_done) struct arena memory = { NULL };
	_cleanup_free_ bool *stub = topo_find_stubs(f->topo);
	const struct topo *t = f->topo;
	uint32_t senders = 0;
	bool is_tree = true;
	struct means m = { .rank = NULL };

	f->highest = 0;
	ARENA_ARRAYS(&memory, f->n, m.rank, m.out, m.in);
	shape_ranks(f->job->graph, m.rank);
	for (uint32_t s = 0; s < f->n; s++) {
		m.rank[s] = MIN(m.rank[s], RANKS - 1u);
		senders += f->job->dests->sources[s];
	}
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t s = 0; s < f->n; s++)
			for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
				uint32_t c = t->switches[s].first_port + p, v = t->ports[c].sw;

				if (v == TOPO_NONE)
					continue;
				if (stub[s] || stub[v]) {
					f->floor[c] = BALANCE_OF_STUB;
					continue;
				}
				if (!pass) {
					mean_add(&m.all[m.rank[s]][m.rank[v]], f, c);
					mean_add(&m.out[s][m.rank[v]], f, c);
					mean_add(&m.in[v][m.rank[s]], f, c);
					continue;
				}
				is_tree &= m.rank[s] != m.rank[v];
				f->floor[c] = floor_of(&m, s, v, is_slow(f, c));
				f->highest = MAX(f->highest, f->floor[c]);
				if (f->large)
					f->floor[c] += f->floor[c] / NEAR;
			}
	f->enough = !is_tree ? f->highest : senders ? senders - 1 : 0;
	f->mean = 0;
	for (unsigned low = 0; low < RANKS; low++)
		for (unsigned high = 0; high < RANKS; high++)
			if (low != high || !low)
				f->mean = MAX(f->mean, mean_of(&m.all[low][high]));
	f->enough = MAX(f->enough, keep_limit(KEEP_BALANCED, f->mean));
}
