// SPDX-License-Identifier: BSD-2-Clause
/*
 * Codes of the specification as rows: node types, port states, MTUs, VLs, link widths, link speeds,
 * rates.
 *
 * A row has every spelling of a code that our readers, or other programs, use: each name is written
 * only here. The comment of a column says which outputs and inputs use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- node types (NodeInfo:NodeType, 14.2.5.3) ------------------------------------------------ */

enum ib_node_type { IB_NODE_CA = 1, IB_NODE_SWITCH = 2, IB_NODE_ROUTER = 3 };

struct ib_node_row {
	const char *name;  /* "Channel Adapter": dumps, console */
	const char *word;  /* "ca": console, control socket, metrics; "": unknown */
	const char *list;  /* "CA": opensm-subnet.lst */
	const char *table; /* "CA": the table of ports */
	const char *net;   /* "Ca": ibnetdiscover */
	const char *key;   /* "caguid": ibnetdiscover */
	const char *sysfs; /* "CA": node_type of the kernel */
	char letter;       /* first letter of ids of ibnetdiscover */
};

/* Never NULL: unknown types have a row of their own. */
const struct ib_node_row *ib_node_row(unsigned type);
static inline const char *ib_node_type_name(unsigned type)
{
	return ib_node_row(type)->name;
}

/* ---- port states (PortInfo, 14.2.5.6) -------------------------------------------------------- */

enum ib_port_state {
	IB_PORT_NO_CHANGE = 0,
	IB_PORT_DOWN = 1,
	IB_PORT_INIT = 2,
	IB_PORT_ARMED = 3,
	IB_PORT_ACTIVE = 4,
};

enum ib_phys_state {
	IB_PHYS_NO_CHANGE = 0,
	IB_PHYS_SLEEP,
	IB_PHYS_POLLING,
	IB_PHYS_DISABLED,
	IB_PHYS_TRAINING,
	IB_PHYS_LINK_UP,
	IB_PHYS_ERROR_RECOVERY,
};

struct ib_state_row {
	const char *name;  /* "Init": log, metrics; "Unknown" */
	const char *word;  /* "init": control socket; "": unknown */
	const char *dump;  /* "INI": dump files; not of physical states */
	const char *sysfs; /* "INIT": state, phys_state of the kernel */
};

/* Never NULL; unknown states have the row of 0. */
const struct ib_state_row *ib_port_state_row(unsigned state);
const struct ib_state_row *ib_phys_state_row(unsigned state);
static inline const char *ib_port_state_name(unsigned state)
{
	return ib_port_state_row(state)->name;
}

/* ---- MTUs and VLs (14.2.5.6) ----------------------------------------------------------------- */

/* Codes of NeighborMTU and MTUCap: 1 = 256 ... 5 = 4096 bytes. */
enum ib_mtu { IB_MTU_256 = 1, IB_MTU_512, IB_MTU_1024, IB_MTU_2048, IB_MTU_4096 };

unsigned ib_mtu_bytes(unsigned code); /* 0 for a code out of range */

#define IB_VLS_CODE_MAX 5
/* Data VLs of a code of VLCap and OperationalVLs: 1, 2, 4, 8, 15; 0 for a code out of range. */
unsigned ib_data_vls(unsigned code);
/* The code of the largest number of VLs up to `vls`; 0: none. */
unsigned ib_vls_code(unsigned vls);

/* ---- link widths and speeds (14.2.5.6) ------------------------------------------------------- */

struct ib_width {
	uint8_t lanes, bit; /* bit: bit in LinkWidthSupported, Enabled, Active */
	const char *name;   /* "4x" */
};

#define IB_WIDTHS 5
extern const struct ib_width ib_widths[IB_WIDTHS]; /* in ascending order of lanes */

const struct ib_width *ib_width_of(unsigned lanes);  /* NULL: there is no such width */
/* `bits`: a set of LinkWidth bits; NULL: it is empty */
const struct ib_width *ib_widest(unsigned bits);
unsigned ib_link_width(const uint8_t *port_info);    /* active lanes: 1, 2, 4, 8, 12; 0: unknown */

