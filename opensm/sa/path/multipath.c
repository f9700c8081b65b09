// SPDX-License-Identifier: BSD-2-Clause
/*
 * MultiPathRecord (sa.md 5): paths from many ports to many. The answer is PathRecords.
 *
 * Independence > 0 asks for paths that do not break together (automatic path migration). Tables
 * know destination LIDs only, so every LID of a destination (LMC) gives one way from a source. Of
 * two sources and two destinations these are two, each end once: the pairing and the LIDs that
 * share fewest links and switches. Otherwise each way comes once, first those that share least with
 * the ways before them, NumbPath in all. Everything else is all pairs, source by source; so are
 * more pairs than ways can be compared.
 *
 * To find a way and to compare it takes as many rows as there are ways: the event loop goes on.
 */
#include <limits.h>

#include "sa/path/path.h"
#include "util/mem.h"

#define PATHS_MAX 127 /* the width of NumbPath */
#define GID_SIZE  16
#define CANDIDATES 64 /* ways that are compared: 8 LIDs of 8 pairs, for example */

/* A way from a source to a LID of a destination: forwarding tables know no source. */
struct candidate {
	unsigned src, dst;
	lid_t slid, dlid;
	bool taken;
	unsigned shares; /* with those taken */
	unsigned n;	 /* ports left through */
	uint32_t ports[PATH_SWITCHES_MAX + 1];
};

/* Ways that are compared: first LIDs of all pairs, then second ones; as many of each pair. */
struct comparison {
	unsigned tried, to_try; /* pairs times LIDs */
	unsigned n, n_taken;
	uint8_t of_pair[CANDIDATES];
	bool two;	  /* by two: each end once */
	unsigned at;	  /* the next to be the first of two */
	unsigned best[2]; /* with `least` */
	unsigned least, length;
	struct candidate list[CANDIDATES];
};

struct multi {
	struct path_wish wish;
	unsigned n_src, n_dst;
	uint16_t left; /* paths */
	uint32_t pair; /* source * n_dst + destination */
	bool open;
	struct path_pair now;
	struct comparison *independent; /* NULL: all pairs */
	struct path_side sides[];	/* sources, then destinations */
};

static void free_multi(void *arg)
{
	struct multi *m = arg;

	free(m->independent);
	free(m);
}

static unsigned n_pairs(const struct multi *m)
{
	return m->n_src * m->n_dst;
}

/* ---- the request ---------------------------------------------------------------------------- */

static uint16_t check_multi_path(const struct sa_query *q)
{
	const uint8_t *asked = query_asked(q);
	const struct path_wish w = PATH_WISH(MPR, q->rq.mask, asked);
	uint64_t counts = 1ull << MPR_C(MPR_SGID_COUNT) | 1ull << MPR_C(MPR_DGID_COUNT);
	size_t n_src = ib_get(asked, MPR_SGID_COUNT), n_dst = ib_get(asked, MPR_DGID_COUNT);

	if (q->rq.method != MAD_SA_GET_MULTI || !q->rq.rmpp)
		return SA_REQ_INVALID;
	if ((q->rq.mask & counts) != counts)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (!n_src || !n_dst || MPR_BYTES + (n_src + n_dst) * GID_SIZE > q->rq.data_len)
		return SA_REQ_INVALID;
	return path_wish_check(&w);
}

/* False: no port has this GID, or none that the requester may know of. */
static bool find_port(struct sa_query *q, const uint8_t *gid, struct path_side *ret)
{
	uint64_t prefix = ib_bits_get(gid, 0, 64);

	*ret = (struct path_side){ .id = ib_bits_get(gid, 64, 64), .port = VIEW_NONE };
	if (prefix == q->view->prefix || prefix == PATH_LINK_LOCAL_PREFIX)
		ret->port = sa_port_of_interface_id(q->sa, q->view, ret->id);
	return ret->port != VIEW_NONE && query_may_see(q, ret->port);
}

