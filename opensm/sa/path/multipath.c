// SPDX-License-Identifier: BSD-2-Clause
/*
 * MultiPathRecord (sa.md 5): paths from many ports to many. The answer is PathRecords.
 *
 * Independence > 0 asks for paths that do not break together (automatic path migration). Tables
 * know destination LIDs only, so every LID of a destination (LMC) gives one way from a source. Of
 * two sources and two destinations these are two, each end once: the pairing and the LIDs that
 * share fewest links and switches. Otherwise each way comes once, first those that share least with
 * the ways before them, NumbPath in all. Everything else is all pairs, source by source.
 */
#include <limits.h>

#include "sa/path/path.h"
#include "util/mem.h"

#define PATHS_MAX 127 /* the width of NumbPath */
#define GID_SIZE  16
#define CANDIDATES 64 /* ways that are compared: 8 LIDs of 8 pairs, for example */

struct multi {
	struct path_wish wish;
	unsigned n_src, n_dst;
	bool independent;
	uint16_t left; /* paths */
	uint32_t pair; /* source * n_dst + destination; or the next of `chosen` */
	bool open;
	struct path_pair now;
	struct path_pair chosen[CANDIDATES]; /* of independent paths: which, in this order */
	unsigned n_chosen;
	struct path_side sides[]; /* sources, then destinations */
};

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

static uint16_t start_multi_path(struct sa_query *q)
{
	const uint8_t *asked = query_asked(q);
	unsigned n_src = (unsigned)ib_get(asked, MPR_SGID_COUNT);
	unsigned n_dst = (unsigned)ib_get(asked, MPR_DGID_COUNT);
	const struct qos_request rq = PATH_REQUEST(MPR, q->rq.mask, asked);
	struct multi *m = xcalloc(1, sizeof(*m) + (n_src + n_dst) * sizeof(m->sides[0]));

	q->state = m;
	q->free_state = free;
	m->wish = (struct path_wish)PATH_WISH(MPR, q->rq.mask, asked);
	path_wish_ask(q, &rq, &m->wish);
	m->n_src = n_src;
	m->n_dst = n_dst;
	m->left = (uint16_t)QUERY_FIELD(q, MPR_NUMB_PATH, PATHS_MAX);
	m->independent = QUERY_FIELD(q, MPR_INDEPENDENCE, 0);
	for (unsigned i = 0; i < n_src + n_dst; i++)
		if (!find_port(q, asked + MPR_BYTES + i * GID_SIZE, &m->sides[i]))
			return SA_REQ_INVALID_GID;
	return 0;
}

/* ---- paths that do not break together ------------------------------------------------------- */

/* A way from a source to a LID of a destination: forwarding tables know no source. */
struct candidate {
	unsigned src, dst;
	lid_t slid, dlid;
	bool taken;
	unsigned shares; /* with those taken */
	unsigned n;	 /* ports left through */
	uint32_t ports[PATH_SWITCHES_MAX + 1];
};

static struct path_pair pair_of(const struct multi *m, const struct candidate *c)
{
	struct path_pair pair = { .src = m->sides[c->src],
				  .dst = m->sides[m->n_src + c->dst],
				  .left = 1 };

	pair.src.lid = c->slid;
	pair.dst.lid = c->dlid;
	return pair;
}

/* False: there is no such path, or none for this request. */
static bool trace(struct sa_query *q, struct multi *m, struct candidate *c)
{
	struct path_pair pair = pair_of(m, c);
	uint8_t record[PR_BYTES] = { 0 };
	struct path_way way;

	c->taken = false;
	if (!path_open(q, &m->wish, &pair) || path_next(q, &m->wish, &pair, record) != SA_ROW ||
	    !path_trace(q->view, pair.src.port, c->dlid, pair.dst.port, &way, c->ports))
		return false;
	c->n = way.n + 1u;
	return true;
}

