// SPDX-License-Identifier: BSD-2-Clause
/* A simulated fabric with managers of congestion control, and what its devices hold. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/counters.h"
#include "ib/cc.h"
#include "sim/cca.h"
#include "sim/gen/gen.h"
#include "tests/lib/rig.h"
#include "util/mem.h"

struct world {
	struct rig *rig;
	struct conf *conf;
	struct cc *cc[RIG_MAX_SMS];
	unsigned n;
};

static inline struct sim *sim_of(const struct world *w)
{
	return w->rig->sim;
}

static inline void on_congestion(struct rig_sm *sm, struct transport_event *ev, mono_t now)
{
	struct world *w = sm->rig->owner;

	congestion_receive(w->cc[sm - sm->rig->sms], sm->sm, ev, now);
}

static inline void on_event(struct rig_sm *sm, const struct sm_event *event)
{
	struct world *w = sm->rig->owner;

	congestion_note(w->cc[sm - sm->rig->sms], event);
}

static inline mono_t dispatch(struct world *w, mono_t until)
{
	mono_t now = sim_now(sim_of(w));

	for (unsigned i = 0; i < w->n; i++) {
		struct sm *sm = w->rig->sms[i].sm;

		if (!sm)
			continue;
		congestion_dispatch(w->cc[i], sm, now);
		if (sm_state(sm) == SM_MASTER)
			until = mono_min(until, MAX(cc_next(w->cc[i]), now + 1));
	}
	return until;
}

static inline void run_for(struct world *w, mono_t t)
{
	mono_t until = sim_now(sim_of(w)) + t;

	while (sim_now(sim_of(w)) < until)
		rig_step(w->rig, dispatch(w, until));
	dispatch(w, until);
}

static inline unsigned start(struct world *w, const char *node, const struct conf *conf)
{
	unsigned place = w->n++;

	w->cc[place] = cc_new();
	assert_int_equal(rig_start(w->rig, node, 0, conf, NULL), place);
	return place;
}

static inline struct world *world_new(const struct netfile *net)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->rig = rig_new(sim_new(net, 1));
	w->rig->congestion = on_congestion;
	w->rig->event = on_event;
	w->rig->owner = w;
	w->conf = conf_new();
	w->conf->congestion_control = true;
	return w;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < w->n; i++)
		cc_free(w->cc[i]);
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
	return 0;
}

static inline void bring_up(struct world *w)
{
	start(w, "h0", w->conf);
	run_for(w, 30 * MONO_S);
}

static inline struct cc_status status_of(const struct world *w, unsigned i)
{
	struct cc_status st;

	cc_status(w->cc[i], &st);
	return st;
}

static inline int node(const struct world *w, const char *name)
{
	int n = sim_find(sim_of(w), name);

	assert_true(n >= 0);
	return n;
}

static inline void read_cell(const struct world *w, const char *name, uint16_t attr, uint32_t mod,
		      uint8_t ret[CC_DATA_SIZE])
{
	int n = node(w, name);

	assert_int_equal(sim_cc_read(sim_of(w), n, sim_node_is_switch(sim_of(w), n) ? 0 : 1, attr,
				     mod, ret),
			 0);
}

static inline uint64_t n_sets(const struct world *w)
{
	return sim_cc_count(sim_of(w), MAD_SET);
}

static inline uint64_t n_gets(const struct world *w)
{
	return sim_cc_count(sim_of(w), MAD_GET);
}

/* A heavy sweep, and what it costs. */
static inline uint64_t sweep_sets(struct world *w)
{
	uint64_t before = n_sets(w);

	sm_request_heavy(w->rig->sms[0].sm, NULL);
	run_for(w, 20 * MONO_S);
	return n_sets(w) - before;
}

/* A configuration made from that in force comes into force. */
static inline void reload(struct world *w, struct conf *conf)
{
	struct sm *sm = w->rig->sms[0].sm;

	sm_reload(sm, conf, sm_files(sm));
	run_for(w, 20 * MONO_S);
}

static inline void set_key(const struct world *w, const char *name, uint64_t key)
{
	const struct sim_cc_key k = { .key = key, .protect = true };
	int n = node(w, name);

	assert_int_equal(sim_set_cc_key(sim_of(w), n, sim_node_is_switch(sim_of(w), n) ? 0 : 1, &k),
			 0);
}

static inline struct sim_cc_key key_of(const struct world *w, const char *name)
{
	struct sim_cc_key k;
	int n = node(w, name);

	assert_int_equal(sim_cc_key(sim_of(w), n, sim_node_is_switch(sim_of(w), n) ? 0 : 1, &k), 0);
	return k;
}
