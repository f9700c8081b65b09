// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as opensm-sa.dump. Nothing crashes; findings name a line and are printable; what
 * was taken is written, read back without a finding, and written the same; and the SA that took it
 * serves a view and lets time pass.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sa-desk.h"
#include "util/log.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz-sadb: %s\n", what);
	abort();
}

static void check_findings(const struct conf_report *r, int result)
{
	require(result == -EINVAL || result == (r->warnings > 0), "result and findings disagree");
	for (size_t i = 0; i < r->n; i++) {
		for (const char *p = r->findings[i].text; *p; p++)
			require(*p >= ' ' && *p < 0x7F, "a finding is not printable");
	}
}

/* Writes what `sa` holds, reads it into another one, writes that. */
static void check_round_trip(struct desk *d, const struct sa *sa)
{
	struct sa *other = sa_new(d->conf, d->fabric, d->mad, NULL);
	struct conf_report report = { 0 };
	size_t len, other_len;
	_cleanup_free_ char *text = sa_db_text(sa, &len), *again = NULL;

	require(sa_db_restore(other, text, len, "again", &report) == 0, "our own is refused");
	require(report.n == 0, "our own has findings");
	again = sa_db_text(other, &other_len);
	require(len == other_len && !memcmp(text, again, len), "not the same again");
	conf_report_clear(&report);
	sa_free(other);
}

static void serve(struct desk *d, struct sa *sa)
{
	sa_publish(sa, d->view, d->now);
	for (unsigned i = 0; i < 20; i++) {
		mono_t next = sa_next(sa);

		while (sa_dispatch(sa, d->now))
			;
		if (next != MONO_NEVER && next > d->now)
			d->now = next;
	}
}

static void keep_quiet(void *arg, unsigned bits, const char *text)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct conf_report report = { 0 };
	struct desk *d;
	struct sa *sa;

	log_set_sink(keep_quiet, NULL);
	d = desk_new("tree 2 2 1");
	d->deaf = true;
	sa = sa_new(d->conf, d->fabric, d->mad, NULL);
	check_findings(&report, sa_db_restore(sa, (const char *)input, len, "fuzz", &report));
	check_round_trip(d, sa);
	serve(d, sa);
	check_round_trip(d, sa);
	conf_report_clear(&report);
	sa_free(sa);
	desk_free(d);
	return 0;
}
