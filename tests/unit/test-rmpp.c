// SPDX-License-Identifier: BSD-2-Clause
/*
 * Long messages: a transport at one end, and at the other a program without RMPP in its MAD layer,
 * which sees and sends every segment by itself; or transports at both ends and losses between.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "ib/records.h"
#include "sim/agent.h"
#include "sim/rmpp.h"
#include "tests/unit/sim-probe.h"

#define RAW_QP	77
#define RAW_MAX 256

struct fixture {
	struct netfile *net;
	struct sim *sim;
	struct probe sa;	  /* h0 */
	struct transport *client; /* h1, RMPP by its MAD layer */
	struct agent *raw;	  /* h2, RMPP by hand */
	struct transport_event seen[RAW_MAX];
	unsigned n_seen;
};

static void on_raw(void *owner, struct transport_event *ev)
{
	struct fixture *f = owner;

	assert_null(ev->whole);
	assert_true(f->n_seen < RAW_MAX);
	f->seen[f->n_seen++] = *ev;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct agent_spec raw = { .qp = RAW_QP, .deliver = on_raw, .owner = f };

	f->net = gen_single(3);
	f->sim = sim_new(f->net, 1);
	f->sa = probe_open(f->sim, "h0", 1);
	probe_bring_up(&f->sa);
	f->client = sim_attach(f->sim, "h1", 1);
	assert_int_equal(agent_open(f->sim, sim_find(f->sim, "h2"), 1, &raw, &f->raw), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	agent_close(f->raw);
	probe_close(&f->sa);
	sim_free(f->sim);
	netfile_free(f->net);
	free(f);
	return 0;
}

/* A message of the SA class: header, then bytes that tell their place. */
static uint8_t *message(uint8_t method, uint64_t tid, size_t data)
{
	uint8_t *m = xcalloc(1, MAX(SA_DATA + data, (size_t)MAD_SIZE));

	ib_put(m, SAH_BASE_VERSION, 1);
	ib_put(m, SAH_CLASS, MAD_CLASS_SA);
	ib_put(m, SAH_CLASS_VERSION, 2);
	ib_put(m, SAH_METHOD, method);
	ib_put(m, SAH_TID, tid);
	ib_put(m, SAH_ATTR_ID, SA_NODE_RECORD);
	ib_put(m, SAH_ATTR_OFFSET, 14);
	ib_put(m, SAH_RMPP_FLAGS, RMPP_ACTIVE);
	for (size_t i = 0; i < data; i++)
		m[SA_DATA + i] = (uint8_t)(i * 7 + i / 200);
	return m;
}

static struct transport_addr to_node(struct fixture *f, const char *id, uint32_t qp)
{
	return (struct transport_addr){ .lid = probe_lid_of(sim_find(f->sim, id)),
					.qp = qp,
					.qkey = MAD_QP1_QKEY };
}

static void run_for(struct fixture *f, mono_t t)
{
	sim_advance(f->sim, sim_now(f->sim) + t);
}

static void run(struct fixture *f)
{
	run_for(f, MONO_MS);
}

/* Asks a question that has no RMPP in it, as saquery does. */
static void ask(struct transport *tr, const struct transport_addr *to, uint32_t tid,
		unsigned timeout_ms)
{
	_cleanup_free_ uint8_t *m = message(MAD_SA_GET_TABLE, tid, 0);

	ib_put(m, SAH_RMPP_FLAGS, 0);
	assert_int_equal(transport_send(tr, to, m, MAD_SIZE, timeout_ms), 0);
}

/* The next event of the SA is this question; where the answer goes. */
static uint64_t get_asked(struct fixture *f, struct transport_addr *ret)
{
	struct transport_event ev;

	assert_int_equal(transport_receive(f->sa.tr, &ev), 1);
	assert_int_equal(ev.kind, TRANSPORT_MAD);
	assert_int_equal(ib_get(ev.mad, SAH_METHOD), MAD_SA_GET_TABLE);
	*ret = ev.from;
	ret->qkey = MAD_QP1_QKEY;
	return ib_get(ev.mad, SAH_TID);
}

static void answer(struct fixture *f, const struct transport_addr *to, uint64_t tid, size_t data)
{
	_cleanup_free_ uint8_t *m = message(MAD_SA_GET_TABLE | MAD_RESPONSE_BIT, tid, data);

	assert_int_equal(transport_send(f->sa.tr, to, m, SA_DATA + data, 0), 0);
}

static void assert_message(struct transport_event *ev, size_t data)
{
	_cleanup_free_ uint8_t *want = message(MAD_SA_GET_TABLE, 0, data);
	const uint8_t *got = ev->whole ? ev->whole : ev->mad;

	assert_int_equal(ev->kind, TRANSPORT_MAD);
	assert_int_equal(ev->length, SA_DATA + data);
	assert_true(!ev->whole == (ev->length <= MAD_SIZE));
	assert_memory_equal(got + SA_DATA, want + SA_DATA, data);
	free(ev->whole);
	ev->whole = NULL;
}

/* One question, one answer of this size, from transport to transport. */
static void exchange(struct fixture *f, size_t data)
{
	struct transport_addr to = to_node(f, "h0", 1);
	struct transport_event ev;
	uint64_t tid;

	ask(f->client, &to, 5, 200000);
	run(f);
	tid = get_asked(f, &to);
	answer(f, &to, tid, data);
	run_for(f, 90 * MONO_S);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ib_get(ev.mad, SAH_TID), 5);
	assert_message(&ev, data);
	assert_int_equal(transport_receive(f->client, &ev), 0);
}

