// SPDX-License-Identifier: BSD-2-Clause
/* Words and masks of a net file's ports, shared by its parser and its writer. */
#pragma once

#include <stdint.h>

#include "util/mem.h"

/* One row per link speed: the name after "4x", and the bit in s= and e= (0: none). */
struct netfile_speed {
	const char *name;
	uint16_t speed; /* tenths of Gb/s per lane */
	uint8_t mask, extended_mask;
};

static const struct netfile_speed netfile_speeds[] = {
	{ "SDR", 25, 1, 0 },   { "DDR", 50, 2, 0 },  { "QDR", 100, 4, 0 }, { "FDR10", 103, 0, 0 },
	{ "FDR", 140, 0, 1 },  { "EDR", 250, 0, 2 }, { "HDR", 500, 0, 4 }, { "NDR", 1000, 0, 8 },
};

/* Lanes and their bit in w=, widest first. */
struct netfile_width {
	uint8_t lanes, mask;
};

static const struct netfile_width netfile_widths[] = {
	{ 12, 8 }, { 8, 4 }, { 4, 2 }, { 2, 16 }, { 1, 1 },
};

#define NETFILE_DEFAULT_SPEED 25
#define NETFILE_DEFAULT_WIDTH 4
