// SPDX-License-Identifier: BSD-2-Clause
/*
 * Health: links with findings, the sickest first, and links that run below what both their ends can
 * do. HealthClear: what is known against a link is forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "control/control_smp.h"
#include "fabric/words.h"
#include "ib/codes.h"
#include "ib/words.h"
#include "sm/health/sick.h"
#include "util/mem.h"

#define SLOW_LINKS_MAX 1000u

/* ---- links with findings --------------------------------------------------------------------- */

static void put_end(struct json_object *list, const struct port *p, const struct health_end *e)
{
	struct json_object *o = json_append_object(list);

	json_add_str(o, "node", p ? node_name(p->node) : NULL);
	json_add_str(o, "type", p ? ib_node_type_name(p->node->type) : NULL);
	json_add_guid(o, "node_guid", e->node);
	json_add_int(o, "port", e->port);
}

static void put_conditions(struct json_object *o, const char *key, unsigned conds)
{
	struct json_object *list = json_add_array(o, key);

	for (unsigned i = 0; i < HEALTH_CONDS; i++)
		if (conds & 1u << i)
			json_object_array_add(list, json_object_new_string(health_cond_name(i)));
}

static void put_sick(struct json_object *o, const struct sick_shown *s)
{
	struct json_object *ends = json_add_array(o, "ends");
	char words[SICK_WORDS_STRLEN];

	for (unsigned i = 0; i < 2; i++)
		put_end(ends, s->port[i], &s->verdict->end[i]);
	json_add_str(o, "state", sm_sick_state_name(s->state));
	json_add_str(o, "done", sm_sick_words(s->state, s->action, words));
	json_add_str(o, "action", health_action_name(s->action));
	json_add_str(o, "why", s->why);
	put_conditions(o, "conditions", s->verdict->on);
	put_conditions(o, "now", s->verdict->now);
	json_add_int(o, "since", s->verdict->since);
	json_add_int(o, "last", s->verdict->last);
}

static unsigned bits_set(unsigned bits)
{
	unsigned n = 0;

	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

/* The sickest first: what is done, how many findings hold, and the oldest. */
static int compare(const void *a, const void *b)
{
	const struct sick_shown *x = a, *y = b;
	unsigned nx = bits_set(x->verdict->now), ny = bits_set(y->verdict->now);

	if (x->action != y->action)
		return x->action < y->action ? 1 : -1;
	if (nx != ny)
		return nx < ny ? 1 : -1;
	if (x->verdict->since != y->verdict->since)
		return x->verdict->since > y->verdict->since ? 1 : -1;
	return x->verdict->end[0].node > y->verdict->end[0].node ? 1 : -1;
}

static void put_all_sick(struct json_object *list, const struct sm *sm)
{
	_cleanup_free_ struct sick_shown *all = NULL;
	unsigned n = 0, cap = 0;
	struct sick_shown one;

	while (sm_sick_at(sm, n, &one)) {
		GROW(all, n + 1, cap);
		all[n++] = one;
	}
	if (n)
		qsort(all, n, sizeof(*all), compare);
	for (unsigned i = 0; i < n; i++)
		if (all[i].action != HEALTH_IGNORE)
			put_sick(json_append_object(list), &all[i]);
}

/* ---- slow and narrow links ------------------------------------------------------------------- */

static unsigned widest_of_both(const struct port *p, const struct port *q)
{
	const struct ib_width *w = ib_widest((unsigned)(ib_get(p->info, PI_WIDTH_SUPPORTED) &
							ib_get(q->info, PI_WIDTH_SUPPORTED)));

	return w ? w->lanes : 0;
}

static bool can(const struct port *p, size_t row)
{
	for (enum ib_speed_set set = IB_SPEED_PLAIN; set <= fabric_speed_sets(p); set++)
		if (ib_speeds[row].bit[set] & ib_speed_bits(p->info, set, IB_SPEED_SUPPORTED))
			return true;
	return false;
}

static const struct ib_speed *fastest_of_both(const struct port *p, const struct port *q)
{
	for (size_t row = IB_SPEEDS; row-- > 0;)
		if (can(p, row) && can(q, row))
			return &ib_speeds[row];
	return NULL;
}

static void put_slow(struct json_object *list, const struct port *p)
{
	const struct ib_speed *best = fastest_of_both(p, p->peer), *now;
	unsigned width = ib_link_width(p->info), most = widest_of_both(p, p->peer);
	struct json_object *o, *ends;
	struct health_end a = { p->node->guid, p->num }, b = { p->peer->node->guid, p->peer->num };

	now = ib_speed_of(ib_link_speed(p->info, fabric_speed_sets(p), false));
	if (!now || !best || (width >= most && now->tenths >= best->tenths))
		return;
	o = json_append_object(list);
	ends = json_add_array(o, "ends");
	put_end(ends, p, &a);
	put_end(ends, p->peer, &b);
	json_add_int(o, "width", width);
	json_add_str(o, "speed", now->name);
	json_add_int(o, "width_possible", most);
	json_add_str(o, "speed_possible", best->name);
}

/* Each cable once: from its end with the lesser GUID. */
static bool is_first_end(const struct port *p)
{
	if (p->node->guid != p->peer->node->guid)
		return p->node->guid < p->peer->node->guid;
	return p->num < p->peer->num;
}

static void put_all_slow(struct json_object *list, const struct fabric *f)
{
	FABRIC_EACH_NODE(f, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (json_object_array_length(list) >= SLOW_LINKS_MAX)
				return;
			if (p->peer && is_first_end(p) && port_state(p) > IB_PORT_DOWN)
				put_slow(list, p);
		}
	}
}

/* ---- the calls ------------------------------------------------------------------------------- */

static bool is_ready(const struct daemon_api *api, struct control_error *err)
{
	if (!api->sm)
		control_fail(err, "NotReady", "%s",
			     api->status[0] ? api->status : "no port is open");
	return api->sm;
}

struct json_object *control_health(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	struct json_object *o;
	const struct conf *conf;

	if (!is_ready(api, err))
		return NULL;
	conf = sm_conf(api->sm);
	o = json_object_new_object();
	json_add_bool(o, "checks", conf->hm_unhealthy_ports_checks);
	json_add_bool(o, "master", sm_state(api->sm) == SM_MASTER);
	json_add_bool(o, "dry_run", conf->hm_dry_run);
	json_add_bool(o, "counters", conf->perfmgr);
	json_add_int(o, "isolated", sm_sick_links(api->sm, SICK_ISOLATED));
	json_add_int(o, "most_isolated", sm_sick_cap(api->sm));
	put_all_sick(json_add_array(o, "links"), api->sm);
	put_all_slow(json_add_array(o, "slow"), sm_fabric(api->sm));
	return o;
}

struct json_object *control_health_clear(const struct daemon_api *api,
					 struct json_object *parameters, struct control_error *err)
{
	const char *word = json_str(parameters, "target");
	unsigned port;
	guid_t node;

	if (!is_ready(api, err) ||
	    !control_find_place(sm_fabric(api->sm), word, &node, &port, err))
		return NULL;
	if (!sm_sick_clear(api->sm, node, port))
		return control_fail(err, "NotFound",
				    "the link at %.64s has no finding: opensmctl health lists "
				    "those that have one",
				    word);
	api->wake(api->arg);
	return json_object_new_object();
}
