// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which instances there are, and why. Pure: names, texts and port GUIDs in, plans out.
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
#include "launch/sysconfig.h"

#define CHOOSE_UNNAMED "opensm"

enum choose_rule {
	CHOOSE_NUMBERED,
	CHOOSE_GUIDS,
	CHOOSE_PORTS,
	CHOOSE_NO_PORTS, /* PORTS=NONE: there is nothing to do */
	CHOOSE_ONE,
};

struct choose_input {
	const char *conf_dir;		  /* "/etc/rdma" */
	const struct sysconfig *files[2]; /* the first that has a setting counts */
	const char *const *names;	  /* of the files in conf_dir */
	size_t n_names;
	unsigned base_settings; /* in how many keys opensm.conf differs from the defaults */
	const uint64_t *ports;	/* GUIDs of the local InfiniBand ports, for PORTS=ALL */
	size_t n_ports;
};

/* One instance as it should be. */
struct plan {
	char *name; /* "1", "0x0002c90300001234", or CHOOSE_UNNAMED */
	char *conf; /* of -F; NULL: the base configuration */
	uint64_t guid, prefix; /* 0: not given */
	int priority;	       /* -1: not given */
	char *fault;	       /* why it cannot be started, with its place; NULL: it can */
};

struct choice {
	enum choose_rule rule;
	const char *rule_text;
	bool strict;   /* errors in opensm.conf keep an instance from starting */
	bool all_ports; /* there is an instance for each port that comes */
	struct plan *plans;
	size_t n, cap;
};

/* Always fills `ret`, for choose_clear(). What is ignored, and what cannot be, goes into `r`. */
void choose(const struct choose_input *in, struct choice *ret, struct conf_report *r);
void choose_clear(struct choice *c);
/* The plan of this name; NULL: none. */
struct plan *choice_find(const struct choice *c, const char *name);
void plan_clear(struct plan *p);
/* The same instance in every respect. */
bool plan_equal(const struct plan *a, const struct plan *b);
/* Whether it shares nothing by the default names of files. */
bool plan_is_named(const struct plan *p);
