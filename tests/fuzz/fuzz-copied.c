// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as the configuration of a master: it is refused, or it is taken, layered below the
 * defaults and compared, and its own text reads back. The digest at its end is made right, so that
 * what stands before it is looked at.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/copied/copied.h"
#include "util/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static char *with_digest(const uint8_t *input, size_t len, size_t *ret_len)
{
	const char *end = memmem(input, len, "\nend ", 5);
	size_t n = end ? (size_t)(end + 1 - (const char *)input) : len;
	char *text = xmalloc(n + 32);

	if (n)
		memcpy(text, input, n);
	*ret_len = n + (size_t)snprintf(text + n, 32, "end 0x%016" PRIx64 "\n",
					hash_bytes(HASH_START, text, n));
	return text;
}

static uint16_t mark_of(const struct conf *c, enum conf_id id)
{
	return (uint16_t)(c->m_key + id);
}

static void use(struct copied *c)
{
	_cleanup_(conf_unrefp) struct conf *own = conf_new(), *conf = NULL;
	_cleanup_free_ char *diff = NULL, *text = NULL;
	_cleanup_(copied_unrefp) struct copied *again = NULL;
	struct conf_report report = { 0 };
	struct copied_pins pins;
	size_t len;

	conf = copied_layer(own, c, 1, "/nonexistent", &pins, &report);
	conf_report_clear(&report);
	diff = copied_diff(conf, c, mark_of);
	text = copied_text(c, &len);
	if (len <= COPIED_MAX && copied_read(text, len, &again) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(copied_unrefp) struct copied *c = NULL;
	_cleanup_free_ char *text = NULL;
	size_t n;

	text = with_digest(input, len, &n);
	if (copied_read(text, n, &c) == 0)
		use(c);
	return 0;
}
