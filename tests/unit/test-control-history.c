// SPDX-License-Identifier: BSD-2-Clause
/* The last day of cables, as it is kept and told; traffic where nothing was measured. */
#include "route/patch/patch_text.h"
#include "tests/unit/control-talk.h"

#define HOUR (3600 * MONO_S)

static int set_up(void **state)
{
	struct control_world *w = xcalloc(1, sizeof(*w));

	if (!cw_start(w))
		return -1;
	w->api.perf = perf_new(w->conf, NULL);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct control_world *w = *state;

	control_forget(&w->api);
	perf_free((struct perf *)w->api.perf);
	cw_stop(w);
	free(w);
	return 0;
}

static struct sm_event link_event(const struct control_world *w, bool up)
{
	return (struct sm_event){
		.kind = SM_EVENT_LINK,
		.at = sim_now(w->rig->sim),
		.link = { .guid = { 0x2, 0x3 }, .port = { 1, 9 }, .up = up },
	};
}

/* The answer, which was compared with its description. */
static struct json_object *answer_to(struct control_world *w, const char *call)
{
	int fd = caller(w);
	struct json_object *o = ask(w, fd, call);

	close(fd);
	return o;
}

static struct json_object *row_of(struct json_object *answer, size_t i)
{
	return json_object_array_get_idx(get(answer, "cables"), i);
}

static size_t rows_in(struct json_object *answer)
{
	return json_object_array_length(get(answer, "cables"));
}

static void a_link_that_fell_is_a_fact_of_its_cable(void **state)
{
	struct control_world *w = *state;
	struct sm_event event = link_event(w, false);
	struct json_object *o;

	control_remember(&w->api, &event);
	o = answer_to(w, CALL("CableHistory", "{}"));
	assert_int_equal(rows_in(o), 1);
	assert_string_equal(str(row_of(o, 0), "fact"), "down");
	assert_int_equal(json_object_array_length(get(row_of(o, 0), "ends")), 2);
	json_object_put(o);
}

static void links_that_are_found_at_the_start_are_none(void **state)
{
	struct control_world *w = *state;
	struct sm_event event = link_event(w, true);
	struct json_object *o;

	memset(w->api.memory.sweeps, 0, sizeof(w->api.memory.sweeps));
	control_remember(&w->api, &event);
	o = answer_to(w, CALL("CableHistory", "{}"));
	assert_int_equal(rows_in(o), 0);
	json_object_put(o);
}

static void errors_are_a_row_for_each_port_and_hour(void **state)
{
	struct control_world *w = *state;
	uint64_t grew[PERF_ERRORS] = { [PERF_SYMBOL] = 5, [PERF_XMIT_WAIT] = 1000 };
	uint64_t waits[PERF_ERRORS] = { [PERF_XMIT_WAIT] = 1000 };
	struct json_object *o;

	control_remember_errors(&w->api, 0x2, 1, grew);
	control_remember_errors(&w->api, 0x2, 2, grew);
	control_remember_errors(&w->api, 0x2, 1, grew);
	control_remember_errors(&w->api, 0x2, 3, waits);
	w->looked += HOUR;
	control_remember_errors(&w->api, 0x2, 1, grew);
	o = answer_to(w, CALL("CableHistory", "{}"));
	assert_int_equal(rows_in(o), 3);
	assert_string_equal(str(row_of(o, 2), "fact"), "errors");
	assert_int_equal(json_object_get_int(get(row_of(o, 0), "count")), 5);
	assert_int_equal(json_object_get_int(get(row_of(o, 2), "count")), 10);
	json_object_put(o);
}

static const struct patch_tally a_tally = { .cables = 1,
					    .switches = 2,
					    .destinations = { 198, 0, 0, 16, 3 },
					    .us = 3100 };

static struct sm_event patch_event(const struct control_world *w)
{
	return (struct sm_event){ .kind = SM_EVENT_PATCH,
				  .at = sim_now(w->rig->sim),
				  .patch = { .guid = { 0x2, 0x3 },
					     .port = { 1, 9 },
					     .tally = &a_tally,
					     .text = "s2/1 lost: 214 destinations moved" } };
}

static void a_patch_is_a_fact_of_its_cable(void **state)
{
	struct control_world *w = *state;
	struct sm_event event = patch_event(w);
	struct json_object *o;

	control_remember(&w->api, &event);
	event.patch.guid[0] = 0; /* of no known cable */
	control_remember(&w->api, &event);
	o = answer_to(w, CALL("CableHistory", "{}"));
	assert_int_equal(rows_in(o), 1);
	assert_string_equal(str(row_of(o, 0), "fact"), "patch");
	assert_string_equal(str(row_of(o, 0), "text"), "s2/1 lost: 214 destinations moved");
	json_object_put(o);
}

