// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports out of service: unhealthy_ports, isolated_ports, and marking a device as a whole.
 *
 * Each is Mark of the manager, which stores it, isolates the link in its own time, and refuses what
 * would cut off others. A request with several ports is done port by port, and ends at the first
 * that fails; the same again is harmless.
 *
 * The end that is listed as unhealthy is the host's; between two switches it is the one that was
 * named. The other one is the peer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "api/json.h"
#include "rest/api_fabric.h"
#include "rest/api_internal.h"
#include "rest/api_text.h"
#include "util/mem.h"
#include "util/str.h"

#define PORTS_MAX 1024u /* most ports of one request */
#define TARGET	  48	/* bytes of "0x0123456789abcdef/254" and some more */

/* ---- what is marked -------------------------------------------------------------------------- */

/* The marks, as the manager has them: the caller's. NULL: `ret` is filled. */
static struct json_object *get_marks(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *o = rest_call(q, "Marks", NULL, &err);

	if (!o)
		rest_answer_call_error(ret, &err);
	return o;
}

struct listed {
	struct api_end unhealthy, peer; /* peer.node NULL: not known */
	struct json_object *mark;
};

typedef void listed_fn(void *arg, const struct listed *l);

static struct json_object *find_port(const struct api_node *n, int64_t num)
{
	size_t n_ports = n->ports ? json_object_array_length(n->ports) : 0;

	for (size_t i = 0; i < n_ports; i++) {
		struct json_object *port = json_object_array_get_idx(n->ports, i);

		if (api_int(port, "port") == num)
			return port;
	}
	return NULL;
}

/* A port with its mark: the host's end is the unhealthy one. */
static void list_port(const struct api_fabric *f, const struct api_node *n,
		      struct json_object *mark, struct json_object *port, listed_fn *fn, void *arg)
{
	struct listed l = { .mark = mark, .peer = api_peer_of(f, port) };

	if (!api_end_of(n, port, &l.unhealthy))
		return;
	if (l.peer.node && l.peer.node->kind != API_SWITCH) {
		struct api_end host = l.peer;

		l.peer = l.unhealthy;
		l.unhealthy = host;
	}
	fn(arg, &l);
}

/* Lists the mark of a whole switch: all its cables, or those that the mark is about. */
static void list_mark(const struct api_fabric *f, struct json_object *mark, listed_fn *fn,
		      void *arg)
{
	guid_t guid = api_guid(mark, "node_guid");
	bool drain = !strcmp(api_str(mark, "kind"), "drain");
	int64_t num = api_int(mark, "port");
	const struct api_node *n = NULL;

	for (size_t i = 0; i < f->n && !n; i++)
		if (f->nodes[i].guid == guid)
			n = &f->nodes[i];
	for (size_t i = 0; n && n->ports && i < json_object_array_length(n->ports); i++) {
		struct json_object *port = json_object_array_get_idx(n->ports, i);
		struct api_end peer = api_peer_of(f, port);
		bool is_meant = num ? api_int(port, "port") == num
				    : peer.node && (!drain || peer.node->kind == API_SWITCH);

		if (is_meant)
			list_port(f, n, mark, port, fn, arg);
	}
}

/* Calls `fn` for each port. False: `ret` is filled with the reason. */
static bool list_marks(const struct rest_request *q, struct rest_answer *ret, listed_fn *fn,
		       void *arg)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = NULL;
	struct json_object *o = get_marks(q, ret), *marks;

	if (!o)
		return false;
	marks = json_object_object_get(o, "marks");
	if (marks && json_object_array_length(marks)) {
		f = api_fabric_new(q, ret);
		if (!f) {
			json_object_put(o);
			return false;
		}
	}
	for (size_t i = 0; f && i < json_object_array_length(marks); i++)
		list_mark(f, json_object_array_get_idx(marks, i), fn, arg);
	json_object_put(o);
	return true;
}

/* ---- records --------------------------------------------------------------------------------- */

static int64_t lid_of(const struct api_end *e)
{
	struct json_object *port = e->node ? find_port(e->node, e->num) : NULL;

	if (!e->node)
		return 0;
	return api_int(e->node->kind == API_SWITCH ? e->node->o : port, "lid");
}

