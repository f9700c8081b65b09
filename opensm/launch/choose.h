// SPDX-License-Identifier: BSD-2-Clause
/*
 * The instances to run, and why. Pure: names, settings and port GUIDs in, instances out.
 *
 * The first rule that fits is used:
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
	/* names of the files in conf_dir, in the order of versionsort(3) */
	const char *const *names;
	size_t n_names;
	unsigned base_settings; /* number of keys in which opensm.conf differs from the defaults */
	const uint64_t *ports;	/* GUIDs of the local InfiniBand ports, for PORTS=ALL */
	size_t n_ports;
};

struct choice {
	const char *rule;
	bool strict;		 /* set if errors in opensm.conf keep an instance from starting */
	bool all_ports;		 /* set if each port of the host has an instance */
	struct instance **items; /* instances; NULL in place of one that was taken out */
	size_t n, cap;
};

/* Always fills `ret`, for choose_clear(). Settings that are ignored or impossible go into `r`. */
void choose(const struct choose_input *in, struct choice *ret, struct conf_report *r);
void choose_clear(struct choice *c);
/* Finds the instance of this name; NULL: none. */
struct instance *choice_find(const struct choice *c, const char *name);
