// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables: where all switches send to all hosts, packed: 11,664 hosts on 1,620 switches take some
 * 300 KB. Hosts are grouped by their switch, in the order of its ports. To the hosts of a group a
 * switch sends by a pattern of ports, of which there are few: down by one port, up by those that
 * every switch of its level takes. And a switch sends like another one, but for some groups:
 *
 *	groups    [lid, lid, ...]: base LIDs
 *	patterns  "1a1b1c": a port for each LID of a group, in hexadecimal; ff: none
 *	switches  guid; like: index of an earlier switch, null: none; rows: [skip, n, pattern,
 *	          ...]: as that one for `skip` groups, then `n` groups with this pattern. Without
 *	          one all groups are in rows
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/hash.h"
#include "util/mem.h"

#define LIKE_MOST    12u     /* rows that a switch is compared with */
#define PACKED_MOST  600000u /* numbers in rows; tables without any order have more */
#define PATTERN_MOST 65536u

struct group {
	uint32_t first, n; /* range in `order` */
};

struct pattern {
	uint64_t hash;
	uint32_t sw; /* a switch that has it, ... */
	uint32_t group;
};

struct tables {
	const struct routes *r;
	const struct topo *t;
	uint32_t *order; /* hosts with a LID and a switch, by switch and port */
	struct group *groups;
	uint32_t n_groups;
	struct pattern *patterns;
	size_t n_patterns, cap_patterns;
	uint32_t *by_hash; /* hash table of 2 * PATTERN_MOST entries: index + 1 */
	uint32_t *row;	   /* row of the present switch, a pattern per group */
	uint32_t *like[LIKE_MOST];
	uint32_t like_sw[LIKE_MOST];
	unsigned n_like;
	uint64_t n_packed;
};

/* ---- groups ---------------------------------------------------------------------------------- */

struct place {
	uint32_t sw, host;
	uint8_t port;
};

