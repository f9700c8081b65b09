// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assigns LIDs: a pure function of the ports, of their present LIDs, and of remembered ranges.
 *
 * In this order (sweep.md 8, files.md 2), each rule for all ports before the next one:
 *
 *   1. the remembered range, if wide enough and aligned for the LMC and within the limit
 *   2. the present LID of the port, if valid, aligned, and not another port's by rule 1 or
 *      by memory
 *   3. the lowest free range; when there is none, one remembered for a missing port
 *
 * Where two ports want the same, the SM's port wins, then the one first in OpenSM's order (GUIDs
 * compared byte-reversed): the order of discovery does not matter. Ranges of missing ports stay
 * reserved. Planning the result again changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"
#include "util/types.h"

/* A port that owns LIDs: of a CA or router, or port 0 of a switch. */
struct lid_port {
	guid_t guid;   /* non-zero, unique among the ports */
	lid_t current; /* PortInfo:LID as observed, any value; 0: none */
	bool is_sm;    /* set if it is our own port */
	bool switch0;
	bool enhanced0; /* enhanced switch port 0 */
};

/* The remembered range of a GUID (guid2lid). */
struct lid_range {
	guid_t guid;
	lid_t min, max;
};

struct lid_job {
	const struct lid_port *ports;
	size_t n_ports;
	const struct lid_range *remembered; /* remembered ranges, at most one per GUID, disjoint */
	size_t n_remembered;
	uint8_t lmc;   /* 0..7 */
	bool lmc_esp0; /* set if enhanced switch port 0 gets 2^LMC LIDs, too */
	bool reassign; /* set to ignore present and remembered LIDs */
	lid_t top;     /* highest LID all switches can forward; 0xBFFF at most */
};

enum lid_reason {
	LID_UNCHANGED,	   /* the port has this LID already */
	LID_REMEMBERED,	   /* remembered, and the port had another LID or none */
	LID_NEW,	   /* the port had no LID */
	LID_MOVED_INVALID, /* the port had a LID out of range */
	LID_MOVED_ALIGN,   /* the port had a LID that does not fit the LMC */
	LID_MOVED_TAKEN,   /* the port had the LID of another port */
	LID_MOVED_REASSIGN,
	LID_UNSERVED, /* no LID was free: base is 0 */
};
const char *lid_reason_name(enum lid_reason reason); /* "another port's" ... */

struct lid_assigned {
	lid_t base;  /* base LID; 0: none */
	uint8_t lmc; /* LMC of this port: 0 on base switch port 0 */
	enum lid_reason reason;
	lid_t min, max; /* range to be remembered, or a wider one remembered before */
};

struct lid_plan {
	struct lid_assigned *ports; /* parallel to job.ports */
	size_t n_ports;
	/* GUIDs to be forgotten, as their LIDs went to other ports; ascending */
	guid_t *dropped;
	size_t n_dropped;
	size_t n_changed; /* ports with base != current */
	size_t n_unserved;
	lid_t top;    /* highest LID assigned; 0: none */
	int lmc_fits; /* largest LMC with room for all ports; -1: none */
};

/* Plans the LIDs in O(n log n). Never NULL; the caller frees it. */
struct lid_plan *lid_plan(const struct lid_job *job);
struct lid_plan *lid_plan_free(struct lid_plan *plan);
FREEP(lid_plan_free, struct lid_plan)

/*
 * Writes the sentence to be logged if n_unserved > 0: how many ports got no LID and which LMC would
 * do. Returns `ret`.
 */
#define LID_PLAN_STRLEN 256
char *lid_plan_error(const struct lid_job *job, const struct lid_plan *plan,
		     char ret[LID_PLAN_STRLEN]);
