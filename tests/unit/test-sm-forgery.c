// SPDX-License-Identifier: BSD-2-Clause
/* Answers that were not asked for: counted, and their sender named once, with its switch port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/sm_internal.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

struct world {
	struct rig *rig;
	struct conf *conf;
	struct sm *sm;
	unsigned errors, lines;
	char text[600]; /* of the last error */
	mono_t later;
};

static void on_log(void *arg, unsigned bits, const char *text)
{
	struct world *w = arg;

	w->lines++;
	if (!(bits & LOGB_ERROR))
		return;
	w->errors++;
	snprintf(w->text, sizeof(w->text), "%s", text);
}

static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 2, 1);
	struct world *w = xcalloc(1, sizeof(*w));
	int place;

	w->rig = rig_new(sim_new(net, 1));
	w->conf = conf_new();
	place = rig_start(w->rig, "h0", 0, w->conf, NULL);
	assert_true(place >= 0);
	w->sm = w->rig->sms[place].sm;
	rig_run(w->rig, 10 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_int_equal(mad_strays(sm_mad(w->sm))[MAD_STRAY_UNASKED], 0);
	log_set_flags(LOGB_ERROR | LOGB_VERBOSE);
	log_set_sink(on_log, w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	log_set_sink(NULL, NULL);
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
	return 0;
}

static lid_t lid_of(const struct world *w, const char *name)
{
	FABRIC_EACH_NODE(sm_fabric(w->sm), n) {
		if (!strcmp(n->desc, name))
			return n->ports[node_is_switch(n) ? 0 : 1].lid;
	}
	fail_msg("no %s", name);
	return 0;
}

/* `n` answers of `method` and class from `lid`. */
static void forge(struct world *w, lid_t lid, unsigned n)
{
	const struct transport_addr from = { .lid = lid, .qp = 1 };
	uint8_t mad[MAD_SIZE] = { 0 };

	ib_put(mad, SMP_CLASS, MAD_CLASS_SMI_LID);
	ib_put(mad, SMP_METHOD, MAD_GET_RESP);
	ib_put(mad, SMP_ATTR_ID, IB_ATTR_PORT_INFO);
	for (unsigned i = 0; i < n; i++)
		forgery_arrived(w->sm, MAD_STRAY_UNASKED, &from, mad,
				sim_now(w->rig->sim) + w->later);
}

static void a_few_are_no_event(void **state)
{
	struct world *w = *state;

	forge(w, lid_of(w, "h2"), FORGERY_MANY - 1);
	assert_int_equal(w->errors, 0);
	assert_in_range(w->lines, 1, 10);
}

static void many_are_one_event_that_names_the_switch_port(void **state)
{
	struct world *w = *state;

	forge(w, lid_of(w, "h2"), 100000);
	assert_int_equal(w->errors, 1);
	assert_non_null(strstr(w->text, "'h2'"));
	assert_non_null(strstr(w->text, "behind 'leaf"));
	assert_in_range(w->lines, 1, 20);
	w->later = FORGERY_QUIET / 2;
	forge(w, lid_of(w, "h2"), 100000);
	assert_int_equal(w->errors, 1);
	w->later = FORGERY_QUIET + MONO_S;
	forge(w, lid_of(w, "h2"), 100000);
	assert_int_equal(w->errors, 2);
}

static void a_few_in_each_window_are_none(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 10; i++) {
		forge(w, lid_of(w, "h2"), FORGERY_MANY / 2);
		w->later += FORGERY_WINDOW + MONO_S;
	}
	assert_int_equal(w->errors, 0);
}

/* However many senders there are: none is named for what another one sent. */
static void no_other_sender_is_named(void **state)
{
	struct world *w = *state;
	lid_t lid = lid_of(w, "h3");

	for (unsigned i = 0; i < FORGERY_MANY - 1; i++)
		forge(w, lid_of(w, "h2"), 1);
	for (unsigned i = 0; i < 1000; i++)
		forge(w, (lid_t)(1000 + i), 1);
	forge(w, lid, 1);
	assert_int_equal(w->errors, 0);
	forge(w, lid_of(w, "h2"), 1);
	assert_int_equal(w->errors, 1);
	assert_non_null(strstr(w->text, "'h2'"));
}

static void a_directed_route_is_a_claim(void **state)
{
	const struct transport_addr from = { .lid = LID_PERMISSIVE };
	struct world *w = *state;
	uint8_t mad[MAD_SIZE] = { 0 };
	uint64_t random = 5;

	ib_put(mad, SMP_CLASS, MAD_CLASS_SMI_DR);
	ib_put(mad, SMP_METHOD, MAD_GET_RESP);
	for (unsigned i = 0; i < 1000; i++) {
		ib_put(mad, SMP_HOP_COUNT, random_next(&random) & 0xFF);
		for (unsigned hop = 1; hop < 64; hop++)
			mad[SMP_INITIAL_PATH + hop] = (uint8_t)random_next(&random);
		forgery_arrived(w->sm, MAD_STRAY_ELSEWHERE, &from, mad, sim_now(w->rig->sim));
	}
	assert_int_equal(w->errors, 1);
	assert_non_null(strstr(w->text, "claims directed route 0,"));
	assert_non_null(strstr(w->text, "another host"));
}

static void a_lid_without_a_port_is_named_as_such(void **state)
{
	struct world *w = *state;

	forge(w, 4711, FORGERY_MANY);
	assert_int_equal(w->errors, 1);
	assert_non_null(strstr(w->text, "LID 4711, which no known port has"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_few_are_no_event),
		TEST(many_are_one_event_that_names_the_switch_port),
		TEST(a_few_in_each_window_are_none),
		TEST(no_other_sender_is_named),
		TEST(a_directed_route_is_a_claim),
		TEST(a_lid_without_a_port_is_named_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
