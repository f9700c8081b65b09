// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reach within a multicast group: packets of every switch with members are followed through the
 * tables. A switch sends a copy out of every port of its row but the one the packet came in by
 * (18.2.4.3.3), and drops those that its SL2VL table sends to VL 15 (7.6.6): where it has such
 * entries, packets of every member are followed.
 *
 * Members are end ports that tables send to. A member that only sends is in no table, so rows that
 * lead one way are no fault by themselves, but where members behind them are then not reached.
 */
#include <string.h>

#include "offline/verify.h"
#include "util/mem.h"

struct follow {
	const struct topo *t;
	const struct mcast_tree *tree;
	const struct sl2vl *lanes; /* NULL: it drops nothing */
	uint8_t sl;
	uint32_t dropped_at; /* a switch where a copy of this turn was dropped; TOPO_NONE */
	uint32_t *part;	  /* per switch: a number that those have in common which cables connect */
	uint32_t *first;  /* per switch: the turn in which it was reached first */
	uint8_t *in;	  /* per switch: by which port then */
	uint32_t *queue;
	uint32_t n;
	uint32_t turn;
};

static bool has_port(const struct mcast_row *row, unsigned port)
{
	return row->mask[port / 64] >> port % 64 & 1;
}

/* Members of the group on the switch of `row`; *ret: the first of them. */
static uint32_t count_members(const struct topo *t, const struct mcast_row *row,
			      const struct topo_host **ret)
{
	uint32_t n = 0;

	for (unsigned p = 1; p <= t->switches[row->sw].n_ports; p++) {
		const struct topo_host *end = topo_end_at(t, row->sw, p);

		if (!end || !has_port(row, p))
			continue;
		if (!n++)
			*ret = end;
	}
	return n;
}

/* A copy from port `in` of a switch to port `out`: does its SL2VL table drop it? */
static bool is_dropped(const struct follow *f, uint32_t sw, unsigned in, unsigned out)
{
	return f->lanes && sl2vl_vl(f->lanes, f->t, sw, in, out, f->sl) == SL2VL_VL_DROP;
}

/* Forwards a packet from `sw` to other switches; *round: one that has received it already. */
static void follow_from(struct follow *f, uint32_t sw, const struct mcast_row *row, uint32_t *round)
{
	for (unsigned p = 1; p <= f->t->switches[sw].n_ports; p++) {
		const struct topo_port *to = topo_port(f->t, sw, p);

		if (p == f->in[sw] || !has_port(row, p))
			continue;
		if (is_dropped(f, sw, f->in[sw], p)) {
			f->dropped_at = sw;
			continue;
		}
		if (to->sw == TOPO_NONE)
			continue;
		if (f->first[to->sw] == f->turn) {
			*round = to->sw;
			continue;
		}
		f->first[to->sw] = f->turn;
		f->in[to->sw] = to->port;
		f->queue[f->n++] = to->sw;
	}
}

/*
 * Follows what comes to the switch of `row` by port `in` (0: by any that leads to members).
 * TOPO_NONE: no switch gets it twice; else that switch.
 */
static uint32_t follow_row(struct follow *f, const struct mcast_row *row, unsigned in)
{
	uint32_t round = TOPO_NONE;

	f->turn++;
	f->n = 0;
	f->dropped_at = TOPO_NONE;
	f->first[row->sw] = f->turn;
	f->in[row->sw] = (uint8_t)in;
	f->queue[f->n++] = row->sw;
	for (uint32_t head = 0; head < f->n; head++) {
		uint32_t sw = f->queue[head];
		const struct mcast_row *at = mcast_tree_find(f->tree, f->t->switches[sw].guid);

		if (at)
			follow_from(f, sw, at, &round);
	}
	return round;
}

/*
 * The end of the last path followed: a switch that was reached and has no row, or one that drops
 * the packet. TOPO_NONE: none.
 */
static uint32_t find_end(const struct follow *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (!mcast_tree_find(f->tree, f->t->switches[f->queue[i]].guid))
			return f->queue[i];
	return f->dropped_at;
}

/*
 * The number of members of the group, at the switch of `row`, that the packet followed last does
 * not reach; *ret: one of them.
 */
