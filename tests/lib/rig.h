// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loop of daemon.c for tests: a simulated fabric, one or several subnet managers on it, and
 * their jobs, which run at once. Time jumps from event to event.
 */
#pragma once

#include "conf/conf.h"
#include "sim/sim.h"
#include "sm/sm.h"

#define RIG_MAX_SMS 8
#define RIG_EPOCH   1700000000 /* a value for rig.epoch */

struct rig_job {
	struct sm_job *job;
	mono_t due;                /* time at which its worker ends it */
	struct rig_job *next;
};

struct rig_sm {
	struct rig *rig;
	char node[65];
	struct transport *tr;
	struct sm *sm;             /* NULL: never started or killed */
	/* set while stopped as by SIGSTOP: it neither receives nor sends */
	bool frozen;
	unsigned ups;              /* number of calls of subnet_up */
	uint64_t ids;		   /* source of its transaction ids */
	struct rig_job *jobs; /* sorted by `due` */
	char status[1400];
};

struct rig {
	struct sim *sim;           /* owned */
	struct rig_sm sms[RIG_MAX_SMS];
	unsigned n_sms;
	unsigned n_starts;	   /* number of starts; each manager draws other numbers */
	unsigned standstill;       /* number of steps since the clock last moved */
	const char *acting;	   /* node of the running manager; NULL: none runs */
	/* duration of a job; 0: it is done before the next event */
	mono_t job_time;
	mono_t disk_time; /* duration of jobs for the disk, if it is longer */
	/*
	 * Seconds since 1970 at time 0, for managers that start; 0: the time of day is not known.
	 */
	int64_t epoch;
	/*
	 * Called with events of the managers started from then on; set before rig_start(). NULL:
	 * not wanted.
	 */
	void (*event)(struct rig_sm *sm, const struct sm_event *event);
	/* set like `event` */
	void (*perf)(struct rig_sm *sm, struct transport_event *ev, mono_t now);
	/* set like `event` */
	void (*congestion)(struct rig_sm *sm, struct transport_event *ev, mono_t now);
	const struct route_engines *engines; /* routing engines from outside; set like `event` */
	/*
	 * Returns the transport for a manager, in place of `tr`; not closed by the rig. Set like
	 * `event`.
	 */
	struct transport *(*between)(struct rig_sm *sm);
	void *owner; /* argument of the functions above */
	/*
	 * For benches: time of the managers' threads by this clock is added to `spent`, without
	 * jobs of other threads, and without the time for reading it; NULL: not measured.
	 */
	uint64_t (*clock)(void);
	uint64_t clock_takes, spent;
};

/* Takes over `sim`. */
struct rig *rig_new(struct sim *sim);
struct rig *rig_free(struct rig *rig);

/*
 * Starts a manager on a port (0: the first, or port 0 of a switch); one reference of `conf` is
 * taken. Returns its index; the index of a killed manager is used again once all were used.
 * -ENODEV: there is no such port, or a manager runs there; -ENOSPC: RIG_MAX_SMS are running.
 */
int rig_start(struct rig *rig, const char *node, int port, const struct conf *conf,
	      const char *cache_dir);
/* Ends a manager as kill -9 does. */
void rig_kill(struct rig *rig, unsigned sm);
/* Ends a manager as SIGTERM does: IsSM is cleared first, as in daemon.c. */
void rig_stop(struct rig *rig, unsigned sm);
void rig_freeze(struct rig *rig, unsigned sm, bool frozen);
/* The manager on this node; -1: there is none. */
int rig_find(const struct rig *rig, const char *node);
/* The manager in state MASTER; NULL: there is none, or more than one. */
struct sm *rig_master(const struct rig *rig);
unsigned rig_count(const struct rig *rig, enum sm_state state);
bool rig_sweeping(const struct rig *rig); /* Is any manager sweeping that is not frozen? */

/*
 * One step: the next event, and the work of the managers for it, but not beyond `until`. False:
 * `until` is reached.
 */
bool rig_step(struct rig *rig, mono_t until);
void rig_run(struct rig *rig, mono_t until);
