// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pictures that know nodes by other means than their GUIDs: by port GUIDs, as NVIDIA's CSV does, or
 * systems by names (ibdm's .topo). Which node that is found is meant, and the picture with its
 * GUIDs.
 *
 * A node is called as its description says, or the node-name map in its place:
 *
 *   "h1"                            h1
 *   "h1 HCA-2", "h1/mlx5_1"         h1/U2      (the first one: h1)
 *   "MF0;leaf1:MSB7800/U1"          leaf1
 *   "MF0;core1:CS7500/L01/U1"       core1/L01
 *
 * and, as ibdiagnet calls systems that it has no name for, S and the 16 digits of its system image
 * GUID, or of its own. In such a picture nodes are in the order of their names; their GUIDs are
 * numbers that no device has, until expect_resolved() gives them those of the nodes that are found.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/expect_file.h"
#include "util/bisect.h"
#include "util/hash.h"
#include "util/str.h"

#define NUMBERED UINT64_C(0xFFFFFFFF00000000) /* no manufacturer's */

guid_t expect_number_guid(uint32_t i)
{
	return NUMBERED | i;
}

bool expect_guid_is_number(guid_t guid)
{
	return guid >= NUMBERED;
}

/* ---- names of boards ------------------------------------------------------------------------- */

/* "U2", "HCA-2": 2. "mlx5_1": 2. 0: it is no number of an HCA. */
static unsigned board_number(const char *board)
{
	static const struct {
		const char *prefix;
		unsigned first;
	} kinds[] = { { "U", 1 }, { "HCA-", 1 }, { "mlx5_", 0 }, { "mlx4_", 0 } };

	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t n;

		if (str_starts(board, kinds[i].prefix) &&
		    !str_to_u64(board + strlen(kinds[i].prefix), 10, 255, &n) &&
		    n >= kinds[i].first)
			return (unsigned)n + 1 - kinds[i].first;
	}
	return 0;
}

bool expect_called(char ret[EXPECT_CALLED_MAX], const char *system, size_t len, const char *board)
{
	unsigned n = board_number(board);
	int r;

	if (!board[0] || n == 1)
		r = snprintf(ret, EXPECT_CALLED_MAX, "%.*s", (int)len, system);
	else if (n)
		r = snprintf(ret, EXPECT_CALLED_MAX, "%.*s/U%u", (int)len, system, n);
	else
		r = snprintf(ret, EXPECT_CALLED_MAX, "%.*s/%s", (int)len, system, board);
	return r < EXPECT_CALLED_MAX;
}

/* "SYSTEM BOARD" or "SYSTEM/BOARD": the last word is the name of an HCA. */
static bool call_hca(char ret[EXPECT_CALLED_MAX], const char *label)
{
	const char *cut = label + strlen(label);

	while (cut > label && *cut != ' ' && *cut != '/')
		cut--;
	return cut > label && board_number(cut + 1) &&
	       expect_called(ret, label, (size_t)(cut - label), cut + 1);
}

/* "MF0;SYSTEM:TYPE/BOARD/U1" */
static bool call_managed(char ret[EXPECT_CALLED_MAX], const char *label)
{
	const char *start = strchr(label, ';'), *colon = start ? strchr(start, ':') : NULL;
	const char *board = colon ? strchr(colon, '/') : NULL;
	char bare[EXPECT_CALLED_MAX];
	size_t len;

	if (!board || colon == start + 1)
		return false;
	snprintf(bare, sizeof(bare), "%s", board + 1);
	len = strlen(bare);
	if (len > 3 && !strcmp(bare + len - 3, "/U1"))
		bare[len - 3] = '\0';
	return expect_called(ret, start + 1, (size_t)(colon - start - 1), bare);
}

bool expect_called_label(char ret[EXPECT_CALLED_MAX], const char *label)
{
	return call_managed(ret, label) || call_hca(ret, label);
}

/* ---- by name --------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct expect *x, const char *name)
{
	uint32_t at = hash_fold(hash_bytes(HASH_START, name, strlen(name))) & (x->n_slots - 1);

	/* at most half of them are taken */
	while (x->slots[at] != TOPO_NONE && strcmp(x->nodes[x->slots[at]].name, name) != 0)
		at = (at + 1) & (x->n_slots - 1);
	return at;
}

void expect_index_names(struct expect *x)
{
	x->n_slots = 4;
	while (x->n_slots < 2 * x->n_nodes)
		x->n_slots *= 2;
	x->slots = xmalloc(x->n_slots * sizeof(*x->slots));
	memset(x->slots, 0xFF, x->n_slots * sizeof(*x->slots));
	for (uint32_t i = 0; i < x->n_nodes; i++)
		x->slots[slot_of(x, x->nodes[i].name)] = i;
}

static uint32_t seek_label(const struct expect *x, const char *label)
{
	char name[EXPECT_CALLED_MAX];

	return expect_called_label(name, label) ? x->slots[slot_of(x, name)] : TOPO_NONE;
}

static uint32_t seek_guid(const struct expect *x, guid_t guid)
{
	char name[18];

	if (!guid)
		return TOPO_NONE;
	snprintf(name, sizeof(name), "S%016" PRIx64, guid);
	return x->slots[slot_of(x, name)];
}

uint32_t expect_seek(const struct expect *x, guid_t guid, guid_t sysimg, const char *name)
{
	uint32_t at;

	if (!x->slots)
		return expect_find_node(x, guid);
	at = name[0] ? x->slots[slot_of(x, name)] : TOPO_NONE;
	if (at == TOPO_NONE)
		at = seek_label(x, name);
	if (at == TOPO_NONE)
		at = seek_guid(x, guid);
	return at == TOPO_NONE ? seek_guid(x, sysimg) : at;
}

