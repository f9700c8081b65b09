// SPDX-License-Identifier: BSD-2-Clause
/*
 * /resources/ports: every port with the system it is of and what its cable leads to.
 *
 * Types count: one reader drops the whole list where "tier" is a text, another where "lid" is one.
 */
#include <string.h>
#include <strings.h>

#include "rest/api_fabric.h"
#include "rest/api_internal.h"
#include "rest/api_text.h"

#define LID_UNKNOWN 65535

/* ---- one port -------------------------------------------------------------------------------- */

struct state_word {
	const char *ours, *theirs;
};

static const struct state_word logical_states[] = {
	{ "active", "Active" },
	{ "init", "Initialize" },
	{ "armed", "Armed" },
	{ "down", "Down" },
	{ NULL, "Unknown" },
};

static const struct state_word physical_states[] = {
	{ "link_up", "Link Up" },
	{ "polling", "Polling" },
	{ "disabled", "Disabled" },
	{ "sleep", "Sleep" },
	{ "training", "Training" },
	{ "error_recovery", "Link Error Recovery" },
	{ NULL, "Unknown" },
};

static const char *word_of(const struct state_word *words, const char *ours)
{
	while (words->ours && strcmp(words->ours, ours) != 0)
		words++;
	return words->theirs;
}

static const char *description_of(const struct api_node *n)
{
	static const char *const names[] = {
		[API_SWITCH] = "Switch IB Port",
		[API_HOST] = "Computer IB Port",
		[API_ROUTER] = "Router IB Port",
	};

	return names[n->kind];
}

static int64_t lid_of(const struct api_node *n, struct json_object *port)
{
	int64_t lid = api_int(n->kind == API_SWITCH ? n->o : port, "lid");

	return lid ? lid : LID_UNKNOWN;
}

static void write_peer(struct api_text *t, const struct api_end *peer)
{
	char name[API_END_NAME] = "N/A", dname[API_END_NAME] = "N/A";

	if (peer->node) {
		api_end_name(peer, name, sizeof(name));
		api_end_dname(peer, dname, sizeof(dname));
	}
	api_text_str(t, "peer", name);
	api_text_guid(t, "peer_guid", peer->node ? peer->guid : 0);
	api_text_str(t, "peer_port_dname", dname);
	api_text_str(t, "peer_node_name", peer->node ? peer->node->system : NULL);
	api_text_str(t, "peer_node_description", peer->node ? peer->node->desc : NULL);
}

static void write_link(struct api_text *t, struct json_object *port)
{
	const char *speed = api_str(port, "speed"), *enabled = api_str(port, "speed_enabled");
	int64_t width = api_int(port, "width");
	char text[24];

	snprintf(text, sizeof(text), "%dx", (int)width);
	api_text_str(t, "active_speed", *speed ? speed : NULL);
	api_text_str(t, "active_width", width ? text : NULL);
	api_text_str(t, "enabled_speed", *enabled ? enabled : NULL);
	api_text_str(t, "physical_state", word_of(physical_states, api_str(port, "phys_state")));
	api_text_str(t, "logical_state", word_of(logical_states, api_str(port, "state")));
}

static void write_port(struct api_text *t, const struct api_fabric *f, const struct api_end *e,
		       struct json_object *port)
{
	struct api_end peer = api_peer_of(f, port);
	char name[API_END_NAME], dname[API_END_NAME];

	api_end_name(e, name, sizeof(name));
	api_end_dname(e, dname, sizeof(dname));
	api_text_open(t, NULL, '{');
	api_text_guid(t, "guid", e->guid);
	api_text_str(t, "name", name);
	api_text_guid(t, "systemID", e->node->system_guid);
	api_text_str(t, "system_name", e->node->system);
	api_text_str(t, "node_description", e->node->desc);
	api_text_str(t, "description", description_of(e->node));
	api_text_int(t, "lid", lid_of(e->node, port));
	api_text_str(t, "dname", dname);
	api_text_int(t, "number", e->num);
	api_text_int(t, "external_number", e->num);
	api_text_int(t, "tier", api_tier(e, &peer));
	write_link(t, port);
	write_peer(t, &peer);
	/* Error counters are another service; nothing is known to be bad. */
	api_text_str(t, "severity", "Info");
	api_text_str(t, "high_ber_severity", NULL);
	api_text_str(t, "effective_ber", NULL);
	api_text_close(t, '}');
}

