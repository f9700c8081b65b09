// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transaction engine under random faults: 100 000 requests to targets of which some are dead, a
 * transport that loses, repeats, delays, forges, forgets and refuses, and owners that submit and
 * cancel from inside completions. Each request ends exactly once. The seed is printed; TEST_SEED
 * repeats a run.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mad/mad.h"
#include "util/mem.h"

#define ROUNDS 10
#define ASKS_PER_ROUND 10000
#define MAX_QUEUED 1500
#define N_TARGETS 48
#define N_DEAD 3
#define N_FLAKY 15
#define N_OWNERS 5
#define MAX_SPIN 1000

struct dice {
	uint64_t x;
};

static uint32_t roll(struct dice *d, uint32_t n)
{
	d->x ^= d->x << 13;
	d->x ^= d->x >> 7;
	d->x ^= d->x << 17;
	return (uint32_t)(d->x >> 32) % n;
}

/* What comes in, by time: a binary heap. */
struct arrival {
	mono_t due;
	struct transport_event ev;
};

struct world;

struct owner {
	struct world *world;
};

struct ask {
	uint8_t ends, owner, target;
	bool answerable; /* a proper response was delivered for it */
};

struct world {
	struct transport base;
	struct dice dice;
	mono_t now;
	struct mad_engine *engine;
	struct mad_params params;
	struct arrival *heap;
	size_t n_heap, cap_heap;
	struct mad_target target[N_TARGETS];
	struct owner owner[N_OWNERS];
	struct ask ask[ASKS_PER_ROUND];
	unsigned n_asks, n_ended, ends[4];
	unsigned max_seen;
	unsigned max_pending; /* about */
	unsigned silent_after;
	bool submitting;
	uint32_t ids; /* the next one */
};

static bool later(const struct arrival *a, const struct arrival *b)
{
	return a->due > b->due;
}

static void swap(struct arrival *a, struct arrival *b)
{
	struct arrival t = *a;

	*a = *b;
	*b = t;
}

static void heap_push(struct world *w, mono_t due, const struct transport_event *ev)
{
	size_t i = w->n_heap++;

	GROW(w->heap, w->n_heap, w->cap_heap);
	w->heap[i] = (struct arrival){ due, *ev };
	for (; i && later(&w->heap[(i - 1) / 2], &w->heap[i]); i = (i - 1) / 2)
		swap(&w->heap[(i - 1) / 2], &w->heap[i]);
}

static void heap_pop(struct world *w)
{
	size_t i = 0;

	w->heap[0] = w->heap[--w->n_heap];
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < w->n_heap; child++)
			if (later(&w->heap[least], &w->heap[child]))
				least = child;
		if (least == i)
			return;
		swap(&w->heap[i], &w->heap[least]);
		i = least;
	}
}

/* The transport */

static void arrive(struct world *w, mono_t after, enum transport_kind kind, const uint8_t *mad)
{
	struct transport_event ev = { .kind = kind, .length = MAD_SIZE };

	ev.error = kind == TRANSPORT_RETURNED ? -ETIMEDOUT : 0;
	memcpy(ev.mad, mad, MAD_SIZE);
	heap_push(w, w->now + after, &ev);
}

static uint32_t ask_of(const uint8_t *mad)
{
	return ib_bits_get(smp_data(mad), 0, 32);
}

/* The response to `request`; the payload comes back as it went. */
static void respond(struct world *w, const uint8_t *request, mono_t after, uint16_t status)
{
	uint8_t mad[MAD_SIZE];

	memcpy(mad, request, MAD_SIZE);
	smp_make_response(mad, status, smp_data(request));
	ib_put(mad, SMP_TID, ib_get(mad, SMP_TID) | (uint64_t)roll(&w->dice, 1000) << 32);
	w->ask[ask_of(request)].answerable = true;
	arrive(w, after, TRANSPORT_MAD, mad);
}

