// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as a mark of another manager, key and value of its row, or as the table of marks
 * that a former build stored. What is accepted has kinds, times and texts that a mark can have, and
 * comes back from its value; in a table each port stands once. What is not is refused as damaged.
 * The hash of the last line is put right first where it is all zeros.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger.h"
#include "sm/marks/marks_table.h"
#include "tests/fuzz/kept-file.h"

#define PAIRS_MAX 200 /* looked at for duplicates */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require_printable(const char *text)
{
	for (; *text; text++)
		require(isprint((unsigned char)*text));
}

static void look_at_mark(const struct link_mark *m)
{
	struct link_mark again;
	uint8_t bytes[MARK_BYTES_MAX], bytes2[MARK_BYTES_MAX];
	uint32_t len = mark_pack(m, bytes);

	require(m->node && m->port && (m->kind == MARK_DRAIN || m->kind == MARK_ISOLATE));
	require(m->since >= 0 && m->until >= 0);
	require(m->by[0] && strlen(m->by) <= MARK_BY_MAX && !strchr(m->by, ' '));
	require(strlen(m->why) <= MARK_WHY_MAX);
	require_printable(m->by);
	require_printable(m->why);
	require(mark_unpack(m->node, m->port, bytes, len, &again));
	require(mark_pack(&again, bytes2) == len && !memcmp(bytes, bytes2, len));
}

static void look_at(const struct mark_table *t, uint32_t i)
{
	const struct link_mark *m = &t->all[i];

	look_at_mark(m);
	for (uint32_t k = i + 1; k < t->n && k < i + PAIRS_MAX; k++)
		require(m->node != t->all[k].node || m->port != t->all[k].port);
	require(mark_table_find(t, m->node, m->port) == i);
}

static void try_text(const uint8_t *input, size_t len)
{
	_cleanup_(mark_table_freep) struct mark_table *t = NULL;
	char *text = xmalloc(len + 1);
	int r;

	memcpy(text, input, len);
	put_hash_right(text, len);
	r = mark_table_read(text, len, &t);
	require(r == 0 || (r == -EBADMSG && !t));
	require(!t || t->n <= MARKS_MAX);
	for (uint32_t i = 0; t && i < t->n; i++)
		look_at(t, i);
	free(text);
}

/* Bytes 0 to 8: the key. */
static void try_row(const uint8_t *input, size_t len)
{
	bool is_value = ledger_table(LEDGER_MARK)->is_value(input + 9, len - 9);
	struct link_mark m;
	guid_t node = 0;

	for (unsigned i = 0; i < 8; i++)
		node = node << 8 | input[i];
	if (mark_unpack(node, input[8], input + 9, len - 9, &m))
		look_at_mark(&m);
	else
		require(!node || !input[8] || !is_value);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	if (len)
		try_text(input, len);
	if (len > 9)
		try_row(input, len);
	return 0;
}
