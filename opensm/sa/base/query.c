// SPDX-License-Identifier: BSD-2-Clause
/*
 * Get, GetTable and GetMulti over any record type: one row after the other, those that match and
 * that the requester may see make the answer.
 *
 *   taken up --few rows--> answered at once
 *        \---many rows, or a table of a device is needed--> kept (turns.c) --> answered
 *
 * A query begins on the stack, its answer in a scratch buffer; only one that is not done after
 * limits.rows_at_once rows costs memory. Knows nothing about the meaning of a record.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "sa/base/sa_internal.h"
#include "util/mem.h"

/*
 * The end port whose P_Keys decide on the visibility of a port: itself; for a switch port the host
 * at its other end, whose keys its table has. VIEW_NONE: there is no host, and the port is in the
 * default partition.
 */
static uint32_t judged_by(const struct view *v, uint32_t port)
{
	const struct view_port *p = &v->ports[port];

	if (view_port_is_end(v, p))
		return port;
	return p->peer != VIEW_NONE && view_port_is_end(v, &v->ports[p->peer]) ? p->peer
									       : VIEW_NONE;
}

bool query_may_see(struct sa_query *q, uint32_t port)
{
	const struct pkey_set *set;
	uint32_t end;

	if (port == VIEW_NONE || q->rq.whole || q->rq.trusted)
		return true;
	end = judged_by(q->view, port);
	if (end == q->rq.port)
		return true;
	if (end == VIEW_NONE)
		return view_has_pkey(q->view, q->rq.port, PKEY_DEFAULT);
	set = view_pkeys(q->view, end);
	/* Few sets are distinct, so the last answer is kept. */
	if (set != q->seen_set) {
		q->seen_set = set;
		q->seen = view_share_pkey(q->view, q->rq.port, end, NULL);
	}
	return set && q->seen;
}

/* Do LIDs match? A request may have any LID of a port, a row has the base LID. */
static bool lids_match(const struct sa_query *q, uint64_t components, const uint8_t *row)
{
	for (; components; components &= components - 1) {
		const struct ib_field *f = &q->type->head[__builtin_ctzll(components)];
		uint32_t port = view_port_at(q->view, ib_bits_get(q->rq.data, f->offset, f->width));

		if (port == VIEW_NONE ||
		    q->view->ports[port].lid != ib_bits_get(row, f->offset, f->width))
			return false;
	}
	return true;
}

static bool is_wanted(struct sa_query *q, const uint8_t *row)
{
	const struct sa_type *t = q->type;

	if (t->match && !t->match(q, row))
		return false;
	if (!t->matches_itself &&
	    (!lids_match(q, q->rq.mask & t->lids, row) ||
	     !sa_match(t, q->rq.mask & ~(t->settled | t->lids), q->rq.data, row)))
		return false;
	return query_may_see(q, q->subject);
}

/* Is there room for one more row? If not, q->shortage is set. */
static bool has_room(struct sa_query *q, size_t stride)
{
	size_t least = q->out_len + stride, most = q->out_len + MAX(stride, q->out_cap / 2);
	size_t big = q->sa->limits.big_bytes;

	if (least <= q->out_cap)
		return true;
	/* An answer is not long because its buffer is. */
	q->shortage = queries_grow(q, least <= big ? MIN(most, big) : most);
	return !q->shortage;
}

static void lack(struct sa_query *q, enum sa_shortage what)
{
	q->status = SA_NO_RESOURCES;
	q->shortage = what;
}

static enum query_progress end(struct sa_query *q, uint16_t status)
{
	q->status = status;
	return QUERY_DONE;
}

enum query_progress query_run(struct sa_query *q, uint32_t *rows)
{
	size_t stride = sa_type_stride(q->type);

	for (; *rows; (*rows)--) {
		uint8_t *row;

		if (!has_room(q, stride))
			return end(q, SA_NO_RESOURCES);
		row = q->out + q->out_len;
		memset(row, 0, stride);
		switch (q->type->next(q, row)) {
		case SA_ROW:
			break;
		case SA_SKIP:
			continue;
		case SA_WAIT:
			return QUERY_WAITS;
		case SA_END:
			return end(q, q->status);
		}
		if (!is_wanted(q, row))
			continue;
		if (query_is_get(q) && q->n_records)
			return end(q, SA_TOO_MANY_RECORDS);
		if (q->out_len + stride > q->sa->limits.answer_bytes) {
			lack(q, SA_SHORT_ANSWER);
			return QUERY_DONE;
		}
		q->n_records++;
		q->out_len += stride;
	}
	return QUERY_MORE;
}

