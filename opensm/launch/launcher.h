// SPDX-License-Identifier: BSD-2-Clause
/*
 * All instances, and the events that move them.
 *
 * loop.c has the sources of sd-event; after each turn of the loop launcher_settle() brings everything into line:
 * what is due is done, systemd and instances.json are told, the timer is set. reload.c compares what there is with what
 * there should be. report.c puts it into words.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launch/instance.h"
#include "util/title.h"

#define LAUNCH_EXIT_CONFIG 78

struct launcher {
	const struct launch_paths *paths;
	struct choice choice; /* the plans are gone into the instances */
	struct instance **items;
	size_t n, cap;
	uint64_t *ports; /* of the host */
	size_t n_ports;
	mono_t watchdog; /* what instances are given */
	sd_event *event;
	sd_event_source *timer;
	struct title title;
	bool ready;	/* READY=1 was sent */
	bool stopping;
	bool reloading; /* RELOADING=1 was sent, READY=1 is owed */
	mono_t reload_limit;
	char *refused;	/* why the last reload took nothing over; NULL: it did */
	char *status, *state; /* as last told */
};

/* ---- loop.c ---- */

/* Runs until a signal, or until nothing is left that could run. The exit status. */
int launcher_run(const struct launch_paths *paths, struct title title);
/* Monotonic, of this turn of the loop. */
mono_t launcher_now(const struct launcher *l);

/* ---- reload.c ---- */

/* Reads the files. 0, or -errno and nothing changes; findings are said. */
int launcher_plan(struct launcher *l, struct choice *ret, char **ret_error);
/*
 * What should be, on top of what is. `hup`: what is not wanted any more ends, and what stays reads its files again. `choice`
 * is emptied.
 */
void launcher_follow(struct launcher *l, struct choice *choice, bool hup);
/* An instance has ENDED: its successor takes its place, or it goes. */
void launcher_replace_ended(struct launcher *l);

/* ---- report.c ---- */

/* One line about all, to be freed. */
char *report_status(const struct launcher *l);
/* The text of instances.json, to be freed. */
char *report_state(const struct launcher *l);
/* Tells systemd, the state file and our own title, each only what is new. */
void report_tell(struct launcher *l);
