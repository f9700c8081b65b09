// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric as schedulers speak of it.
 *
 * The document of 11,664 hosts takes 320 MB while it is read: one request at a time has one
 * (http/turn.h).
 */
#include "rest/api_fabric.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/json.h"
#include "rest/http/turn.h"
#include "rest/api_values.h"
#include "util/str.h"

const char *api_str(struct json_object *o, const char *key)
{
	struct json_object *v = json_object_object_get(o, key);

	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
}

int64_t api_int(struct json_object *o, const char *key)
{
	return json_object_get_int64(json_object_object_get(o, key));
}

guid_t api_guid(struct json_object *o, const char *key)
{
	guid_t guid;

	return api_guid_of_text(api_str(o, key), &guid) ? guid : 0;
}

static size_t length_of(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static enum api_kind kind_of(const char *type)
{
	if (!strcmp(type, "switch"))
		return API_SWITCH;
	return !strcmp(type, "router") ? API_ROUTER : API_HOST;
}

/* The name of a host is the first word of its adapter's; a switch has all of its name. */
static char *system_name(const struct api_node *n)
{
	bool is_adapter = n->kind != API_SWITCH && !n->is_aggregation;
	size_t len = is_adapter ? strcspn(n->name, " ") : strlen(n->name);

	if (!len)
		return xasprintf("%016" PRIx64, n->guid);
	return xasprintf("%.*s", (int)len, n->name);
}

static void read_node(struct api_node *n, struct json_object *o)
{
	*n = (struct api_node){
		.o = o,
		.ports = json_object_object_get(o, "ports"),
		.name = api_str(o, "name"),
		.desc = api_str(o, "desc"),
		.guid = api_guid(o, "node_guid"),
		.system_guid = api_guid(o, "system_guid"),
		.kind = kind_of(api_str(o, "type")),
		.is_aggregation = !strcmp(api_str(o, "role"), "aggregation"),
		.rank = UINT_MAX,
	};
	if (json_object_object_get(o, "rank"))
		n->rank = (unsigned)api_int(o, "rank");
	if (!n->system_guid)
		n->system_guid = n->guid;
	n->system = system_name(n);
}

/* ---- systems --------------------------------------------------------------------------------- */

static int by_system(const void *x, const void *y)
{
	const struct api_node *a = *(struct api_node *const *)x, *b = *(struct api_node *const *)y;
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = strcmp(a->system, b->system);
	return order ? order : (a->guid > b->guid) - (a->guid < b->guid);
}

static bool is_same_system(const struct api_node *a, const struct api_node *b)
{
	return a->kind == b->kind && !strcmp(a->system, b->system);
}

/* Gives switches with the same description, as delivered, names with their GUIDs. */
static void part_switches(struct api_node **run, size_t n)
{
	for (size_t i = 0; n > 1 && i < n; i++) {
		char *name = xasprintf("%s-%016" PRIx64, run[i]->system, run[i]->guid);

		free(run[i]->system);
		run[i]->system = name;
	}
}

static void join_adapters(struct api_node **run, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		run[i]->hca = (unsigned)i + 1;
		run[i]->next = i + 1 < n ? run[i + 1] : NULL;
	}
}

