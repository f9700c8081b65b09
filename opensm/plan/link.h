// SPDX-License-Identifier: BSD-2-Clause
/*
 * The wanted PortInfo of a port: a pure function of the options, the port and its neighbour.
 *
 * One row per field that a subnet manager sets; a row says on which kinds of port it applies and
 * what its value is. Link state is not a row: it is a path (sync/link.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "ib/attrs.h"

/* One end of a link as observed. */
struct link_end {
	const uint8_t *info; /* PortInfo */
	uint8_t node_type;   /* enum ib_node_type */
	uint8_t num;
	bool enhanced0;	   /* enhanced switch port 0 */
	uint32_t cap_mask; /* CapabilityMask of the node (on a switch that of port 0) */
};

struct link_facts {
	struct link_end self;
	const struct link_end *peer; /* NULL: no neighbour, or port 0 */
	lid_t lid, sm_lid;
	uint8_t lmc;
	uint64_t m_key;	  /* end ports: wanted M_Key */
	bool keeps_m_key; /* end ports: set to keep the M_Key that the port holds */
	bool shown;	  /* end ports: set if Gets are answered without the M_Key */
	bool enforcing;	  /* set if partition enforcement is decided; else it stays as it is */
	uint8_t enforce;  /* enum pkey_enforce: direction in which packets are checked */
	uint8_t sm_sl;	  /* SL of the path to the subnet manager */
	int high_limit;	  /* VLHighLimit; -1: stays as it is */
	const struct conf *conf;
};

/* Bit mask of rows of the table in link.c: which fields apply, differ, or were not kept. */
typedef uint32_t link_fields;

struct link_want {
	uint8_t info[SMP_DATA_SIZE]; /* observed PortInfo with the wanted values filled in */
	link_fields applies;
};

void link_plan(const struct link_facts *facts, struct link_want *ret);

/*
 * Code (1..5) of the VLs that a port uses, limited by both ends of the cable and by max_op_vls.
 * NULL: no neighbour.
 */
unsigned link_oper_vls(const struct conf *conf, const uint8_t *info, const uint8_t *peer_info);

/* The fields whose value in `info` differs from `want`. */
link_fields link_differs(const struct link_want *want, const uint8_t *info);

/*
 * Fields without which a port cannot take part (LID, LMC, SM LID, GID prefix): a device that does
 * not keep one is at fault, and is written again in every sweep.
 */
link_fields link_essential(void);

/* A hash of the wanted values of `fields`, never 0: tells whether refused values have changed. */
uint32_t link_hash(const struct link_want *want, link_fields fields);

/* Writes the names of the fields, separated by commas, for the log. Returns `ret`. */
#define LINK_FIELDS_STRLEN 512
char *link_fields_str(link_fields fields, char ret[LINK_FIELDS_STRLEN]);