static void forge(struct world *w, const uint8_t *request, mono_t after)
{
	static const struct {
		unsigned offset, width;
	} fields[] = {
		{ SMP_ATTR_ID, SMP_ATTR_ID_W }, { SMP_ATTR_MOD, SMP_ATTR_MOD_W },
		{ SMP_CLASS, SMP_CLASS_W }, { SMP_METHOD, SMP_METHOD_W },
	};
	unsigned f = roll(&w->dice, ARRAY_SIZE(fields));
	uint8_t mad[MAD_SIZE];

	memcpy(mad, request, MAD_SIZE);
	smp_make_response(mad, 0, NULL);
	memset(mad + SMP_DATA, 0xEE, SMP_DATA_SIZE);
	ib_bits_put(mad, fields[f].offset, fields[f].width,
		    ib_bits_get(mad, fields[f].offset, fields[f].width) ^ 1u << roll(&w->dice, 7));
	arrive(w, after, TRANSPORT_MAD, mad);
}

/* What becomes of a request that was sent. */
static void decide(struct world *w, const uint8_t *mad, mono_t timeout)
{
	mono_t soon = 1 + roll(&w->dice, 150 * MONO_MS);
	unsigned fate = roll(&w->dice, 100);

	if (w->ask[ask_of(mad)].target < N_DEAD)
		fate = 60 + fate % 20;
	else if (w->ask[ask_of(mad)].target >= N_DEAD + N_FLAKY && roll(&w->dice, 20))
		fate %= 55;
	if (fate < 50) {
		respond(w, mad, soon, roll(&w->dice, 20) ? 0 : MAD_STATUS_BAD_VALUE);
	} else if (fate < 55) {
		respond(w, mad, soon, 0);
		respond(w, mad, soon + roll(&w->dice, MONO_S), 0);
	} else if (fate < 60) {
		arrive(w, timeout, TRANSPORT_RETURNED, mad);
		respond(w, mad, timeout + roll(&w->dice, 400 * MONO_MS), 0);
	} else if (fate < 75) {
		arrive(w, timeout, TRANSPORT_RETURNED, mad);
	} else if (fate < 80) {
		return; /* lost, and forgotten too */
	} else if (fate < 83) {
		arrive(w, 0, TRANSPORT_RETURNED, mad);
	} else if (fate < 90) {
		forge(w, mad, soon);
	} else if (fate < 95) {
		forge(w, mad, soon / 2);
		respond(w, mad, soon, 0);
	} else {
		respond(w, mad, soon, 0);
		arrive(w, soon, TRANSPORT_RETURNED, mad);
	}
}

static unsigned wire_of_all(const struct world *w)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < N_TARGETS; i++)
		sum += w->target[i].on_wire;
	return sum;
}

static int world_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		      size_t length, unsigned timeout_ms)
{
	struct world *w = (struct world *)t;
	const struct mad_target *target = &w->target[w->ask[ask_of(mad)].target];
	unsigned chance = roll(&w->dice, 200), on_wire = wire_of_all(w);

	assert_false(w->submitting);
	assert_int_equal(w->ask[ask_of(mad)].ends, 0);
	assert_true(mad_on_wire(w->engine) < MAX(w->params.max_wire, w->params.max_wire2));
	assert_true(!w->params.per_target || target->on_wire < w->params.per_target);
	assert_true(!mad_target_silent(w->engine, target) || w->now >= target->rest_until);
	assert_true((uint32_t)ib_get(mad, SMP_TID) != 0);
	if (chance < 2)
		return chance ? -EINVAL : -EAGAIN;
	w->max_seen = MAX(w->max_seen, on_wire + 1);
	decide(w, mad, timeout_ms * MONO_MS);
	return 0;
}

static int world_receive(struct transport *t, struct transport_event *ret)
{
	struct world *w = (struct world *)t;

	if (!w->n_heap || w->heap[0].due > w->now)
		return 0;
	*ret = w->heap[0].ev;
	heap_pop(w);
	return 1;
}

