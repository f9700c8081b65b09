// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds rails: ports are grouped to hosts, their slots to rails by the leaves on which they meet,
 * and rails to planes by the spines on which they meet.
 *
 * A single cable in the wrong place joins nothing: two kinds are one where they meet at least half
 * as often as the rarer of them is anywhere.
 */
#include "topo/rails/rails.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"
#include "util/sets.h"

#define SLOTS_MAX 64
#define SLOTS_SEEN 256 /* those of few ports among them, which then do not count */
#define PORTS_MAX 32 /* of one host; what has more is no host, but a name that many hosts have */
#define WRONG_MOST 10 /* one of so many ports may hang on another rail */

/* An end port, and what tells its host. */
struct entry {
	uint64_t key;
	const char *name; /* NULL: by SystemImageGUID; else `len` characters are the host's */
	size_t len;
	guid_t node;
	uint32_t host;
	uint8_t port;
};

/* Ports in the same place of their hosts. */
struct slot {
	const char *text; /* what follows the name of the host; "": nothing */
	uint8_t nth;	  /* without a text: node of the host, 0, 1 ... */
	uint8_t port;
	uint32_t ports; /* in it */
};

/* How often kinds are at one place; `n` of them. */
struct meetings {
	unsigned n;
	uint32_t count[SLOTS_MAX]; /* at this place */
	uint32_t all[SLOTS_MAX], both[SLOTS_MAX][SLOTS_MAX];
};

struct finder {
	const struct topo *t;
	const char *const *names;
	struct entry *all;
	uint32_t n;
	struct slot slots[SLOTS_SEEN];
	unsigned n_slots;
	unsigned nodes; /* that most hosts have whose slots have no text */
	uint32_t with_nodes[PORTS_MAX + 1]; /* so many of these hosts have so many nodes */
	uint8_t *slot;	/* per entry of topo->hosts; RAIL_NONE */
	uint8_t of_slot[SLOTS_MAX];
	uint8_t *leaf;	/* per switch: its rail; RAIL_NONE */
	struct meetings m;
	struct rails *ret;
};

/* ---- hosts ---------------------------------------------------------------------------------- */

static void key_by_guid(const struct topo_host *h, struct entry *e)
{
	e->name = NULL;
	e->len = 0;
	e->key = h->sysimg_guid ? h->sysimg_guid : h->node_guid;
}

static struct entry entry_of(const struct finder *f, uint32_t host)
{
	const struct topo_host *h = &f->t->hosts[host];
	struct entry e = { .node = h->node_guid, .host = host, .port = h->node_port };

	if (f->names && f->names[host]) {
		e.name = f->names[host] + strspn(f->names[host], " ");
		e.len = strcspn(e.name, " ");
		e.key = hash_bytes(HASH_START, e.name, e.len);
	}
	if (!e.len)
		key_by_guid(h, &e);
	return e;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* 0: of the same host. */
static int compare_hosts(const struct entry *a, const struct entry *b)
{
	if (a->key != b->key)
		return ORDER(a->key, b->key);
	return a->len != b->len ? ORDER(a->len, b->len) : a->len ? memcmp(a->name, b->name, a->len)
								 : 0;
}

static int compare(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int order = compare_hosts(a, b);

	if (!order)
		order = ORDER(a->node, b->node);
	return order ? order : ORDER(a->port, b->port);
}

static uint32_t end_of_host(const struct finder *f, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < f->n && !compare_hosts(&f->all[first], &f->all[end]))
		end++;
	return end;
}

static struct slot slot_of(const struct entry *e, unsigned nth)
{
	struct slot s = { .text = e->len ? e->name + e->len : "", .port = e->port };

	s.text += strspn(s.text, " ");
	if (!s.text[0])
		s.nth = (uint8_t)nth;
	return s;
}

static bool is_same_slot(const struct slot *a, const struct slot *b)
{
	return a->port == b->port && a->nth == b->nth && !strcmp(a->text, b->text);
}

