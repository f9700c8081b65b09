// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words of one line of the file of tenants (tenants_file.h). Each function goes on behind what it
 * understood, or returns false: then `at` is the place of the fault, `expected` says what belongs
 * there, and `is_short` is true if the line is the beginning of one without a fault.
 */
#pragma once

#include "conf/tenants/tenants.h"

#define TENANTS_MAGIC "opensm-tenants 1 lineage "

struct line_scan {
	const char *line, *at, *end;
	const char *expected;
	bool is_literal; /* `expected` are the very letters */
	bool is_short;
};

bool scan_literal(struct line_scan *s, const char *literal);
/* 0x and `digits` lower case digits. */
bool scan_hex(struct line_scan *s, unsigned digits, uint64_t *ret);
/* Without zeros before it; 0..max. */
bool scan_decimal(struct line_scan *s, uint64_t max, uint64_t *ret);
bool scan_time(struct line_scan *s, int64_t *ret);
/* 0x0001..0x7fff */
bool scan_pkey(struct line_scan *s, uint16_t *ret);
/* " ipoib true mtu 4 rate 2 sl 0 name "api_pkey_0x5"" */
bool scan_fields(struct line_scan *s, struct tenant_fields *ret);
/* "+0x946dae03005985c8=full,index0" */
bool scan_member(struct line_scan *s, struct tenant_member *ret);
/* A whole line. Then `ret` is to be cleared; else it is as it was. */
bool scan_entry(struct line_scan *s, struct tenant_entry *ret, uint64_t *ret_chain);
bool scan_end(struct line_scan *s);