static void tables_of_all_sizes_arrive_whole(void **state)
{
	static const size_t sizes[] = { 0,   1,	  112,	    199,	  200,	  201,
					400, 401, 200 * 65, 200 * 66 + 1, 5000000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange(*state, sizes[i]);
}

/* ---- what the sender sends, seen segment by segment ---- */

/* h2 asks the SA from its own queue pair; the SA answers with `data` bytes. The TID of it all. */
static uint64_t answer_to_raw(struct fixture *f, size_t data)
{
	struct transport_addr to = to_node(f, "h0", 1);
	_cleanup_free_ uint8_t *m = message(MAD_SA_GET_TABLE, 5, 0);
	uint64_t tid;

	ib_put(m, SAH_RMPP_FLAGS, 0);
	assert_int_equal(agent_send(f->raw, &to, m, MAD_SIZE, 0, 0), 0);
	run(f);
	tid = get_asked(f, &to);
	assert_int_equal(to.qp, RAW_QP);
	answer(f, &to, tid, data);
	run(f);
	return tid;
}

static void assert_segment(const struct fixture *f, unsigned i, unsigned flags, uint32_t number,
			   uint32_t payload)
{
	_cleanup_free_ uint8_t *want = message(MAD_SA_GET_TABLE, 0, 1000);
	const uint8_t *mad = f->seen[i].mad;

	assert_true(i < f->n_seen);
	assert_int_equal(f->seen[i].length, MAD_SIZE);
	assert_int_equal(ib_get(mad, SAH_METHOD), MAD_SA_GET_TABLE | MAD_RESPONSE_BIT);
	assert_int_equal(ib_get(mad, SAH_RMPP_VERSION), 1);
	assert_int_equal(ib_get(mad, SAH_RMPP_TYPE), RMPP_DATA);
	assert_int_equal(ib_get(mad, SAH_RMPP_FLAGS), flags);
	assert_int_equal(ib_get(mad, SAH_RMPP_STATUS), 0);
	assert_int_equal(ib_get(mad, SAH_RMPP_SEGMENT), number);
	assert_int_equal(ib_get(mad, SAH_RMPP_LENGTH), payload);
	assert_int_equal(ib_get(mad, SAH_ATTR_OFFSET), 14);
	assert_memory_equal(mad + SA_DATA, want + SA_DATA + (number - 1) * 200,
			    flags & RMPP_LAST ? payload - 20 : 200);
}

/*
 * A MAD of h2 about the message with this TID, in the other direction if `method` is that of a
 * request.
 */
static void raw_sends(struct fixture *f, uint64_t tid, const uint8_t fields[MAD_SIZE])
{
	struct transport_addr to = to_node(f, "h0", 1);
	_cleanup_free_ uint8_t *m = message(MAD_SA_GET_TABLE, tid, 0);

	ib_put(m, SAH_RMPP_VERSION, ib_get(fields, SAH_RMPP_VERSION));
	ib_put(m, SAH_RMPP_TYPE, ib_get(fields, SAH_RMPP_TYPE));
	ib_put(m, SAH_RMPP_STATUS, ib_get(fields, SAH_RMPP_STATUS));
	ib_put(m, SAH_RMPP_SEGMENT, ib_get(fields, SAH_RMPP_SEGMENT));
	ib_put(m, SAH_RMPP_LENGTH, ib_get(fields, SAH_RMPP_LENGTH));
	assert_int_equal(agent_send(f->raw, &to, m, MAD_SIZE, 0, 0), 0);
	run(f);
}

static void raw_acks(struct fixture *f, uint64_t tid, uint32_t number, uint32_t window)
{
	uint8_t fields[MAD_SIZE] = { 0 };

	ib_put(fields, SAH_RMPP_VERSION, 1);
	ib_put(fields, SAH_RMPP_TYPE, RMPP_ACK);
	ib_put(fields, SAH_RMPP_SEGMENT, number);
	ib_put(fields, SAH_RMPP_LENGTH, window);
	raw_sends(f, tid, fields);
}

static void segments_are_those_of_the_kernel(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = answer_to_raw(f, 500);

	assert_int_equal(f->n_seen, 1);
	assert_segment(f, 0, RMPP_ACTIVE | RMPP_FIRST, 1, 3 * 220 - 100);
	raw_acks(f, tid, 1, 2);
	assert_int_equal(f->n_seen, 2);
	assert_segment(f, 1, RMPP_ACTIVE, 2, 0);
	raw_acks(f, tid, 2, 10);
	assert_int_equal(f->n_seen, 3);
	assert_segment(f, 2, RMPP_ACTIVE | RMPP_LAST, 3, 220 - 100);
	for (unsigned i = 100; i < 200; i++)
		assert_int_equal(f->seen[2].mad[SA_DATA + i], 0);
	raw_acks(f, tid, 3, 10);
	run_for(f, 20 * MONO_S);
	assert_int_equal(f->n_seen, 3);
}

static void one_segment_is_first_and_last(void **state)
{
	struct fixture *f = *state;

	answer_to_raw(f, 112);
	assert_segment(f, 0, RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST, 1, 132);
}

static void without_acknowledgement_it_is_sent_again_and_given_up(void **state)
{
	struct fixture *f = *state;
	struct transport_event ev;

	answer_to_raw(f, 500);
	run_for(f, 1990 * MONO_MS);
	assert_int_equal(f->n_seen, 1);
	run_for(f, 20 * MONO_MS);
	assert_int_equal(f->n_seen, 2);
	assert_segment(f, 1, RMPP_ACTIVE | RMPP_FIRST, 1, 560);
	run_for(f, 60 * MONO_S);
	assert_int_equal(f->n_seen, 4); /* three more tries */
	assert_int_equal(transport_receive(f->sa.tr, &ev), 0);
}

static void lost_segment_is_sent_again_from_the_last_acknowledged(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = answer_to_raw(f, 500);

	raw_acks(f, tid, 1, 3);
	assert_int_equal(f->n_seen, 3);
	raw_acks(f, tid, 2, 3);
	run_for(f, 2100 * MONO_MS);
	assert_int_equal(f->n_seen, 4);
	assert_segment(f, 3, RMPP_ACTIVE | RMPP_LAST, 3, 120);
}

/*
 * The answer to the MAD that h2 sent last is an ABORT with this status, and nothing else comes any
 * more.
 */
static void assert_aborted(struct fixture *f, enum rmpp_status status)
{
	const uint8_t *mad = f->seen[f->n_seen - 1].mad;
	unsigned n = f->n_seen;

	assert_int_equal(ib_get(mad, SAH_RMPP_TYPE), RMPP_ABORT);
	assert_int_equal(ib_get(mad, SAH_RMPP_STATUS), status);
	assert_int_equal(ib_get(mad, SAH_RMPP_VERSION), 1);
	run_for(f, 20 * MONO_S);
	assert_int_equal(f->n_seen, n);
	f->n_seen = 0;
}

static void nonsense_ends_the_sending(void **state)
{
	struct fixture *f = *state;
	uint8_t fields[MAD_SIZE] = { 0 };

	raw_acks(f, answer_to_raw(f, 500), 2, 5);
	assert_aborted(f, RMPP_SEGMENT_TOO_BIG);
	raw_acks(f, answer_to_raw(f, 500), 1, 0);
	assert_aborted(f, RMPP_WINDOW_TOO_SMALL);
	ib_put(fields, SAH_RMPP_VERSION, 1);
	ib_put(fields, SAH_RMPP_TYPE, 9);
	raw_sends(f, answer_to_raw(f, 500), fields);
	assert_aborted(f, RMPP_BAD_TYPE);
	ib_put(fields, SAH_RMPP_VERSION, 2);
	raw_sends(f, answer_to_raw(f, 500), fields);
	assert_aborted(f, RMPP_BAD_VERSION);
	ib_put(fields, SAH_RMPP_VERSION, 1);
	ib_put(fields, SAH_RMPP_TYPE, RMPP_ACK);
	ib_put(fields, SAH_RMPP_STATUS, 5);
	raw_sends(f, answer_to_raw(f, 500), fields);
	assert_aborted(f, RMPP_BAD_STATUS);
}

static void stop_and_abort_end_the_sending(void **state)
{
	struct fixture *f = *state;
	uint8_t fields[MAD_SIZE] = { 0 };

	ib_put(fields, SAH_RMPP_VERSION, 1);
	for (unsigned type = RMPP_STOP; type <= RMPP_ABORT; type++) {
		f->n_seen = 0;
		ib_put(fields, SAH_RMPP_TYPE, type);
		ib_put(fields, SAH_RMPP_STATUS,
		       type == RMPP_STOP ? RMPP_NO_RESOURCES : RMPP_TOO_MANY_RETRIES);
		raw_sends(f, answer_to_raw(f, 500), fields);
		run_for(f, 20 * MONO_S);
		assert_int_equal(f->n_seen, 1);
	}
}

static void an_answer_under_way_is_not_sent_twice(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = answer_to_raw(f, 500);
	struct transport_addr to = to_node(f, "h2", RAW_QP);
	_cleanup_free_ uint8_t *m = message(MAD_SA_GET_TABLE | MAD_RESPONSE_BIT, tid, 500);

	assert_int_equal(transport_send(f->sa.tr, &to, m, SA_DATA + 500, 0), -EINVAL);
}

/* ---- what the receiver answers ---- */

/* The client asks h2, which sends segments by hand; its TID as h2 sees it. */
static uint64_t client_asks_raw(struct fixture *f, unsigned timeout_ms)
{
	struct transport_addr to = to_node(f, "h2", RAW_QP);

	ask(f->client, &to, 6, timeout_ms);
	run(f);
	assert_int_equal(f->n_seen, 1);
	f->n_seen = 0;
	return ib_get(f->seen[0].mad, SAH_TID);
}

static void raw_segment(struct fixture *f, uint64_t tid, unsigned flags, uint32_t number,
			uint32_t payload)
{
	struct transport_addr to = to_node(f, "h1", 1);
	_cleanup_free_ uint8_t *all = message(MAD_SA_GET_TABLE | MAD_RESPONSE_BIT, tid, 1000);
	uint8_t mad[MAD_SIZE];

	memcpy(mad, all, MAD_SIZE);
	memcpy(mad + SA_DATA, all + SA_DATA + (number - 1) * 200, 200);
	ib_put(mad, SAH_RMPP_VERSION, 1);
	ib_put(mad, SAH_RMPP_TYPE, RMPP_DATA);
	ib_put(mad, SAH_RMPP_FLAGS, RMPP_ACTIVE | flags);
	ib_put(mad, SAH_RMPP_SEGMENT, number);
	ib_put(mad, SAH_RMPP_LENGTH, payload);
	assert_int_equal(agent_send(f->raw, &to, mad, MAD_SIZE, 0, 0), 0);
	run(f);
}

/* The last thing h2 got is this acknowledgement, and it is the n-th. */
static void assert_acked(const struct fixture *f, unsigned n, uint32_t number, uint32_t window)
{
	const uint8_t *mad = f->seen[n - 1].mad;

	assert_int_equal(f->n_seen, n);
	assert_int_equal(ib_get(mad, SAH_METHOD), MAD_SA_GET_TABLE); /* turned round */
	assert_int_equal(ib_get(mad, SAH_RMPP_TYPE), RMPP_ACK);
	assert_int_equal(ib_get(mad, SAH_RMPP_FLAGS), RMPP_ACTIVE);
	assert_int_equal(ib_get(mad, SAH_RMPP_SEGMENT), number);
	assert_int_equal(ib_get(mad, SAH_RMPP_LENGTH), window);
	for (unsigned i = SA_DATA; i < MAD_SIZE; i++)
		assert_int_equal(mad[i], 0);
}

static void segments_in_any_order_make_the_message(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = client_asks_raw(f, 60000);
	struct transport_event ev;

	raw_segment(f, tid, RMPP_FIRST, 1, 0);
	assert_acked(f, 1, 1, 65);
	raw_segment(f, tid, 0, 3, 0);
	raw_segment(f, tid, RMPP_LAST, 4, 120);
	assert_int_equal(f->n_seen, 1);
	raw_segment(f, tid, RMPP_FIRST, 1, 0); /* again */
	assert_acked(f, 2, 1, 65);
	assert_int_equal(transport_receive(f->client, &ev), 0);
	raw_segment(f, tid, 0, 2, 0);
	assert_acked(f, 3, 4, 65);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ib_get(ev.mad, SAH_TID), 6);
	assert_message(&ev, 700);
	raw_segment(f, tid, RMPP_LAST, 4, 120); /* its acknowledgement was lost */
	assert_acked(f, 4, 4, 65);
	assert_int_equal(transport_receive(f->client, &ev), 0);
}

