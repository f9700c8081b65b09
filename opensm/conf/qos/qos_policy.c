// SPDX-License-Identifier: BSD-2-Clause
/* The life of a struct qos_policy. */
#include "conf/qos/qos_policy.h"

#include "conf/qos/qos_internal.h"

struct qos_policy *qos_policy_ref(const struct qos_policy *p)
{
	struct qos_policy *policy = as_owner(p);

	if (policy)
		atomic_fetch_add_explicit(&policy->refs, 1, memory_order_relaxed);
	return policy;
}

static void free_strings(struct qos_strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[i]);
	free(s->items);
}

static void free_groups(struct qos_policy *p)
{
	for (uint32_t i = 0; i < p->n_groups; i++) {
		struct qos_group *g = &p->groups[i];

		for (size_t k = 0; k < g->n_names; k++)
			free(g->names[k].desc);
		free(g->names);
		free(g->name);
		free(g->use);
		free(g->guids.items);
		free(g->pkeys.items);
		free_strings(&g->partitions);
	}
	free(p->groups);
}

static void free_levels(struct qos_policy *p)
{
	for (uint32_t i = 0; i < p->n_levels; i++) {
		free(p->levels[i].name);
		free(p->levels[i].use);
		free(p->levels[i].pkeys.items);
		free(p->levels[i].path_bits.items);
	}
	free(p->levels);
}

static void free_rules(struct qos_policy *p)
{
	for (uint32_t i = 0; i < p->n_rules; i++) {
		struct qos_rule *r = &p->rules[i];

		free(r->use);
		free(r->sources.items);
		free(r->destinations.items);
		free(r->classes.items);
		free(r->services.items);
		free(r->pkeys.items);
	}
	free(p->rules);
}

static void free_setup(struct qos_policy *p)
{
	for (uint32_t i = 0; i < p->n_vlarbs; i++) {
		free_strings(&p->vlarbs[i].groups);
		free_strings(&p->vlarbs[i].across);
		free(p->vlarbs[i].high.items);
		free(p->vlarbs[i].low.items);
	}
	for (uint32_t i = 0; i < p->n_sl2vls; i++) {
		free_strings(&p->sl2vls[i].groups);
		free_strings(&p->sl2vls[i].across_from);
		free_strings(&p->sl2vls[i].across_to);
		free(p->sl2vls[i].from.items);
		free(p->sl2vls[i].to.items);
	}
	free(p->vlarbs);
	free(p->sl2vls);
}

struct qos_policy *qos_policy_unref(const struct qos_policy *shared)
{
	struct qos_policy *p = as_owner(shared);

	if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1)
		return NULL;
	free_groups(p);
	free_levels(p);
	free_rules(p);
	free_setup(p);
	index_free(p->index);
	free(p->file);
	free(p);
	return NULL;
}
