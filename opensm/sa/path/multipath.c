// SPDX-License-Identifier: BSD-2-Clause
/*
 * MultiPathRecord (sa.md 5): paths from many ports to many. The answer is PathRecords.
 *
 * Two sources, two destinations and Independence > 0 ask for two paths that do not break together
 * (automatic path migration): of the two ways to pair them up, the one that shares fewer links and
 * switches. Everything else is all pairs, source by source, NumbPath in all.
 */
#include <limits.h>

#include "sa/path/path.h"
#include "util/mem.h"

#define PATHS_MAX 127 /* the width of NumbPath */
#define GID_SIZE  16

struct multi {
	struct path_wish wish;
	unsigned n_src, n_dst;
	bool independent;
	uint16_t left; /* paths */
	uint32_t pair; /* source * n_dst + destination */
	bool open;
	struct path_pair now;
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
	m->independent = n_src == 2 && n_dst == 2 && QUERY_FIELD(q, MPR_INDEPENDENCE, 0);
	for (unsigned i = 0; i < n_src + n_dst; i++)
		if (!find_port(q, asked + MPR_BYTES + i * GID_SIZE, &m->sides[i]))
			return SA_REQ_INVALID_GID;
	return 0;
}

/* ---- two that do not break together --------------------------------------------------------- */

struct way {
	bool found;
	unsigned n; /* ports left through */
	uint32_t ports[PATH_SWITCHES_MAX + 1];
};

static void trace(struct sa_query *q, struct multi *m, unsigned src, unsigned dst, struct way *ret)
{
	struct path_pair pair = { .src = m->sides[src],
				  .dst = m->sides[m->n_src + dst],
				  .left = 1 };
	uint8_t record[PR_BYTES] = { 0 };
	struct path_way way;
	enum sa_step step = SA_END;

	ret->found = false;
	if (!query_may_see(q, pair.src.port) || !query_may_see(q, pair.dst.port))
		return;
	if (path_open(q, &m->wish, &pair))
		while ((step = path_next(q, &m->wish, &pair, record)) == SA_SKIP)
			;
	if (step != SA_ROW)
		return;
	ret->found = path_trace(q->view, pair.src.port, (lid_t)ib_get(record, PR_DLID),
				pair.dst.port, &way, ret->ports);
	ret->n = ret->found ? way.n + 1u : 0;
}

/* Links count twice: paths that share a link share both its switches, too. */
static unsigned shared(const struct view *v, const struct way *a, const struct way *b)
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

/* 0: straight (0-0, 1-1), 1: crossed (0-1, 1-0): the better of the two. */
static unsigned choose_pairing(struct sa_query *q, struct multi *m)
{
	unsigned cost[2], length[2];

	for (unsigned crossed = 0; crossed < 2; crossed++) {
		struct way a, b;

		trace(q, m, 0, crossed, &a);
		trace(q, m, 1, !crossed, &b);
		cost[crossed] =
			a.found && b.found ? shared(q->view, &a, &b) : UINT_MAX - a.found - b.found;
		length[crossed] = a.n + b.n;
	}
	if (cost[0] != cost[1])
		return cost[1] < cost[0];
	return length[1] < length[0];
}

/* Keeps one path of each of two pairs: the sides are put in order, then only i-i counts. */
static void settle_independence(struct sa_query *q, struct multi *m)
{
	struct path_side *dst = m->sides + m->n_src, first = dst[0];

	if (choose_pairing(q, m)) {
		dst[0] = dst[1];
		dst[1] = first;
	}
	m->left = MIN(m->left, 2);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool open_pair(struct sa_query *q, struct multi *m)
{
	unsigned src = m->pair / m->n_dst, dst = m->pair % m->n_dst;

	m->pair++;
	if (m->independent && src != dst)
		return false;
	m->now = (struct path_pair){
		.src = m->sides[src],
		.dst = m->sides[m->n_src + dst],
		.left = m->independent ? 1 : m->left,
	};
	return query_may_see(q, m->now.src.port) && query_may_see(q, m->now.dst.port) &&
	       path_open(q, &m->wish, &m->now);
}

static enum sa_step next_multi_path(struct sa_query *q, uint8_t *ret)
{
	struct multi *m = q->state;
	enum sa_step step;

	if (m->independent && m->pair == 0)
		settle_independence(q, m);
	if (!m->open) {
		if (!m->left || m->pair >= m->n_src * m->n_dst)
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
