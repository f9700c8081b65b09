// SPDX-License-Identifier: BSD-2-Clause
/* Smp: one Get as the manager. Which device, which key, what is hidden, what is refused. */
#include "tests/unit/control-talk.h"

#include "sm/sm.h"

#define KEY 0x1122334455667788ull

static int set_up(void **state)
{
	struct control_world *w = xcalloc(1, sizeof(*w));

	in_at = in_len = 0;
	assert_true(cw_start(w));
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	cw_stop(*state);
	free(*state);
	return 0;
}

/* The fabric and the manager go on until an answer is there. */
static struct json_object *wait_for(struct control_world *w, int fd)
{
	for (unsigned i = 0; i < 100; i++) {
		struct json_object *o = hear(w, fd);

		if (o)
			return o;
		rig_run(w->rig, sim_now(w->rig->sim) + 100 * MONO_MS);
	}
	fail_msg("no answer");
	return NULL;
}

/* The parameters of the answer, to be put. */
static struct json_object *smp(struct control_world *w, int fd, const char *call)
{
	struct json_object *o, *parameters;

	say(w, fd, call);
	o = wait_for(w, fd);
	if (json_object_object_get_ex(o, "error", NULL))
		fail_msg("%s: %s", call, json_object_to_json_string(o));
	parameters = json_object_get(get(o, "parameters"));
	json_object_put(o);
	return parameters;
}

static void fails(struct control_world *w, int fd, const char *call, const char *error)
{
	struct json_object *o;

	say(w, fd, call);
	o = wait_for(w, fd);
	assert_string_equal(str(o, "error"), error);
	assert_true(strlen(str(get(o, "parameters"), "text")) > 10);
	json_object_put(o);
}

static struct port *port_of(const struct control_world *w, const char *name)
{
	FABRIC_EACH_NODE(sm_fabric(w->api.sm), n) {
		if (!strcmp(n->desc, name))
			return &n->ports[node_is_switch(n) ? 0 : 1];
	}
	fail_msg("no %s", name);
	return NULL;
}

static char *call_of(const char *attribute, const char *target, const char *modifier)
{
	return xasprintf("{\"method\": \"org.opensm.Smp\", \"parameters\": {\"attribute\": "
			 "\"%s\", \"target\": \"%s\", \"modifier\": %s}}",
			 attribute, target, modifier);
}

static void a_device_is_found_by_any_of_its_names(void **state)
{
	struct control_world *w = *state;
	const struct port *p = port_of(w, "h1");
	_cleanup_free_ char *guid = xasprintf("0x%016llx", (unsigned long long)p->guid);
	_cleanup_free_ char *node = xasprintf("0x%016llx", (unsigned long long)p->node->guid);
	_cleanup_free_ char *lid = xasprintf("%u", p->lid);
	const char *const words[] = { "h1", "h1/1", "0,1,2", guid, node, lid };
	int fd = caller(w);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_free_ char *call = call_of("NodeInfo", words[i], "0");
		struct json_object *o = smp(w, fd, call);

		assert_string_equal(str(o, "node"), "h1");
		assert_string_equal(str(o, "path"), "0,1,2");
		assert_string_equal(str(o, "node_guid"), node);
		assert_string_equal(str(get(o, "fields"), "node_guid"), node);
		assert_int_equal(json_object_get_int(get(get(o, "fields"), "num_ports")), 1);
		assert_int_equal(json_object_get_int(get(o, "status")), 0);
		assert_int_equal(strlen(str(o, "hex")), 128);
		json_object_put(o);
	}
	close(fd);
}

static void tables_are_lists(void **state)
{
	static const struct {
		const char *attribute, *target, *key, *first;
		size_t n;
	} rows[] = {
		{ "pkeys", "h1", "pkeys", "0xffff", 32 },
		{ "sl2vl", "h1", "vls", "0", 16 },
		{ "P_KeyTable", "0,1,2", "pkeys", "0xffff", 32 },
		{ "lft", "leaf1", "ports", NULL, 64 },
		{ "guids", "h1", "guids", NULL, 8 },
	};
	struct control_world *w = *state;
	int fd = caller(w);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *call = call_of(rows[i].attribute, rows[i].target, "0");
		struct json_object *o = smp(w, fd, call),
				   *list = get(get(o, "fields"), rows[i].key);

		assert_int_equal(json_object_array_length(list), rows[i].n);
		if (rows[i].first)
			assert_string_equal(
				json_object_get_string(json_object_array_get_idx(list, 0)),
				rows[i].first);
		json_object_put(o);
	}
	close(fd);
}

/* Level 2: without the key there is no answer at all. */
static void lock_port(struct control_world *w, uint64_t known)
{
	struct port *p = port_of(w, "h1");

	sim_set_m_key(w->rig->sim, sim_find(w->rig->sim, "h1"), 1, KEY, 2, 0);
	p->m_key = p->m_key_other = known;
}

static void a_locked_port_answers_and_its_key_is_not_shown(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	lock_port(w, KEY);
	o = smp(w, fd, CALL("Smp", "{\"attribute\": \"portinfo\", \"target\": \"h1\"}"));
	assert_string_equal(str(get(o, "fields"), "m_key"), "0x0000000000000000");
	assert_int_equal(json_object_get_int(get(get(o, "fields"), "m_key_protect")), 2);
	assert_memory_equal(str(o, "hex"), "0000000000000000", 16);
	assert_null(strstr(json_object_to_json_string(o), "1122334455667788"));
	assert_string_equal(json_object_get_string(json_object_array_get_idx(get(o, "hidden"), 0)),
			    "m_key");
	json_object_put(o);
	close(fd);
}

