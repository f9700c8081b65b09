// SPDX-License-Identifier: BSD-2-Clause
/* Compares two fabrics: cables of switches, hops between them, ports of LIDs. Chooses nothing. */
#include "route/tree/change.h"

#include <assert.h>
#include <string.h>

#include "route/core/unassigned.h"
#include "util/mem.h"

#define HOPS_CAPPED 0xFE /* that many hops or more */

/* ---- destinations ------------------------------------------------------------------------ */

/* Was no LID of the port assigned? `owners`: by LID of the previous tables (unassigned.h). */
static bool was_unassigned(const struct change *c, const uint32_t *owners, lid_t base, uint8_t lmc)
{
	for (uint32_t lid = base; lid < base + (1u << lmc); lid++)
		if (lid <= c->previous->top && owners[lid] != TOPO_NONE)
			return false;
	return true;
}

static bool is_same_host(const struct change *c, const struct topo_host *now, guid_t sw)
{
	const struct topo *before = c->previous->topo;
	uint32_t b = topo_find_host(before, now->guid);
	const struct topo_host *was = b == TOPO_NONE ? NULL : &before->hosts[b];

	return was && was->sw != TOPO_NONE && was->lid == now->lid && was->lmc == now->lmc &&
	       before->switches[was->sw].guid == sw;
}

/*
 * Sets known[] and same[] of the first LID of a port of switch `u` (`host` NULL: the switch
 * itself); its other LIDs get the same values.
 */
static void find_known_port(struct change *c, const uint32_t *owners, const struct topo_switch *sw,
			    const struct topo_host *host, uint32_t u, uint32_t dest)
{
	const struct topo_switch *was = c->previous_sw[u] == TOPO_NONE
			? NULL : &c->previous->topo->switches[c->previous_sw[u]];

	c->same[dest] = host ? is_same_host(c, host, sw->guid)
			     : was && was->lid == sw->lid && was->lmc == sw->lmc;
	c->known[dest] = c->same[dest] || was_unassigned(c, owners, host ? host->lid : sw->lid,
						      host ? host->lmc : sw->lmc);
}

static void add_newcomer(struct change *c, uint32_t dest, uint32_t at, bool same_port)
{
	if (same_port)
		c->newcomers[c->n_newcomers - 1].n++;
	else
		c->newcomers[c->n_newcomers++] =
			(struct change_newcomer){ .first = dest, .n = 1, .at = at };
}

static void find_known(struct change *c, const struct topo *now, const struct dmodk *s)
{
	_cleanup_free_ uint32_t *owners =
		unassigned_owners(c->previous->topo, c->previous->top);

	for (uint32_t u = 0; u < now->n_switches; u++)
		for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++) {
			if (s->hot[i].offset) {
				c->known[i] = c->known[i - 1];
				c->same[i] = c->same[i - 1];
			} else if (c->keeps) {
				find_known_port(c, owners, &now->switches[u],
						s->host[i] == TOPO_NONE ? NULL
									: &now->hosts[s->host[i]],
						u, i);
			}
			if (!c->same[i])
				add_newcomer(c, i, u, s->hot[i].offset);
		}
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* Marks pairs whose distance changed as bits, and sets differs[sw] for switches with such pairs. */
static void compare_hops(const struct change *c, const uint8_t *hops, const uint64_t *downs,
			 uint64_t *bits, bool *differs)
{
	const struct routes *p = c->previous;
	uint32_t n_before = p->topo->n_switches;

	for (uint32_t x = 0; x < c->n; x++) {
		uint32_t was = c->previous_sw[x];
		const uint8_t *before = was == TOPO_NONE ? NULL : p->hops + (size_t)was * n_before;
		const uint8_t *now = hops + (size_t)x * c->n;

		for (uint32_t s = 0; s < c->n; s++) {
			uint32_t row = c->previous_sw[s];

			if (before && row != TOPO_NONE && before[row] == now[s] &&
			    now[s] != HOPS_CAPPED &&
			    (p->downs && hops_go_down(p->downs, n_before, row, was)) ==
				    (downs && hops_go_down(downs, c->n, s, x)))
				continue;
			bits[(size_t)s * c->words + x / 64] |= UINT64_C(1) << x % 64;
			differs[s] = true;
		}
	}
}

