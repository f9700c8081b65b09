// SPDX-License-Identifier: BSD-2-Clause
#include "sm/base/drawn_key.h"
#include "sm/base/keys_internal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sm/base/about.h"
#include "sm/sm_internal.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/told.h"

MACHINE_MEMORY(keys);

#define FILE_NAME    "m_key_ring"
#define SEED_MAX     4096
/* epochs tried of each seed, a microsecond each: eleven years of daily rotations */
#define EPOCHS_AHEAD 4096
#define EPOCHS_NEAR  8
#define KEYS_LIKELY  8
#define ROTATES_FOR  (120 * MONO_S) /* time by which all ports have a new key */
#define MOST_HAVE    (30 * MONO_S)  /* time by which most ports have a new key */
#define WELL_KNOWN   1		       /* default sm_key and sa_key of all subnet managers */
#define EXPECTED_MAX (KEY_RING_FORMER + 8 + KEY_RING_SEEDS * EPOCHS_NEAR)

enum { TOLD_SEED };

/* ---- which seed ------------------------------------------------------------------------------ */

/* Reads a seed. Returns the fault of the file in words; NULL: none. */
static const char *read_seed(const char *path, struct key_seed *ret)
{
	_cleanup_free_ char *text = NULL;
	const char *wrong = NULL;
	struct stat st;
	size_t len;
	int r;

	if (stat(path, &st) == 0 && st.st_mode & (S_IRWXG | S_IRWXO))
		return "others than its owner may read it (chmod 600)";
	if (stat(path, &st) == 0 && st.st_uid && st.st_uid != geteuid())
		return "it is neither root's nor of the user that runs opensm (chown)";
	r = file_read(path, SEED_MAX, &text, &len);
	if (r < 0)
		return strerror(-r);
	if (strlen(text) != len || !key_seed_parse(text, ret))
		wrong = "it does not hold 64 hexadecimal digits, and nothing else";
	explicit_bzero(text, len);
	return wrong;
}

/* Reads the seed that options name. False: none can be read, and the known ring stays. */
static bool configured_seed(struct sm *sm, const struct conf *c, struct key_seed *ret)
{
	const char *path = c->m_key_seed_file, *wrong;

	if (!path) {
		key_seed_of_number(c->m_key, ret);
		return c->m_key && c->m_key != UINT64_MAX;
	}
	wrong = read_seed(path, ret);
	if (!wrong) {
		told_change(&sm->m.keys->told, TOLD_SEED, false);
		return true;
	}
	if (told_first(&sm->m.keys->told, TOLD_SEED))
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING, .file = path), LOGB_ERROR,
		       "m_key_seed_file %s: %s; %s", path, wrong,
		       key_ring_is_empty(sm->m.keys->known)
			       ? "M_Keys of ports stay as they are"
			       : "the seed that was in use before is used on");
	return false;
}

static bool has_shared_key(const struct conf *c)
{
	return !c->m_key_per_port && c->m_key;
}

static bool has_no_seed(const struct key_ring *ring)
{
	return key_ring_is_empty(ring) || key_ring_is_shared(ring);
}

struct key_ring *keys_asked_for(struct sm *sm)
{
	const struct key_ring *known = sm->m.keys->known;
	_cleanup_(key_ring_unrefp) struct key_ring *ring = key_ring_copy(known);
	struct key_seed seed = { 0 };
	bool changed = false;

	if (!sm->conf->m_key_per_port)
		changed = has_shared_key(sm->conf) && key_ring_use_shared(ring, sm->conf->m_key);
	else if (configured_seed(sm, sm->conf, &seed))
		changed = key_ring_use(ring, &seed);
	else if (has_no_seed(ring) && !sm->conf->m_key_seed_file)
		changed = sm_draw(sm, seed.bytes, sizeof(seed.bytes)) && key_ring_use(ring, &seed);
	explicit_bzero(&seed, sizeof(seed));
	return changed ? take(ring) : NULL;
}

/* ---- the ring -------------------------------------------------------------------------------- */

/*
 * The ring at the start: the stored one, as ports have keys of the seed used last. If that is not
 * the one in options, another manager was master, and options change the keys after all ports were
 * met (key_turn.c). NULL: the known one is used.
 */
static struct key_ring *first_ring(struct sm *sm)
{
	struct keys *k = sm->m.keys;
	struct key_ring *asked = keys_asked_for(sm);

