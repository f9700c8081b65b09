// SPDX-License-Identifier: BSD-2-Clause
/* The row of an attribute, and the verdicts on Sets. */
#pragma once

#include "fabric/fabric.h"
#include "plan/pkey.h"

struct sync;

/* The stages of a run, in their order. */
enum stage {
	ST_IDLE,
	ST_CLEAR, /* PortStateChange of switches whose ports were read before it was cleared */
	ST_TRIM,  /* P_Keys that live ports hold and shall not: removed, before any port gets one */
	ST_LANES, /* SL2VL and VL arbitration, where values are wanted of them (slvl.c) */
	ST_DRAIN, /* LFT entries of LIDs that could loop between old and new tables: to no port */
	/* LFT blocks that differ or are unknown, striped over all switches, once per epoch */
	ST_TABLES,
	/* a switch that takes no table is asked with one block that leads to no port */
	ST_REFUSERS,
	ST_TOP,	      /* SwitchInfo: LinearFDBTop, LifeTimeValue */
	ST_LEFTOVERS, /* SL2VL and VL arbitration that are not wanted any more: built-in values */
	ST_PKEYS,     /* P_Key tables of end ports, as wanted */
	ST_CHECKS,    /* P_Key tables of the switch ports that face them */
	ST_GUIDS,     /* alias GUIDs of end ports */
	ST_SPEED,     /* ExtendedPortInfo: FDR10 on or off, on devices that have it */
	ST_KEYS,      /* PortInfo of switch ports 0 whose M_Key changes: SMPs with it follow */
	ST_ARM,	      /* PortInfo: LID and parameters; INIT becomes ARMED in the same Set */
	ST_ACTIVE,    /* ports that are ARMED at both ends */
	ST_END
};

/* How a Set ended. */
enum verdict {
	VERDICT_STORED,
	VERDICT_OTHERWISE, /* answered, and the device holds something else */
	VERDICT_REFUSED,   /* answered with a bad status */
	VERDICT_SILENT,
	VERDICT_CANCELLED,
	N_VERDICTS
};
#define AFTER(verdict) (1u << (verdict))

/* The want of one table of one port: made by a row's want(), read by its fill(). */
struct want {
	unsigned all;  /* blocks that may be wanted */
	unsigned sure; /* those below this number are written where nothing is known of them, too */
	struct pkey_table keys;
	const struct guid_want *guids;
};

struct sync_row;

/* The want of a table of a port. False: the table is left alone. */
typedef bool sync_want_fn(const struct sync *s, const struct port *p, struct want *ret);
/* One block of the want. False: this block is left alone. */
typedef bool sync_fill_fn(const struct sync *s, const struct port *p, const struct want *w,
			  unsigned block, uint8_t ret[SMP_DATA_SIZE]);
/* Takes in the answer of the device. True: it holds what was asked. */
typedef bool sync_observe_fn(struct sync *s, const struct sync_row *row, struct port *p,
			     uint32_t mod, const uint8_t *payload);
typedef void sync_effect_fn(struct sync *s, const struct sync_row *row, struct port *p,
			    uint32_t mod);
typedef uint8_t *sync_tries_fn(const struct sync_row *row, struct port *p);
typedef void sync_ended_fn(struct sync *s, struct port *p, const struct mad_result *r,
			   enum verdict v);

/*
 * All that sync/ knows of an attribute. The modifier rule, the bits that a device keeps and the
 * way to read a block back are in fabric/port_tables.c for tables of ports.
 */
struct sync_row {
	enum ib_attr attr;
	enum stage stage;      /* ST_IDLE: all; else the row holds in this stage */
	enum port_table table; /* N_PORT_TABLES: it is no table of ports */
	/* How often in a row a Set may end like this before its want is given up; 0: for ever. */
	uint8_t limit[N_VERDICTS];
	uint8_t unknown; /* AFTER() the verdicts that leave the cell unknown: forget() */
	sync_want_fn *want; /* of tables of ports */
	sync_fill_fn *fill;
	sync_observe_fn *observe;
	sync_effect_fn *forget;
	sync_tries_fn *tries; /* failures in a row; NULL only if all limits are 0 */
	sync_effect_fn *give_up;
	/* NULL: no. By the options, refusals are neither counted nor logged. */
	bool (*is_quiet)(const struct sync *s);
	/* NULL: no. The device is asked for its state before a refusal counts: true, it is. */
	bool (*look_into)(struct sync *s, struct port *p, const struct mad_result *r);
	/* NULL: no. The want has changed since the Set left. */
	bool (*is_overtaken)(const struct sync *s, const struct port *p, uint32_t mod);
	sync_ended_fn *ended; /* further effects; NULL: none */
};

/* The row of an attribute in the stage that runs. */
const struct sync_row *sync_row_of(const struct sync *s, uint16_t attr);
/* The row that holds in stages without one of their own, and outside of runs. */
const struct sync_row *sync_plain_row(uint16_t attr);
/* Multicast tables are written outside of runs. */
extern const struct sync_row mft_row;

/* How a request ended; `as_asked`: the device holds what was asked. */
enum verdict sync_verdict(const struct mad_result *r, bool as_asked);
/* Counts a failure, or ends the count. True: that was one too many. */
bool sync_tries_are_over(const struct sync_row *row, uint8_t *tries, enum verdict v);
