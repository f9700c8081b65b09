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
#define HEARD  64

struct tap {
	struct transport base, *under;
	/* the last question to an SA, and where it went; is its answer waited for; how many */
	struct transport_addr to;
	uint8_t mad[MAD_SIZE];
	bool waits;
	unsigned questions;
	bool unregistered; /* what it registers gets lost */
	bool deaf; /* SMInfo of others, and traps, do not arrive */
	/* sees whatever the manager sends; NULL: not wanted */
	void (*sees)(const struct transport_addr *to, const uint8_t *mad, size_t length);
	/* parts of the channel, per cent; `late`: one overtakes it */
	struct {
		unsigned lost, twice, late;
		unsigned flipped; /* a bit of it, or of an answer, is another one */
		bool cut;  /* none arrives */
		bool old;  /* this manager announces another version, and takes no part of ours */
		uint64_t dice;
		struct transport_event kept;
		unsigned wait; /* MADs until `kept` arrives; 0: there is none */
		uint8_t sent[MAD_SIZE]; /* the last part, or answer */
		unsigned n_sent, n_requests;
		/* the last requests that arrived */
		struct transport_event heard[HEARD];
		unsigned n_heard;
		/* 8 bytes that are looked for in all parts that it sends; how often found */
		uint64_t sought;
		unsigned found;
	} channel;
};

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

static inline int tap_fd(struct transport *t)
{
	return transport_fd(((struct tap *)t)->under);
}

static inline bool tap_rolls(struct tap *tap, unsigned per_cent)
{
	return per_cent && random_next(&tap->channel.dice) % 100 < per_cent;
}

static inline bool is_part(const uint8_t *mad)
{
	return ib_get(mad, SMP_CLASS) == MAD_CLASS_SA && ib_get(mad, SAH_ATTR_ID) == SA_CHANNEL;
}

static inline void tap_seeks(struct tap *tap, const uint8_t *mad)
{
	uint8_t sought[8];

	ib_bits_put(sought, 0, 64, tap->channel.sought);
	for (unsigned i = 0; tap->channel.sought && i + sizeof(sought) <= MAD_SIZE; i++)
		tap->channel.found += memcmp(mad + i, sought, sizeof(sought)) == 0;
}

/* False: it gets lost on the way. */
static inline bool tap_sends_part(struct tap *tap, const uint8_t *mad, bool request)
{
	tap_seeks(tap, mad);
	memcpy(tap->channel.sent, mad, MAD_SIZE);
	tap->channel.n_sent++;
	tap->channel.n_requests += request;
	return request || !tap_rolls(tap, tap->channel.lost);
}

/* As version 1 of the channel registers itself. */
static inline int tap_send_old(struct tap *tap, const struct transport_addr *to,
			       const uint8_t *mad, size_t length, unsigned timeout_ms)
{
	uint8_t old[MAD_SIZE];

	memcpy(old, mad, sizeof(old));
	if (ib_get(old, SAH_ATTR_ID) == SA_SERVICE_RECORD && ib_get(old, SAH_METHOD) == MAD_SET)
		ib_put(old + SA_DATA + SVR_DATA8_0 / 8, SMC_CHANNEL, 1);
	return transport_send(tap->under, to, old, length, timeout_ms);
}

static inline int tap_send(struct transport *t, const struct transport_addr *to,
			   const uint8_t *mad, size_t length, unsigned timeout_ms)
{
	struct tap *tap = (struct tap *)t;

	if (tap->sees)
		tap->sees(to, mad, length);
	if (is_part(mad) && tap->channel.old)
		return 0;
	if (is_part(mad))
		return tap_sends_part(tap, mad, timeout_ms)
			       ? transport_send(tap->under, to, mad, length, timeout_ms)
			       : 0;
	if (ib_get(mad, SMP_CLASS) == MAD_CLASS_SA && timeout_ms) {
		tap->to = *to;
		memcpy(tap->mad, mad, sizeof(tap->mad));
		tap->waits = true;
		tap->questions++;
	}
	if (tap->unregistered && ib_get(mad, SMP_CLASS) == MAD_CLASS_SA &&
	    ib_get(mad, SAH_ATTR_ID) == SA_SERVICE_RECORD && ib_get(mad, SAH_METHOD) == MAD_SET)
		return 0;
	if (tap->channel.old && length == MAD_SIZE)
		return tap_send_old(tap, to, mad, length, timeout_ms);
	return transport_send(tap->under, to, mad, length, timeout_ms);
}

