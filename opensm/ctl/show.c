// SPDX-License-Identifier: BSD-2-Clause
/*
 * The methods that show the subnet, and the snapshot that all of them work on.
 */
#include "ctl/show.h"

#include <stdio.h>
#include <string.h>

#include "conf/files.h"
#include "util/guidmap.h"
#include "util/mem.h"

static const char *const no_words[2];

bool show_text(struct json_object *parameters, const char *key, char ret[SHOW_WORD_MAX],
	       struct control_error *err)
{
	struct json_object *v = NULL;

	ret[0] = '\0';
	if (!json_object_object_get_ex(parameters, key, &v) || !v)
		return true;
	if (!json_object_is_type(v, json_type_string) && !json_object_is_type(v, json_type_int)) {
		control_fail(err, "InvalidParameter", "'%s' must be a text or a number", key);
		return false;
	}
	if (strlen(json_object_get_string(v)) >= SHOW_WORD_MAX) {
		control_fail(err, "InvalidParameter", "'%s' has more than %d characters", key,
			     SHOW_WORD_MAX - 1);
		return false;
	}
	snprintf(ret, SHOW_WORD_MAX, "%s", json_object_get_string(v));
	return true;
}

bool show_bool(struct json_object *parameters, const char *key, bool *ret, struct control_error *err)
{
	struct json_object *v = NULL;

	*ret = false;
	if (!json_object_object_get_ex(parameters, key, &v) || !v)
		return true;
	if (!json_object_is_type(v, json_type_boolean)) {
		control_fail(err, "InvalidParameter", "'%s' must be true or false", key);
		return false;
	}
	*ret = json_object_get_boolean(v);
	return true;
}

/* ---- the snapshot --------------------------------------------------------------------------- */

/* A port that is not ACTIVE, and nothing stands against it. */
static const char *state_reason(const struct sm *sm, const struct port *p)
{
	unsigned state = port_state(p), phys = p->known ? ib_get(p->info, PI_PHYS_STATE) : 0;

	if (!p->known && !p->peer && !node_is_switch(p->node))
		return "no cable of it was found";
	if (!p->known)
		return sm_stats(sm)->heavy_sweeps ? "not read yet, or no answer to PortInfo" : "not read yet";
	switch (phys) {
	case IB_PHYS_SLEEP:
		return "asleep: it waits for the other end to wake it";
	case IB_PHYS_POLLING:
		return p->had_cable ? "the link fell: no cable, or the other end is off (it polls)"
				    : "no cable, or the other end is off (it polls)";
	case IB_PHYS_DISABLED:
		return "disabled by somebody (PortPhysicalState Disabled)";
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
		return "nobody is known behind it";
	if (state == IB_PORT_ARMED && port_state(p->peer) < IB_PORT_ARMED)
		return "waits for the other end of its cable";
	if (state == IB_PORT_ARMED)
		return "waits for tables (multicast or forwarding) to be complete, then it becomes ACTIVE";
	return "being set up";
}

static bool lacks_nothing(const struct port *p)
{
	return port_state(p) == IB_PORT_ACTIVE || (node_is_switch(p->node) && p->num == 0);
}

static void note_reasons(struct show *s, const struct sm *sm)
{
	struct sm_reasons *reasons = sm_reasons_new(sm);
	bool master = sm_state(sm) == SM_MASTER;
	const struct fabric *f = sm_fabric(sm);

	s->why = xcalloc(MAX(s->view->n_ports, 1u), sizeof(*s->why));
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct node *n = f->nodes[i];
		const char **why = s->why + s->view->nodes[i].first_port;

		for (unsigned p = node_is_switch(n) ? 0 : 1; p <= n->n_ports; p++) {
			why[p] = master ? sm_reason(reasons, &n->ports[p]) : NULL;
			if (!why[p] && !lacks_nothing(&n->ports[p]))
				why[p] = state_reason(sm, &n->ports[p]);
		}
	}
	sm_reasons_free(reasons);
}