static int by_place(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

static void find_groups(struct tables *t)
{
	_cleanup_free_ struct place *all = xcalloc(t->t->n_hosts + 1u, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t h = 0; h < t->t->n_hosts; h++) {
		const struct topo_host *host = &t->t->hosts[h];

		if (host->sw != TOPO_NONE && host->lid)
			all[n++] = (struct place){ host->sw, h, host->sw_port };
	}
	qsort(all, n, sizeof(*all), by_place);
	t->order = xcalloc(n + 1u, sizeof(*t->order));
	t->groups = xcalloc(n + 1u, sizeof(*t->groups));
	for (uint32_t i = 0; i < n; i++) {
		if (!i || all[i].sw != all[i - 1].sw)
			t->groups[t->n_groups++] = (struct group){ .first = i };
		t->order[i] = all[i].host;
		t->groups[t->n_groups - 1].n++;
	}
}

static uint8_t port_to(const struct tables *t, uint32_t sw, uint32_t group, uint32_t i)
{
	return routes_port(t->r, sw, t->t->hosts[t->order[t->groups[group].first + i]].lid);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static bool is_pattern(const struct tables *t, const struct pattern *p, uint32_t sw, uint32_t group)
{
	if (t->groups[p->group].n != t->groups[group].n)
		return false;
	for (uint32_t i = 0; i < t->groups[group].n; i++)
		if (port_to(t, sw, group, i) != port_to(t, p->sw, p->group, i))
			return false;
	return true;
}

static uint64_t hash_of(const struct tables *t, uint32_t sw, uint32_t group)
{
	uint64_t h = HASH_START;

	for (uint32_t i = 0; i < t->groups[group].n; i++) {
		uint8_t port = port_to(t, sw, group, i);

		h = hash_bytes(h, &port, 1);
	}
	return h;
}

/* UINT32_MAX: there are too many. */
static uint32_t pattern_of(struct tables *t, uint32_t sw, uint32_t group)
{
	uint64_t hash = hash_of(t, sw, group);
	uint32_t at = hash_fold(hash) % (2 * PATTERN_MOST);

	/* Half of the places are free at least. */
	for (; t->by_hash[at]; at = (at + 1) % (2 * PATTERN_MOST)) {
		const struct pattern *p = &t->patterns[t->by_hash[at] - 1];

		if (p->hash == hash && is_pattern(t, p, sw, group))
			return t->by_hash[at] - 1;
	}
	if (t->n_patterns >= PATTERN_MOST)
		return UINT32_MAX;
	GROW(t->patterns, t->n_patterns + 1, t->cap_patterns);
	t->patterns[t->n_patterns] = (struct pattern){ hash, sw, group };
	t->by_hash[at] = (uint32_t)++t->n_patterns;
	return (uint32_t)t->n_patterns - 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint32_t count_others(const struct tables *t, const uint32_t *row)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < t->n_groups; g++)
		n += row[g] != t->row[g];
	return n;
}

/* The row that this one differs least from; LIKE_MOST: none is like it. */
static unsigned find_like(const struct tables *t)
{
	uint32_t least = t->n_groups / 2;
	unsigned best = LIKE_MOST;

	for (unsigned i = 0; i < t->n_like; i++) {
		uint32_t n = count_others(t, t->like[i]);

		if (n < least) {
			least = n;
			best = i;
		}
	}
	return best;
}

/* The place of the row that was kept first, or a free one. */
static unsigned oldest(struct tables *t)
{
	unsigned at = 0;

	if (t->n_like < LIKE_MOST) {
		t->like[t->n_like] = xcalloc(t->n_groups + 1u, sizeof(*t->row));
		return t->n_like++;
	}
	for (unsigned i = 1; i < t->n_like; i++)
		if (t->like_sw[i] < t->like_sw[at])
			at = i;
	return at;
}

/* In the place of the row that it is like. */
static void keep_row(struct tables *t, unsigned like, uint32_t sw)
{
	unsigned at = like < LIKE_MOST ? like : oldest(t);

	memcpy(t->like[at], t->row, t->n_groups * sizeof(*t->row));
	t->like_sw[at] = sw;
}

static void put_number(struct tables *t, struct json_object *rows, uint32_t n)
{
	json_object_array_add(rows, json_object_new_int64(n));
	t->n_packed++;
}

static void put_rows(struct tables *t, struct json_object *rows, const uint32_t *like)
{
	uint32_t skip = 0;

	for (uint32_t g = 0; g < t->n_groups;) {
		uint32_t n = 1;

		if (like && like[g] == t->row[g]) {
			skip++;
			g++;
			continue;
		}
		while (g + n < t->n_groups && t->row[g + n] == t->row[g] &&
		       !(like && like[g + n] == t->row[g + n]))
			n++;
		put_number(t, rows, skip);
		put_number(t, rows, n);
		put_number(t, rows, t->row[g]);
		skip = 0;
		g += n;
	}
}

#define SWITCH_FIELDS(F)                                                                           \
	F("guid", GUID, t->t->switches[sw].guid)                                                   \
	F("like", KNOWN, is_like, is_like ? t->like_sw[like] : 0)                                  \
	F("rows", OF("[]int"), rows)

static const struct json_field switch_fields[] = FIELDS_TABLE(SWITCH_FIELDS);

/* False: these tables cannot be packed. */
static bool put_switch(struct tables *t, struct json_object *list, uint32_t sw)
{
	struct json_object *rows;
	unsigned like;
	bool is_like;

	for (uint32_t g = 0; g < t->n_groups; g++) {
		t->row[g] = pattern_of(t, sw, g);
		if (t->row[g] == UINT32_MAX)
			return false;
	}
	like = find_like(t);
	is_like = like < LIKE_MOST;
	rows = json_object_new_array();
	put_rows(t, rows, is_like ? t->like[like] : NULL);
	json_object_array_add(list, FIELDS_NEW(SWITCH_FIELDS));
	keep_row(t, like, sw);
	return t->n_packed <= PACKED_MOST;
}

/* ---- the document ---------------------------------------------------------------------------- */

static struct json_object *group_of(const struct tables *t, uint32_t g)
{
	const uint32_t *order = t->order + t->groups[g].first;

	return JSON_LIST(t->groups[g].n, json_object_new_int(t->t->hosts[order[i]].lid));
}

static struct json_object *pattern_text(const struct tables *t, const struct pattern *p)
{
	char text[2 * 256 + 1] = "";

	for (uint32_t i = 0; i < t->groups[p->group].n && i < 256; i++)
		snprintf(text + 2 * i, 3, "%02x", port_to(t, p->sw, p->group, i));
	return json_object_new_string(text);
}

static void tables_clear(struct tables *t)
{
	free(t->order);
	free(t->groups);
	free(t->patterns);
	free(t->by_hash);
	free(t->row);
	for (unsigned i = 0; i < t->n_like; i++)
		free(t->like[i]);
}

#define TABLES_FIELDS(F)                                                                           \
	F("engine", STR, t.r->engine)                                                              \
	F("groups", OF("[][]int"), JSON_LIST(t.n_groups, group_of(&t, i)))                         \
	F("switches", LIST(switch_fields), switches)                                               \
	F("patterns", OF("[]string"), JSON_LIST(t.n_patterns, pattern_text(&t, &t.patterns[i])))

const struct json_field show_tables_fields[] = FIELDS_TABLE(TABLES_FIELDS);

struct json_object *show_tables(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	struct tables t = { .r = s->routes, .t = s->routes->topo };
	struct json_object *switches = json_object_new_array(), *ret = NULL;
	bool fits = true;

	t.by_hash = xcalloc(2 * PATTERN_MOST, sizeof(*t.by_hash));
	find_groups(&t);
	t.row = xcalloc(t.n_groups + 1u, sizeof(*t.row));
	for (uint32_t sw = 0; fits && sw < t.t->n_switches; sw++)
		fits = put_switch(&t, switches, sw);
	if (fits)
		ret = FIELDS_NEW(TABLES_FIELDS);
	tables_clear(&t);
	if (fits)
		return ret;
	json_object_put(switches);
	return control_fail(err, "TooLarge",
			    "these tables have too little order to be packed: ask for Path, "
			    "or Routes");
}
