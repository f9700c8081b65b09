// SPDX-License-Identifier: BSD-2-Clause
/*
 * A manager whose subnet sends it traps: what test-sm-traps and test-sm-trap-storms stand on.
 * LOUD=1 shows the log.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/netfile/netfile.h"
#include "ib/notices.h"
#include "tests/lib/client.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "util/log.h"
#include "util/mem.h"

static const unsigned every_trap[] = { 64,  65,	 66,  67,  68,	128, 129, 130, 131,
				       144, 145, 256, 257, 258, 259, 999, 0 };

#define N_HOSTS 16u
/* ms; to a program, TrapRepress comes like an answer. */
#define PATIENCE 100

/* 4 leaves with 4 hosts each, 2 spines; the manager is on h0. */
struct world {
	struct rig *rig;
	struct sim *sim;
	struct conf *conf;
	struct sm *sm;
	struct transport *host[N_HOSTS]; /* attached when they first send */
	uint64_t tid;
	unsigned lines;	    /* of the log, while they are counted */
	bool said;	    /* a line with `needle` was among them */
	const char *needle;
};

static inline void on_line(void *arg, unsigned bits, const char *text)
{
	struct world *w = arg;

	w->lines++;
	w->said |= w->needle && strstr(text, w->needle);
	if (getenv("LOUD"))
		fprintf(stderr, "%s\n", text);
}

static inline void listen_for(struct world *w, const char *needle)
{
	w->lines = 0;
	w->said = false;
	w->needle = needle;
}

static inline void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->sim) + t);
}

static inline bool is_good(struct world *w)
{
	struct sim_verdict v;

	sim_check_all(w->sim, &v);
	return sim_verdict_good(&v);
}

static inline void start(struct world *w)
{
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, NULL), 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
	assert_true(is_good(w));
}

static inline int open_world(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 2, 1);
	struct world *w = xcalloc(1, sizeof(*w));

	w->sim = sim_new(net, 1);
	w->rig = rig_new(w->sim);
	w->conf = conf_new();
	w->conf->sweep_interval = 10;
	w->conf->port_state_poll_interval = 0; /* Gets are counted */
	w->tid = 0x1000;
	log_set_sink(on_line, w);
	*state = w;
	return 0;
}

static inline int close_world(void **state)
{
	struct world *w = *state;

	log_set_sink(NULL, NULL);
	for (unsigned i = 0; i < N_HOSTS; i++)
		transport_close(w->host[i]);
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
	return 0;
}

static inline int node_of(struct world *w, const char *name)
{
	int node = sim_find(w->sim, name);

	assert_true(node >= 0);
	return node;
}

static inline lid_t lid_of(struct world *w, const char *name)
{
	int node = node_of(w, name);

	return sim_port_lid(w->sim, node, sim_node_is_switch(w->sim, node) ? 0 : 1);
}

static inline struct transport *host(struct world *w, unsigned i)
{
	char name[8];

	snprintf(name, sizeof(name), "h%u", i);
	if (!w->host[i])
		w->host[i] = sim_attach(w->sim, name, 0);
	assert_non_null(w->host[i]);
	return w->host[i];
}

/* ---- notices ------------------------------------------------------------------------------- */

static inline void notice_of(unsigned trap, lid_t issuer, uint8_t notice[SMP_DATA_SIZE])
{
	memset(notice, 0, SMP_DATA_SIZE);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, trap);
	ib_put(notice, NT_ISSUER_LID, issuer);
	switch (trap) {
	case TRAP_LINK_STATE:
		ib_put(notice, N128_LID, issuer);
		break;
	case TRAP_LINK_INTEGRITY ... TRAP_FLOW_CONTROL:
		ib_put(notice, N129_PORT, 1);
		ib_put(notice, N129_LID, issuer);
		break;
	default:
		ib_put(notice, N144_LID, issuer);
		break;
	}
}

static inline void send_as(struct world *w, struct transport *tr, uint64_t tid, unsigned patience,
		    const uint8_t *notice)
{
	const struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = tid };
	const struct transport_addr to = { .lid = lid_of(w, "h0") };
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, &head, notice);
	assert_int_equal(transport_send(tr, &to, mad, sizeof(mad), patience), 0);
}

static inline void send_from(struct world *w, unsigned from, const uint8_t *notice)
{
	send_as(w, host(w, from), ++w->tid, PATIENCE, notice);
}

static inline void send_from_host(struct world *w, unsigned from, const uint8_t *notice)
{
	send_from(w, from, notice);
	run_for(w, 5 * MONO_MS);
}

/* From a switch, or a node without a program: as its own agent does it. */
static inline void send_from_node(struct world *w, const char *name, const uint8_t *notice)
{
	int node = node_of(w, name);

	sim_send_trap(w->sim, node, sim_node_is_switch(w->sim, node) ? 0 : 1, notice);
	run_for(w, 5 * MONO_MS);
}

/* 144 of a host, nothing but its description said to have changed. */
static inline void desc_notice(struct world *w, const char *name, uint8_t notice[SMP_DATA_SIZE])
{
	uint8_t info[SMP_DATA_SIZE];

	notice_of(TRAP_LOCAL_CHANGE, lid_of(w, name), notice);
	assert_int_equal(sim_read(w->sim, node_of(w, name), IB_ATTR_PORT_INFO, 1, info), 0);
	ib_put(notice, N144_CAP_MASK, ib_get(info, PI_CAP_MASK));
	ib_put(notice, N144_OTHER_CHANGES, 1);
	ib_put(notice, N144_CHANGES, N144_NODE_DESC);
}

static inline const struct node *known(struct world *w, const char *name)
{
	return fabric_find_node(sm_fabric(w->sm), sim_node_guid(w->sim, node_of(w, name)));
}