/* Of a standby's picture: LIDs as the master gave them. */
static void note_own(struct show *s, const struct sm *sm)
{
	const struct port *own = sm_fabric(sm)->own_port;

	s->master = sm_state(sm) == SM_MASTER;
	s->own_node = own->node->guid;
	s->own_port = s->view->nodes[own->node->index].first_port + own->num;
}

struct show *show_new(const struct scene *scene, unsigned needs, struct control_error *err)
{
	const struct sm *sm = scene->sm;
	const struct conf_names *names;
	struct show *s;

	if (!sm) {
		control_fail(err, "NotReady", "no port is open: %.250s", scene->status);
		return NULL;
	}
	if (!sm_fabric(sm)->own_port) {
		control_fail(err, "NotReady", "the fabric was not read yet (%s)",
			     sm_state_name(sm_state(sm)));
		return NULL;
	}
	if ((needs & SHOW_ANSWERS && !sm_view(sm)) || (needs & SHOW_ROUTES && !sm_routes(sm))) {
		control_fail(err, "NotReady", "only the master knows, once the subnet is up; this "
			     "manager is %s", sm_state_name(sm_state(sm)));
		return NULL;
	}
	names = sm_files(sm) ? conf_files_names(sm_files(sm)) : NULL;
	s = xcalloc(1, sizeof(*s));
	if (needs & SHOW_ANSWERS)
		s->answers = view_ref(sm_view(sm));
	/* Routes and answers of one and the same moment. */
	s->view = dump_view_new(sm_fabric(sm), s->answers ? s->answers->routes : sm_routes(sm), names);
	note_own(s, sm);
	show_gone_copy(s, scene);
	if (needs & SHOW_REASONS)
		note_reasons(s, sm);
	if (needs & SHOW_TREES)
		dump_view_add_mfts(s->view, sm_fabric(sm));
	if (s->answers)
		s->partitions = partitions_ref(sm_partitions(sm));
	return s;
}

void show_drop(void *snapshot)
{
	struct show *s = snapshot;

	if (!s)
		return;
	if (s->free_rows)
		s->free_rows(s);
	dump_view_free(s->view);
	view_unref(s->answers);
	partitions_unref(s->partitions);
	guidmap_free(s->by_node);
	guidmap_free(s->by_port);
	free(s->by_lid);
	free(s->order);
	free(s->gone);
	free(s->why);
	free(s);
}

struct show *show_asked(const struct scene *scene, struct json_object *parameters,
			const char *const names[2], unsigned needs, struct control_error *err)
{
	char word[2][SHOW_WORD_MAX] = { "", "" };
	struct show *s;

	for (unsigned i = 0; i < 2; i++)
		if (names[i] && !show_text(parameters, names[i], word[i], err))
			return NULL;
	s = show_new(scene, needs, err);
	if (s)
		memcpy(s->word, word, sizeof(word));
	return s;
}

static int by_guid(const void *a, const void *b, void *arg)
{
	const struct show *s = arg;
	guid_t x = s->view->nodes[*(const uint32_t *)a].guid;
	guid_t y = s->view->nodes[*(const uint32_t *)b].guid;

	return (x > y) - (x < y);
}

static void index_port(struct show *s, struct dump_port *p)
{
	if (!show_is_end(s, p))
		return;
	if (p->guid)
		guidmap_put(s->by_port, p->guid, p);
	for (uint32_t lid = p->lid; p->lid && lid < p->lid + (1u << p->lmc) && lid_is_unicast(lid); lid++)
		s->by_lid[lid] = (uint32_t)(p - s->view->ports);
}

void show_index(struct show *s)
{
	struct dump_view *v = s->view;

	s->order = xcalloc(MAX(v->n_nodes, 1u), sizeof(*s->order));
	s->by_node = guidmap_new();
	s->by_port = guidmap_new();
	s->by_lid = xcalloc(LID_MAX_UCAST + 1u, sizeof(*s->by_lid));
	memset(s->by_lid, 0xFF, (LID_MAX_UCAST + 1u) * sizeof(*s->by_lid));
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		s->order[i] = i;
		guidmap_put(s->by_node, v->nodes[i].guid, &v->nodes[i]);
	}
	qsort_r(s->order, v->n_nodes, sizeof(*s->order), by_guid, s);
	for (uint32_t i = 0; i < v->n_ports; i++)
		index_port(s, &v->ports[i]);
}

