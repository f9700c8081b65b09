// SPDX-License-Identifier: BSD-2-Clause
/* Events of links that are not in order, and of marks: what is done about each is told once. */
#include "unit/marks-world.h"

#include "sm/health/sick.h"

static struct {
	char story[1000]; /* the words, one after the other */
	char text[800];	  /* of the last event */
	guid_t guid[2];
	uint8_t port[2];
} seen;

static void note(const char *kind, const char *what, const char *text)
{
	size_t len = strlen(seen.story);

	snprintf(seen.story + len, sizeof(seen.story) - len, "%s%s %s", len ? ", " : "", kind,
		 what);
	snprintf(seen.text, sizeof(seen.text), "%s", text);
}

static void on_event(struct rig_sm *s, const struct sm_event *e)
{
	if (e->kind == SM_EVENT_HEALTH) {
		note("health", e->health.what, e->health.text);
		memcpy(seen.guid, e->health.guid, sizeof(seen.guid));
		memcpy(seen.port, e->health.port, sizeof(seen.port));
	} else if (e->kind == SM_EVENT_MARK) {
		note("mark", e->mark.what, e->mark.text);
		seen.guid[0] = e->mark.guid;
		seen.port[0] = e->mark.port;
		assert_string_equal(e->mark.by, "root");
	}
}

static int start_world(void **st)
{
	struct world *w;

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(open_world(st), 0);
	w = *st;
	w->rig->event = on_event;
	w->conf->hm_dry_run = false;
	w->conf->hm_probation_secs = 60;
	w->conf->hm_ber_short_secs = 60;
	w->conf->hm_ber_long_secs = 300;
	start(w);
	return 0;
}

static void errors_at(struct world *w, const char *name, unsigned port)
{
	struct port_counts c = { .interval_us = 10000000,
				 .known = 1u << PORT_COUNT_SYMBOL_ERRORS };

	c.grown[PORT_COUNT_SYMBOL_ERRORS] = 100;
	sm_port_counts(w->sm, guid_of(w, name), port, &c);
}

static void a_link_is_isolated_and_returns(void **st)
{
	struct world *w = *st;
	unsigned port = uplink(w, "leaf2", "spine1"), end;

	errors_at(w, "leaf2", port);
	assert_string_equal(seen.story, "health isolated");
	end = seen.guid[1] == guid_of(w, "leaf2");
	assert_true(seen.guid[end] == guid_of(w, "leaf2"));
	assert_int_equal(seen.port[end], port);
	assert_non_null(strstr(seen.text, "symbol"));
	run_for(w, 450 * MONO_S);
	assert_string_equal(seen.story, "health isolated, health returned");
	assert_non_null(strstr(seen.text, "in order again"));
}

static void what_would_be_done_is_told_and_what_an_administrator_clears(void **st)
{
	struct world *w = *st;
	unsigned port = uplink(w, "leaf2", "spine1");

	w->conf->hm_dry_run = true;
	errors_at(w, "leaf2", port);
	assert_string_equal(seen.story, "health dry_run");
	assert_non_null(strstr(seen.text, "would be isolated"));
	run_for(w, 30 * MONO_S);
	assert_string_equal(seen.story, "health dry_run");
	assert_true(sm_sick_clear(w->sm, guid_of(w, "leaf2"), port));
	assert_string_equal(seen.story, "health dry_run, health returned");
}

static void the_last_way_is_told_as_spared(void **st)
{
	struct world *w = *st;

	errors_at(w, "leaf2", uplink(w, "leaf2", "spine1"));
	run_for(w, 20 * MONO_S);
	errors_at(w, "leaf2", uplink(w, "leaf2", "spine2"));
	assert_string_equal(seen.story, "health isolated, health spared");
}

/* Asked for, then done; the state is told once, however many sweeps look at it. */
static void a_mark_is_asked_for_done_and_restored(void **st)
{
	struct world *w = *st;
	unsigned port = uplink(w, "leaf2", "spine1");

	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", port).end, MARK_DONE);
	run_for(w, 30 * MONO_S);
	assert_string_equal(seen.story, "mark drain, mark drained");
	assert_true(seen.guid[0] == guid_of(w, "leaf2"));
	assert_int_equal(seen.port[0], port);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_DONE);
	assert_string_equal(seen.story, "mark drain, mark drained, mark restored");
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "leaf2", port).end, MARK_DONE);
	run_for(w, 30 * MONO_S);
	assert_non_null(strstr(seen.story, "mark restored, mark isolate, mark isolated"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start_world, close_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_link_is_isolated_and_returns),
		TEST(what_would_be_done_is_told_and_what_an_administrator_clears),
		TEST(the_last_way_is_told_as_spared),
		TEST(a_mark_is_asked_for_done_and_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
