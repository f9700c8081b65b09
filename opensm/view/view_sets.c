// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key sets of a view, stored once each and found by a hash of their entries.
 *
 * Sets are numbered: those of the root view first, then those of the derived view. A number stays
 * with its set from one derived view to the next, as long as a port has it.
 */
#include "view/view_sets.h"

#include <assert.h>
#include <string.h>

#include "plan/pkey.h"
#include "util/hash.h"
#include "util/mem.h"
#include "view/policy_keys.h"

/* Comparisons of hashes up to which no map is made for them. */
#define SCAN_MOST 65536u

/* A set that the root lacks; shared by all derived views with ports that have it. */
struct more_set {
	_Atomic unsigned refs;
	uint64_t hash;
	struct pkey_set set;
	struct pkey_entry entries[];
};

struct view_sets {
	bool is_root;
	struct pkey_set *sets; /* of the root */
	uint64_t *hashes;      /* likewise */
	uint32_t n_root;
	struct more_set **more; /* own; NULL: a free number */
	uint32_t n_more;
	uint32_t *uses;	   /* by number: ports that have it */
	uint32_t *of_port; /* by port: number, or VIEW_NONE */
	uint32_t n_ports;
	struct policy_keys *keys; /* NULL: no rows are needed */
	uint64_t *rows; /* by number: policy_keys_words() each; of numbers that no port has: any */
};

static uint64_t hash_set(const struct pkey_set *set)
{
	return hash_bytes(HASH_START, set->entries, set->n * sizeof(*set->entries)) | 1;
}

static bool same_set(const struct pkey_set *a, const struct pkey_set *b)
{
	return a->n == b->n &&
	       (!a->n || !memcmp(a->entries, b->entries, a->n * sizeof(*a->entries)));
}

static const struct pkey_set *set_at(const struct view_sets *s, uint32_t number)
{
	return number < s->n_root ? &s->sets[number] : &s->more[number - s->n_root]->set;
}

const struct pkey_set *view_pkeys(const struct view *v, uint32_t port)
{
	uint32_t number = v->sets->of_port[view_end_port(v, port)];

	assert(port < v->n_ports);
	return number == VIEW_NONE ? NULL : set_at(v->sets, number);
}

/* ---- rows of the QoS policy ------------------------------------------------------------------ */

const uint64_t *view_sets_row(const struct view_sets *s, uint32_t port)
{
	uint32_t number = s->of_port[port];

	if (!s->keys || number == VIEW_NONE)
		return NULL;
	return &s->rows[(size_t)number * policy_keys_words(s->keys)];
}

static void make_row(struct view_sets *s, uint32_t number)
{
	if (s->keys)
		policy_keys_row(s->keys, set_at(s, number),
				&s->rows[(size_t)number * policy_keys_words(s->keys)]);
}

static void make_rows(struct view_sets *s)
{
	uint32_t n = s->n_root + s->n_more;

	if (s->keys)
		s->rows = xrealloc(s->rows, n + 1,
				   policy_keys_words(s->keys) * sizeof(*s->rows));
	for (uint32_t i = 0; i < n; i++)
		if (s->uses[i])
			make_row(s, i);
}

void view_sets_rename(struct view_sets *s, const struct qos_policy *policy,
		      const struct partitions *partitions)
{
	struct policy_keys *keys = policy_keys_new(policy, partitions);
	bool changed = keys && s->keys && !policy_keys_equal(keys, s->keys);

	if (changed) {
		policy_keys_unref(s->keys);
		s->keys = policy_keys_ref(keys);
		make_rows(s);
	}
	policy_keys_unref(keys);
}

/* ---- many at once -------------------------------------------------------------------------- */

static void add_base(struct view_bases *b, uint16_t order)
{
	uint16_t base = partition_pkey(order);

	b->words[base / 64] |= UINT64_C(1) << base % 64;
}

void view_known_pkeys(const struct view *v, struct view_bases *ret)
{
	const struct view_sets *s = v->sets;

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < s->n_root + s->n_more; i++) {
		const struct pkey_set *set = s->uses[i] ? set_at(s, i) : NULL;

		for (unsigned k = 0; set && k < set->n; k++)
			add_base(ret, set->entries[k].order);
	}
}

