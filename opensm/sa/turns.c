// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queries that take longer: requesters come in turn, and the queries of one requester in turn among
 * themselves. Slices are counted in rows, so nothing here depends on how fast the machine is.
 *
 *   RUNNABLE (in a requester's list) --needs a table of a device--> WAITING (by cookie)
 *        ^------------------------------ sa_cell() ------------------------/
 *
 * Knows nothing about records.
 */
#include <string.h>

#include "sa/impl.h"
#include "util/guidmap.h"
#include "util/mem.h"

const struct sa_limits sa_limits_default = {
	.rows_at_once = 512,
	.rows_a_turn = 1024,
	.rows_a_slice = 2048,
	.queries = 1024,
	.queries_each = 16,
	.views = 4,
	.big_each = 2,
	.big_bytes = 256u << 10,
	.answer_bytes = TRANSPORT_MESSAGE_MAX,
	.answers_bytes = 192u << 20,
	.sent_bytes_each = 64u << 20,
	.sent_window = 10 * MONO_S,
	.request_bytes = 16u << 10,
	.cells = 4096,
};

#define ROWS_BY_KEY 8 /* enough for an answer by LID or GUID */

/* A port with queries, or with tables on their way; by its base LID. */
struct asker {
	lid_t lid;
	uint32_t n;   /* queries, waiting ones too */
	uint32_t big; /* of these, with long answers */
	size_t sent;  /* bytes of tables since sent_since */
	mono_t sent_since;
	struct sa_query *first, *last; /* runnable */
	struct asker *next;	       /* in turn; only while there is something to run */
};

struct queries {
	struct guidmap *askers;	 /* base LID -> struct asker */
	struct guidmap *waiting; /* cookie -> struct sa_query */
	struct asker *first, *last;
	uint64_t cookie;
	size_t bytes; /* of all answers in the making */
	mono_t delay; /* how long the query that ran last had waited for its turn */
	uint8_t scratch[QUERY_SCRATCH];
};

struct queries *queries_new(struct sa *sa)
{
	struct queries *qs = xcalloc(1, sizeof(*qs));

	qs->askers = guidmap_new();
	qs->waiting = guidmap_new();
	return qs;
}

struct queries *queries_free(struct queries *qs)
{
	size_t pos = 0;
	guid_t lid;
	void *asker;

	if (!qs)
		return NULL;
	while (guidmap_next(qs->askers, &pos, &lid, &asker))
		free(asker);
	guidmap_free(qs->askers);
	guidmap_free(qs->waiting);
	free(qs);
	return NULL;
}

uint8_t *queries_scratch(struct sa *sa)
{
	return sa->queries->scratch;
}

uint64_t queries_cookie(struct sa *sa)
{
	return ++sa->queries->cookie;
}

bool queries_overloaded(const struct sa *sa)
{
	uint32_t limit = sa->conf->max_msg_fifo_timeout;

	return limit && sa->stats.queries > 1 && sa->queries->delay > limit * MONO_MS;
}

/* ---- room ---- */

static lid_t lid_of(const struct sa_query *q)
{
	return q->view->ports[q->rq.port].lid;
}

static struct asker *asker_of(const struct sa_query *q)
{
	return guidmap_get(q->sa->queries->askers, lid_of(q));
}

/* The more a requester has waiting, the less is done for it at once; what is looked up by key still is. */
uint32_t queries_rows_at_once(const struct sa_query *q)
{
	const struct asker *a = asker_of(q);
	uint32_t most = q->sa->limits.rows_at_once;

	return a ? MAX(most / (1 + a->n), MIN(most, ROWS_BY_KEY)) : most;
}

static struct asker *new_asker(struct queries *qs, lid_t lid)
{
	struct asker *a = xcalloc(1, sizeof(*a));

	a->lid = lid;
	guidmap_put(qs->askers, lid, a);
	return a;
}

/* Bytes of tables that may not have been acknowledged yet. */
static size_t on_its_way(const struct sa *sa, const struct asker *a)
{
	return a && sa->now - a->sent_since < sa->limits.sent_window ? a->sent : 0;
}

static bool may_send(const struct sa *sa, const struct asker *a, size_t bytes)
{
	size_t before = on_its_way(sa, a);

	return !before || before + bytes <= sa->limits.sent_bytes_each;
}

bool queries_may_send(struct sa_query *q, size_t bytes)
{
	struct sa *sa = q->sa;
	struct asker *a = asker_of(q);

	if (!may_send(sa, a, bytes))
		return false;
	if (!a)
		a = new_asker(sa->queries, lid_of(q));
	a->sent = on_its_way(sa, a);
	if (!a->sent)
		a->sent_since = sa->now;
	a->sent += bytes;
	return true;
}

static bool may_be_big(struct sa_query *q)
{
	const struct sa_limits *limits = &q->sa->limits;
	struct asker *a = asker_of(q);

	if (q->big)
		return true;
	if (a && a->big >= limits->big_each)
		return false;
	q->big = true;
	if (a && q->on_heap)
		a->big++;
	return true;
}

/* A quarter of the room is for answers that are not long. */
static size_t room_for(const struct sa_limits *limits, size_t cap)
{
	return cap > limits->big_bytes ? limits->answers_bytes / 4 * 3 : limits->answers_bytes;
}

bool queries_grow(struct sa_query *q, size_t cap)
{
	const struct sa_limits *limits = &q->sa->limits;
	struct queries *qs = q->sa->queries;
	size_t held = q->out_heap ? q->out_cap : 0;
	uint8_t *out;

	/* One row more than the longest answer: what does not match needs a place, too. */
	cap = MIN(cap, limits->answer_bytes + sa_type_stride(q->type));
	if (cap < q->out_len + sa_type_stride(q->type))
		return false;
	if (qs->bytes + cap - held > room_for(limits, cap))
		return false;
	if (cap > limits->big_bytes && !may_be_big(q))
		return false;
	if (q->out_len > MAD_SIZE && !may_send(q->sa, asker_of(q), q->out_len))
		return false;
	out = realloc(q->out_heap ? q->out : NULL, cap);
	if (!out)
		return false;
	if (!q->out_heap)
		memcpy(out, q->out, q->out_len);
	q->out = out;
	q->out_heap = true;
	q->out_cap = cap;
	qs->bytes += cap - held;
	return true;
}

void queries_give_back(struct sa *sa, size_t bytes)
{
	sa->queries->bytes -= bytes;
}

/* ---- lists ---- */

static void join_turns(struct queries *qs, struct asker *a)
{
	a->next = NULL;
	if (qs->first)
		qs->last->next = a;
	else
		qs->first = a;
	qs->last = a;
}

static void make_runnable(struct queries *qs, struct asker *a, struct sa_query *q)
{
	q->next = NULL;
	if (a->first) {
		a->last->next = q;
		a->last = q;
		return;
	}
	a->first = a->last = q;
	join_turns(qs, a);
}

/* The next query to run, taken out of its lists; its requester goes behind the others. */
static struct sa_query *take_next(struct queries *qs, struct asker **ret_asker)
{
	struct asker *a = qs->first;
	struct sa_query *q = a->first;

	qs->first = a->next;
	a->first = q->next;
	q->next = NULL;
	if (a->first)
		join_turns(qs, a);
	*ret_asker = a;
	return q;
}

/* Requesters with tables on their way stay: there are no more of them than LIDs. */
static void forget(struct asker *a, struct sa_query *q)
{
	struct sa *sa = q->sa;

	a->n--;
	a->big -= q->big;
	sa->stats.queries--;
	query_release(q);
	free(q);
	if (a->n || on_its_way(sa, a))
		return;
	guidmap_remove(sa->queries->askers, a->lid);
	free(a);
}

static void go_on(struct queries *qs, struct asker *a, struct sa_query *q)
{
	if (q->cookie)
		guidmap_put(qs->waiting, q->cookie, q);
	else
		make_runnable(qs, a, q);
}

/* From the stack to the heap. */
static struct sa_query *move(const struct sa_query *from)
{
	size_t len = MAX(from->rq.data_len, (size_t)SA_DATA_SIZE);
	struct sa_query *q = xmemdup(from, sizeof(*from));

	q->rq.data = xmemdup(from->rq.data, len);
	q->view = view_ref(from->view);
	q->on_heap = true;
	return q;
}

/* NULL: there is room for one more. The last eighth is for those who have nothing waiting. */
static const char *no_room(const struct sa *sa, const struct asker *a)
{
	const struct sa_limits *limits = &sa->limits;
	uint32_t reserve = a && a->n ? limits->queries / 8 : 0;

	if (a && a->n >= limits->queries_each)
		return "it asks too much at once";
	if (sa->stats.queries >= limits->queries - reserve)
		return "too much is asked by all";
	return NULL;
}

void queries_keep(struct sa_query *on_stack)
{
	struct sa *sa = on_stack->sa;
	struct queries *qs = sa->queries;
	struct asker *a = asker_of(on_stack);
	const char *why = no_room(sa, a);
	struct sa_query *q;

	if (why) {
		sa_drop(sa, &on_stack->rq, why);
		query_release(on_stack);
		return;
	}
	if (!on_stack->out_heap && !queries_grow(on_stack, QUERY_SCRATCH)) {
		sa_refuse(sa, &on_stack->rq, SA_NO_RESOURCES);
		query_release(on_stack);
		return;
	}
	if (!a)
		a = new_asker(qs, lid_of(on_stack));
	q = move(on_stack);
	a->n++;
	a->big += q->big;
	sa->stats.queries++;
	go_on(qs, a, q);
}

static bool is_of_old(const struct sa_query *q)
{
	return q->sa->published - q->view_no > q->sa->limits.views;
}

/* A turn of one query, of `turn` rows at most; returns how many it took. */
static uint32_t run(struct queries *qs, struct asker *a, struct sa_query *q, uint32_t turn)
{
	uint32_t rows = turn;

	if (is_of_old(q)) {
		sa_drop(q->sa, &q->rq, "the fabric has changed too often since it was asked");
		forget(a, q);
		return 1;
	}
	if (query_run(q, &rows) == QUERY_DONE) {
		query_answer(q);
		forget(a, q);
	} else {
		go_on(qs, a, q);
	}
	return MAX(turn - rows, 1u);
}

bool queries_dispatch(struct sa *sa, mono_t now)
{
	struct queries *qs = sa->queries;
	uint32_t left = sa->limits.rows_a_slice;

	while (left && qs->first) {
		struct asker *a;
		struct sa_query *q = take_next(qs, &a);

		qs->delay = now - q->last_turn;
		q->last_turn = now;
		left -= run(qs, a, q, MIN(left, sa->limits.rows_a_turn));
	}
	if (!sa->stats.queries)
		qs->delay = 0;
	return qs->first;
}

void queries_cell(struct sa *sa, uint64_t cookie, const uint8_t *payload)
{
	struct queries *qs = sa->queries;
	struct sa_query *q = cookie ? guidmap_remove(qs->waiting, cookie) : NULL;

	if (!q)
		return;
	q->cookie = 0;
	q->cell_here = payload;
	q->cell_failed = !payload;
	if (payload)
		memcpy(q->cell, payload, SMP_DATA_SIZE);
	q->last_turn = sa->now;
	make_runnable(qs, asker_of(q), q);
}

void queries_drop_all(struct sa *sa)
{
	struct queries *qs = sa->queries;
	struct asker *a;
	struct sa_query *q;
	guid_t cookie;
	void *waits;

	for (size_t pos = 0; guidmap_next(qs->waiting, &pos, &cookie, &waits); pos = 0)
		queries_cell(sa, cookie, NULL);
	while (qs->first) {
		q = take_next(qs, &a);
		forget(a, q);
	}
}
