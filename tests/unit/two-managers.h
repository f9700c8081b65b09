// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two managers of ours on one fabric and hosts that register with the master, for
 * test-sm-replica*.c. Hosts do not register again when they are asked to: what they find after a
 * failover is what was kept.
 *
 * 	start_both(w)	h0 is MASTER, h11 STANDBY	join(w, 3, 7)	h3 joins group 7; its MLID
 * 	fail_over(w)	h0 dies, h11 takes over		said("a", "b")	log lines with both
 *
 * Each manager has a tap between itself and its port, which shows what it asks an SA.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/client.h"
#include "tests/lib/rig.h"
#include "tests/lib/tap.h"
#include "sim/gen/gen.h"
#include "sa/base/sa_internal.h"
#include "sa/mcast/mgroup.h"
#include "sa/service.h"
#include "ib/records.h"
#include "sm/sm_internal.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

#define N_HOSTS 12
#define LINES	400

enum { ACTIVE, SPARE };

static struct {
	unsigned n;
	char line[LINES][300];
} seen;

#define N_TAPS 8

struct world {
	struct rig *rig;
	struct conf *conf[2];
	char dir[2][SCRATCH_PATH];
	struct client *host[N_HOSTS]; /* 1..10 */
	struct tap tap[N_TAPS];	      /* by the number of the manager */
};

static inline void collect(void *arg, unsigned bits, const char *text)
{
	if (getenv("LOUD"))
		fprintf(stderr, "%02x %s\n", bits, text);
	if (seen.n < LINES)
		snprintf(seen.line[seen.n++], sizeof(seen.line[0]), "%s", text);
}

static inline unsigned said(const char *what, const char *more)
{
	unsigned n = 0;

	for (unsigned i = 0; i < seen.n; i++)
		n += strstr(seen.line[i], what) && strstr(seen.line[i], more);
	return n;
}

static inline struct transport *tap_between(struct rig_sm *s)
{
	struct world *w = s->rig->owner;

	assert_in_range(s - s->rig->sms, 0, N_TAPS - 1);
	return tap_open(&w->tap[s - s->rig->sms], s->tr);
}

static inline int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 6, 2, 1);

	seen.n = 0;
	log_set_sink(collect, NULL);
	log_set_flags(LOGB_ERROR | LOGB_INFO | LOGB_VERBOSE);
	w->rig = rig_new(sim_new(net, 7));
	w->rig->between = tap_between;
	w->rig->owner = w;
	for (unsigned i = 0; i < 2; i++) {
		scratch_folder(w->dir[i]);
		w->conf[i] = conf_new();
		w->conf[i]->sminfo_polling_timeout = 1000;
		w->conf[i]->polling_retry_number = 2;
		w->conf[i]->sa_db_dump = true;
		free(w->conf[i]->partition_config_file);
		w->conf[i]->partition_config_file = xasprintf("%s/partitions.conf", w->dir[i]);
		scratch_open_partitions(w->conf[i]->partition_config_file);
	}
	w->conf[ACTIVE]->sm_priority = 5;
	for (unsigned i = 1; i < N_HOSTS - 1; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		w->host[i] = client_new(w->rig->sim, name);
		assert_non_null(w->host[i]);
	}
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < N_HOSTS; i++)
		client_free(w->host[i]);
	rig_free(w->rig);
	for (unsigned i = 0; i < 2; i++) {
		conf_unref(w->conf[i]);
		scratch_remove(w->dir[i]);
	}
	log_set_sink(NULL, NULL);
	free(w);
	return 0;
}

static inline void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

static inline struct sm *sm_of(struct world *w, unsigned which)
{
	return w->rig->sms[which].sm;
}

/* What the standby has out, or had last. */
static inline struct tap *spare_tap(struct world *w)
{
	return &w->tap[SPARE];
}

/* Runs until the standby waits for the table of `attr`. */
static inline void wait_for_question(struct world *w, unsigned attr)
{
	struct tap *tap = spare_tap(w);

	while (!tap->waits || ib_get(tap->mad, SAH_METHOD) != MAD_SA_GET_TABLE ||
	       ib_get(tap->mad, SAH_ATTR_ID) != attr)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
}

/* The master on h0, then the standby on h11. */
static inline void start_both(struct world *w)
{
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	run_for(w, 8 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
}

/* Reports that a host gets within `t`. */
static inline unsigned attend(struct world *w, unsigned host, mono_t t)
{
	mono_t until = sim_now(w->rig->sim) + t;
	unsigned before = w->host[host]->reports;
	struct transport_event ev;

	do {
		while (client_receive(w->host[host], &ev))
			free(ev.whole);
	} while (rig_step(w->rig, until));
	return w->host[host]->reports - before;
}

/* The subscriber answers what it is told meanwhile. */
static inline void fail_over(struct world *w)
{
	rig_kill(w->rig, ACTIVE);
	attend(w, 4, 20 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_true(sm_of(w, SPARE)->first_sweep_done);
}

static inline int ask(struct world *w, unsigned host, const struct question *q, void *ret,
		      size_t size)
{
	struct transport_event ev;
	int r = client_ask(w->host[host], w->rig, q, &ev);

	if (r < 0)
		return r;
	if (ret)
		memcpy(ret, client_record(&ev), size);
	free(ev.whole);
	return r;
}

/* Join or leave; the MLID. */
static inline lid_t membership(struct world *w, unsigned host, uint8_t method, unsigned group)
{
	uint8_t mgid[16], record[MCM_BYTES], answer[MCM_BYTES] = { 0 };
	struct question q;

	client_mgid(group, mgid);
	q = client_join(w->host[host], method, mgid, MC_FULL, record);
	assert_int_equal(ask(w, host, &q, answer, sizeof(answer)), 0);
	return ib_get(answer, MCM_MLID);
}

static inline lid_t join(struct world *w, unsigned host, unsigned group)
{
	return membership(w, host, MAD_SET, group);
}

static inline const struct mgroup *group_at(struct world *w, unsigned which, unsigned group)
{
	uint8_t mgid[16];

	client_mgid(group, mgid);
	return mgroup_find(sm_of(w, which)->sa, mgid);
}

static inline void serve(struct world *w, unsigned host, uint64_t id, uint32_t lease)
{
	uint8_t record[SVR_BYTES];
	struct question q = client_service(w->host[host], MAD_SET, id, lease, record);

	assert_int_equal(ask(w, host, &q, NULL, 0), 0);
}

static inline int find_service(struct world *w, unsigned host, uint64_t id, uint8_t ret[SVR_BYTES])
{
	uint8_t record[SVR_BYTES];
	struct question q = client_service(w->host[host], MAD_GET, id, 0, record);

	return ask(w, host, &q, ret, SVR_BYTES);
}

/* Records of managers that the master's SA holds. */
static inline unsigned managers(struct world *w)
{
	const struct service *s;
	uint64_t cursor = 0;
	unsigned n = 0;

	while ((s = services_before(sm_of(w, ACTIVE)->sa, &cursor)))
		n += s->manager;
	return n;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
