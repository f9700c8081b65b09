// SPDX-License-Identifier: BSD-2-Clause
/* The control socket: what is no call, what may not be called, what is answered, in which order. */
#include "tests/unit/control-talk.h"

#include "control/control.h"
#include "control/control_internal.h"
#include "show/show.h"

static int set_up(void **state)
{
	struct control_world *w = xcalloc(1, sizeof(*w));

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

/* ---- what is said --------------------------------------------------------------------------- */

static void status_tells_what_there_is(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o = ask(w, fd, "{\"method\": \"org.opensm.Status\"}");

	assert_string_equal(str(o, "instance"), "one");
	assert_string_equal(str(o, "state"), "MASTER");
	assert_string_equal(str(o, "port"), "sim0/1");
	assert_string_equal(str(o, "node"), "h0");
	assert_int_equal(json_object_get_int(get(get(o, "subnet"), "nodes")), 3);
	assert_true(json_object_get_boolean(get(get(o, "subnet"), "up")));
	assert_true(json_object_get_boolean(get(get(o, "master"), "is_self")));
	assert_string_equal(str(get(o, "routing"), "engine"), "auto");
	assert_false(json_object_object_get_ex(get(o, "routing"), "failed", NULL));
	assert_true(json_object_array_length(get(get(o, "sweeps"), "last")) > 0);
	json_object_put(o);
	close(fd);
}

static void without_a_port_status_says_why(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	cw_lose_port(w);
	o = ask(w, fd, CALL("Status", "{}"));
	assert_string_equal(str(o, "state"), "WAITING");
	assert_string_equal(str(o, "status"), "Waiting for a port: none");
	assert_null(get(o, "port"));
	json_object_put(o);
	refused(w, fd, CALL("Sweep", "{}"), "org.opensm.NotReady");
	refused(w, fd, CALL("Topology", "{}"), "org.opensm.NotReady");
	refused(w, fd, CALL("SetPriority", "{\"priority\": 3}"), "org.opensm.NotReady");
	close(fd);
}

static void every_method_is_described(void **state)
{
	static const struct control_method *const tables[] = { control_methods, show_methods };
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o = ask(w, fd, "{\"method\": \"org.varlink.service.GetInfo\"}");

	assert_string_equal(str(o, "product"), "opensm");
	json_object_put(o);
	o = ask(w, fd,
		"{\"method\": \"org.varlink.service.GetInterfaceDescription\", \"parameters\": "
		"{\"interface\": \"org.opensm\"}}");
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (const struct control_method *m = tables[i]; m->name; m++) {
			_cleanup_free_ char *gives =
				m->gives ? json_fields_text(m->gives) : xstrdup("");
			_cleanup_free_ char *line =
				xasprintf("\nmethod %s%s%s%s\n", m->name, m->type,
					  m->gives ? " -> " : "", gives);
			int depth = 0;

			if (!strstr(str(o, "description"), line))
				fail_msg("not described: %s", line);
			assert_true((m->gives != NULL) == !strstr(m->type, ") -> ("));
			for (const char *c = line; *c; c++)
				depth += (*c == '(') - (*c == ')');
			assert_int_equal(depth, 0);
			/* At once, in three steps, or later. */
			assert_int_equal((m->answer != NULL) + (m->snapshot != NULL) +
						 (m->begin != NULL),
					 1);
			assert_true((m->snapshot != NULL) == (m->render != NULL));
			assert_true(m->snapshot || !m->collect);
			assert_true((m->begin != NULL) == (m->leave != NULL));
		}
	}
	/* Members of members, and which of them may be missing. */
	assert_non_null(strstr(str(o, "description"),
			       "\nmethod Security() -> (profile: string, passed: int, "
			       "failed: int, unknown: int, checks: [](number: int, "
			       "name: string, verdict: string, present: string, "
			       "advice: ?string), n_ports: int, ports: []string)\n"));
	json_object_put(o);
	refused(w, fd,
		"{\"method\": \"org.varlink.service.GetInterfaceDescription\", \"parameters\": "
		"{\"interface\": \"org.example\"}}",
		"org.varlink.service.InterfaceNotFound");
	close(fd);
}

