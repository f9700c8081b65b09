// SPDX-License-Identifier: BSD-2-Clause
/* Commands about managers: their options, start and end, sweeps, reloads. */
#include <errno.h>
#include <string.h>

#include "tests/lib/scratch.h"
#include "tests/scenario/front.h"
#include "tests/scenario/scenario.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"

static int set_option(struct scenario *s, struct conf **conf, enum conf_id id, const char *value)
{
	struct conf_report report = { 0 };
	struct conf_place at = { .file = s->file, .line = s->line };
	struct conf *changed = conf_copy(*conf);
	int r = conf_set(changed, id, value, &at, &report);

	if (r < 0)
		fault(s, "%s", report.n ? report.findings[0].text : "refused");
	conf_report_clear(&report);
	conf_unref(r < 0 ? changed : *conf);
	if (r == 0)
		*conf = changed;
	return r;
}

static int cmd_option(struct scenario *s, const struct words *w)
{
	enum conf_id id = conf_option_find(w->w[1]);
	_cleanup_free_ char *value = NULL;

	if (id == CONF_N_OPTIONS)
		return fault(s, "no option '%s'", w->w[1]);
	value = scenario_join(s, w, 2);
	if (!value)
		return -EINVAL;
	if (s->options)
		CHECK(set_option(s, &s->options, id, value));
	CHECK(set_option(s, &s->conf, id, value));
	log_set_flags(s->conf->log_flags);
	return 0;
}

/* conf NAME: opensm.conf of managers started from now on is this file of `file`; conf none */
static int cmd_conf(struct scenario *s, const struct words *w)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	struct conf_report report = { 0 };
	size_t len;

	if (!scenario_sim(s))
		return -EINVAL;
	if (!s->options)
		s->options = conf_ref(s->conf);
	conf_unref(s->conf);
	s->conf = conf_copy(s->options);
	if (is(w->w[1], "none"))
		return 0;
	path = xasprintf("%s/%s", front_scratch(s->front), w->w[1]);
	if (file_read(path, 1 << 20, &text, &len) < 0)
		return fault(s, "'%s' cannot be read", path);
	conf_read_text(s->conf, "opensm.conf", text, len, &report);
	conf_verify(s->conf, &report);
	if (report.errors)
		fault(s, "%s", report.findings[0].text);
	conf_report_clear(&report);
	return report.errors ? -EINVAL : 0;
}

/* start sm NODE[:PORT] [priority P] */
static int cmd_start(struct scenario *s, const struct words *w)
{
	struct conf *conf;
	uint64_t priority = 0;
	unsigned port;
	int node, r;

	CHECK(parse_port(s, w->w[2], &node, &port));
	if (!is(w->w[1], "sm") || (w->n == 5 && !is(w->w[3], "priority")) || w->n == 4)
		return fault(s, "expected start sm NODE [priority P]");
	conf = conf_copy(s->conf);
	if (w->n == 5 && parse_number(s, w->w[4], 15, &priority) < 0) {
		conf_unref(conf);
		return -EINVAL;
	}
	if (w->n == 5)
		conf->sm_priority = (uint8_t)priority;
	r = rig_start(s->rig, sim_node_id(SIM(s), node), (int)port, conf,
		      s->keeps_state ? front_folder(s->front, sim_node_id(SIM(s), node)) : NULL);
	if (r >= 0 && s->front)
		front_sm_starts(s->front, (unsigned)r, conf);
	conf_unref(conf);
	return r < 0 ? fault(s, "no manager can start there") : 0;
}

static int cmd_kill(struct scenario *s, const struct words *w)
{
	unsigned sm;

	CHECK(parse_sm(s, w->w[2], &sm));
	if (s->front)
		front_sm_goes(s->front, sm);
	if (is(w->w[0], "stop"))
		rig_stop(s->rig, sm);
	else
		rig_kill(s->rig, sm);
	return 0;
}

/* state: managers started from now on keep files, each node in a folder of its own */
static int cmd_state(struct scenario *s, const struct words *w)
{
	s->keeps_state = true;
	return 0;
}

/* wipe NODE: its manager's files are gone */
static int cmd_wipe(struct scenario *s, const struct words *w)
{
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	scratch_remove(front_folder(s->front, sim_node_id(SIM(s), node)));
	return 0;
}

