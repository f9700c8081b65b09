// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file in which former builds kept the table of tenants: `tenants` in the cache folder. It is
 * read once, and its partitions and members become rows of the ledger
 * (sm/tenants/tenancy_import.c).
 *
 *   opensm-tenants 1 lineage 0x... generation 812 time 1700000000 chain 0x...
 *   0x0005 generation 811 ipoib true mtu 4 rate 2 sl 0 name "api_pkey_0x5"
 *   +0x946dae03005985c8=full,index0                              its members, a line each
 *   end 0x...
 *   813 1700000060 0x0005 +0x946dae03005985c9=limited -0x946dae03005985c8 chain 0x...
 *   814 1700000120 0x0005 gone chain 0x...                       changes behind it, a line each
 *
 * Lineage, chain values and digest are not looked at: of a damaged file what stands before the
 * fault counts, and a warning says where that is.
 */
#pragma once

#include "conf/tenants/tenants.h"
#include "conf/text/report.h"

#define TENANTS_FILE	 "tenants"
#define TENANTS_FILE_MAX (512u << 20) /* bytes */

/*
 * Returns 0: `*ret` is the table, warnings are in `r`. -ENOENT: no such file (no finding).
 * -EBADMSG: another kind of file; other -errno: unreadable; one error is in `r`.
 */
int tenants_import(const char *path, struct conf_report *r, struct tenants **ret);
/* As tenants_import(), for the text of a file; `file`: its name in findings. 0 or -EBADMSG. */
int tenants_import_text(const char *text, size_t len, const char *file, struct conf_report *r,
			struct tenants **ret);
