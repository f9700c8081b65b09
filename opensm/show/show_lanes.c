// SPDX-License-Identifier: BSD-2-Clause
/* Ports by their tables. Cells with the same content have the same id, so ids are compared. */
#include "show/show_lanes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/guidmap.h"
#include "util/hash.h"

/* What makes a group; all bytes of it are set. In words: each port of the fabric has its hash. */
struct __attribute__((aligned(8))) lanes_key {
	cell_id rows[LANES_ROWS]; /* ascending, 0 behind the last */
	cell_id shares[QOS_BLOCKS];
	uint8_t kind, vls, high_limit, n_rows, more_rows;
};

struct gathering {
	struct lanes *l;
	struct lanes_key *keys; /* keys of the groups, by index */
	size_t cap_keys;
	struct guidmap *by_hash; /* hash of a key (never 0) -> index + 1 */
};

static bool is_shown(const struct port *p)
{
	if (!p->known)
		return false;
	if (node_is_switch(p->node) && p->num == 0)
		return port_is_enhanced0(p);
	return p->peer && port_state(p) > IB_PORT_DOWN;
}

static enum qos_kind kind_of(const struct port *p)
{
	if (node_is_switch(p->node))
		return p->num ? QOS_SWITCH : QOS_SWITCH0;
	return p->node->type == IB_NODE_ROUTER ? QOS_ROUTER : QOS_CA;
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* Most rows of a port are the one before. */
static void add_row(struct lanes_key *key, cell_id row)
{
	unsigned at = 0;

	while (at < key->n_rows && key->rows[at] < row)
		at++;
	if (at < key->n_rows && key->rows[at] == row)
		return;
	if (key->n_rows == LANES_ROWS) {
		key->more_rows = true;
		return;
	}
	memmove(&key->rows[at + 1], &key->rows[at], (key->n_rows - at) * sizeof(key->rows[0]));
	key->rows[at] = row;
	key->n_rows++;
}

static void key_of(const struct port *p, struct lanes_key *ret)
{
	const struct cell_table *rows = p->tables[TABLE_SL2VL];
	unsigned vls = (unsigned)ib_get(p->info, PI_OPER_VLS);
	cell_id last = CELL_UNKNOWN;

	memset(ret, 0, sizeof(*ret));
	ret->kind = (uint8_t)kind_of(p);
	ret->vls = (uint8_t)MIN(vls ? vls : (unsigned)ib_get(p->info, PI_VL_CAP), QOS_CODES - 1u);
	ret->high_limit = (uint8_t)ib_get(p->info, PI_VL_HIGH_LIMIT);
	for (unsigned block = 0; block < QOS_BLOCKS; block++)
		ret->shares[block] = cell_table_id(p->tables[TABLE_VLARB], block);
	for (unsigned in = 0; rows && in < rows->n; in++) {
		cell_id row = cell_table_id(rows, in);

		if (row && row != last)
			add_row(ret, row);
		last = row;
	}
}

/* ---- groups --------------------------------------------------------------------------------- */

static void add_weights(const uint8_t *block, uint32_t *weights)
{
	for (unsigned i = 0; block && i < QOS_PER_BLOCK; i++) {
		unsigned vl = (unsigned)ib_bits_get(block, i * 16 + 4, 4);

		weights[vl] += (uint32_t)ib_bits_get(block, i * 16 + 8, 8);
	}
}

/* Copies the tables, as ids may change when the main thread continues. */
static struct lanes_group group_new(const struct fabric *f, const struct port *p,
				    const struct lanes_key *key)
{
	struct lanes_group g = {
		.kind = key->kind,
		.vls = key->vls,
		.high_limit = key->high_limit,
		.node = p->node->guid,
		.port = p->num,
		.n_rows = key->n_rows,
		.more_rows = key->more_rows,
		.low_known = key->shares[0] || key->shares[1],
		.high_known = key->shares[2] || key->shares[3],
	};

	for (unsigned i = 0; i < key->n_rows; i++)
		for (unsigned sl = 0; sl < QOS_SLS; sl++)
			g.vl[i][sl] =
				(uint8_t)ib_bits_get(cells_get(f->cells, key->rows[i]), sl * 4, 4);
	for (unsigned block = 0; block < QOS_BLOCKS; block++)
		add_weights(cells_get(f->cells, key->shares[block]),
			    block < 2 ? g.low_weight : g.high_weight);
	return g;
}

/* NULL: there are LANES_GROUPS_MAX. Keys whose hash is that of another one take the next number. */
static struct lanes_group *group_of(struct gathering *g, const struct fabric *f,
				    const struct port *p, const struct lanes_key *key)
{
	uint64_t hash = hash_words(HASH_START, key, sizeof(*key) / 8);
	struct lanes *l = g->l;
	size_t found = 0;

	for (unsigned i = 0; i <= LANES_GROUPS_MAX; i++, hash++) {
		if (!hash)
			continue;
		found = (size_t)(uintptr_t)guidmap_get(g->by_hash, hash);
		if (!found || !memcmp(&g->keys[found - 1], key, sizeof(*key)))
			break;
	}
	if (found)
		return &l->groups[found - 1];
	if (l->n_groups == LANES_GROUPS_MAX)
		return NULL;
	GROW(l->groups, l->n_groups + 1, l->cap_groups);
	GROW(g->keys, l->n_groups + 1, g->cap_keys);
	g->keys[l->n_groups] = *key;
	l->groups[l->n_groups] = group_new(f, p, key);
	guidmap_put(g->by_hash, hash, (void *)(uintptr_t)(l->n_groups + 1));
	return &l->groups[l->n_groups++];
}

static void add_port(struct gathering *g, const struct fabric *f, const struct port *p)
{
	struct lanes_group *group;
	struct lanes_key key;

	key_of(p, &key);
	group = group_of(g, f, p, &key);
	if (group)
		group->n_ports++;
	else
		g->l->n_others++;
}

static int by_kind(const void *a, const void *b)
{
	static const uint8_t order[QOS_KINDS] = {
		[QOS_CA] = 0, [QOS_SWITCH0] = 1, [QOS_SWITCH] = 2, [QOS_ROUTER] = 3
	};
	const struct lanes_group *x = a, *y = b;

	if (x->kind != y->kind)
		return (int)order[x->kind] - (int)order[y->kind];
	if (x->n_ports != y->n_ports)
		return x->n_ports > y->n_ports ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (int)x->port - (int)y->port;
}

struct lanes *lanes_new(const struct fabric *f)
{
	struct gathering g = { .l = xcalloc(1, sizeof(*g.l)), .by_hash = guidmap_new() };

