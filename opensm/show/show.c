// SPDX-License-Identifier: BSD-2-Clause
/*
 * The methods that show the subnet, and the snapshot that all of them work on.
 */
#include "show/show_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sm/alarms/alarms.h"
#include "util/mem.h"
#include "view/view_copy.h"

/* ---- the snapshot --------------------------------------------------------------------------- */

/* The reason for a port that is not ACTIVE although nothing is held against it. */
static const char *state_reason(const struct sm *sm, const struct port *p)
{
	unsigned state = port_state(p), phys = p->known ? ib_get(p->info, PI_PHYS_STATE) : 0;

	if (!p->known && !p->peer && !node_is_switch(p->node))
		return "no cable of it was found";
	if (!p->known)
		return sm_stats(sm)->heavy_sweeps ? "not read yet, or no answer to PortInfo"
						  : "not read yet";
	switch (phys) {
	case IB_PHYS_SLEEP:
		return "asleep: it waits for the other end to wake it";
	case IB_PHYS_POLLING:
		return p->met_guid ? "the link fell: no cable, or the other end is off (it polls)"
				   : "no cable, or the other end is off (it polls)";
	case IB_PHYS_DISABLED:
		return "switched off (PortPhysicalState Disabled)";
	case IB_PHYS_TRAINING:
		return "the link is being trained: the two ends do not agree (cable, speed?)";
	case IB_PHYS_ERROR_RECOVERY:
		return "the link is in error recovery";
	}
	if (state <= IB_PORT_DOWN)
		return "the link is down";
	if (sm_state(sm) != SM_MASTER)
		return "to be set up by the master; this manager is not it";
	if (!p->peer)
		return "no node is known behind it";
	if (state == IB_PORT_ARMED && port_state(p->peer) < IB_PORT_ARMED)
		return "waits for the other end of its cable";
	if (state == IB_PORT_ARMED)
		return "waits for tables (multicast or forwarding) to be complete, then it becomes "
		       "ACTIVE";
	return "being set up";
}

static bool lacks_nothing(const struct port *p)
{
	return port_state(p) == IB_PORT_ACTIVE || (node_is_switch(p->node) && p->num == 0);
}

static void drop_reasons(struct show *s)
{
	s->reasons = sm_reasons_free(s->reasons);
	free(take(s->why));
	free(take(s->held));
	free(take(s->part));
	free(take(s->violations));
}

/* The view is begun, or begun anew. */
static void begin_reasons(void *arg, const struct view *v)
{
	struct show *s = arg;

	drop_reasons(s);
	s->reasons = sm_reasons_new(s->sm);
	s->why = xcalloc(MAX(v->n_ports, 1u), sizeof(*s->why));
	s->held = xcalloc(MAX(v->n_ports, 1u), sizeof(*s->held));
	s->part = xcalloc(MAX(v->n_ports, 1u), sizeof(*s->part));
}

/* Most fabrics have none: room is made for the first one. */
static void note_violations(struct show *s, const struct view *v, const struct port *p, uint32_t at)
{
	const struct violation_counts *counts = violations_of(p);

	if (counts && !s->violations)
		s->violations = xcalloc(v->n_ports, sizeof(*s->violations));
	if (s->violations)
		s->violations[at] = counts ? *counts : (struct violation_counts){ 0 };
}

static enum show_part part_of(const struct alarm *a, const struct port *p)
{
	if (!a)
		return SHOW_NO_PART;
	if (alarm_rows[a->kind].class == ALARM_PLANNED)
		return SHOW_PLANNED;
	return a->where.node == p->node->guid && a->where.port == p->num ? SHOW_PLACE
									 : SHOW_FURTHER;
}

static void note_reason(struct show *s, const struct port *p, uint32_t at)
{
	const struct alarm *a = sm_alarm_of(s->sm, p);

	s->why[at] = sm_state(s->sm) == SM_MASTER ? sm_reason(s->reasons, p) : NULL;
	if (!s->why[at] && !lacks_nothing(p))
		s->why[at] = state_reason(s->sm, p);
	s->held[at] = (unsigned)(sm_held_for(p, s->now) / MONO_S);
	s->part[at] = (uint8_t)part_of(a, p);
	if (!s->why[at] && a)
		s->why[at] = alarm_rows[a->kind].cause;
}

