// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adoption: tables that switches and ports hold are read before others are made.
 *
 *   REST --adopt_start()--> READING --all asked for is answered, or given up--> REST, adopt_done()
 */
#pragma once

#include <stdbool.h>

#include "route/core/routes.h"

struct port;
struct sm;

/*
 * Sets whether the next reading takes all tables (`all`), or the unknown ones. Called for each,
 * from the start of its sweep on.
 */
void adopt_plan(struct sm *sm, bool all);
bool adopt_reads_all(const struct sm *sm);
void adopt_start(struct sm *sm);
void adopt_feed(struct sm *sm);
/*
 * Discards the known P_Keys of the end port and of the switch port that faces it, and those that
 * this reading brings.
 */
void adopt_distrust_pkeys(struct sm *sm, struct port *end);
bool adopt_busy(const struct sm *sm);
/*
 * Called when all questions were answered or given up. True: all tables were read, and some are not
 * as we wrote them.
 */
bool adopt_done(struct sm *sm);

/* Was some forwarding block unknown before this reading? */
bool adopt_has_asked(const struct sm *sm);
/* The tables that switches hold, as routes of `topo`, one reference; NULL: none is known. */
struct routes *adopt_routes(const struct sm *sm, const struct topo *topo);
/* Do the switches of `topo` hold what `r` says? */
bool adopt_holds(const struct sm *sm, const struct routes *r, const struct topo *topo);