	assert(f);
	FABRIC_EACH_NODE(f, n) {
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
			if (is_shown(&n->ports[i]))
				add_port(&g, f, &n->ports[i]);
		}
	}
	guidmap_free(g.by_hash);
	free(g.keys);
	if (g.l->n_groups)
		qsort(g.l->groups, g.l->n_groups, sizeof(g.l->groups[0]), by_kind);
	return g.l;
}

struct lanes *lanes_free(struct lanes *l)
{
	if (l)
		free(l->groups);
	free(l);
	return NULL;
}

/* ---- questions ------------------------------------------------------------------------------ */

const char *lanes_kind_name(enum qos_kind kind)
{
	static const char *const names[QOS_KINDS] = {
		[QOS_CA] = "ca", [QOS_ROUTER] = "rtr", [QOS_SWITCH0] = "sw0", [QOS_SWITCH] = "swe"
	};

	return names[kind];
}

uint16_t lanes_taken(const struct lanes_group *g)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < g->n_rows; i++)
		for (unsigned sl = 0; sl < QOS_SLS; sl++)
			taken |= 1u << g->vl[i][sl];
	return (uint16_t)(taken & ~(1u << QOS_VL_NONE));
}

const struct view_port *lanes_example(const struct show *s, const struct lanes_group *g)
{
	const struct view_node *n = view_find_node(s->view, g->node);

	return n ? show_port_at(s, view_node_port(n, g->port)) : NULL;
}

struct json_object *lanes_bits(unsigned bits)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; bits >> i; i++)
		if (bits >> i & 1)
			json_object_array_add(array, json_object_new_int((int)i));
	return array;
}