/* "switch-ec4034/6", "r-dmz/HCA-1/1", to be freed; NULL: the end is not known. */
static char *path_of(const struct api_end *e)
{
	char dname[API_END_NAME];

	if (!e->node)
		return NULL;
	api_end_dname(e, dname, sizeof(dname));
	return xasprintf("%s/%s", e->node->system, dname);
}

#define TIME_TEXT 40

/* "Wed Apr 29 00:12:12 2020"; "N/A": it is not known. */
static const char *time_of(struct json_object *mark, char ret[TIME_TEXT])
{
	const char *text = api_str(mark, "since");
	struct tm tm = { 0 };
	time_t since = strptime(text, "%FT%TZ", &tm) ? timegm(&tm) : 0;

	if (since && localtime_r(&since, &tm) &&
	    strftime(ret, TIME_TEXT, "%a %b %d %H:%M:%S %Y", &tm))
		return ret;
	return "N/A";
}

#define LISTED_FIELDS(F)                                                                           \
	F("PeerLID", STR, lid)                                                                     \
	F("PeerPortNumber", INT, peer->num)                                                        \
	F("UnhealthyPortNumber", INT, unhealthy->num)                                              \
	F("PeerGUID", GUID, peer->node ? peer->guid : 0)                                           \
	F("PeerPort", STR, peer_path)                                                              \
	F("UnhealthyNode", STR, unhealthy->node->system)                                           \
	F("UnhealthyPort", STR, path)                                                              \
	F("State", STR, "Info")                                                                    \
	F("PeerPortDname", STR, peer_dname)                                                        \
	F("Condition", STR, "MANUAL")                                                              \
	F("PeerNode", STR, peer->node ? peer->node->system : NULL)                                 \
	F("StatusTime", STR, time_of(l->mark, since))                                              \
	F("UnhealthyPortDname", STR, dname)                                                        \
	F("UnhealthyGUID", GUID, unhealthy->guid)

static const struct json_field listed_fields[] = FIELDS_TABLE(LISTED_FIELDS);

static void write_listed(struct api_text *t, const struct listed *l)
{
	const struct api_end *unhealthy = &l->unhealthy, *peer = &l->peer;
	char dname[API_END_NAME], peer_dname[API_END_NAME] = "N/A", lid[24], since[TIME_TEXT];
	_cleanup_free_ char *path = path_of(unhealthy), *peer_path = path_of(peer);

	snprintf(lid, sizeof(lid), "%" PRId64, lid_of(peer));
	api_end_dname(unhealthy, dname, sizeof(dname));
	if (peer->node)
		api_end_dname(peer, peer_dname, sizeof(peer_dname));
	FIELDS_TEXT(t, NULL, LISTED_FIELDS);
}

static void write_one(void *arg, const struct listed *l)
{
	write_listed(arg, l);
}

static void answer_unhealthy(const struct rest_request *q, struct rest_answer *ret)
{
	struct api_text t;
	bool ok;

	api_text_start(&t);
	api_text_open(&t, NULL, '[');
	ok = list_marks(q, ret, write_one, &t);
	api_text_close(&t, ']');
	if (ok)
		api_text_answer(&t, ret);
	else
		api_text_drop(&t);
}

const struct rest_operation api_unhealthy = {
	.help = "Lists ports that are out of service.",
	.gives = REST_GIVES(FIELD_ROW("UnhealthyPorts", LIST(listed_fields))),
	.answer = answer_unhealthy,
};

struct search {
	const char *name;
	struct api_text t;
	bool found;
};

static void write_if_named(void *arg, const struct listed *l)
{
	char unhealthy[API_END_NAME], peer[API_END_NAME] = "";
	struct search *s = arg;

	api_end_name(&l->unhealthy, unhealthy, sizeof(unhealthy));
	if (l->peer.node)
		api_end_name(&l->peer, peer, sizeof(peer));
	if (s->found || (strcasecmp(s->name, unhealthy) != 0 && strcasecmp(s->name, peer) != 0))
		return;
	s->found = true;
	write_listed(&s->t, l);
}

static void answer_unhealthy_one(const struct rest_request *q, struct rest_answer *ret)
{
	struct search s = { .name = q->segments[0] };
	bool ok;

	api_text_start(&s.t);
	ok = list_marks(q, ret, write_if_named, &s);
	if (ok && s.found) {
		api_text_answer(&s.t, ret);
		return;
	}
	api_text_drop(&s.t);
	if (ok)
		rest_answer_error(ret, 404, "'%.40s' is no unhealthy port", s.name);
}