	if (key_ring_is_empty(k->known))
		return asked;
	k->others_ruled = asked != NULL;
	return key_ring_unref(asked);
}

void keys_new(struct sm *sm, const struct sm_paths *paths)
{
	struct keys *k = sm->m.keys;
	struct key_ring *ring;
	int r;

	if (paths && paths->cache_dir)
		k->path = xasprintf("%s/" FILE_NAME, paths->cache_dir);
	keys_read(k);
	ring = first_ring(sm);
	if (!ring)
		return;
	r = k->path ? file_mkdirs(paths->cache_dir, 0755) : 0;
	if (r == 0)
		r = keys_store(k->path, ring);
	if (r == 0)
		k->kept = key_ring_mark(ring);
	/* Options have the key if there is one for all ports. */
	if (r == 0 || !sm->conf->m_key_per_port) {
		keys_use(sm, ring);
		return;
	}
	key_ring_unref(ring);
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = k->path, .error = -r), LOGB_ERROR,
	       "%s: the seed of M_Keys cannot be stored: %s; M_Keys of ports stay as they are "
	       "until a reload that can store it",
	       k->path, strerror(-r));
}

void keys_free(struct sm *sm)
{
	struct keys *k = sm->m.keys;

	key_ring_unref(k->known);
	key_ring_unref(k->none);
	key_ring_unref(k->met);
	key_ring_unref(k->later);
	free(k->path);
}

void sm_release_keys(struct sm *sm, const struct conf *before)
{
	struct keys *k = sm->m.keys;
	struct key_ring *ring = key_ring_copy(k->known);
	struct key_seed seed;

	assert(!sm->conf->m_key_per_port);
	if (before->m_key_per_port && configured_seed(sm, before, &seed)) {
		key_ring_use(ring, &seed);
		explicit_bzero(&seed, sizeof(seed));
	}
	if (!before->m_key_per_port || before->m_key_seed_file)
		k->released = before->m_key;
	keys_use(sm, ring);
}

const char *keys_path(const struct sm *sm)
{
	return sm->m.keys->path;
}

const struct key_ring *keys_known(const struct sm *sm)
{
	return sm->m.keys->known;
}

const struct key_ring *keys_ring(const struct sm *sm)
{
	return sm->conf->m_key_per_port || has_shared_key(sm->conf) ? sm->m.keys->known : NULL;
}

bool keys_are_single(const struct sm *sm)
{
	return keys_ring(sm) && !key_ring_is_shared(keys_ring(sm));
}

bool keys_are_unstored(const struct sm *sm)
{
	return keys_ring(sm) && sm->m.keys->is_unstored;
}

const struct key_ring *keys_to_write(const struct sm *sm)
{
	return keys_are_unstored(sm) ? sm->m.keys->none : keys_ring(sm);
}

/*
 * Makes the key of the ring the next one of each port, whether this manager writes it or its
 * master.
 */
static void expect_new_keys(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (!port_is_end(p) || !p->guid)
				continue;
			observe_mkeys_renewed(p);
			if (!ib_get(p->info, PI_M_KEY))
				observe_mkey_tried(p, keys_wanted(sm, p->guid));
			else
				observe_mkey_set(p, keys_wanted(sm, p->guid));
		}
	}
}

/* `ring` with the later epoch of another manager added; NULL: `ring` has that epoch already. */
static struct key_ring *still_later(const struct sm *sm, const struct key_ring *ring)
{
	_cleanup_(key_ring_unrefp) struct key_ring *later = NULL;

	if (!sm->m.keys->later || sm->state != SM_MASTER)
		return NULL;
	later = key_ring_copy(ring);
	return key_ring_merge(later, sm->m.keys->later) ? take(later) : NULL;
}

static void put_in_force(struct sm *sm, struct key_ring *ring, bool is_stored)
{
	struct keys *k = sm->m.keys;
	struct key_ring *later = still_later(sm, ring);
	/* As MASTER the keys of ports are known, and further seeds change none. */
	bool changes = sm->state != SM_MASTER || !key_ring_is_alike(k->known, ring);

	key_ring_unref(k->known);
	k->met = key_ring_unref(k->met);
	key_ring_unref(k->later);
	k->later = later;
	k->known = ring;
	k->is_unstored = !is_stored;
	if (changes)
		k->used_at = sm->now;
	k->is_unlooked |= changes;
	if (changes && keys_ring(sm))
		expect_new_keys(sm);
}

