// SPDX-License-Identifier: BSD-2-Clause
/* Rows of a QoS policy for ports; the rule of a pair. */
#include "view/view_policy.h"

#include <assert.h>
#include <string.h>

#include "conf/qos/qos_policy.h"
#include "conf/qos/qos_rows.h"
#include "plan/pkey.h"
#include "view/view_sets.h"

const struct qos_policy *view_policy(const struct view *v)
{
	return conf_files_policy(v->files);
}

/* ---- ports ---------------------------------------------------------------------------------- */

static enum qos_type type_of(const struct view_node *n)
{
	if (n->type == IB_NODE_SWITCH)
		return QOS_TYPE_SWITCH;
	return n->type == IB_NODE_ROUTER ? QOS_TYPE_ROUTER : QOS_TYPE_CA;
}

struct qos_port view_policy_port(const struct view *v, uint32_t port)
{
	const struct view_port *p = &v->ports[port];
	const struct view_node *n = &v->nodes[p->node];
	const char *mapped = conf_names_find(conf_files_names(v->files), n->guid);

	return (struct qos_port){
		.guid = p->guid,
		.name = mapped ? mapped : n->desc,
		.num = p->num,
		.n_ports = n->n_ports,
		.type = type_of(n),
		.is_self = port == v->sm_port,
	};
}

struct policy_ports *policy_ports_new(const struct view *v)
{
	const struct qos_policy *policy = view_policy(v);
	_cleanup_free_ uint64_t *row = NULL;
	struct policy_ports *p;

	if (!policy)
		return NULL;
	p = xcalloc(1, sizeof(*p) + v->n_ports * sizeof(p->of_port[0]));
	p->words = 2 * policy->words;
	p->has_keys = qos_policy_has_pkeys(policy);
	p->rows = qos_rows_new(p->words);
	row = xcalloc(p->words, sizeof(*row));
	qos_rows_put(p->rows, row);
	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct qos_port port = view_policy_port(v, i);

		if (!v->ports[i].guid)
			continue;
		qos_policy_port(policy, &port, row);
		p->of_port[i] = qos_rows_put(p->rows, row);
	}
	p->first = qos_rows_at(p->rows, 0);
	return p;
}

struct policy_ports *policy_ports_free(struct policy_ports *p)
{
	if (p)
		qos_rows_free(p->rows);
	free(p);
	return NULL;
}

/* ---- P_Keys of a level --------------------------------------------------------------------- */

bool view_level_pkey(const struct view *v, const struct qos_level *level, uint32_t src,
		     uint32_t dst, uint16_t *ret)
{
	const struct pkey_set *a = view_pkeys(v, src), *b = view_pkeys(v, dst);
	bool found = false;

	for (unsigned i = 0; a && b && i < a->n; i++) {
		uint16_t pkey = partition_pkey(a->entries[i].order), forms = a->entries[i].forms;
		unsigned other = pkey_set_find(b, pkey);

		if (!other || !((forms | other) & PKEY_SET_FULL) ||
		    !qos_ranges_have(&level->pkeys, pkey))
			continue;
		if (!found || pkey < (*ret & PKEY_BASE))
			*ret = forms & PKEY_SET_FULL ? pkey | PKEY_FULL : pkey;
		found = true;
	}
	return found;
}

/* ---- documents ------------------------------------------------------------------------------ */

static bool key_in_group(const struct qos_group *g, uint16_t pkey, const struct partitions *parts)
{
	const struct partition *part = parts ? partitions_find(parts, pkey) : NULL;

	for (size_t i = 0; part && i < g->partitions.n; i++)
		if (!strcmp(g->partitions.items[i], part->name))
			return true;
	return qos_ranges_have(&g->pkeys, pkey);
}

bool view_port_in_group(const struct view *v, uint32_t port, const struct qos_group *g,
			const struct partitions *parts)
{
	const struct qos_port p = view_policy_port(v, port);
	const struct pkey_set *set = view_pkeys(v, port);
	bool found = qos_group_has(g, &p);

	for (unsigned i = 0; set && i < set->n && !found; i++)
		found = key_in_group(g, partition_pkey(set->entries[i].order), parts);
	return found;
}
