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

static const struct json_field systems_query[] = QUERY_TABLE(SYSTEMS_QUERY);

static void answer_systems(const struct rest_request *q, struct rest_answer *ret)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = api_fabric_new(q, ret);
	const struct {
		SYSTEMS_QUERY(QUERY_MEMBER)
	} asked = { SYSTEMS_QUERY(QUERY_READ) };
	struct api_text t;

	if (!f)
		return;
	api_text_start(&t);
	api_text_open(&t, NULL, '[');
	for (size_t i = 0; i < f->n; i++)
		if (f->nodes[i].hca <= 1 && !f->nodes[i].is_aggregation &&
		    (!asked.type || is_type(&f->nodes[i], asked.type)))
			write_system(&t, &f->nodes[i]);
	api_text_close(&t, ']');
	api_text_answer(&t, ret);
}

const struct rest_operation api_systems = {
	.help = "Lists hosts, switches and routers.",
	.query = systems_query,
	.gives = REST_GIVES(FIELD_ROW("Systems", LIST(system_fields))),
	.answer = answer_systems,
};

/* ---- links ----------------------------------------------------------------------------------- */

#define LINKS_QUERY(Q)                                                                             \
	Q(page_number, TEXT, "number of a page, from 1; all links without this and rpp")           \
	Q(rpp, TEXT, "links of a page, 100 if absent")

static const struct json_field links_query[] = QUERY_TABLE(LINKS_QUERY);

/* Which of the links are to be written. */
struct page {
	bool is_paged;
	uint64_t number, size; /* from 1; SIZE rows each */
	uint64_t at;	       /* rows met so far */
};

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

static void write_links(struct api_text *t, const struct api_fabric *f, struct page *page)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct api_node *n = &f->nodes[i];

		for (size_t k = 0; n->ports && k < json_object_array_length(n->ports); k++) {
			struct json_object *port = json_object_array_get_idx(n->ports, k);
			struct api_end a, b = api_peer_of(f, port);

			if (!b.node || !api_end_of(n, port, &a) || !is_first_end(&a, &b))
				continue;
			if (!page->is_paged || page->at / page->size + 1 == page->number)
				write_cable(t, &a, &b, port);
			page->at++;
		}
	}
}

/* False: it is answered. */
static bool read_page(const struct rest_request *q, struct rest_answer *ret, struct page *page)
{
	const struct {
		LINKS_QUERY(QUERY_MEMBER)
	} asked = { LINKS_QUERY(QUERY_READ) };
	const char *number = asked.page_number, *size = asked.rpp;

	*page = (struct page){ .is_paged = number || size, .number = 1, .size = 100 };
	if ((!number || (str_to_u64(number, 10, INT32_MAX, &page->number) == 0 && page->number)) &&
	    (!size || (str_to_u64(size, 10, INT32_MAX, &page->size) == 0 && page->size)))
		return true;
	api_refuse(ret, "page_number and rpp: expected numbers from 1");
	return false;
}

#define PAGE_FIELDS(F)                                                                             \
	F("data", LIST(link_fields), write_links(t, f, page))                                      \
	F("total_resources", INT, (int64_t)page->at)

static const struct json_field page_fields[] = FIELDS_TABLE(PAGE_FIELDS);

static void write_page(struct api_text *t, const struct api_fabric *f, struct page *page)
{
	if (page->is_paged)
		FIELDS_TEXT(t, NULL, PAGE_FIELDS);
	else
		API_TEXT_AROUND(t, NULL, '[', write_links(t, f, page), ']');
}

static void answer_links(const struct rest_request *q, struct rest_answer *ret)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = NULL;
	struct api_text t;
	struct page page;

	if (!read_page(q, ret, &page))
		return;
	f = api_fabric_new(q, ret);
	if (!f)
		return;
	api_text_start(&t);
	write_page(&t, f, &page);
	api_text_answer(&t, ret);
}

const struct rest_operation api_links = {
	.help = "Lists cables, or a page of them.",
	.query = links_query,
	.gives = REST_GIVES(FIELD_ROW("Links", LIST(link_fields))
				    FIELD_ROW("LinksPage", OBJECT(page_fields))),
	.answer = answer_links,
};