/* ---- GUIDs for names ------------------------------------------------------------------------- */

/* Per node of `x`: the first one of `other` that is meant; TOPO_NONE. */
static uint32_t *find_all(const struct expect *x, const struct expect *other)
{
	uint32_t *ret = xmalloc((x->n_nodes + 1u) * sizeof(*ret));

	memset(ret, 0xFF, (x->n_nodes + 1u) * sizeof(*ret));
	for (uint32_t i = 0; i < other->n_nodes; i++) {
		const struct expect_node *n = &other->nodes[i];
		uint32_t at = expect_seek(x, n->guid, n->sysimg_guid, n->name);

		if (at != TOPO_NONE && ret[at] == TOPO_NONE)
			ret[at] = i;
	}
	return ret;
}

static struct expect *with_guids(const struct expect *x, const struct expect *other)
{
	struct expect_builder *b = expect_builder_new();
	_cleanup_free_ uint32_t *of_other = find_all(x, other);

	for (uint32_t i = 0, free = 0; i < x->n_nodes; i++) {
		struct expect_node n =
			of_other[i] == TOPO_NONE ? x->nodes[i] : other->nodes[of_other[i]];

		if (of_other[i] == TOPO_NONE) {
			while (expect_find_node(other, expect_number_guid(free + i)) != TOPO_NONE)
				free++;
			n.guid = expect_number_guid(free + i);
		}
		expect_add_node(b, &n);
	}
	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].peer > i)
			expect_add_cable(b, &x->ports[i], &x->ports[x->ports[i].peer]);
	return expect_build(b);
}

/* ---- port GUIDs in place of node GUIDs ------------------------------------------------------ */

struct alias {
	guid_t guid;
	uint32_t port; /* of the other picture */
};

static int by_alias(const void *va, const void *vb)
{
	const struct alias *a = va, *b = vb;

	return COMPARE(a->guid, b->guid) ?: COMPARE(a->port, b->port);
}

static struct alias *port_guids_of(const struct expect *x, uint32_t *ret_n)
{
	struct alias *all = xcalloc(x->n_ports + 1u, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].guid)
			all[n++] = (struct alias){ x->ports[i].guid, i };
	qsort(all, n, sizeof(*all), by_alias);
	*ret_n = n;
	return all;
}

static bool may_be_port(const struct expect *x, const struct expect_node *n,
			const struct expect *other)
{
	return n->type == EXPECT_ANY_TYPE && n->n_ports == 1 &&
	       x->ports[n->first_port].number == 1 && expect_find_node(other, n->guid) == TOPO_NONE;
}

/* Per node of `x`: the port of `other` that it is, TOPO_NONE. NULL: all of them are nodes. */
static uint32_t *find_aliases(const struct expect *x, const struct expect *other)
{
	_cleanup_free_ struct alias *all = NULL;
	_cleanup_free_ uint32_t *ret = xcalloc(x->n_nodes + 1u, sizeof(*ret));
	bool found = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_nodes; i++) {
		uint32_t at;

		ret[i] = TOPO_NONE;
		if (!may_be_port(x, &x->nodes[i], other))
			continue;
		if (!all)
			all = port_guids_of(other, &n);
		at = BISECT(k, 0, n, all[k].guid < x->nodes[i].guid);
		if (at == n || all[at].guid != x->nodes[i].guid)
			continue;
		ret[i] = all[at].port;
		found = true;
	}
	return found ? take(ret) : NULL;
}

/* Per node of `x` the one in the picture that is built, where all but ports of others are. */
static uint32_t *add_nodes(struct expect_builder *b, const struct expect *x,
			   const struct expect *other, const uint32_t *alias)
{
	_cleanup_free_ uint32_t *added = xmalloc((other->n_nodes + 1u) * sizeof(*added));
	uint32_t *now = xcalloc(x->n_nodes + 1u, sizeof(*now));

	memset(added, 0xFF, (other->n_nodes + 1u) * sizeof(*added));
	for (uint32_t i = 0; i < x->n_nodes; i++)
		if (alias[i] == TOPO_NONE)
			now[i] = expect_add_node(b, &x->nodes[i]);
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		uint32_t node, own;

		if (alias[i] == TOPO_NONE)
			continue;
		node = other->ports[alias[i]].node;
		own = expect_find_node(x, other->nodes[node].guid);
		if (added[node] == TOPO_NONE)
			added[node] = own != TOPO_NONE ? now[own]
						       : expect_add_node(b, &other->nodes[node]);
		now[i] = added[node];
	}
	return now;
}

struct expect *expect_resolved(const struct expect *x, const struct expect *other)
{
	_cleanup_free_ uint32_t *alias = NULL, *now = NULL;
	struct expect_builder *b;

	if (x->slots)
		return with_guids(x, other);
	alias = find_aliases(x, other);
	if (!alias)
		return NULL;
	b = expect_builder_new();
	now = add_nodes(b, x, other, alias);
	for (uint32_t i = 0; i < x->n_ports; i++) {
		struct expect_port ends[] = { x->ports[i], x->ports[x->ports[i].peer] };

		if (x->ports[i].peer < i)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			uint32_t node = ends[k].node;

			ends[k].node = now[node];
			if (alias[node] != TOPO_NONE)
				ends[k].number = other->ports[alias[node]].number;
		}
		expect_add_cable(b, &ends[0], &ends[1]);
	}
	return expect_build(b);
}

struct expect *expect_resolve(struct expect *x, const struct expect *other)
{
	struct expect *ret = expect_resolved(x, other);

	if (!ret)
		return x;
	expect_free(x);
	return ret;
}
