// SPDX-License-Identifier: BSD-2-Clause
/*
 * SL2VL and VL arbitration tables as they stand on devices: ports with the same tables are one
 * group. A large fabric has millions of rows and some groups; so they are gathered on the main
 * thread, and what is made of them is a worker's.
 */
#pragma once

#include <stdint.h>

#include "fabric/fabric.h"
#include "plan/qos.h"
#include "util/mem.h"

#define LANES_ROWS	16   /* distinct SL2VL rows of a port that are kept */
#define LANES_GROUPS_MAX 1024 /* tables are what devices say: more are counted only */

struct lanes_group {
	enum qos_kind kind;
	unsigned vls; /* code of OperationalVLs, as the port has it */
	uint8_t high_limit;
	uint32_t n_ports;
	guid_t node; /* one of the ports */
	uint8_t port;
	uint8_t n_rows; /* of vl[]; 0: no SL2VL row is known */
	bool more_rows; /* than LANES_ROWS */
	uint8_t vl[LANES_ROWS][QOS_SLS]; /* by SL */
	bool low_known, high_known;	 /* some block of it */
	uint32_t low_weight[QOS_VL_NONE + 1], high_weight[QOS_VL_NONE + 1]; /* by VL */
};

struct lanes {
	struct lanes_group *groups; /* by kind, then the one with most ports first */
	size_t n_groups, cap_groups;
	uint32_t n_others; /* ports of groups beyond LANES_GROUPS_MAX */
};

/* All ports that are up and have tables. O(rows known). */
struct lanes *lanes_new(const struct fabric *f);
struct lanes *lanes_free(struct lanes *l);
FREEP(lanes_free, struct lanes)

struct show;
struct json_object;

/* The VLs that some SL takes, a bit each; VLs that the ports do not have included. */
uint16_t lanes_taken(const struct lanes_group *g);
const char *lanes_kind_name(enum qos_kind kind); /* "ca", "sw0", "swe", "rtr", as options say */
/* Members "such_as" and "at", the other end of its cable, of one port of the group. */
void lanes_put_example(struct json_object *o, const struct show *s, const struct lanes_group *g);
/* Lanes that starve, and SLs for which a cable has no VL; one object each. show_qos_warnings.c */
void lanes_put_warnings(struct json_object *warnings, const struct show *s, const struct lanes *l);