static void add_entry(struct view_reach *r, const struct pkey_entry *e)
{
	add_base(&r->any, e->order);
	if (e->forms & PKEY_SET_FULL)
		add_base(&r->full, e->order);
}

/* True: `after` (NULL: empty) has less than `before` in some partition. `ret` may be NULL. */
static bool add_lost(const struct pkey_set *before, const struct pkey_set *after,
		     struct view_losses *ret)
{
	bool any = false;

	for (unsigned i = 0; i < before->n; i++) {
		const struct pkey_entry *e = &before->entries[i];
		unsigned has = after ? pkey_set_find(after, partition_pkey(e->order)) : 0;

		if (has && (has & PKEY_SET_FULL || !(e->forms & PKEY_SET_FULL)))
			continue;
		if (ret)
			add_entry(&ret->lost, e);
		any = true;
	}
	for (unsigned i = 0; ret && any && i < before->n; i++)
		add_entry(&ret->held, &before->entries[i]);
	return any;
}

/* The set of a port of `before` in another view; `*ret_gone`: it is not there. */
static const struct pkey_set *set_in(const struct view *before, uint32_t port,
				     const struct view *after, bool *ret_gone)
{
	uint32_t at = port;

	if (before->ports != after->ports)
		at = view_port_of_guid(after, before->ports[port].guid);
	*ret_gone = at == VIEW_NONE;
	return *ret_gone ? NULL : view_pkeys(after, at);
}

bool view_lost_pkeys(const struct view *before, const struct view *after, struct view_losses *ret)
{
	const struct view_sets *a = before->sets, *b = after->sets;
	bool one_root = before->ports == after->ports, any = false, gone;

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < a->n_ports; i++) {
		uint32_t was = a->of_port[i];
		const struct pkey_set *is;

		/* A number beyond the root's may stand for another set by now. */
		if (was == VIEW_NONE || (one_root && was == b->of_port[i] && was < a->n_root))
			continue;
		is = set_in(before, i, after, &gone);
		if (!gone && is != set_at(a, was) && add_lost(set_at(a, was), is, ret))
			any = true;
	}
	return any;
}

bool view_port_lost(const struct view *before, uint32_t port, const struct view *after)
{
	uint32_t end = view_end_port(before, port);
	const struct pkey_set *was = view_pkeys(before, end), *is;
	bool gone;

	is = set_in(before, end, after, &gone);
	return was && !gone && add_lost(was, is, NULL);
}

bool view_reaches(const struct view *v, uint32_t port, const struct view_reach *reach)
{
	const struct pkey_set *set = view_pkeys(v, port);

	for (unsigned i = 0; set && i < set->n; i++) {
		const struct pkey_entry *e = &set->entries[i];
		bool full = e->forms & PKEY_SET_FULL;

		/* Two limited members do not talk to each other. */
		if (view_bases_have(full ? &reach->any : &reach->full, partition_pkey(e->order)))
			return true;
	}
	return false;
}

/* ---- a root view --------------------------------------------------------------------------- */

/* The plan ends with the next sweep, a view may live longer. */
static uint32_t copy_set(struct view_sets *s, const struct pkey_set *from)
{
	struct pkey_set *to = &s->sets[s->n_root];

	*to = *from;
	to->id = s->n_root;
	to->entries = xmemdup(from->entries, from->n * sizeof(*from->entries));
	s->hashes[s->n_root] = hash_set(to);
	return s->n_root++;
}