/* Adds the ways from a source to the LIDs of a destination. */
static unsigned add_candidates(struct sa_query *q, struct multi *m, struct candidate *list,
			       unsigned n, unsigned pair)
{
	unsigned src = pair / m->n_dst, dst = pair % m->n_dst;
	uint32_t from = m->sides[src].port, to = m->sides[m->n_src + dst].port;
	const struct view_port *a = &q->view->ports[from], *b = &q->view->ports[to];

	if (!query_may_see(q, from) || !query_may_see(q, to))
		return n;
	for (unsigned k = 0; k < 1u << b->lmc && n < CANDIDATES; k++) {
		list[n] = (struct candidate){
			.src = src, .dst = dst,
			.slid = (lid_t)(a->lid + k % (1u << a->lmc)),
			.dlid = (lid_t)(b->lid + k),
		};
		n += trace(q, m, &list[n]);
	}
	return n;
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

static void choose(struct multi *m, struct candidate *c)
{
	c->taken = true;
	m->chosen[m->n_chosen++] = pair_of(m, c);
}

/* Of two sources and two destinations each once. False: no two ways pair them up. */
static bool choose_two(const struct sa_query *q, struct multi *m, struct candidate *list,
		       unsigned n)
{
	unsigned least = UINT_MAX, length = 0, best[2] = { 0, 0 };

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++) {
			unsigned cost, sum = list[i].n + list[k].n;

			if (list[i].src == list[k].src || list[i].dst == list[k].dst)
				continue;
			cost = shared(q->view, &list[i], &list[k]);
			if (cost > least || (cost == least && sum >= length))
				continue;
			least = cost;
			length = sum;
			best[0] = i;
			best[1] = k;
		}
	if (least == UINT_MAX)
		return false;
	choose(m, &list[best[0]]);
	choose(m, &list[best[1]]);
	return true;
}

/* The way that shares least with those chosen, of several the first; each compared once. */
static void choose_next(const struct sa_query *q, struct multi *m, struct candidate *list,
			unsigned n)
{
	struct candidate *best = NULL;

	for (unsigned i = 0; i < n; i++)
		if (!list[i].taken && (!best || list[i].shares < best->shares))
			best = &list[i];
	if (!best)
		return;
	choose(m, best);
	for (unsigned i = 0; i < n; i++)
		list[i].shares += list[i].taken ? 0 : shared(q->view, best, &list[i]);
}

static void choose_paths(struct sa_query *q, struct multi *m)
{
	_cleanup_free_ struct candidate *list = xcalloc(CANDIDATES, sizeof(*list));
	bool two = m->n_src == 2 && m->n_dst == 2;
	unsigned n = 0, most = MIN(m->left, two ? 1u : CANDIDATES);

	for (unsigned pair = 0; pair < m->n_src * m->n_dst; pair++)
		n = add_candidates(q, m, list, n, pair);
	if (two && choose_two(q, m, list, n))
		return;
	while (m->n_chosen < MIN(most, n))
		choose_next(q, m, list, n);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static struct path_pair next_pair(const struct multi *m)
{
	if (m->independent)
		return m->chosen[m->pair];
	return (struct path_pair){
		.src = m->sides[m->pair / m->n_dst],
		.dst = m->sides[m->n_src + m->pair % m->n_dst],
		.left = m->left,
	};
}

static bool open_pair(struct sa_query *q, struct multi *m)
{
	m->now = next_pair(m);
	m->pair++;
	return query_may_see(q, m->now.src.port) && query_may_see(q, m->now.dst.port) &&
	       path_open(q, &m->wish, &m->now);
}

static enum sa_step next_multi_path(struct sa_query *q, uint8_t *ret)
{
	struct multi *m = q->state;
	enum sa_step step;

	if (m->independent && m->pair == 0)
		choose_paths(q, m);
	if (!m->open) {
		if (!m->left || m->pair >= (m->independent ? m->n_chosen : m->n_src * m->n_dst))
			return SA_END;
		m->open = open_pair(q, m);
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
