// SPDX-License-Identifier: BSD-2-Clause
/*
 * From checked tables to others, for check_after.c (entries, end ports), check_paths.c,
 * check_distances.c and check_turns.c (the dependency graph).
 */
#pragma once

#include "route/proof/cdg_internal.h"
#include "route/proof/check_internal.h"

#define HOSTS_MAX     64
#define CABLES_MAX    256   /* most ends of cables that differ */
#define DISTANCES_MAX 65536 /* most pairs of switches whose distance differs */

struct moved {
	uint32_t at, sw;
	uint16_t before, now;
};

struct delta {
	struct route_proof *p;
	const struct verifier *old;
	struct verifier *new;
	const struct route_changes *changes;
	struct routes_blocks blocks;  /* cache of blocks of `new` */
	struct routes_entry *entries; /* sorted by LID */
	size_t n_entries, cap_entries;
	struct cable_moved {
		uint32_t end;	   /* entry of topo->ports with another far end than before */
		uint32_t sw;	   /* switch of that port */
		uint32_t was, now; /* former and present far end, as in behind[] */
	} * cables;
	size_t n_cables, cap_cables;
	struct moved *moved; /* sorted by `at` */
	size_t *first_moved; /* by switch, with one more at the end: first index in `moved` */
	size_t n_moved, cap_moved;
	uint32_t *stamp;    /* by switch: LID + 1 for which its entry differs */
	uint8_t *was, *now; /* by switch: former and new value of that entry */
	bool *seen;
	struct ports_in {
		uint32_t at; /* switch + 1 */
		uint64_t ports[PORT_WORDS];
		/* by switch: ports by which paths to `at` may come, as last found */
	} * ports_in;
	struct upstream {
		uint32_t sw, hops;
		uint8_t class;	/* class of the port by which it reaches the first switch */
		uint8_t branch; /* number of that port */
		/* switches upstream for the present LID; of each path the one with 0 hops first */
	} * queue;
	size_t n_queue, cap_queue;
	struct path {
		const struct verifier *j; /* the old verifier or the new one */
		uint32_t from;
		uint32_t sw; /* switch to which it was followed, by `hops` hops */
		uint32_t hops;
		uint32_t flow; /* flow to be added to the loads */
		uint32_t own;  /* part of `flow` that is not addressed to its own switch */
		uint32_t with; /* number + 1 of the path that it continues with; 0: none */
		lid_t lid;
		bool is_done;
		bool is_noted;		 /* set if its dependencies are noted; on one VL alone */
		uint64_t in[PORT_WORDS]; /* ports by which packets come to it */
	} * paths;			 /* for the present LID, in pairs: before and now */
	size_t n_paths, cap_paths;
	uint32_t *met; /* by switch: path that last reached it, before and now */
	/* End ports of the old topo, and of the new one. */
	const struct topo_host *gone[HOSTS_MAX], *came[HOSTS_MAX];
	size_t n_gone, n_came;
	/* set if every path from a source to an end port was a shortest one */
	bool was_minimal;
	uint32_t farthest;    /* upper bound of the hops to the farthest source */
	const uint16_t *dist; /* former distances from the switch of the present LID */
	uint16_t *row;	      /* present distances of switch `row_of`, if some have changed */
	size_t cap_row;
	uint32_t row_of;
	struct check_worker *worker; /* NULL: not needed yet */
	struct cdg_added added;	     /* dependencies that were added */
	struct cdg_walk *walk;
	uint32_t *order, *next; /* for `walk`, as `ports`: the path at hand */
	uint8_t *ports;
	/* By entry of topo->ports: changed paths came in by it, or left by it. */
	bool *left_in, *left_out;
	bool turned; /* set if some turns have other VLs than before */
	struct arena memory;
};

/*
 * Updates the distances and keeps the changed ones. False: too many, or end ports became connected
 * or disconnected.
 */
bool delta_repair_distances(struct delta *d);
/* Former distances from `at`, valid until the next call. */
const uint16_t *delta_distances_before(struct delta *d, uint32_t at);

/*
 * Follows `n` paths to the end, and sets their hops: all step by step, and as one where they meet.
 * False: one has no end.
 */
bool delta_follow_paths(struct delta *d, struct path *paths, size_t n);
/* Does the path of `s` to the LID meet a changed entry? Looping paths do not. */
bool delta_meets(const struct delta *d, uint32_t s, lid_t lid);
/* Notes the ports of former paths: that of `s`, and those of the `n` switches upstream. */
void delta_leave_paths(struct delta *d, const struct upstream *up, size_t n, uint32_t s, lid_t lid);
/* Adds dependencies of packets from `s` and the `n` upstream in new tables; they arrive. */
void delta_add_dependencies(struct delta *d, const struct upstream *up, size_t n, uint32_t s,
			    lid_t lid);

/* Removes the dependencies over cables that are gone, or lead elsewhere. */
void delta_forget_cables(struct delta *d);
/* Has the graph a turn on other VLs than the former scheme gives? */
bool delta_has_moved_turn(const struct delta *d);
/*
 * Is the graph still acyclic? With several VLs it lacks all former dependencies afterwards. False
 * also if there was a moved turn, and there is one now: a path that is not new may have it.
 */
bool delta_settle_graph(struct delta *d, bool had_moved_turn);

/* The port of `s` for the LID whose entries are stamped. */
static inline uint8_t port_in(const struct delta *d, const struct verifier *j, uint32_t s,
			      lid_t lid)
{
	if (d->stamp[s] == lid + 1u)
		return j == d->old ? d->was[s] : d->now[s];
	return routes_blocks_port(&d->blocks, s, lid);
}

static inline bool is_end(const struct delta *d, const struct verifier *j, uint32_t s, lid_t lid)
{
	return s == j->targets[lid].sw && port_in(d, j, s, lid) == j->targets[lid].port &&
	       lid < j->topo->switches[s].lft_cap;
}

/* Does the entry at the other end of a cable send to the LID over it? */
static inline bool sends_to(const struct delta *d, uint32_t behind, lid_t lid)
{
	const struct verifier *j = d->new;
	uint32_t v = behind >> 8;

	return !is_end(d, j, v, lid) && lid < j->topo->switches[v].lft_cap &&
	       routes_port(j->routes, v, lid) == (behind & 255);
}