/* The number of events in the answer, the first of which is of this kind. */
static size_t events_in(struct json_object *answer, const char *first)
{
	struct json_object *events = get(answer, "events");

	assert_string_equal(str(json_object_array_get_idx(events, 0), "kind"), first);
	return json_object_array_length(events);
}

static void the_past_is_told_by_kinds(void **state)
{
	struct control_world *w = *state;
	struct sm_event patch = patch_event(w), link = link_event(w, false);
	struct json_object *o;
	size_t before;
	int fd;

	o = answer_to(w, CALL("Events", "{}"));
	before = json_object_array_length(get(o, "events"));
	json_object_put(o);
	control_remember(&w->api, &patch);
	control_remember(&w->api, &link);
	o = answer_to(w, CALL("Events", "{}"));
	assert_int_equal(events_in(o, "link"), before + 2);
	json_object_put(o);
	o = answer_to(w, CALL("Events", "{\"kinds\": [\"patch\", \"trap\"]}"));
	assert_int_equal(events_in(o, "patch"), 1);
	assert_string_equal(str(json_object_array_get_idx(get(o, "events"), 0), "text"),
			    "s2/1 lost: 214 destinations moved");
	json_object_put(o);
	fd = caller(w);
	refused(w, fd, CALL("Events", "{\"kinds\": [\"weather\"]}"), "org.opensm.InvalidParameter");
	close(fd);
}

static void a_patch_is_told_in_numbers(void **state)
{
	struct control_world *w = *state;
	struct sm_event event = patch_event(w);
	struct json_object *o = json_object_new_object();
	char why[FIT_WHY];

	control_put_event(o, &w->api, &event);
	assert_string_equal(str(o, "kind"), "patch");
	assert_int_equal(json_object_get_int(get(get(o, "destinations"), "beside")), 198);
	assert_int_equal(json_object_get_int(get(get(o, "destinations"), "back")), 16);
	assert_int_equal(json_object_get_int(get(get(o, "destinations"), "waiting")), 3);
	assert_int_equal(json_object_get_int(get(o, "duration_us")), 3100);
	if (!fields_fit(control_event_fields, o, why))
		fail_msg("%s", why);
	json_object_put(o);
}

static void facts_older_than_a_day_are_not_told(void **state)
{
	struct control_world *w = *state;
	struct sm_event event = link_event(w, false);
	struct json_object *o;

	control_remember(&w->api, &event);
	w->looked += 26 * HOUR;
	o = answer_to(w, CALL("CableHistory", "{}"));
	assert_int_equal(rows_in(o), 0);
	json_object_put(o);
}

static void a_full_memory_says_from_when_on_it_is_whole(void **state)
{
	struct control_world *w = *state;
	struct sm_event event = link_event(w, false);
	struct json_object *o;
	char *since;

	o = answer_to(w, CALL("CableHistory", "{}"));
	since = xstrdup(str(o, "since"));
	json_object_put(o);
	w->looked += HOUR;
	for (unsigned i = 0; i < DAEMON_CABLES + 3; i++)
		control_remember(&w->api, &event);
	o = answer_to(w, CALL("CableHistory", "{}"));
	assert_int_equal(rows_in(o), DAEMON_CABLES);
	assert_string_not_equal(str(o, "since"), since);
	json_object_put(o);
	free(since);
}

static void traffic_that_nothing_measured_is_none(void **state)
{
	struct control_world *w = *state;
	struct json_object *o = answer_to(w, CALL("Traffic", "{}"));
	int fd;

	assert_false(json_object_get_boolean(get(o, "enabled")));
	assert_int_equal(json_object_get_int(get(o, "measured")), 0);
	json_object_put(o);
	fd = caller(w);
	refused(w, fd, CALL("Traffic", "{\"limit\": 0}"), "org.opensm.InvalidParameter");
	close(fd);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_link_that_fell_is_a_fact_of_its_cable),
		CASE(links_that_are_found_at_the_start_are_none),
		CASE(errors_are_a_row_for_each_port_and_hour),
		CASE(a_patch_is_a_fact_of_its_cable),
		CASE(the_past_is_told_by_kinds),
		CASE(a_patch_is_told_in_numbers),
		CASE(facts_older_than_a_day_are_not_told),
		CASE(a_full_memory_says_from_when_on_it_is_whole),
		CASE(traffic_that_nothing_measured_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
