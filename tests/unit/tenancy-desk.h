// SPDX-License-Identifier: BSD-2-Clause
/*
 * A manager on a tree of twelve hosts h0..h11 at two leaves, with a cache folder, and requests to
 * change its partitions, for test-sm-tenancy*.c. The manager runs at h0; partitions.conf has the
 * default partition, all full, and "One" (0x0001) with h1.
 *
 * 	struct answer a = add(d, 0x5, 3, "full")	h3 joins; runs until it is answered
 * 	holds(d, "h3", 0, 0x8005)			as the device has it
 */
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

#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/sm.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

#define N_HOSTS 12

struct desk {
	struct rig *rig;
	struct conf *conf;
	char dir[SCRATCH_PATH], file[SCRATCH_PATH + 32], store[SCRATCH_PATH + 32];
	unsigned sm;
	guid_t guid[N_HOSTS];
};

/* What a request came to. */
struct answer {
	bool is_there;
	enum sm_tenancy_end end;
	enum tenant_fault fault;
	char text[300];
	uint64_t generation;
	bool changed;
	size_t n_members, n_pending, n_blocks;
	struct sm_tenancy_block blocks[4];
	guid_t pending; /* the first */
};

static inline void on_answer(void *arg, const struct sm_tenancy_result *r)
{
	struct answer *a = arg;

	assert_false(a->is_there);
	*a = (struct answer){
		.is_there = true,
		.end = r->end,
		.fault = r->fault,
		.generation = r->generation,
		.changed = r->changed,
		.n_members = r->n_members,
		.n_pending = r->n_pending,
		.n_blocks = r->n_blocks,
		.pending = r->n_pending ? r->pending[0].guid : 0,
	};
	for (size_t i = 0; i < r->n_blocks && i < ARRAY_SIZE(a->blocks); i++)
		a->blocks[i] = r->blocks[i];
	snprintf(a->text, sizeof(a->text), "%s", r->text);
}

static inline struct sm *sm_of(const struct desk *d)
{
	return d->rig->sms[d->sm].sm;
}

static inline void run_for(struct desk *d, mono_t t)
{
	rig_run(d->rig, sim_now(d->rig->sim) + t);
}

static inline int node_of(const struct desk *d, const char *id)
{
	return sim_find(d->rig->sim, id);
}

static inline void start(struct desk *d)
{
	int sm = rig_start(d->rig, "h0", 0, d->conf, d->dir);

	assert_true(sm >= 0);
	d->sm = (unsigned)sm;
	run_for(d, 4 * MONO_S); /* the next sweep is at 10 s */
	assert_int_equal(sm_state(sm_of(d)), SM_MASTER);
}

static inline void note_guids(struct desk *d)
{
	uint8_t ni[SMP_DATA_SIZE];
	char id[8];

	for (unsigned i = 0; i < N_HOSTS; i++) {
		snprintf(id, sizeof(id), "h%u", i);
		assert_int_equal(sim_read(d->rig->sim, node_of(d, id), IB_ATTR_NODE_INFO, 0, ni),
				 0);
		d->guid[i] = ib_get(ni, NI_PORT_GUID);
	}
}

static inline void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static inline struct desk *desk_new(void)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 6, 1, 1);
	struct desk *d = xcalloc(1, sizeof(*d));
	_cleanup_free_ char *text = NULL;

	scratch_folder(d->dir);
	snprintf(d->file, sizeof(d->file), "%s/partitions.conf", d->dir);
	snprintf(d->store, sizeof(d->store), "%s/ledger.db", d->dir);
	d->rig = rig_new(sim_new(net, 1));
	d->conf = conf_new();
	note_guids(d);
	free(d->conf->partition_config_file);
	d->conf->partition_config_file = xstrdup(d->file);
	text = xasprintf("Default=0x7fff: ALL=full;\nOne=0x1: 0x%016" PRIx64 "=full;\n",
			 d->guid[1]);
	write_text(d->file, text);
	return d;
}

static inline struct desk *desk_free(struct desk *d)
{
	rig_free(d->rig);
	conf_unref(d->conf);
	scratch_remove(d->dir);
	free(d);
	return NULL;
}

static inline int setup(void **state)
{
	struct desk *d = desk_new();

	start(d);
	*state = d;
	return 0;
}

