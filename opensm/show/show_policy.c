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

static void put_ranges(struct json_object *o, const char *key, const struct qos_ranges *r)
{
	if (r->n)
		append_ranges(json_add_array(o, key), r);
}

/* Adds groups by name, or the GUIDs of a line of qos-ulps. */
static void put_groups(struct json_object *o, const char *key, const struct qos_policy *p,
		       const struct qos_list *list)
{
	struct json_object *array;

	if (!list->n)
		return;
	array = json_add_array(o, key);
	for (size_t i = 0; i < list->n; i++) {
		const struct qos_group *g = &p->groups[list->items[i]];

		if (g->name)
			json_append_str(array, g->name);
		else
			append_ranges(array, &g->guids);
	}
}

static void put_level(struct json_object *o, const struct qos_level *l)
{
	json_add_int(o, "line", l->line);
	json_add_str(o, "name", l->name);
	json_add_str(o, "use", l->use);
	json_add_int(o, "sl", l->sl);
	if (l->mtu)
		json_add_int(o, "mtu", ib_mtu_bytes(l->mtu));
	if (l->rate)
		show_put_tenths(o, "gbps", ib_rate_bandwidth(l->rate));
	if (l->has_life)
		json_add_int(o, "life", l->life);
	put_ranges(o, "pkeys", &l->pkeys);
}

static void put_rule(struct json_object *o, const struct qos_policy *p, uint32_t rule)
{
	const struct qos_rule *r = &p->rules[rule];

	json_add_int(o, "line", r->line);
	json_add_str(o, "use", r->use);
	json_add_str(o, "level", p->levels[r->level].name);
	json_add_int(o, "sl", p->levels[r->level].sl);
	put_groups(o, "sources", p, &r->sources);
	put_groups(o, "destinations", p, &r->destinations);
	put_ranges(o, "qos_classes", &r->classes);
	put_ranges(o, "service_ids", &r->services);
	put_ranges(o, "pkeys", &r->pkeys);
}

/* ---- the policy ----------------------------------------------------------------------------- */

/* Adds the names of nodes and partitions that define the group. */
static void put_names(struct json_object *o, const struct qos_group *g)
{
	struct json_object *array = g->n_names ? json_add_array(o, "port_names") : NULL;

	for (size_t i = 0; i < g->n_names; i++) {
		_cleanup_free_ char *text =
			xasprintf("%s/P%u", g->names[i].desc, g->names[i].port);

		json_append_str(array, text);
	}
	array = g->partitions.n ? json_add_array(o, "partitions") : NULL;
	for (size_t i = 0; i < g->partitions.n; i++)
		json_append_str(array, g->partitions.items[i]);
}

static void put_group(struct json_object *o, const struct show *s, const struct qos_group *g)
{
	struct path_ends ends = path_map_ends(s->answers->paths);
	int64_t n = 0;

	for (uint32_t i = 0; i < ends.n; i++)
		if (view_port_in_group(s->answers, ends.ports[i], g, s->partitions))
			n++;
	json_add_int(o, "line", g->line);
	json_add_str(o, "name", g->name);
	json_add_str(o, "use", g->use);
	json_add_int(o, "ports", n);
	put_ranges(o, "port_guids", &g->guids);
	put_ranges(o, "pkeys", &g->pkeys);
	put_names(o, g);
}

static void put_all(struct json_object *ret, const struct show *s, const struct qos_policy *p)
{
	const uint64_t *decided = s->rows;
	struct json_object *rules = json_add_array(ret, "rules"), *o;
	struct json_object *levels = json_add_array(ret, "levels");
	struct json_object *groups = json_add_array(ret, "groups");

	for (uint32_t i = 0; i < p->n_rules; i++) {
		o = json_append_object(rules);
		put_rule(o, p, i);
		json_add_int(o, "decided", decided ? (int64_t)decided[i] : 0);
	}
	for (uint32_t i = 0; i < p->n_levels; i++)
		if (p->levels[i].name)
			put_level(json_append_object(levels), &p->levels[i]);
	for (uint32_t i = 0; i < p->n_groups; i++)
		if (p->groups[i].name)
			put_group(json_append_object(groups), s, &p->groups[i]);
	o = json_add_object(ret, "default");
	put_level(o, &p->levels[p->default_level]);
	json_add_int(o, "decided", decided ? (int64_t)decided[p->n_rules] : 0);
}

struct json_object *show_policy(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	const struct qos_policy *p = view_policy(s->answers);
	struct json_object *ret;

	if (!s->answers->conf->qos)
		return control_fail(err, "NotFound", "qos is FALSE: no QoS policy is read");
	if (!p)
		return control_fail(err, "NotFound", "no QoS policy is in force: the file %.200s "
				    "is missing, or has errors",
				    s->answers->conf->qos_policy_file
					    ? s->answers->conf->qos_policy_file
					    : "(none)");
	ret = json_object_new_object();
	json_add_str(ret, "file", p->file);
	put_all(ret, s, p);
	json_add_int(ret, "tables_not_applied", p->n_vlarbs + p->n_sl2vls);
	return ret;
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

const struct qos_level *show_policy_put(struct json_object *ret, const struct view *v,
					const struct qos_request *rq, uint32_t src, uint32_t dst)
{
	const struct qos_policy *p = view_policy(v);
	struct json_object *o, *others;
	struct qos_asked asked;
	struct qos_ends ends;
	uint32_t rule;

	if (!p)
		return NULL;
	asked = qos_policy_ask(p, rq);
	view_policy_ends(v, src, dst, &ends);
	rule = qos_policy_match(p, &asked, &ends, 0);
	o = json_add_object(ret, "policy");
	json_add_str(o, "file", p->file);
	if (rule != QOS_NO_RULE)
		put_rule(json_add_object(o, "rule"), p, rule);
	put_level(json_add_object(o, "level"), qos_policy_level(p, rule));
	others = json_add_array(o, "also_match");
	for (uint32_t i = rule; i != QOS_NO_RULE;) {
		i = i + 1 < p->n_rules ? qos_policy_match(p, &asked, &ends, i + 1) : QOS_NO_RULE;
		if (i != QOS_NO_RULE)
			put_rule(json_append_object(others), p, i);
	}
	return qos_policy_level(p, rule);
}