/* The three sets of speed fields. A node with one set has those before it. */
enum ib_speed_set { IB_SPEED_PLAIN, IB_SPEED_EXTENDED, IB_SPEED_EXTENDED2, IB_SPEED_SETS };
enum ib_speed_use { IB_SPEED_SUPPORTED, IB_SPEED_ENABLED, IB_SPEED_ACTIVE, IB_SPEED_USES };

struct ib_speed {
	const char *name;           /* "EDR": ibnetdiscover, control socket, metrics */
	/* Gb/s per lane in tenths, the key of a speed: 25 SDR ... 2000 XDR */
	uint16_t tenths;
	/* bit in Supported, Enabled and Active of each set; 0: not in it */
	uint8_t bit[IB_SPEED_SETS];
	const char *dump;           /* "25": dump files */
	const char *gbps;           /* "25.78125 Gbps": console */
	double raw, data;           /* Mb/s per lane: signalling rate, data rate */
	uint8_t rate[IB_WIDTHS];    /* codes of rates, by row of ib_widths */
};

#define IB_SPEEDS 9
#define IB_SPEED_SDR   25
#define IB_SPEED_QDR   100
#define IB_SPEED_FDR10 103
extern const struct ib_speed ib_speeds[IB_SPEEDS]; /* in ascending order */

/* NULL: there is no such speed */
const struct ib_speed *ib_speed_of(unsigned tenths);
const struct ib_speed *ib_speed_named(const char *name,
				      size_t len); /* "EDR"; NULL: there is none */

/*
 * The largest set of speed fields that a node supports, by the CapabilityMasks of the PortInfo
 * `cap` (the port's own; for a switch that of port 0). `cap` NULL: not known.
 */
enum ib_speed_set ib_speed_sets(const uint8_t *cap);
/* The bits of a field: LinkSpeedSupported, LinkSpeedExtActive ... */
unsigned ib_speed_bits(const uint8_t *port_info, enum ib_speed_set set, enum ib_speed_use use);
/* The set of the active speed, of those up to `most`; the last one if several have a speed. */
enum ib_speed_set ib_speed_active_set(const uint8_t *port_info, enum ib_speed_set most);
/* Tenths of Gb/s per lane, of the sets up to `most`; QDR is FDR10 if `fdr10`. 0: unknown. */
unsigned ib_link_speed(const uint8_t *port_info, enum ib_speed_set most, bool fdr10);

/* ---- rates (15.2.5.16) ----------------------------------------------------------------------- */

/* Codes of rates are not in the order of bandwidth, and must not be compared as numbers. */
#define IB_RATE_MIN 2  /* 2.5 Gb/s */
#define IB_RATE_MAX 26 /* 2400 Gb/s */

/* Tenths of Gb/s of a code; 0: there is no such code. No two codes have the same bandwidth. */
unsigned ib_rate_bandwidth(unsigned rate);
/* The code of a bandwidth in tenths of Gb/s; 0: there is none. */
unsigned ib_rate_of_bandwidth(unsigned tenths);
/* Position in the order of bandwidth: 1 (2.5 Gb/s) ... 25 (2400 Gb/s); 0: there is no such code. */
unsigned ib_rate_rank(unsigned rate);
/* The code at that position; 0: out of range. */
unsigned ib_rate_of_rank(unsigned rank);
static inline bool ib_rate_valid(unsigned rate)
{
	return rate >= IB_RATE_MIN && rate <= IB_RATE_MAX;
}
/*
 * The code of a link of `lanes` lanes at `speed` tenths of Gb/s each; FDR10 is treated as QDR. 0:
 * there is no such link.
 */
unsigned ib_rate_of_link(unsigned lanes, unsigned speed);
/* The data rate of a link in units of 100 Mb/s: 20 (1x SDR) .. 24000 (12x XDR). 0: none. */
unsigned ib_data_rate(unsigned lanes, unsigned speed);
/* The speed and lanes, 4 if possible, of a link with such a data rate; NULL: there is none. */
const struct ib_speed *ib_speed_of_data_rate(unsigned rate, unsigned *ret_lanes);
