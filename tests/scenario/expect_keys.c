// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of M_Keys: as ports have them, and as managers know them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "fabric/store.h"
#include "ib/attrs.h"
#include "keys/key_ring.h"
#include "ledger/ledger.h"
#include "sm/base/keys.h"
#include "sm/ledger/settle.h"
#include "sm/rows/key_seeds.h"
#include "sm/sm_internal.h"
#include "tests/scenario/look.h"
#include "util/mem.h"

/* m-key A[:P] KEY: the port has this M_Key; `kept`: that of `keep-key` */
static int cond_m_key(struct look *l, const char *const *arg)
{
	struct sim_m_key has;
	unsigned port;
	uint64_t key;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0 || parse_key(l->s, arg[1], &key) < 0)
		return -EINVAL;
	if (!sim_port_m_key(l->s->rig->sim, node, port, &has))
		return fault(l->s, "%s is no end port", arg[0]);
	return require(l, has.key == key, "%s has the key 0x%llx", arg[0],
		       (unsigned long long)has.key);
}

/* m-key-level A[:P] N: its M_KeyProtectBits */
static int cond_m_key_level(struct look *l, const char *const *arg)
{
	struct sim_m_key has;
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	if (!sim_port_m_key(l->s->rig->sim, node, port, &has))
		return fault(l->s, "%s is no end port", arg[0]);
	return compare(l, "level", has.protect, arg[1]);
}

/* Has the port the key of this ring, and is protected as the options say? */
static bool has_key_of(const struct key_ring *ring, const struct scenario *s, int node)
{
	unsigned port = sim_node_is_switch(s->rig->sim, node) ? 0 : 1;
	struct sim_m_key has;

	return !sim_port_m_key(s->rig->sim, node, port, &has) ||
	       (has.key == key_ring_key(ring, has.guid) &&
		has.protect == s->conf->m_key_protection_level);
}

/*
 * keys SEED EPOCH N: end ports that have not the M_Key of this epoch of the seed, which is an m_key
 * or has the 64 digits of m_key_seed_file
 */
static int cond_keys(struct look *l, const char *const *arg)
{
	struct key_ring *ring;
	struct key_seed seed;
	uint64_t number, epoch;
	unsigned n = 0;

	if (parse_number(l->s, arg[1], 10000, &epoch) < 0)
		return -EINVAL;
	if (!key_seed_parse(arg[0], &seed)) {
		CHECK(parse_number(l->s, arg[0], UINT64_MAX, &number));
		key_seed_of_number(number, &seed);
	}
	ring = key_ring_new();
	key_ring_use(ring, &seed);
	while (epoch-- > 1)
		key_ring_turn(ring);
	for (int i = 0; i < (int)sim_n_nodes(l->s->rig->sim); i++)
		n += !has_key_of(ring, l->s, i);
	key_ring_unref(ring);
	return compare(l, "number of ports with another key", n, arg[2]);
}

/* opened N: end ports found without their key, or its protection, since `watch keys` */
static int cond_opened(struct look *l, const char *const *arg)
{
	return compare(l, "opened", sim_keys_watched(l->s->rig->sim)->opened, arg[0]);
}

uint64_t scenario_key_violations(const struct scenario *s)
{
	const struct sim *sim = s->rig->sim;
	struct sim_m_key has;
	uint64_t ret = 0;

	for (int i = 0; i < (int)sim_n_nodes(sim); i++)
		for (unsigned p = 0; p <= sim_node_ports(sim, i); p++)
			if (sim_port_m_key(sim, i, p, &has))
				ret += has.violations;
	return ret;
}

/* key-violations N: of all end ports, since they were powered on */
static int cond_key_violations(struct look *l, const char *const *arg)
{
	return compare(l, "number of violations of M_Keys", scenario_key_violations(l->s), arg[0]);
}

/* key-violations-at A[:P] N: since it was powered on */
static int cond_key_violations_at(struct look *l, const char *const *arg)
{
	struct sim_m_key has;
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	if (!sim_port_m_key(l->s->rig->sim, node, port, &has))
		return fault(l->s, "%s is no end port", arg[0]);
	return compare(l, "number of violations of its M_Key", has.violations, arg[1]);
}

/* keys-of NODE WHAT N: M_Keys as its manager shows them: epoch, ports, right, standbys, informed */
static int cond_keys_of(struct look *l, const char *const *arg)
{
	struct sm_keys keys;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	sm_keys(sm, &keys);
	{
		const struct {
			const char *name;
			unsigned n;
		} rows[] = {
			{ "epoch", keys.epoch },	 { "ports", keys.n_ports },
			{ "right", keys.n_right },	 { "standbys", keys.n_standbys },
			{ "informed", keys.n_informed },
		};

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			if (is(rows[i].name, arg[1]))
				return compare(l, arg[1], rows[i].n, arg[2]);
	}
	return fault(l->s, "expected epoch, ports, right, standbys or informed");
}

