// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports out of service: unhealthy_ports, isolated_ports, and marking a device as a whole.
 *
 * Each is Mark of the manager, which stores it, isolates the link in its own time, and refuses what
 * would cut off others. A request with several ports is done port by port, and ends at the first
 * that fails; the same again is harmless. Jobs are changes: number N is done when the manager's
 * table of marks has the generation N, which it has when the request is answered.
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

/* "switch-ec4034/6", "r-dmz/HCA-1/1". */
static void write_end(struct api_text *t, const char *key, const struct api_end *e)
{
	char dname[API_END_NAME];
	_cleanup_free_ char *name = NULL;

	if (e->node) {
		api_end_dname(e, dname, sizeof(dname));
		name = xasprintf("%s/%s", e->node->system, dname);
	}
	api_text_str(t, key, name);
}

static void write_time(struct api_text *t, struct json_object *mark)
{
	time_t since = (time_t)api_int(mark, "since");
	char text[40] = "N/A";
	struct tm tm;

	if (since && localtime_r(&since, &tm))
		strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y", &tm);
	api_text_str(t, "StatusTime", text);
}

static void write_listed(struct api_text *t, const char *key, const struct listed *l)
{
	char dname[API_END_NAME] = "N/A", lid[24];

	snprintf(lid, sizeof(lid), "%" PRId64, lid_of(&l->peer));
	api_text_open(t, key, '{');
	api_text_str(t, "PeerLID", lid);
	api_text_int(t, "PeerPortNumber", l->peer.num);
	api_text_int(t, "UnhealthyPortNumber", l->unhealthy.num);
	api_text_guid(t, "PeerGUID", l->peer.node ? l->peer.guid : 0);
	write_end(t, "PeerPort", &l->peer);
	api_text_str(t, "UnhealthyNode", l->unhealthy.node->system);
	write_end(t, "UnhealthyPort", &l->unhealthy);
	api_text_str(t, "State", "Info");
	if (l->peer.node)
		api_end_dname(&l->peer, dname, sizeof(dname));
	api_text_str(t, "PeerPortDname", dname);
	api_text_str(t, "Condition", "MANUAL");
	api_text_str(t, "PeerNode", l->peer.node ? l->peer.node->system : NULL);
	write_time(t, l->mark);
	api_end_dname(&l->unhealthy, dname, sizeof(dname));
	api_text_str(t, "UnhealthyPortDname", dname);
	api_text_guid(t, "UnhealthyGUID", l->unhealthy.guid);
	api_text_close(t, '}');
}

static void write_one(void *arg, const struct listed *l)
{
	write_listed(arg, NULL, l);
}

void api_unhealthy(const struct rest_request *q, struct rest_answer *ret)
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
	write_listed(&s->t, NULL, l);
}

void api_unhealthy_one(const struct rest_request *q, struct rest_answer *ret)
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

static void add_isolated(void *arg, const struct listed *l)
{
	char name[API_END_NAME], text[API_END_NAME + 2];

	if (strcmp(api_str(l->mark, "kind"), "isolate") != 0)
		return;
	api_end_name(&l->unhealthy, name, sizeof(name));
	snprintf(text, sizeof(text), "0x%s", name);
	json_append_str(arg, text);
}

void api_isolated(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *o = json_object_new_object();
	struct json_object *isolated = json_add_array(o, "isolated_ports");

	json_add_array(o, "healthy_ports");
	if (list_marks(q, ret, add_isolated, isolated))
		rest_answer_json(ret, 200, o);
	else
		json_object_put(o);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void note_change(struct rest_answer *ret, struct json_object *answer)
{
	ret->changed |= json_object_get_boolean(json_object_object_get(answer, "changed"));
	ret->generation = (uint64_t)api_int(answer, "generation");
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

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v =
		json_object_is_type(o, json_type_object) ? json_object_object_get(o, key) : NULL;

	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

void api_set_unhealthy(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *ports = json_object_is_type(q->body, json_type_object)
					    ? json_object_object_get(q->body, "ports")
					    : NULL;
	bool unhealthy;

	if (are_names(ret, ports) &&
	    read_policy(ret, text_of(q->body, "ports_policy"), text_of(q->body, "action"),
			&unhealthy) &&
	    mark_names(q, ret, ports, unhealthy)) {
		bool changed = ret->changed;
		uint64_t generation = ret->generation;

		rest_answer_empty(ret);
		keep_change(ret, changed, generation);
	}
}

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

static struct json_object *job_object(uint64_t number)
{
	struct json_object *o = json_object_new_object();
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	json_add_str(o, "ID", text);
	json_add_str(o, "Status", "Completed");
	json_add_int(o, "Progress", 100);
	return o;
}

/* Done, as every job; its number is the generation that it made. */
void api_mark_device(const struct rest_request *q, struct rest_answer *ret, bool unhealthy)
{
	struct json_object *params = json_object_object_get(q->body, "params");
	struct json_object *ids = json_object_object_get(q->body, "object_ids");
	const char *policy = text_of(params, "device_policy"),
		   *type = text_of(q->body, "object_type");
	bool is_ports = type && !strcasecmp(type, "Port"), same, changed;
	uint64_t generation;

	if (!read_policy(ret,
			 policy	     ? policy
			 : unhealthy ? "UNHEALTHY"
				     : "HEALTHY",
			 text_of(params, "action"), &same))
		return;
	if (same != unhealthy) {
		api_refuse(ret, "action and device_policy contradict each other");
		return;
	}
	if (is_ports ? !are_names(ret, ids) || !mark_names(q, ret, ids, unhealthy)
		     : !mark_systems(q, ret, ids, unhealthy))
		return;
	generation = ret->generation;
	changed = ret->changed;
	rest_answer_json(ret, 202, job_object(generation));
	rest_answer_header(ret, "Location", "%s/jobs/%" PRIu64, q->prefix, generation);
	keep_change(ret, changed, generation);
}

void api_job(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *o = get_marks(q, ret);
	uint64_t number, generation;

	if (!o)
		return;
	generation = (uint64_t)api_int(o, "generation");
	json_object_put(o);
	if (str_to_u64(q->segments[0], 10, INT64_MAX, &number) < 0 || number > generation)
		rest_answer_error(ret, 404, "there is no job '%.40s'", q->segments[0]);
	else
		rest_answer_json(ret, 200, job_object(number));
}