static uint32_t count_missed(const struct follow *f, const struct mcast_row *row,
			      const struct topo_host **ret)
{
	bool came = f->first[row->sw] == f->turn;
	uint32_t n = 0;

	for (unsigned p = 1; p <= f->t->switches[row->sw].n_ports; p++) {
		const struct topo_host *end = topo_end_at(f->t, row->sw, p);

		if (!end || !has_port(row, p) ||
		    (came && (p == f->in[row->sw] || !is_dropped(f, row->sw, f->in[row->sw], p))))
			continue;
		if (!n++)
			*ret = end;
	}
	return n;
}

/*
 * Counts pairs that lose packets of `senders` members on row `a` (`from` is one, behind port `in`).
 */
static void look_at(struct follow *f, const struct mcast_row *a, unsigned in, uint32_t senders,
		    const struct topo_host *from, struct verify_group *g)
{
	const struct topo_host *to = NULL, *first;
	uint32_t round = follow_row(f, a, in);

	if (g->round == TOPO_NONE)
		g->round = round;
	for (uint32_t i = 0; i < f->tree->n_rows; i++) {
		const struct mcast_row *b = &f->tree->rows[i];
		uint32_t n = count_members(f->t, b, &first), missed;

		if (f->part[b->sw] != f->part[a->sw])
			continue;
		g->pairs += (uint64_t)senders * (n - (b == a));
		missed = count_missed(f, b, &to);
		if (missed && !g->lost) {
			g->from = from;
			g->to = to;
			g->end = find_end(f);
		}
		g->lost += (uint64_t)senders * missed;
	}
}

/* Finds packets of the members on row `a` that do not reach other members. */
static void look_from(struct follow *f, const struct mcast_row *a, struct verify_group *g)
{
	const struct topo_host *from;
	uint32_t senders = count_members(f->t, a, &from);

	if (senders && !f->lanes)
		look_at(f, a, 0, senders, from, g);
	for (unsigned p = 1; senders && f->lanes && p <= f->t->switches[a->sw].n_ports; p++)
		if (has_port(a, p) && topo_end_at(f->t, a->sw, p))
			look_at(f, a, p, 1, topo_end_at(f->t, a->sw, p), g);
}

static void find_parts(struct follow *f)
{
	uint32_t n = f->t->n_switches;

	memset(f->part, 0xFF, n * sizeof(*f->part));
	for (uint32_t s = 0; s < n; s++) {
		uint32_t tail = 0;

		if (f->part[s] != UINT32_MAX)
			continue;
		f->part[s] = s;
		f->queue[tail++] = s;
		for (uint32_t head = 0; head < tail; head++)
			for (unsigned p = 1; p <= f->t->switches[f->queue[head]].n_ports; p++) {
				uint32_t to = topo_port(f->t, f->queue[head], p)->sw;

				if (to == TOPO_NONE || f->part[to] != UINT32_MAX)
					continue;
				f->part[to] = s;
				f->queue[tail++] = to;
			}
	}
}

void verify_find_groups(struct verify *v)
{
	uint32_t n = v->topo->n_switches;
	_cleanup_free_ uint32_t *part = xcalloc(n, sizeof(*part));
	_cleanup_free_ uint32_t *first = xcalloc(n, sizeof(*first)),
				*queue = xcalloc(n, sizeof(*queue));
	_cleanup_free_ uint8_t *in = xcalloc(n, sizeof(*in));
	struct follow f = {
		.t = v->topo, .part = part, .first = first, .queue = queue, .in = in,
		.sl = (uint8_t)v->args->mcast_sl,
	};

	if (sl2vl_drops(v->routes->lanes, (uint16_t)(1u << f.sl)))
		f.lanes = v->routes->lanes;
	find_parts(&f);
	v->groups = xcalloc(v->n_trees, sizeof(*v->groups));
	for (uint32_t i = 0; i < v->n_trees; i++) {
		struct verify_group g = { .mlid = v->mlids[i],
					  .round = TOPO_NONE,
					  .end = TOPO_NONE };

		f.tree = v->trees[i];
		for (uint32_t k = 0; k < f.tree->n_rows; k++)
			look_from(&f, &f.tree->rows[k], &g);
		if (g.lost || g.round != TOPO_NONE)
			v->groups[v->n_groups++] = g;
	}
}
