// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cycles in the union of old and new entries, LID by LID, and the order that avoids them.
 *
 * Old tables have no cycle and new ones have none, so a cycle holds an entry that changes, an old
 * one whose cable is still there. LIDs without such an entry are not looked at, others only from
 * the switches that change. All switches on cycles with each other form a component (Tarjan); what
 * leaves a component never comes back, so order matters among its members only: every member that
 * changes waits for the next such member on its new path.
 */
#include "route/proof/transition.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"
#include "util/sets.h"

#define EPOCHS_MAX 255

/* `before` is written before `after`. */
struct wait {
	uint32_t before, after;
	uint32_t next; /* wait with the same `before`, or NO_WAIT */
};
#define NO_WAIT UINT32_MAX

struct walk {
	const struct routes *new;
	struct routes_blocks now; /* of `new` */
	const struct routes *old;
	struct transition *t;
	uint32_t *behind;    /* per entry of new's topo->ports: the switch there, TOPO_NONE */
	uint32_t *old_sw;    /* switch of new's topo -> of old's, TOPO_NONE */
	struct routes_entry *all; /* that differ; by LID after routes_sort_by_lid() */
	size_t n_all, cap_all;
	size_t *first;       /* per LID + 1: its place in `all` */
	bool *risky;         /* per LID: some old entry that goes leads to a switch */
	struct components components; /* of the LID at hand, edge 0 being new, 1 old */
	lid_t lid;
	const struct routes_entry **changes; /* of the LID at hand; NULL: it does not change */
	/* The block at hand. */
	struct wait *waits;
	size_t n_waits, cap_waits;
	uint32_t *waiting;   /* per switch: first wait for it, or NO_WAIT */
	uint32_t *level;     /* per switch: epoch so far */
	uint32_t *raised, n_raised; /* switches whose level rose, and each is there once */
	bool *is_raised;
	struct arena memory;
};

/* The first switch of the new topo on an old path that leads through switches left out now. */
static uint32_t behind_left_out(const struct walk *w, uint32_t sw, lid_t lid, uint8_t port)
{
	const struct topo *then = w->old->topo;
	uint32_t at = w->old_sw[sw], to = TOPO_NONE;

	for (uint32_t hops = 0; to == TOPO_NONE && hops <= then->n_switches; hops++) {
		at = topo_behind(then, at, port);
		if (at == TOPO_NONE)
			return TOPO_NONE;
		to = topo_find_switch(w->new->topo, then->switches[at].guid);
		port = routes_port(w->old, at, lid);
	}
	return to;
}

static uint32_t behind_old(const struct walk *w, uint32_t sw, lid_t lid, uint8_t port)
{
	const struct topo *t = w->new->topo;

	if (w->old_sw[sw] == TOPO_NONE || port > t->switches[sw].n_ports ||
	    !topo_port(t, sw, port)->left_out)
		return topo_behind(t, sw, port);
	if (topo_port(t, sw, port)->left_sw != TOPO_NONE)
		return topo_port(t, sw, port)->left_sw;
	return behind_left_out(w, sw, lid, port);
}

/* Entries that do not change lead the same way twice, but through switches that are left out. */
static inline uint32_t edge(const struct walk *w, uint32_t sw, lid_t lid, unsigned which)
{
	const struct routes_entry *changes = w->changes[sw];
	uint8_t port = changes ? changes->now : routes_blocks_port(&w->now, sw, lid);
	uint32_t to;

	if (which && changes)
		return behind_old(w, sw, lid, changes->port);
	to = port <= w->new->topo->switches[sw].n_ports
		     ? w->behind[w->new->topo->switches[sw].first_port + port] : TOPO_NONE;
	if (!which)
		return to;
	return to == TOPO_NONE && lid <= w->old->top ? behind_old(w, sw, lid, port) : TOPO_NONE;
}

/* ---- what differs ------------------------------------------------------------------------ */

static void note_entry(struct walk *w, uint32_t sw, lid_t lid, uint8_t was, uint8_t now)
{
	APPEND(w->all, w->n_all, w->cap_all) = (struct routes_entry){
		.sw = sw, .lid = lid, .port = was, .now = now,
	};
	w->risky[lid] |= behind_old(w, sw, lid, was) != TOPO_NONE;
}

