// SPDX-License-Identifier: BSD-2-Clause
/* Expected topologies from text. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "topo/expect_file.h"

static inline struct expect *read_text(const char *text, struct conf_report *r)
{
	return expect_read_text("f", text, strlen(text), r);
}

/* Read without a finding. */
static inline struct expect *read_clean(const char *text)
{
	struct conf_report r = { 0 };
	struct expect *x = read_text(text, &r);

	conf_report_print(&r, stderr);
	assert_int_equal(r.n, 0);
	assert_non_null(x);
	return x;
}
