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

/* One end of a link, as observed. */
struct link_end {
	const uint8_t *info; /* PortInfo */
	uint8_t node_type;   /* enum ib_node_type */
	uint8_t num;
	bool enhanced0;	   /* enhanced switch port 0 */
	uint32_t cap_mask; /* of the node (port 0's on a switch) */
};

struct link_facts {
	struct link_end self;
	const struct link_end *peer; /* NULL: no neighbour (or port 0) */
	lid_t lid, sm_lid;
	uint8_t lmc;
	uint64_t m_key;	  /* of an end port */
	bool keeps_m_key; /* of an end port: the one that it holds stays */
	bool shown;	  /* of an end port: it answers Gets without its M_Key */
	bool enforcing;	  /* partition enforcement is decided; else it stays as it is */
	uint8_t enforce;  /* enum pkey_enforce: direction in which packets are checked */
	uint8_t sm_sl;	  /* of the path to the subnet manager */
	int high_limit;	  /* VLHighLimit; -1: it stays as it is */
	const struct conf *conf;
};

/* Rows of the table in link.c, a bit each: which fields apply, differ, were not kept. */
typedef uint32_t link_fields;

struct link_want {
	uint8_t info[SMP_DATA_SIZE]; /* the observed PortInfo with wanted values put in */
	link_fields applies;
};

void link_plan(const struct link_facts *facts, struct link_want *ret);

/*
 * Code of the VLs that a port uses: of both ends of the cable, and of max_op_vls; 1..5. NULL: no
 * neighbour.
 */
unsigned link_oper_vls(const struct conf *conf, const uint8_t *info, const uint8_t *peer_info);

/* Fields whose value in `info` differs from `want`. */
link_fields link_differs(const struct link_want *want, const uint8_t *info);

/*
 * Fields without which a port cannot take part (LID, LMC, SM LID, GID prefix): a device that does
 * not keep one is at fault, and is written again in every sweep.
 */
link_fields link_essential(void);

/* A hash of the wanted values of `fields`: tells whether a refused want has changed. Never 0. */
uint32_t link_hash(const struct link_want *want, link_fields fields);

/* Field names, comma separated, for the log. Returns `ret`. */
#define LINK_FIELDS_STRLEN 512
char *link_fields_str(link_fields fields, char ret[LINK_FIELDS_STRLEN]);
