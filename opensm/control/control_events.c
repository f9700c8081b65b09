// SPDX-License-Identifier: BSD-2-Clause
/* Events as objects: kind, time, members of the kind, and a sentence for people. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "fabric/words.h"
#include "show/show.h"
#include "route/patch/patch_text.h"
#include "sm/alarms/alarms.h"
#include "util/mem.h"
#include "util/str.h"

#define KINDS_MAX 32

static const char *const names[SM_EVENT_KINDS] = {
	[SM_EVENT_STATE] = "state",
	[SM_EVENT_SWEEP_START] = "sweep_start",
	[SM_EVENT_DISCOVERED] = "discovered",
	[SM_EVENT_SWEEP_DONE] = "sweep_done",
	[SM_EVENT_ROUTES] = "routes",
	[SM_EVENT_LFT] = "lft",
	[SM_EVENT_SUBNET_UP] = "subnet_up",
	[SM_EVENT_NODE] = "node",
	[SM_EVENT_LINK] = "link",
	[SM_EVENT_TRAP] = "trap",
	[SM_EVENT_MANAGER] = "manager",
	[SM_EVENT_SA_DUMPED] = "sa_dumped",
	[SM_EVENT_PORT_DOWN] = "port_down",
	[SM_EVENT_SECURITY] = "security",
	[SM_EVENT_DRIFT] = "topology",
	[SM_EVENT_HEALTH] = "health",
	[SM_EVENT_MARK] = "mark",
	[SM_EVENT_ALARM] = "alarm",
	[SM_EVENT_PATCH] = "patch",
};

const char *control_event_name(enum sm_event_kind kind)
{
	return kind < SM_EVENT_KINDS ? names[kind] : "unknown";
}

static void add_text(struct json_object *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void add_text(struct json_object *o, const char *fmt, ...)
{
	char text[800];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_add_str(o, "text", text);
}

static const struct node *find_node(const struct daemon_api *api, guid_t guid)
{
	return api->sm ? fabric_find_node(sm_fabric(api->sm), guid) : NULL;
}

/* Also of a node that has just gone. */
static const char *name_of(const struct daemon_api *api, guid_t guid, const char *otherwise)
{
	const struct node *n = find_node(api, guid);

	return n ? node_name(n) : otherwise;
}

static void add_sweep(struct json_object *o, const struct sm_event *e)
{
	json_add_str(o, "sweep", sweep_kind_name(e->sweep.kind));
	json_add_str(o, "why", e->sweep.why);
	if (e->kind == SM_EVENT_SWEEP_START) {
		add_text(o, "%s sweep begins: %s", sweep_kind_name(e->sweep.kind), e->sweep.why);
		return;
	}
	json_add_int(o, "gets", e->sweep.n_gets);
	json_add_int(o, "sets", e->sweep.n_sets);
	json_add_int(o, "errors", e->sweep.errors);
	json_add_int(o, "duration_ms", e->sweep.ms);
	if (e->kind == SM_EVENT_DISCOVERED) {
		add_text(o, "the subnet has been read: %u Gets in %u ms", e->sweep.n_gets,
			 e->sweep.ms);
		return;
	}
	json_add_bool(o, "went_through", e->sweep.through);
	if (e->kind == SM_EVENT_SUBNET_UP)
		add_text(o, e->sweep.errors ? "the subnet is set up, with %u error%s" : "SUBNET UP",
			 e->sweep.errors, e->sweep.errors == 1 ? "" : "s");
	else
		add_text(o, "%s sweep %s: %u Gets, %u Sets, %u errors in %u ms",
			 sweep_kind_name(e->sweep.kind), e->sweep.through ? "done" : "ended early",
			 e->sweep.n_gets, e->sweep.n_sets, e->sweep.errors, e->sweep.ms);
}

static void add_node(struct json_object *o, const struct daemon_api *api, const struct sm_event *e)
{
	static const char *const nouns[] = { "node", "host", "switch", "router" };
	const char *noun = e->node.type < ARRAY_SIZE(nouns) ? nouns[e->node.type] : nouns[0];
	const char *name = name_of(api, e->node.node_guid, e->node.desc);

	json_add_guid(o, "node_guid", e->node.node_guid);
	json_add_guid(o, "port_guid", e->node.port_guid);
	json_add_str(o, "name", name);
	json_add_str(o, "type", ib_node_row(e->node.type)->word);
	json_add_bool(o, "came", e->node.came);
	if (e->node.came || !e->node.behind_guid) {
		add_text(o, "%s '%s' (0x%016" PRIx64 ") %s", noun, name, e->node.node_guid,
			 e->node.came ? "is there" : "is gone");
		return;
	}
	add_text(o, "%s '%s' (0x%016" PRIx64 ") is gone; it was behind '%s' port %u", noun, name,
		 e->node.node_guid, name_of(api, e->node.behind_guid, "?"), e->node.behind_port);
}