/* ---- filters --------------------------------------------------------------------------------- */

struct filter {
	const char *type;	 /* "Computer", "Switch"; NULL: any */
	const char *system_name; /* NULL: any system */
	const char *name;	 /* GUID_PORT, or the GUID alone; NULL: any */
	guid_t system, guid;
	bool by_system, by_guid;
	bool active, no_disabled;
};

static struct filter filter_of(const struct rest_request *q)
{
	struct filter f = {
		.type = rest_query(q, "sys_type"),
		.system_name = rest_query(q, "system_name"),
		.active = rest_query_bool(q, "active", false),
		.no_disabled = !rest_query_bool(q, "show_disabled", true),
	};
	const char *system = rest_query(q, "system");

	f.by_system = system != NULL;
	if (!system || !api_guid_of_text(system, &f.system))
		f.system = 0;
	return f;
}

static bool is_node_wanted(const struct filter *w, const struct api_node *n)
{
	static const char *const types[] = {
		[API_SWITCH] = "Switch",
		[API_HOST] = "Computer",
		[API_ROUTER] = "Router",
	};

	/* Aggregation nodes are no hosts: a port is shown to clients that name it. */
	if (n->is_aggregation && !w->name && !w->by_guid)
		return false;
	if (w->type && strcasecmp(w->type, types[n->kind]) != 0)
		return false;
	if (w->system_name && strcmp(w->system_name, n->system) != 0)
		return false;
	return !w->by_system || w->system == n->system_guid || w->system == n->guid;
}

static bool is_port_wanted(const struct filter *w, const struct api_end *e,
			   struct json_object *port)
{
	char name[API_END_NAME];

	if (w->active && strcmp(api_str(port, "state"), "active") != 0)
		return false;
	if (w->no_disabled && !strcmp(api_str(port, "phys_state"), "disabled"))
		return false;
	if (w->by_guid)
		return e->guid == w->guid;
	api_end_name(e, name, sizeof(name));
	return !w->name || !strcasecmp(w->name, name);
}

/* How many were written. */
static size_t write_ports(struct api_text *t, const struct api_fabric *f, const struct filter *w)
{
	size_t written = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct api_node *n = &f->nodes[i];
		size_t n_ports = n->ports ? json_object_array_length(n->ports) : 0;

		for (size_t k = 0; is_node_wanted(w, n) && k < n_ports; k++) {
			struct json_object *port = json_object_array_get_idx(n->ports, k);
			struct api_end e;

			if (!api_end_of(n, port, &e) || !is_port_wanted(w, &e, port))
				continue;
			write_port(t, f, &e, port);
			written++;
		}
	}
	return written;
}

/* ---- answers --------------------------------------------------------------------------------- */

static size_t answer_ports(const struct api_fabric *f, struct rest_answer *ret,
			   const struct filter *w)
{
	struct api_text t;
	size_t n;

	api_text_start(&t);
	api_text_open(&t, NULL, '[');
	n = write_ports(&t, f, w);
	api_text_close(&t, ']');
	api_text_answer(&t, ret);
	return n;
}

void api_ports(const struct rest_request *q, struct rest_answer *ret)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = api_fabric_new(q, ret);
	struct filter w = filter_of(q);

	if (f)
		answer_ports(f, ret, &w);
}

/* A list of one. */
void api_port(const struct rest_request *q, struct rest_answer *ret)
{
	struct filter w = { .name = q->segments[0] };
	_cleanup_(api_fabric_freep) struct api_fabric *f = api_fabric_of_port(q, w.name, ret);

	w.by_guid = api_guid_of_text(w.name, &w.guid);
	if (f && answer_ports(f, ret, &w) == 0)
		rest_answer_error(ret, 404, "there is no port '%.40s'", w.name);
}