/* Those of its sets that a port has. */
static void take_plan(struct view_sets *s, const struct view *v, const struct pkey_plan *plan)
{
	_cleanup_free_ uint32_t *numbers = xcalloc(plan->n_sets + 1, sizeof(*numbers));

	s->sets = xcalloc(plan->n_sets + 1, sizeof(*s->sets));
	s->hashes = xcalloc(plan->n_sets + 1, sizeof(*s->hashes));
	s->uses = xcalloc(plan->n_sets + 1, sizeof(*s->uses));
	memset(numbers, 0xFF, plan->n_sets * sizeof(*numbers));
	for (uint32_t i = 0; i < v->n_ports; i++) {
		size_t at = v->ports[i].guid ? pkey_plan_find(plan, v->ports[i].guid) : SIZE_MAX;
		uint32_t id = at == SIZE_MAX ? VIEW_NONE : plan->ports[at].set;

		if (id == VIEW_NONE)
			continue;
		if (numbers[id] == VIEW_NONE)
			numbers[id] = copy_set(s, pkey_plan_set(plan, id));
		s->of_port[i] = numbers[id];
		s->uses[numbers[id]]++;
	}
}

struct view_sets *view_sets_new(const struct view *v, const struct pkey_plan *plan,
				const struct partitions *partitions)
{
	struct view_sets *s = xcalloc(1, sizeof(*s));

	s->is_root = true;
	s->n_ports = v->n_ports;
	s->of_port = xmalloc((v->n_ports + 1) * sizeof(*s->of_port));
	memset(s->of_port, 0xFF, (v->n_ports + 1) * sizeof(*s->of_port));
	s->keys = policy_keys_new(conf_files_policy(v->files), partitions);
	if (plan)
		take_plan(s, v, plan);
	make_rows(s);
	return s;
}

static void more_unref(struct more_set *more)
{
	if (more && atomic_fetch_sub(&more->refs, 1) == 1)
		free(more);
}

struct view_sets *view_sets_free(struct view_sets *s)
{
	if (!s)
		return NULL;
	for (uint32_t i = 0; s->is_root && i < s->n_root; i++)
		free(as_owner(s->sets[i].entries));
	if (s->is_root) {
		free(s->sets);
		free(s->hashes);
	}
	for (uint32_t i = 0; i < s->n_more; i++)
		more_unref(s->more[i]);
	free(s->more);
	policy_keys_unref(s->keys);
	free(s->rows);
	free(s->uses);
	free(s->of_port);
	free(s);
	return NULL;
}

/* ---- a derived view ------------------------------------------------------------------------ */

struct derive {
	struct view_sets *s;
	struct guidmap *by_hash; /* number + 1; NULL: few changes, the hashes are looked through */
	uint32_t more_cap, uses_cap, next_free;
	size_t rows_cap;
};

static struct view_sets *copy_sets(const struct view_sets *from)
{
	struct view_sets *s = xmemdup(from, sizeof(*from));
	uint32_t n = from->n_root + from->n_more;

	s->is_root = false;
	s->of_port = xmemdup(from->of_port, (from->n_ports + 1) * sizeof(*s->of_port));
	s->uses = xcalloc(n + 1, sizeof(*s->uses));
	if (n)
		memcpy(s->uses, from->uses, n * sizeof(*s->uses));
	s->keys = policy_keys_ref(from->keys);
	s->rows = NULL;
	if (s->keys)
		s->rows = xmemdup(from->rows,
				  (n + 1) * policy_keys_words(s->keys) * sizeof(*s->rows));
	s->more = xcalloc(from->n_more + 1, sizeof(struct more_set *));
	for (uint32_t i = 0; i < from->n_more; i++) {
		s->more[i] = from->more[i];
		if (s->more[i])
			atomic_fetch_add(&s->more[i]->refs, 1);
	}
	return s;
}

static uint64_t hash_at(const struct view_sets *s, uint32_t number)
{
	const struct more_set *more;

	if (number < s->n_root)
		return s->hashes[number];
	more = s->more[number - s->n_root];
	return more ? more->hash : 0;
}

/* Other sets with this hash took the next keys: as many steps as there are of them. */
static void map_set(struct derive *d, uint64_t hash, uint32_t number)
{
	while (guidmap_get(d->by_hash, hash))
		hash += 2;
	guidmap_put(d->by_hash, hash, (void *)(uintptr_t)(number + 1));
}