void keys_use(struct sm *sm, struct key_ring *ring)
{
	put_in_force(sm, ring, true);
}

bool keys_are_fresh(const struct sm *sm)
{
	return sm->m.keys->is_fresh;
}

bool keys_are_kept(const struct sm *sm)
{
	return !sm->m.keys->path || sm->m.keys->kept == key_ring_mark(sm->m.keys->known);
}

uint64_t keys_wanted(const struct sm *sm, guid_t port_guid)
{
	const struct key_ring *ring = keys_ring(sm);

	if (!ring)
		return sm->conf->m_key;
	return port_guid && !key_ring_is_empty(ring) ? key_ring_key(ring, port_guid) : 0;
}

/* ---- keys to try ----------------------------------------------------------------------------- */

static bool is_of_ring(const struct key_ring *ring, guid_t guid, uint64_t key)
{
	uint64_t former[KEY_RING_FORMER];
	unsigned n;

	if (key_ring_is_empty(ring) || key_ring_key(ring, guid) == key)
		return !key_ring_is_empty(ring);
	n = key_ring_former(ring, guid, former, KEY_RING_FORMER);
	for (unsigned i = 0; i < n; i++) {
		if (former[i] == key)
			return true;
	}
	return false;
}

struct list {
	uint64_t keys[EXPECTED_MAX];
	unsigned n;
};

/*
 * Adds a key. Not 0, as a port without a key takes any, nor all ones, which ask for a random seed.
 */
static void add(struct list *l, uint64_t key)
{
	if (!key || key == UINT64_MAX)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		if (l->keys[i] == key)
			return;
	}
	if (l->n < EXPECTED_MAX)
		l->keys[l->n++] = key;
}

static bool is_secret(uint64_t key)
{
	return key && key != WELL_KNOWN;
}

bool keys_may_be_sent(const struct sm *sm)
{
	return is_secret(sm->conf->sm_key) && is_secret(sm->conf->sa_key);
}

static bool had_manager(const struct keys *k, guid_t guid)
{
	for (unsigned i = 0; i < MANAGERS; i++) {
		if (k->managers[i] == guid)
			return true;
	}
	return false;
}

void keys_manager_met(struct sm *sm, guid_t port_guid)
{
	struct keys *k = sm->m.keys;

	if (!port_guid || !keys_may_be_sent(sm) || had_manager(k, port_guid))
		return;
	k->managers[k->manager_at] = port_guid;
	k->manager_at = (k->manager_at + 1) % MANAGERS;
}

bool keys_has_managers(const struct sm *sm)
{
	for (unsigned i = 0; i < MANAGERS; i++) {
		if (sm->m.keys->managers[i])
			return true;
	}
	return false;
}

/*
 * Was the absent node a switch, by the file neighbors, where each port of a host has its own GUID?
 * If another manager is its master, it may have keys of later epochs.
 */
static bool was_switch(const struct sm *sm, guid_t guid)
{
	return sm->conf->m_key_lookup && store_n_neighbors(sm->store, guid) > 1;
}

/*
 * Is the port trusted with later epochs: our own, that of a manager of ours, or of a switch? With a
 * key of a later epoch a host could claim that another manager has rotated, so no other port gets
 * one, or is believed.
 */
static bool tells_epochs(const struct sm *sm, guid_t guid)
{
	const struct port *p = fabric_find_port(sm->fabric, guid);
	const struct node *n = p ? p->node : fabric_find_node(sm->fabric, guid);

	return guid == sm->tr->port_guid || (n ? node_is_switch(n) : was_switch(sm, guid)) ||
	       (guid && had_manager(sm->m.keys, guid) && keys_may_be_sent(sm));
}

/*
 * Adds keys of later epochs. Another manager may have put a former seed into force, its own or that
 * of a third, and may have rotated since.
 */
static void expect_ahead(const struct key_ring *ring, guid_t guid, uint32_t ahead, struct list *l)
{
	add(l, key_ring_key_ahead(ring, guid, ahead));
	for (unsigned i = 0; i + 1 < KEY_RING_SEEDS; i++) {
		if (ahead == 1)
			add(l, key_ring_former_ahead(ring, i, guid, 0));
		add(l, key_ring_former_ahead(ring, i, guid, ahead));
	}
}