static void calls_that_cannot_be_cost_themselves(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);

	refused(w, fd, CALL("Nothing", "{}"), "org.varlink.service.MethodNotFound");
	refused(w, fd, "{\"method\": \"Status\"}", "org.varlink.service.MethodNotFound");
	refused(w, fd, CALL("Status", "{\"x\": 1}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("Sweep", "{\"kind\": 1}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("Sweep", "{\"kind\": \"huge\"}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("Nodes", "{\"node\": {}}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("Nodes", "{\"node\": 7}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("Ports", "{\"down\": 1}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("SetPriority", "{}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("SetPriority", "{\"priority\": null}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("SetPriority", "{\"priority\": 16}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("SetPriority", "{\"priority\": -1}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("SetLogLevel", "{\"flags\": 256}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("Monitor", "{}"), "org.varlink.service.ExpectedMore");
	refused(w, fd, MORE("Monitor", "{\"kinds\": [\"weather\"]}"),
		"org.opensm.InvalidParameter");
	refused(w, fd, MORE("Monitor", "{\"kinds\": [7]}"), "org.opensm.InvalidParameter");
	refused(w, fd, CALL("Options", "{\"name\": \"sweep_intervall\"}"), "org.opensm.NotFound");
	json_object_put(ask(w, fd, CALL("Status", "{}")));
	close(fd);
}

static void what_is_no_call_ends_the_conversation(void **state)
{
	static const char *const nonsense[] = {
		"",
		"nonsense",
		"[]",
		"7",
		"{}",
		"{\"method\": 7}",
		"{'method': 'x'}",
		"{\"method\"",
		"{\"method\": \"org.opensm.Status\", \"parameters\": []}",
		"{\"method\": \"org.opensm.Status\"} x",
		"{\"method\": \"org.opensm.Status\\\xff\"}",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	};
	struct control_world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		int fd = caller(w);

		refused(w, fd, nonsense[i], "org.opensm.BadMessage");
		assert_true(has_ended(fd));
		close(fd);
	}
}

static void a_call_has_a_greatest_length(void **state)
{
	struct control_world *w = *state;
	_cleanup_free_ char *text = xmalloc(CONTROL_LONG_MAX + 10);
	int fd = caller(w);
	struct json_object *o;

	memset(text, ' ', CONTROL_LONG_MAX + 10);
	for (unsigned sent = 0; sent < CONTROL_LONG_MAX + 10;) {
		ssize_t n = send(fd, text + sent, CONTROL_LONG_MAX + 10 - sent, MSG_NOSIGNAL);

		cw_turn(w);
		if (n < 0)
			break;
		sent += (unsigned)n;
	}
	o = hear(w, fd);
	assert_non_null(o);
	assert_string_equal(str(o, "error"), "org.opensm.BadMessage");
	json_object_put(o);
	close(fd);
	cw_turn(w);
}

/* ---- what is done --------------------------------------------------------------------------- */

static void what_is_told_to_the_manager_arrives(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o = ask(w, fd, CALL("SetPriority", "{\"priority\": 7}"));

	assert_int_equal(sm_priority(w->api.sm), 7);
	assert_int_equal(json_object_get_int(get(o, "priority")), 7);
	json_object_put(o);
	json_object_put(ask(w, fd, CALL("SetSweeping", "{\"enabled\": false}")));
	assert_false(sm_sweeping_enabled(w->api.sm));
	refused(w, fd, CALL("Sweep", "{}"), "org.opensm.NotReady");
	json_object_put(ask(w, fd, CALL("SetSweeping", "{\"enabled\": true}")));
	json_object_put(ask(w, fd, CALL("Reroute", "{}")));
	assert_int_equal(w->wakes, 4);
	o = ask(w, fd, CALL("SetLogLevel", "{\"flags\": 67}"));
	assert_int_equal(json_object_get_int(get(o, "flags")), 67 | 0x80);
	assert_int_equal(json_object_array_length(get(o, "names")), 4);
	json_object_put(o);
	o = ask(w, fd, CALL("Reload", "{}"));
	assert_int_equal(w->reloads, 1);
	assert_int_equal(json_object_get_int(get(o, "errors")), 1);
	json_object_put(o);
	close(fd);
}

static void a_check_tells_places(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o = ask(w, fd, CALL("Check", "{}")), *f;

	f = json_object_array_get_idx(get(o, "findings"), 0);
	assert_string_equal(str(f, "severity"), "error");
	assert_string_equal(str(f, "file"), "/etc/rdma/opensm.conf");
	assert_int_equal(json_object_get_int(get(f, "line")), 3);
	assert_int_equal(json_object_get_int(get(f, "column")), 7);
	assert_string_equal(str(f, "text"), "'x' is no number");
	assert_int_equal(w->reloads, 0);
	json_object_put(o);
	close(fd);
}

static struct json_object *table_called(struct json_object *o, const char *name)
{
	struct json_object *all = get(o, "tables");

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *table = json_object_array_get_idx(all, i);

		if (!strcmp(str(table, "name"), name))
			return table;
	}
	fail_msg("there is no table %s", name);
	return NULL;
}

/* A manager without a cache folder that has never met another one. */
static void the_ledger_is_shown_and_left_alone(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o = ask(w, fd, CALL("Ledger", "{}"));

	assert_string_equal(str(o, "state"), "writing");
	assert_null(get(o, "trouble"));
	assert_null(get(o, "reason"));
	assert_int_equal(json_object_get_int(get(o, "standbys")), 0);
	assert_int_equal(json_object_get_int(get(table_called(o, "member"), "rows")), 0);
	assert_int_equal(json_object_array_length(get(o, "managers")), 0);
	json_object_put(o);
	refused(w, fd, CALL("LedgerAdopt", "{}"), "org.opensm.NotReady");
	refused(w, fd, CALL("LedgerForget", "{\"user\": \"alice\"}"), "org.opensm.NotReady");
	refused(w, fd, CALL("LedgerForget", "{\"all\": true}"), "org.opensm.InvalidParameter");
	o = ask(w, fd, CALL("Status", "{}"));
	assert_string_equal(str(get(o, "ledger"), "state"), "writing");
	assert_null(get(get(o, "ledger"), "trouble"));
	json_object_put(o);
	cw_lose_port(w);
	refused(w, fd, CALL("Ledger", "{}"), "org.opensm.NotReady");
	refused(w, fd, CALL("LedgerAdopt", "{}"), "org.opensm.NotReady");
	close(fd);
}

static void keys_are_not_shown(void **state)
{
	static const char *const keys[] = { "m_key", "sm_key", "sa_key" };
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	w->conf->m_key = w->conf->sm_key = w->conf->sa_key = 0x5ec4e75ec4e7;
	o = ask(w, fd, CALL("Options", "{}"));
	assert_int_equal(json_object_array_length(get(o, "options")), CONF_N_OPTIONS);
	assert_null(strcasestr(json_object_to_json_string(o), "5ec4e7"));
	json_object_put(o);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		_cleanup_free_ char *call =
			xasprintf(CALL("Options", "{\"name\": \"%s\"}"), keys[i]);

		o = ask(w, fd, call);
		assert_string_equal(str(json_object_array_get_idx(get(o, "options"), 0), "value"),
				    "(set)");
		json_object_put(o);
	}
	close(fd);
}

/* To root and the user of the daemon alone. */
static void the_key_of_trusted_requests_is_shown(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o = ask(w, fd, CALL("SaKey", "{}"));
	const struct control_method *m = control_methods;

	assert_string_equal(str(o, "sa_key"), "0x0000000000000001");
	assert_false(json_object_get_boolean(get(o, "drawn")));
	while (strcmp(m->name, "SaKey"))
		m++;
	assert_int_equal(m->right, CONTROL_ACT);
	json_object_put(o);
	close(fd);
}

static void the_checklist_has_a_verdict_for_each_line(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o, *checks, *first;

	w->conf->sm_key = 0x5ec4e75ec4e7;
	o = ask(w, fd, CALL("Security", "{}"));
	checks = get(o, "checks");
	assert_int_equal(json_object_array_length(checks), 13);
	assert_int_equal(json_object_get_int(get(o, "passed")) +
				 json_object_get_int(get(o, "failed")) +
				 json_object_get_int(get(o, "unknown")),
			 13);
	assert_string_equal(str(o, "profile"), "open");
	first = json_object_array_get_idx(checks, 0);
	assert_int_equal(json_object_get_int(get(first, "number")), 1);
	assert_string_equal(str(first, "name"), "m_key");
	assert_string_equal(str(first, "verdict"), "fail");
	assert_non_null(str(first, "advice"));
	assert_string_equal(str(json_object_array_get_idx(checks, 2), "verdict"), "pass");
	assert_null(str(json_object_array_get_idx(checks, 2), "advice"));
	assert_string_equal(str(json_object_array_get_idx(checks, 7), "verdict"), "unknown");
	assert_null(strcasestr(json_object_to_json_string(o), "5ec4e7"));
	json_object_put(o);
	close(fd);
}

static void a_value_of_a_profile_names_it(void **state)
{
	struct control_world *w = *state;
	struct conf_report r = { 0 };
	int fd = caller(w);
	struct json_object *o, *option;

	free(w->conf->security_profile);
	w->conf->security_profile = xstrdup("tenant");
	conf_verify(w->conf, &r);
	o = ask(w, fd, CALL("Options", "{\"name\": \"m_key_protection_level\"}"));
	option = json_object_array_get_idx(get(o, "options"), 0);
	assert_string_equal(str(option, "source"), "profile");
	assert_string_equal(str(option, "profile"), "tenant");
	assert_string_equal(str(option, "value"), "2");
	json_object_put(o);
	close(fd);
}

static void a_sweep_is_followed_to_its_end(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;
	unsigned events = 0;

	say(w, fd, MORE("Sweep", "{\"kind\": \"heavy\"}"));
	assert_null(hear(w, fd));
	rig_run(w->rig, sim_now(w->rig->sim) + MONO_S);
	while ((o = hear(w, fd)) && json_object_object_get_ex(o, "continues", NULL)) {
		assert_true(strlen(str(get(get(o, "parameters"), "event"), "text")) > 0);
		events++;
		json_object_put(o);
	}
	assert_true(events >= 3);
	assert_non_null(o);
	assert_string_equal(str(get(get(o, "parameters"), "sweep"), "kind"), "heavy");
	json_object_put(o);
	/* And the conversation goes on. */
	json_object_put(ask(w, fd, CALL("Sweep", "{\"kind\": \"light\"}")));
	close(fd);
}

static void a_sweep_of_another_kind_is_not_the_one_asked_for(void **state)
{
	struct control_world *w = *state;
	struct json_object *heavy = json_tokener_parse("{\"kind\": \"heavy\"}"), *o;
	const struct control_following f = { .api = &w->api, .parameters = heavy };
	struct sm_event e = { .kind = SM_EVENT_SWEEP_START,
			      .sweep = { .kind = SWEEP_INCREMENTAL } };
	unsigned stage = 0;
	bool last = false;

	assert_null(control_follow_sweep(&f, &e, &stage, &last));
	e.kind = SM_EVENT_SWEEP_DONE;
	assert_null(control_follow_sweep(&f, &e, &stage, &last));
	assert_false(last);
	e = (struct sm_event){ .kind = SM_EVENT_SWEEP_START, .sweep = { .kind = SWEEP_HEAVY } };
	json_object_put(control_follow_sweep(&f, &e, &stage, &last));
	assert_false(last);
	e = (struct sm_event){ .kind = SM_EVENT_SWEEP_DONE,
			       .sweep = { .kind = SWEEP_HEAVY, .through = true } };
	o = control_follow_sweep(&f, &e, &stage, &last);
	assert_true(last);
	assert_string_equal(str(get(o, "sweep"), "kind"), "heavy");
	json_object_put(o);
	json_object_put(heavy);
}

static void who_waits_for_a_sweep_is_told_that_the_port_is_gone(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	say(w, fd, MORE("Sweep", "{}"));
	cw_lose_port(w);
	o = hear(w, fd);
	assert_non_null(o);
	assert_null(get(get(o, "parameters"), "sweep"));
	assert_false(json_object_object_get_ex(o, "continues", NULL));
	json_object_put(o);
	json_object_put(ask(w, fd, CALL("Status", "{}")));
	close(fd);
}

static void a_monitor_tells_the_kinds_it_was_asked_for(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o, *event;
	unsigned nodes = 0, n = 0;

	say(w, fd, MORE("Monitor", "{\"kinds\": [\"node\", \"sweep\"]}"));
	sim_link_down(w->rig->sim, sim_find(w->rig->sim, "h1"), 1);
	rig_run(w->rig, sim_now(w->rig->sim) + 60 * MONO_S);
	while ((o = hear(w, fd))) {
		assert_true(json_object_object_get_ex(o, "continues", NULL));
		event = get(get(o, "parameters"), "event");
		assert_true(!strcmp(str(event, "kind"), "node") ||
			    !strncmp(str(event, "kind"), "sweep_", 6));
		if (!strcmp(str(event, "kind"), "node")) {
			assert_string_equal(str(event, "name"), "h1");
			assert_string_equal(str(event, "type"), "ca");
			assert_int_equal(strlen(str(event, "time")), 27);
			nodes++;
		}
		n++;
		json_object_put(o);
	}
	assert_int_equal(nodes, 1);
	assert_true(n > 2);
	/* A port that comes back goes on being told of. */
	cw_lose_port(w);
	assert_null(hear(w, fd));
	assert_false(has_ended(fd));
	close(fd);
}

static void who_does_not_keep_up_misses_events(void **state)
{
	struct control_world *w = *state;
	const struct sm_event e = { .kind = SM_EVENT_SA_DUMPED };
	int fd = caller(w);
	struct json_object *o;
	unsigned told = 0, missed = 0;

	say(w, fd, MORE("Monitor", "{}"));
	for (unsigned i = 0; i < 100000; i++)
		listen_control_event(w->listener, &e);
	for (; (o = hear(w, fd)); told++)
		json_object_put(o);
	assert_in_range(told, 1000, 99999);
	listen_control_event(w->listener, &e);
	listen_control_event(w->listener, &e);
	for (; (o = hear(w, fd)); json_object_put(o))
		missed += json_object_object_get_ex(get(o, "parameters"), "missed", NULL);
	assert_int_equal(missed, 1);
	close(fd);
}

/* ---- order, limits -------------------------------------------------------------------------- */

static void answers_keep_the_order_of_questions(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	say(w, fd, CALL("Topology", "{}"));
	say(w, fd, CALL("GetPriority", "{}"));
	assert_null(hear(w, fd));
	assert_true(cw_work(w));
	o = hear(w, fd);
	assert_non_null(o);
	assert_int_equal(json_object_array_length(get(get(o, "parameters"), "nodes")), 3);
	json_object_put(o);
	o = hear(w, fd);
	assert_non_null(o);
	assert_int_equal(json_object_get_int(get(get(o, "parameters"), "priority")), 0);
	json_object_put(o);
	close(fd);
}

static void one_document_at_a_time_for_all(void **state)
{
	struct control_world *w = *state;
	int fd[3];
	struct json_object *o;

	for (unsigned i = 0; i < 3; i++) {
		fd[i] = caller(w);
		say(w, fd[i], CALL("Nodes", "{}"));
	}
	assert_int_equal(w->n_jobs, 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(cw_work(w));
		o = hear(w, fd[i]);
		assert_non_null(o);
		json_object_put(o);
	}
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
}

/* A copy that took 20 ms: the next one waits, whatever is asked for, and comes. */
static void copies_for_documents_are_paced(void **state)
{
	struct control_world *w = *state;
	int fd[2] = { caller(w), caller(w) };
	struct json_object *o;

	w->look = 10 * MONO_MS;
	for (unsigned i = 0; i < 2; i++)
		say(w, fd[i], CALL("Nodes", "{}"));
	assert_int_equal(w->n_jobs, 1);
	assert_true(cw_work(w));
	assert_int_equal(w->n_jobs, 0);
	json_object_put(hear(w, fd[0]));
	json_object_put(ask(w, fd[0], CALL("GetPriority", "{}")));
	while (!w->n_jobs)
		sd_event_run(w->event, UINT64_MAX);
	assert_true(cw_work(w));
	o = hear(w, fd[1]);
	assert_non_null(o);
	json_object_put(o);
	/* One that fails is paced as well. */
	say(w, fd[0], CALL("Groups", "{\"group\": \"0xc0ff\"}"));
	while (!(o = hear(w, fd[0])))
		sd_event_run(w->event, UINT64_MAX);
	assert_string_equal(str(o, "error"), "org.opensm.NotFound");
	json_object_put(o);
	w->look = 0;
	for (unsigned i = 0; i < 2; i++)
		close(fd[i]);
}

static void who_hangs_up_meanwhile_is_not_missed(void **state)
{
	struct control_world *w = *state;
	int gone = caller(w), waits = caller(w), next = caller(w);
	struct json_object *o;

	say(w, gone, CALL("Nodes", "{}"));
	say(w, waits, CALL("Nodes", "{}"));
	say(w, next, CALL("Nodes", "{}"));
	close(gone);
	close(waits);
	cw_turn(w);
	cw_lose_port(w);
	assert_true(cw_work(w));
	/* The third one's snapshot was not taken: there is no manager to take it of any more. */
	assert_false(cw_work(w));
	o = hear(w, next);
	assert_non_null(o);
	assert_string_equal(str(o, "error"), "org.opensm.NotReady");
	json_object_put(o);
	close(next);
}

static void a_oneway_call_is_not_answered(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);

	say(w, fd,
	    "{\"method\": \"org.opensm.SetPriority\", \"parameters\": {\"priority\": 9}, "
	    "\"oneway\": true}");
	assert_null(hear(w, fd));
	assert_int_equal(sm_priority(w->api.sm), 9);
	say(w, fd, "{\"method\": \"org.opensm.Nodes\", \"oneway\": true}");
	assert_true(cw_work(w));
	assert_null(hear(w, fd));
	json_object_put(ask(w, fd, CALL("Status", "{}")));
	close(fd);
}

static uint64_t now_us(struct control_world *w)
{
	uint64_t now = 0;

	sd_event_now(w->event, CLOCK_MONOTONIC, &now);
	return now;
}

/* A hundred at once, ten more each tenth of a second: however slow the machine is. */
static void too_many_calls_wait_their_turn(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;
	uint64_t began = now_us(w);
	unsigned n = 0;

	for (unsigned i = 0; i < 150; i++)
		say(w, fd, CALL("GetPriority", "{}"));
	for (; (o = hear(w, fd)); n++)
		json_object_put(o);
	assert_in_range(n, 100, 100 + 10 * ((now_us(w) - began) / 100000 + 1));
	for (unsigned i = 0; i < 100 && n < 150; i++) {
		sd_event_run(w->event, 100 * 1000);
		for (; (o = hear(w, fd)); n++)
			json_object_put(o);
	}
	assert_int_equal(n, 150);
	close(fd);
}

static void a_socket_that_lives_is_respected(void **state)
{
	struct control_world *w = *state;

	assert_null(listen_control_open(w->event, &w->api));
	assert_int_equal(access(w->path, F_OK), 0);
	w->conf->control_socket = xstrdup("off");
	assert_null(listen_control_open(w->event, &w->api));
	free(w->conf->control_socket);
	w->conf->control_socket = xasprintf("%s/other.sock", w->dir);
	struct listen_control *other = listen_control_open(w->event, &w->api);
	assert_non_null(other);
	assert_int_equal(access(w->conf->control_socket, F_OK), 0);
	listen_control_close(other);
	assert_int_equal(access(w->conf->control_socket, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		T(status_tells_what_there_is),
		T(without_a_port_status_says_why),
		T(every_method_is_described),
		T(calls_that_cannot_be_cost_themselves),
		T(what_is_no_call_ends_the_conversation),
		T(a_call_has_a_greatest_length),
		T(what_is_told_to_the_manager_arrives),
		T(a_check_tells_places),
		T(the_ledger_is_shown_and_left_alone),
		T(keys_are_not_shown),
		T(the_key_of_trusted_requests_is_shown),
		T(the_checklist_has_a_verdict_for_each_line),
		T(a_value_of_a_profile_names_it),
		T(a_sweep_is_followed_to_its_end),
		T(a_sweep_of_another_kind_is_not_the_one_asked_for),
		T(who_waits_for_a_sweep_is_told_that_the_port_is_gone),
		T(a_monitor_tells_the_kinds_it_was_asked_for),
		T(who_does_not_keep_up_misses_events),
		T(answers_keep_the_order_of_questions),
		T(one_document_at_a_time_for_all),
		T(copies_for_documents_are_paced),
		T(who_hangs_up_meanwhile_is_not_missed),
		T(a_oneway_call_is_not_answered),
		T(too_many_calls_wait_their_turn),
		T(a_socket_that_lives_is_respected),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