/* In what the channel reads of it: SA_DATA and what follows. */
static inline void tap_flips(struct tap *tap, struct transport_event *ev)
{
	unsigned bit;

	if (ev->kind != TRANSPORT_MAD || !is_part(ev->mad) || !tap_rolls(tap, tap->channel.flipped))
		return;
	bit = random_next(&tap->channel.dice) % (8 * (CHP_BYTES + CHANNEL_PART_BYTES));
	ev->mad[SA_DATA + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* A request arrives, or not, or twice, or later. False: not now. */
static inline bool tap_hears_part(struct tap *tap, const struct transport_event *ev)
{
	if (ev->kind != TRANSPORT_MAD || !is_part(ev->mad) ||
	    ib_get(ev->mad, SAH_METHOD) & MAD_RESPONSE_BIT)
		return true;
	if (tap->channel.cut || tap->channel.old || tap_rolls(tap, tap->channel.lost))
		return false;
	tap->channel.heard[tap->channel.n_heard++ % HEARD] = *ev;
	if (tap->channel.wait)
		return true;
	if (tap_rolls(tap, tap->channel.twice)) {
		tap->channel.kept = *ev;
		tap->channel.wait = 1 + random_next(&tap->channel.dice) % 5;
		return true;
	}
	if (!tap_rolls(tap, tap->channel.late))
		return true;
	tap->channel.kept = *ev;
	tap->channel.wait = 1 + random_next(&tap->channel.dice) % 5;
	return false;
}

static inline int tap_receive_next(struct tap *tap, struct transport_event *ret)
{
	if (tap->channel.wait == 1) {
		*ret = tap->channel.kept;
		tap->channel.wait = 0;
		return 1;
	}
	for (;;) {
		int r = transport_receive(tap->under, ret);

		if (r != 1)
			return r;
		tap->channel.wait -= tap->channel.wait > 1;
		tap_flips(tap, ret);
		if (tap_hears_part(tap, ret))
			return r;
	}
}

static inline bool is_heard(const struct tap *tap, const struct transport_event *ev)
{
	unsigned class = ev->kind == TRANSPORT_MAD ? ib_get(ev->mad, SMP_CLASS) : 0;

	if (!tap->deaf || (class != MAD_CLASS_SMI_DR && class != MAD_CLASS_SMI_LID))
		return true;
	return ib_get(ev->mad, SMP_METHOD) != MAD_TRAP &&
	       (ib_get(ev->mad, SMP_METHOD) != MAD_GET_RESP ||
		ib_get(ev->mad, SMP_ATTR_ID) != IB_ATTR_SM_INFO);
}

static inline int tap_receive(struct transport *t, struct transport_event *ret)
{
	struct tap *tap = (struct tap *)t;
	int r = tap_receive_next(tap, ret);

	while (r == 1 && !is_heard(tap, ret))
		r = tap_receive_next(tap, ret);
	if (r == 1 && ib_get(ret->mad, SMP_CLASS) == MAD_CLASS_SA &&
	    (uint32_t)ib_get(ret->mad, SAH_TID) == (uint32_t)ib_get(tap->mad, SAH_TID))
		tap->waits = false;
	return r;
}

static inline int tap_set_issm(struct transport *t, bool on)
{
	return transport_set_issm(((struct tap *)t)->under, on);
}

static inline int tap_look(struct transport *t, struct transport_port *ret)
{
	return transport_look(((struct tap *)t)->under, ret);
}

static inline struct transport *tap_between(struct rig_sm *s)
{
	static const struct transport_ops ops = { .fd = tap_fd,
						  .send = tap_send,
						  .receive = tap_receive,
						  .set_issm = tap_set_issm,
						  .look = tap_look };
	struct world *w = s->rig->owner;
	struct tap *tap = &w->tap[s - s->rig->sms];

	assert_in_range(s - s->rig->sms, 0, N_TAPS - 1);
	tap->base = (struct transport){ .ops = &ops, .port_guid = s->tr->port_guid };
	tap->under = s->tr;
	return &tap->base;
}

static inline int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 6, 2, 1);

	seen.n = 0;
	log_set_sink(collect, NULL);
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

static inline void mgid_of(unsigned group, uint8_t ret[16])
{
	memset(ret, 0, 16);
	ret[0] = 0xFF;
	ret[1] = 0x12;
	ret[2] = 0x10;
	ret[3] = 0x10;
	ret[14] = group >> 8;
	ret[15] = group;
}

/* Join or leave; the MLID. */
static inline lid_t membership(struct world *w, unsigned host, uint8_t method, unsigned group)
{
	uint8_t mgid[16], record[MCM_BYTES], answer[MCM_BYTES] = { 0 };
	struct question q;

	mgid_of(group, mgid);
	q = client_join(w->host[host], method, mgid, MC_FULL, record);
	assert_int_equal(ask(w, host, &q, answer, sizeof(answer)), 0);
	return ib_get(answer, MCM_MLID);
}

static inline lid_t join(struct world *w, unsigned host, unsigned group)
{
	return membership(w, host, MAD_SET, group);
}

static inline void join_broadcast(struct world *w, unsigned host)
{
	uint8_t record[MCM_BYTES];
	struct question q = client_join_broadcast(w->host[host], 0xFFFF, record);

	assert_int_equal(ask(w, host, &q, NULL, 0), 0);
}

static inline const struct mgroup *group_at(struct world *w, unsigned which, unsigned group)
{
	uint8_t mgid[16];

	mgid_of(group, mgid);
	return mgroup_find(sm_of(w, which)->sa, mgid);
}

static inline void note_copy(void *arg, int node, unsigned port)
{
	*(uint64_t *)arg |= 1ull << node;
}

/* Receivers of what `host` sends to this MLID, as bits of hosts' numbers. */
static inline uint64_t reached(struct world *w, lid_t mlid, unsigned host)
{
	uint64_t nodes = 0, hosts = 0;

	sim_mcast_reach(w->rig->sim, mlid, w->host[host]->node, 1, note_copy, &nodes);
	for (unsigned i = 1; i < N_HOSTS - 1; i++)
		hosts |= (nodes >> w->host[i]->node & 1) << i;
	return hosts;
}

static inline void service_of(const struct client *c, uint64_t id, uint32_t lease,
			      uint8_t ret[SVR_BYTES])
{
	memset(ret, 0, SVR_BYTES);
	ib_put(ret, SVR_ID, id);
	ib_bits_put(ret, SVR_GID, 64, 0xFE80000000000000ull);
	ib_bits_put(ret, SVR_GID + 64, 64, c->guid);
	ib_put(ret, SVR_LEASE, lease);
	snprintf((char *)ib_at(ret, SVR_NAME), 64, "service %u", (unsigned)id);
}

static inline void serve(struct world *w, unsigned host, uint64_t id, uint32_t lease)
{
	uint8_t record[SVR_BYTES];
	const struct question q = { .method = MAD_SET,
				    .attr = SA_SERVICE_RECORD,
				    .mask = SA_COMP(SVR_ID) | SA_COMP(SVR_GID) |
					    SA_COMP(SVR_LEASE) | SA_COMP(SVR_NAME),
				    .data = record,
				    .len = sizeof(record) };

	service_of(w->host[host], id, lease, record);
	assert_int_equal(ask(w, host, &q, NULL, 0), 0);
}

static inline int find_service(struct world *w, unsigned host, uint64_t id, uint8_t ret[SVR_BYTES])
{
	uint8_t record[SVR_BYTES] = { 0 };
	const struct question q = { .method = MAD_GET,
				    .attr = SA_SERVICE_RECORD,
				    .mask = SA_COMP(SVR_ID),
				    .data = record,
				    .len = sizeof(record) };

	ib_put(record, SVR_ID, id);
	return ask(w, host, &q, ret, SVR_BYTES);
}

static inline void subscribe(struct world *w, unsigned host)
{
	uint8_t record[INF_BYTES] = { 0 };
	const struct question q = {
		.method = MAD_SET, .attr = SA_INFORM_INFO, .data = record, .len = sizeof(record)
	};

	ib_put(record, INF_LID_BEGIN, 0xFFFF);
	ib_put(record, INF_IS_GENERIC, 1);
	ib_put(record, INF_SUBSCRIBE, 1);
	ib_put(record, INF_TYPE, 0xFFFF);
	ib_put(record, INF_TRAP, 0xFFFF);
	ib_put(record, INF_PRODUCER, 0xFFFFFF);
	assert_int_equal(ask(w, host, &q, NULL, 0), 0);
}

static inline void alias(struct world *w, unsigned host, uint8_t method, guid_t guid,
			 uint8_t ret[GIR_BYTES])
{
	uint8_t record[GIR_BYTES] = { 0 };
	const struct question q = {
		.method = method,
		.attr = SA_GUID_INFO_RECORD,
		.mask = SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) |
			(method == MAD_SET ? SA_COMP(GIR_GUID1) : 0),
		.data = record,
		.len = sizeof(record),
	};

	ib_put(record, GIR_LID, sim_port_lid(w->rig->sim, w->host[host]->node, 1));
	ib_put(record, GIR_GUID1, guid);
	assert_int_equal(ask(w, host, &q, ret, GIR_BYTES), 0);
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
