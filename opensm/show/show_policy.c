// SPDX-License-Identifier: BSD-2-Clause
/*
 * The QoS policy in force: levels, rules with what each has decided, groups; and of one path which
 * rule decides and which others match.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/codes.h"
#include "sa/sa.h"
#include "show/show_internal.h"
#include "util/mem.h"
#include "view/path_walk.h"
#include "view/view_policy.h"

enum control_collected show_policy_collect(void *snapshot, const struct daemon_api *api,
					   struct control_error *err)
{
	struct show *s = snapshot;
	const struct qos_policy *p = view_policy(s->answers);
	const uint64_t *decided;

	if (show_collect(s, api, err) == CONTROL_MORE)
		return CONTROL_MORE;
	decided = p ? sa_rules_decided(sm_sa(api->sm), p) : NULL;
	if (!decided)
		return CONTROL_COLLECTED;
	s->n_rows = p->n_rules + 1u;
	s->rows = xmemdup(decided, s->n_rows * sizeof(*decided));
	return CONTROL_COLLECTED;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void append_ranges(struct json_object *array, const struct qos_ranges *r)
{
	char text[48];

	for (size_t i = 0; i < r->n; i++) {
		if (r->items[i].first == r->items[i].last)
			snprintf(text, sizeof(text), "0x%" PRIx64, r->items[i].first);
		else
			snprintf(text, sizeof(text), "0x%" PRIx64 "-0x%" PRIx64, r->items[i].first,
				 r->items[i].last);
		json_append_str(array, text);
	}
}

static struct json_object *ranges_of(const struct qos_ranges *r)
{
	struct json_object *array = json_object_new_array();

	append_ranges(array, r);
	return array;
}

/* Groups by name, or the GUIDs of a line of qos-ulps. */
static struct json_object *groups_of(const struct qos_policy *p, const struct qos_list *list)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < list->n; i++) {
		const struct qos_group *g = &p->groups[list->items[i]];

		if (g->name)
			json_append_str(array, g->name);
		else
			append_ranges(array, &g->guids);
	}
	return array;
}

#define LEVEL_FIELDS(F)                                                                            \
	F("line", INT, l->line)                                                                    \
	F("name", OPT(STR), l->name)                                                               \
	F("use", OPT(STR), l->use)                                                                 \
	F("sl", INT, l->sl)                                                                        \
	F("mtu", IF(l->mtu, INT), ib_mtu_bytes(l->mtu))                                            \
	F("gbps", IF(l->rate, TENTHS), ib_rate_bandwidth(l->rate))                                 \
	F("life", IF(l->has_life, INT), l->life)                                                   \
	F("pkeys", IF(l->pkeys.n, OF("[]string")), ranges_of(&l->pkeys))

static const struct json_field level_fields[] = FIELDS_TABLE(LEVEL_FIELDS);

static struct json_object *level_of(const struct qos_level *l)
{
	return FIELDS_NEW(LEVEL_FIELDS);
}

#define RULE_FIELDS(F)                                                                             \
	F("line", INT, r->line)                                                                    \
	F("use", OPT(STR), r->use)                                                                 \
	F("level", OPT(STR), p->levels[r->level].name)                                             \
	F("sl", INT, p->levels[r->level].sl)                                                       \
	F("sources", IF(r->sources.n, OF("[]string")), groups_of(p, &r->sources))                  \
	F("destinations", IF(r->destinations.n, OF("[]string")), groups_of(p, &r->destinations))   \
	F("qos_classes", IF(r->classes.n, OF("[]string")), ranges_of(&r->classes))                 \
	F("service_ids", IF(r->services.n, OF("[]string")), ranges_of(&r->services))               \
	F("pkeys", IF(r->pkeys.n, OF("[]string")), ranges_of(&r->pkeys))

static const struct json_field rule_fields[] = FIELDS_TABLE(RULE_FIELDS);

static struct json_object *rule_of(const struct qos_policy *p, uint32_t rule)
{
	const struct qos_rule *r = &p->rules[rule];

	return FIELDS_NEW(RULE_FIELDS);
}

/* ---- the policy ----------------------------------------------------------------------------- */

/* Behind a rule or a level: how often it decided. */
#define DECIDED_FIELDS(F) F("decided", INT, decided ? decided[at] : 0)

static const struct json_field counted_rule_fields[] = { RULE_FIELDS(FIELD_ROW)
								 DECIDED_FIELDS(FIELD_ROW){ 0 } };
static const struct json_field counted_level_fields[] = { LEVEL_FIELDS(FIELD_ROW)
								  DECIDED_FIELDS(FIELD_ROW){ 0 } };

/* Adds the count of rule number `at`, the default level behind the rules, to `o`. */
static struct json_object *counted(struct json_object *o, const uint64_t *decided, uint32_t at)
{
	FIELDS_PUT(DECIDED_FIELDS);
	return o;
}

static struct json_object *port_name(const struct qos_group *g, size_t i)
{
	_cleanup_free_ char *text = xasprintf("%s/P%u", g->names[i].desc, g->names[i].port);

	return json_object_new_string(text);
}

static int64_t ports_of(const struct show *s, const struct qos_group *g)
{
	struct path_ends ends = path_map_ends(s->answers->paths);
	int64_t n = 0;

	for (uint32_t i = 0; i < ends.n; i++)
		if (view_port_in_group(s->answers, ends.ports[i], g, s->partitions))
			n++;
	return n;
}