static void add_ends(struct json_object *o, const struct daemon_api *api, const guid_t guid[2],
		     const uint8_t port[2], const char *ret_name[2])
{
	struct json_object *ends = json_add_array(o, "ends");

	for (unsigned i = 0; i < 2; i++) {
		struct json_object *end = json_append_object(ends);

		ret_name[i] = name_of(api, guid[i], NULL);
		json_add_guid(end, "node_guid", guid[i]);
		json_add_str(end, "name", ret_name[i]);
		json_add_int(end, "port", port[i]);
	}
}

static void add_link(struct json_object *o, const struct daemon_api *api, const struct sm_event *e)
{
	const char *name[2];

	add_ends(o, api, e->link.guid, e->link.port, name);
	json_add_bool(o, "up", e->link.up);
	add_text(o, "link '%s' port %u - '%s' port %u is %s", name[0] ? name[0] : "?",
		 e->link.port[0], name[1] ? name[1] : "?", e->link.port[1],
		 e->link.up ? "up" : "down");
}

static void add_routes(struct json_object *o, const struct sm_event *e)
{
	json_add_str(o, "engine", e->routes.engine);
	json_add_bool(o, "without_reading", e->routes.reroute);
	json_add_int(o, "duration_ms", e->routes.ms);
	json_add_int(o, "unreachable_pairs", e->routes.unreachable);
	json_add_int(o, "lanes", e->routes.lanes);
	add_text(o, "routes by %s computed in %u ms, %u pairs have no way", e->routes.engine,
		 e->routes.ms, e->routes.unreachable);
}

static void add_lft(struct json_object *o, const struct daemon_api *api, const struct sm_event *e)
{
	const char *name = name_of(api, e->lft.node_guid, "?");

	json_add_guid(o, "node_guid", e->lft.node_guid);
	json_add_str(o, "name", name);
	json_add_int(o, e->lft.top_changed ? "top" : "block",
			e->lft.top_changed ? e->lft.top : e->lft.block);
	add_text(o, "forwarding table of '%s': %s %u written", name,
		 e->lft.top_changed ? "top" : "block",
		 e->lft.top_changed ? e->lft.top : e->lft.block);
}

static void add_manager(struct json_object *o, const struct sm_event *e)
{
	json_add_guid(o, "guid", e->manager.guid);
	json_add_str(o, "state", e->manager.gone ? NULL : sm_state_name(e->manager.state));
	json_add_int(o, "priority", e->manager.priority);
	json_add_bool(o, "gone", e->manager.gone);
	add_text(o, "%s", e->manager.text ? e->manager.text : "another subnet manager");
}

static void add_security(struct json_object *o, const struct sm_event *e)
{
	json_add_str(o, "what", e->security.what);
	json_add_guid(o, "port_guid", e->security.port_guid);
	json_add_int(o, "lid", e->security.lid);
	add_text(o, "%s", e->security.text);
}

static void add_health(struct json_object *o, const struct daemon_api *api,
		       const struct sm_event *e)
{
	const char *name[2];

	json_add_str(o, "what", e->health.what);
	add_ends(o, api, e->health.guid, e->health.port, name);
	add_text(o, "%s", e->health.text);
}

static void add_mark(struct json_object *o, const struct daemon_api *api, const struct sm_event *e)
{
	json_add_str(o, "what", e->mark.what);
	json_add_guid(o, "node_guid", e->mark.guid);
	json_add_str(o, "name", name_of(api, e->mark.guid, NULL));
	json_add_known(o, "port", !e->mark.whole_switch, e->mark.port);
	json_add_str(o, "by", e->mark.by);
	add_text(o, "%s", e->mark.text);
}

static void add_alarm(struct json_object *o, const struct sm_event *e)
{
	const struct alarm *a = e->alarm.alarm;

	json_add_bool(o, "begins", e->alarm.begins);
	json_object_object_add(o, "alarm", show_alarm(a));
	add_text(o, "%s: %s%s", a->object, a->text, e->alarm.begins ? "" : ": this is over");
}

