// SPDX-License-Identifier: BSD-2-Clause
/*
 * Health: links with findings, the sickest first, and links with an alarm for their speed.
 * HealthClear: what is known against a link is forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "control/control_smp.h"
#include "fabric/words.h"
#include "ib/codes.h"
#include "ib/words.h"
#include "sm/alarms/alarms.h"
#include "sm/health/sick.h"
#include "util/mem.h"

/* ---- links with findings --------------------------------------------------------------------- */

#define END_FIELDS(F)                                                                              \
	F("node", OPT(STR), p ? node_name(p->node) : NULL)                                         \
	F("type", OPT(STR), p ? ib_node_row(p->node->type)->word : NULL)                           \
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
	F("state", WORD(sm_sick_state_name, SICK_STATES), sm_sick_state_name(s->state))            \
	F("done", STR, sm_sick_words(s->state, s->action, words))                                  \
	F("action", STR, health_action_name(s->action))                                            \
	F("why", STR, s->why)                                                                      \
	F("conditions", OF("[]string"), conditions_of(s->verdict->on))                             \
	F("now", OF("[]string"), conditions_of(s->verdict->now))                                   \
	F("since", SECONDS, s->verdict->since)                                                     \
	F("last", SECONDS, s->verdict->last)

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

#define SLOW_FIELDS(F)                                                                             \
	F("cause", STR, a->text)                                                                   \
	F("ends", LIST(end_fields), JSON_LIST(2, end_of(i ? p->peer : p, &end[i])))                \
	F("width", INT, now.width)                                                                 \
	F("speed", STR, speed_name(now.speed))                                                     \
	F("width_possible", INT, best.width)                                                       \
	F("speed_possible", STR, speed_name(best.speed))

static const struct json_field slow_fields[] = FIELDS_TABLE(SLOW_FIELDS);

static const struct port *port_of(const struct fabric *f, const struct alarm_end *e)
{
	const struct node *n = fabric_find_node(f, e->node);

	return n && e->port <= n->n_ports && n->ports[e->port].peer ? &n->ports[e->port] : NULL;
}

static const char *speed_name(unsigned tenths)
{
	const struct ib_speed *s = ib_speed_of(tenths);

	return s ? s->name : NULL;
}

static void put_slow(struct json_object *list, const struct alarm *a, const struct port *p)
{
	const struct health_end end[2] = { { a->at.node, a->at.port },
					   { a->far.node, a->far.port } };
	const struct link_rate now = sm_link_rate(p), best = sm_link_best(p);

	json_object_array_add(list, FIELDS_NEW(SLOW_FIELDS));
}

/* Links with an alarm for their speed. */
static struct json_object *all_slow(struct sm *sm)
{
	struct json_object *list = json_object_new_array();
	const struct alarm *a;

	for (unsigned i = 0; (a = sm_alarm_at(sm, i)); i++) {
		bool is_slow = a->kind == ALARM_SLOW || a->kind == ALARM_UNLIKE ||
			       a->also & (1ULL << ALARM_SLOW | 1ULL << ALARM_UNLIKE);
		const struct port *p = is_slow ? port_of(sm_fabric(sm), &a->at) : NULL;

		if (p)
			put_slow(list, a, p);
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
	F("slow", LIST(slow_fields), all_slow(sm))

const struct json_field control_health_fields[] = FIELDS_TABLE(HEALTH_FIELDS);

struct json_object *control_health(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	struct sm *sm = control_manager(api, err) ? api->sm : NULL;
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