/* Does the name tell one host? Not if it has too many ports, or two of them in one slot. */
static bool is_a_host(const struct entry *e, uint32_t n)
{
	if (n > PORTS_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct slot a = slot_of(&e[i], i);

		for (uint32_t k = 0; k < i && a.text[0]; k++) {
			struct slot b = slot_of(&e[k], k);

			if (is_same_slot(&a, &b))
				return false;
		}
	}
	return true;
}

static void find_hosts(struct finder *f)
{
	bool again = false;

	for (uint32_t i = 0; i < f->t->n_hosts; i++)
		if (f->t->hosts[i].sw != TOPO_NONE && !f->t->hosts[i].router)
			f->all[f->n++] = entry_of(f, i);
	if (f->n)
		qsort(f->all, f->n, sizeof(*f->all), compare);
	for (uint32_t i = 0, end; i < f->n; i = end) {
		end = end_of_host(f, i);
		if (!f->all[i].len || is_a_host(&f->all[i], end - i))
			continue;
		again = true;
		for (uint32_t k = i; k < end; k++)
			key_by_guid(&f->t->hosts[f->all[k].host], &f->all[k]);
	}
	if (again)
		qsort(f->all, f->n, sizeof(*f->all), compare);
}

/* ---- slots ---------------------------------------------------------------------------------- */

/* SLOTS_SEEN: there is none. */
static unsigned find_slot(const struct finder *f, const struct slot *s)
{
	for (unsigned i = 0; i < f->n_slots; i++)
		if (is_same_slot(&f->slots[i], s))
			return i;
	return SLOTS_SEEN;
}

static void add_slot(struct finder *f, const struct slot *s)
{
	unsigned i = find_slot(f, s);

	if (i == SLOTS_SEEN) {
		if (f->n_slots == SLOTS_SEEN)
			return;
		i = f->n_slots++;
		f->slots[i] = *s;
	}
	f->slots[i].ports++;
}

/* A host may call its adapters what it likes: slots of few ports are none. */
static void drop_rare_slots(struct finder *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n_slots; i++)
		if (f->slots[i].ports >= RAILS_HOSTS_MIN)
			f->slots[n++] = f->slots[i];
	f->n_slots = n;
}

/* "mlx5_2" is before "mlx5_10". */
static int compare_slots(const void *va, const void *vb)
{
	const struct slot *a = va, *b = vb;
	size_t a_len = strlen(a->text), b_len = strlen(b->text);
	int order = a_len != b_len ? ORDER(a_len, b_len) : strcmp(a->text, b->text);

	if (!order)
		order = ORDER(a->nth, b->nth);
	return order ? order : ORDER(a->port, b->port);
}

/* Nodes of the host: a slot without a text is the node's place among them. */
static unsigned count_nodes(const struct entry *e, uint32_t n)
{
	unsigned nodes = 1;

	for (uint32_t i = 1; i < n; i++)
		nodes += e[i].node != e[i - 1].node;
	return nodes;
}

static void each_slot(struct finder *f, uint32_t first, uint32_t end,
		      void (*act)(struct finder *f, const struct slot *s, uint32_t host))
{
	unsigned nth = 0;

	for (uint32_t i = first; i < end; i++) {
		struct slot s;

		nth += i > first && f->all[i].node != f->all[i - 1].node;
		s = slot_of(&f->all[i], nth);
		act(f, &s, f->all[i].host);
	}
}

static void note_slot(struct finder *f, const struct slot *s, uint32_t host)
{
	add_slot(f, s);
}

/* Hosts without texts that lack a node, or have one more, have none: which is not known. */
static void give_slot(struct finder *f, const struct slot *s, uint32_t host)
{
	unsigned i = find_slot(f, s);

	f->slot[host] = i < SLOTS_SEEN ? (uint8_t)i : RAIL_NONE;
}

