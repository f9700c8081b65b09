// SPDX-License-Identifier: BSD-2-Clause
/*
 * A simulated fabric in virtual time with our SM at h0, and subnet managers that say and do
 * whatever a test wants ("puppets"): for the tests of the election.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/notices.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/elect/elect.h"
#include "sm/sm.h"
#include "util/mem.h"

#define OUR_KEY	   1
#define OUR_PRIO   5
#define PUPPETS	   2
#define NOT_SENT   0xFFFF
#define ILLEGAL	   MAD_STATUS_BAD_VALUE
#define POLL_EVERY (500 * MONO_MS)
#define POLL_RETRY 2

/* A port where an SM seems to be. */
struct puppet {
	struct transport *tr;
	uint64_t key;
	uint8_t priority, state;
	bool mute;		/* answers nothing */
	bool takes;		/* a HANDOVER makes it MASTER */
	uint16_t refuses;	/* status of answers to Sets */
	unsigned asked, handed; /* questions, HANDOVERs */
	unsigned traps;
	uint8_t trap[SMP_DATA_SIZE];
	uint16_t status;   /* of the last answer to a Set of its own; NOT_SENT: none */
	uint8_t seen;	   /* state in it */
	mono_t steps_down; /* when it stops being MASTER; 0: never */
};

struct world {
	struct rig *rig;
	struct conf *conf;
	struct sm *sm; /* at h0 */
	struct puppet puppets[PUPPETS];
	unsigned n;
};

static char said[512][400];
static unsigned n_said;

static inline void on_log(void *arg, unsigned bits, const char *text)
{
	if (getenv("LOUD"))
		fprintf(stderr, "# %s\n", text);
	snprintf(said[n_said++ % ARRAY_SIZE(said)], sizeof(said[0]), "%s", text);
}

/* Records with both words in them, since the last forget_said(). */
static inline unsigned count_said(const char *a, const char *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MIN(n_said, (unsigned)ARRAY_SIZE(said)); i++)
		n += strstr(said[i], a) && strstr(said[i], b);
	return n;
}

static inline void forget_said(void)
{
	n_said = 0;
}

/* ---- puppets ---- */

static inline void fill(const struct puppet *p, uint8_t info[SMP_DATA_SIZE])
{
	memset(info, 0, SMP_DATA_SIZE);
	ib_put(info, SMI_GUID, p->tr->port_guid);
	ib_put(info, SMI_SM_KEY, p->key);
	ib_put(info, SMI_PRIORITY, p->priority);
	ib_put(info, SMI_STATE, p->state);
}

static inline void reply(struct puppet *p, struct transport_event *ev, uint16_t status)
{
	uint8_t info[SMP_DATA_SIZE];

	fill(p, info);
	smp_make_response(ev->mad, status, info);
	transport_send(p->tr, &ev->from, ev->mad, MAD_SIZE, 0);
}

static inline void take_set(struct puppet *p, struct transport_event *ev)
{
	p->handed += ib_get(ev->mad, SMP_ATTR_MOD) == SMI_HANDOVER;
	reply(p, ev, p->refuses);
	if (p->takes && !p->refuses)
		p->state = SM_MASTER;
}

static inline void receive(struct puppet *p, struct transport_event *ev)
{
	switch (ib_get(ev->mad, SMP_METHOD)) {
	case MAD_GET:
		p->asked++;
		reply(p, ev, 0);
		break;
	case MAD_SET:
		take_set(p, ev);
		break;
	case MAD_TRAP:
		p->traps++;
		memcpy(p->trap, smp_data(ev->mad), SMP_DATA_SIZE);
		smp_make_response(ev->mad, 0, NULL);
		transport_send(p->tr, &ev->from, ev->mad, MAD_SIZE, 0);
		break;
	case MAD_GET_RESP:
		p->status = (uint16_t)ib_get(ev->mad, SMP_STATUS);
		p->seen = (uint8_t)ib_get(smp_data(ev->mad), SMI_STATE);
		break;
	default:
		break;
	}
}

static inline void serve(struct world *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		struct puppet *p = &w->puppets[i];
		struct transport_event ev;

		if (p->steps_down && sim_now(w->rig->sim) >= p->steps_down)
			p->state = SM_NOT_ACTIVE;
		while (transport_receive(p->tr, &ev) > 0) {
			if (ev.kind == TRANSPORT_MAD && !p->mute)
				receive(p, &ev);
		}
	}
}

