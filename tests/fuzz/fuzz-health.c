// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as the state of the health of links, of the disk or of another manager. What is
 * accepted can be judged, and its text reads back as the same text; what is not leaves nothing.
 * The hash of the last line is put right first where it is all zeros.
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

static void read_back(struct health *h)
{
	struct health *again = health_new(&rules);
	size_t len, len2;
	char *text = health_text(h, &len), *text2;

	require(health_read(again, text, len) == 0);
	text2 = health_text(again, &len2);
	require(len == len2 && !memcmp(text, text2, len));
	free(text);
	free(text2);
	health_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct health *h = health_new(&rules);
	char *text = xmalloc(len + 1);

	if (len)
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
	return 0;
}