static bool has_texts(const struct finder *f, uint32_t first)
{
	return slot_of(&f->all[first], 0).text[0];
}

static void find_slots(struct finder *f)
{
	for (uint32_t i = 0, end; i < f->n; i = end) {
		end = end_of_host(f, i);
		if (end - i < 2 || end - i > PORTS_MAX)
			continue;
		if (!has_texts(f, i))
			f->with_nodes[count_nodes(&f->all[i], end - i)]++;
		each_slot(f, i, end, note_slot);
	}
	for (unsigned n = 1; n <= PORTS_MAX; n++)
		if (f->with_nodes[n] && f->with_nodes[n] >= f->with_nodes[f->nodes])
			f->nodes = n;
	drop_rare_slots(f);
	/* In the order of their names, before ports are given theirs. */
	if (f->n_slots)
		qsort(f->slots, f->n_slots, sizeof(*f->slots), compare_slots);
}

static void give_slots(struct finder *f)
{
	for (uint32_t i = 0, end; i < f->n; i = end) {
		end = end_of_host(f, i);
		if (end - i > PORTS_MAX ||
		    (!has_texts(f, i) && count_nodes(&f->all[i], end - i) != f->nodes))
			continue;
		each_slot(f, i, end, give_slot);
	}
}

/* ---- kinds that meet ------------------------------------------------------------------------ */