static void segment_beyond_the_window_is_ignored(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = client_asks_raw(f, 60000);

	raw_segment(f, tid, 0, 2, 0); /* of a message that has not begun */
	assert_int_equal(f->n_seen, 0);
	raw_segment(f, tid, RMPP_FIRST, 1, 0);
	assert_acked(f, 1, 1, 65);
}

static void first_flag_belongs_to_segment_one(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = client_asks_raw(f, 60000);

	raw_segment(f, tid, 0, 1, 0);
	assert_int_equal(ib_get(f->seen[0].mad, SAH_RMPP_STATUS), RMPP_BAD_SEGMENT);
	raw_segment(f, tid, RMPP_FIRST, 2, 0);
	assert_int_equal(f->n_seen, 2);
	assert_int_equal(ib_get(f->seen[1].mad, SAH_RMPP_TYPE), RMPP_ABORT);
}

static void message_that_stops_is_aborted_after_40_seconds(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = client_asks_raw(f, 5000);
	struct transport_event ev;

	raw_segment(f, tid, RMPP_FIRST, 1, 0);
	run_for(f, 5 * MONO_S);
	assert_int_equal(transport_receive(f->client, &ev), 1); /* the question is not so patient */
	assert_int_equal(ev.kind, TRANSPORT_RETURNED);
	run_for(f, 34 * MONO_S);
	assert_int_equal(f->n_seen, 1);
	run_for(f, 2 * MONO_S);
	assert_int_equal(f->n_seen, 2);
	assert_int_equal(ib_get(f->seen[1].mad, SAH_RMPP_TYPE), RMPP_ABORT);
	assert_int_equal(ib_get(f->seen[1].mad, SAH_RMPP_STATUS), RMPP_TIME_TOO_LONG);
	raw_segment(f, tid, RMPP_LAST, 2, 120);
	assert_int_equal(f->n_seen, 2);
}