static int cmd_freeze(struct scenario *s, const struct words *w)
{
	unsigned sm;

	CHECK(parse_sm(s, w->w[2], &sm));
	rig_freeze(s->rig, sm, is(w->w[0], "freeze"));
	return 0;
}

/* sweep heavy|light|reroute: asked for, not waited for */
static int cmd_sweep(struct scenario *s, const struct words *w)
{
	struct sm *master = s->rig ? rig_master(s->rig) : NULL;

	if (!master)
		return fault(s, "there is not exactly one MASTER");
	if (is(w->w[1], "heavy"))
		sm_request_heavy(master, NULL);
	else if (is(w->w[1], "light"))
		sm_request_light(master);
	else if (is(w->w[1], "reroute"))
		sm_request_reroute(master);
	else
		return fault(s, "expected sweep heavy, light or reroute");
	return 0;
}

/* sweeping on|off: of the master */
static int cmd_sweeping(struct scenario *s, const struct words *w)
{
	struct sm *master = s->rig ? rig_master(s->rig) : NULL;

	if (!master)
		return fault(s, "there is not exactly one MASTER");
	sm_set_sweeping(master, is(w->w[1], "on"));
	return 0;
}

/* reload sm NODE */
static int reload_one(struct scenario *s, const struct words *w)
{
	unsigned sm;

	CHECK(parse_sm(s, w->w[2], &sm));
	sm_request_heavy(s->rig->sms[sm].sm, s->conf);
	return 0;
}

/* reload: the options given since the start, to the master, or to the one that is named */
static int cmd_reload(struct scenario *s, const struct words *w)
{
	struct sm *master = s->rig ? rig_master(s->rig) : NULL;

	if (w->n == 3)
		return reload_one(s, w);
	if (!master)
		return fault(s, "there is not exactly one MASTER");
	sm_request_heavy(master, s->conf);
	return 0;
}

/*
 * hup [sm NODE]: SIGHUP, to the master or that one; hup with OPTION VALUE: to the master, with that
 * option; hup refused: the daemon found a fault
 */
static int cmd_hup(struct scenario *s, const struct words *w)
{
	struct sm *master = s->rig ? rig_master(s->rig) : NULL;
	_cleanup_(conf_files_unrefp) struct conf_files *files = NULL;
	unsigned sm;

	if (w->n == 4 && is(w->w[1], "with")) {
		const struct words option = { .n = 3, .w = { "option", w->w[2], w->w[3] } };

		CHECK(cmd_option(s, &option));
	} else if (w->n == 3) {
		CHECK(parse_sm(s, w->w[2], &sm));
		master = s->rig->sms[sm].sm;
	}
	if (!master)
		return fault(s, "there is not exactly one MASTER");
	if (w->n == 2) {
		sm_reload_refused(master);
		return is(w->w[1], "refused") ? 0 : fault(s, "expected hup or hup refused");
	}
	files = conf_files_read(s->conf, sm_files(master));
	sm_reload(master, s->conf, files);
	return 0;
}

/* time-of-day: managers started from now on know it */
static int cmd_time_of_day(struct scenario *s, const struct words *w)
{
	if (!scenario_sim(s))
		return -EINVAL;
	s->rig->epoch = RIG_EPOCH;
	return 0;
}

const struct command manager_commands[] = {
	{ "option", 3, MAX_WORDS, cmd_option },
	{ "conf", 2, 2, cmd_conf },
	{ "start", 3, 5, cmd_start },
	{ "kill", 3, 3, cmd_kill },
	{ "stop", 3, 3, cmd_kill },
	{ "state", 1, 1, cmd_state },
	{ "wipe", 2, 2, cmd_wipe },
	{ "freeze", 3, 3, cmd_freeze },
	{ "thaw", 3, 3, cmd_freeze },
	{ "sweep", 2, 2, cmd_sweep },
	{ "sweeping", 2, 2, cmd_sweeping },
	{ "reload", 1, 3, cmd_reload },
	{ "hup", 1, 4, cmd_hup },
	{ "time-of-day", 1, 1, cmd_time_of_day },
	{ 0 },
};
