// SPDX-License-Identifier: BSD-2-Clause
/*
 * VLs by port class, for tables of any engine whose paths could block each other on one VL.
 *
 * A port of a switch that leads to another switch has a class: the VL on which packets that came in
 * by it go on, whichever port and SL they leave by. Packets of end ports begin on VL 0. So paths
 * need no service level, and one SL2VL row per pair of classes serves the whole fabric.
 *
 *	class 1		every port behind a cable between switches, on two VLs
 *	class 1 or 2	each half of them, by their GUIDs, on three VLs
 *	class 0		ports from a leaf (a switch with end ports) to one that is none
 *
 * In a graph of diameter two (Slim Fly) the shortest paths are
 *
 *	end port -> switch --VL 0--> switch --VL 1--> switch -> end port
 *
 * and no VL waits for itself, whichever of them an engine takes. Where damage makes some paths
 * three cables long, these are led over a port of class 1 and then one of class 2, so that they
 * climb from VL to VL too; there mostly is such a path among the shortest. A port of class 0 takes
 * nothing but what end ports send, so paths may take one cable more behind it (dragonfly+).
 *
 * Nothing here knows which case it is: classes are tried, and count if the proof says so.
 */
#pragma once

#include "route/core/engine.h"
#include "route/proof/check.h"

/*
 * routes_check_after(previous, r, ...) of new tables, which get VLs by port class (r->lanes, and a
 * word in r->note) if they would have a credit loop on one VL, and the proof says that classes end
 * it, on as few as possible of the VLs that the job has. As many as job->previous has are tried
 * first, so that SL2VL rows stay and an event costs one check as a rule. Entries of an engine that
 * lets load decide may move to another shortest path for it; `engine` NULL: none may. Tables with
 * VLs of their engine are only checked.
 */
void port_class_check(const struct route_engine *engine, const struct route_job *job,
		      const struct routes *previous, struct routes *r, struct route_verdict *ret);
/*
 * port_class_check(engine, job, NULL, r, ret) without figures of tables with a credit loop: then
 * *ret says that there is one, and no more. It takes a part of the work where some of the paths
 * show it.
 */
void port_class_try(const struct route_engine *engine, const struct route_job *job,
		    struct routes *r, struct route_verdict *ret);
/* Might more VLs than the job has have ended the credit loop of the refused tables (2, or 3)? */
bool port_class_lacks_vls(const struct route_job *job, const struct routes *r,
			  const struct route_verdict *v);