static void note_reasons(void *arg, const struct view *v, const struct node *n, uint32_t at)
{
	for (unsigned num = node_is_switch(n) ? 0 : 1; num <= n->n_ports; num++) {
		uint32_t port = view_node_port(&v->nodes[at], num);

		note_reason(arg, &n->ports[num], port);
		note_violations(arg, v, &n->ports[num], port);
	}
}

static bool reasons_hold(void *arg)
{
	const struct show *s = arg;

	return sm_reasons_hold(s->reasons, s->sm);
}

static void begin_copy(struct show *s, unsigned needs)
{
	const struct view_beside beside = { begin_reasons, note_reasons, reasons_hold, s };

	/* Routes and answers of one and the same moment; the fabric is never behind them. */
	s->copy = sm_view_copy(s->sm, s->answers ? s->answers->routes : sm_routes(s->sm),
			       needs & SHOW_TREES ? VIEW_TREES : 0,
			       needs & SHOW_REASONS ? &beside : NULL);
}

static struct json_object *planned_of(struct sm *sm)
{
	struct json_object *list = json_object_new_array();
	const struct alarm *a;

	for (unsigned i = 0; (a = sm_alarm_at(sm, i)); i++)
		if (alarm_rows[a->kind].class == ALARM_PLANNED)
			json_object_array_add(list, show_alarm(a));
	return list;
}

enum control_collected show_collect(void *snapshot, const struct daemon_api *api,
				    struct control_error *err)
{
	struct show *s = snapshot;

	if (!s->copy)
		return CONTROL_COLLECTED;
	s->now = daemon_api_now(api);
	if (!view_copy_turn(&s->copy, &s->view))
		return CONTROL_MORE;
	show_gone_copy(s, api);
	s->planned = s->reasons ? planned_of(api->sm) : NULL;
	s->reasons = sm_reasons_free(s->reasons);
	return CONTROL_COLLECTED;
}

/* False: there is nothing to show. `needs`: of enum show_need. */
static bool take_snapshot(struct show *s, const struct daemon_api *api, unsigned needs,
			  struct control_error *err)
{
	const struct sm *sm = api->sm;

	if (!sm)
		return control_fail(err, "NotReady", "no port is open: %.250s", api->status);
	if (!sm_fabric(sm)->own_port)
		return control_fail(err, "NotReady", "the fabric was not read yet (%s)",
				    sm_state_name(sm_state(sm)));
	if ((needs & SHOW_ANSWERS && !sm_view(sm)) || (needs & SHOW_ROUTES && !sm_routes(sm)))
		return control_fail(err, "NotReady",
				    "only the master knows, once the subnet is up; this "
				    "manager is %s",
				    sm_state_name(sm_state(sm)));
	if (needs & SHOW_NO_VIEW) {
		s->routes = routes_ref(sm_routes(sm));
		return true;
	}
	if (needs & SHOW_ANSWERS) {
		s->answers = view_ref(sm_view(sm));
		s->partitions = partitions_ref(sm_partitions(sm));
	}
	s->sm = sm;
	sm_alarms(api->sm, ALARM_FAULT); /* a look, if the last one is old */
	/* A document of one group alone has trees. */
	begin_copy(s, s->word[0][0] ? needs : needs & ~(unsigned)SHOW_TREES);
	return true;
}

/* The parameters of the method. False: one is too long. */
static bool read_parameters(struct show *s, const char *type, struct json_object *parameters,
			    struct control_error *err)
{
	unsigned words = 0, flags = 0;
	struct control_parameter p;

	for (const char *at = control_next_parameter(type, &p); at;
	     at = control_next_parameter(at, &p)) {
		const char *word = json_str(parameters, p.name);

		if (!strcmp(p.type, "bool")) {
			assert(flags < SHOW_FLAGS);
			s->flag[flags++] = json_flag(parameters, p.name, false);
			continue;
		}
		assert(words < SHOW_WORDS);
		if (word && strlen(word) >= SHOW_WORD_MAX)
			return control_fail(err, "InvalidParameter",
					    "'%s' has more than %d characters", p.name,
					    SHOW_WORD_MAX - 1);
		snprintf(s->word[words++], SHOW_WORD_MAX, "%s", word ? word : "");
	}
	return true;
}

void *show_snapshot(const struct control_method *m, const struct daemon_api *api,
		    struct json_object *parameters, struct control_error *err)
{
	struct show *s = xcalloc(1, sizeof(*s));

	assert(api && err);
	if (read_parameters(s, m->type, parameters, err) && take_snapshot(s, api, m->needs, err))
		return s;
	show_drop(s);
	return NULL;
}

