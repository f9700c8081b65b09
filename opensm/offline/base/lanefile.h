// SPDX-License-Identifier: BSD-2-Clause
/*
 * VLs as text, written by this program or others: read into the scheme of routes, and written.
 *
 *   SLs          lines "0x<node GUID of the source> <LID> <SL>", as ibdmchk reads them
 *   SL2VL        opensm-sl2vl.dump, or lines "0x<switch GUID> <in> <out>" with eight bytes, as
 *                ibdmchk reads
 */
#pragma once

#include <stdio.h>

#include "conf/conf.h"
#include "route/core/routes.h"

/*
 * The VL scheme of these texts for `r`; either may be NULL (no SLs: any may be used; no SL2VL: the
 * VL is the SL). NULL and errors in `report`: the texts cannot be checked.
 */
struct lanefile_text {
	const char *path, *text;
	size_t len;
};
struct sl2vl *lanefile_read(const struct routes *r, const struct lanefile_text *sls,
			    const struct lanefile_text *sl2vl, struct conf_report *report);

/* The two files of VLs that ibdmchk -c and -d reads. */
void lanefile_write_psl(const struct routes *r, FILE *out);
void lanefile_write_sl2vl(const struct routes *r, FILE *out);
