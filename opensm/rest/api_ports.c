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

/* The port itself, and what its cable leads to; error counters are another service. */
#define PORT_FIELDS(F)                                                                             \
	F("guid", GUID, e->guid)                                                                   \
	F("name", STR, name)                                                                       \
	F("systemID", GUID, e->node->system_guid)                                                  \
	F("system_name", STR, e->node->system)                                                     \
	F("node_description", STR, e->node->desc)                                                  \
	F("description", STR, description_of(e->node))                                             \
	F("lid", INT, lid_of(e->node, port))                                                       \
	F("dname", STR, dname)                                                                     \
	F("number", INT, e->num)                                                                   \
	F("external_number", INT, e->num)                                                          \
	F("tier", INT, api_tier(e, &peer))                                                         \
	F("active_speed", STR, *speed ? speed : NULL)                                              \
	F("active_width", STR, api_int(port, "width") ? width : NULL)                              \
	F("enabled_speed", STR, *enabled ? enabled : NULL)                                         \
	F("physical_state", STR, word_of(physical_states, api_str(port, "phys_state")))            \
	F("logical_state", STR, word_of(logical_states, api_str(port, "state")))                   \
	F("peer", STR, peer_name)                                                                  \
	F("peer_guid", GUID, peer.node ? peer.guid : 0)                                            \
	F("peer_port_dname", STR, peer_dname)                                                      \
	F("peer_node_name", STR, peer.node ? peer.node->system : NULL)                             \
	F("peer_node_description", STR, peer.node ? peer.node->desc : NULL)                        \
	F("severity", STR, "Info")                                                                 \
	F("high_ber_severity", STR, NULL)                                                          \
	F("effective_ber", STR, NULL)

static const struct json_field port_fields[] = FIELDS_TABLE(PORT_FIELDS);

static void write_port(struct api_text *t, const struct api_fabric *f, const struct api_end *e,
		       struct json_object *port)
{
	const char *speed = api_str(port, "speed"), *enabled = api_str(port, "speed_enabled");
	char name[API_END_NAME], dname[API_END_NAME], width[24];
	char peer_name[API_END_NAME] = "N/A", peer_dname[API_END_NAME] = "N/A";
	struct api_end peer = api_peer_of(f, port);

	api_end_name(e, name, sizeof(name));
	api_end_dname(e, dname, sizeof(dname));
	snprintf(width, sizeof(width), "%dx", (int)api_int(port, "width"));
	if (peer.node) {
		api_end_name(&peer, peer_name, sizeof(peer_name));
		api_end_dname(&peer, peer_dname, sizeof(peer_dname));
	}
	FIELDS_TEXT(t, NULL, PORT_FIELDS);
}

/* ---- filters --------------------------------------------------------------------------------- */

#define PORTS_QUERY(Q)                                                                             \
	Q(sys_type, TEXT, "Computer, Switch or Router")                                            \
	Q(system_name, TEXT, "name of a system")                                                   \
	Q(system, TEXT, "GUID of a system or node")                                                \
	Q(active, FLAG, "true: active ports alone")                                                \
	Q(show_disabled, SET, "false: without disabled ports")

#define PORTS_ARGUMENTS(Q) PORTS_QUERY(Q) API_PAGE_QUERY(Q)
static const struct json_field ports_query[] = QUERY_TABLE(PORTS_ARGUMENTS);

struct filter {
	PORTS_QUERY(QUERY_MEMBER)
	const char *name;	  /* GUID_PORT, or the GUID alone; NULL: any */
	guid_t system_guid, guid; /* `system` and `name` as GUIDs; 0: no GUID */
};

static struct filter filter_of(const struct rest_request *q)
{
	struct filter f = { PORTS_QUERY(QUERY_READ) };

	if (!f.system || !api_guid_of_text(f.system, &f.system_guid))
		f.system_guid = 0;
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
	if (n->is_aggregation && !w->name)
		return false;
	if (w->sys_type && strcasecmp(w->sys_type, types[n->kind]) != 0)
		return false;
	if (w->system_name && strcmp(w->system_name, n->system) != 0)
		return false;
	return !w->system || w->system_guid == n->system_guid || w->system_guid == n->guid;
}

static bool is_port_wanted(const struct filter *w, const struct api_end *e,
			   struct json_object *port)
{
	char name[API_END_NAME];

	if (w->active && strcmp(api_str(port, "state"), "active") != 0)
		return false;
	if (!w->show_disabled && !strcmp(api_str(port, "phys_state"), "disabled"))
		return false;
	if (w->guid)
		return e->guid == w->guid;
	api_end_name(e, name, sizeof(name));
	return !w->name || !strcasecmp(w->name, name);
}

static void write_ports(struct api_text *t, const struct api_fabric *f, const struct filter *w,
			struct api_page *page)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct api_node *n = &f->nodes[i];
		size_t n_ports = n->ports ? json_object_array_length(n->ports) : 0;

		for (size_t k = 0; is_node_wanted(w, n) && k < n_ports; k++) {
			struct json_object *port = json_object_array_get_idx(n->ports, k);
			struct api_end e;

			if (api_end_of(n, port, &e) && is_port_wanted(w, &e, port) &&
			    api_page_takes(page))
				write_port(t, f, &e, port);
		}
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

#define PORTS_PAGE_FIELDS(F)                                                                       \
	API_PAGE_FIELDS(F, LIST(port_fields), page, write_ports(t, f, w, page))

static const struct json_field ports_page_fields[] = FIELDS_TABLE(PORTS_PAGE_FIELDS);

static void write_ports_page(struct api_text *t, const struct api_fabric *f,
			     const struct filter *w, struct api_page *page)
{
	if (page->is_paged)
		FIELDS_TEXT(t, NULL, PORTS_PAGE_FIELDS);
	else
		API_TEXT_AROUND(t, NULL, '[', write_ports(t, f, w, page), ']');
}

static void answer_wanted(const struct api_fabric *f, struct rest_answer *ret,
			  const struct filter *w, struct api_page *page)
{
	struct api_text t;

	api_text_start(&t);
	write_ports_page(&t, f, w, page);
	api_text_answer(&t, ret);
}

static void answer_ports(const struct rest_request *q, struct rest_answer *ret)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = NULL;
	struct filter w = filter_of(q);
	struct api_page page;

	if (!api_page_read(q, ret, &page))
		return;
	f = api_fabric_new(q, ret);
	if (f)
		answer_wanted(f, ret, &w, &page);
}

const struct rest_operation api_ports = {
	.help = "Lists ports, or a page of them.",
	.query = ports_query,
	.gives = REST_GIVES(FIELD_ROW("Ports", LIST(port_fields))
				    FIELD_ROW("PortsPage", OBJECT(ports_page_fields))),
	.answer = answer_ports,
};

static void answer_port(const struct rest_request *q, struct rest_answer *ret)
{
	struct filter w = { .name = q->segments[0], .show_disabled = true };
	struct api_page page = { .size = UINT64_MAX };
	_cleanup_(api_fabric_freep) struct api_fabric *f = api_fabric_of_port(q, w.name, ret);

	if (!api_guid_of_text(w.name, &w.guid))
		w.guid = 0;
	if (f)
		answer_wanted(f, ret, &w, &page);
	if (f && !page.total)
		rest_answer_error(ret, 404, "there is no port '%.40s'", w.name);
}

const struct rest_operation api_port = {
	.help = "Shows the port GUID_PORT, or those of a GUID, as a list.",
	.gives = REST_GIVES(FIELD_ROW("Ports", LIST(port_fields))),
	.answer = answer_port,
};
