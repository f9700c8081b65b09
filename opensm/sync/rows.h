// SPDX-License-Identifier: BSD-2-Clause
/* Rows of attributes, and the verdicts on Sets. */
#pragma once

#include "fabric/fabric.h"
#include "plan/pkey.h"

struct sync;

/* The stages of a run, in their order. */
enum stage {
	ST_IDLE,
	ST_CLEAR, /* PortStateChange of switches whose ports were read before it was cleared */
	ST_TRIM,  /* P_Keys that live ports hold and should not: removed before any port gets one */
	ST_LANES, /* SL2VL and VL arbitration, where values are wanted (slvl.c) */
	/* LFT entries of LIDs that could loop between old and new tables, set to no port */
	ST_DRAIN,
	/* LFT blocks that differ or are unknown, striped over all switches; once per epoch */
	ST_TABLES,
	/* One LFT block that leads to no port, to a switch that takes no table. */
	ST_REFUSERS,
	ST_TOP, /* SwitchInfo: LinearFDBTop, LifeTimeValue */
	/* SL2VL and VL arbitration that are not wanted any more: set to built-in values */
	ST_LEFTOVERS,
	ST_PKEYS,  /* P_Key tables of end ports, as wanted */
	ST_CHECKS, /* P_Key tables of the switch ports that face end ports */
	ST_GUIDS,  /* alias GUIDs of end ports */
	ST_SPEED,  /* ExtendedPortInfo: FDR10 on or off, on devices that have it */
	ST_KEYS,   /* PortInfo of switch ports 0 whose M_Key changes: SMPs with it follow */
	ST_ARM,	   /* PortInfo: LID and parameters; INIT becomes ARMED in the same Set */
	ST_ACTIVE, /* ports that are ARMED at both ends */
	ST_END
};

/* How a Set ended. */
enum verdict {
	VERDICT_STORED,
	VERDICT_OTHERWISE, /* answered, but the device holds something else */
	VERDICT_REFUSED,   /* answered with a bad status */
	VERDICT_SILENT,
	VERDICT_CANCELLED,
	N_VERDICTS
};
#define AFTER(verdict) (1u << (verdict))

/* The wanted content of one table of one port: made by want() of a row, read by its fill(). */
struct want {
	unsigned all;  /* number of blocks that may be wanted */
	unsigned sure; /* blocks below this number are written even if nothing is known of them */
	struct pkey_table keys;
	const struct guid_want *guids;
};

struct sync_row;

/* Makes the wanted content of a table of a port. False: the table is left alone. */
typedef bool sync_want_fn(const struct sync *s, const struct port *p, struct want *ret);
/* Fills in one wanted block. False: this block is left alone. */
typedef bool sync_fill_fn(const struct sync *s, const struct port *p, const struct want *w,
			  unsigned block, uint8_t ret[SMP_DATA_SIZE]);
/* Takes the answer of the device. True: it holds what was sent. */
typedef bool sync_observe_fn(struct sync *s, const struct sync_row *row, struct port *p,
			     uint32_t mod, const uint8_t *payload);
typedef void sync_effect_fn(struct sync *s, const struct sync_row *row, struct port *p,
			    uint32_t mod);
typedef uint8_t *sync_tries_fn(const struct sync_row *row, struct port *p);
typedef void sync_ended_fn(struct sync *s, struct port *p, const struct mad_result *r,
			   enum verdict v);

/*
 * The handling of one attribute by sync/. The attribute modifier, the bits that a device keeps and
 * the way to read a block back are in fabric/port_tables.c for tables of ports.
 */
struct sync_row {
	enum ib_attr attr;
	/* stage in which the row is used; ST_IDLE: all stages without a row of their own */
	enum stage stage;
	enum port_table table; /* N_PORT_TABLES: no table of ports */
	/* Number of Sets in a row with this end after which the want is given up; 0: never. */
	uint8_t limit[N_VERDICTS];
	/* AFTER() of the verdicts that leave the cell unknown: forget() is called */
	uint8_t unknown;
	sync_want_fn *want; /* this and fill: for tables of ports */
	sync_fill_fn *fill;
	sync_observe_fn *observe;
	sync_effect_fn *forget;
	sync_tries_fn *tries; /* counter of failures in a row; NULL only if all limits are 0 */
	sync_effect_fn *give_up;
	/* Are refusals neither counted nor logged, by the options? NULL: no. */
	bool (*is_quiet)(const struct sync *s);
	/* Is the device asked for its state before a refusal counts? NULL: no. */
	bool (*look_into)(struct sync *s, struct port *p, const struct mad_result *r);
	/* Has the want changed since the Set was sent? NULL: no. */
	bool (*is_overtaken)(const struct sync *s, const struct port *p, uint32_t mod);
	sync_ended_fn *ended; /* further effects; NULL: none */
};

/* The row of an attribute in the present stage. */
const struct sync_row *sync_row_of(const struct sync *s, uint16_t attr);
/* The row of an attribute in stages without one of their own, and outside of runs. */
const struct sync_row *sync_plain_row(uint16_t attr);
/* The row for multicast tables, which are written outside of runs. */
extern const struct sync_row mft_row;

/* The verdict on a Set; `as_asked`: the device holds what was sent. */
enum verdict sync_verdict(const struct mad_result *r, bool as_asked);
/* Counts a failure, or resets the counter. True: the limit is exceeded. */
bool sync_tries_are_over(const struct sync_row *row, uint8_t *tries, enum verdict v);