/* The end of a place; returns the kind of which most are there, if they are more than half. */
static uint8_t meet(struct meetings *m)
{
	uint8_t here[SLOTS_MAX], most = RAIL_NONE;
	uint32_t n = 0, sum = 0;

	for (unsigned i = 0; i < m->n; i++) {
		if (!m->count[i])
			continue;
		here[n++] = (uint8_t)i;
		sum += m->count[i];
		m->all[i] += m->count[i];
		if (most == RAIL_NONE || m->count[i] > m->count[most])
			most = (uint8_t)i;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			m->both[here[i]][here[k]] += MIN(m->count[here[i]], m->count[here[k]]);
	if (most != RAIL_NONE && 2 * m->count[most] <= sum)
		most = RAIL_NONE;
	memset(m->count, 0, sizeof(m->count));
	return most;
}

static bool are_one(const struct meetings *m, unsigned a, unsigned b)
{
	uint32_t rarer = MIN(m->all[a], m->all[b]);

	return rarer && 2 * (uint64_t)m->both[a][b] >= rarer;
}

/* Numbers 0, 1 ... in the order of their first kinds; returns how many. */
static unsigned classes(const struct meetings *m, uint8_t *ret)
{
	uint8_t rows[SLOTS_MAX];
	unsigned n = 0;

	memset(ret, RAIL_NONE, m->n);
	for (unsigned i = 0; i < m->n; i++) {
		unsigned n_rows = 0;

		if (ret[i] != RAIL_NONE)
			continue;
		ret[i] = (uint8_t)n++;
		rows[n_rows++] = (uint8_t)i;
		for (unsigned r = 0; r < n_rows; r++)
			for (unsigned k = 0; k < m->n; k++)
				if (ret[k] == RAIL_NONE && are_one(m, rows[r], k)) {
					ret[k] = ret[i];
					rows[n_rows++] = (uint8_t)k;
				}
	}
	return n;
}

/* ---- rails ---------------------------------------------------------------------------------- */

/* Counts by `kind` (per entry of topo->hosts) what hangs on the switch. */
static uint8_t look_at_leaf(struct finder *f, uint32_t sw, const uint8_t *kind)
{
	const struct topo_switch *s = &f->t->switches[sw];

	for (unsigned p = 1; p <= s->n_ports; p++) {
		uint32_t host = topo_port(f->t, sw, p)->host;

		if (host != TOPO_NONE && kind[host] != RAIL_NONE)
			f->m.count[kind[host]]++;
	}
	return meet(&f->m);
}

/* Rails with too few ports are none: the others close up. False: these are no rails. */
static bool drop_small(struct finder *f, unsigned n)
{
	uint32_t ports[SLOTS_MAX] = { 0 };
	uint8_t now[SLOTS_MAX];

	for (unsigned i = 0; i < f->n_slots; i++)
		ports[f->of_slot[i]] += f->m.all[i];
	f->ret->n = 0;
	for (unsigned c = 0; c < n; c++) {
		bool counts = ports[c] >= RAILS_HOSTS_MIN && f->ret->n <= RAILS_MAX;

		now[c] = counts ? (uint8_t)f->ret->n++ : RAIL_NONE;
	}
	for (unsigned i = 0; i < f->n_slots; i++)
		f->of_slot[i] = now[f->of_slot[i]];
	return f->ret->n >= 2 && f->ret->n <= RAILS_MAX;
}

static bool group_slots(struct finder *f)
{
	f->m = (struct meetings){ .n = f->n_slots };
	for (uint32_t s = 0; s < f->t->n_switches; s++)
		look_at_leaf(f, s, f->slot);
	return drop_small(f, classes(&f->m, f->of_slot));
}

static void name_rail(struct rail *r, const struct slot *s, unsigned nodes)
{
	char port[24] = "";

	if (r->name[0])
		return;
	if (s->text[0] && s->port != 1)
		snprintf(port, sizeof(port), " port %u", s->port);
	if (s->text[0])
		snprintf(r->name, sizeof(r->name), "%.*s%s",
			 (int)(sizeof(r->name) - 1 - strlen(port)), s->text, port);
	else if (nodes > 1)
		snprintf(r->name, sizeof(r->name), "adapter %u port %u", s->nth + 1u, s->port);
	else
		snprintf(r->name, sizeof(r->name), "port %u", s->port);
}

/* By the slots of the ports. */
static void give_rails(struct finder *f)
{
	struct rails *r = f->ret;

	for (unsigned i = 0; i < f->n_slots; i++)
		if (f->of_slot[i] != RAIL_NONE)
			name_rail(&r->of[f->of_slot[i]], &f->slots[i], f->nodes);
	for (uint32_t h = 0; h < f->t->n_hosts; h++) {
		uint8_t slot = f->slot[h];

		r->rail[h] = slot == RAIL_NONE ? RAIL_NONE : f->of_slot[slot];
	}
}

static void count_ports(struct finder *f)
{
	struct rails *r = f->ret;

	for (uint32_t h = 0; h < f->t->n_hosts; h++)
		if (r->rail[h] != RAIL_NONE)
			r->of[r->rail[h]].ports++;
	r->least = r->of[0].ports;
	for (unsigned i = 0; i < r->n; i++) {
		r->least = MIN(r->least, r->of[i].ports);
		r->most = MAX(r->most, r->of[i].ports);
	}
}

static void note_wrong(struct rails *r, uint32_t host, uint8_t on)
{
	if (r->wrong < RAILS_SHOWN) {
		r->first_wrong[r->wrong].host = host;
		r->first_wrong[r->wrong].on = on;
	}
	r->wrong++;
}

/* Per switch a number that leaves share which hosts connect, one by one. The caller frees. */
static uint32_t *find_units(const struct finder *f)
{
	uint32_t *unit = xcalloc((size_t)f->t->n_switches + 1, sizeof(*unit));

	for (uint32_t s = 0; s < f->t->n_switches; s++)
		unit[s] = s;
	for (uint32_t i = 0, end; i < f->n; i = end) {
		end = end_of_host(f, i);
		for (uint32_t k = i + 1; k < end && end - i <= PORTS_MAX; k++)
			sets_join(unit, f->t->hosts[f->all[i].host].sw,
				  f->t->hosts[f->all[k].host].sw);
	}
	for (uint32_t s = 0; s < f->t->n_switches; s++)
		unit[s] = sets_root(unit, s);
	return unit;
}

/*
 * Ports on a leaf of another rail. Where the unit has no leaf of the rail that the name tells, the
 * host names its adapters in another way than its neighbours: its ports are of the rail that they
 * hang on.
 */
static void look_at_ports(struct finder *f)
{
	_cleanup_free_ uint32_t *unit = find_units(f);
	_cleanup_free_ uint32_t *rails = xcalloc((size_t)f->t->n_switches + 1, sizeof(*rails));
	struct rails *r = f->ret;

	_Static_assert(RAILS_MAX <= 32, "bits of a word");
	for (uint32_t s = 0; s < f->t->n_switches; s++)
		if (f->leaf[s] != RAIL_NONE)
			rails[unit[s]] |= UINT32_C(1) << f->leaf[s];
	for (uint32_t h = 0; h < f->t->n_hosts; h++) {
		uint32_t sw = f->t->hosts[h].sw;

		if (r->rail[h] == RAIL_NONE || f->leaf[sw] == RAIL_NONE ||
		    f->leaf[sw] == r->rail[h])
			continue;
		if (rails[unit[sw]] >> r->rail[h] & 1)
			note_wrong(r, h, f->leaf[sw]);
		else
			r->rail[h] = f->leaf[sw];
	}
}

static void find_leaves(struct finder *f)
{
	struct rails *r = f->ret;

	f->m = (struct meetings){ .n = r->n };
	for (uint32_t s = 0; s < f->t->n_switches; s++) {
		f->leaf[s] = look_at_leaf(f, s, r->rail);
		if (f->leaf[s] != RAIL_NONE)
			r->of[f->leaf[s]].leaves++;
	}
	look_at_ports(f);
}

static void count_hosts(struct finder *f)
{
	for (uint32_t i = 0, end; i < f->n; i = end) {
		uint8_t first = f->ret->rail[f->all[i].host];
		bool several = false;

		end = end_of_host(f, i);
		for (uint32_t k = i + 1; k < end && end - i <= PORTS_MAX; k++) {
			uint8_t rail = f->ret->rail[f->all[k].host];

			several |= rail != RAIL_NONE && first != RAIL_NONE && rail != first;
			first = first == RAIL_NONE ? rail : first;
		}
		f->ret->hosts += several;
	}
}

static bool are_rails(const struct rails *r)
{
	uint64_t ports = 0;

	for (unsigned i = 0; i < r->n; i++) {
		ports += r->of[i].ports;
		if (!r->of[i].leaves)
			return false;
	}
	return r->hosts >= RAILS_HOSTS_MIN && (uint64_t)r->wrong * WRONG_MOST <= ports;
}

/* ---- planes --------------------------------------------------------------------------------- */

/* Cables of the switch to leaves, by `kind` of these. */
static void look_at_spine(struct finder *f, uint32_t sw, const uint8_t *kind)
{
	const struct topo_switch *s = &f->t->switches[sw];

	for (unsigned p = 1; p <= s->n_ports; p++) {
		uint32_t peer = topo_port(f->t, sw, p)->sw;

		if (peer == TOPO_NONE || peer == sw || f->leaf[peer] == RAIL_NONE)
			continue;
		f->m.count[kind[f->leaf[peer]]]++;
		if (f->leaf[sw] != RAIL_NONE) /* between leaves */
			f->m.count[kind[f->leaf[sw]]]++;
	}
}

static void group_rails(struct finder *f, uint8_t *plane)
{
	uint8_t own[RAILS_MAX];

	for (unsigned i = 0; i < RAILS_MAX; i++)
		own[i] = (uint8_t)i;
	f->m = (struct meetings){ .n = f->ret->n };
	for (uint32_t s = 0; s < f->t->n_switches; s++) {
		look_at_spine(f, s, own);
		meet(&f->m);
	}
	f->ret->planes = classes(&f->m, plane);
	for (unsigned i = 0; i < f->ret->n; i++)
		f->ret->of[i].plane = plane[i];
}

static void count_crossing(struct finder *f, const uint8_t *plane)
{
	f->m = (struct meetings){ .n = f->ret->planes };
	for (uint32_t s = 0; s < f->t->n_switches; s++) {
		uint32_t sum = 0, most = 0;

		if (f->leaf[s] != RAIL_NONE)
			continue;
		look_at_spine(f, s, plane);
		for (unsigned i = 0; i < f->m.n; i++) {
			sum += f->m.count[i];
			most = MAX(most, f->m.count[i]);
		}
		f->ret->crossing += sum - most;
		meet(&f->m);
	}
}

/* Switches that cables connect with `from` are of its plane, or planes are joined. */
static void spread(struct finder *f, uint8_t *seen, uint32_t *queue, uint32_t from,
		   const uint8_t *plane)
{
	uint32_t n = 0;

	seen[from] = true;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = queue[i];

		if (f->leaf[s] != RAIL_NONE && plane[f->leaf[s]] != plane[f->leaf[from]])
			f->ret->joined = true;
		for (unsigned p = 1; p <= f->t->switches[s].n_ports; p++) {
			uint32_t peer = topo_port(f->t, s, p)->sw;

			if (peer == TOPO_NONE || seen[peer])
				continue;
			seen[peer] = true;
			queue[n++] = peer;
		}
	}
}

