// SPDX-License-Identifier: BSD-2-Clause
/* What congestion control options ask of a device, as the bytes of its settings: pure functions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "ib/cc.h"

#define CC_TABLE_BLOCKS (CONF_CCT_MAX / CC_BLOCK_ENTRIES)

/* Settings of a device, each written as a whole; hosts have all blocks of the table they need. */
enum cc_cell {
	CC_CELL_KEY,
	CC_CELL_TRAPS, /* where wrong keys are reported to: of ClassPortInfo */
	CC_CELL_SETTING,
	CC_CELL_TABLE,
	CC_CELLS = CC_CELL_TABLE + CC_TABLE_BLOCKS
};

enum cc_key_mode { CC_KEY_LEFT, CC_KEY_NONE, CC_KEY_OWN };

/* What CongestionInfo said of a device. */
struct cc_device {
	bool is_switch;
	lid_t trap_lid; /* ours */
	uint16_t caps;
	uint8_t blocks; /* of a host's control table */
};

/* Cells that exist for the device, from the first on. */
unsigned cc_cells(const struct conf *c, const struct cc_device *d);
/* Attribute and modifier of a cell. */
enum cc_attr cc_cell_attr(const struct cc_device *d, enum cc_cell cell, uint32_t *ret_mod);
/* The bytes of a Set. False: the options ask nothing of this cell. */
bool cc_want(const struct conf *c, const struct cc_device *d, enum cc_cell cell, uint64_t key,
	     uint8_t ret[CC_DATA_SIZE]);
/* Does a device that shows `have` hold all that `want` sets? */
bool cc_is_met(const struct cc_device *d, enum cc_cell cell, const uint8_t want[CC_DATA_SIZE],
	       const uint8_t have[CC_DATA_SIZE]);
/* The control table is longer than the device has room for. */
bool cc_is_cut(const struct conf *c, const struct cc_device *d);