static void answer_nobody_waits_for_is_acknowledged_and_dropped(void **state)
{
	struct fixture *f = *state;
	uint64_t tid = client_asks_raw(f, 10);
	struct transport_event ev;

	run_for(f, MONO_S);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	raw_segment(f, tid, RMPP_FIRST, 1, 0);
	raw_segment(f, tid, RMPP_LAST, 2, 120);
	assert_acked(f, 2, 2, 65);
	assert_int_equal(transport_receive(f->client, &ev), 0);
}

/* ---- both ways ---- */

static void question_of_several_segments(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h0", 1);
	_cleanup_free_ uint8_t *m = message(MAD_SA_GET_MULTI, 8, 500);
	struct transport_event ev;
	uint64_t tid;

	assert_int_equal(transport_send(f->client, &to, m, SA_DATA + 500, 5000), 0);
	run(f);
	assert_int_equal(transport_receive(f->sa.tr, &ev), 1);
	assert_int_equal(ib_get(ev.mad, SAH_METHOD), MAD_SA_GET_MULTI);
	tid = ib_get(ev.mad, SAH_TID);
	assert_message(&ev, 500);
	to = ev.from;
	to.qkey = MAD_QP1_QKEY;
	ib_put(m, SAH_METHOD, MAD_SA_GET_MULTI | MAD_RESPONSE_BIT);
	ib_put(m, SAH_TID, tid);
	assert_int_equal(transport_send(f->sa.tr, &to, m, SA_DATA + 500, 0), 0);
	run(f);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ev.kind, TRANSPORT_MAD);
	assert_int_equal(ib_get(ev.mad, SAH_TID), 8);
	assert_message(&ev, 500);
}

