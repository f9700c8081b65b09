// SPDX-License-Identifier: BSD-2-Clause
/*
 * PathRecord (sa.md 4): the end ports asked for, then pair after pair of them. What a pair gives is
 * in path_pair.c, destinations that are multicast groups in path_group.c.
 *
 * A side that is not named is every end port, one after the other: no list of pairs is ever made.
 */
#include "sa/path/path.h"

#include <string.h>

#include "util/mem.h"

#define PATHS_ALL UINT16_MAX

enum side_kind {
	SIDE_ALL,    /* not named in the request: any port */
	SIDE_PORT,   /* one port of this subnet */
	SIDE_NOBODY, /* named, and unknown here: the answer is empty */
	SIDE_ROUTER, /* another subnet: a router is the destination */
	SIDE_GROUP,  /* a multicast GID or LID */
};

struct side {
	struct path_side end;
	enum side_kind kind;
	uint32_t at; /* of SIDE_ALL: place in path_map_ends() */
};

struct path_query {
	struct path_wish wish;
	struct side src, dst;
	uint8_t dgid[16];
	uint16_t per_pair;
	bool open;  /* `pair` has more to give */
	bool begun; /* set if src and dst are those of the last pair */
	bool src_hidden;
	struct path_pair pair;
};

/* ---- ends ----------------------------------------------------------------------------------- */

static bool is_ours(const struct view *v, uint64_t prefix)
{
	return prefix == v->prefix || prefix == PATH_LINK_LOCAL_PREFIX;
}

/* The side of a GID and a LID together; `gid` or `lid` NULL: component not given. */
static void find_side(const struct sa_query *q, const uint8_t *gid, const lid_t *lid,
		      struct side *ret)
{
	const struct view *v = q->view;

	*ret = (struct side){ .kind = SIDE_ALL, .end = { .port = VIEW_NONE } };
	if (gid) {
		ret->kind = SIDE_NOBODY;
		ret->end.id = ib_bits_get(gid, 64, 64);
		if (is_ours(v, ib_bits_get(gid, 0, 64)))
			ret->end.port = sa_port_of_interface_id(q->sa, v, ret->end.id);
	} else if (lid) {
		ret->kind = SIDE_NOBODY;
		ret->end.port = view_port_at(v, *lid);
	}
	if (ret->end.port == VIEW_NONE)
		return;
	ret->kind = SIDE_PORT;
	ret->end.lid = lid ? *lid : 0;
}

/* The port that the prefix routes name for an off-subnet GID (sa.md 4.6). */
static void find_router(const struct sa_query *q, struct side *ret)
{
	const struct path_query *pq = q->state;
	const struct conf_prefix *route =
		conf_prefixes_find(&q->sa->prefixes, ib_bits_get(pq->dgid, 0, 64));
	uint32_t port;

	*ret = (struct side){ .kind = SIDE_NOBODY, .end = { .port = VIEW_NONE } };
	if (!route)
		return;
	port = route->guid ? view_port_of_guid(q->view, route->guid)
			   : path_map_router(q->view->paths);
	if (port == VIEW_NONE || q->view->nodes[q->view->ports[port].node].type != IB_NODE_ROUTER)
		return;
	*ret = (struct side){ .kind = SIDE_ROUTER, .end = { .port = port } };
}

/*
 * Both components given: they must mean one port. The LID has not been looked at if GID is a
 * router's. Which LID a port has is said of ports alone that the requester may know of.
 */
static uint16_t check_lid(struct sa_query *q, struct side *s, bool has_lid, lid_t lid)
{
	uint32_t port;

	if (!has_lid || s->end.port == VIEW_NONE)
		return 0;
	port = view_port_at(q->view, lid);
	if (port == VIEW_NONE)
		s->kind = SIDE_NOBODY;
	else if (port == s->end.port)
		s->end.lid = lid;
	else if (query_may_see(q, port) && query_may_see(q, s->end.port))
		return SA_REQ_INVALID;
	else
		s->kind = SIDE_NOBODY;
	return 0;
}

static uint16_t find_src(struct sa_query *q)
{
	struct path_query *pq = q->state;
	const uint8_t *asked = query_asked(q);
	bool has_lid = SA_HAS(q->rq.mask, PR_SLID);
	lid_t lid = (lid_t)ib_get(asked, PR_SLID);

	find_side(q, SA_HAS(q->rq.mask, PR_SGID) ? ib_at(asked, PR_SGID) : NULL,
		  has_lid ? &lid : NULL, &pq->src);
	return check_lid(q, &pq->src, has_lid, lid);
}

