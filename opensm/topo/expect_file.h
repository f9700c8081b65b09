// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pictures from files, whose kind follows from their content: all that topofile.h reads, and
 * NVIDIA's topoconfig CSV, one line per cable (or two, one from each end), without a head:
 *
 *   0x0002c90300aa0001,18,0x0002c90300bb0001,1,Any,Active
 *
 * that is srcGUID,srcPort,dstGUID,dstPort,DeviceType,LinkState. LinkState is Active, Disabled (the
 * cable must not be up), No-Discover or Any (no expectation); the DeviceType is not used. And
 * ibdm's .topo, which knows systems by names (expect_topo.c).
 */
#pragma once

#include "conf/conf.h"
#include "topo/expect.h"
#include "topo/topofile.h"

/* NULL, and at least one error in `r`: not used. */
struct expect *expect_read(const char *path, struct conf_report *r);
struct expect *expect_read_text(const char *path, const char *text, size_t len,
				struct conf_report *r);
/* Of the CSV alone, whatever the text looks like. */
struct expect *expect_read_csv(const char *path, const char *text, size_t len,
			       struct conf_report *r);
struct expect *expect_read_topo(const char *path, const char *text, size_t len,
				struct conf_report *r);
struct expect *expect_from_topofile(const struct topofile *f);
/* The first line that says something has a comma, and before it no character of other kinds. */
bool expect_text_is_csv(const char *text, size_t len);
/* Lines of two words or more, the first of other kinds with an arrow as its second. */
bool expect_text_is_topo(const char *text, size_t len);

/*
 * A picture as text that expect_read_text() gives the same of: NVIDIA's CSV, or what ibnetdiscover
 * writes, which has names and rates, and of the CSV's uses only EXPECT_UP: a picture with another
 * one, or with nodes of no known type, is written as CSV in any case. `learnt`: seconds since 1970,
 * in the comment at the head; 0: none.
 */
void expect_write(const struct expect *x, bool csv, int64_t learnt, FILE *out);
/* The time in that comment; 0: none. */
int64_t expect_text_learnt(const char *text, size_t len);