static void question_without_answer_comes_back(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h0", 1);
	_cleanup_free_ uint8_t *m = message(MAD_SA_GET_MULTI, 8, 500);
	struct transport_event ev;

	assert_int_equal(transport_send(f->client, &to, m, SA_DATA + 500, 1000), 0);
	run_for(f, 900 * MONO_MS);
	assert_int_equal(transport_receive(f->client, &ev), 0);
	run_for(f, 200 * MONO_MS);
	assert_int_equal(transport_receive(f->client, &ev), 1);
	assert_int_equal(ev.kind, TRANSPORT_RETURNED);
	assert_int_equal(ev.error, -ETIMEDOUT);
	assert_int_equal(ib_get(ev.mad, SAH_TID), 8);
	run_for(f, 60 * MONO_S);
	assert_int_equal(transport_receive(f->client, &ev), 0);
}

/*
 * Each segment and acknowledgement may be lost, doubled or overtaken; what arrives is what was
 * sent.
 */
static void tables_survive_losses(void **state)
{
	struct fixture *f = *state;

	sim_set_duplicates(f->sim, 5);
	sim_set_reorder(f->sim, 20, 50 * MONO_US);
	for (unsigned i = 0; i < 20; i++) {
		struct transport_addr to = to_node(f, "h0", 1);
		struct transport_event ev;
		uint64_t tid;

		sim_set_loss(f->sim, 0, 0);
		ask(f->client, &to, 5 + i, 200000);
		run(f);
		tid = get_asked(f, &to);
		while (transport_receive(f->sa.tr, &ev))
			; /* doubled questions */
		sim_set_loss(f->sim, 10, 10);
		answer(f, &to, tid, 20000 + i);
		run_for(f, 90 * MONO_S);
		assert_int_equal(transport_receive(f->client, &ev), 1);
		assert_message(&ev, 20000 + i);
		assert_int_equal(transport_receive(f->client, &ev), 0);
	}
}

