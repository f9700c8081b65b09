// SPDX-License-Identifier: BSD-2-Clause
/*
 * From checked tables to others, for check_after.c (entries, end ports), check_paths.c,
 * check_distances.c and check_turns.c (the dependency graph).
 */
#pragma once

#include "route/proof/cdg_internal.h"
#include "route/proof/check_internal.h"

#define HOSTS_MAX 64
#define CABLES_MAX 256	    /* ends of cables that differ */
#define DISTANCES_MAX 65536 /* pairs of switches that are farther apart, or nearer */

struct moved {
	uint32_t at, sw;
	uint16_t before, now;
};

struct delta {
	struct route_proof *p;
	const struct verifier *old;
	struct verifier *new;
	const struct route_changes *changes;
	struct routes_blocks blocks; /* of `new` */
	struct routes_entry *entries; /* by LID */
	size_t n_entries, cap_entries;
	struct cable_moved {
		uint32_t end;	/* entry of topo->ports that leads elsewhere than before */
		uint32_t sw;	/* its switch */
		uint32_t was, now; /* what it led to, and does: as behind[] */
	} *cables;
	size_t n_cables, cap_cables;
	struct moved *moved;	/* by `at` */
	size_t *first_moved;	/* per switch + 1: its place in `moved` */
	size_t n_moved, cap_moved;
	uint32_t *stamp;	/* per switch: LID + 1 for which its entry differs */
	uint8_t *was, *now;	/* the same: its former value, and the new one */
	bool *seen;
	struct ports_in {
		uint32_t at;	/* switch + 1 */
		uint64_t ports[PORT_WORDS];
	} *ports_in;		/* per switch: by which paths to `at` may come, as found last */
	struct upstream {
		uint32_t sw, hops;
		uint8_t class;	/* of the port by which it comes to the first */
		uint8_t branch; /* that port */
	} *queue;		/* of the LID at hand; of each path the switch with 0 hops first */
	size_t n_queue, cap_queue;
	struct path {
		const struct verifier *j; /* the old one or the new one */
		uint32_t from;
		uint32_t sw;	/* as far as it was followed, by so many hops */
		uint32_t hops;
		uint32_t flow;	/* is added to the loads */
		uint32_t own;	/* so many of it are not to themselves */
		uint32_t with;	/* it goes on with path number `with` - 1; 0: alone */
		lid_t lid;
		bool is_done;
		bool is_noted;	/* are its dependencies? On one VL alone */
		uint64_t in[PORT_WORDS]; /* packets come to it by these ports */
	} *paths;		/* of the LID at hand: in twos, before and now */
	size_t n_paths, cap_paths;
	uint32_t *met;		/* per switch: the path that came there last, before and now */
	/* end ports of the old topo, of the new one */
	const struct topo_host *gone[HOSTS_MAX], *came[HOSTS_MAX];
	size_t n_gone, n_came;
	bool was_minimal;	/* every path from a source to an end port was a shortest one */
	uint32_t farthest;	/* hops: no source is farther away, as far as is known */
	const uint16_t *dist;	/* as they were, from the LID at hand */
	uint16_t *row;		/* the same of switch `row_of`, where some are others now */
	size_t cap_row;
	uint32_t row_of;
	struct check_worker *worker; /* NULL: none was needed yet */
	struct cdg_added added;	/* dependencies */
	struct cdg_walk *walk;
	uint32_t *order, *next; /* for the walk, as `ports`: of the path at hand */
	uint8_t *ports;
	/* per entry of topo->ports: paths that are others now came in by it, or left by it */
	bool *left_in, *left_out;
	bool turned;		/* some turns have other VLs than before */
	struct arena memory;
};

/*
 * Brings the distances up to date; keeps the changed ones. False: too many, or end ports that were
 * connected are not, or the other way round.
 */
bool delta_repair_distances(struct delta *d);
/* Distances from `at` as they were; until the next call. */
const uint16_t *delta_distances_before(struct delta *d, uint32_t at);

/*
 * Follows `n` paths to the end, which sets their hops: all of them step by step, and as one where
 * they meet. False: one has no end.
 */
bool delta_follow_paths(struct delta *d, struct path *paths, size_t n);
/* Does the path of `s` to the LID meet an entry that differs? A path that goes round does not. */
bool delta_meets(const struct delta *d, uint32_t s, lid_t lid);
/* Notes the ports of old paths: of `s`, and of the `n` upstream, which come over it. */
void delta_leave_paths(struct delta *d, const struct upstream *up, size_t n, uint32_t s, lid_t lid);
/* Of packets from `s` and the `n` upstream in new tables, which are known to arrive. */
void delta_add_dependencies(struct delta *d, const struct upstream *up, size_t n, uint32_t s,
			    lid_t lid);

/* Forgets the dependencies over a cable that is gone, or leads elsewhere. */
void delta_forget_cables(struct delta *d);
/* Does the graph have a turn on other VLs than the former scheme says? */
bool delta_has_moved_turn(const struct delta *d);
/*
 * Is the graph still acyclic? On several VLs it is without all former dependencies, after that.
 * False as well if there was a moved turn, and there is: a path that is not new may have it.
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

/* Does the entry at the other end of a cable lead over it? */
static inline bool sends_to(const struct delta *d, uint32_t behind, lid_t lid)
{
	const struct verifier *j = d->new;
	uint32_t v = behind >> 8;

	return !is_end(d, j, v, lid) && lid < j->topo->switches[v].lft_cap &&
	       routes_port(j->routes, v, lid) == (behind & 255);
}