/*
 * Adds the key in guid2mkey, and the next one, as the port or its manager may have gone while that
 * was written. False: another manager has changed it since, or has met the port; then both come
 * last.
 */
static bool expect_stored(const struct sm *sm, guid_t guid, bool is_last, struct list *l)
{
	const struct keys *k = sm->m.keys;
	uint64_t key, after;
	bool is_late;

	if (!guid || !sm->conf->m_key_lookup || !store_mkey(sm->store, guid, &key))
		return true;
	/* Searched through many epochs, so only if something changed. */
	after = key != keys_wanted(sm, guid) ? key_ring_after(k->known, guid, key) : 0;
	is_late = store_mkey_is_former(sm->store, guid) ||
		  (k->others_ruled && (after || is_of_ring(k->known, guid, key)));
	if (is_late && !is_last)
		return false;
	add(l, key);
	if (k->later)
		add(l, key_ring_key(k->later, guid));
	add(l, after);
	return true;
}

/*
 * Lists keys that the port may have. Its host sees keys that are sent, so these are neither keys of
 * other ports nor the seed, and a host that is silent on purpose learns nothing. Each key costs a
 * digest: at most `enough` are found.
 */
static void expect(const struct sm *sm, guid_t guid, unsigned enough, struct list *l)
{
	const struct keys *k = sm->m.keys;
	uint64_t former[KEY_RING_FORMER];
	const struct key_ring *ring = guid && !has_no_seed(k->known) ? keys_ring(sm) : NULL;
	bool ahead_too = ring && tells_epochs(sm, guid), is_late;
	unsigned n;

	l->n = 0;
	is_late = !expect_stored(sm, guid, false, l);
	add(l, keys_wanted(sm, guid));
	if (ring && k->met && enough > 1)
		add(l, key_ring_key(k->met, guid));
	if (ring && k->later && enough > 1)
		add(l, key_ring_key(k->later, guid));
	if (sm->conf->m_key_per_port && sm->conf->m_key_seed_file)
		add(l, sm->conf->m_key);
	add(l, k->released);
	if (l->n >= enough)
		return;
	n = guid ? key_ring_former(k->known, guid, former, MIN(enough, KEY_RING_FORMER)) : 0;
	for (unsigned i = 0; i < n; i++) {
		add(l, former[i]);
		if (ahead_too && !i) /* the most likely of those of another manager */
			expect_ahead(ring, guid, 1, l);
	}
	/* If two fabrics grow together, the other manager has rotated as well. */
	for (uint32_t ahead = 1; ahead_too && l->n < enough && ahead <= EPOCHS_NEAR; ahead++)
		expect_ahead(ring, guid, ahead, l);
	if (guid && !keys_ring(sm) && !key_ring_is_empty(k->known))
		add(l, key_ring_key(k->known, guid));
	if (!sm->conf->m_key_per_port)
		add(l, sm->conf->m_key);
	if (is_late)
		expect_stored(sm, guid, true, l);
}

/*
 * The key for the n-th try on our own port: after the likely ones, keys of later epochs, as another
 * manager may have rotated while this one was away, and may go on: 2 epochs are tried, then 4, 8,
 * each from the first on. The likely ones precede each round, as the port may have been silent.
 * Only our own host sees these keys.
 */
static uint64_t own_expected(const struct sm *sm, const struct list *l, unsigned nth)
{
	unsigned round = 2;

	for (; nth >= l->n + round; round = round < EPOCHS_AHEAD ? round * 2 : 2)
		nth -= l->n + round;
	return nth < l->n ? l->keys[nth]
			  : key_ring_key_ahead(keys_ring(sm), sm->tr->port_guid, nth - l->n + 1);
}

uint64_t keys_expected(const struct sm *sm, guid_t port_guid, unsigned nth)
{
	struct list l;

	expect(sm, port_guid, nth < EXPECTED_MAX ? nth + 1 : EXPECTED_MAX, &l);
	if (nth < l.n)
		return l.keys[nth];
	expect(sm, port_guid, EXPECTED_MAX, &l);
	if (port_guid == sm->tr->port_guid && keys_ring(sm) && !has_no_seed(keys_ring(sm)))
		return own_expected(sm, &l, nth);
	return l.n ? l.keys[nth % l.n] : 0;
}

