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

/* Deaths in one job at most: then it is given up. */
#define ROUTE_DEATHS 24
/* The same of those that no engine can be blamed for: none had begun. */
#define ROUTE_DEATHS_UNBEGUN 4

/* An engine that ended without a result: what it died of, and what it was given. */
struct route_death {
	char engine[32]; /* "": none had begun */
	char inner[32];	 /* that auto tried then; "" none */
	char cause[16];	 /* "SIGSEGV", "deadline", "exit", "garbage" */
	char how[96];	 /* the same in words: "it was ended by SIGSEGV after 0.3 s" */
	/* it was given former tables to go by; else it is not asked again for a while */
	bool had_tables;
	/* in a quiet time, when nothing had to be found: nothing follows from it */
	bool quiet;
	bool last;	 /* the job ended with it */
};

struct route_report {
	char why[160]; /* when there are no routes */
	char refused[600]; /* engines asked for, the tables of which do not count, and why */
	char verdict[ROUTE_VERDICT_STRLEN];
	char note[160]; /* what was made of adopted tables; "" if none were */
	struct transition
		*transition; /* the way from what switches hold; taken by done() */
	/*
	 * The dependencies of the routes, for multicast trees; taken by done(). NULL: they are not
	 * free of cycles.
	 */
	struct cdg *depends;
	bool bad;	     /* pairs without a path */
	uint64_t unreachable; /* how many */
	const char *fault; /* what is wrong with the tables, allowed by option; NULL: they hold */
	/* Of computations that ran where they can be ended. */
	struct route_death deaths[ROUTE_DEATHS];
	unsigned n_deaths;
	uint64_t serial; /* of the run that came to this; 0: none in a child */
	unsigned ms;	 /* of it */
	char first[32];	 /* the engine that was asked first in it */
	bool fresh;	 /* an engine had no tables to go by */
	bool asleep;	 /* a first process slept from its start, and was replaced */
	/* Of the job, as long as done() runs. */
	const struct topo *topo;
	const struct routes *previous;
	const struct conf *conf;
	const struct conf_files *files;
	/*
	 * errno: there could be no process. Routes come from the manager itself if there were none
	 * before, else there are none. 0: there was one
	 */
	int no_child;
};

struct route_runner;
struct route_memory;

/* Takes its own references of topo, previous, held, conf and files. */
struct route_order {
	const struct topo *topo;
	const struct routes *previous;
	const struct routes *held; /* what switches hold now, if that is not `previous`; NULL */
	const struct conf *conf;
	const struct conf_files *files; /* NULL: no lists */
	/* An option of routing changed: `previous` is what switches hold, and nothing to go by. */
	bool fresh;
	/*
	 * An engine that died has its chance again: it is asked afresh, and if it dies what is in
	 * force may stay.
	 */
	bool again;
	/*
	 * `previous` was made by another manager: it is kept where it is right, unless routes from
	 * scratch are clearly better balanced.
	 */
	bool weigh;
	/*
	 * Nothing has changed: `previous`, which is in force, or better ones
	 * (keep_tables_balanced()).
	 */
	bool quiet;
	const struct route_engines *engines; /* from outside; NULL: none. They outlive the job */
	/* NULL: computed where the job runs; it outlives the job */
	const struct route_runner *runner;
	/* of former jobs (route_memory.h), read at once; NULL: none */
	const struct route_memory *memory;
	/* how long one computation may take; 0: as `memory` and the size of the fabric say */
	unsigned limit_ms;
	mono_t now;
	/* On the thread of the SM. `routes`: one reference, or NULL. */
	void (*done)(void *owner, struct routes *routes, struct route_report *report);
	void *owner;
};

struct sm_job *route_job_new(const struct route_order *order);
/*
 * Makes ready what the next event derives from tables that are in force (routes_settle()): when
 * there is time.
 */
struct sm_job *route_settle_job_new(const struct routes *routes);
