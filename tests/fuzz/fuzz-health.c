// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as what another manager knows of the health of a link, key and value of its row,
 * or as the file that a former build stored. What is accepted can be judged, and comes back from
 * the rows that are made of it; what is not leaves nothing. The hash of the last line is put right
 * first where it is all zeros.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health/judge.h"
#include "tests/fuzz/kept-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static const struct health_rules rules = {
	.events = { [HEALTH_REBOOT] = { 10, 900, false },
		    [HEALTH_FLAPPING] = { 5, 30, true },
		    [HEALTH_NOISY] = { 60, 90, false },
		    [HEALTH_LINK_DOWN] = { 3, 604800, false } },
	.ber_short = 720,
	.ber_long = 7500,
	.ber_least = 3,
	.pdr_exponent = 12,
	.stall_percent = 50,
	.probation = 7560,
};

static void judge_all(struct health *h)
{
	char why[HEALTH_WHY_STRLEN];

	for (uint32_t i = 0; i < health_n_links(h); i++) {
		health_judge(h, i, 1764193800);
		health_why(h, i, why);
	}
}

/* All rows of `h`, into another judge, and from there into a third one. */
static struct health *copy_of(struct health *h)
{
	struct health *copy = health_new(&rules);
	struct health_end at;
	uint32_t pos = 0;

	while (health_next_row(h, &pos, &at)) {
		uint8_t bytes[HEALTH_ROW_MAX];
		size_t len = health_pack(h, at, bytes);

		require(len && health_row_is_ours(bytes, len));
		require(health_take(copy, at, bytes, len));
	}
	return copy;
}

static void require_same(struct health *a, struct health *b)
{
	struct health_end at;
	uint32_t pos = 0;

	while (health_next_row(a, &pos, &at)) {
		uint8_t x[HEALTH_ROW_MAX], y[HEALTH_ROW_MAX];
		size_t x_len = health_pack(a, at, x), y_len = health_pack(b, at, y);

		require(health_rows_agree(x, x_len, y, y_len));
	}
}

static void read_back(struct health *h)
{
	struct health *copy = copy_of(h), *again = copy_of(copy);

	require_same(h, copy);
	require_same(copy, again);
	health_free(copy);
	health_free(again);
}

static void try_text(const uint8_t *input, size_t len)
{
	struct health *h = health_new(&rules);
	char *text = xmalloc(len + 1);

	memcpy(text, input, len);
	put_hash_right(text, len);
	if (health_read(h, text, len) == 0) {
		read_back(h);
		judge_all(h);
	} else {
		require(!health_n_links(h));
	}
	free(text);
	health_free(h);
}

/* Bytes 0 to 8: the key. */
static void try_row(const uint8_t *input, size_t len)
{
	struct health *h = health_new(&rules);
	struct health_end at = { 0, input[8] };

	for (unsigned i = 0; i < 8; i++)
		at.node = at.node << 8 | input[i];
	if (health_take(h, at, input + 9, len - 9)) {
		read_back(h);
		judge_all(h);
		require(health_take(h, at, NULL, 0));
	}
	judge_all(h);
	require(!health_off_at(h, 0));
	for (uint32_t i = 0; i < health_n_links(h); i++)
		require(!health_verdict(h, i)->on);
	health_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	if (len)
		try_text(input, len);
	if (len > 9)
		try_row(input, len);
	return 0;
}