static inline int teardown(void **state)
{
	desk_free(*state);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* ---- requests ------------------------------------------------------------------------------- */

static inline void submit(struct desk *d, const struct tenant_request *rq, struct answer *ret)
{
	*ret = (struct answer){ 0 };
	sm_tenancy_request(sm_of(d), rq, true, false, on_answer, ret);
}

static inline struct answer wait_for(struct desk *d, struct answer *a)
{
	mono_t until = sim_now(d->rig->sim) + 20 * MONO_S;

	while (!a->is_there && rig_step(d->rig, until))
		;
	assert_true(a->is_there);
	return *a;
}

static inline struct answer ask(struct desk *d, const struct tenant_request *rq)
{
	static struct answer a;

	submit(d, rq, &a);
	return wait_for(d, &a);
}

static inline struct answer ask_one(struct desk *d, enum tenant_action action, unsigned pkey,
				    guid_t guid, bool full, bool index0)
{
	struct tenant_member member = { guid, full, index0 };
	const struct tenant_request rq = {
		.action = action,
		.pkey = (uint16_t)pkey,
		.members = &member,
		.n_members = guid ? 1 : 0,
	};

	return ask(d, &rq);
}

static inline struct answer add(struct desk *d, unsigned pkey, unsigned host)
{
	return ask_one(d, TENANT_ADD, pkey, d->guid[host], true, false);
}

static inline struct answer drop(struct desk *d, unsigned pkey, unsigned host)
{
	return ask_one(d, TENANT_REMOVE, pkey, d->guid[host], true, false);
}

static inline void assert_done(struct answer a)
{
	if (a.end != SM_TENANCY_DONE)
		fail_msg("end %d: %s", a.end, a.text);
}

/* ---- devices -------------------------------------------------------------------------------- */

/* Where a P_Key is in the table of a node (port > 0: of a switch port); -1: it is not. */
static inline int index_of(const struct desk *d, int node, unsigned port, unsigned key)
{
	uint8_t payload[SMP_DATA_SIZE];

	for (unsigned block = 0;
	     sim_read(d->rig->sim, node, IB_ATTR_PKEY_TABLE, port << 16 | block, payload) == 0;
	     block++) {
		for (unsigned i = 0; i < 32; i++) {
			if (ib_bits_get(payload, i * 16, 16) == key)
				return (int)(block * 32 + i);
		}
	}
	return -1;
}

static inline int host_index(const struct desk *d, unsigned host, unsigned key)
{
	char id[8];

	snprintf(id, sizeof(id), "h%u", host);
	return index_of(d, node_of(d, id), 0, key);
}

static inline bool host_holds(const struct desk *d, unsigned host, unsigned key)
{
	return host_index(d, host, key) >= 0;
}

/* The switch port that a host is plugged into. */
static inline int leaf_of(const struct desk *d, unsigned host, unsigned *ret_port)
{
	char id[8];
	int leaf;

	snprintf(id, sizeof(id), "h%u", host);
	assert_true(sim_peer(d->rig->sim, node_of(d, id), 1, &leaf, ret_port));
	return leaf;
}

static inline bool switch_holds(const struct desk *d, unsigned host, unsigned key)
{
	unsigned port;
	int leaf = leaf_of(d, host, &port);

	return index_of(d, leaf, port, key) >= 0;
}

static inline bool both_hold(const struct desk *d, unsigned host, unsigned key)
{
	return host_holds(d, host, key) && switch_holds(d, host, key);
}

static inline bool none_holds(const struct desk *d, unsigned host, unsigned key)
{
	return !host_holds(d, host, key) && !switch_holds(d, host, key);
}

static inline int host_node(const struct desk *d, unsigned host)
{
	char id[8];

	snprintf(id, sizeof(id), "h%u", host);
	return node_of(d, id);
}

static inline enum ib_port_state host_state(const struct desk *d, unsigned host)
{
	return sim_port_state(d->rig->sim, host_node(d, host), 1);
}

static inline void make_pkeys_silent(struct desk *d, int node, bool silent)
{
	sim_set_silent(d->rig->sim, node, silent ? SIM_SILENT : SIM_ANSWERS,
		       silent ? IB_ATTR_PKEY_TABLE : 0);
}