uint64_t keys_rival(const struct sm *sm, guid_t port_guid)
{
	uint64_t stored, wanted = keys_wanted(sm, port_guid);
	bool is_stored = port_guid && sm->conf->m_key_lookup &&
			 store_mkey(sm->store, port_guid, &stored) && stored &&
			 !store_mkey_is_former(sm->store, port_guid);
	struct list l;

	if (!keys_ring(sm) || !wanted ||
	    (!sm->m.keys->others_ruled && !sm->m.keys->later &&
	     (!is_stored || stored == wanted)))
		return 0;
	expect(sm, port_guid, 2, &l);
	return l.n > 1 ? l.keys[1] : 0;
}

static uint64_t own_key(const struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;

	if (!keys_ring(sm))
		return sm->conf->m_key;
	if (sm->m.keys->own_shown) /* polls see it long before the next sweep */
		return sm->m.keys->own_shown;
	if (!own || !own->known || fabric_hides_mkey(own))
		return keys_expected(sm, sm->tr->port_guid, 0);
	return ib_get(own->info, PI_M_KEY);
}

bool keys_open_own(const struct sm *sm, uint64_t key)
{
	uint64_t own = own_key(sm);

	return !own || key == own ||
	       (key && keys_ring(sm) && key == keys_wanted(sm, sm->tr->port_guid));
}

/*
 * Does our own port show that another manager has put another seed into force? If all ports have
 * its keys, each would first be asked with those of the former seed.
 */
static bool follow_seed(const struct sm *sm, struct key_ring *ring, guid_t guid, uint64_t key)
{
	if (guid != sm->tr->port_guid || sm->state != SM_DISCOVERING ||
	    !key_ring_use_of(ring, guid, key))
		return false;
	log_info("M_Keys are those of another manager's seed from now on: epoch %u",
		 key_ring_epoch(ring));
	return true;
}

static bool find_epoch(const struct sm *sm, struct key_ring *ring, guid_t guid, uint64_t key)
{
	uint32_t ahead = guid == sm->tr->port_guid ? EPOCHS_AHEAD : EPOCHS_NEAR;

	if (is_of_ring(ring, guid, key) || !key_ring_find(ring, guid, key, ahead))
		return false;
	log_info("M_Keys were rotated by another manager");
	return true;
}

/*
 * Notes the seed of a key that a port showed, to be tried on others; a seed in force, or coming
 * into force, stays. Once per sweep: with three seeds mixed it would change with each port.
 */
static void note_seed(struct sm *sm, guid_t guid, uint64_t key)
{
	struct keys *k = sm->m.keys;
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;

	if (k->met && k->met_in == sm->sweep_no)
		return;
	ring = key_ring_copy(k->known);
	if (!key_ring_use_of(ring, guid, key))
		return;
	k->met_in = sm->sweep_no;
	if (k->met && key_ring_is_alike(k->met, ring))
		return;
	key_ring_unref(k->met);
	k->met = take(ring);
}

void keys_follow(struct sm *sm, struct key_ring *ring)
{
	struct keys *k = sm->m.keys;

	if (sm->state == SM_MASTER) {
		key_ring_unref(k->later);
		k->later = ring;
		return;
	}
	k->others_ruled = true;
	put_in_force(sm, ring, false);
}

void keys_state_changed(struct sm *sm)
{
	if (sm->state != SM_MASTER && sm->m.keys->later)
		keys_follow(sm, take(sm->m.keys->later));
}

const struct key_ring *keys_later(const struct sm *sm)
{
	return sm->m.keys->later;
}

bool keys_add_known(const struct sm *sm, struct key_ring *ring)
{
	const struct keys *k = sm->m.keys;
	bool changed = key_ring_merge(ring, k->known);

	return (k->later && key_ring_merge(ring, k->later)) || changed;
}

const struct key_ring *keys_found(const struct sm *sm)
{
	const struct keys *k = sm->m.keys;

	if (k->later && keys_ring(sm))
		return sm->sweep == SWEEP_NONE ? k->later : NULL;
	return keys_are_unstored(sm) ? k->known : NULL;
}

