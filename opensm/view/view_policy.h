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

#include "conf/qos/qos_policy.h"
#include "view/view.h"

/* NULL: no policy is in force. */
const struct qos_policy *view_policy(const struct view *v);
/* The policy's description of an end port: but for its P_Keys. */
struct qos_port view_policy_port(const struct view *v, uint32_t port);
/*
 * Is the end port in a group of the policy, P_Keys included (`parts`: partitions by name; NULL:
 * none)? Slow: for documents.
 */
bool view_port_in_group(const struct view *v, uint32_t port, const struct qos_group *g,
			const struct partitions *parts);
/*
 * The first rule from `from` on for a path between two end ports; QOS_NO_RULE: the default level
 * counts. There is a policy, and `asked` is of it.
 */
uint32_t view_policy_rule(const struct view *v, const struct qos_asked *asked, uint32_t src,
			  uint32_t dst, uint32_t from);
/* The lowest P_Key of the level that the ports share, with the membership bit of `src`. */
bool view_level_pkey(const struct view *v, const struct qos_level *level, uint32_t src,
		     uint32_t dst, uint16_t *ret);

/* ---- for view.c ---------------------------------------------------------------------------- */

/* NULL: no policy. All ports of `v` are there. */
struct policy_ports *policy_ports_new(const struct view *v);
struct policy_ports *policy_ports_free(struct policy_ports *p);
