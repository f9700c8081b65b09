// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as the table of marks, of the disk or of another manager. What is accepted has
 * each port once, kinds and texts that a mark can have, and its text reads back as the same text;
 * what is not is refused as damaged. The hash of the last line is put right first where it is all
 * zeros.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/links/marks_table.h"
#include "tests/fuzz/kept-file.h"

#define PAIRS_MAX 200 /* looked at for duplicates */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require_printable(const char *text)
{
	for (; *text; text++)
		require(isprint((unsigned char)*text));
}

static void look_at(const struct mark_table *t, uint32_t i)
{
	const struct link_mark *m = &t->all[i];

	require(m->node && m->port && (m->kind == MARK_DRAIN || m->kind == MARK_ISOLATE));
	require(m->since >= 0 && m->until >= 0);
	require(m->by[0] && strlen(m->by) <= MARK_BY_MAX && !strchr(m->by, ' '));
	require(strlen(m->why) <= MARK_WHY_MAX);
	require_printable(m->by);
	require_printable(m->why);
	for (uint32_t k = i + 1; k < t->n && k < i + PAIRS_MAX; k++)
		require(m->node != t->all[k].node || m->port != t->all[k].port);
	require(mark_table_find(t, m->node, m->port) == i);
}

static void read_back(const struct mark_table *t)
{
	_cleanup_(mark_table_freep) struct mark_table *again = NULL;
	size_t len, len2;
	char *text = mark_table_text(t, &len), *text2;

	require(len <= MARKS_TEXT_MAX && mark_table_read(text, len, &again) == 0);
	text2 = mark_table_text(again, &len2);
	require(len == len2 && !memcmp(text, text2, len));
	require(mark_table_digest(t) == mark_table_digest(again));
	free(text);
	free(text2);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(mark_table_freep) struct mark_table *t = NULL;
	char *text = xmalloc(len + 1);
	int r;

	if (len)
		memcpy(text, input, len);
	put_hash_right(text, len);
	r = mark_table_read(text, len, &t);
	require(r == 0 || (r == -EBADMSG && !t));
	require(!t || t->n <= MARKS_MAX);
	for (uint32_t i = 0; t && i < t->n; i++)
		look_at(t, i);
	if (t)
		read_back(t);
	free(text);
	return 0;
}
