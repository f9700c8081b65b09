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
#include "libvendor/sim/agent.h"
#include "libvendor/sim/rmpp.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tables_of_all_sizes_arrive_whole, setup, teardown),
	};

	return cmocka_run_group_tests_name("rmpp", tests, NULL, NULL);
}