const struct rest_operation api_unhealthy_one = {
	.help = "Shows the port GUID_PORT that is out of service.",
	.gives = REST_GIVES(FIELD_ROW("UnhealthyPort", OBJECT(listed_fields))),
	.answer = answer_unhealthy_one,
};

static void add_isolated(void *arg, const struct listed *l)
{
	char name[API_END_NAME], text[API_END_NAME + 2];

	if (strcmp(api_str(l->mark, "kind"), "isolate") != 0)
		return;
	api_end_name(&l->unhealthy, name, sizeof(name));
	snprintf(text, sizeof(text), "0x%s", name);
	json_append_str(arg, text);
}

#define ISOLATED_FIELDS(F)                                                                         \
	F("isolated_ports", OF("[]string"), take(isolated))                                        \
	F("healthy_ports", OF("[]string"), json_object_new_array())

static const struct json_field isolated_fields[] = FIELDS_TABLE(ISOLATED_FIELDS);

static void answer_isolated(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *isolated = json_object_new_array();

	if (list_marks(q, ret, add_isolated, isolated))
		rest_answer_json(ret, 200, FIELDS_NEW(ISOLATED_FIELDS));
	json_object_put(isolated);
}

const struct rest_operation api_isolated = {
	.help = "Lists ports that are isolated.",
	.gives = REST_GIVES(FIELD_ROW("IsolatedPorts", OBJECT(isolated_fields))),
	.answer = answer_isolated,
};

/* ---- changes --------------------------------------------------------------------------------- */

static void note_change(struct rest_answer *ret, struct json_object *answer)
{
	ret->changed |= json_object_get_boolean(json_object_object_get(answer, "changed"));
	ret->generation = (uint64_t)api_int(answer, "generation");
	ret->job = (uint64_t)api_int(answer, "job");
}

/* Keeps the results of earlier ports, for the journal. */
static void keep_change(struct rest_answer *ret, bool changed, uint64_t generation)
{
	ret->changed = changed;
	ret->generation = generation;
}

/* Marks a port. A port that is in service already is no error. False: `ret` is filled. */
static bool mark_port(const struct rest_request *q, struct rest_answer *ret, const char *target,
		      bool unhealthy)
{
	struct json_object *parameters = json_object_new_object(), *answer;
	struct rest_answer before;
	struct rest_error err;

	json_add_str(parameters, "action", unhealthy ? "isolate" : "restore");
	json_add_str(parameters, "target", target);
	json_add_bool(parameters, "wait", false);
	json_add_str(parameters, "user", q->user ? q->user : "");
	answer = rest_call(q, "Mark", parameters, &err);
	if (answer) {
		note_change(ret, answer);
		json_object_put(answer);
		return true;
	}
	if (!unhealthy && str_equal(err.name, "NotMarked"))
		return true;
	before = *ret;
	if (str_equal(err.name, "NotFound") || str_equal(err.name, "TooCostly") ||
	    str_equal(err.name, "Ambiguous"))
		api_refuse(ret, "%.40s: %.400s", target, err.text);
	else
		rest_answer_call_error(ret, &err);
	keep_change(ret, before.changed, before.generation);
	return false;
}

/* "e41d2d0300062380_3" as the manager has it: "0xe41d2d0300062380/3". */
static bool target_of(const char *name, char ret[TARGET])
{
	const char *at = name ? strchr(name, '_') : NULL;
	char text[24];
	uint64_t port;
	guid_t guid;

	if (!at || (size_t)(at - name) >= sizeof(text) || str_to_u64(at + 1, 10, 254, &port) < 0)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(at - name), name);
	if (!port || !api_guid_of_text(text, &guid))
		return false;
	snprintf(ret, TARGET, "0x%016" PRIx64 "/%u", guid, (unsigned)port);
	return true;
}

static const char *text_at(struct json_object *list, size_t i)
{
	struct json_object *o = json_object_array_get_idx(list, i);

	return json_object_is_type(o, json_type_string) ? json_object_get_string(o) : NULL;
}

