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

#include "sa/base/sa_internal.h"
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
#define BEGUN_MOST  8 /* times that a query is begun anew */

/* A port with queries, or with tables on their way; by its base LID. */
struct requester {
	lid_t lid;
	uint32_t n;   /* queries, waiting ones too */
	uint32_t big; /* of these, with long answers */
	size_t sent;  /* bytes of tables since sent_since */
	mono_t sent_since;
	STAILQ_HEAD(, sa_query) runnable;
	STAILQ_ENTRY(requester) turn; /* only while there is something to run */
};

struct queries {
	struct guidmap *requesters; /* base LID -> struct requester */
	struct guidmap *waiting;    /* cookie -> struct sa_query */
	STAILQ_HEAD(, requester) turns;
	uint64_t cookie;
	size_t bytes; /* of all answers in the making */
	mono_t delay; /* how long the query that ran last had waited for its turn */
	uint8_t scratch[QUERY_SCRATCH];
};

struct queries *queries_new(struct sa *sa)
{
	struct queries *qs = xcalloc(1, sizeof(*qs));

	qs->requesters = guidmap_new();
	qs->waiting = guidmap_new();
	STAILQ_INIT(&qs->turns);
	return qs;
}

struct queries *queries_free(struct queries *qs)
{
	size_t pos = 0;
	void *requester;

	if (!qs)
		return NULL;
	while (guidmap_next(qs->requesters, &pos, NULL, &requester))
		free(requester);
	guidmap_free(qs->requesters);
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

static struct requester *requester_of(const struct sa_query *q)
{
	return guidmap_get(q->sa->queries->requesters, lid_of(q));
}

/*
 * The more queries of a requester wait, the fewer rows are looked at for it at once; a look-up by
 * key still fits.
 */
uint32_t queries_rows_at_once(const struct sa_query *q)
{
	const struct requester *a = requester_of(q);
	uint32_t most = q->sa->limits.rows_at_once;

	return a ? MAX(most / (1 + a->n), MIN(most, ROWS_BY_KEY)) : most;
}

static struct requester *new_requester(struct queries *qs, lid_t lid)
{
	struct requester *a = xcalloc(1, sizeof(*a));

