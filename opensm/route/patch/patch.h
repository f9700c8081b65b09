// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables around cables that died, at once and without an engine: whatever made the tables in force,
 * each entry that leads into a dead cable gets another port that is proved against these tables.
 * An engine may make better ones later; nothing waits for it.
 *
 *   ground = patch_ground_new(routes, ...)     in a job, when tables come into force
 *   patch = patch_make(ground, routes, ...)    in the event loop, when cables die; patch->routes
 *                                              are in force from then on
 *   patch = patch_make(ground, patch->routes, ...)  cables that die later, or no more (n_dead 0):
 *                                              entries that had no way are looked at again
 *
 * For a destination an entry is replaced by one of falling quality (enum patch_how). A new next hop
 * is good if the way from there, by the tables in force and by those that switches may still hold,
 * ends at the destination and never comes back to this switch; and if the dependencies that it adds
 * to those of all tables since the ground was made close no cycle on any VL that packets to this
 * destination may have there. So packets neither loop nor block each other, in whatever order the
 * Sets arrive.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/core/routes.h"
#include "util/mem.h"

enum patch_how {
	PATCH_BESIDE, /* another cable to the same switch */
	PATCH_RULE,   /* another next hop that the engine's rule allows: as few hops, or up, down */
	PATCH_NEIGHBOUR, /* any other neighbour whose way does not come back */
	/*
	 * The switch has no other way: one whose next hop it is goes another way, or one that could
	 * be its next hop. This entry led to a cable that is alive.
	 */
	PATCH_BACK,
	PATCH_WAITING, /* no way was found: it stays as it is, and waits for the engine */
	PATCH_HOWS
};
/* "beside", "rule", "neighbour", "back", "waiting": words of metrics, JSON and history. */
const char *patch_how_name(enum patch_how how);

/*
 * What patches of these tables are proved against: their dependencies by VL in an order, and what
 * was added and died since. Changed by patch_make() only.
 */
struct patch_ground;

/*
 * Makes the ground of tables in force, which free of cycles or not are taken as they are; a patch
 * adds no cycle. Pure; O(table entries). Takes a reference of `r`. The caller frees.
 */
struct patch_ground *patch_ground_new(const struct routes *r);
struct patch_ground *patch_ground_free(struct patch_ground *g);
FREEP(patch_ground_free, struct patch_ground)
/* The tables that it was made of. */
const struct routes *patch_ground_routes(const struct patch_ground *g);
/* Its memory in bytes. */
size_t patch_ground_bytes(const struct patch_ground *g);
/* Does the ground hold this entry of topo->ports for dead? */
bool patch_ground_is_dead(const struct patch_ground *g, uint32_t entry);

struct patch_entry {
	uint32_t sw;
	lid_t lid;
	uint8_t was, now; /* ports; the same if `how` is WAITING */
	enum patch_how how;
};

struct patch {
	struct routes *routes; /* the tables from now on, one reference; NULL: no entry changed */
	struct patch_entry *entries; /* by switch and LID; those that wait included */
	size_t n;
	uint32_t counts[PATCH_HOWS]; /* number of entries by how */
	/*
	 * Set if not all was tried. If `routes` is not NULL, another call (n_dead 0) may find more,
	 * at once; if it is, it would end where this one did.
	 */
	bool unfinished;
};

/* What switches hold that is not, or not yet, in `now`; see patch_make(). */
struct patch_held {
	/* The port by which `sw` may forward `lid` now, beside that of `now`: LFT_NO_PORT: none. */
	uint8_t (*port)(const void *arg, uint32_t sw, lid_t lid);
	const void *arg;
};

/*
 * What a patch does not count: entries to a switch that no cable leads to any more, whatever the
 * engine; of unassigned LIDs; and those by which no packet of an end port comes, as there is none
 * at the switch, and none elsewhere sends by it (those set aside (topo.h) are not asked). The last
 * get another port if there is one, but nothing else is moved for them, and they do not wait.
 *
 * Dependencies are those that the proof of tables counts, between end ports; entries to switches
 * and to what is set aside need only be free of loops. On VLs whose dependencies had a cycle
 * already when the ground was made, nothing is proved but that.
 *
 * A call has an end whatever dies: after so many steps (some tenths of a second) only ways that are
 * known already are taken, and what has none by then waits (`unfinished`). While entries wait, call
 * again when Sets have arrived: a switch can often go by one that went by it before.
 *
 * The tables of a patch have all that belongs to those of before but the verdict. An entry that is
 * no engine's (NEIGHBOUR, BACK) makes them tables of unknown options (routes.h), so that none of
 * their entries is kept.
 *
 * Cables died: `dead` are n_dead entries of topo->ports, cables between switches, of one end or of
 * both. `now` are the tables in force, with the topo of the ground: its routes, or those of the
 * last patch of it. `held` NULL: switches hold what `now` says, or entries that lead into dead
 * cables. Cost: that of the entries that lead into dead cables. The caller frees.
 */
struct patch *patch_make(struct patch_ground *g, const struct routes *now, const uint32_t *dead,
			 size_t n_dead, const struct patch_held *held);
struct patch *patch_free(struct patch *p);
FREEP(patch_free, struct patch)