static const struct transport_ops world_ops = { .send = world_send, .receive = world_receive };

/* The owners */

static void on_done(void *owner, const struct mad_result *result);

static bool on_wanted(void *owner, void *arg)
{
	struct world *w = ((struct owner *)owner)->world;

	return roll(&w->dice, 50) != 0;
}

/* Rarely one that rests, or the test would be about little else. */
static unsigned draw_target(struct world *w)
{
	unsigned i = roll(&w->dice, N_TARGETS);

	for (unsigned try = 0; try < 20 && w->target[i].failures && roll(&w->dice, 50); try++)
		i = roll(&w->dice, N_TARGETS);
	return i;
}

static struct mad_request draw_request(struct dice *d, const struct dr_path *path)
{
	struct mad_request rq = { .method = roll(d, 2) ? MAD_GET : MAD_SET };

	rq.attr = IB_ATTR_NODE_INFO + roll(d, 8);
	rq.mod = roll(d, 4);
	rq.path = roll(d, 8) ? path : NULL;
	rq.lid = 1 + roll(d, 100);
	rq.long_timeout = roll(d, 8) == 0;
	rq.wanted = roll(d, 2) ? on_wanted : NULL;
	return rq;
}

static void submit(struct world *w)
{
	uint8_t payload[SMP_DATA_SIZE] = { 0 };
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	unsigned i = w->n_asks;
	struct mad_request rq = draw_request(&w->dice, &path);
	bool before = w->submitting;

	if (i == ASKS_PER_ROUND)
		return;
	w->n_asks++;
	rq.payload = payload;
	w->ask[i].owner = roll(&w->dice, N_OWNERS);
	w->ask[i].target = draw_target(w);
	rq.target = &w->target[w->ask[i].target];
	ib_bits_put(payload, 0, 32, i);
	w->submitting = true;
	mad_submit(w->engine, &rq, on_done, &w->owner[w->ask[i].owner], &w->ask[i]);
	w->submitting = before;
}

static void act(struct world *w)
{
	unsigned chance = roll(&w->dice, 1000);

	if (chance < 300) {
		submit(w);
	} else if (chance < 306) {
		struct owner *owner = &w->owner[roll(&w->dice, N_OWNERS)];

		mad_cancel(w->engine, owner,
			   chance < 305 ? &w->target[roll(&w->dice, N_TARGETS)] : NULL);
	}
}

static void on_done(void *owner, const struct mad_result *result)
{
	struct world *w = ((struct owner *)owner)->world;
	struct ask *a = result->arg;

	assert_false(w->submitting);
	assert_ptr_equal(owner, &w->owner[a->owner]);
	assert_int_equal(a->ends++, 0);
	assert_int_equal(result->now, w->now);
	if (result->payload) {
		assert_true(a->answerable);
		assert_int_equal(ib_bits_get(result->payload, 0, 32), a - w->ask);
	}
	assert_int_equal(result->payload != NULL, result->end == MAD_END_ANSWERED ||
							  result->end == MAD_END_BAD_STATUS);
	w->n_ended++;
	w->ends[result->end]++;
	act(w);
}

/* The rounds */

/* One after the other: some that are on the wire, or were lately, come up again. */
static void draw_ids(void *arg, void *ret, size_t len)
{
	struct world *w = arg;

	for (size_t at = 0; at + sizeof(w->ids) <= len; at += sizeof(w->ids)) {
		w->ids = roll(&w->dice, 20) ? w->ids + 1 : w->ids - 30;
		memcpy((uint8_t *)ret + at, &w->ids, sizeof(w->ids));
	}
}

