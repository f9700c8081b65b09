// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pictures that know systems by names, and no GUIDs (ibdm's .topo): which node that is found is
 * meant. A node is called as its description says, or the node-name map in its place:
 *
 *   "h1"                            h1
 *   "h1 HCA-2", "h1 mlx5_1"         h1/U2      (the first one: h1)
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

/* "SYSTEM BOARD": its last word is the name of an HCA. */
static uint32_t seek_hca(const struct expect *x, const char *label)
{
	const char *blank = strrchr(label, ' ');
	char name[EXPECT_CALLED_MAX];

	if (!blank || blank == label || !board_number(blank + 1) ||
	    !expect_called(name, label, (size_t)(blank - label), blank + 1))
		return TOPO_NONE;
	return x->slots[slot_of(x, name)];
}

/* "MF0;SYSTEM:TYPE/BOARD/U1" */
static uint32_t seek_managed(const struct expect *x, const char *label)
{
	const char *start = strchr(label, ';'), *colon = start ? strchr(start, ':') : NULL;
	const char *board = colon ? strchr(colon, '/') : NULL;
	char name[EXPECT_CALLED_MAX], bare[EXPECT_CALLED_MAX];
	size_t len;

	if (!board || colon == start + 1)
		return TOPO_NONE;
	snprintf(bare, sizeof(bare), "%s", board + 1);
	len = strlen(bare);
	if (len > 3 && !strcmp(bare + len - 3, "/U1"))
		bare[len - 3] = '\0';
	return expect_called(name, start + 1, (size_t)(colon - start - 1), bare)
		       ? x->slots[slot_of(x, name)]
		       : TOPO_NONE;
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
		at = seek_hca(x, name);
	if (at == TOPO_NONE)
		at = seek_managed(x, name);
	if (at == TOPO_NONE)
		at = seek_guid(x, sysimg);
	return at == TOPO_NONE ? seek_guid(x, guid) : at;
}