static void the_sm_key_is_not_shown(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	o = smp(w, fd, CALL("Smp", "{\"attribute\": \"sminfo\", \"target\": \"0\"}"));
	assert_memory_equal(str(o, "hex") + 16, "0000000000000000", 16);
	json_object_put(o);
	close(fd);
}

static void silence_is_an_error_in_words(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);

	fails(w, fd, CALL("Smp", "{\"attribute\": \"nodeinfo\", \"target\": \"0,1,4\"}"),
	      "org.opensm.NoAnswer");
	lock_port(w, KEY + 1);
	fails(w, fd, CALL("Smp", "{\"attribute\": \"nodeinfo\", \"target\": \"h1\"}"),
	      "org.opensm.NoAnswer");
	close(fd);
}

static void a_refusal_of_the_device_is_an_answer(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	o = smp(w, fd, CALL("Smp", "{\"attribute\": \"switchinfo\", \"target\": \"h1\"}"));
	assert_int_not_equal(json_object_get_int(get(o, "status")), 0);
	assert_true(strlen(str(o, "status_text")) > 3);
	json_object_put(o);
	close(fd);
}

static void what_cannot_be_asked_is_refused(void **state)
{
	static const struct {
		const char *attribute, *target, *modifier, *error;
	} rows[] = {
		{ "Notice", "h1", "0", "org.opensm.InvalidParameter" },
		{ "", "h1", "0", "org.opensm.InvalidParameter" },
		{ "nodeinfo", "h1", "-1", "org.opensm.InvalidParameter" },
		{ "nodeinfo", "h1", "4294967296", "org.opensm.InvalidParameter" },
		{ "nodeinfo", "0,255", "0", "org.opensm.InvalidParameter" },
		{ "nodeinfo", "0,", "0", "org.opensm.InvalidParameter" },
		{ "nodeinfo", "0,1,,2", "0", "org.opensm.InvalidParameter" },
		{ "nodeinfo", "0,1 ", "0", "org.opensm.NotFound" },
		{ "nodeinfo", "", "0", "org.opensm.NotFound" },
		{ "nodeinfo", "h9", "0", "org.opensm.NotFound" },
		{ "nodeinfo", "h1/7", "0", "org.opensm.NotFound" },
		{ "nodeinfo", "h1/0", "0", "org.opensm.NotFound" },
		{ "nodeinfo", "/1", "0", "org.opensm.NotFound" },
		{ "nodeinfo", "65000", "0", "org.opensm.NotFound" },
		{ "nodeinfo", "0x1234567890abcdef", "0", "org.opensm.NotFound" },
	};
	struct control_world *w = *state;
	uint64_t before = mad_sent(sm_mad(w->api.sm), MAD_GET);
	int fd = caller(w);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *call =
			call_of(rows[i].attribute, rows[i].target, rows[i].modifier);

		refused(w, fd, call, rows[i].error);
	}
	assert_int_equal(mad_sent(sm_mad(w->api.sm), MAD_GET), before);
	close(fd);
}

/* 64 hops do not fit a directed route. */
static void a_route_that_is_too_long_is_refused(void **state)
{
	struct control_world *w = *state;
	char target[200] = "0", call[400];
	int fd = caller(w);

	for (unsigned i = 0; i < 64; i++)
		snprintf(target + strlen(target), sizeof(target) - strlen(target), ",1");
	snprintf(call, sizeof(call), CALL("Smp", "{\"attribute\": \"ni\", \"target\": \"%s\"}"),
		 target);
	refused(w, fd, call, "org.opensm.InvalidParameter");
	close(fd);
}

static void only_so_many_are_under_way(void **state)
{
	static const char call[] = CALL("Smp", "{\"attribute\": \"ni\", \"target\": \"h1\"}");
	struct control_world *w = *state;
	struct json_object *o;
	int fds[9];

	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = caller(w);
	for (unsigned i = 0; i < 8; i++)
		say(w, fds[i], call);
	refused(w, fds[8], call, "org.opensm.Busy");
	for (unsigned i = 0; i < 8; i++) {
		o = wait_for(w, fds[i]);
		assert_string_equal(str(get(o, "parameters"), "node"), "h1");
		json_object_put(o);
	}
	o = smp(w, fds[8], call);
	json_object_put(o);
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

static void a_caller_may_hang_up(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);

	say(w, fd, CALL("Smp", "{\"attribute\": \"ni\", \"target\": \"h1\"}"));
	close(fd);
	cw_turn(w);
	rig_run(w->rig, sim_now(w->rig->sim) + MONO_S);
	fd = caller(w);
	say(w, fd, CALL("Smp", "{\"attribute\": \"ni\", \"target\": \"h1\"}"));
	cw_lose_port(w);
	refused(w, fd, CALL("Smp", "{\"attribute\": \"ni\", \"target\": \"h1\"}"),
		"org.opensm.NotReady");
	close(fd);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_device_is_found_by_any_of_its_names),
		TEST(tables_are_lists),
		TEST(a_locked_port_answers_and_its_key_is_not_shown),
		TEST(the_sm_key_is_not_shown),
		TEST(silence_is_an_error_in_words),
		TEST(a_refusal_of_the_device_is_an_answer),
		TEST(what_cannot_be_asked_is_refused),
		TEST(a_route_that_is_too_long_is_refused),
		TEST(only_so_many_are_under_way),
		TEST(a_caller_may_hang_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