static void draw_params(struct world *w)
{
	struct dice *d = &w->dice;

	w->params =
		(struct mad_params){ .max_wire = 1 + roll(d, 40), .silent_after = w->silent_after };
	w->params.max_wire2 = roll(d, 60);
	w->params.stall = roll(d, 600) * MONO_MS;
	w->params.timeout_ms = 50 + roll(d, 200);
	w->params.long_timeout_ms = 300 + roll(d, 300);
	w->params.retries = roll(d, 5);
	w->params.per_target = roll(d, 4);
	w->ids = roll(d, UINT32_MAX);
	w->params.draw = (struct mad_draw){ draw_ids, w };
}

static void feed(struct world *w)
{
	while (w->n_asks < ASKS_PER_ROUND && mad_pending(w->engine) < MAX_QUEUED &&
	       roll(&w->dice, w->max_pending))
		submit(w);
}

/* The next moment at which something can happen; `spin` counts how often that was now. */
static void advance(struct world *w, unsigned *spin)
{
	mono_t next = mad_next(w->engine);

	if (w->n_heap)
		next = mono_min(next, w->heap[0].due);
	assert_true(next != MONO_NEVER || mad_pending(w->engine) == 0);
	*spin = next > w->now ? 0 : *spin + 1;
	assert_true(*spin < MAX_SPIN);
	w->now = next == MONO_NEVER ? w->now + roll(&w->dice, MONO_S) : MAX(w->now, next);
}

static void run_round(struct world *w)
{
	unsigned spin = 0, n;

	while (w->n_asks < ASKS_PER_ROUND || mad_pending(w->engine)) {
		feed(w);
		if (roll(&w->dice, 500) == 0) {
			unsigned on_wire = wire_of_all(w);

			draw_params(w); /* never fewer than are out, lest the checks in send fail */
			w->params.max_wire = MAX(w->params.max_wire, on_wire + 1);
			mad_set_params(w->engine, &w->params);
		}
		n = 1 + roll(&w->dice, 16);
		assert_true(mad_dispatch(w->engine, w->now, n) <= (int)n);
		advance(w, &spin);
	}
}

static void check_round(const struct world *w)
{
	assert_int_equal(w->n_asks, ASKS_PER_ROUND);
	assert_int_equal(w->n_ended, ASKS_PER_ROUND);
	assert_int_equal(wire_of_all(w), 0);
	for (unsigned i = 0; i < N_TARGETS; i++) {
		assert_null(w->target[i].members.first);
		assert_null(w->target[i].parked.first);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(w->ends); i++)
		assert_true(w->ends[i] > 0); /* the dice reached every end */
	assert_true(mad_strays(w->engine)[MAD_STRAY_LATE] > 0);
	assert_true(mad_strays(w->engine)[MAD_STRAY_MISMATCHED] > 0);
}

static void every_request_ends_exactly_once(void **state)
{
	const char *text = getenv("TEST_SEED");
	struct dice dice = { text ? strtoull(text, NULL, 0) : 0xD1CEull };

	print_message("TEST_SEED=0x%llx\n", (unsigned long long)dice.x);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct world *w = xcalloc(1, sizeof(*w));

		w->base.ops = &world_ops;
		w->now = MONO_S;
		w->dice.x = dice.x + round * 0x9E3779B97F4A7C15ull;
		for (unsigned i = 0; i < N_OWNERS; i++)
			w->owner[i].world = w;
		w->max_pending = 2 + roll(&w->dice, 6);
		w->silent_after = round % 3;
		draw_params(w);
		w->engine = mad_new(&w->base, &w->params);
		run_round(w);
		check_round(w);
		print_message("round %u: %u answered, %u bad status, %u timeouts, %u cancelled, "
			      "%u at most on the wire, %lld s\n", round, w->ends[0], w->ends[1],
			      w->ends[2], w->ends[3], w->max_seen, (long long)(w->now / MONO_S));
		mad_free(w->engine);
		free(w->heap);
		free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_ends_exactly_once),
	};

	return cmocka_run_group_tests_name("mad-faults", tests, NULL, NULL);
}