static void note_row(struct walk *w, uint32_t sw)
{
	const uint8_t *row = routes_row(w->new, sw), *was = routes_row(w->old, w->old_sw[sw]);
	uint32_t size = MIN(w->new->row_size, w->old->row_size);

	for (uint32_t block = 0; block < size; block += LFT_BLOCK_LIDS) {
		if (!memcmp(row + block, was + block, LFT_BLOCK_LIDS))
			continue;
		for (uint32_t lid = block; lid < block + LFT_BLOCK_LIDS; lid++)
			if (row[lid] != was[lid] && lid && lid <= w->t->top)
				note_entry(w, sw, (lid_t)lid, was[lid], row[lid]);
	}
	/* Beyond the old tables everything leads from nowhere to somewhere: no cycle needs that. */
}

/*
 * From the journal: that of the new tables, or where these have other numbers that of the same with
 * the numbers of the old ones (routes.cache). False: there is none.
 */
static bool note_journal(struct walk *w)
{
	size_t n;
	const struct routes *alike = w->new->cache->alike, *now = alike ? alike : w->new;
	_cleanup_free_ struct routes_entry *changes = routes_changes(w->old, now, &n);
	_cleanup_free_ uint32_t *to = topo_match_switches(now->topo, w->new->topo);

	for (size_t i = 0; changes && i < n; i++)
		if (changes[i].lid && changes[i].lid <= w->t->top &&
		    to[changes[i].sw] != TOPO_NONE && w->old_sw[to[changes[i].sw]] != TOPO_NONE)
			note_entry(w, to[changes[i].sw], changes[i].lid, changes[i].port,
				   changes[i].now);
	return changes;
}

static void note_all(struct walk *w)
{
	if (note_journal(w))
		return;
	for (uint32_t sw = 0; sw < w->new->topo->n_switches; sw++)
		if (w->old_sw[sw] != TOPO_NONE)
			note_row(w, sw);
}

/* ---- order ------------------------------------------------------------------------------- */

static uint32_t next_switch(const void *arg, uint32_t sw, uint16_t *at)
{
	const struct walk *w = arg;
	uint16_t end = w->changes[sw] || w->new->topo->leaves_out ? 2 : 1;
	uint32_t to = TOPO_NONE;

	while (to == TOPO_NONE && *at < end)
		to = edge(w, sw, w->lid, (*at)++);
	return to == TOPO_NONE ? COMPONENTS_END : to;
}

/* The next switch on the new path from `sw` that changes too, inside its component; TOPO_NONE. */
static uint32_t next_changing(const struct walk *w, uint32_t sw, lid_t lid)
{
	uint32_t at = edge(w, sw, lid, 0);

	for (unsigned hops = 0; hops < w->new->topo->n_switches; hops++) {
		if (at == TOPO_NONE || w->components.component[at] != w->components.component[sw])
			return TOPO_NONE;
		if (w->changes[at])
			return at;
		at = edge(w, at, lid, 0);
	}
	return TOPO_NONE;
}

static void add_waits(struct walk *w, lid_t lid)
{
	for (size_t i = w->first[lid]; i < w->first[lid + 1u]; i++) {
		uint32_t sw = w->all[i].sw, before = next_changing(w, sw, lid);

		if (before == TOPO_NONE)
			continue;
		APPEND(w->waits, w->n_waits, w->cap_waits) = (struct wait){
			.before = before, .after = sw, .next = w->waiting[before],
		};
		w->waiting[before] = (uint32_t)w->n_waits - 1;
	}
}

static void raise(struct walk *w, uint32_t sw, uint32_t level)
{
	if (w->level[sw] >= level)
		return;
	w->level[sw] = level;
	if (!w->is_raised[sw])
		w->raised[w->n_raised++] = sw;
	w->is_raised[sw] = true;
}

/*
 * Levels are the longest chains of waits; this takes in waits from number `from` on. False: they
 * contradict each other (levels would rise for ever), or need too many epochs.
 */
static bool raise_levels(struct walk *w, size_t from)
{
	bool fits = true;

	for (size_t i = from; i < w->n_waits; i++)
		raise(w, w->waits[i].after, w->level[w->waits[i].before] + 1);
	while (w->n_raised) {
		uint32_t sw = w->raised[--w->n_raised];

		w->is_raised[sw] = false;
		fits &= w->level[sw] < EPOCHS_MAX;
		for (uint32_t i = w->waiting[sw]; fits && i != NO_WAIT; i = w->waits[i].next)
			raise(w, w->waits[i].after, w->level[sw] + 1);
	}
	return fits;
}

/* Takes back the waits from number `from` on. */
static void drop_waits(struct walk *w, size_t from)
{
	for (size_t i = 0; i < w->n_waits; i++)
		w->level[w->waits[i].before] = w->level[w->waits[i].after] = 0;
	while (w->n_waits > from) {
		const struct wait *last = &w->waits[--w->n_waits];

		w->waiting[last->before] = last->next;
	}
	raise_levels(w, 0);
}

