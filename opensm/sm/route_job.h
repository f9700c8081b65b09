// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routing as a job: reads the list files, runs the engines in the order of routing_engine, lets
 * the judge have its say. Runs on the worker; touches nothing but its own input.
 */
#pragma once

#include "conf/conf.h"
#include "route/check.h"
#include "route/routes.h"
#include "route/transition.h"
#include "sm/sm.h"

#define ROUTE_MAX_NOTES 16

struct route_report {
	char why[160]; /* when there are no routes */
	char verdict[ROUTE_VERDICT_STRLEN];
	char note[160]; /* what was made of adopted tables; "" if none were */
	struct transition
		*transition; /* LIDs that could loop on the way from `previous`; taken by done() */
	bool bad;	     /* pairs without a path */
	unsigned n_notes;
	char *notes[ROUTE_MAX_NOTES]; /* findings about list files */
	double seconds;
};

/* Takes its own references of topo, previous and conf. */
struct route_order {
	const struct topo *topo;
	const struct routes *previous;
	const struct conf *conf;
	/*
	 * `previous` is somebody else's work: it is kept where it is right, unless routes from
	 * scratch are clearly better balanced.
	 */
	bool weigh;
	/* On the thread of the SM. `routes`: one reference, or NULL. */
	void (*done)(void *owner, struct routes *routes, struct route_report *report);
	void *owner;
};

struct sm_job *route_job_new(const struct route_order *order);