/* Checks all names before the first change. False: `ret` is filled. */
static bool are_names(struct rest_answer *ret, struct json_object *ports)
{
	char target[TARGET];

	if (!json_object_is_type(ports, json_type_array) || !json_object_array_length(ports) ||
	    json_object_array_length(ports) > PORTS_MAX) {
		api_refuse(ret, "expected a list of 1 to %u ports", PORTS_MAX);
		return false;
	}
	for (size_t i = 0; i < json_object_array_length(ports); i++) {
		if (target_of(text_at(ports, i), target))
			continue;
		api_refuse(ret, "'%.40s' is no port; expected GUID_PORT",
			   text_at(ports, i) ? text_at(ports, i) : "");
		return false;
	}
	return true;
}

static bool mark_names(const struct rest_request *q, struct rest_answer *ret,
		       struct json_object *ports, bool unhealthy)
{
	char target[TARGET];

	for (size_t i = 0; i < json_object_array_length(ports); i++)
		if (!target_of(text_at(ports, i), target) || !mark_port(q, ret, target, unhealthy))
			return false;
	return true;
}

/* UNHEALTHY or HEALTHY, in either case; the action, if any, is isolate. False: `ret`. */
static bool read_policy(struct rest_answer *ret, const char *policy, const char *action,
			bool *ret_unhealthy)
{
	*ret_unhealthy = policy && !strcasecmp(policy, "UNHEALTHY");
	if (!policy || (!*ret_unhealthy && strcasecmp(policy, "HEALTHY") != 0)) {
		api_refuse(ret, "the policy must be UNHEALTHY or HEALTHY");
		return false;
	}
	if (!*ret_unhealthy || !action || !strcasecmp(action, "isolate"))
		return true;
	api_refuse(ret, "'%.40s': ports can be isolated, nothing else; nothing was changed",
		   action);
	return false;
}

static const char *text_of(struct json_object *v)
{
	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

#define UNHEALTHY_BODY(B)                                                                          \
	B(ports, OF("[]string"), "ports: GUID_PORT")                                               \
	B(ports_policy, STR, "UNHEALTHY or HEALTHY")                                               \
	B(action, OPT(STR), "isolate, as if absent")

static const struct json_field unhealthy_body[] = BODY_TABLE(UNHEALTHY_BODY);

static void set_unhealthy(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *body = q->body;
	const struct {
		UNHEALTHY_BODY(BODY_MEMBER)
	} asked = { UNHEALTHY_BODY(BODY_READ) };
	bool unhealthy;

	if (are_names(ret, asked.ports) &&
	    read_policy(ret, text_of(asked.ports_policy), text_of(asked.action), &unhealthy) &&
	    mark_names(q, ret, asked.ports, unhealthy)) {
		bool changed = ret->changed;
		uint64_t generation = ret->generation;

		rest_answer_empty(ret);
		keep_change(ret, changed, generation);
	}
}

const struct rest_operation api_set_unhealthy = {
	.help = "Takes ports out of service, or back into it.",
	.body = unhealthy_body,
	.gives = REST_GIVES(REST_EMPTY),
	.answer = set_unhealthy,
};

/* ---- devices --------------------------------------------------------------------------------- */

/* A switch as a whole, each cabled port of an adapter. False: `ret` is filled. */
static bool mark_node(const struct rest_request *q, struct rest_answer *ret,
		      const struct api_node *n, bool unhealthy)
{
	size_t n_ports = n->ports ? json_object_array_length(n->ports) : 0;
	char target[TARGET];

	snprintf(target, sizeof(target), "0x%016" PRIx64, n->guid);
	if (n->kind == API_SWITCH)
		return mark_port(q, ret, target, unhealthy);
	for (size_t i = 0; i < n_ports; i++) {
		struct json_object *port = json_object_array_get_idx(n->ports, i);

		if (!json_object_object_get(port, "peer"))
			continue;
		snprintf(target, sizeof(target), "0x%016" PRIx64 "/%u", n->guid,
			 (unsigned)api_int(port, "port"));
		if (!mark_port(q, ret, target, unhealthy))
			return false;
	}
	return true;
}

/*
 * Is this the GUID of the system, of the node or of one of its ports; with `guid` 0: the system's
 * name?
 */
static bool is_device(const struct api_node *n, guid_t guid, const char *name)
{
	size_t n_ports = n->ports ? json_object_array_length(n->ports) : 0;

	if (!guid)
		return name && !strcmp(n->system, name);
	for (size_t i = 0; i < n_ports; i++)
		if (api_guid(json_object_array_get_idx(n->ports, i), "port_guid") == guid)
			return true;
	return n->system_guid == guid || n->guid == guid;
}

static bool mark_system(const struct rest_request *q, struct rest_answer *ret,
			const struct api_fabric *f, const char *id, bool unhealthy)
{
	bool found = false;
	guid_t guid = 0;

	if (!id || !api_guid_of_text(id, &guid))
		guid = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct api_node *n = &f->nodes[i];

		if (!is_device(n, guid, id))
			continue;
		found = true;
		if (!mark_node(q, ret, n, unhealthy))
			return false;
	}
	if (!found)
		api_refuse(ret, "there is no device '%.40s'", id ? id : "");
	return found;
}

