// SPDX-License-Identifier: BSD-2-Clause
/* /resources/systems and /resources/links: hosts and switches as wholes, and the cables. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "rest/api_fabric.h"
#include "rest/api_internal.h"
#include "rest/api_text.h"
#include "util/str.h"

#define VENDOR_MELLANOX 0x02c9

/* ---- systems --------------------------------------------------------------------------------- */

static const char *word_of(const struct api_node *n)
{
	static const char *const words[] = {
		[API_SWITCH] = "switch",
		[API_HOST] = "host",
		[API_ROUTER] = "router",
	};

	return words[n->kind];
}

/* The speed of the first link that is up, of all adapters; NULL: none is. */
static const char *speed_of(const struct api_node *n)
{
	for (; n; n = n->next)
		for (size_t i = 0; n->ports && i < json_object_array_length(n->ports); i++) {
			struct json_object *port = json_object_array_get_idx(n->ports, i);
			struct api_end e;

			if (api_end_of(n, port, &e) && *api_str(port, "speed"))
				return api_str(port, "speed");
		}
	return NULL;
}

#define NUMBER_FIELDS(F)                                                                           \
	F("name", STR, name)                                                                       \
	F("number", INT, e.num)

static const struct json_field number_fields[] = FIELDS_TABLE(NUMBER_FIELDS);

/* Ports of all adapters. */
static void write_numbers(struct api_text *t, const struct api_node *n)
{
	for (; n; n = n->next)
		for (size_t i = 0; n->ports && i < json_object_array_length(n->ports); i++) {
			struct json_object *port = json_object_array_get_idx(n->ports, i);
			char name[API_END_NAME];
			struct api_end e;

			if (!api_end_of(n, port, &e))
				continue;
			api_end_name(&e, name, sizeof(name));
			FIELDS_TEXT(t, NULL, NUMBER_FIELDS);
		}
}

#define SYSTEM_FIELDS(F)                                                                           \
	F("system_name", STR, n->system)                                                           \
	F("name", GUID, n->system_guid)                                                            \
	F("guid", GUID, n->guid)                                                                   \
	F("system_guid", GUID, n->system_guid)                                                     \
	F("type", STR, word_of(n))                                                                 \
	F("description", STR, n->desc)                                                             \
	F("model", STR, model)                                                                     \
	F("vendor", STR, is_mellanox ? "Mellanox" : vendor)                                        \
	F("severity", STR, "Info")                                                                 \
	F("state", STR, "active")                                                                  \
	F("ports", LIST(number_fields), write_numbers(t, n))                                       \
	F("technology", STR, speed_of(n))

static const struct json_field system_fields[] = FIELDS_TABLE(SYSTEM_FIELDS);

static void write_system(struct api_text *t, const struct api_node *n)
{
	int64_t vendor_id = api_int(n->o, "vendor_id"), device = api_int(n->o, "device_id");
	bool is_mellanox = vendor_id == VENDOR_MELLANOX;
	char model[32], vendor[32];

	snprintf(model, sizeof(model), "%s%d", is_mellanox ? "MT" : "", (int)device);
	snprintf(vendor, sizeof(vendor), "0x%06x", (unsigned)vendor_id);
	FIELDS_TEXT(t, NULL, SYSTEM_FIELDS);
}

static bool is_type(const struct api_node *n, const char *type)
{
	switch (n->kind) {
	case API_SWITCH:
		return !strcasecmp(type, "switch");
	case API_ROUTER:
		return !strcasecmp(type, "router");
	case API_HOST:
		break;
	}
	return !strcasecmp(type, "host") || !strcasecmp(type, "computer");
}

#define SYSTEMS_QUERY(Q) Q(type, TEXT, "switch, router, host or computer")
#define SYSTEMS_ARGUMENTS(Q) SYSTEMS_QUERY(Q) API_PAGE_QUERY(Q)

static const struct json_field systems_query[] = QUERY_TABLE(SYSTEMS_ARGUMENTS);

struct systems_asked {
	SYSTEMS_QUERY(QUERY_MEMBER)
};

static void write_systems(struct api_text *t, const struct api_fabric *f,
			  const struct systems_asked *asked, struct api_page *page)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->nodes[i].hca <= 1 && !f->nodes[i].is_aggregation &&
		    (!asked->type || is_type(&f->nodes[i], asked->type)) && api_page_takes(page))
			write_system(t, &f->nodes[i]);
}

#define SYSTEMS_PAGE_FIELDS(F)                                                                     \
	API_PAGE_FIELDS(F, LIST(system_fields), page, write_systems(t, f, asked, page))

static const struct json_field systems_page_fields[] = FIELDS_TABLE(SYSTEMS_PAGE_FIELDS);

static void write_systems_page(struct api_text *t, const struct api_fabric *f,
			       const struct systems_asked *asked, struct api_page *page)
{
	if (page->is_paged)
		FIELDS_TEXT(t, NULL, SYSTEMS_PAGE_FIELDS);
	else
		API_TEXT_AROUND(t, NULL, '[', write_systems(t, f, asked, page), ']');
}

