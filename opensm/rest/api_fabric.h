// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric as schedulers speak of it: systems with names, ports with tiers.
 *
 * Made of the manager's Topology for one request. A host is all adapters whose descriptions begin
 * with the same word, which is the name that Kubernetes and Slurm know it by. Strings and objects
 * are borrowed from the document, which lives as long.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "rest/rest.h"
#include "util/guidmap.h"
#include "util/mem.h"
#include "util/types.h"

enum api_kind { API_SWITCH, API_HOST, API_ROUTER };

struct api_node {
	struct json_object *o; /* of Topology */
	struct json_object *ports; /* an array */
	const char *name, *desc;
	char *system; /* name of the system, owned */
	guid_t guid, system_guid;
	enum api_kind kind;
	bool is_aggregation; /* an aggregation node: it is in no list of systems or of all ports */
	unsigned rank;	/* of switches: 0 a host is cabled to it, 1 one of rank 0 ... */
	unsigned hca;	/* of others: number among the adapters of the system, from 1 */
	struct api_node *next; /* the next adapter of the system */
};

struct api_fabric {
	struct json_object *document;
	struct api_node *nodes; /* by GUID */
	size_t n;
	struct guidmap *by_guid;
	const struct rest_request *turn; /* that has the turn, which ends with it; NULL: none */
};

/* One at a time, of all threads. NULL: `ret` is filled with the reason. */
struct api_fabric *api_fabric_new(const struct rest_request *q, struct rest_answer *ret);
/*
 * One port, "GUID_PORT", or all of a GUID, with what the other end and the systems of both need; no
 * nodes, if there is none of that name. A small document, which takes no turn.
 */
struct api_fabric *api_fabric_of_port(const struct rest_request *q, const char *name,
				      struct rest_answer *ret);
struct api_fabric *api_fabric_free(struct api_fabric *f);
FREEP(api_fabric_free, struct api_fabric)

/* The end of a cable, or a port without one. */
struct api_end {
	const struct api_node *node; /* NULL: none */
	unsigned num;
	guid_t guid; /* of the port; of switches that of the node */
};

/* False: the port has no GUID yet, as it was never read. `port`: an element of node->ports. */
bool api_end_of(const struct api_node *node, struct json_object *port, struct api_end *ret);
/* The other end of its cable; node NULL: there is none. */
struct api_end api_peer_of(const struct api_fabric *f, struct json_object *port);
/* 1: a host hangs on the link; 2: between switches of rank 0 and 1; one more for each rank. */
unsigned api_tier(const struct api_end *a, const struct api_end *b);
/* "HCA-1/1", of switches "35": `size` bytes at `ret`. */
void api_end_dname(const struct api_end *e, char *ret, size_t size);
/* "946dae03005985c8_1" */
void api_end_name(const struct api_end *e, char *ret, size_t size);

/* Members of objects of the document; "" and 0: not there. */
const char *api_str(struct json_object *o, const char *key);
int64_t api_int(struct json_object *o, const char *key);
guid_t api_guid(struct json_object *o, const char *key);

#define API_END_NAME 40 /* bytes of names of ports */