static void mark_changes(struct walk *w, lid_t lid, bool changes)
{
	for (size_t i = w->first[lid]; i < w->first[lid + 1u]; i++)
		w->changes[w->all[i].sw] = changes ? &w->all[i] : NULL;
}

/* Has the memory near that the new paths will be read from, which lies far apart. */
static void fetch_paths(struct walk *w, lid_t lid)
{
	uint32_t at;

	for (size_t i = w->first[lid]; i < w->first[lid + 1u]; i++) {
		at = edge(w, w->all[i].sw, lid, 0);
		if (at != TOPO_NONE)
			__builtin_prefetch(routes_row(w->new, at) + lid);
	}
}

static void order_lid(struct walk *w, lid_t lid)
{
	size_t waits = w->n_waits;

	w->lid = lid;
	mark_changes(w, lid, true);
	fetch_paths(w, lid);
	for (size_t i = w->first[lid]; i < w->first[lid + 1u]; i++)
		if (!w->components.number[w->all[i].sw])
			components_search(&w->components, w->all[i].sw, next_switch, w);
	if (w->components.largest > 1)
		add_waits(w, lid);
	components_forget(&w->components);
	mark_changes(w, lid, false);
	if (raise_levels(w, waits))
		return;
	drop_waits(w, waits);
	w->t->drain[lid] = 1;
	w->t->n_lids++;
}

static void order_block(struct walk *w, uint32_t block)
{
	struct transition *t = w->t;
	uint32_t first = block * LFT_BLOCK_LIDS;

	/* Of one entry alone: a cycle with the old one would have been there before. */
	for (uint32_t lid = first; lid < first + LFT_BLOCK_LIDS && lid <= t->top; lid++)
		if (w->risky[lid] && (w->first[lid + 1] - w->first[lid] > 1 ||
				      w->new->topo->leaves_out))
			order_lid(w, (lid_t)lid);
	for (size_t i = 0; i < w->n_waits; i++) {
		uint32_t sw = w->waits[i].after, level = w->level[sw];

		t->epochs[(size_t)sw * t->n_blocks + block] = (uint8_t)level;
		t->n_epochs = MAX(t->n_epochs, level + 1);
	}
	drop_waits(w, 0);
}

static void walk_open(struct walk *w, const struct routes *old, const struct routes *new)
{
	const struct topo *t = new->topo;
	size_t n = MAX(t->n_switches, 1u);

	w->old = old;
	w->new = new;
	w->old_sw = topo_match_switches(t, old->topo);
	ARENA_ARRAY(&w->memory, w->behind, topo_n_entries(t) + 1u);
	for (uint32_t e = 0; e < topo_n_entries(t); e++)
		w->behind[e] = t->ports[e].sw;
	w->now.routes = new;
	ARENA_ARRAY(&w->memory, w->now.entries, n * LFT_BLOCK_LIDS);
	ARENA_ARRAY(&w->memory, w->first, new->top + 3u);
	ARENA_ARRAY(&w->memory, w->risky, new->row_size + 1u);
	components_open(&w->components, &w->memory, n);
	ARENA_ARRAYS(&w->memory, n, w->now.block, w->changes, w->raised, w->is_raised, w->level);
	ARENA_ONES(&w->memory, w->waiting, n);
}

static void walk_close(struct walk *w)
{
	FREE_ALL(w->all, w->old_sw, w->waits);
	arena_done(&w->memory);
}

struct transition *transition_find(const struct routes *old, const struct routes *new)
{
	_cleanup_(transition_freep) struct transition *t = xcalloc(1, sizeof(*t));
	_cleanup_(walk_close) struct walk w = { .t = t };

	assert(old && new);
	t->top = new->top;
	t->drain = xcalloc(new->top + 1u, 1);
	t->n_epochs = 1;
	t->n_blocks = new->row_size / LFT_BLOCK_LIDS;
	t->epochs = xcalloc(MAX(new->topo->n_switches, 1u), t->n_blocks);
	walk_open(&w, old, new);
	note_all(&w);
	w.all = routes_sort_by_lid(w.all, w.n_all, t->top, w.first);
	for (uint32_t block = 0; block < t->n_blocks; block++)
		order_block(&w, block);
	return t->n_lids || t->n_epochs > 1 ? take(t) : NULL;
}

struct transition *transition_free(struct transition *t)
{
	if (!t)
		return NULL;
	FREE_ALL(t->drain, t->epochs, t);
	return NULL;
}
