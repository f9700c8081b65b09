// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loop that daemon.c is in life: a simulated fabric, one or several subnet managers on it, and
 * the jobs they hand out, run here and now. Time jumps from event to event.
 */
#pragma once

#include "conf/conf.h"
#include "sim/sim.h"
#include "sm/sm.h"

#define RIG_MAX_SMS 8
#define RIG_EPOCH   1700000000 /* for `epoch` */

struct rig_job {
	struct sm_job *job;
	mono_t due;                /* when its worker is done with it */
	struct rig_job *next;
};

struct rig_sm {
	struct rig *rig;
	char node[65];
	struct transport *tr;
	struct sm *sm;             /* NULL: never started or killed */
	bool frozen;               /* SIGSTOP: neither receives nor sends */
	unsigned ups;              /* times subnet_up was called */
	uint64_t ids;		   /* what its transaction ids are drawn from */
	struct rig_job *jobs; /* by `due` */
	char status[1400];
};

struct rig {
	struct sim *sim;           /* owned */
	struct rig_sm sms[RIG_MAX_SMS];
	unsigned n_sms;
	unsigned n_starts;	   /* each draws other numbers */
	unsigned standstill;       /* steps since the clock last moved */
	const char *acting;	   /* the node of the manager that runs now; NULL: none does */
	/* what a job takes; 0: it is done before anything else happens */
	mono_t job_time;
	mono_t disk_time; /* of those that write to the disk, where that is more */
	/* Seconds since 1970 at time 0, for managers that start; 0: none knows the time of day. */
	int64_t epoch;
	/*
	 * Set before rig_start(): events of the managers started from then on. NULL: not wanted.
	 */
	void (*event)(struct rig_sm *sm, const struct sm_event *event);
	void (*perf)(struct rig_sm *sm, struct transport_event *ev, mono_t now); /* as `event` */
	/* as `event` */
	void (*congestion)(struct rig_sm *sm, struct transport_event *ev, mono_t now);
	const struct route_engines *engines; /* as `event`: routing engines from outside */
	/*
	 * As `event`: the transport that a manager is given instead of `tr`; not closed by the rig.
	 */
	struct transport *(*between)(struct rig_sm *sm);
	void *owner; /* argument of the functions above */
	/*
	 * For benches: what the threads of managers took by this clock is added to `spent`, without
	 * jobs of other threads, and without what reading it takes; NULL: not asked.
	 */
	uint64_t (*clock)(void);
	uint64_t clock_takes, spent;
};

/* Takes over `sim`. */
struct rig *rig_new(struct sim *sim);
struct rig *rig_free(struct rig *rig);

/*
 * Starts a manager on a port (0: the first, or port 0 of a switch); one reference of `conf` is
 * taken. -ENODEV: no such port, or one is running there; -ENOSPC: RIG_MAX_SMS are running. Else its
 * index; the places of killed ones are given anew once all have been used.
 */
int rig_start(struct rig *rig, const char *node, int port, const struct conf *conf,
	      const char *cache_dir);
/* As kill -9: no good-bye. */
void rig_kill(struct rig *rig, unsigned sm);
/* As SIGTERM: IsSM goes first, as in daemon.c. */
void rig_stop(struct rig *rig, unsigned sm);
void rig_freeze(struct rig *rig, unsigned sm, bool frozen);
/* The running manager on this node, -1 if there is none. */
int rig_find(const struct rig *rig, const char *node);
/* The one in MASTER; NULL if there is none or more than one. */
struct sm *rig_master(const struct rig *rig);
unsigned rig_count(const struct rig *rig, enum sm_state state);
bool rig_sweeping(const struct rig *rig); /* any manager that is not frozen */

/*
 * One step: the next event and what the managers make of it, but not beyond `until`. False: time is
 * up.
 */
bool rig_step(struct rig *rig, mono_t until);
void rig_run(struct rig *rig, mono_t until);
