// SPDX-License-Identifier: BSD-2-Clause
/*
 * Views that differ in the P_Keys of ports: what they show, what they share, and that neither
 * thousands of changes nor readers in other threads wear them out. Random lives print their seed;
 * TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/pkey.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"
#include "util/random.h"
#include "view/view.h"

#define _view_ _cleanup_(view_unrefp) struct view *

enum { KEYS_MOST = 6 };

/* A set on the stack. */
struct keys {
	struct pkey_set set;
	struct pkey_entry entries[KEYS_MOST];
};

/* `keys` by partition_order(). */
static struct pkey_set *set_of(struct keys *k, unsigned n, const uint16_t *keys)
{
	*k = (struct keys){ .set = { .n = (uint16_t)n, .entries = k->entries } };
	for (unsigned i = 0; i < n; i++) {
		bool full = keys[i] & PKEY_FULL;

		k->entries[i] = (struct pkey_entry){ partition_order(keys[i]),
						     full ? PKEY_SET_FULL : PKEY_SET_LIMITED };
		if (full && !k->set.self_pkey)
			k->set.self_pkey = keys[i];
	}
	return &k->set;
}
#define SET(k, ...)                                                                                \
	set_of(&(k), sizeof((uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t),                       \
	       (uint16_t[]){ __VA_ARGS__ })

static struct view *with(struct desk *d, const struct view *v, const char *node,
			 const struct pkey_set *set)
{
	return view_with_pkeys(v, &(struct view_pkey_change){ desk_end(d, node)->guid, set }, 1);
}

static bool knows(const struct view *v, uint16_t pkey)
{
	struct view_bases known;

	view_known_pkeys(v, &known);
	return view_bases_have(&known, pkey);
}

static void a_change_shows_in_the_new_view_alone(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint32_t h0 = desk_port(d, "h0"), h1 = desk_port(d, "h1");
	struct keys k;
	_view_ a = with(d, d->view, "h0", SET(k, 0x8001));
	_view_ b = with(d, a, "h1", SET(k, 0x0001, 0xFFFF));

	assert_true(view_has_pkey(d->view, h0, 0xFFFF));
	assert_false(view_has_pkey(a, h0, 0xFFFF));
	assert_true(view_has_pkey(a, h0, 0x8001));
	assert_true(view_has_pkey(a, h1, 0xFFFF));
	assert_false(view_share_pkey(a, h0, h1, NULL));
	assert_true(view_share_pkey(b, h0, h1, NULL));
	assert_int_equal(view_pkey_forms(b, h1, 1), PKEY_SET_LIMITED);
	assert_true(knows(a, 1));
	assert_false(knows(d->view, 1));
}

static void all_else_is_shared(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct keys k;
	_view_ a = with(d, d->view, "h0", SET(k, 0x8001));
	_view_ b = with(d, a, "h0", NULL);

	assert_ptr_equal(a->ports, d->view->ports);
	assert_ptr_equal(a->by_guid, d->view->by_guid);
	assert_ptr_equal(a->paths, d->view->paths);
	assert_ptr_equal(b->base, a->base); /* no chain */
	assert_null(view_pkeys(b, desk_port(d, "h0")));
	assert_false(view_has_pkey(b, desk_port(d, "h0"), 0x8001));
}

/* The view before ends before the one that was made from it. */
static void a_derived_view_outlives_the_others(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct keys k;
	struct view *a = with(d, d->view, "h0", SET(k, 0x8001));
	_view_ b = with(d, a, "h1", SET(k, 0x8001));

	view_unref(a);
	desk_publish(d); /* the former root is gone but for `b` */
	assert_true(view_share_pkey(b, desk_port(d, "h0"), desk_port(d, "h1"), NULL));
	assert_true(view_port_at(b, desk_lid(d, "h1")) == desk_port(d, "h1"));
}

static void equal_sets_are_one(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct keys k;
	_view_ a = with(d, d->view, "h0", SET(k, 0x8001, 0x0002));
	_view_ b = with(d, a, "h1", SET(k, 0x8001, 0x0002));
	_view_ c = with(d, b, "h0", SET(k, 0xFFFF));

	assert_ptr_equal(view_pkeys(b, desk_port(d, "h0")), view_pkeys(b, desk_port(d, "h1")));
	assert_ptr_equal(view_pkeys(c, desk_port(d, "h0")),
			 view_pkeys(d->view, desk_port(d, "h2")));
}

/* P_Keys before and after, and whether P_Key 1 is lost. */
static const struct {
	uint16_t before, after;
	bool lost;
} losses[] = {
	{ 0x8001, 0x0001, true },  { 0x8001, 0x8001, false }, { 0x0001, 0x8001, false },
	{ 0x8001, 0x8002, true },  { 0x0001, 0x8002, true },  { 0x8002, 0x8001, false },
	{ 0x0001, 0x0001, false },
};

static void rights_that_are_gone_are_known(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct view_losses lost;
	struct keys k;

	for (unsigned i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		_view_ a = with(d, d->view, "h0", SET(k, losses[i].before));
		_view_ b = with(d, a, "h0", SET(k, losses[i].after));
		_view_ c = with(d, b, "h0", NULL);

		view_lost_pkeys(a, b, &lost);
		assert_int_equal(view_bases_have(&lost.lost.any, 1), losses[i].lost);
		assert_int_equal(view_port_lost(a, desk_port(d, "h0"), b),
				 losses[i].lost ||
					 (losses[i].before ^ losses[i].after) & PKEY_BASE);
		assert_false(view_port_lost(a, desk_port(d, "h1"), b));
		assert_false(view_reaches(a, desk_port(d, "h1"), &lost.lost));
		assert_true(view_lost_pkeys(b, c, &lost));
		assert_false(view_lost_pkeys(a, a, &lost));
		assert_false(view_lost_pkeys(c, b, &lost));
	}
}

/* What h0 held before it lost P_Key 2, what h1 holds, and whether h1 saw h0 by any, by that key. */
static const struct {
	uint16_t h0[2], h1;
	bool by_any, by_lost;
} reaches[] = {
	{ { 0x8001, 0x8002 }, 0x0002, true, true },   { { 0x8001, 0x0002 }, 0x0002, false, false },
	{ { 0x8001, 0x0002 }, 0x8002, true, true },   { { 0x8001, 0x8002 }, 0x0001, true, false },
	{ { 0x0001, 0x8002 }, 0x0001, false, false }, { { 0x0001, 0x8002 }, 0x8001, true, false },
	{ { 0x8001, 0x8002 }, 0x8003, false, false },
};

static void who_saw_what_was_lost_is_known(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct view_losses lost;
	struct keys k;

	for (unsigned i = 0; i < sizeof(reaches) / sizeof(*reaches); i++) {
		_view_ a = with(d, d->view, "h0", SET(k, reaches[i].h0[0], reaches[i].h0[1]));
		_view_ b = with(d, a, "h1", SET(k, reaches[i].h1));
		_view_ c = with(d, b, "h0", SET(k, reaches[i].h0[0]));
		uint32_t h1 = desk_port(d, "h1");

		assert_true(view_lost_pkeys(b, c, &lost));
		assert_int_equal(view_reaches(b, h1, &lost.held), reaches[i].by_any);
		assert_int_equal(view_reaches(b, h1, &lost.lost), reaches[i].by_lost);
		assert_int_equal(view_share_pkey(b, desk_port(d, "h0"), h1, NULL),
				 reaches[i].by_any);
	}
}

static void ports_not_there_are_passed_over(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct keys k;
	const struct view_pkey_change changes[] = {
		{ 0xDEAD, SET(k, 0x8001) },
		{ 0, &k.set },
	};
	_view_ a = view_with_pkeys(d->view, changes, 2);
	_view_ b = view_with_pkeys(d->view, NULL, 0);

	assert_false(knows(a, 1));
	assert_true(knows(b, 0x7FFF));
}

/* ---- random lives ---------------------------------------------------------------------------- */

enum { N_HOSTS = 16, CHANGES_MOST = 24 };

struct life {
	struct desk *d;
	uint64_t dice;
	unsigned wanted[N_HOSTS]; /* bit k: full member of P_Key k + 1 */
	struct view *view;
};

static unsigned roll(struct life *l, unsigned n)
{
	return (unsigned)(random_next(&l->dice) % n);
}

static uint32_t host_port(const struct life *l, unsigned host)
{
	char name[8];

	snprintf(name, sizeof(name), "h%u", host);
	return desk_port(l->d, name);
}

static struct pkey_set *random_set(struct life *l, unsigned host, struct keys *k)
{
	uint16_t keys[KEYS_MOST];
	unsigned n = 0;

	l->wanted[host] = roll(l, 1u << KEYS_MOST);
	for (uint16_t i = 0; i < KEYS_MOST; i++)
		if (l->wanted[host] >> i & 1)
			keys[n++] = 0x8001 + i;
	return set_of(k, n, keys);
}

static void random_changes(struct life *l)
{
	struct view_pkey_change changes[CHANGES_MOST];
	struct keys keys[CHANGES_MOST];
	unsigned n = 1 + roll(l, CHANGES_MOST);
	struct view *next;

	for (unsigned i = 0; i < n; i++) {
		unsigned host = roll(l, N_HOSTS);

		changes[i].set = random_set(l, host, &keys[i]);
		changes[i].port = l->view->ports[host_port(l, host)].guid;
	}
	next = view_with_pkeys(l->view, changes, n);
	view_unref(l->view);
	l->view = next;
}

static void assert_life(const struct life *l)
{
	unsigned all = 0;

	for (unsigned host = 0; host < N_HOSTS; host++) {
		for (uint16_t i = 0; i < KEYS_MOST; i++)
			assert_int_equal(view_has_pkey(l->view, host_port(l, host), 1 + i),
					 l->wanted[host] >> i & 1);
		all |= l->wanted[host];
	}
	for (uint16_t i = 0; i < KEYS_MOST; i++)
		assert_int_equal(knows(l->view, 1 + i), all >> i & 1);
}

static void thousands_of_changes_are_as_one(void **state)
{
	const char *seed = getenv("TEST_SEED");
	struct life l = { .d = desk_new("tree 4 4 2") };
	struct keys k;

	l.dice = seed ? strtoull(seed, NULL, 0) : 0x51E75;
	print_message("# TEST_SEED=%s\n", seed ? seed : "0x51E75");
	l.view = view_ref(l.d->view);
	for (unsigned host = 0; host < N_HOSTS; host++) {
		struct view *next = view_with_pkeys(
			l.view,
			&(struct view_pkey_change){ l.view->ports[host_port(&l, host)].guid,
						    set_of(&k, 0, NULL) },
			1);

		view_unref(l.view);
		l.view = next;
	}
	for (unsigned step = 0; step < 2000; step++) {
		random_changes(&l);
		assert_life(&l);
		/* Distinct sets at most: numbers of sets that are gone are used again. */
		assert_true(view_pkeys(l.view, host_port(&l, 0))->id <= 1 + N_HOSTS + CHANGES_MOST);
	}
	assert_ptr_equal(l.view->base, l.d->view->base);
	view_unref(l.view);
	desk_free(l.d);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { READERS = 3, ROUNDS = 3000 };

struct reader {
	pthread_t thread;
	pthread_mutex_t lock;
	struct view *next; /* a reference; NULL: none yet */
	bool ends;
	uint32_t a, b;
	unsigned seen, faults;
};

static struct view *fetch(struct reader *r, bool *ret_ends)
{
	struct view *v;

	pthread_mutex_lock(&r->lock);
	v = take(r->next);
	*ret_ends = r->ends;
	pthread_mutex_unlock(&r->lock);
	return v;
}

/* In each view the two ports have the same one P_Key. */
static void *read_views(void *arg)
{
	struct reader *r = arg;
	bool ends = false;
	struct view *v;

	while ((v = fetch(r, &ends)) || !ends) {
		if (!v)
			continue;
		r->seen++;
		if (view_pkeys(v, r->a) != view_pkeys(v, r->b) || view_pkeys(v, r->a)->n != 1)
			r->faults++;
		view_unref(v);
	}
	return NULL;
}

static void offer(struct reader *r, const struct view *v)
{
	struct view *before;

	pthread_mutex_lock(&r->lock);
	before = r->next;
	r->next = view_ref(v);
	pthread_mutex_unlock(&r->lock);
	view_unref(before);
}

static void readers_may_hold_any_view(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	struct reader readers[READERS] = { 0 };
	struct view *v = view_ref(d->view);
	struct keys k;

	for (unsigned i = 0; i < READERS; i++) {
		readers[i].a = desk_port(d, "h0");
		readers[i].b = desk_port(d, "h1");
		pthread_mutex_init(&readers[i].lock, NULL);
		pthread_create(&readers[i].thread, NULL, read_views, &readers[i]);
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		const struct pkey_set *set = SET(k, (uint16_t)(0x8001 + round % 64));
		const struct view_pkey_change changes[] = { { desk_end(d, "h0")->guid, set },
							    { desk_end(d, "h1")->guid, set } };
		struct view *next = view_with_pkeys(v, changes, 2);

		view_unref(v);
		v = next;
		offer(&readers[round % READERS], v);
	}
	for (unsigned i = 0; i < READERS; i++) {
		pthread_mutex_lock(&readers[i].lock);
		readers[i].ends = true;
		pthread_mutex_unlock(&readers[i].lock);
		pthread_join(readers[i].thread, NULL);
		assert_int_equal(readers[i].faults, 0);
		assert_true(readers[i].seen > 0);
		pthread_mutex_destroy(&readers[i].lock);
	}
	view_unref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_shows_in_the_new_view_alone),
		cmocka_unit_test(all_else_is_shared),
		cmocka_unit_test(a_derived_view_outlives_the_others),
		cmocka_unit_test(equal_sets_are_one),
		cmocka_unit_test(rights_that_are_gone_are_known),
		cmocka_unit_test(who_saw_what_was_lost_is_known),
		cmocka_unit_test(ports_not_there_are_passed_over),
		cmocka_unit_test(thousands_of_changes_are_as_one),
		cmocka_unit_test(readers_may_hold_any_view),
	};

	return cmocka_run_group_tests_name("view-pkeys", tests, NULL, NULL);
}
