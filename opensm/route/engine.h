// SPDX-License-Identifier: BSD-2-Clause
/*
 * The one interface of routing engines: a pure function from a job to immutable routes. Same job,
 * same bytes, for any number of threads.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "route/routes.h"
#include "topo/topo.h"

/* GUID lists and weights, parsed from their files by conf/lists; owned by the job's creator. */
struct route_guid_port {
	guid_t guid;    /* switch node GUID */
	uint8_t port;
	uint8_t weight; /* hop weight 1..255; unused for ignore lists */
};

struct route_guids {
	const guid_t *guids;
	uint32_t n;
	bool given;     /* the file was named in the configuration */
	bool broken;    /* and could not be read, or has faulty lines (which are not among `guids`) */
};

/* ids_guid_file */
struct route_guid_id {
	guid_t guid;    /* switch node GUID */
	uint64_t id;
};

/* port_search_ordering_file: these ports first, in this order, then the others ascending. */
struct route_port_order {
	guid_t guid;    /* switch node GUID */
	uint8_t n;
	uint8_t ports[255];
};

/* A file that an engine reads for itself (tablefile.h). */
struct route_text {
	const char *name; /* for messages; NULL: no such option */
	const char *text; /* NULL: could not be read */
	size_t len;
};

struct torus_conf; /* conf/torus.h */

struct route_options {
	struct route_guids roots;               /* root_guid_file: switch node GUIDs */
	struct route_guids cn, io;              /* cn_guid_file, io_guid_file: port GUIDs */
	const struct route_guid_id *ids;        /* ids_guid_file */
	uint32_t n_ids;
	const struct route_port_order *port_order;
	uint32_t n_port_order;
	struct route_text lfts, lid_matrix;     /* lfts_file, lid_matrix_dump_file */
	const struct torus_conf *torus;         /* torus_config; NULL: not there, or broken */
	bool torus_broken;
	uint16_t max_reverse_hops;
	uint8_t lash_start_vl;
	uint8_t nue_max_num_vls;                /* 0: as many as there are. Default 1 */
	bool connect_roots;
	bool quasi_ftree_indexing;
	bool do_mesh_analysis;
	bool nue_include_switches;
	bool avoid_throttled_links;
	unsigned max_vls;                       /* lanes an engine may use; 0: all that every cable has */
	const guid_t *order;                    /* guid_routing_order_file: port GUIDs */
	uint32_t n_order;
	const struct route_guid_port *ignore;   /* port_prof_ignore_file */
	uint32_t n_ignore;
	const struct route_guid_port *weights;  /* hop_weights_file */
	uint32_t n_weights;
	bool port_shifting;
	uint32_t scatter_seed;                  /* scatter_ports; 0 off */
	bool order_no_scatter;                  /* guid_routing_order_no_scatter */
	bool count_switches;                    /* port_profile_switch_nodes */
	bool by_load;                           /* loads decide in trees too; no option, the engine columns sets it */
};

struct route_job {
	const struct topo *topo;
	const struct routes *previous;          /* NULL: none; may be of another topo */
	struct route_options options;
	unsigned threads;                       /* 0: as many as the machine has */
	const atomic_bool *cancelled;           /* NULL: never */
};

struct route_engine {
	const char *name;
	/* New routes (one reference), or NULL and why not: cannot route this, or cancelled. */
	struct routes *(*compute)(const struct route_job *job, char *why, size_t why_len);
	/* An engine from outside (external.h) has this instead; its result is nobody's to improve. */
	struct routes *(*compute_with)(void *arg, const struct route_job *job, char *why,
				       size_t why_len);
	void *arg;
	bool exact; /* what was there before is nothing to it, but for LIDs that nobody has */
	bool balances; /* its tables are for reroute_balance() to improve when they grew out of others */
};

/* Engines from outside; they stay as they are while there is a manager. */
struct route_engines {
	const struct route_engine *rows;
	unsigned n;
};

/* Lanes that engines may use here: the least of all cables between switches, and of max_vls. */
unsigned route_lanes(const struct route_job *job);

/* By name, exact and case-sensitive; NULL if unknown. */
const struct route_engine *route_engine_find(const char *name);
/* The same among ours and `more` (NULL: none). */
const struct route_engine *route_engine_find_in(const struct route_engines *more, const char *name);
struct routes *route_engine_run(const struct route_engine *engine, const struct route_job *job,
				char *why, size_t why_len);
