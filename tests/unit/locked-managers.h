// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two managers (two-managers.h) of a fabric that is locked with M_Keys of single ports, for
 * test-sm-keys-absent and test-sm-keys-seeds.
 */
#pragma once

#include "two-managers.h"
#include "keys/key_ring.h"
#include "sm/base/keys.h"

#define N_PORTS (N_HOSTS + 4)

/* Options of both: no key of them is one that everyone knows. */
static inline void lock_options(struct world *w, unsigned which)
{
	struct conf *c = conf_copy(w->conf[which]);

	conf_unref(w->conf[which]);
	w->conf[which] = c;
	c->sm_key = 0x515;
	c->sa_key = 0x5a5;
	c->m_key = UINT64_MAX;
	c->m_key_per_port = true;
	c->m_key_protection_level = 2;
}

static inline void reload(struct world *w, unsigned which)
{
	struct conf_files *files = conf_files_read(w->conf[which], sm_files(sm_of(w, which)));

	sm_reload(sm_of(w, which), w->conf[which], files);
	conf_files_unref(files);
}

struct keys_seen {
	uint64_t key[N_PORTS];
	unsigned n, n_open;
};

static inline struct keys_seen look(struct world *w)
{
	struct keys_seen k = { 0 };
	uint8_t ni[SMP_DATA_SIZE], info[SMP_DATA_SIZE];

	for (int i = 0; sim_read(w->rig->sim, i, IB_ATTR_NODE_INFO, 0, ni) == 0; i++) {
		unsigned port = ib_get(ni, NI_NODE_TYPE) == IB_NODE_SWITCH ? 0 : 1;

		assert_int_equal(sim_read(w->rig->sim, i, IB_ATTR_PORT_INFO, port, info), 0);
		assert_in_range(k.n, 0, N_PORTS - 1);
		k.key[k.n++] = ib_get(info, PI_M_KEY);
		k.n_open += !ib_get(info, PI_M_KEY) || ib_get(info, PI_M_KEY_PROTECT) != 2;
	}
	return k;
}

static inline unsigned n_changed(const struct keys_seen *a, const struct keys_seen *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++)
		n += a->key[i] != b->key[i];
	return n;
}

/* An open fabric with both. */
static inline void start_open(struct world *w)
{
	sim_set_own_port_open(w->rig->sim, true);
	lock_options(w, ACTIVE);
	lock_options(w, SPARE);
	w->conf[ACTIVE]->m_key_protection_level = 0;
	w->conf[ACTIVE]->m_key_per_port = false;
	w->conf[ACTIVE]->m_key = 0;
	start_both(w);
	attend(w, 4, 30 * MONO_S);
}

static inline void start_locked(struct world *w)
{
	start_open(w);
	lock_options(w, ACTIVE);
	reload(w, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(look(w).n_open, 0);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
}

static inline unsigned epoch_at(struct world *w, unsigned which)
{
	struct sm_keys keys;

	sm_keys(sm_of(w, which), &keys);
	return keys.epoch;
}