static void find_planes(struct finder *f)
{
	uint32_t n = f->t->n_switches;
	_cleanup_free_ uint8_t *seen = xcalloc((size_t)n + 1, 1);
	_cleanup_free_ uint32_t *queue = xcalloc((size_t)n + 1, sizeof(*queue));
	uint8_t plane[SLOTS_MAX];

	group_rails(f, plane);
	if (f->ret->planes < 2)
		return;
	count_crossing(f, plane);
	for (uint32_t s = 0; s < n; s++)
		if (!seen[s] && f->leaf[s] != RAIL_NONE)
			spread(f, seen, queue, s, plane);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool find(struct finder *f)
{
	find_hosts(f);
	find_slots(f);
	if (f->n_slots < 2 || f->n_slots > SLOTS_MAX)
		return false;
	give_slots(f);
	if (!group_slots(f))
		return false;
	give_rails(f);
	find_leaves(f);
	count_ports(f);
	count_hosts(f);
	if (!are_rails(f->ret))
		return false;
	find_planes(f);
	return true;
}

struct rails *rails_find(const struct topo *t, const char *const *names)
{
	struct finder f = { .t = t,
			    .names = names,
			    .all = xcalloc((size_t)t->n_hosts + 1, sizeof(*f.all)),
			    .slot = xcalloc((size_t)t->n_hosts + 1, 1),
			    .leaf = xcalloc((size_t)t->n_switches + 1, 1),
			    .ret = xcalloc(1, sizeof(*f.ret)) };

	f.ret->rail = xcalloc((size_t)t->n_hosts + 1, 1);
	memset(f.slot, RAIL_NONE, t->n_hosts);
	if (!find(&f)) {
		rails_free(f.ret);
		f.ret = xcalloc(1, sizeof(*f.ret));
	}
	free(f.all);
	free(f.slot);
	free(f.leaf);
	return f.ret;
}

struct rails *rails_free(struct rails *r)
{
	if (r)
		free(r->rail);
	free(r);
	return NULL;
}

uint32_t rails_pick(const struct rails *r, unsigned rail, const uint32_t *hosts, uint32_t n,
		    uint32_t *ret)
{
	uint32_t picked = 0;

	assert(rail < r->n);
	for (uint32_t i = 0; i < n; i++)
		if (r->rail[hosts[i]] == rail)
			ret[picked++] = hosts[i];
	return picked;
}
