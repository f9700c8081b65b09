// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces names in qos-policy.conf by indexes, appends the rules of qos-ulps to the others, and
 * makes sure that there is a default level (qos.md 3.4 to 3.6).
 */
#include <string.h>
#include <strings.h>

#include "conf/qos/qos_internal.h"
#include "util/bisect.h"

#define DEFAULT_NAME "default"
#define CLASS_MAX    0xFFFu /* QoSClass has 12 bits */

/* A name and its place in the file; sorted without regard to case. */
struct named {
	const char *name;
	uint32_t at;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcasecmp(x->name, y->name);

	return order ? order : COMPARE(x->at, y->at);
}

static uint32_t find_named(const struct named *names, size_t n, const char *name)
{
	size_t at = BISECT(i, 0, n, strcasecmp(names[i].name, name) < 0);

	return at < n && !strcasecmp(names[at].name, name) ? names[at].at : UINT32_MAX;
}

struct names {
	struct named *groups, *levels;
	size_t n_groups, n_levels;
};

/* Sorts the names, and reports duplicates, of which the first holds. */
static void sort_names(struct parser *p, struct named *names, size_t n,
		       const struct conf_place *places, const char *what)
{
	char quoted[CONF_QUOTE_MAX];

	qsort(names, n, sizeof(*names), compare_named);
	for (size_t i = 1; i < n; i++)
		if (!strcasecmp(names[i - 1].name, names[i].name))
			conf_report_at(p->report, CONF_WARNING, &places[names[i].at],
				       "a second %s %s; that of line %u counts", what,
				       conf_quote(names[i].name, strlen(names[i].name), quoted),
				       places[names[i - 1].at].line);
}

static void collect_names(struct parser *p, struct names *ret)
{
	const struct qos_policy *q = p->policy;

	*ret = (struct names){ xcalloc(q->n_groups + 1u, sizeof(struct named)),
			       xcalloc(q->n_levels + 1u, sizeof(struct named)), 0, 0 };
	for (uint32_t i = 0; i < q->n_groups; i++)
		if (q->groups[i].name)
			ret->groups[ret->n_groups++] = (struct named){ q->groups[i].name, i };
	for (uint32_t i = 0; i < q->n_levels; i++)
		if (q->levels[i].name)
			ret->levels[ret->n_levels++] = (struct named){ q->levels[i].name, i };
	sort_names(p, ret->groups, ret->n_groups, p->group_at, "port group");
	sort_names(p, ret->levels, ret->n_levels, p->level_at, "level");
}

/* ---- rules ---------------------------------------------------------------------------------- */

static void resolve_groups(struct parser *p, const struct names *names,
			   const struct qos_strings *from, const struct conf_place *at,
			   struct qos_list *ret)
{
	char quoted[CONF_QUOTE_MAX];

	for (size_t i = 0; i < from->n; i++) {
		const char *name = from->items[i];
		uint32_t group = find_named(names->groups, names->n_groups, name);

		if (group == UINT32_MAX)
			conf_report_at(p->report, CONF_ERROR, at,
				       "%s is no port group, expected the name: of a port-group",
				       conf_quote(name, strlen(name), quoted));
		GROW(ret->items, ret->n + 1, ret->cap);
		ret->items[ret->n++] = group;
	}
}

static void resolve_level(struct parser *p, const struct names *names, struct raw_rule *raw)
{
	char quoted[CONF_QUOTE_MAX];

	if (!raw->level)
		return;
	raw->rule.level = find_named(names->levels, names->n_levels, raw->level);
	if (raw->rule.level == UINT32_MAX)
		conf_report_at(p->report, CONF_ERROR, &raw->level_at,
			       "%s is no level, expected the name: of a qos-level",
			       conf_quote(raw->level, strlen(raw->level), quoted));
}