static inline void run(struct world *w, mono_t t)
{
	mono_t until = sim_now(w->rig->sim) + t;

	while (rig_step(w->rig, until))
		serve(w);
	serve(w);
}

static inline struct puppet *puppet(struct world *w, const char *node, uint8_t priority,
				    enum sm_state state)
{
	struct puppet *p = &w->puppets[w->n++];

	*p = (struct puppet){ .tr = sim_attach(w->rig->sim, node, 0),
			      .key = OUR_KEY,
			      .priority = priority,
			      .state = state,
			      .status = NOT_SENT };
	assert_non_null(p->tr);
	transport_set_issm(p->tr, true);
	return p;
}

/* Sets SMInfo of our SM. `path` NULL: by LID. */
static inline void send_set(struct world *w, struct puppet *p, unsigned mod,
			    const struct dr_path *path)
{
	struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_SM_INFO, .mod = mod, .tid = 1000 + mod
	};
	struct transport_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE];

	fill(p, info);
	if (path)
		smp_build_dr(mad, &head, path, info);
	else
		smp_build_lid(mad, &head, info);
	if (!path)
		to.lid = sim_port_lid(w->rig->sim, sim_find(w->rig->sim, "h0"), 1);
	p->status = NOT_SENT;
	assert_int_equal(transport_send(p->tr, &to, mad, MAD_SIZE, 500), 0);
}

/* From h1 to h0: up to leaf1, down its port 1. */
static const struct dr_path to_h0 = { .length = 2, .hop = { 0, 1, 1 } };

/* ---- worlds ---- */

static inline struct world *world_new(void)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 3, 1, 1);
	struct world *w = xcalloc(1, sizeof(*w));

	forget_said();
	w->rig = rig_new(sim_new(net, 1));
	w->conf = conf_new();
	w->conf->sm_priority = OUR_PRIO;
	w->conf->sminfo_polling_timeout = POLL_EVERY / MONO_MS;
	w->conf->polling_retry_number = POLL_RETRY;
	free(w->conf->partition_config_file);
	w->conf->partition_config_file = xstrdup("/nonexistent");
	return w;
}

static inline void start(struct world *w)
{
	int sm = rig_start(w->rig, "h0", 0, w->conf, NULL);

	assert_int_equal(sm, 0);
	w->sm = w->rig->sms[0].sm;
}

static inline void world_free(struct world *w)
{
	for (unsigned i = 0; i < w->n; i++)
		transport_close(w->puppets[i].tr);
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
}

/* The fabric works and we are its master. */
static inline struct world *as_master(void)
{
	struct world *w = world_new();

	start(w);
	run(w, 15 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_true(sm_stats(w->sm)->up);
	return w;
}

/* The fabric works, and h1 is its master, greater than we are. */
static inline struct world *as_standby(void)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", OUR_PRIO + 1, SM_MASTER);
	int h0 = sim_find(w->rig->sim, "h0"), h1 = sim_find(w->rig->sim, "h1");

	run(w, 15 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_int_equal(p->handed, 1);
	/* What a master would have done: its LID is in our port. */
	sim_set_lid(w->rig->sim, h0, 1, sim_port_lid(w->rig->sim, h0, 1), 0,
		    sim_port_lid(w->rig->sim, h1, 1));
	return w;
}

static inline struct world *as_not_active(void)
{
	struct world *w = as_standby();

	send_set(w, &w->puppets[0], SMI_DISABLE, NULL);
	run(w, 50 * MONO_MS);
	assert_int_equal(w->puppets[0].status, 0);
	assert_int_equal(sm_state(w->sm), SM_NOT_ACTIVE);
	return w;
}

/* Its first discovery takes long. */
static inline struct world *as_discovering(void)
{
	struct world *w = world_new();

	puppet(w, "h1", OUR_PRIO + 1, SM_STANDBY);
	sim_set_sma_time(w->rig->sim, 20 * MONO_MS);
	start(w);
	run(w, 50 * MONO_MS);
	assert_int_equal(sm_state(w->sm), SM_DISCOVERING);
	return w;
}

static inline bool becomes(struct world *w, enum sm_state state, mono_t within)
{
	mono_t until = sim_now(w->rig->sim) + within;

	while (sm_state(w->sm) != state && sim_now(w->rig->sim) < until)
		run(w, 5 * MONO_MS);
	return sm_state(w->sm) == state;
}