static void start_comparison(const struct view *v, struct multi *m)
{
	struct comparison *c = m->independent = xcalloc(1, sizeof(*c));
	unsigned lmc = 0;

	for (unsigned i = 0; i < m->n_dst; i++)
		lmc = MAX(lmc, (unsigned)v->ports[m->sides[m->n_src + i].port].lmc);
	c->to_try = n_pairs(m) << lmc;
	c->two = m->n_src == 2 && m->n_dst == 2;
	c->least = UINT_MAX;
}

static uint16_t start_multi_path(struct sa_query *q)
{
	const uint8_t *asked = query_asked(q);
	unsigned n_src = (unsigned)ib_get(asked, MPR_SGID_COUNT);
	unsigned n_dst = (unsigned)ib_get(asked, MPR_DGID_COUNT);
	const struct qos_request rq = PATH_REQUEST(MPR, q->rq.mask, asked);
	struct multi *m = xcalloc(1, sizeof(*m) + (n_src + n_dst) * sizeof(m->sides[0]));

	q->state = m;
	q->free_state = free_multi;
	m->wish = (struct path_wish)PATH_WISH(MPR, q->rq.mask, asked);
	path_wish_ask(q, &rq, &m->wish);
	m->n_src = n_src;
	m->n_dst = n_dst;
	m->left = (uint16_t)QUERY_FIELD(q, MPR_NUMB_PATH, PATHS_MAX);
	for (unsigned i = 0; i < n_src + n_dst; i++)
		if (!find_port(q, asked + MPR_BYTES + i * GID_SIZE, &m->sides[i]))
			return SA_REQ_INVALID_GID;
	if (QUERY_FIELD(q, MPR_INDEPENDENCE, 0) && n_pairs(m) <= CANDIDATES)
		start_comparison(q->view, m);
	return 0;
}

/* ---- paths that do not break together ------------------------------------------------------- */

static struct path_pair pair_of(const struct multi *m, const struct candidate *c)
{
	struct path_pair pair = { .src = m->sides[c->src],
				  .dst = m->sides[m->n_src + c->dst],
				  .left = 1,
				  .counted = true };

	pair.src.lid = c->slid;
	pair.dst.lid = c->dlid;
	return pair;
}

/* False: there is no such path, or none for this request. */
static bool trace(struct sa_query *q, struct multi *m, struct candidate *c, bool first)
{
	struct path_pair pair = pair_of(m, c);
	uint8_t record[PR_BYTES] = { 0 };
	struct path_way way;

	pair.counted = !first;
	if (!path_open(q, &m->wish, &pair) || path_next(q, &m->wish, &pair, record) != SA_ROW ||
	    !path_trace(q->view, pair.src.port, c->dlid, pair.dst.port, &way, c->ports))
		return false;
	c->n = way.n + 1u;
	return true;
}

/* Adds the way from a source to LID number k of a destination. */
static void add_candidate(struct sa_query *q, struct multi *m, unsigned pair, unsigned k)
{
	struct comparison *c = m->independent;
	unsigned src = pair / m->n_dst, dst = pair % m->n_dst;
	uint32_t from = m->sides[src].port, to = m->sides[m->n_src + dst].port;
	const struct view_port *a = &q->view->ports[from], *b = &q->view->ports[to];
	struct candidate *way = &c->list[c->n];

	if (c->of_pair[pair] == CANDIDATES / n_pairs(m) || k >= 1u << b->lmc)
		return;
	if (!query_may_see(q, from) || !query_may_see(q, to))
		return;
	*way = (struct candidate){
		.src = src,
		.dst = dst,
		.slid = (lid_t)(a->lid + k % (1u << a->lmc)),
		.dlid = (lid_t)(b->lid + k),
	};
	if (!trace(q, m, way, k == 0))
		return;
	c->n++;
	c->of_pair[pair]++;
}

