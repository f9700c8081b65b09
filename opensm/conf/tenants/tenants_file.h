// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of tenants on the disk: `tenants` in the cache folder.
 *
 *   opensm-tenants 1 lineage 0x... generation 812 time 1700000000 chain 0x...
 *   0x0005 generation 811 ipoib true mtu 4 rate 2 sl 0 name "api_pkey_0x5"
 *   +0x946dae03005985c8=full,index0                              its members, a line each
 *   end 0x...                                                    digest of all above
 *   813 1700000060 0x0005 +0x946dae03005985c9=limited -0x946dae03005985c8 chain 0x...
 *   814 1700000120 0x0005 gone chain 0x...                       entries, a line each
 *
 * Lines of text, that an administrator can read. There is one way to write each thing: single
 * blanks, lower case digits of full length, decimal numbers without zeros before them. An entry
 * counts if its line is whole and its chain value follows from all before. A last line without its
 * newline was being written when the machine fell: it was never acknowledged, and is cut off,
 * likewise zero bytes behind the last line. Any other fault is a corrupt file: what stands before
 * it is used, and nothing may be changed until an administrator has looked.
 *
 * tenants_read(), tenants_append() and tenants_replace() block: they are for disk jobs. The others
 * only make or understand text.
 */
#pragma once

#include "conf/tenants/tenants.h"
#include "conf/text/report.h"

#define TENANTS_FILE	 "tenants" /* in the cache folder */
#define TENANTS_MEMBER_BYTES 25u /* of the line of a member in tenants_text(), at least */
#define TENANTS_FILE_MAX (512u << 20) /* bytes; four times a table with TENANT_MEMBERS_MAX */

/*
 * The line of an entry, with its newline; to be freed. `e` has rows, and is no inverse. `chain`:
 * tenants_chain_after().
 */
char *tenants_entry_text(const struct tenant_entry *e, uint64_t chain, size_t *ret_len);
/*
 * Understands one line (`len` without its newline), which may come from another manager; whether it
 * follows from a table is tenants_follows(). 0, then `ret` is to be cleared; -EBADMSG.
 */
int tenants_entry_parse(const char *line, size_t len, struct tenant_entry *ret,
			uint64_t *ret_chain);
/* The whole table, as a file begins; to be freed. */
char *tenants_text(const struct tenants *t, size_t *ret_len);
/*
 * The table and the entries behind it, from a file or another manager; `file`: its name in
 * findings. 0: warnings are in `r`. -EBADMSG: one error is in `r`, and `*ret` is what stands before
 * the fault, or NULL. `*ret_good_len`: bytes that count, the place where the next entry goes.
 */
int tenants_parse(const char *text, size_t len, const char *file, struct conf_report *r,
		  struct tenants **ret, size_t *ret_good_len);

/*
 * 0 or -EBADMSG as tenants_parse(); -ENOENT: there is none (no finding); another -errno: it cannot
 * be read, and one error is in `r`.
 */
int tenants_read(const char *path, struct conf_report *r, struct tenants **ret, size_t *ret_len);
/*
 * Cuts off what stands behind `at`, writes `text` there, fsync. 0 or -errno; then the file ends
 * at `at` again, or, where the disk let it not be cut, has a part of `text` or all of it. -EIO: the
 * file is shorter than `at`; -ENOENT: it is gone.
 */
int tenants_append(const char *path, size_t at, const char *text, size_t len);
/*
 * The file becomes `text`, readable by the owner alone: write, fsync, rename, fsync of the folder.
 * 0 or -errno; then it is the old one, or whole and new.
 */
int tenants_replace(const char *path, const char *text, size_t len);