static void find_systems(struct api_fabric *f)
{
	_cleanup_free_ struct api_node **all = xcalloc(f->n + 1, sizeof(struct api_node *));
	size_t end;

	for (size_t i = 0; i < f->n; i++)
		all[i] = &f->nodes[i];
	qsort(all, f->n, sizeof(struct api_node *), by_system);
	for (size_t i = 0; i < f->n; i = end) {
		for (end = i + 1; end < f->n && is_same_system(all[i], all[end]);)
			end++;
		if (all[i]->kind == API_SWITCH)
			part_switches(all + i, end - i);
		else
			join_adapters(all + i, end - i);
	}
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Its place in the queue, where it was not met before. */
static void meet(struct api_node *n, unsigned rank, struct api_node **queue, size_t *len)
{
	if (!n || n->kind != API_SWITCH || n->rank != UINT_MAX)
		return;
	n->rank = rank;
	queue[(*len)++] = n;
}

static struct api_node *peer_node(const struct api_fabric *f, struct json_object *port)
{
	struct json_object *peer = json_object_object_get(port, "peer");
	guid_t guid = peer ? api_guid(peer, "node_guid") : 0;

	return guid ? guidmap_get(f->by_guid, guid) : NULL;
}

static void meet_peers(const struct api_fabric *f, const struct api_node *n, unsigned rank,
		       struct api_node **queue, size_t *len)
{
	for (size_t i = 0; i < length_of(n->ports); i++)
		meet(peer_node(f, json_object_array_get_idx(n->ports, i)), rank, queue, len);
}

/*
 * Breadth first from the switches that hosts are cabled to. In a document of one port switches say
 * their rank.
 */
static void find_ranks(struct api_fabric *f)
{
	_cleanup_free_ struct api_node **queue = xcalloc(f->n + 1, sizeof(struct api_node *));
	size_t len = 0;

	for (size_t i = 0; i < f->n; i++)
		if (f->nodes[i].kind == API_HOST && !f->nodes[i].is_aggregation)
			meet_peers(f, &f->nodes[i], 0, queue, &len);
	for (size_t i = 0; i < len; i++)
		meet_peers(f, queue[i], queue[i]->rank + 1, queue, &len);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Consumes the document. */
static struct api_fabric *fabric_of(struct json_object *topology)
{
	struct api_fabric *f = xcalloc(1, sizeof(*f));
	struct json_object *nodes = json_object_object_get(topology, "nodes");

	f->document = topology;
	f->nodes = xcalloc(length_of(nodes) + 1, sizeof(*f->nodes));
	f->by_guid = guidmap_new();
	for (size_t i = 0; i < length_of(nodes); i++) {
		struct api_node *n = &f->nodes[f->n];

		read_node(n, json_object_array_get_idx(nodes, i));
		if (!n->guid || guidmap_get(f->by_guid, n->guid)) {
			free(n->system);
			continue;
		}
		guidmap_put(f->by_guid, n->guid, n);
		f->n++;
	}
	find_systems(f);
	find_ranks(f);
	return f;
}

struct api_fabric *api_fabric_new(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *topology;
	struct api_fabric *f;

	if (!turn_wait(q, ret))
		return NULL;
	topology = rest_call(q, "Topology", NULL, &err);
	if (!topology) {
		turn_end(q);
		rest_answer_call_error(ret, &err);
		return NULL;
	}
	f = fabric_of(topology);
	f->turn = q;
	return f;
}

struct api_fabric *api_fabric_of_port(const struct rest_request *q, const char *name,
				      struct rest_answer *ret)
{
	struct json_object *parameters = json_object_new_object(), *topology;
	struct rest_error err;

	json_add_str(parameters, "port", name);
	topology = rest_call(q, "Topology", parameters, &err);
	if (topology)
		return fabric_of(topology);
	rest_answer_call_error(ret, &err);
	return NULL;
}

struct api_fabric *api_fabric_free(struct api_fabric *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n; i++)
		free(f->nodes[i].system);
	free(f->nodes);
	guidmap_free(f->by_guid);
	json_object_put(f->document);
	if (f->turn)
		turn_end(f->turn);
	free(f);
	return NULL;
}

/* ---- ports ----------------------------------------------------------------------------------- */

bool api_end_of(const struct api_node *node, struct json_object *port, struct api_end *ret)
{
	*ret = (struct api_end){
		.node = node,
		.num = (unsigned)api_int(port, "port"),
		.guid = node->kind == API_SWITCH ? node->guid : api_guid(port, "port_guid"),
	};
	return ret->guid != 0;
}

struct api_end api_peer_of(const struct api_fabric *f, struct json_object *port)
{
	struct json_object *peer = json_object_object_get(port, "peer");
	struct api_end ret = { 0 };
	const struct api_node *n = peer ? peer_node(f, port) : NULL;

	if (!n || !api_end_of(n, peer, &ret))
		ret.node = NULL;
	return ret;
}

static unsigned rank_of(const struct api_end *e)
{
	return e->node->rank == UINT_MAX ? 0 : e->node->rank;
}

unsigned api_tier(const struct api_end *a, const struct api_end *b)
{
	assert(a->node);
	if (a->node->kind != API_SWITCH || (b->node && b->node->kind != API_SWITCH))
		return 1;
	/* A port without a cable is treated as one to the rank above. */
	return (b->node ? MIN(rank_of(a), rank_of(b)) : rank_of(a)) + 2;
}

void api_end_dname(const struct api_end *e, char *ret, size_t size)
{
	if (e->node->kind == API_SWITCH)
		snprintf(ret, size, "%u", e->num);
	else
		snprintf(ret, size, "HCA-%u/%u", e->node->hca, e->num);
}

void api_end_name(const struct api_end *e, char *ret, size_t size)
{
	snprintf(ret, size, "%016" PRIx64 "_%u", e->guid, e->num);
}
