// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pictures from files, whose kind follows from their content: all that topofile.h reads, and
 * NVIDIA's topoconfig CSV, one line per cable (or two, one from each end), without a head:
 *
 *   0x0002c90300aa0001,18,0x0002c90300bb0001,1,Any,Active
 *
 * that is srcGUID,srcPort,dstGUID,dstPort,DeviceType,LinkState. LinkState is Active, Disabled (the
 * cable must not be up), No-Discover or Any (no expectation); the DeviceType is not used.
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
struct expect *expect_from_topofile(const struct topofile *f);
