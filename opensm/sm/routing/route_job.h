// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routing as a job: runs the engines in the order of routing_engine, lets
 * the judge have its say. Runs on the worker; touches nothing but its own input.
 *
 * With a runner each computation is a process that can be ended. An engine that dies there, or does
 * not end in time, is asked once more without former tables; dies it again, the next one of the
 * list has its turn.
 */
#pragma once

#include "conf/files.h"
#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/core/engine.h"
#include "route/core/routes.h"
#include "route/proof/transition.h"
#include "sm/sm.h"

/* Most deaths of engines in one job; after that it is given up. */
#define ROUTE_DEATHS	     24
/* Most deaths that no engine can be blamed for, as none had begun. */
#define ROUTE_DEATHS_UNBEGUN 4

/* An engine that ended without a result: the cause of its death, and its input. */
struct route_death {
	char engine[32]; /* "": no engine had begun */
	char inner[32];	 /* engine that auto tried then; "": none */
	char cause[16];	 /* "SIGSEGV", "deadline", "exit", "garbage" */
	char how[96];	 /* cause in words: "it was ended by SIGSEGV after 0.3 s" */
	/* Set if it was given former tables; if not, it is not asked again for a while. */
	bool had_tables;
	/* Set if it died in a quiet time, when nothing had to be found: it has no consequences. */
	bool quiet;
	bool last; /* set if the job ended with it */
};

struct route_report {
	char why[160];	   /* reason why there are no routes */
	char refused[600]; /* requested engines whose tables do not hold, with the reasons */
	char verdict[ROUTE_VERDICT_STRLEN];
	char note[160];		       /* result of adopting tables; "": none were adopted */
	struct transition *transition; /* transition from the tables in switches; taken by done() */
	/*
	 * Channel dependencies of the routes, for multicast trees; taken by done(). NULL: not free
	 * of cycles.
	 */
	struct cdg *depends;
	bool bad;	      /* set if some pairs have no path */
	mono_t took;	      /* time from the order of the job to its result */
	uint64_t unreachable; /* number of pairs without a path */
	const char *fault;    /* flaw of the tables that an option allows; NULL: they hold */
	/* With a runner only. */
	struct route_death deaths[ROUTE_DEATHS];
	unsigned n_deaths;
	uint64_t serial; /* serial of the run that made the routes; 0: none in a child */
	unsigned ms;	 /* duration of that run */
	char first[32];	 /* engine that was asked first in that run */
	bool fresh;	 /* set if an engine was given no former tables */
	bool asleep;	 /* set if a first process slept from its start, and was replaced */
	/* The input of the job, valid while done() runs. */
	const struct topo *topo;
	const struct routes *previous;
	const struct conf *conf;
	const struct conf_files *files;
	/*
	 * errno if no process could be started; 0: one could. Without a process the manager
	 * computes routes itself if there were none before; otherwise there are no new ones.
	 */
	int no_child;
};

struct route_runner;
struct route_memory;

/* The input of a job. The job takes its own references. */
struct route_order {
	const struct topo *topo;
	const struct routes *previous;
	const struct routes *held; /* tables that switches hold now, if not `previous`; else NULL */
	/* `previous`, patched around cables that died: in force now; NULL: not patched */
	const struct routes *patched;
	const struct conf *conf;
	const struct conf_files *files; /* NULL: no lists */
	/* Set if an option changed: `previous` is in switches, but no model for new tables. */
	bool fresh;
	/*
	 * Set to ask an engine that died once more, without former tables; if it dies again the
	 * tables in force may stay.
	 */
	bool again;
	/*
	 * Set if another manager made `previous`: it is kept where it is right, unless routes from
	 * scratch are clearly better balanced.
	 */
	bool weigh;
	/*
	 * Set if nothing has changed: the result is `previous`, which is in force, or better tables
	 * (keep_tables_balanced()).
	 */
	bool quiet;
	/* engines of plugins, which outlive the job; NULL: none */
	const struct route_engines *engines;
	/* Runs the computation; outlives the job. NULL: the job computes in its own thread. */
	const struct route_runner *runner;
	/* Memory of former jobs, read at once; NULL: none. */
	const struct route_memory *memory;
	/* Longest time of one computation; 0: by `memory` and the size of the fabric. */
	unsigned limit_ms;
	mono_t now;
	/* Called on the thread of the SM. `routes`: one reference, or NULL. */
	void (*done)(void *owner, struct routes *routes, struct route_report *report);
	void *owner;
};

struct sm_job *route_job_new(const struct route_order *order);
/*
 * A job that prepares, when there is time, what later events derive from the tables in force
 * (routes_settle()).
 */
struct sm_job *route_settle_job_new(const struct routes *routes);