/* Entries that led into the cables, by the way that they go now; names as patch_how_name(). */
static const struct json_field way_fields[] = {
	[PATCH_BESIDE] = { .key = "beside", .type = "int" },
	[PATCH_RULE] = { .key = "rule", .type = "int" },
	[PATCH_NEIGHBOUR] = { .key = "neighbour", .type = "int" },
	[PATCH_BACK] = { .key = "back", .type = "int" },
	[PATCH_WAITING] = { .key = "waiting", .type = "int" },
	[PATCH_HOWS] = { 0 },
};

static void add_patch(struct json_object *o, const struct daemon_api *api, const struct sm_event *e)
{
	const struct patch_tally *t = e->patch.tally;
	struct json_object *ways;
	const char *name[2];

	add_ends(o, api, e->patch.guid, e->patch.port, name);
	json_add_int(o, "cables", t->cables);
	json_add_int(o, "switches", t->switches);
	ways = json_add_object(o, "destinations");
	for (unsigned how = 0; how < PATCH_HOWS; how++)
		json_add_int(ways, way_fields[how].key, t->destinations[how]);
	json_add_int(o, "groups", t->groups);
	json_add_int(o, "branches_waiting", t->branches_waiting);
	json_add_int(o, "duration_us", t->us);
	add_text(o, "%s", e->patch.text);
}

static void add_rest(struct json_object *o, const struct daemon_api *api, const struct sm_event *e)
{
	switch (e->kind) {
	case SM_EVENT_STATE:
		json_add_str(o, "from", sm_state_name(e->state.from));
		json_add_str(o, "to", sm_state_name(e->state.to));
		add_text(o, "%s -> %s", sm_state_name(e->state.from), sm_state_name(e->state.to));
		break;
	case SM_EVENT_SWEEP_START:
	case SM_EVENT_DISCOVERED:
	case SM_EVENT_SWEEP_DONE:
	case SM_EVENT_SUBNET_UP:
		add_sweep(o, e);
		break;
	case SM_EVENT_ROUTES:
		add_routes(o, e);
		break;
	case SM_EVENT_LFT:
		add_lft(o, api, e);
		break;
	case SM_EVENT_NODE:
		add_node(o, api, e);
		break;
	case SM_EVENT_LINK:
		add_link(o, api, e);
		break;
	case SM_EVENT_TRAP:
		json_add_int(o, "lid", e->trap.from);
		add_text(o, "%s", e->trap.text ? e->trap.text : "a trap");
		break;
	case SM_EVENT_MANAGER:
		add_manager(o, e);
		break;
	case SM_EVENT_SA_DUMPED:
		add_text(o, "what hosts registered was written to its file");
		break;
	case SM_EVENT_PORT_DOWN:
		add_text(o, "our own port has lost its link");
		break;
	case SM_EVENT_SECURITY:
		add_security(o, e);
		break;
	case SM_EVENT_DRIFT:
		json_add_str(o, "cause", e->drift.cause);
		json_add_bool(o, "begins", e->drift.begins);
		add_text(o, "%s%s", e->drift.text, e->drift.begins ? "" : ": this is over");
		break;
	case SM_EVENT_HEALTH:
		add_health(o, api, e);
		break;
	case SM_EVENT_MARK:
		add_mark(o, api, e);
		break;
	case SM_EVENT_ALARM:
		add_alarm(o, e);
		break;
	case SM_EVENT_PATCH:
		add_patch(o, api, e);
		break;
	case SM_EVENT_KINDS:
		break;
	}
}

void control_put_event(struct json_object *o, const struct daemon_api *api,
		       const struct sm_event *event)
{
	int64_t realtime = daemon_api_realtime(api, event->at);

	json_add_str(o, "kind", control_event_name(event->kind));
	json_add_time(o, "time", realtime);
	add_rest(o, api, event);
}

/* ---- members --------------------------------------------------------------------------------- */

static const struct json_field end_fields[] = {
	{ .key = "node_guid", .type = "?string" },
	{ .key = "name", .type = "?string" },
	{ .key = "port", .type = "int" },
	{ 0 },
};