/* Links count twice: paths that share a link share both its switches, too. */
static unsigned shared(const struct view *v, const struct candidate *a, const struct candidate *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++) {
			const struct view_port *x = &v->ports[a->ports[i]];
			const struct view_port *y = &v->ports[b->ports[k]];

			n += x == y || x->peer == b->ports[k] ? 2 : 0;
			n += x->node == y->node ? 1 : 0;
		}
	return n;
}

/* One way with those after it, as the two of two sources and two destinations. */
static void compare_two(const struct view *v, struct comparison *c, unsigned i)
{
	const struct candidate *a = &c->list[i];

	for (unsigned k = i + 1; k < c->n; k++) {
		const struct candidate *b = &c->list[k];
		unsigned cost, sum = a->n + b->n;

		if (a->src == b->src || a->dst == b->dst)
			continue;
		cost = shared(v, a, b);
		if (cost > c->least || (cost == c->least && sum >= c->length))
			continue;
		c->least = cost;
		c->length = sum;
		c->best[0] = i;
		c->best[1] = k;
	}
}

/* One step of the comparison; false: it is through. */
static bool compare(struct sa_query *q, struct multi *m)
{
	struct comparison *c = m->independent;

	if (c->n < CANDIDATES && c->tried < c->to_try) {
		add_candidate(q, m, c->tried % n_pairs(m), c->tried / n_pairs(m));
		c->tried++;
		return true;
	}
	if (!c->two || c->at >= c->n)
		return false;
	compare_two(q->view, c, c->at++);
	return true;
}

/* The way that shares least with those taken, of several the first; NULL: there is none left. */
static struct candidate *take_least(const struct view *v, struct comparison *c)
{
	struct candidate *best = NULL;

	for (unsigned i = 0; i < c->n; i++) {
		struct candidate *way = &c->list[i];

		if (!way->taken && (!best || way->shares < best->shares))
			best = way;
	}
	if (!best)
		return NULL;
	best->taken = true;
	for (unsigned i = 0; i < c->n; i++)
		if (!c->list[i].taken)
			c->list[i].shares += shared(v, best, &c->list[i]);
	return best;
}

/* Of two by two that no two ways pair up it is one way. */
static struct candidate *take_way(const struct view *v, struct comparison *c)
{
	unsigned i = c->n_taken++;

	if (!c->two)
		return take_least(v, c);
	if (c->least == UINT_MAX)
		return i < 1 ? take_least(v, c) : NULL;
	return i < 2 ? &c->list[c->best[i]] : NULL;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* False: there is none any more. */
static bool next_pair(const struct sa_query *q, struct multi *m)
{
	uint32_t pair = m->pair;

	if (m->independent) {
		const struct candidate *way = take_way(q->view, m->independent);

		if (way)
			m->now = pair_of(m, way);
		return way;
	}
	if (pair >= n_pairs(m))
		return false;
	m->pair++;
	m->now = (struct path_pair){
		.src = m->sides[pair / m->n_dst],
		.dst = m->sides[m->n_src + pair % m->n_dst],
		.left = m->left,
	};
	return true;
}

static enum sa_step next_multi_path(struct sa_query *q, uint8_t *ret)
{
	struct multi *m = q->state;
	enum sa_step step;

	if (!m->left)
		return SA_END;
	if (m->independent && compare(q, m))
		return SA_SKIP;
	if (!m->open) {
		if (!next_pair(q, m))
			return SA_END;
		m->open = query_may_see(q, m->now.src.port) && query_may_see(q, m->now.dst.port) &&
			  path_open(q, &m->wish, &m->now);
		return SA_SKIP;
	}
	step = path_next(q, &m->wish, &m->now, ret);
	if (step == SA_ROW)
		m->left--;
	if (step != SA_END)
		return step;
	m->open = false;
	return SA_SKIP;
}

const struct sa_type sa_multi_path_record = {
	.size = PR_BYTES,
	.matches_itself = true,
	.pairs = true,
	.check = check_multi_path,
	.start = start_multi_path,
	.next = next_multi_path,
};
