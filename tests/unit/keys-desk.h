// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fabric with M_Keys of single ports: what test-sm-keys and test-sm-keys-hosts stand on. LOUD=1
 * shows the log.
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ib/attrs.h"
#include "keys/key_ring.h"
#include "sim/gen/gen.h"
#include "sm/sm_internal.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

#define SEED  UINT64_C(0x5eed0000000000aa)
#define OTHER UINT64_C(0x5eed0000000000bb)

struct desk {
	struct rig *rig;
	struct conf *conf;
	char dir[SCRATCH_PATH];
	unsigned n_told;
	char want[40]; /* records that have this text are counted */
};
static struct desk *desk;

static inline void collect(void *arg, unsigned bits, const char *text)
{
	if (getenv("LOUD"))
		fprintf(stderr, "%02x %s\n", bits, text);
	if (desk->want[0] && strstr(text, desk->want))
		desk->n_told++;
}

static inline int setup(void **state)
{
	struct desk *d = desk = xcalloc(1, sizeof(*d));
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 3, 2, 1);

	log_set_sink(collect, NULL);
	scratch_folder(d->dir);
	d->rig = rig_new(sim_new(net, 7));
	d->conf = conf_new();
	d->conf->m_key_per_port = true;
	d->conf->m_key = SEED;
	d->conf->m_key_protection_level = 2;
	free(d->conf->partition_config_file);
	d->conf->partition_config_file = xasprintf("%s/partitions.conf", d->dir);
	scratch_open_partitions(d->conf->partition_config_file);
	*state = d;
	return 0;
}

static inline int teardown(void **state)
{
	struct desk *d = *state;

	rig_free(d->rig);
	conf_unref(d->conf);
	scratch_remove(d->dir);
	log_set_sink(NULL, NULL);
	free(d);
	return 0;
}

static inline void run_for(struct desk *d, mono_t t)
{
	rig_run(d->rig, sim_now(d->rig->sim) + t);
}

static inline void start(struct desk *d)
{
	assert_true(rig_start(d->rig, "h0", 0, d->conf, d->dir) >= 0);
	run_for(d, 20 * MONO_S);
}

static inline struct sm *sm_of(struct desk *d)
{
	struct sm *sm = rig_master(d->rig);

	assert_non_null(sm);
	return sm;
}

static inline int host(struct desk *d, unsigned i)
{
	char name[8];

	snprintf(name, sizeof(name), "h%u", i);
	return sim_find(d->rig->sim, name);
}

/* ---- what devices hold ----------------------------------------------------------------------- */

/* The n-th end port of the fabric, from 0: that of its n-th node; false: there are no more. */
static inline bool end_port(struct desk *d, unsigned n, int *ret_node, unsigned *ret_port,
		     guid_t *ret_guid)
{
	uint8_t ni[SMP_DATA_SIZE];

	if (sim_read(d->rig->sim, (int)n, IB_ATTR_NODE_INFO, 0, ni) != 0)
		return false;
	*ret_node = (int)n;
	*ret_port = ib_get(ni, NI_NODE_TYPE) == IB_NODE_SWITCH ? 0 : 1;
	*ret_guid = ib_get(ni, NI_PORT_GUID);
	return true;
}

static inline uint64_t field(struct desk *d, int node, unsigned port, unsigned offset,
			     unsigned width)
{
	uint8_t info[SMP_DATA_SIZE];

	assert_int_equal(sim_read(d->rig->sim, node, IB_ATTR_PORT_INFO, port, info), 0);
	return ib_bits_get(info, offset, width);
}
#define FIELD(d, node, port, name) field(d, node, port, PI_##name, PI_##name##_W)

static inline struct key_ring *ring_of(uint64_t number, unsigned epoch)
{
	struct key_ring *r = key_ring_new();
	struct key_seed seed;

	key_seed_of_number(number, &seed);
	assert_true(key_ring_use(r, &seed));
	for (unsigned i = 1; i < epoch; i++)
		assert_true(key_ring_turn(r));
	return r;
}

/* How many end ports have not the key of this ring, or are not protected. */
static inline unsigned n_wrong(struct desk *d, const struct key_ring *ring)
{
	unsigned n = 0, port;
	guid_t guid;
	int node;

	for (unsigned i = 0; end_port(d, i, &node, &port, &guid); i++)
		n += FIELD(d, node, port, M_KEY) != key_ring_key(ring, guid) ||
		     FIELD(d, node, port, M_KEY_PROTECT) != d->conf->m_key_protection_level;
	return n;
}

static inline void assert_keys(struct desk *d, uint64_t number, unsigned epoch)
{
	struct key_ring *ring = ring_of(number, epoch);

	assert_int_equal(n_wrong(d, ring), 0);
	key_ring_unref(ring);
}

/* A copy of the options, which the manager does not see. */
static inline void change_options(struct desk *d)
{
	struct conf *c = conf_copy(d->conf);

	conf_unref(d->conf);
	d->conf = c;
}
