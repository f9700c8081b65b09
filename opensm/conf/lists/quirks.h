// SPDX-License-Identifier: BSD-2-Clause
/*
 * quirks.conf: devices whose answers are known to be wrong or need care, by vendor and device id of
 * NodeInfo. It extends the rows of quirks.def, and overrides them.
 *
 * One rule a line, "VENDOR DEVICE QUIRK ...": decimal, or hexadecimal with 0x; DEVICE is a number,
 * a range as 1000-1003, or * for any. "-QUIRK" takes one off. '#' begins a comment. Rules that fit
 * add up, the later ones after the earlier ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"

#define CONF_QUIRKS_MAX 4096 /* lines; more are ignored, with a finding */

enum quirk {
	QUIRK_EXT_PORT_INFO,  /* has ExtendedPortInfo, which alone reports FDR10 */
	QUIRK_MTU_1024, /* slower with larger MTUs: paths have 1024 bytes at most (enable_quirks) */
	QUIRK_NO_STATE_TABLE, /* its SwitchPortStateTable is wrong */
	QUIRK_STALE_TABLES,   /* forwards by vendor tables until a block of its LFT is written */
	QUIRK_AGGREGATION,    /* an aggregation node in a switch: no host (topo.h) */
	QUIRKS,
};

struct conf_quirk {
	uint32_t vendor;
	uint16_t first, last; /* range of device ids */
	uint16_t on, off;     /* masks of 1 << enum quirk */
};

struct conf_quirks {
	struct conf_quirk *items; /* in the order of the file */
	size_t n;
};

/*
 * Returns 0, or -errno with a finding if it is no text: the result is then empty. A faulty line is
 * a finding and is left out. `ret` is overwritten; conf_quirks_clear() frees it.
 */
int conf_quirks_read_text(const char *path, const char *text, size_t len, struct conf_quirks *ret,
			  struct conf_report *r);
void conf_quirks_clear(struct conf_quirks *q);

/* Has such a device this quirk? `q`: rules of the file; NULL: there is none. */
bool conf_quirk_holds(const struct conf_quirks *q, enum quirk quirk, uint32_t vendor,
		      uint16_t device);