static bool mark_systems(const struct rest_request *q, struct rest_answer *ret,
			 struct json_object *ids, bool unhealthy)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = NULL;

	if (!json_object_is_type(ids, json_type_array) || !json_object_array_length(ids) ||
	    json_object_array_length(ids) > PORTS_MAX) {
		api_refuse(ret, "object_ids: expected a list of 1 to %u devices", PORTS_MAX);
		return false;
	}
	f = api_fabric_new(q, ret);
	for (size_t i = 0; f && i < json_object_array_length(ids); i++)
		if (!mark_system(q, ret, f, text_at(ids, i), unhealthy))
			return false;
	return f != NULL;
}

static const struct json_field started_fields[] = FIELDS_TABLE(API_STARTED_FIELDS);

#define DEVICE_BODY(B)                                                                             \
	B(device_policy, OPT(STR), "UNHEALTHY or HEALTHY, as the action has it")                   \
	B(action, OPT(STR), "isolate, as if absent")

static const struct json_field device_body[] = BODY_TABLE(DEVICE_BODY);

#define ACTION_BODY(B)                                                                             \
	B(action, STR, "mark_device_unhealthy or mark_device_healthy")                             \
	B(object_ids, OF("[]string"), "ports, or GUIDs or names of systems")                       \
	B(object_type, OPT(STR), "Port, else a system")                                            \
	B(params, OPT_OBJECT(device_body), NULL)

static const struct json_field action_body[] = BODY_TABLE(ACTION_BODY);

struct action {
	ACTION_BODY(BODY_MEMBER)
};

/* Does the body contradict the action? True: `ret` is filled. */
static bool is_refused(const struct action *a, struct rest_answer *ret, bool unhealthy)
{
	struct json_object *body = a->params;
	const struct {
		DEVICE_BODY(BODY_MEMBER)
	} asked = { DEVICE_BODY(BODY_READ) };
	const char *policy = text_of(asked.device_policy);
	bool same;

	if (!policy)
		policy = unhealthy ? "UNHEALTHY" : "HEALTHY";
	if (!read_policy(ret, policy, text_of(asked.action), &same))
		return true;
	if (same != unhealthy)
		api_refuse(ret, "action and device_policy contradict each other");
	return same != unhealthy;
}

/* Of several marks, the job is the last one: they are made one after another. */
static void mark_device(const struct rest_request *q, struct rest_answer *ret,
			const struct action *a, bool unhealthy)
{
	const char *type = text_of(a->object_type);
	bool is_ports = type && !strcasecmp(type, "Port"), changed;
	uint64_t generation;

	if (is_refused(a, ret, unhealthy))
		return;
	if (is_ports ? !are_names(ret, a->object_ids) ||
			       !mark_names(q, ret, a->object_ids, unhealthy)
		     : !mark_systems(q, ret, a->object_ids, unhealthy))
		return;
	generation = ret->generation;
	changed = ret->changed;
	api_answer_job(q, ret, ret->job);
	keep_change(ret, changed, generation);
}

static void answer_action(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *body = q->body;
	const struct action a = { ACTION_BODY(BODY_READ) };
	const char *action = json_object_get_string(a.action);

	if (!action)
		api_refuse(ret, "action is missing");
	else if (!strcmp(action, "mark_device_unhealthy"))
		mark_device(q, ret, &a, true);
	else if (!strcmp(action, "mark_device_healthy"))
		mark_device(q, ret, &a, false);
	else
		rest_answer_error(ret, 501, "there is no action '%.60s'; nothing was changed",
				  action);
}

const struct rest_operation api_actions = {
	.help = "Takes hosts and switches out of service, or back into it.",
	.body = action_body,
	.status = 202,
	.gives = REST_GIVES(FIELD_ROW("StartedJob", OBJECT(started_fields))),
	.answer = answer_action,
};
