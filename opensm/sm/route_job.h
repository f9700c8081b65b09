// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routing as a job: runs the engines in the order of routing_engine, lets
 * the judge have its say. Runs on the worker; touches nothing but its own input.
 */
#pragma once

#include "conf/files.h"
#include "route/check.h"
#include "route/depend.h"
#include "route/engine.h"
#include "route/routes.h"
#include "route/transition.h"
#include "sm/sm.h"

struct route_report {
	char why[160]; /* when there are no routes */
	char refused[600]; /* engines asked for whose tables do not count, and why */
	char verdict[ROUTE_VERDICT_STRLEN];
	char note[160]; /* what was made of adopted tables; "" if none were */
	struct transition
		*transition; /* the way from what switches hold; taken by done() */
	/* What the routes wait for, for multicast trees; taken by done(). NULL: they are not free of cycles. */
	struct dependency_graph *depends;
	bool bad;	     /* pairs without a path */
	uint64_t unreachable; /* how many */
	const char *fault; /* what is wrong with the tables, allowed by option; NULL: they hold */
	double seconds;
};

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
	 * `previous` is somebody else's work: it is kept where it is right, unless routes from
	 * scratch are clearly better balanced.
	 */
	bool weigh;
	const struct route_engines *engines; /* from outside; NULL: none. They outlive the job */
	/* On the thread of the SM. `routes`: one reference, or NULL. */
	void (*done)(void *owner, struct routes *routes, struct route_report *report);
	void *owner;
};

struct sm_job *route_job_new(const struct route_order *order);
/* Makes ready what the next event derives from tables that are in force (routes_settle()): when there is time. */
struct sm_job *route_settle_job_new(const struct routes *routes);
