// SPDX-License-Identifier: BSD-2-Clause
/*
 * The QoS policy (conf/qos/qos_policy.h) on the ports of a view: which rules allow a port as a
 * source and as a destination.
 *
 *   by GUID, name, type   a row of each port; made with a root view, shared by those derived of it
 *   by P_Key              a row of each set of P_Keys (view_sets.h), made when the set is new
 *
 * A port's rules are those of both rows: when P_Keys of one port change, nothing else is made anew.
 */
#pragma once

#include <assert.h>

#include "conf/qos/qos_policy.h"
#include "view/view.h"
#include "view/view_sets.h"

/* The policy in force; NULL: none. */
const struct qos_policy *view_policy(const struct view *v);
/* The description of an end port for the policy, without P_Keys. */
struct qos_port view_policy_port(const struct view *v, uint32_t port);
/*
 * Is the end port in a group of the policy, P_Keys included? `parts`: partitions by name; NULL:
 * none. Slow: for documents.
 */
bool view_port_in_group(const struct view *v, uint32_t port, const struct qos_group *g,
			const struct partitions *parts);
/* The lowest P_Key of the level that the ports share, with the membership bit of `src`. */
bool view_level_pkey(const struct view *v, const struct qos_level *level, uint32_t src,
		     uint32_t dst, uint16_t *ret);

/* ---- rows ---------------------------------------------------------------------------------- */

/* Rows by GUID, name and type. */
struct policy_ports {
	struct qos_rows *rows;
	const uint64_t *first; /* row 0; further rows follow */
	unsigned words;	       /* words of a row */
	bool has_keys;	       /* set if ports have rows by their P_Keys, too */
	uint32_t of_port[];    /* index of the row, by end port */
};

/* Fills in the rows of two end ports, valid as long as the view. There must be a policy. */
static inline void view_policy_ends(const struct view *v, uint32_t src, uint32_t dst,
				    struct qos_ends *ret)
{
	const struct policy_ports *p = v->policy;

	assert(p && src < v->n_ports && dst < v->n_ports);
	ret->src[0] = &p->first[(size_t)p->of_port[src] * p->words];
	ret->dst[0] = &p->first[(size_t)p->of_port[dst] * p->words];
	ret->src[1] = p->has_keys ? view_sets_row(v->sets, src) : NULL;
	ret->dst[1] = p->has_keys ? view_sets_row(v->sets, dst) : NULL;
}

/* ---- for view.c ---------------------------------------------------------------------------- */

/* Makes the rows of all ports of `v`; NULL: no policy. */
struct policy_ports *policy_ports_new(const struct view *v);
struct policy_ports *policy_ports_free(struct policy_ports *p);
