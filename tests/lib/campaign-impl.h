// SPDX-License-Identifier: BSD-2-Clause
/* Internals of a life, for the files of the campaign only. */
#pragma once

#include <stdio.h>

#include "sim/sim.h"
#include "tests/lib/campaign.h"
#include "tests/lib/client.h"
#include "tests/lib/rig.h"
#include "util/random.h"

struct dice {
	uint64_t s;
};

static inline uint32_t roll(struct dice *d, uint32_t below)
{
	uint32_t drawn = (uint32_t)(random_next(&d->s) >> 32);

	return below ? drawn % below : 0;
}

/* True with probability `n` / `of`. */
static inline bool chance(struct dice *d, uint32_t n, uint32_t of)
{
	return roll(d, of) < n;
}

struct cable {
	int a, b;
	unsigned a_port, b_port;
};

#define MAX_MANAGERS 3
struct manager {
	int node;
	int place; /* index in the rig; -1: it does not run */
	bool frozen;
	unsigned priority;
	mono_t again_at; /* time at which it starts, or thaws; MONO_NEVER: by no timer */
	char dir[80];
};

/* Items that a host may have registered with the SA: bits of want and have. */
#define N_GROUPS   4 /* group 0 is the broadcast group of the default partition */
#define N_SERVICES 2
#define N_ITEMS	   (N_GROUPS + N_SERVICES)
#define MAX_HOSTS  12
struct host {
	struct client *c;
	uint32_t want;
	uint32_t have, may_have; /* granted; requested since it was last left */
	uint32_t tid[N_ITEMS];
	mono_t ask_at[N_ITEMS];
	lid_t mlid[N_GROUPS];
	unsigned reregistered;
	lid_t lid, sm_lid;
	bool up;
};

struct world {
	struct rig *rig;
	struct sim *sim;
	uint32_t kinds;
	struct dice dice; /* draws properties of the world; faults have dice of their own */
	bool loud;
	unsigned n_nodes, n_cables, cap_cables;
	struct cable *cables; /* cables at the beginning */
	bool *off;	      /* by node: set if it is without power */
	struct conf *conf;    /* in force for all managers, except for their priority */
	struct manager managers[MAX_MANAGERS];
	unsigned n_managers;
	struct host hosts[MAX_HOSTS];
	unsigned n_hosts;
	lid_t *lids;	/* by node: LID before the first fault; 0: unknown */
	/* set if leaves may have been lost, as the manager that knew of them was killed */
	bool ghosts;
	bool ambiguous; /* set if LIDs may have to change */
	mono_t tick_at, rotate_at;
	unsigned log_errors, log_lines;
	char dir[64];
	struct life_result *result;
};

static inline bool world_has(const struct world *w, enum fault_kind k)
{
	return w->kinds >> k & 1;
}

/* campaign.c: counts log records of managers; `arg` is the world. */
void world_take_log(void *arg, unsigned bits, const char *text);
/* Draws a fault of one of `kinds`. */
struct life_fault world_draw_fault(struct dice *d, uint32_t kinds);

/* campaign-world.c */
void world_open(struct world *w, const struct life_plan *plan);
void world_close(struct world *w);
/* Lets time pass, with managers, hosts and their pending actions. */
void world_run(struct world *w, mono_t t);
bool world_hosts_manager(const struct world *w, int node);
/* Kills as kill -9 does; the manager restarts after `after`, MONO_NEVER: only by another fault. */
void manager_kill(struct world *w, struct manager *m, mono_t after);
void manager_freeze(struct world *w, struct manager *m, mono_t after);
void manager_start(struct world *w, struct manager *m);
void managers_tick(struct world *w);
/* Sends SIGHUP to all running managers. */
void managers_reload(struct world *w);
void world_write_partitions(struct world *w, struct dice *d);
struct sm *manager_sm(const struct world *w, const struct manager *m); /* NULL: dead */
guid_t world_port_guid(const struct world *w, int node, unsigned port);

/* campaign-fault.c */
void world_fault(struct world *w, const struct life_fault *f);
/* Restores the state of the beginning, except names and GUIDs. */
void world_mend(struct world *w);

/* campaign-hosts.c */
void hosts_open(struct world *w);
void hosts_close(struct world *w);
void hosts_tick(struct world *w);
void hosts_change(struct world *w, struct dice *d);
/* 0; else the fault is in `why`. */
int hosts_judge(struct world *w, char *why, size_t cap);

/* campaign-judge.c: the first fault is in result->why. */
/* False: it did not heal in time. */
bool world_heal(struct world *w);
void world_note_lids(struct world *w);
void world_judge(struct world *w);