void query_answer(struct sa_query *q)
{
	size_t stride = sa_type_stride(q->type);

	if (!q->status && q->out_len > MAD_SIZE && !query_is_get(q) &&
	    !queries_may_send(q, q->out_len))
		lack(q, SA_SHORT_SENT);
	if (q->shortage)
		q->status = sa_short_of(q->sa, &q->rq, q->shortage);
	if (q->status)
		sa_refuse(q->sa, &q->rq, q->status);
	else if (!query_is_get(q))
		sa_answer_table(q->sa, &q->rq, q->out, q->out_len, stride);
	else if (q->n_records)
		sa_answer_one(q->sa, &q->rq, q->out + SA_DATA, stride);
	else
		sa_refuse(q->sa, &q->rq, SA_NO_RECORDS);
}

void query_release(struct sa_query *q)
{
	if (q->free_state)
		q->free_state(q->state);
	q->state = NULL;
	if (q->out_heap) {
		queries_give_back(q->sa, q->out_cap);
		free(q->out);
	}
	if (q->on_heap) {
		free(as_owner(q->rq.data));
		view_unref(q->view);
	}
}

static uint16_t prepare(struct sa_query *q)
{
	const struct sa_type *t = q->type;
	uint16_t status;

	if (t->trusted_only && !q->rq.trusted)
		return SA_REQ_INVALID;
	if (q->rq.mod == SA_FOR_STANDBY && q->rq.trusted && !q->rq.whole)
		return SA_REQ_DENIED;
	if (t->check && (status = t->check(q)))
		return status;
	return t->start ? t->start(q) : 0;
}

bool query_begin_anew(struct sa_query *q)
{
	const struct view *v = q->sa->view, *before = q->view;
	lid_t lid = before->ports[q->rq.port].lid;
	uint32_t port = view_port_at(v, lid);

	assert(q->on_heap);
	if (port == VIEW_NONE || v->ports[port].lid != lid ||
	    v->ports[port].guid != before->ports[q->rq.port].guid)
		return false;
	if (q->free_state)
		q->free_state(q->state);
	q->state = NULL;
	q->free_state = NULL;
	q->view = view_ref(v);
	view_unref(before);
	q->view_no = q->sa->published;
	q->rq.port = port;
	q->subject = VIEW_NONE;
	q->seen_set = NULL;
	memset(q->at, 0, sizeof(q->at));
	q->out_len = SA_DATA;
	q->n_records = 0;
	q->cell_here = q->cell_failed = q->stale = false;
	q->n_begun++;
	q->status = prepare(q);
	return true;
}

void query_take(struct sa *sa, const struct sa_type *type, const struct sa_request *rq)
{
	uint32_t rows;
	struct sa_query q = {
		.sa = sa,
		.view = sa->view,
		.view_no = sa->published,
		.type = type,
		.rq = *rq,
		.subject = VIEW_NONE,
		.out = queries_scratch(sa),
		.out_cap = QUERY_SCRATCH,
		.out_len = SA_DATA,
		.last_turn = rq->arrived,
	};

	q.status = prepare(&q);
	rows = queries_rows_at_once(&q);
	if (!q.status && query_run(&q, &rows) != QUERY_DONE) {
		queries_keep(&q);
		return;
	}
	query_answer(&q);
	query_release(&q);
}

static bool same_cell(const struct sa_cell_address *a, const struct sa_cell_address *b)
{
	return a->node_guid == b->node_guid && a->port == b->port && a->attr == b->attr &&
	       a->mod == b->mod;
}

/* True: the awaited read has ended, and is of this cell, not of a row that is gone. */
static bool has_come(struct sa_query *q, const struct sa_cell_address *at)
{
	bool ended = q->cell_here || q->cell_failed;

	q->cell_here = false;
	return ended && same_cell(at, &q->cell_at);
}

/* Ends the query: a table that lacks a row would be wrong, so the status is NO_RESOURCES. */
static const uint8_t *no_cell(struct sa_query *q, enum sa_shortage why, enum sa_step *ret_step)
{
	lack(q, why);
	*ret_step = SA_END;
	return NULL;
}

const uint8_t *query_cell(struct sa_query *q, const struct sa_cell_address *at,
			  enum sa_step *ret_step)
{
	struct sa *sa = q->sa;
	bool failed = q->cell_failed, come = has_come(q, at);
	int r;

	*ret_step = SA_SKIP;
	q->cell_failed = false;
	if (come)
		return failed ? NULL : q->cell;
	if (q->cells_read >= sa->limits.cells)
		return no_cell(q, SA_SHORT_CELLS, ret_step);
	q->cells_read++;
	q->cell_at = *at;
	q->cookie = queries_cookie(sa);
	r = sa->hooks.read_cell ? sa->hooks.read_cell(sa->hooks.arg, at, q->cookie) : -ENOENT;
	if (r == 0) {
		*ret_step = SA_WAIT;
		return NULL;
	}
	q->cookie = 0;
	return r == -EAGAIN ? no_cell(q, SA_SHORT_READS, ret_step) : NULL;
}
