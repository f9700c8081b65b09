// SPDX-License-Identifier: BSD-2-Clause
/*
 * A document of a large fabric on the control socket: while what it is made from is collected, the
 * event loop serves others, and callers and the manager may go.
 */
#include "control-talk.h"

#include "sim/gen/gen.h"

enum { TURNS_MOST = 200 };

static int start(void **state)
{
	static struct control_world world;

	*state = &world;
	/* 3,456 hosts on 720 switches: more than a turn has room for. */
	return cw_start_on(&world, gen_fat_tree3(24)) ? 0 : -1;
}

static int stop(void **state)
{
	cw_stop(*state);
	return 0;
}

/* It is sent; the loop has not seen it. */
static void call(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text) + 1, MSG_NOSIGNAL), strlen(text) + 1);
}

/* One event. False: nothing is left to do. */
static bool one_turn(struct control_world *w)
{
	return sd_event_run(w->event, 0) > 0;
}

static bool has_answer(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK) == 1;
}

/* The call was read, and the first part was collected. */
static void begin_collecting(struct control_world *w, int fd)
{
	call(fd, CALL("Topology", "{}"));
	for (unsigned i = 0; i < 2; i++)
		assert_true(one_turn(w));
	assert_int_equal(w->n_jobs, 0);
}

static void others_are_answered_between_turns(void **state)
{
	struct control_world *w = *state;
	int a = caller(w), b = caller(w);
	unsigned turns_before = 0, turns_after = 0;
	struct json_object *o;

	begin_collecting(w, a);
	call(b, CALL("GetPriority", "{}"));
	for (; !has_answer(b); turns_before++) {
		assert_true(turns_before < TURNS_MOST && one_turn(w));
		assert_int_equal(w->n_jobs, 0);
	}
	for (; !w->n_jobs; turns_after++)
		assert_true(turns_after < TURNS_MOST && one_turn(w));
	assert_true(turns_after > 1);
	o = hear(w, b);
	json_object_put(get(o, "parameters") ? o : NULL);
	assert_true(cw_work(w));
	cw_turn(w);
	assert_true(has_answer(a));
	close(a);
	close(b);
	cw_turn(w);
}

static void a_caller_that_goes_ends_its_collecting(void **state)
{
	struct control_world *w = *state;
	int a = caller(w), b = caller(w);

	begin_collecting(w, a);
	close(a);
	cw_turn(w);
	assert_int_equal(w->n_jobs, 0);
	call(b, CALL("Nodes", "{\"node\": \"h0\"}"));
	cw_turn(w);
	assert_int_equal(w->n_jobs, 1);
	assert_true(cw_work(w));
	json_object_put(hear(w, b));
	close(b);
	cw_turn(w);
}

static void a_manager_that_goes_ends_it_with_an_answer(void **state)
{
	struct control_world *w = *state;
	int a = caller(w), b = caller(w);
	struct json_object *o;

	begin_collecting(w, a);
	call(b, CALL("Topology", "{}"));
	assert_true(one_turn(w));
	cw_lose_port(w);
	o = hear(w, a);
	assert_non_null(o);
	assert_string_equal(str(o, "error"), "org.opensm.NotReady");
	json_object_put(o);
	o = hear(w, b);
	assert_non_null(o);
	assert_string_equal(str(o, "error"), "org.opensm.NotReady");
	json_object_put(o);
	assert_int_equal(w->n_jobs, 0);
	close(a);
	close(b);
	cw_turn(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_are_answered_between_turns),
		cmocka_unit_test(a_caller_that_goes_ends_its_collecting),
		cmocka_unit_test(a_manager_that_goes_ends_it_with_an_answer),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