/* Warns of a rule whose classes no request can have. */
static void warn_of_classes(struct parser *p, const struct raw_rule *raw)
{
	const struct qos_ranges *r = &raw->rule.classes;

	if (r->n && r->items[r->n - 1].last > CLASS_MAX)
		conf_report_at(p->report, CONF_WARNING, &raw->at,
			       "qos-class: of this rule goes beyond %u, the highest that a request "
			       "can carry",
			       CLASS_MAX);
}

static void resolve_rule(struct parser *p, const struct names *names, struct raw_rule *raw)
{
	resolve_level(p, names, raw);
	resolve_groups(p, names, &raw->sources, &raw->sources_at, &raw->rule.sources);
	resolve_groups(p, names, &raw->destinations, &raw->destinations_at,
		       &raw->rule.destinations);
	warn_of_classes(p, raw);
}

static void order_rules(struct parser *p)
{
	struct qos_policy *q = p->policy;

	q->rules = xcalloc(p->n_rules + p->n_ulps + 1, sizeof(*q->rules));
	for (size_t i = 0; i < p->n_rules; i++)
		q->rules[q->n_rules++] = p->rules[i].rule;
	for (size_t i = 0; i < p->n_ulps; i++)
		q->rules[q->n_rules++] = p->ulps[i].rule;
	q->words = MAX((q->n_rules + 63) / 64, 1u);
	if (q->n_rules > QOS_RULES_MAX)
		conf_report_add(p->report, CONF_ERROR, q->file, q->rules[QOS_RULES_MAX].line, 0,
				"found %u rules and lines of qos-ulps, expected %u at most",
				q->n_rules, QOS_RULES_MAX);
}

/* ---- the default level ----------------------------------------------------------------------- */

static void find_default(struct parser *p, const struct names *names)
{
	struct qos_policy *q = p->policy;

	q->default_level = find_named(names->levels, names->n_levels, DEFAULT_NAME);
	if (q->default_level != UINT32_MAX) {
		if (p->has_ulp_default)
			conf_report_at(p->report, CONF_WARNING, &p->ulp_default_at,
				       "the default of qos-ulps does not count: the level "
				       "\"default\" of line %u does",
				       q->levels[q->default_level].line);
		return;
	}
	if (p->has_ulp_default) {
		parse_add_level(p, &p->ulp_default_at)->sl = p->ulp_default;
		q->default_level = q->n_levels - 1;
		return;
	}
	conf_report_add(p->report, CONF_ERROR, q->file, p->lex.line, 0,
			"found no default level, expected a qos-level with \"name: default\" or a "
			"line \"default : SL\" in qos-ulps");
}

static void tell_setup(struct parser *p)
{
	const struct qos_policy *q = p->policy;

	if (q->n_vlarbs || q->n_sl2vls)
		conf_report_at(p->report, CONF_WARNING, &p->setup_at,
			       "the %u tables of qos-setup are not applied; qos_*vlarb_* and "
			       "qos_*sl2vl of opensm.conf set up VLs",
			       q->n_vlarbs + q->n_sl2vls);
}

static void sum_levels(struct parser *p)
{
	struct qos_policy *q = p->policy;

	for (uint32_t i = 0; i < q->n_levels; i++) {
		const struct qos_level *l = &q->levels[i];

		q->has_level_pkeys |= l->pkeys.n > 0;
		q->sls |= (uint16_t)(1u << l->sl);
		if (l->path_bits.n)
			conf_report_add(p->report, CONF_WARNING, q->file, l->line, 0,
					"path-bits: of this level is not applied; hosts are told "
					"of the paths to all LIDs of a port");
	}
}

void resolve_names(struct parser *p)
{
	struct names names;

	collect_names(p, &names);
	for (size_t i = 0; i < p->n_rules; i++)
		resolve_rule(p, &names, &p->rules[i]);
	order_rules(p);
	find_default(p, &names);
	sum_levels(p);
	tell_setup(p);
	free(names.groups);
	free(names.levels);
}