/* keys-changed N: end ports with another M_Key than at `keep-keys` */
static int cond_keys_changed(struct look *l, const char *const *arg)
{
	return compare(l, "number of changed keys", peers_keys_changed(l->s), arg[0]);
}

/* Number of end ports that `is_it` picks. */
static unsigned count_ports(const struct look *l,
			    bool (*is_it)(const struct sim_m_key *has, const void *arg),
			    const void *arg)
{
	const struct sim *sim = l->s->rig->sim;
	struct sim_m_key has;
	unsigned n = 0;

	for (int i = 0; i < (int)sim_n_nodes(sim); i++)
		for (unsigned p = 0; p <= sim_node_ports(sim, i); p++)
			n += sim_port_m_key(sim, i, p, &has) && is_it(&has, arg);
	return n;
}

static bool is_unlocked(const struct sim_m_key *has, const void *arg)
{
	return !has->key || has->protect != 2;
}

/* unlocked N: end ports without an M_Key, or not protected by it (level 2) */
static int cond_unlocked(struct look *l, const char *const *arg)
{
	return compare(l, "number of ports", count_ports(l, is_unlocked, NULL), arg[0]);
}

static bool has_other_key(const struct sim_m_key *has, const void *key)
{
	return has->key != *(const uint64_t *)key;
}

/* guards LEVEL LEASE: of all end ports: M_KeyProtectBits, and the lease period in seconds */
static int cond_guards(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	uint8_t info[SMP_DATA_SIZE];
	struct sim_m_key has;
	uint64_t level, lease;

	if (parse_number(l->s, arg[0], 3, &level) < 0 ||
	    parse_number(l->s, arg[1], UINT16_MAX, &lease) < 0)
		return -EINVAL;
	for (int i = 0; i < (int)sim_n_nodes(sim); i++)
		for (unsigned p = 0; p <= sim_node_ports(sim, i); p++) {
			if (!sim_port_m_key(sim, i, p, &has) ||
			    sim_read(sim, i, IB_ATTR_PORT_INFO, p, info) < 0)
				continue;
			if (has.protect != level || ib_get(info, PI_M_KEY_LEASE) != lease)
				return require(l, false, "%s port %u: level %u, lease %u",
					       sim_node_id(sim, i), p, has.protect,
					       (unsigned)ib_get(info, PI_M_KEY_LEASE));
		}
	return 1;
}

/* Condition `keys-are KEY`: every end port has this M_Key. */
static int cond_keys_are(struct look *l, const char *const *arg)
{
	uint64_t key;

	if (parse_key(l->s, arg[0], &key) < 0)
		return -EINVAL;
	return compare(l, "number of ports with another key", count_ports(l, has_other_key, &key),
		       "0");
}

/* Has the port a key that the ring does not give? */
static bool has_strange_key(const struct sim_m_key *has, const void *ring)
{
	uint64_t former[KEY_RING_FORMER];
	unsigned n;

	if (!has->key || key_ring_key(ring, has->guid) == has->key)
		return false;
	n = key_ring_former(ring, has->guid, former, KEY_RING_FORMER);
	while (n && former[n - 1] != has->key)
		n--;
	return !n;
}

/* strange-keys NODE N: end ports whose M_Key its manager would not try */
static int cond_strange_keys(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	return compare(l, "number of ports", count_ports(l, has_strange_key, keys_known(sm)),
		       arg[1]);
}

/* same-seeds NODE OTHER: both managers have the same seeds and epochs, in the same order */
static int cond_same_seeds(struct look *l, const char *const *arg)
{
	struct sm *a, *b;
	int r;

	a = manager_on(l, arg[0], &r);
	b = a ? manager_on(l, arg[1], &r) : NULL;
	if (!b)
		return r;
	return require(l, key_ring_mark(keys_known(a)) == key_ring_mark(keys_known(b)),
		       "they have other seeds");
}

/* knows-seeds NODE OTHER: its manager has all seeds and epochs of the other one */
static int cond_knows_seeds(struct look *l, const char *const *arg)
{
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;
	struct sm *a, *b;
	int r;

	a = manager_on(l, arg[0], &r);
	b = a ? manager_on(l, arg[1], &r) : NULL;
	if (!b)
		return r;
	ring = key_ring_copy(keys_known(a));
	return require(l, !key_ring_merge(ring, keys_known(b)), "%s has more seeds", arg[1]);
}

