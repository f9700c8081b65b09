// SPDX-License-Identifier: BSD-2-Clause
/* A small subnet with its manager, and questions about it, for tests of show/. */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "show/show.h"
#include "sim/netfile/netfile.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "tests/unit/fields-fit.h"
#include "tests/unit/json-paths.h"
#include "util/log.h"
#include "util/mem.h"

/*
 * h0, h1 on leaf1; h2, twin on leaf2; two spines, two cables from leaf1 to spine1. Port 7 of leaf1
 * leads nowhere; h3 is down.
 */
static const char net_text[] =
	"Switch 8 \"leaf1\"\n[1] \"h0\"[1]\n[2] \"h1\"[1]\n[4] \"spine1\"[1]\n[5] \"spine1\"[2]\n"
	"[6] \"spine2\"[1]\n\n"
	"Switch 8 \"leaf2\"\n[1] \"h2\"[1]\n[2] \"twin\"[1]\n[3] \"h3\"[1]\n[4] \"spine1\"[3]\n"
	"[6] \"spine2\"[2]\n\n"
	"Switch 8 \"spine1\"\n[1] \"leaf1\"[4]\n[2] \"leaf1\"[5]\n[3] \"leaf2\"[4]\n\n"
	"Switch 8 \"spine2\"\n[1] \"leaf1\"[6]\n[2] \"leaf2\"[6]\n\n"
	"Ca 1 \"h0\"\n[1] \"leaf1\"[1]\n\n"
	"Ca 1 \"h1\" # \"h1 HCA-1\"\n[1] \"leaf1\"[2]\n\n"
	"Ca 1 \"h2\"\n[1] \"leaf2\"[1]\n\n"
	"Ca 2 \"twin\" # \"h1 HCA-1\"\n[1] \"leaf2\"[2]\n\n"
	"Ca 1 \"h3\"\n[1] \"leaf2\"[3]\n\n";

struct world {
	struct rig *rig;
	struct conf *conf;
	struct daemon_api api;
	const char *sl2vl; /* qos is on, with this table; NULL: off */
	char dir[SCRATCH_PATH];
};

static inline void quiet(void *arg, unsigned bits, const char *text)
{
}

static inline char *write_file(const struct world *w, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", w->dir, name);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	return path;
}

static inline void name_file(char **option, char *path)
{
	free(*option);
	*option = path;
}

static inline void on_event(struct rig_sm *sm, const struct sm_event *event)
{
	struct world *w = sm->rig->owner;

	daemon_api_note(&w->api, event);
}

static inline void show_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	const struct world *w = arg;

	*ret_now = sim_now(w->rig->sim);
	*ret_realtime = 0;
}

/* `names`: the node-name map; it and `partitions` may be NULL. */
static inline void world_start(struct world *w, struct netfile *net, const char *partitions,
			       const char *names)
{
	assert_non_null(net);
	log_set_sink(quiet, NULL);
	scratch_folder(w->dir);
	w->conf = conf_new();
	w->conf->qos = w->sl2vl;
	w->conf->qos_sl2vl = w->sl2vl ? xstrdup(w->sl2vl) : NULL;
	if (partitions)
		name_file(&w->conf->partition_config_file,
			  write_file(w, "partitions.conf", partitions));
	if (names)
		name_file(&w->conf->node_name_map_name, write_file(w, "names", names));
	w->rig = rig_new(sim_new(net, 1));
	w->api = (struct daemon_api){ .conf = w->conf, .clock = show_clock, .arg = w };
	netfile_free(net);
	if (sim_find(w->rig->sim, "h3") >= 0)
		sim_link_down(w->rig->sim, sim_find(w->rig->sim, "h3"), 1);
	w->rig->event = on_event;
	w->rig->owner = w;
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, w->dir), 0);
	rig_run(w->rig, 10 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[0].sm), SM_MASTER);
	w->api.sm = w->rig->sms[0].sm;
	scratch_remove(w->dir);
}

static inline struct netfile *parse(const char *text)
{
	char err[256] = "";
	struct netfile *net = netfile_parse(text, strlen(text), err, sizeof(err));

	if (!net)
		print_message("%s\n", err);
	return net;
}

static inline int start(void **state)
{
	static struct world world;

	memset(&world, 0, sizeof(world));
	world_start(&world, parse(net_text),
		    "Default=0x7fff, ipoib : ALL=full;\n"
		    "green=0x10 : 0x0000000000100001, 0x0000000000100004=full;\n"
		    "blue=0x20 : ALL=limited, 0xdeadbeef00000001=full;\n",
		    NULL);
	*state = &world;
	return 0;
}

static inline int stop(void **state)
{
	struct world *w = *state;

	rig_free(w->rig);
	conf_unref(w->conf);
	return 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

static inline const struct control_method *method_of(const char *name)
{
	for (const struct control_method *m = show_methods; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	fail_msg("no method %s", name);
	return NULL;
}

/* In turns, as the listener does it. */
static inline bool collected(const struct control_method *m, const struct world *w, void *snapshot,
			     struct control_error *err)
{
	enum control_collected got = CONTROL_MORE;

	for (unsigned turn = 0; got == CONTROL_MORE; turn++) {
		assert_true(turn < 1000);
		got = m->collect ? m->collect(snapshot, &w->api, err) : CONTROL_COLLECTED;
	}
	return got == CONTROL_COLLECTED;
}

static inline struct json_object *try(const struct world *w, const char *name,
				      const char *parameters, struct control_error *err)
{
	const struct control_method *m = method_of(name);
	struct json_object *p = json_tokener_parse(parameters), *ret = NULL;
	char why[FIT_WHY] = "";
	void *snapshot;

	assert_non_null(p);
	*err = (struct control_error){ 0 };
	if (m->answer) {
		ret = m->answer(&w->api, p, err);
	} else {
		snapshot = m->snapshot(m, &w->api, p, err);
		if (snapshot) {
			ret = collected(m, w, snapshot, err) ? m->render(snapshot, err) : NULL;
			m->drop(snapshot);
		}
	}
	json_object_put(p);
	assert_true(!ret == !!err->name);
	if (ret && !fields_fit(m->gives, ret, why))
		fail_msg("%s %s is not as described: %s", name, parameters, why);
	return ret;
}

static inline struct json_object *ask(const struct world *w, const char *name,
				      const char *parameters)
{
	struct control_error err;
	struct json_object *ret = try(w, name, parameters, &err);

	if (!ret)
		fail_msg("%s %s: %s: %s", name, parameters, err.name, err.text);
	return ret;
}

static inline void refused(const struct world *w, const char *name, const char *parameters,
			   const char *error, const char *words)
{
	struct control_error err;
	struct json_object *ret = try(w, name, parameters, &err);

	assert_null(ret);
	assert_string_equal(err.name, error);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}
