// SPDX-License-Identifier: BSD-2-Clause
/*
 * Get, GetTable and GetMulti over any record type: one row after the other, those that match and
 * that the requester may see make the answer.
 *
 *   taken up --few rows--> answered at once
 *        \---many rows, or a table of a device is needed--> kept (turns.c) --> answered
 *
 * A question begins on the stack, its answer in a scratch buffer; only what is not done after
 * limits.rows_at_once rows costs memory. Knows nothing about what a record means.
 */
#include <string.h>

#include "sa/impl.h"
#include "util/mem.h"

bool query_may_see(struct sa_query *q, uint32_t port)
{
	uint32_t end;

	if (port == VIEW_NONE || q->rq.whole)
		return true;
	end = view_end_port(q->view, port);
	if (end == q->rq.port)
		return true;
	if (end != q->seen_end) {
		q->seen_end = end;
		q->seen = view_share_pkey(q->view, q->rq.port, end, NULL);
	}
	return q->seen;
}

static bool wanted(struct sa_query *q, const uint8_t *row)
{
	const struct sa_type *t = q->type;
	uint64_t done = 0;

	if (t->match && !t->match(q, row, &done))
		return false;
	if (!t->matches_itself && !sa_match(t, &q->rq, row, done))
		return false;
	return query_may_see(q, q->subject);
}

/* Room for one more row behind what is there. */
static bool has_room(struct sa_query *q, size_t stride)
{
	if (q->out_len + stride <= q->out_cap)
		return true;
	return queries_grow(q, q->out_len + MAX(stride, q->out_cap / 2));
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
		if (!wanted(q, row))
			continue;
		if (query_is_get(q) && q->n_records)
			return end(q, SA_TOO_MANY_RECORDS);
		if (q->out_len + stride > q->sa->limits.answer_bytes)
			return end(q, SA_NO_RESOURCES);
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
		q->status = SA_NO_RESOURCES;
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
		free((uint8_t *)q->rq.data);
		view_unref((struct view *)q->view);
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
		.seen_end = VIEW_NONE,
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

/* What was waited for has come to an end. True: it is this cell, and not that of a row now gone. */
static bool has_come(struct sa_query *q, const struct sa_cell_address *at)
{
	bool ended = q->cell_here || q->cell_failed;

	q->cell_here = false;
	return ended && same_cell(at, &q->cell_at);
}

const uint8_t *query_cell(struct sa_query *q, const struct sa_cell_address *at,
			  enum sa_step *ret_step)
{
	struct sa *sa = q->sa;
	bool failed = q->cell_failed, come = has_come(q, at);

	*ret_step = SA_SKIP;
	q->cell_failed = false;
	if (come)
		return failed ? NULL : q->cell;
	if (q->cells_read >= sa->limits.cells) {
		q->status = SA_NO_RESOURCES;
		*ret_step = SA_END;
		return NULL;
	}
	q->cells_read++;
	q->cell_at = *at;
	q->cookie = queries_cookie(sa);
	if (sa->hooks.read_cell && sa->hooks.read_cell(sa->hooks.arg, at, q->cookie))
		*ret_step = SA_WAIT;
	else
		q->cookie = 0;
	return NULL;
}