/* ---- methods -------------------------------------------------------------------------------- */

static void *topology_new(const struct scene *scene, struct json_object *parameters,
			  struct control_error *err)
{
	return show_asked(scene, parameters, no_words, SHOW_REASONS, err);
}

static void *nodes_new(const struct scene *scene, struct json_object *parameters,
		       struct control_error *err)
{
	return show_asked(scene, parameters, (const char *const[]){ "node", "type" }, SHOW_REASONS, err);
}

static void *ports_new(const struct scene *scene, struct json_object *parameters,
		       struct control_error *err)
{
	bool flag[2];
	struct show *s;

	if (!show_bool(parameters, "down", &flag[0], err) ||
	    !show_bool(parameters, "not_active", &flag[1], err))
		return NULL;
	s = show_asked(scene, parameters, (const char *const[]){ "node", NULL }, SHOW_REASONS, err);
	if (s)
		memcpy(s->flag, flag, sizeof(flag));
	return s;
}

static void *routes_new_(const struct scene *scene, struct json_object *parameters,
			 struct control_error *err)
{
	return show_asked(scene, parameters, (const char *const[]){ "switch", "to" }, SHOW_ROUTES, err);
}

static void *path_new(const struct scene *scene, struct json_object *parameters,
		      struct control_error *err)
{
	return show_asked(scene, parameters, (const char *const[]){ "from", "to" },
			  SHOW_ANSWERS | SHOW_REASONS, err);
}

const struct control_method show_methods[] = {
	{ .name = "Topology", .help = "Every node, port and cable",
	  .type = "() -> (own: object, nodes: []object)",
	  .snapshot = topology_new, .render = show_topology, .drop = show_drop },
	{ .name = "Nodes", .help = "Nodes, all or those that answer to a name, GUID or LID",
	  .type = "(node: ?string, type: ?string) -> (nodes: []object)",
	  .snapshot = nodes_new, .render = show_nodes, .drop = show_drop },
	{ .name = "Ports", .help = "Ports, and why one is not ACTIVE",
	  .type = "(node: ?string, down: ?bool, not_active: ?bool) -> (ports: []object, hidden: int)",
	  .snapshot = ports_new, .render = show_ports, .drop = show_drop },
	{ .name = "Routes", .help = "Where a switch sends: all it has, or to one destination",
	  .type = "(switch: string, to: ?string) -> (switch: object, engine: string, ports: []object, "
		  "routes: []object)",
	  .snapshot = routes_new_, .render = show_routes, .drop = show_drop },
	{ .name = "Path", .help = "Why one port reaches another as it does, or why not",
	  .type = "(from: string, to: string) -> (from: object, to: object, reachable: bool, why_not: "
		  "[]string, hops: []object, partition: ?object, sl: ?object, mtu: ?object, rate: ?object, reversible: bool)",
	  .snapshot = path_new, .render = show_path, .drop = show_drop },
	{ .name = "Partitions", .help = "Who is member of which partition",
	  .type = "(partition: ?string) -> (partitions: []object, without_room: []object)",
	  .snapshot = show_partitions_new, .render = show_partitions, .drop = show_drop },
	{ .name = "Groups", .help = "Multicast groups, their members and trees",
	  .type = "(group: ?string) -> (groups: []object)",
	  .snapshot = show_groups_new, .render = show_groups, .drop = show_drop },
	{ .name = "Sa", .help = "What hosts have registered: services, subscriptions, aliases",
	  .type = "(table: ?string) -> (counts: object, quotas: object, services: ?[]object, "
		  "subscriptions: ?[]object, aliases: ?[]object)",
	  .snapshot = show_sa_new, .render = show_sa, .drop = show_drop },
	{ .name = "Managers", .help = "All subnet managers that are known, ourselves first",
	  .type = "() -> (managers: []object)",
	  .answer = show_managers },
	{ 0 },
};
