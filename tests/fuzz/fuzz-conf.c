// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as opensm.conf. Whatever it says: every value is one that would be accepted again,
 * what is written reads back without a finding to the same values, and a reload of the same file
 * changes nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "util/mem.h"

#define NAME "opensm.conf"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 800; /* replay.c: each is read and written several times */

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_equal(const struct conf *a, const struct conf *b)
{
	struct conf_changes changes;

	require(conf_diff(a, b, &changes) == 0);
}

static bool is_list(enum conf_id id)
{
	enum conf_type type = conf_option(id)->type;

	return type == CONF_SL_U16 || type == CONF_SL_U8;
}

static void require_acceptable(const struct conf *c)
{
	_cleanup_(conf_unrefp) struct conf *copy = conf_copy(c);

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		_cleanup_free_ char *text = conf_value_text(c, id);
		struct conf_report r = { 0 };
		struct conf_place at = { 0 };

		if (is_list(id))
			continue;
		require(conf_set(copy, id, text, &at, &r) == 0);
		conf_report_clear(&r);
	}
	require_equal(copy, c);
}

static void require_round_trip(const struct conf *c)
{
	_cleanup_(conf_unrefp) struct conf *back = conf_new();
	_cleanup_free_ char *text = NULL;
	struct conf_report r = { 0 };
	size_t len;
	FILE *out = open_memstream(&text, &len);

	require(conf_write(c, out, &r) == 0);
	fclose(out);
	require(conf_read_text(back, NAME, text, len, &r) == 0);
	require(r.errors == 0);
	require_equal(back, c);
	conf_report_clear(&r);
}

static void require_quiet_reload(const struct conf *c, const uint8_t *input, size_t len)
{
	_cleanup_(conf_unrefp) struct conf *live = conf_copy(c), *now = conf_copy(c), *next = NULL;
	struct conf_report r = { 0 };
	struct conf_changes changes;

	conf_verify(live, &r);
	require(conf_read_text(now, NAME, (const char *)input, len, &r) == 0);
	next = conf_reload(live, c, now, &changes, &r);
	require(changes.n == 0);
	conf_report_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new(), *untouched = conf_new();
	struct conf_report r = { 0 };

	if (conf_read_text(c, NAME, (const char *)input, len, &r) < 0) {
		require_equal(c, untouched);
		require(r.errors == 1);
	} else {
		require_acceptable(c);
		require_round_trip(c);
		require_quiet_reload(c, input, len);
		conf_verify(c, &r);
		conf_advise(c, NULL, &r);
		require_acceptable(c);
		require_round_trip(c);
	}
	conf_report_clear(&r);
	return 0;
}
