// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as torus-2QoS.conf: a file with faults is told and not used, one without is in
 * range.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/lists/torus.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(torus_conf_freep) struct torus_conf *t = NULL;
	struct conf_report r = { 0 };
	int e = torus_conf_read_text("torus", (const char *)input, len, &t, &r);

	require(!e == !r.errors && !e == !!t);
	for (unsigned d = 0; t && d < 3; d++) {
		require(t->size[d] >= 1 && t->size[d] <= TORUS_SIZE_MAX);
		require(!t->wraps[d] || t->size[d] > 2);
		for (size_t i = 0; i < t->n_seeds; i++) {
			require((unsigned)abs(t->seeds[i].dateline[d]) < t->size[d]);
			require(!t->seeds[i].to[d][0] || t->seeds[i].from);
		}
	}
	for (unsigned i = 0; t && i < t->n_order; i++)
		require(memchr(t->order, t->order[i], t->n_order) == &t->order[i]);
	conf_report_clear(&r);
	return 0;
}
