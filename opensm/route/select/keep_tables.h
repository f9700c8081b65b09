// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which tables count in the end: those found in switches, those that grew out of the former ones,
 * or new ones.
 *
 * Found tables, of whose making nothing is known, stay byte for byte if they hold: with the VLs
 * that the engine gives them every pair has a path and no cycle is closed, they break no option
 * that says which paths there are, and they are not clearly worse than tables from scratch
 * (proof/keep_policy.h). Only missing entries are added. So a manager that starts writes nothing,
 * whatever its engine would rather have.
 *
 * On an unchanged fabric the former tables stay as they are. Tables that grew out of them are held
 * to the same rules, so that what a manager made of many changes is also what the next one finds
 * good enough. Where auto has compared all engines, or one that deals by load was compared with
 * tables from scratch, and little has become worse since, those are left to a quiet minute: on a
 * dragonfly they take ten times as long.
 */
#pragma once

#include "route/select/choose.h"

struct keep_report {
	struct route_choice choice;
	bool is_compared; /* set if tables from scratch were computed for comparison */
	char note[160];	  /* sentence on what became of the former tables; "": none */
};

/*
 * As route_choose(), and balanced (reroute.h). `found`: job->previous is what switches hold; else
 * it is the result of the last call, and may be what is returned. One reference; NULL and
 * ret->choice.why: there are no tables. Pure, but for the cache of job->previous: what is taken
 * from it saves time and changes no result.
 */
struct routes *keep_tables(const struct route_chain *chain, const struct route_job *job, bool found,
			   struct keep_report *ret);

/*
 * In quiet times: job->previous, which is in force and of the topo of the job, where its most
 * loaded channel carries little more than from scratch (KEEP_QUIET), and no switch far less
 * (KEEP_IDLE), as one does that came back. Else the same with the paths from scratch over such
 * switches, and as few destinations from scratch as bring it there, or all of them. Tables stay
 * where those from scratch have service levels by path, which connections go on using, and where
 * engines compute afresh anyway. One reference. The result, given again, is its own result.
 */
struct routes *keep_tables_balanced(const struct route_chain *chain, const struct route_job *job,
				    struct keep_report *ret);