static void map_sets(struct derive *d)
{
	d->by_hash = guidmap_new();
	for (uint32_t i = 0; i < d->s->n_root + d->s->n_more; i++)
		if (hash_at(d->s, i))
			map_set(d, hash_at(d->s, i), i);
}

static uint32_t find_mapped(const struct derive *d, const struct pkey_set *set, uint64_t hash)
{
	uintptr_t found;

	while ((found = (uintptr_t)guidmap_get(d->by_hash, hash))) {
		if (same_set(set_at(d->s, (uint32_t)found - 1), set))
			return (uint32_t)found - 1;
		hash += 2;
	}
	return VIEW_NONE;
}

static uint32_t find_set(const struct derive *d, const struct pkey_set *set, uint64_t hash)
{
	if (d->by_hash)
		return find_mapped(d, set, hash);
	for (uint32_t i = 0; i < d->s->n_root + d->s->n_more; i++)
		if (hash_at(d->s, i) == hash && same_set(set_at(d->s, i), set))
			return i;
	return VIEW_NONE;
}

/* A number that no set has, with room for it. */
static uint32_t free_number(struct derive *d)
{
	struct view_sets *s = d->s;

	while (d->next_free < s->n_more && s->more[d->next_free])
		d->next_free++;
	if (d->next_free == s->n_more) {
		GROW(s->more, s->n_more + 1, d->more_cap);
		GROW(s->uses, s->n_root + s->n_more + 1, d->uses_cap);
		s->more[s->n_more++] = NULL;
	}
	s->uses[s->n_root + d->next_free] = 0;
	return s->n_root + d->next_free;
}

static uint32_t add_set(struct derive *d, const struct pkey_set *set, uint64_t hash)
{
	uint32_t number = free_number(d);
	struct more_set *more = xcalloc(1, sizeof(*more) + set->n * sizeof(*set->entries));

	more->refs = 1;
	more->hash = hash;
	if (set->n)
		memcpy(more->entries, set->entries, set->n * sizeof(*set->entries));
	more->set = (struct pkey_set){
		.id = number, .n = set->n, .self_pkey = set->self_pkey, .entries = more->entries
	};
	d->s->more[number - d->s->n_root] = more;
	if (d->s->keys)
		GROW(d->s->rows, (number + 2) * (size_t)policy_keys_words(d->s->keys),
		     d->rows_cap);
	make_row(d->s, number);
	if (d->by_hash)
		map_set(d, hash, number);
	return number;
}

static void change_port(struct derive *d, uint32_t port, const struct pkey_set *set)
{
	struct view_sets *s = d->s;
	uint32_t number = VIEW_NONE;

	if (set) {
		uint64_t hash = hash_set(set);

		number = find_set(d, set, hash);
		if (number == VIEW_NONE)
			number = add_set(d, set, hash);
		s->uses[number]++;
	}
	if (s->of_port[port] != VIEW_NONE)
		s->uses[s->of_port[port]]--;
	s->of_port[port] = number;
}

/* Sets that no port has any more go; numbers at the end as well. */
static void drop_unused(struct view_sets *s)
{
	for (uint32_t i = 0; i < s->n_more; i++) {
		if (s->uses[s->n_root + i])
			continue;
		more_unref(s->more[i]);
		s->more[i] = NULL;
	}
	while (s->n_more && !s->more[s->n_more - 1])
		s->n_more--;
}

struct view_sets *view_sets_derive(const struct view *v, const struct view_pkey_change *changes,
				   size_t n)
{
	struct derive d = { .s = copy_sets(v->sets) };

	d.rows_cap = (d.s->n_root + d.s->n_more + 1u) * (size_t)policy_keys_words(d.s->keys);
	if (n * (d.s->n_root + d.s->n_more + n) > SCAN_MOST)
		map_sets(&d);
	for (size_t i = 0; i < n; i++) {
		uint32_t port = view_port_of_guid(v, changes[i].port);

		if (port != VIEW_NONE)
			change_port(&d, port, changes[i].set);
	}
	drop_unused(d.s);
	guidmap_free(d.by_hash);
	return d.s;
}