/* seed-of NODE NUMBER: its manager makes keys from the seed of this m_key */
static int cond_seed_of(struct look *l, const char *const *arg)
{
	_cleanup_(key_ring_unrefp) struct key_ring *ring = key_ring_new();
	struct key_seed seed;
	uint64_t number;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_number(l->s, arg[1], UINT64_MAX, &number) < 0)
		return -EINVAL;
	key_seed_of_number(number, &seed);
	key_ring_use(ring, &seed);
	return require(l, key_ring_is_alike(ring, keys_known(sm)), "it has another seed in force");
}

/* seeds-in-rows NODE OTHER: rows of its manager have the seeds of the other one, as in force */
static int cond_seeds_in_rows(struct look *l, const char *const *arg)
{
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;
	struct sm *a, *b;
	bool in_force;
	int r;

	a = manager_on(l, arg[0], &r);
	b = a ? manager_on(l, arg[1], &r) : NULL;
	if (!b)
		return r;
	ring = key_seeds_ring(a, &in_force);
	return require(l, in_force && key_ring_mark(ring) == key_ring_mark(keys_known(b)),
		       "rows say other seeds");
}

/* The manager on arg[0], and the end port of arg[1]; NULL with *ret_r: there is none. */
static struct sm *manager_and_port(struct look *l, const char *const *arg, struct sim_m_key *ret,
				   int *ret_r)
{
	struct sm *sm = manager_on(l, arg[0], ret_r);
	unsigned port;
	int node;

	if (!sm || parse_port(l->s, arg[1], &node, &port) < 0)
		return NULL;
	*ret_r = -EINVAL;
	return sim_port_m_key(l->s->rig->sim, node, port, ret) ? sm : NULL;
}

/* right-key NODE A[:P]: the port has the M_Key that its manager wants there */
static int cond_right_key(struct look *l, const char *const *arg)
{
	struct sim_m_key has;
	struct sm *sm;
	int r;

	sm = manager_and_port(l, arg, &has, &r);
	return sm ? require(l, keys_wanted(sm, has.guid) == has.key, "it has another key") : r;
}

/* knows-key NODE A[:P]: its manager has the M_Key of the port in guid2mkey */
static int cond_knows_key(struct look *l, const char *const *arg)
{
	struct sim_m_key has;
	uint64_t key = 0;
	struct sm *sm;
	int r;

	sm = manager_and_port(l, arg, &has, &r);
	if (!sm)
		return r;
	return require(l, store_mkey(sm->store, has.guid, &key) && key == has.key,
		       "it knows another key, or none");
}

/* key-row NODE A[:P]: a row of the ledger of its manager has the M_Key of the port */
static int cond_key_row(struct look *l, const char *const *arg)
{
	struct ledger_key key = { .table = LEDGER_EPOCH, .len = 8 };
	struct ledger_value v;
	struct sim_m_key has;
	struct sm *sm;
	int r;

	sm = manager_and_port(l, arg, &has, &r);
	if (!sm)
		return r;
	ib_bits_put(key.bytes, 0, 64, has.guid);
	return require(l,
		       ledger_get(settle_ledger(sm), &key, &v) &&
			       ib_bits_get(v.bytes, 0, 64) == has.key,
		       "there is no row with this key");
}

/* key-logged A[:P] N: records of the log, since `mark`, that have its M_Key */
static int cond_key_logged(struct look *l, const char *const *arg)
{
	struct sim_m_key has;
	unsigned port, n = 0;
	char text[20];
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0 ||
	    !sim_port_m_key(l->s->rig->sim, node, port, &has))
		return -EINVAL;
	snprintf(text, sizeof(text), "%016" PRIx64, has.key);
	for (const char *at = l->s->log_len ? l->s->log : NULL; at && (at = strstr(at, text)); at++)
		n++;
	return compare(l, "number of records", n, arg[1]);
}

const struct cond key_conds[] = {
	{ "m-key", 2, cond_m_key },
	{ "m-key-level", 2, cond_m_key_level },
	{ "keys", 3, cond_keys },
	{ "opened", 1, cond_opened },
	{ "key-violations", 1, cond_key_violations },
	{ "key-violations-at", 2, cond_key_violations_at },
	{ "keys-of", 3, cond_keys_of },
	{ "keys-changed", 1, cond_keys_changed },
	{ "unlocked", 1, cond_unlocked },
	{ "guards", 2, cond_guards },
	{ "keys-are", 1, cond_keys_are },
	{ "strange-keys", 2, cond_strange_keys },
	{ "same-seeds", 2, cond_same_seeds },
	{ "knows-seeds", 2, cond_knows_seeds },
	{ "seed-of", 2, cond_seed_of },
	{ "seeds-in-rows", 2, cond_seeds_in_rows },
	{ "right-key", 2, cond_right_key },
	{ "knows-key", 2, cond_knows_key },
	{ "key-row", 2, cond_key_row },
	{ "key-logged", 2, cond_key_logged },
	{ 0 },
};