/* The last two are names of ports and partitions that define the group. */
#define GROUP_FIELDS(F)                                                                            \
	F("line", INT, g->line)                                                                    \
	F("name", STR, g->name)                                                                    \
	F("use", OPT(STR), g->use)                                                                 \
	F("ports", INT, ports_of(s, g))                                                            \
	F("port_guids", IF(g->guids.n, OF("[]string")), ranges_of(&g->guids))                      \
	F("pkeys", IF(g->pkeys.n, OF("[]string")), ranges_of(&g->pkeys))                           \
	F("port_names", IF(g->n_names, OF("[]string")), JSON_LIST(g->n_names, port_name(g, i)))    \
	F("partitions", IF(g->partitions.n, OF("[]string")),                                       \
	  JSON_LIST(g->partitions.n, json_object_new_string(g->partitions.items[i])))

static const struct json_field group_fields[] = FIELDS_TABLE(GROUP_FIELDS);

static struct json_object *group_of(const struct show *s, const struct qos_group *g)
{
	return FIELDS_NEW(GROUP_FIELDS);
}

/* Levels and groups with names; those of a line of qos-ulps have none. */
static struct json_object *named_levels(const struct qos_policy *p)
{
	struct json_object *levels = json_object_new_array();

	for (uint32_t i = 0; i < p->n_levels; i++)
		if (p->levels[i].name)
			json_object_array_add(levels, level_of(&p->levels[i]));
	return levels;
}

static struct json_object *named_groups(const struct show *s, const struct qos_policy *p)
{
	struct json_object *groups = json_object_new_array();

	for (uint32_t i = 0; i < p->n_groups; i++)
		if (p->groups[i].name)
			json_object_array_add(groups, group_of(s, &p->groups[i]));
	return groups;
}

#define POLICY_FIELDS(F)                                                                           \
	F("file", STR, p->file)                                                                    \
	F("rules", LIST(counted_rule_fields),                                                      \
	  JSON_LIST(p->n_rules, counted(rule_of(p, i), decided, i)))                               \
	F("levels", LIST(level_fields), named_levels(p))                                           \
	F("groups", LIST(group_fields), named_groups(s, p))                                        \
	F("default", OBJECT(counted_level_fields),                                                 \
	  counted(level_of(&p->levels[p->default_level]), decided, p->n_rules))                    \
	F("tables_not_applied", INT, p->n_vlarbs + p->n_sl2vls)

const struct json_field show_policy_fields[] = FIELDS_TABLE(POLICY_FIELDS);

struct json_object *show_policy(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	const struct qos_policy *p = view_policy(s->answers);
	const uint64_t *decided = s->rows;

	if (!s->answers->conf->qos)
		return control_fail(err, "NotFound", "qos is FALSE: no QoS policy is read");
	if (!p)
		return control_fail(err, "NotFound",
				    "no QoS policy is in force: the file %.200s "
				    "is missing, or has errors",
				    s->answers->conf->qos_policy_file
					    ? s->answers->conf->qos_policy_file
					    : "(none)");
	return FIELDS_NEW(POLICY_FIELDS);
}

/* ---- of one path ---------------------------------------------------------------------------- */

static bool read_word(const char *word, const char *what, uint64_t most, uint64_t *ret,
		      struct control_error *err)
{
	*ret = 0;
	if (!*word || show_number(word, most, ret))
		return true;
	control_fail(err, "InvalidParameter", "%s '%.40s' is no number up to 0x%" PRIx64, what,
		     word, most);
	return false;
}

bool show_policy_request(const struct show *s, struct qos_request *ret, struct control_error *err)
{
	const char *service = s->word[2], *class = s->word[3], *pkey = s->word[4];
	uint64_t c, k;

	*ret = (struct qos_request){ .has_service = *service,
				     .has_class = *class,
				     .has_pkey = *pkey };
	if (!read_word(service, "service id", UINT64_MAX, &ret->service, err) ||
	    !read_word(class, "QoS class", 0xFFF, &c, err) ||
	    !read_word(pkey, "P_Key", 0xFFFF, &k, err))
		return false;
	ret->class = (uint16_t)c;
	ret->pkey = (uint16_t)k;
	return true;
}

/* The next rule behind `rule` that matches; QOS_NO_RULE: there are no more. */
static uint32_t next_match(const struct qos_policy *p, const struct qos_asked *asked,
			   const struct qos_ends *ends, uint32_t rule)
{
	return rule + 1 < p->n_rules ? qos_policy_match(p, asked, ends, rule + 1) : QOS_NO_RULE;
}

#define DECISION_FIELDS(F)                                                                         \
	F("file", STR, p->file)                                                                    \
	F("rule", IF(rule != QOS_NO_RULE, OBJECT(rule_fields)), rule_of(p, rule))                  \
	F("level", OBJECT(level_fields), level_of(*ret_level))                                     \
	F("also_match", LIST(rule_fields), others)

const struct json_field show_decision_fields[] = FIELDS_TABLE(DECISION_FIELDS);

struct json_object *show_policy_decision(const struct view *v, const struct qos_request *rq,
					 uint32_t src, uint32_t dst,
					 const struct qos_level **ret_level)
{
	const struct qos_policy *p = view_policy(v);
	struct json_object *others;
	struct qos_asked asked;
	struct qos_ends ends;
	uint32_t rule;

	*ret_level = NULL;
	if (!p)
		return NULL;
	asked = qos_policy_ask(p, rq);
	view_policy_ends(v, src, dst, &ends);
	rule = qos_policy_match(p, &asked, &ends, 0);
	others = json_object_new_array();
	for (uint32_t i = rule; i != QOS_NO_RULE;) {
		i = next_match(p, &asked, &ends, i);
		if (i != QOS_NO_RULE)
			json_object_array_add(others, rule_of(p, i));
	}
	*ret_level = qos_policy_level(p, rule);
	return FIELDS_NEW(DECISION_FIELDS);
}
