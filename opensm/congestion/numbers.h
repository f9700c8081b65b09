// SPDX-License-Identifier: BSD-2-Clause
/*
 * Numbers of congestion control: those of options, and of cc_profile where an option is at its
 * default. Pure functions; rates are in tenths of Gb/s (ib/codes.h), 0 is an unknown one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"

#define CC_ALL_SLS 0xFFFFu

enum cc_profile { CC_PROFILE_OFF, CC_PROFILE_GENTLE, CC_PROFILE_INCAST };

/* How a switch marks packets that leave by a link. */
struct cc_marking {
	uint8_t threshold, packet_size;
	uint16_t rate; /* number of packets between two marked ones */
};

/* How a host slows down, at one SL. */
struct cc_slowing {
	uint16_t timer;
	uint8_t increase, trigger, min;
};

enum cc_profile cc_profile_of(const struct conf *c);
struct cc_marking cc_marking(const struct conf *c, unsigned rate);
struct cc_slowing cc_slowing(const struct conf *c, unsigned rate, unsigned sl);
/* Control_Map of switches: bit mask of enum cc_switch_part. */
unsigned cc_switch_parts(const struct conf *c);
/* Control_Map of hosts: bit mask of SLs that are set, cc_no_throttle_sls among them. */
unsigned cc_host_sls(const struct conf *c);
/* Is the victim mask that of ports with hosts? */
bool cc_victims_are_hosts(const struct conf *c);

/* The number of entries of the control table for a device that has room for `room`. */
unsigned cc_table_entries(const struct conf *c, unsigned room);
/*
 * Entry `i` (0 to n - 1) of a congestion control table of `n` entries. `incast`: the greatest
 * number of hosts that send to one host at the same time.
 */
struct conf_cct_entry cc_table_entry(const struct conf *c, unsigned i, unsigned n, unsigned incast);
