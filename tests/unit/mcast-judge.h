// SPDX-License-Identifier: BSD-2-Clause
/*
 * A judge of multicast trees that sends a packet from a member and follows the copies, in the
 * plainest way.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "route/mcast/mcast.h"
#include "util/mem.h"

static inline bool has_port(const struct mcast_row *row, unsigned port)
{
	return row && row->mask[port / 64] >> port % 64 & 1;
}

struct copies {
	const struct topo *t;
	const struct mcast_tree *tree;
	unsigned *visits;    /* per switch */
	unsigned *delivered; /* per entry of topo->ports */
};

/* Follows copies from `sw`, where the packet came in by `in`; false: a switch was met twice. */
static inline bool follow(struct copies *c, uint32_t sw, unsigned in)
{
	const struct mcast_row *row = mcast_tree_find(c->tree, c->t->switches[sw].guid);

	if (c->visits[sw]++)
		return false;
	for (unsigned p = 0; row && p <= c->t->switches[sw].n_ports; p++) {
		const struct topo_port *port = topo_port(c->t, sw, p);

		if (!has_port(row, p) || p == in)
			continue;
		if (p == 0 || port->sw == TOPO_NONE)
			c->delivered[c->t->switches[sw].first_port + p]++;
		else if (!follow(c, port->sw, port->port))
			return false;
	}
	return true;
}

static inline size_t n_port_entries(const struct topo *t)
{
	return t->n_switches ? t->switches[t->n_switches - 1].first_port +
				       t->switches[t->n_switches - 1].n_ports + 1u
			     : 1;
}

/* Is `m` heard by exactly the receivers among `members` (all reachable), once each? */
static inline bool heard_right(const struct topo *t, const struct mcast_tree *tree,
			const struct mcast_member *m, const struct mcast_member *members,
			uint32_t n)
{
	size_t n_ports = n_port_entries(t);
	_cleanup_free_ unsigned *visits = xcalloc(t->n_switches, sizeof(*visits));
	_cleanup_free_ unsigned *delivered = xcalloc(n_ports, sizeof(*delivered));
	_cleanup_free_ unsigned *expected = xcalloc(n_ports, sizeof(*expected));
	struct copies c = { .t = t, .tree = tree, .visits = visits, .delivered = delivered };

	for (uint32_t i = 0; i < n; i++)
		if (members[i].receive)
			expected[t->switches[members[i].sw].first_port + members[i].port] = 1;
	expected[t->switches[m->sw].first_port + m->port] = 0;
	return follow(&c, m->sw, m->port) &&
	       !memcmp(expected, delivered, n_ports * sizeof(*expected));
}
