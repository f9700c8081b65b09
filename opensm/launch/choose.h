// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which instances there are, and why. Pure: names, settings and port GUIDs in, instances out.
 *
 * The first rule that fits counts:
 *
 *   1. numbered configuration files opensm.conf.N (digits only): one instance per file
 *   2. GUIDS of sysconfig: one per word, on the base configuration, each with its own subnet prefix
 *   3. PORTS of sysconfig: ALL, NONE or a list, one per port, on the base configuration
 *   4. one instance
 *
 * PRIORITY goes to the instances of 2 to 4. LAUNCH_ORDER=redhat puts rule 2 first, takes every file
 * opensm.conf.[0-9]* and gives PRIORITY to these too, as the launch script of Red Hat does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"
#include "launch/instance.h"
#include "launch/sysconfig.h"

struct choose_input {
	const char *conf_dir; /* "/etc/rdma" */
	struct sysconfig settings;
	const char *const *names; /* of the files in conf_dir, in the order of versionsort(3) */
	size_t n_names;
	unsigned base_settings; /* in how many keys opensm.conf differs from the defaults */
	const uint64_t *ports;	/* GUIDs of the local InfiniBand ports, for PORTS=ALL */
	size_t n_ports;
};

struct choice {
	const char *rule;
	bool strict;		 /* errors in opensm.conf keep an instance from starting */
	bool all_ports;		 /* there is an instance for each port that comes */
	struct instance **items; /* NULL in place of one that was taken over */
	size_t n, cap;
};

/* Always fills `ret`, for choose_clear(). What is ignored, and what cannot be, goes into `r`. */
void choose(const struct choose_input *in, struct choice *ret, struct conf_report *r);
void choose_clear(struct choice *c);
/* The instance of this name; NULL: none. */
struct instance *choice_find(const struct choice *c, const char *name);
