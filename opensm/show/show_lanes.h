// SPDX-License-Identifier: BSD-2-Clause
/*
 * SL2VL and VL arbitration tables as devices hold them: ports with the same tables are one group. A
 * large fabric has millions of rows but few groups; so rows are gathered on the main thread, and a
 * worker renders the groups.
 */
#pragma once

#include <stdint.h>

#include "api/fields.h"
#include "fabric/fabric.h"
#include "plan/qos.h"
#include "util/mem.h"

#define LANES_ROWS	 16   /* most distinct SL2VL rows of a port that are kept */
#define LANES_GROUPS_MAX 1024 /* ports of further groups are only counted */

struct lanes_group {
	enum qos_kind kind;
	unsigned vls; /* code of OperationalVLs */
	uint8_t high_limit;
	uint32_t n_ports;
	guid_t node; /* node of one of the ports */
	uint8_t port;
	uint8_t n_rows; /* number of rows in vl[]; 0: no SL2VL row is known */
	bool more_rows; /* set if the ports have more than LANES_ROWS distinct rows */
	uint8_t vl[LANES_ROWS][QOS_SLS]; /* by SL */
	bool low_known, high_known;	 /* set if at least one block of the table is known */
	uint32_t low_weight[QOS_VL_NONE + 1], high_weight[QOS_VL_NONE + 1]; /* by VL */
};

struct lanes {
	struct lanes_group *groups; /* sorted by kind, then by falling number of ports */
	size_t n_groups, cap_groups;
	uint32_t n_others; /* number of ports in groups beyond LANES_GROUPS_MAX */
};

/* Gathers all ports that are up and have tables. O(rows known). */
struct lanes *lanes_new(const struct fabric *f);
struct lanes *lanes_free(struct lanes *l);
FREEP(lanes_free, struct lanes)

struct show;

/* The VLs that some SL maps to, a bit each, even if the ports do not have them. */
uint16_t lanes_taken(const struct lanes_group *g);
const char *lanes_kind_name(enum qos_kind kind); /* "ca", "sw0", "swe", "rtr", as options say */
/* One port of the group; NULL: it is not in the view. */
const struct view_port *lanes_example(const struct show *s, const struct lanes_group *g);
/* Numbers of the bits that are set, an array. */
struct json_object *lanes_bits(unsigned bits);
/* One port of a group, `example` (or NULL), and the other end of its cable. */
#define LANES_EXAMPLE_FIELDS(F)                                                                    \
	F("such_as", IF(example, END), example)                                                    \
	F("at", IF(example && example->peer != VIEW_NONE, END), &s->view->ports[example->peer])
/*
 * An object for each lane that starves, and for SLs without a VL on a cable, in an array
 * (show_qos_warnings.c).
 */
struct json_object *lanes_warnings(const struct show *s, const struct lanes *l);
extern const struct json_field lanes_warning_fields[];
