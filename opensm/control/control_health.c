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

#define END_FIELDS(F)                                                                              \
	F("node", OPT(STR), p ? node_name(p->node) : NULL)                                         \
	F("type", OPT(STR), p ? ib_node_type_name(p->node->type) : NULL)                           \
	F("node_guid", GUID, e->node)                                                              \
	F("port", INT, e->port)

static const struct json_field end_fields[] = FIELDS_TABLE(END_FIELDS);

static struct json_object *end_of(const struct port *p, const struct health_end *e)
{
	return FIELDS_NEW(END_FIELDS);
}

static struct json_object *conditions_of(unsigned conds)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < HEALTH_CONDS; i++)
		if (conds & 1u << i)
			json_append_str(list, health_cond_name(i));
	return list;
}

#define SICK_FIELDS(F)                                                                             \
	F("ends", LIST(end_fields), JSON_LIST(2, end_of(s->port[i], &s->verdict->end[i])))         \
	F("state", STR, sm_sick_state_name(s->state))                                              \
	F("done", STR, sm_sick_words(s->state, s->action, words))                                  \
	F("action", STR, health_action_name(s->action))                                            \
	F("why", STR, s->why)                                                                      \
	F("conditions", OF("[]string"), conditions_of(s->verdict->on))                             \
	F("now", OF("[]string"), conditions_of(s->verdict->now))                                   \
	F("since", INT, s->verdict->since)                                                         \
	F("last", INT, s->verdict->last)

static const struct json_field sick_fields[] = FIELDS_TABLE(SICK_FIELDS);

static struct json_object *sick_of(const struct sick_shown *s)
{
	char words[SICK_WORDS_STRLEN];

	return FIELDS_NEW(SICK_FIELDS);
}

static unsigned bits_set(unsigned bits)
{
	unsigned n = 0;

	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

/* Sorts by action, then by the number of conditions, then by age. */
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

static struct json_object *all_sick(const struct sm *sm)
{
	struct json_object *list = json_object_new_array();
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
			json_object_array_add(list, sick_of(&all[i]));
	return list;
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

#define SLOW_FIELDS(F)                                                                             \
	F("ends", LIST(end_fields), JSON_LIST(2, end_of(i ? p->peer : p, &end[i])))                \
	F("width", INT, width)                                                                     \
	F("speed", STR, now->name)                                                                 \
	F("width_possible", INT, most)                                                             \
	F("speed_possible", STR, best->name)

static const struct json_field slow_fields[] = FIELDS_TABLE(SLOW_FIELDS);

static void put_slow(struct json_object *list, const struct port *p)
{
	const struct ib_speed *best = fastest_of_both(p, p->peer), *now;
	unsigned width = ib_link_width(p->info), most = widest_of_both(p, p->peer);
	const struct health_end end[2] = { { p->node->guid, p->num },
					   { p->peer->node->guid, p->peer->num } };

	now = ib_speed_of(ib_link_speed(p->info, fabric_speed_sets(p), false));
	if (now && best && (width < most || now->tenths < best->tenths))
		json_object_array_add(list, FIELDS_NEW(SLOW_FIELDS));
}

/* Each cable once: from its end with the lesser GUID. */
static bool is_first_end(const struct port *p)
{
	if (p->node->guid != p->peer->node->guid)
		return p->node->guid < p->peer->node->guid;
	return p->num < p->peer->num;
}

static struct json_object *all_slow(const struct fabric *f)
{
	struct json_object *list = json_object_new_array();

	FABRIC_EACH_NODE(f, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (json_object_array_length(list) >= SLOW_LINKS_MAX)
				return list;
			if (p->peer && is_first_end(p) && port_state(p) > IB_PORT_DOWN)
				put_slow(list, p);
		}
	}
	return list;
}

/* ---- the calls ------------------------------------------------------------------------------- */

#define HEALTH_FIELDS(F)                                                                           \
	F("checks", BOOL, conf->hm_unhealthy_ports_checks)                                         \
	F("master", BOOL, sm_state(sm) == SM_MASTER)                                               \
	F("dry_run", BOOL, conf->hm_dry_run)                                                       \
	F("counters", BOOL, conf->perfmgr)                                                         \
	F("isolated", INT, sm_sick_links(sm, SICK_ISOLATED))                                       \
	F("most_isolated", INT, sm_sick_cap(sm))                                                   \
	F("links", LIST(sick_fields), all_sick(sm))                                                \
	F("slow", LIST(slow_fields), all_slow(sm_fabric(sm)))

const struct json_field control_health_fields[] = FIELDS_TABLE(HEALTH_FIELDS);

struct json_object *control_health(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	const struct sm *sm = control_manager(api, err);
	const struct conf *conf = sm ? sm_conf(sm) : NULL;

	return sm ? FIELDS_NEW(HEALTH_FIELDS) : NULL;
}

struct json_object *control_health_clear(const struct daemon_api *api,
					 struct json_object *parameters, struct control_error *err)
{
	const char *word = json_str(parameters, "target");
	unsigned port;
	guid_t node;

	if (!control_manager(api, err) ||
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