void show_drop(void *snapshot)
{
	struct show *s = snapshot;

	if (!s)
		return;
	if (s->clear_rows)
		s->clear_rows(s);
	free(s->rows);
	free(s->tenants.rows);
	free(s->tenants.members);
	view_copy_free(s->copy);
	view_unref(s->view);
	routes_unref(s->routes);
	view_unref(s->answers);
	partitions_unref(s->partitions);
	free(s->gone);
	json_object_put(s->planned);
	drop_reasons(s);
	free(s);
}

/* ---- methods -------------------------------------------------------------------------------- */

#define STEPS(of, fn) .snapshot = show_snapshot, .collect = of, .render = fn, .drop = show_drop
#define DOCUMENT(fn)	     STEPS(show_collect, fn)
#define DOCUMENT_OF_ROWS(fn) STEPS(fn##_collect, fn)

const struct control_method show_methods[] = {
	{ .name = "Topology",
	  .help = "Every node, port and cable; port (GUID_PORT): that one and its neighbours",
	  .type = "(port: ?string)",
	  .gives = show_topology_fields,
	  .needs = SHOW_REASONS,
	  DOCUMENT(show_topology) },
	{ .name = "Nodes",
	  .help = "Nodes, all or those that answer to a name, GUID or LID",
	  .type = "(node: ?string, type: ?string)",
	  .gives = show_nodes_fields,
	  .needs = SHOW_REASONS,
	  DOCUMENT(show_nodes) },
	{ .name = "Ports",
	  .help = "Ports, and why one is not ACTIVE; those with violations by the node attached",
	  .type = "(node: ?string, down: ?bool, not_active: ?bool, violations: ?bool)",
	  .gives = show_ports_fields,
	  .needs = SHOW_REASONS,
	  DOCUMENT(show_ports) },
	{ .name = "Routes",
	  .help = "Where a switch sends: all it has, or to one destination",
	  .type = "(switch: string, to: ?string)",
	  .gives = show_routes_fields,
	  .needs = SHOW_ROUTES,
	  DOCUMENT(show_routes) },
	{ .name = "Tables",
	  .help = "Where all switches send to all hosts, packed",
	  .type = "()",
	  .gives = show_tables_fields,
	  .needs = SHOW_ROUTES | SHOW_NO_VIEW,
	  DOCUMENT(show_tables) },
	{ .name = "Path",
	  .help = "Why one port reaches another as it does, or why not",
	  .type = "(from: string, to: string, service_id: ?string, qos_class: ?string, "
		  "pkey: ?string)",
	  .gives = show_path_fields,
	  .needs = SHOW_ANSWERS | SHOW_REASONS,
	  DOCUMENT(show_path) },
	{ .name = "Partitions",
	  .help = "Which port is a member of which partition",
	  .type = "(partition: ?string)",
	  .gives = show_partitions_fields,
	  .needs = SHOW_ANSWERS,
	  DOCUMENT_OF_ROWS(show_partitions) },
	{ .name = "Groups",
	  .help = "Multicast groups, their members and trees",
	  .type = "(group: ?string)",
	  .gives = show_groups_fields,
	  .needs = SHOW_ANSWERS | SHOW_TREES,
	  DOCUMENT_OF_ROWS(show_groups) },
	{ .name = "Sa",
	  .help = "What hosts have registered: services, subscriptions, aliases",
	  .type = "(table: ?string)",
	  .gives = show_sa_fields,
	  .needs = SHOW_ANSWERS,
	  DOCUMENT_OF_ROWS(show_sa) },
	{ .name = "Qos",
	  .help = "VLs as programmed on devices: SL2VL, arbitration and shares, by kind of port",
	  .type = "()",
	  .gives = show_qos_fields,
	  .needs = SHOW_ANSWERS,
	  DOCUMENT_OF_ROWS(show_qos) },
	{ .name = "QosPolicy",
	  .help = "The QoS policy in force: levels, rules and what each decided, port groups",
	  .type = "()",
	  .gives = show_policy_fields,
	  .needs = SHOW_ANSWERS,
	  DOCUMENT_OF_ROWS(show_policy) },
	{ .name = "Managers",
	  .help = "All subnet managers that are known, ourselves first",
	  .type = "()",
	  .gives = show_managers_fields,
	  .answer = show_managers },
	{ .name = "ManagersDiff",
	  .help = "In what other managers of this program are configured otherwise",
	  .type = "()",
	  .gives = show_managers_diff_fields,
	  .answer = show_managers_diff },
	{ 0 },
};
