// SPDX-License-Identifier: BSD-2-Clause
/*
 * The differences between the fabric of the previous routes and the fabric now, as far as they
 * matter for routing.
 *
 * A pair (switch, target switch) is *moved* when the set of shortest paths between them may have
 * changed. Of a pair that is not moved every entry may stay unseen; of one that is, each entry is
 * looked at: it stays while it is minimal, unless the path that is wanted for it is *new*, that is,
 * was no shortest path before. So a repaired cable gets back its entries, and nothing else moves.
 *
 * A destination is *known* when its LID was that of the same port before, or unassigned: what
 * previous tables say about the LID is then about this place, or harmless.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/graph.h"
#include "route/core/routes.h"
#include "route/tree/dmodk.h"

/* LIDs of a new port: destinations first .. first + n - 1, on switch `at`. */
struct change_newcomer {
	uint32_t first, n, at;
};

struct change {
	const struct routes *previous;     /* borrowed */
	uint32_t *previous_sw;             /* per switch: its row in previous, or TOPO_NONE */
	bool *known;                       /* by destination: set if its LID is known */
	/* by destination: set if the same port had the LID before */
	bool *same;
	struct change_newcomer *newcomers; /* destinations that are not `same` */
	uint32_t n_newcomers;
	/* set if the previous routes have distances, so that `moved` is exact */
	bool compares;
	/* set if an entry may stay although another path is preferred */
	bool keeps;
	/* set if a cable is new */
	bool gains;
	uint32_t n, words;
	uint64_t *moved; /* bits: row of `words` words by switch, a bit by target */
	struct arena memory;
};

/*
 * Compares; `hops`, `downs` (NULL: the graph is not oriented) are of the new routes. `keep` false:
 * nothing is known and all is moved; only entries of unassigned LIDs stay. The caller frees; all
 * arguments must live longer.
 */
struct change *change_new(const struct graph *g, const struct dmodk *spread, const uint8_t *hops,
			  const uint64_t *downs, const struct routes *previous, bool keep);
struct change *change_free(struct change *c);

static inline bool change_moved(const struct change *c, uint32_t sw, uint32_t target)
{
	return c->moved[(size_t)sw * c->words + target / 64] >> target % 64 & 1;
}

/*
 * Is the path by `port` of `sw`, of cost `weight`, new for a moved pair? False if no cable is new,
 * and if the previous distances are not known.
 */
bool change_is_new_way(const struct change *c, const struct topo *now, uint32_t sw, uint8_t port,
		       uint8_t weight, uint32_t target);
