// SPDX-License-Identifier: BSD-2-Clause
/*
 * What counts in the end: tables that were found in switches, those that grew out of our own, or others from scratch.
 *
 * Found tables, of whose making nothing is known, stay byte for byte if they hold: with the lanes that the engine
 * gives them they leave nobody without a path and close no cycle, they break no option that says which ways there
 * are, and they are not clearly worse than tables from scratch. Only what is missing is added. So a manager that
 * starts anew writes nothing, whatever its engine would rather have.
 *
 * Where nothing changed our own stay as they are. Those that grew out of them are held to the same measure, so
 * that what a manager made of many changes is also what the next one finds good enough.
 */
#pragma once

#include "route/choose.h"

struct weighed {
	struct route_choice choice;
	char note[160]; /* what became of the previous tables, in a sentence; "": nothing worth a word */
};

/*
 * As route_choose(), and eased (reroute.h). `found`: job->previous is what switches hold, else it is the result of
 * the last call (and may be what is returned). Pure.
 */
struct routes *route_weigh(const struct route_chain *chain, const struct route_job *job, bool found,
			   struct weighed *ret);
