// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric in the terms of schedulers: systems with names, ports with tiers.
 *
 * Made of the manager's Topology for one request. A host is all adapters whose descriptions begin
 * with the same word, which is its name in Kubernetes and Slurm. Strings and objects are borrowed
 * from the document, which lives as long.
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
	struct json_object *o; /* the node in the document, an object of Topology */
	struct json_object *ports; /* an array */
	const char *name, *desc;
	char *system; /* name of the system, owned */
	guid_t guid, system_guid;
	enum api_kind kind;
	/* set if it is an aggregation node: it is in no list of systems or of all ports */
	bool is_aggregation;
	unsigned rank;	/* of switches: hops to the nearest switch with hosts */
	unsigned hca;	/* of others: number of the adapter in its system, from 1 */
	struct api_node *next; /* the next adapter of the system */
};

struct api_fabric {
	struct json_object *document;
	struct api_node *nodes; /* by GUID */
	size_t n;
	struct guidmap *by_guid;
	/* request that holds the turn (http/turn.h) until api_fabric_free(); NULL: none */
	const struct rest_request *turn;
};

/* Reads the whole fabric, for one thread at a time. NULL: `ret` is filled with the reason. */
struct api_fabric *api_fabric_new(const struct rest_request *q, struct rest_answer *ret);
/*
 * Reads one port, "GUID_PORT", or all of a GUID, with what the other end and the systems of both
 * need; without nodes if there is none of that name. As this document is small, it takes no turn.
 */
struct api_fabric *api_fabric_of_port(const struct rest_request *q, const char *name,
				      struct rest_answer *ret);
struct api_fabric *api_fabric_free(struct api_fabric *f);
FREEP(api_fabric_free, struct api_fabric)

/* The end of a cable, or a port without one. */
struct api_end {
	const struct api_node *node; /* NULL: none */
	unsigned num;
	guid_t guid; /* GUID of the port; of switches the node GUID */
};

/* `port`: an element of node->ports. False: the port was never read, and has no GUID yet. */
bool api_end_of(const struct api_node *node, struct json_object *port, struct api_end *ret);
/* The other end of the port's cable; node NULL: there is none. */
struct api_end api_peer_of(const struct api_fabric *f, struct json_object *port);
/* 1: the link of a host; 2: between switches of rank 0 and 1; one more for each rank. */
unsigned api_tier(const struct api_end *a, const struct api_end *b);
/* "HCA-1/1", for switches "35"; `size` bytes at `ret`. */
void api_end_dname(const struct api_end *e, char *ret, size_t size);
/* "946dae03005985c8_1"; `size` bytes at `ret`. */
void api_end_name(const struct api_end *e, char *ret, size_t size);

/* Members of objects of the document; "" and 0 if missing. */
const char *api_str(struct json_object *o, const char *key);
int64_t api_int(struct json_object *o, const char *key);
guid_t api_guid(struct json_object *o, const char *key);

#define API_END_NAME 40 /* bytes of names of ports */
