// SPDX-License-Identifier: BSD-2-Clause
/* What congestion control options ask of a device, as the bytes of its settings: pure functions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "ib/cc.h"

/* Blocks of a host's control table, or of the settings of a switch's ports. */
#define CC_BLOCKS 8

/* Settings of a device, each written as a whole. */
enum cc_cell {
	CC_CELL_KEY,
	CC_CELL_TRAPS, /* destination of reports of wrong keys, in ClassPortInfo */
	CC_CELL_SETTING,
	CC_CELL_BLOCK, /* the first block */
	CC_CELLS = CC_CELL_BLOCK + CC_BLOCKS
};

enum cc_key_mode { CC_KEY_LEFT, CC_KEY_NONE, CC_KEY_OWN };

/* A link as it was when last up; settings depend on it. */
struct cc_link {
	uint16_t rate;	/* tenths of Gb/s; 0: it was never up */
	uint16_t speed; /* rate of one lane, tenths of Gb/s; 0: it was never up */
	bool to_host;	/* set if it leads to a host or router */
};

/* The facts about a device, from CongestionInfo and from the fabric. */
struct cc_device {
	bool is_switch;
	lid_t trap_lid; /* our own LID */
	uint16_t caps;
	uint8_t blocks;	       /* hosts: blocks of the control table */
	uint16_t incast;       /* hosts: number of hosts that may send to one */
	uint8_t n_ports;       /* of a switch */
	struct cc_link own;    /* of a host its link; of a switch its fastest one */
	struct cc_link *links; /* switches: n_ports + 1 links, by port; NULL: all unknown */
};

/* Does any setting depend on links? */
bool cc_uses_links(const struct conf *c);

/* The number of cells that the device has, from the first one on. */
unsigned cc_cells(const struct conf *c, const struct cc_device *d);
/* Attribute and modifier of a cell. */
enum cc_attr cc_cell_attr(const struct cc_device *d, enum cc_cell cell, uint32_t *ret_mod);
/* Fills in the payload of a Set. False: the options set nothing in this cell. */
bool cc_want(const struct conf *c, const struct cc_device *d, enum cc_cell cell, uint64_t key,
	     uint8_t ret[CC_DATA_SIZE]);
/* Does a device that shows `have` hold all that `want` sets? */
bool cc_is_met(const struct conf *c, const struct cc_device *d, enum cc_cell cell,
	       const uint8_t want[CC_DATA_SIZE], const uint8_t have[CC_DATA_SIZE]);
/* Is the wanted control table longer than the device has room for? */
bool cc_is_cut(const struct conf *c, const struct cc_device *d);