static uint16_t find_dst(struct sa_query *q)
{
	struct path_query *pq = q->state;
	const uint8_t *asked = query_asked(q);
	bool has_gid = SA_HAS(q->rq.mask, PR_DGID), has_lid = SA_HAS(q->rq.mask, PR_DLID);
	lid_t lid = (lid_t)ib_get(asked, PR_DLID);

	memcpy(pq->dgid, ib_at(asked, PR_DGID), sizeof(pq->dgid));
	if ((has_gid && pq->dgid[0] == 0xFF) ||
	    (has_lid && lid > LID_MAX_UCAST && lid != LID_PERMISSIVE)) {
		pq->dst.kind = SIDE_GROUP;
		return 0;
	}
	if (has_gid && !is_ours(q->view, ib_bits_get(pq->dgid, 0, 64)))
		find_router(q, &pq->dst);
	else
		find_side(q, has_gid ? pq->dgid : NULL, has_lid ? &lid : NULL, &pq->dst);
	return check_lid(q, &pq->dst, has_lid, lid);
}

static uint16_t paths_per_pair(const struct sa_query *q)
{
	if (query_is_get(q))
		return 1;
	return (uint16_t)QUERY_FIELD(q, PR_NUMB_PATH, PATHS_ALL);
}

static uint16_t check_path_record(const struct sa_query *q)
{
	const struct path_wish w = PATH_WISH(PR, q->rq.mask, query_asked(q));

	return path_wish_check(&w);
}

static uint16_t start_path_record(struct sa_query *q)
{
	struct path_query *pq = xcalloc(1, sizeof(*pq));
	const struct qos_request rq = PATH_REQUEST(PR, q->rq.mask, query_asked(q));
	uint16_t status;

	q->state = pq;
	q->free_state = free;
	pq->wish = (struct path_wish)PATH_WISH(PR, q->rq.mask, query_asked(q));
	path_wish_ask(q, &rq, &pq->wish);
	pq->per_pair = paths_per_pair(q);
	status = find_src(q);
	if (!status)
		status = find_dst(q);
	return status;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Puts a side on its first port. False: it has none. */
static bool rewind_side(const struct sa_query *q, struct side *s)
{
	struct path_ends ends = path_map_ends(q->view->paths);

	if (s->kind != SIDE_ALL)
		return s->kind == SIDE_PORT || s->kind == SIDE_ROUTER;
	s->at = 0;
	s->end.port = ends.n ? ends.ports[0] : VIEW_NONE;
	return ends.n > 0;
}

static bool step_side(const struct sa_query *q, struct side *s)
{
	struct path_ends ends = path_map_ends(q->view->paths);

	if (s->kind != SIDE_ALL || ++s->at >= ends.n)
		return false;
	s->end.port = ends.ports[s->at];
	return true;
}

/* The next pair of ports; destinations run faster. False: that was all. */
static bool next_pair(struct sa_query *q, struct path_query *pq)
{
	bool new_src = !pq->begun;

	if (!pq->begun) {
		pq->begun = true;
		if (!rewind_side(q, &pq->src) || !rewind_side(q, &pq->dst))
			return false;
	} else if (pq->src_hidden || !step_side(q, &pq->dst)) {
		new_src = true;
		if (!step_side(q, &pq->src) || !rewind_side(q, &pq->dst))
			return false;
	}
	if (new_src)
		pq->src_hidden = !query_may_see(q, pq->src.end.port);
	return true;
}

static bool open_pair(struct sa_query *q, struct path_query *pq)
{
	if (pq->src_hidden || !query_may_see(q, pq->dst.end.port))
		return false;
	pq->pair = (struct path_pair){
		.src = pq->src.end,
		.dst = pq->dst.end,
		.dgid = pq->dst.kind == SIDE_ROUTER ? pq->dgid : NULL,
		.left = pq->per_pair,
	};
	return path_open(q, &pq->wish, &pq->pair);
}

static enum sa_step group_step(struct sa_query *q, struct path_query *pq, uint8_t *ret)
{
	bool first = !pq->begun;

	pq->begun = true;
	if (!first || !pq->per_pair || pq->src.kind == SIDE_NOBODY ||
	    !query_may_see(q, pq->src.end.port))
		return SA_END;
	return path_to_group(q, &pq->wish, &pq->src.end, ret) ? SA_ROW : SA_END;
}

static enum sa_step next_path_record(struct sa_query *q, uint8_t *ret)
{
	struct path_query *pq = q->state;
	enum sa_step step;

	if (pq->dst.kind == SIDE_GROUP)
		return group_step(q, pq, ret);
	if (query_is_get(q) && q->n_records)
		return SA_END;
	if (!pq->open) {
		if (!next_pair(q, pq))
			return SA_END;
		pq->open = open_pair(q, pq);
		if (!pq->open)
			return SA_SKIP;
	}
	step = path_next(q, &pq->wish, &pq->pair, ret);
	if (step != SA_END)
		return step;
	pq->open = false;
	return SA_SKIP;
}

const struct sa_type sa_path_record = {
	.size = PR_BYTES,
	.matches_itself = true,
	.pairs = true,
	.check = check_path_record,
	.start = start_path_record,
	.next = next_path_record,
};

void sa_set_prefixes(struct sa *sa, const struct conf_prefixes *prefixes)
{
	struct conf_prefixes copy = { .n = prefixes->n };

	if (copy.n)
		copy.items = xmemdup(prefixes->items, copy.n * sizeof(*copy.items));
	conf_prefixes_clear(&sa->prefixes);
	sa->prefixes = copy;
}