/* Those of all kinds first, then those that some kinds have (test-schemas). */
const struct json_field control_event_fields[] = {
	FIELD_ROW("kind", STR)
	FIELD_ROW("time", TIME)
	FIELD_ROW("text", STR)
	FIELD_MAYBE("sweep", STR)
	FIELD_MAYBE("why", OPT(STR))
	FIELD_MAYBE("gets", INT)
	FIELD_MAYBE("sets", INT)
	FIELD_MAYBE("errors", INT)
	FIELD_MAYBE("duration_ms", INT)
	FIELD_MAYBE("went_through", BOOL)
	FIELD_MAYBE("node_guid", OPT(GUID))
	FIELD_MAYBE("port_guid", OPT(GUID))
	FIELD_MAYBE("guid", OPT(GUID))
	FIELD_MAYBE("lid", INT)
	FIELD_MAYBE("name", OPT(STR))
	FIELD_MAYBE("type", STR)
	FIELD_MAYBE("came", BOOL)
	FIELD_MAYBE("ends", LIST(end_fields))
	FIELD_MAYBE("up", BOOL)
	FIELD_MAYBE("engine", STR)
	FIELD_MAYBE("without_reading", BOOL)
	FIELD_MAYBE("unreachable_pairs", INT)
	FIELD_MAYBE("lanes", INT)
	FIELD_MAYBE("block", INT)
	FIELD_MAYBE("top", INT)
	FIELD_MAYBE("from", STR)
	FIELD_MAYBE("to", STR)
	FIELD_MAYBE("state", OPT(STR))
	FIELD_MAYBE("priority", INT)
	FIELD_MAYBE("gone", BOOL)
	FIELD_MAYBE("what", OPT(STR))
	FIELD_MAYBE("port", OPT(INT))
	FIELD_MAYBE("by", OPT(STR))
	FIELD_MAYBE("cause", OPT(STR))
	FIELD_MAYBE("begins", BOOL)
	FIELD_MAYBE("cables", INT)
	FIELD_MAYBE("switches", INT)
	FIELD_MAYBE("destinations", OBJECT(way_fields))
	FIELD_MAYBE("groups", INT)
	FIELD_MAYBE("branches_waiting", INT)
	FIELD_MAYBE("duration_us", INT)
	{ 0 },
};

/* missed: events were left out in front of this one. */
const struct json_field control_monitor_fields[] = {
	{ .key = "event", FIELD_TYPE_OBJECT(control_event_fields) },
	{ .key = "missed", .optional = true, FIELD_TYPE_BOOL },
	{ 0 },
};

/* ---- Monitor --------------------------------------------------------------------------------- */

/* "sweep" means "sweep_start" and "sweep_done". */
static bool is_kind(const char *name, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(name, word, len) && (!name[len] || name[len] == '_');
}

bool control_kind_is_wanted(struct json_object *parameters, const char *kind)
{
	struct json_object *kinds = json_object_object_get(parameters, "kinds");
	size_t n = kinds ? json_object_array_length(kinds) : 0;

	for (size_t i = 0; i < n; i++)
		if (is_kind(kind, json_object_get_string(json_object_array_get_idx(kinds, i))))
			return true;
	return !n && strcmp(kind, names[SM_EVENT_LFT]) != 0;
}

static bool is_known(struct json_object *kind)
{
	if (!json_object_is_type(kind, json_type_string))
		return false;
	for (unsigned i = 0; i < SM_EVENT_KINDS; i++)
		if (is_kind(names[i], json_object_get_string(kind)))
			return true;
	return false;
}

static void refuse_kind(struct json_object *kind, struct control_error *err)
{
	char all[300], shown[40];
	size_t len = 0;
	const char *text = json_object_get_string(kind);

	for (unsigned i = 0; i < SM_EVENT_KINDS; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "",
					names[i]);
	str_printable(text ? text : "null", text ? strlen(text) : 4, shown, sizeof(shown));
	control_fail(err, "InvalidParameter", "there is no event '%s'; there are: %s", shown, all);
}

bool control_kinds_are_known(struct json_object *parameters, struct control_error *err)
{
	struct json_object *kinds = json_object_object_get(parameters, "kinds");
	size_t n = kinds ? json_object_array_length(kinds) : 0;

	if (n > KINDS_MAX) {
		control_fail(err, "InvalidParameter", "at most %d kinds", KINDS_MAX);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		struct json_object *kind = json_object_array_get_idx(kinds, i);

		if (!is_known(kind)) {
			refuse_kind(kind, err);
			return false;
		}
	}
	return true;
}

struct json_object *control_monitor(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	return control_kinds_are_known(parameters, err) ? json_object_new_object() : NULL;
}

struct json_object *control_follow_monitor(const struct control_following *f,
					   const struct sm_event *event, unsigned *state,
					   bool *ret_last)
{
	struct json_object *o;

	/* The call stays open: another event follows, or a manager takes the place of this one. */
	if (!event || !control_kind_is_wanted(f->parameters, names[event->kind]))
		return NULL;
	o = json_object_new_object();
	control_put_event(json_add_object(o, "event"), f->api, event);
	if (f->missed)
		json_add_bool(o, "missed", true);
	return o;
}