static void answer_systems(const struct rest_request *q, struct rest_answer *ret)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = NULL;
	const struct systems_asked asked = { SYSTEMS_QUERY(QUERY_READ) };
	struct api_page page;
	struct api_text t;

	if (!api_page_read(q, ret, &page))
		return;
	f = api_fabric_new(q, ret);
	if (!f)
		return;
	api_text_start(&t);
	write_systems_page(&t, f, &asked, &page);
	api_text_answer(&t, ret);
}

const struct rest_operation api_systems = {
	.help = "Lists hosts, switches and routers, or a page of them.",
	.query = systems_query,
	.gives = REST_GIVES(FIELD_ROW("Systems", LIST(system_fields))
				    FIELD_ROW("SystemsPage", OBJECT(systems_page_fields))),
	.answer = answer_systems,
};

/* ---- links ----------------------------------------------------------------------------------- */

static const struct json_field links_query[] = QUERY_TABLE(API_PAGE_QUERY);

/* Ends of a cable as texts. */
struct end_texts {
	char name[API_END_NAME], dname[API_END_NAME], num[12];
};

static struct end_texts texts_of(const struct api_end *e)
{
	struct end_texts ret;

	api_end_name(e, ret.name, sizeof(ret.name));
	api_end_dname(e, ret.dname, sizeof(ret.dname));
	snprintf(ret.num, sizeof(ret.num), "%u", e->num);
	return ret;
}

#define LINK_FIELDS(F)                                                                             \
	F("name", STR, name)                                                                       \
	F("source_guid", GUID, a->guid)                                                            \
	F("source_port", STR, one.num)                                                             \
	F("source_port_dname", STR, one.dname)                                                     \
	F("source_port_node_description", STR, a->node->desc)                                      \
	F("destination_guid", GUID, b->guid)                                                       \
	F("destination_port", STR, other.num)                                                      \
	F("destination_port_dname", STR, other.dname)                                              \
	F("destination_port_node_description", STR, b->node->desc)                                 \
	F("width", STR, api_int(port, "width") ? width : NULL)                                     \
	F("speed", STR, *api_str(port, "speed") ? api_str(port, "speed") : NULL)                   \
	F("severity", STR, "Info")

static const struct json_field link_fields[] = FIELDS_TABLE(LINK_FIELDS);

static void write_cable(struct api_text *t, const struct api_end *a, const struct api_end *b,
			struct json_object *port)
{
	const struct end_texts one = texts_of(a), other = texts_of(b);
	char name[2 * API_END_NAME], width[24];

	snprintf(name, sizeof(name), "%s:%s", one.name, other.name);
	snprintf(width, sizeof(width), "IB_%dx", (int)api_int(port, "width"));
	FIELDS_TEXT(t, NULL, LINK_FIELDS);
}

/* Is this the end by which a cable is listed? */
static bool is_first_end(const struct api_end *a, const struct api_end *b)
{
	return a->guid != b->guid ? a->guid < b->guid : a->num < b->num;
}

static void write_links(struct api_text *t, const struct api_fabric *f, struct api_page *page)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct api_node *n = &f->nodes[i];

		for (size_t k = 0; n->ports && k < json_object_array_length(n->ports); k++) {
			struct json_object *port = json_object_array_get_idx(n->ports, k);
			struct api_end a, b = api_peer_of(f, port);

			if (!b.node || !api_end_of(n, port, &a) || !is_first_end(&a, &b))
				continue;
			if (api_page_takes(page))
				write_cable(t, &a, &b, port);
		}
	}
}

#define LINKS_PAGE_FIELDS(F) API_PAGE_FIELDS(F, LIST(link_fields), page, write_links(t, f, page))

static const struct json_field links_page_fields[] = FIELDS_TABLE(LINKS_PAGE_FIELDS);

static void write_links_page(struct api_text *t, const struct api_fabric *f, struct api_page *page)
{
	if (page->is_paged)
		FIELDS_TEXT(t, NULL, LINKS_PAGE_FIELDS);
	else
		API_TEXT_AROUND(t, NULL, '[', write_links(t, f, page), ']');
}

static void answer_links(const struct rest_request *q, struct rest_answer *ret)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = NULL;
	struct api_text t;
	struct api_page page;

	if (!api_page_read(q, ret, &page))
		return;
	f = api_fabric_new(q, ret);
	if (!f)
		return;
	api_text_start(&t);
	write_links_page(&t, f, &page);
	api_text_answer(&t, ret);
}

const struct rest_operation api_links = {
	.help = "Lists cables, or a page of them.",
	.query = links_query,
	.gives = REST_GIVES(FIELD_ROW("Links", LIST(link_fields))
				    FIELD_ROW("LinksPage", OBJECT(links_page_fields))),
	.answer = answer_links,
};
