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

static void write_vendor(struct api_text *t, const struct api_node *n)
{
	int64_t vendor = api_int(n->o, "vendor_id"), device = api_int(n->o, "device_id");
	char text[32];

	snprintf(text, sizeof(text), "%s%d", vendor == VENDOR_MELLANOX ? "MT" : "", (int)device);
	api_text_str(t, "model", text);
	snprintf(text, sizeof(text), "0x%06x", (unsigned)vendor);
	api_text_str(t, "vendor", vendor == VENDOR_MELLANOX ? "Mellanox" : text);
}

/* Ports of all adapters. Returns the speed of the first link that is up; NULL: none is. */
static const char *write_numbers(struct api_text *t, const struct api_node *n)
{
	const char *speed = NULL;

	api_text_open(t, "ports", '[');
	for (; n; n = n->next)
		for (size_t i = 0; n->ports && i < json_object_array_length(n->ports); i++) {
			struct json_object *port = json_object_array_get_idx(n->ports, i);
			char name[API_END_NAME];
			struct api_end e;

			if (!api_end_of(n, port, &e))
				continue;
			api_end_name(&e, name, sizeof(name));
			api_text_open(t, NULL, '{');
			api_text_str(t, "name", name);
			api_text_int(t, "number", e.num);
			api_text_close(t, '}');
			if (!speed && *api_str(port, "speed"))
				speed = api_str(port, "speed");
		}
	api_text_close(t, ']');
	return speed;
}

static void write_system(struct api_text *t, const struct api_node *n)
{
	static const char *const types[] = {
		[API_SWITCH] = "switch",
		[API_HOST] = "host",
		[API_ROUTER] = "router",
	};
	const char *speed;

	api_text_open(t, NULL, '{');
	api_text_str(t, "system_name", n->system);
	api_text_guid(t, "name", n->system_guid);
	api_text_guid(t, "guid", n->guid);
	api_text_guid(t, "system_guid", n->system_guid);
	api_text_str(t, "type", types[n->kind]);
	api_text_str(t, "description", n->desc);
	write_vendor(t, n);
	api_text_str(t, "severity", "Info");
	api_text_str(t, "state", "active");
	speed = write_numbers(t, n);
	api_text_str(t, "technology", speed);
	api_text_close(t, '}');
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

void api_systems(const struct rest_request *q, struct rest_answer *ret)
{
	_cleanup_(api_fabric_freep) struct api_fabric *f = api_fabric_new(q, ret);
	const char *type = rest_query(q, "type");
	struct api_text t;

	if (!f)
		return;
	api_text_start(&t);
	api_text_open(&t, NULL, '[');
	for (size_t i = 0; i < f->n; i++)
		if (f->nodes[i].hca <= 1 && !f->nodes[i].is_aggregation &&
		    (!type || is_type(&f->nodes[i], type)))
			write_system(&t, &f->nodes[i]);
	api_text_close(&t, ']');
	api_text_answer(&t, ret);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Which of the links are to be written. */
struct page {
	bool is_paged;
	uint64_t number, size; /* from 1; SIZE rows each */
	uint64_t at;	       /* rows met so far */
};

static void write_cable(struct api_text *t, const struct api_end *a, const struct api_end *b,
			struct json_object *port)
{
	char one[API_END_NAME], other[API_END_NAME], name[2 * API_END_NAME], text[24];

	api_end_name(a, one, sizeof(one));
	api_end_name(b, other, sizeof(other));
	snprintf(name, sizeof(name), "%s:%s", one, other);
	api_text_open(t, NULL, '{');
	api_text_str(t, "name", name);
	api_text_guid(t, "source_guid", a->guid);
	snprintf(text, sizeof(text), "%u", a->num);
	api_text_str(t, "source_port", text);
	api_end_dname(a, text, sizeof(text));
	api_text_str(t, "source_port_dname", text);
	api_text_str(t, "source_port_node_description", a->node->desc);
	api_text_guid(t, "destination_guid", b->guid);
	snprintf(text, sizeof(text), "%u", b->num);
	api_text_str(t, "destination_port", text);
	api_end_dname(b, text, sizeof(text));
	api_text_str(t, "destination_port_dname", text);
	api_text_str(t, "destination_port_node_description", b->node->desc);
	snprintf(text, sizeof(text), "IB_%dx", (int)api_int(port, "width"));
	api_text_str(t, "width", api_int(port, "width") ? text : NULL);
	api_text_str(t, "speed", *api_str(port, "speed") ? api_str(port, "speed") : NULL);
	api_text_str(t, "severity", "Info");
	api_text_close(t, '}');
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
	const char *number = rest_query(q, "page_number"), *size = rest_query(q, "rpp");

	*page = (struct page){ .is_paged = number || size, .number = 1, .size = 100 };
	if ((!number || (str_to_u64(number, 10, INT32_MAX, &page->number) == 0 && page->number)) &&
	    (!size || (str_to_u64(size, 10, INT32_MAX, &page->size) == 0 && page->size)))
		return true;
	api_refuse(ret, "page_number and rpp: expected numbers from 1");
	return false;
}

void api_links(const struct rest_request *q, struct rest_answer *ret)
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
	if (page.is_paged)
		api_text_open(&t, NULL, '{');
	api_text_open(&t, page.is_paged ? "data" : NULL, '[');
	write_links(&t, f, &page);
	api_text_close(&t, ']');
	if (page.is_paged) {
		api_text_int(&t, "total_resources", (int64_t)page.at);
		api_text_close(&t, '}');
	}
	api_text_answer(&t, ret);
}