static void closing_in_the_middle_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct transport_addr to = to_node(f, "h0", 1);
	uint64_t tid;

	ask(f->client, &to, 5, 1000);
	run(f);
	tid = get_asked(f, &to);
	answer(f, &to, tid, 1000000);
	sim_advance(f->sim, sim_now(f->sim) + 20 * MONO_US);
	f->client = transport_close(f->client);
	run_for(f, 60 * MONO_S);
	f->client = sim_attach(f->sim, "h1", 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tables_of_all_sizes_arrive_whole),
		TEST(segments_are_those_of_the_kernel),
		TEST(one_segment_is_first_and_last),
		TEST(without_acknowledgement_it_is_sent_again_and_given_up),
		TEST(lost_segment_is_sent_again_from_the_last_acknowledged),
		TEST(nonsense_ends_the_sending),
		TEST(stop_and_abort_end_the_sending),
		TEST(an_answer_under_way_is_not_sent_twice),
		TEST(segments_in_any_order_make_the_message),
		TEST(segment_beyond_the_window_is_ignored),
		TEST(first_flag_belongs_to_segment_one),
		TEST(message_that_stops_is_aborted_after_40_seconds),
		TEST(answer_nobody_waits_for_is_acknowledged_and_dropped),
		TEST(question_of_several_segments),
		TEST(question_without_answer_comes_back),
		TEST(tables_survive_losses),
		TEST(closing_in_the_middle_leaves_nothing),
	};

	return cmocka_run_group_tests_name("rmpp", tests, NULL, NULL);
}