/* Also sets c->gains. */
static bool cables_differ(struct change *c, const struct topo *now, uint32_t sw)
{
	const struct topo *before = c->previous->topo;
	uint32_t b = c->previous_sw[sw];
	unsigned ports = now->switches[sw].n_ports;
	bool differ;

	if (b == TOPO_NONE) {
		c->gains = true;
		return true;
	}
	differ = before->switches[b].n_ports != ports ||
		 before->switches[b].lft_cap != now->switches[sw].lft_cap;
	for (unsigned p = 1; p <= ports; p++) {
		const struct topo_port *new = topo_port(now, sw, p);
		const struct topo_port *old =
			p <= before->switches[b].n_ports ? topo_port(before, b, p) : NULL;

		c->gains |= topo_port_loops(new) && !(old && topo_port_loops(old));
		if (new->sw == TOPO_NONE) {
			differ |= old && old->sw != TOPO_NONE;
		} else if (!topo_had_cable(now, before, c->previous_sw, sw, p)) {
			c->gains = true;
			differ = true;
		}
	}
	return differ;
}

static void find_moved(struct change *c, const struct graph *g, const uint8_t *hops,
		       const uint64_t *downs)
{
	_cleanup_free_ uint64_t *bits = xcalloc((size_t)c->n * c->words, sizeof(*bits));
	_cleanup_free_ bool *differs = xcalloc(c->n, sizeof(*differs));
	size_t row = c->words * sizeof(*bits);

	if (c->compares && c->keeps)
		compare_hops(c, hops, downs, bits, differs);
	for (uint32_t s = 0; s < c->n; s++) {
		uint64_t *moved = c->moved + (size_t)s * c->words;

		if (cables_differ(c, g->topo, s) || !c->compares || !c->keeps) {
			memset(moved, 0xFF, row);
			continue;
		}
		memcpy(moved, bits + (size_t)s * c->words, row);
		GRAPH_EACH(g, s, edge) {
			for (uint32_t w = 0; w < c->words && differs[edge->to]; w++)
				moved[w] |= bits[(size_t)edge->to * c->words + w];
		}
	}
}

bool change_is_new_way(const struct change *c, const struct topo *now, uint32_t sw, uint8_t port,
		       uint8_t weight, uint32_t target)
{
	const struct topo *before = c->previous->topo;
	uint32_t b = c->previous_sw[sw], to = c->previous_sw[target];
	const uint8_t *hops;

	if (!c->gains || !c->compares || b == TOPO_NONE || to == TOPO_NONE)
		return false;
	if (!topo_had_cable(now, before, c->previous_sw, sw, port))
		return true;
	hops = c->previous->hops + (size_t)to * before->n_switches;
	return hops[b] < HOPS_CAPPED && hops[topo_port(before, b, port)->sw] + weight != hops[b];
}

struct change *change_new(const struct graph *g, const struct dmodk *spread, const uint8_t *hops,
			  const uint64_t *downs, const struct routes *previous, bool keep)
{
	struct change *c = xcalloc(1, sizeof(*c));
	const struct topo *now = g->topo;

	assert(spread && hops && previous);
	c->previous = previous;
	c->keeps = keep;
	/* Without them it is unknown how the previous paths were chosen. */
	c->compares = previous->hops && previous->options;
	c->n = g->n;
	c->words = (g->n + 63) / 64;
	c->previous_sw = arena_keep(&c->memory, topo_match_switches(now, previous->topo));
	ARENA_ARRAYS(&c->memory, spread->n, c->known, c->same, c->newcomers);
	ARENA_ARRAY(&c->memory, c->moved, (size_t)c->n * c->words);
	find_known(c, now, spread);
	find_moved(c, g, hops, downs);
	return c;
}

ARENA_FREE(change_free, struct change)