	a->lid = lid;
	STAILQ_INIT(&a->runnable);
	guidmap_put(qs->requesters, lid, a);
	return a;
}

/* Bytes of tables that may not have been acknowledged yet. */
static size_t on_its_way(const struct sa *sa, const struct requester *a)
{
	return a && sa->now - a->sent_since < sa->limits.sent_window ? a->sent : 0;
}

static bool may_send(const struct sa *sa, const struct requester *a, size_t bytes)
{
	size_t before = on_its_way(sa, a);

	return !before || before + bytes <= sa->limits.sent_bytes_each;
}

bool queries_may_send(struct sa_query *q, size_t bytes)
{
	struct sa *sa = q->sa;
	struct requester *a = requester_of(q);

	if (!may_send(sa, a, bytes))
		return false;
	if (!a)
		a = new_requester(sa->queries, lid_of(q));
	a->sent = on_its_way(sa, a);
	if (!a->sent)
		a->sent_since = sa->now;
	a->sent += bytes;
	return true;
}

static bool may_be_big(struct sa_query *q)
{
	const struct sa_limits *limits = &q->sa->limits;
	struct requester *a = requester_of(q);

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

enum sa_shortage queries_grow(struct sa_query *q, size_t cap)
{
	const struct sa_limits *limits = &q->sa->limits;
	struct queries *qs = q->sa->queries;
	size_t held = q->out_heap ? q->out_cap : 0;
	uint8_t *out;

	/* One row more than the longest answer: a row that does not match needs a place, too. */
	cap = MIN(cap, limits->answer_bytes + sa_type_stride(q->type));
	if (cap < q->out_len + sa_type_stride(q->type))
		return SA_SHORT_ANSWER;
	if (qs->bytes + cap - held > room_for(limits, cap))
		return SA_SHORT_ANSWERS;
	if (cap > limits->big_bytes && !may_be_big(q))
		return SA_SHORT_LONG_ANSWERS;
	if (q->out_len > MAD_SIZE && !may_send(q->sa, requester_of(q), q->out_len))
		return SA_SHORT_SENT;
	out = realloc(q->out_heap ? q->out : NULL, cap);
	if (!out)
		return SA_SHORT_MEMORY;
	if (!q->out_heap)
		memcpy(out, q->out, q->out_len);
	q->out = out;
	q->out_heap = true;
	q->out_cap = cap;
	qs->bytes += cap - held;
	return SA_ENOUGH;
}

void queries_give_back(struct sa *sa, size_t bytes)
{
	sa->queries->bytes -= bytes;
}

/* ---- lists ---- */

static void make_runnable(struct queries *qs, struct requester *a, struct sa_query *q)
{
	if (STAILQ_EMPTY(&a->runnable))
		STAILQ_INSERT_TAIL(&qs->turns, a, turn);
	STAILQ_INSERT_TAIL(&a->runnable, q, next);
}

/* The next query to run, taken out of its lists; its requester goes behind the others. */
static struct sa_query *take_next(struct queries *qs, struct requester **ret_requester)
{
	struct requester *a = STAILQ_FIRST(&qs->turns);
	struct sa_query *q = STAILQ_FIRST(&a->runnable);

	STAILQ_REMOVE_HEAD(&qs->turns, turn);
	STAILQ_REMOVE_HEAD(&a->runnable, next);
	if (!STAILQ_EMPTY(&a->runnable))
		STAILQ_INSERT_TAIL(&qs->turns, a, turn);
	*ret_requester = a;
	return q;
}

/* Requesters with tables on their way stay: there are no more of them than LIDs. */
static void end_query(struct requester *a, struct sa_query *q)
{
	struct sa *sa = q->sa;

	a->n--;
	if (q->big)
		a->big--;
	sa->stats.queries--;
	query_release(q);
	free(q);
	if (a->n || on_its_way(sa, a))
		return;
	guidmap_remove(sa->queries->requesters, a->lid);
	free(a);
}

static void keep_on(struct queries *qs, struct requester *a, struct sa_query *q)
{
	if (q->cookie)
		guidmap_put(qs->waiting, q->cookie, q);
	else
		make_runnable(qs, a, q);
}

static struct sa_query *move_to_heap(const struct sa_query *from)
{
	size_t len = MAX(from->rq.data_len, (size_t)SA_DATA_SIZE);
	struct sa_query *q = xmemdup(from, sizeof(*from));

	q->rq.data = xmemdup(from->rq.data, len);
	q->view = view_ref(from->view);
	q->on_heap = true;
	return q;
}

/* NULL: there is room for one more. The last eighth is for requesters without a waiting query. */
static const struct sa_why *no_room(const struct sa *sa, const struct requester *a)
{
	const struct sa_limits *limits = &sa->limits;
	uint32_t reserve = a && a->n ? limits->queries / 8 : 0;

	if (a && a->n >= limits->queries_each)
		return SA_WHY(
			"too_many_queries_of_port",
			"it asks too much at once: its port has reached sa_max_queries_per_port");
	if (sa->stats.queries >= limits->queries - reserve)
		return SA_WHY("too_many_queries",
			      "too much is asked by all ports: sa_max_queries is reached");
	return NULL;
}

void queries_keep(struct sa_query *on_stack)
{
	struct sa *sa = on_stack->sa;
	struct queries *qs = sa->queries;
	struct requester *a = requester_of(on_stack);
	size_t cap = MAX(on_stack->out_len + sa_type_stride(on_stack->type), QUERY_SCRATCH);
	const struct sa_why *why = no_room(sa, a);
	struct sa_query *q;

	if (why) {
		sa_drop(sa, &on_stack->rq, why);
		query_release(on_stack);
		return;
	}
	if (!on_stack->out_heap)
		on_stack->shortage = queries_grow(on_stack, cap);
	if (on_stack->shortage) {
		query_answer(on_stack);
		query_release(on_stack);
		return;
	}
	if (!a)
		a = new_requester(qs, lid_of(on_stack));
	q = move_to_heap(on_stack);
	a->n++;
	if (q->big)
		a->big++;
	sa->stats.queries++;
	keep_on(qs, a, q);
}

static bool is_of_old(const struct sa_query *q)
{
	return q->sa->published - q->view_no > q->sa->limits.views;
}

/*
 * Why a query cannot go on; NULL: it can. One that is stale is begun anew; one that was too often
 * is told so, and its requester asks again.
 */
static const struct sa_why *cannot_go_on(struct sa_query *q)
{
	if (is_of_old(q))
		return SA_WHY("outdated", "the fabric has changed too often since it was asked");
	if (q->stale && !query_begin_anew(q))
		return SA_WHY("moved", "its port has moved since it was asked");
	if (q->n_begun > BEGUN_MOST) {
		q->status = SA_NO_RESOURCES;
		q->shortage = SA_SHORT_TURNS;
	}
	return NULL;
}

/* A turn of one query, of `turn` rows at most; returns how many it took. */
static uint32_t run_turn(struct queries *qs, struct requester *a, struct sa_query *q, uint32_t turn)
{
	const struct sa_why *why = cannot_go_on(q);
	uint32_t rows = turn;

	if (why) {
		sa_drop(q->sa, &q->rq, why);
		end_query(a, q);
		return 1;
	}
	if (q->status || query_run(q, &rows) == QUERY_DONE) {
		query_answer(q);
		end_query(a, q);
	} else {
		keep_on(qs, a, q);
	}
	return MAX(turn - rows, 1u);
}

bool queries_dispatch(struct sa *sa, mono_t now)
{
	struct queries *qs = sa->queries;
	uint32_t left = sa->limits.rows_a_slice;

	while (left && !STAILQ_EMPTY(&qs->turns)) {
		struct requester *a;
		struct sa_query *q = take_next(qs, &a);

		qs->delay = now - q->last_turn;
		q->last_turn = now;
		left -= run_turn(qs, a, q, MIN(left, sa->limits.rows_a_turn));
	}
	if (!sa->stats.queries)
		qs->delay = 0;
	return !STAILQ_EMPTY(&qs->turns);
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
	make_runnable(qs, requester_of(q), q);
}

void queries_drop_all(struct sa *sa)
{
	struct queries *qs = sa->queries;
	struct requester *a;
	struct sa_query *q;
	guid_t cookie;

	for (size_t pos = 0; guidmap_next(qs->waiting, &pos, &cookie, NULL); pos = 0)
		queries_cell(sa, cookie, NULL);
	while (!STAILQ_EMPTY(&qs->turns)) {
		q = take_next(qs, &a);
		end_query(a, q);
	}
}

/* ---- partitions ---- */

/*
 * What was lost since a view. Nearly all queries are in the view before; the others in those of the
 * last sweeps: as many as limits.views, and a few that wait for a device.
 */
#define VIEWS_BEFORE 8

struct lost_since {
	const struct view *view;
	bool any;
	struct view_losses of;
};

struct lost_rights {
	struct lost_since since[VIEWS_BEFORE];
	unsigned n;
};

/* NULL: of too many views; what was lost since this one is not known. */
static const struct lost_since *lost_since(struct lost_rights *lost, const struct view *before,
					   const struct view *now)
{
	struct lost_since *s;

	for (unsigned i = 0; i < lost->n; i++)
		if (lost->since[i].view == before)
			return &lost->since[i];
	if (lost->n == VIEWS_BEFORE)
		return NULL;
	s = &lost->since[lost->n++];
	s->view = before;
	s->any = view_lost_pkeys(before, now, &s->of);
	return s;
}

/*
 * May it have gathered a row that it would not gather now? A row is by a partition that its
 * requester shares with a port, and by no other of that port; one about a pair of ports is by what
 * these share with each other as well, and is shown if the requester sees both.
 */
static bool is_affected(const struct sa_query *q, const struct lost_since *s)
{
	if (!s)
		return true;
	if (!s->any || (q->rq.trusted && !q->type->pairs))
		return false;
	return q->rq.trusted || view_port_lost(q->view, q->rq.port, q->sa->view) ||
	       view_reaches(q->view, q->rq.port, q->type->pairs ? &s->of.held : &s->of.lost);
}

static void renew_view(struct sa_query *q, struct lost_rights *lost)
{
	if (q->rq.whole || q->stale || q->view == q->sa->view)
		return;
	q->stale = is_affected(q, lost_since(lost, q->view, q->sa->view));
	/* In another view of the fabric a query that is not affected goes on in its own. */
	if (q->stale || q->view->ports != q->sa->view->ports)
		return;
	view_unref(q->view);
	q->view = view_ref(q->sa->view);
	q->seen_set = NULL;
}

void queries_pkeys_changed(struct sa *sa)
{
	struct queries *qs = sa->queries;
	_cleanup_free_ struct lost_rights *lost = NULL;
	struct requester *a;
	struct sa_query *q;
	void *waiting;

	if (!sa->stats.queries)
		return;
	lost = xcalloc(1, sizeof(*lost));
	STAILQ_FOREACH(a, &qs->turns, turn)
	STAILQ_FOREACH(q, &a->runnable, next)
	renew_view(q, lost);
	for (size_t pos = 0; guidmap_next(qs->waiting, &pos, NULL, &waiting);)
		renew_view(waiting, lost);
}
