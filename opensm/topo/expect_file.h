// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pictures from files, whose kind follows from their content: all that topofile.h reads, and
 * NVIDIA's topoconfig CSV, one line per cable (or two, one from each end), without a head:
 *
 *   0x0002c90300aa0001,18,0x0002c90300bb0001,1,Any,Active
 *
 * that is srcGUID,srcPort,dstGUID,dstPort,DeviceType,LinkState. LinkState is Active, Disabled (the
 * cable must not be up), No-Discover or Any (no expectation); the DeviceType is not used. Two kinds
 * know systems by names: ibdm's .topo (formats/expect_topo.c), and the NDT of UFM, a CSV with a
 * header (formats/expect_ndt.c).
 */
#pragma once

#include "conf/conf.h"
#include "topo/expect.h"
#include "topo/topofile.h"

enum expect_format { EXPECT_NETDISCOVER, EXPECT_CSV, EXPECT_NDT, EXPECT_TOPO };

/* Read a picture. NULL: at least one error is in `r`, and nothing is used. */
struct expect *expect_read(const char *path, struct conf_report *r);
struct expect *expect_read_text(const char *path, const char *text, size_t len,
				struct conf_report *r);
/* Reads CSV, whatever the text looks like. */
struct expect *expect_read_csv(const char *path, const char *text, size_t len,
			       struct conf_report *r);
struct expect *expect_read_ndt(const char *path, const char *text, size_t len,
			       struct conf_report *r);
struct expect *expect_read_topo(const char *path, const char *text, size_t len,
				struct conf_report *r);
struct expect *expect_from_topofile(const struct topofile *f);
/* The kind of a text; EXPECT_NETDISCOVER also for what topofile.h reads besides. */
enum expect_format expect_text_format(const char *text, size_t len);
/* Has the first significant line a comma, with no character of other kinds before it? */
bool expect_text_is_csv(const char *text, size_t len);
/* Does the first line that is no comment name the columns StartDev and EndDev of UFM's NDT? */
bool expect_text_is_ndt(const char *text, size_t len);
/* Have the first lines two words or more each, up to one whose second word is an arrow? */
bool expect_text_is_topo(const char *text, size_t len);

/*
 * Writes a picture as text from which expect_read_text() makes the same one. What ibnetdiscover
 * writes has names and rates, but of the uses only EXPECT_UP: a picture with another use, or with
 * nodes of unknown type, is written as CSV in its place. NDT has names, and S with 16 digits of the
 * GUID for a node that has none of its own; EXPECT_TOPO is not written. `learnt`: seconds since
 * 1970, for a comment at the head; 0, and in NDT, none.
 */
void expect_write(const struct expect *x, enum expect_format format, int64_t learnt, FILE *out);
/* The time in the comment at the head; 0: none. */
int64_t expect_text_learnt(const char *text, size_t len);