void keys_shown(struct sm *sm, guid_t guid, uint64_t key)
{
	struct keys *k = sm->m.keys;
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;
	bool own = guid == sm->tr->port_guid, is_new = !own || key != k->own_shown, found;

	if (own) /* guid2mkey may have that key as well, which says nothing about the epoch */
		k->own_shown = key;
	if (!key || !is_new || has_no_seed(k->known) || !tells_epochs(sm, guid) ||
	    key_ring_key(k->known, guid) == key ||
	    (k->later && key_ring_key(k->later, guid) == key))
		return;
	ring = key_ring_copy(k->later && !own ? k->later : k->known);
	found = find_epoch(sm, ring, guid, key);
	found |= follow_seed(sm, ring, guid, key);
	if (found && own) {
		k->others_ruled = true;
		put_in_force(sm, take(ring), false);
	} else if (found) {
		keys_follow(sm, take(ring));
		return;
	}
	if (key_ring_key(k->known, guid) != key)
		note_seed(sm, guid, key);
}

void keys_look(struct sm *sm)
{
	struct keys *k = sm->m.keys;

	if (!k->is_unlooked || sm->now - k->used_at < MOST_HAVE)
		return;
	k->is_unlooked = false;
	FABRIC_EACH_END_PORT(sm->fabric, p) {
		uint64_t wanted = p->guid ? keys_wanted(sm, p->guid) : 0;

		if (wanted && p->m_key && p->m_key != wanted && p->m_key_other == wanted &&
		    !p->key_doubts)
			observe_mkey_tried(p, wanted);
	}
}

/*
 * Does the port keep its key? It is of the part of another master, which hands over and writes no
 * keys any more.
 */
static bool keeps_key(const struct sm *sm, const struct port *p)
{
	return sm->state == SM_MASTER && !p->key_doubts && ib_get(p->info, PI_M_KEY) == p->m_key;
}

/* Makes the most likely key the next one; the key that was next is tried after it. */
static void expect_likeliest(const struct sm *sm, struct port *p)
{
	uint64_t key = keys_expected(sm, p->guid, 0), rival = keys_rival(sm, p->guid);

	if (keeps_key(sm, p)) {
		observe_mkey_set(p, key);
		return;
	}
	if (p->key_doubts && p->m_key != key)
		observe_mkey_untried(p);
	if (rival)
		observe_mkey_tried(p, rival);
	observe_mkey_tried(p, key);
}

/*
 * Expects that keys which ports showed to this manager as master were changed by the next master.
 */
static void expect_keys_of_others(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (port_is_end(p) && p->guid && p->m_key)
				expect_likeliest(sm, p);
		}
	}
}

static uint64_t mark_of(const struct key_ring *ring)
{
	return ring ? key_ring_mark(ring) : 0;
}

uint64_t keys_likely(const struct sm *sm)
{
	const struct keys *k = sm->m.keys;

	if (!keys_ring(sm))
		return 0;
	return mark_of(k->known) ^ mark_of(k->met) << 1 ^ mark_of(k->later) << 2 ^ k->n_ruled;
}

void keys_ruled(struct sm *sm)
{
	sm->m.keys->others_ruled = true;
	sm->m.keys->n_ruled++;
	if (keys_ring(sm) && !key_ring_is_empty(keys_ring(sm)))
		expect_keys_of_others(sm);
}

bool keys_may_be_mixed(const struct sm *sm)
{
	return keys_ring(sm) && sm->now - sm->m.keys->used_at < ROTATES_FOR;
}

bool keys_others_ruled(const struct sm *sm)
{
	return sm->m.keys->others_ruled;
}

void keys_met(struct sm *sm)
{
	sm->m.keys->others_ruled = false;
}

unsigned keys_n_expected(const struct sm *sm, guid_t port_guid)
{
	struct list l;

	expect(sm, port_guid, EXPECTED_MAX, &l);
	return l.n;
}

unsigned keys_of_turn(unsigned turn)
{
	unsigned round = KEYS_LIKELY;

	for (; turn >= round; round *= 2)
		turn -= round;
	return turn;
}

void keys_doubt(struct sm *sm, struct port *p, uint64_t m_key)
{
	struct port *sma = port_of_sma(p);
	unsigned turn;

	/* One of several requests with this key: it is in doubt already. */
	if (m_key != sma->m_key)
		return;
	observe_mkey_doubt(p);
	turn = sma->key_doubts;
	if (turn > 1)
		observe_mkey_tried(sma, keys_expected(sm, sma->guid, keys_of_turn(turn - 2)));
}

void keys_next(struct sm *sm, struct port *p)
{
	struct port *sma = port_of_sma(p);

	observe_mkey_refused(p);
	observe_mkey_tried(sma, keys_expected(sm, sma->guid, sma->keys_tried));
}
