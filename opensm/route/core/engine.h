// SPDX-License-Identifier: BSD-2-Clause
/*
 * The one interface of routing engines: a pure function from a job to immutable routes. Same job,
 * same bytes, for any number of threads.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "route/core/routes.h"
#include "topo/topo.h"
#include "util/mem.h"

/* GUID lists and weights, parsed from their files by conf/lists; owned by the job's creator. */
struct route_guid_port {
	guid_t guid; /* switch node GUID */
	uint8_t port;
	uint8_t weight; /* hop weight 1..255; unused for ignore lists */
};

struct route_guids {
	const guid_t *guids;
	uint32_t n;
	bool given; /* set if the file was named in the configuration */
	/* set if it could not be read, or has faulty lines (which are not in `guids`) */
	bool broken;
};

/* ids_guid_file */
struct route_guid_id {
	guid_t guid; /* switch node GUID */
	uint64_t id;
};

/* port_search_ordering_file: ports to be used first, in this order; the others follow ascending. */
struct route_port_order {
	guid_t guid; /* switch node GUID */
	uint8_t n;
	uint8_t ports[255];
};

/* A file that an engine reads for itself (tablefile.h). */
struct route_text {
	const char *name; /* name for messages; NULL: no such option */
	const char *text; /* NULL: the file could not be read */
	size_t len;
};

struct torus_conf; /* conf/lists/torus.h */

struct route_options {
	struct route_guids roots;	 /* root_guid_file: switch node GUIDs */
	struct route_guids cn, io;	 /* cn_guid_file, io_guid_file: port GUIDs */
	const struct route_guid_id *ids; /* ids_guid_file */
	uint32_t n_ids;
	const struct route_port_order *port_order;
	uint32_t n_port_order;
	struct route_text lfts, lid_matrix; /* lfts_file, lid_matrix_dump_file */
	const struct torus_conf *torus;	    /* torus_config; NULL: not configured, or faulty */
	bool torus_broken;
	uint8_t lash_start_vl;
	uint8_t nue_max_num_vls; /* 0: as many as available; default 1 */
	bool quasi_ftree_indexing;
	bool nue_include_switches;
	bool avoid_throttled_links;
	/* most VLs that an engine may use; 0: all that every cable has */
	unsigned max_vls;
	/* number of service levels with equally many VLs of their own; 0 and 1: none */
	unsigned levels;
	const guid_t *order; /* guid_routing_order_file: port GUIDs */
	uint32_t n_order;
	const struct route_guid_port *ignore; /* port_prof_ignore_file */
	uint32_t n_ignore;
	const struct route_guid_port *weights; /* hop_weights_file */
	uint32_t n_weights;
	bool port_shifting;
	uint32_t scatter_seed; /* scatter_ports; 0: off */
	bool order_no_scatter; /* guid_routing_order_no_scatter */
	bool count_switches;   /* port_profile_switch_nodes */
	/* set if loads decide in trees, too; not an option, set by the engine columns */
	bool by_load;
};

/* Progress of a computation, read by another process. Engines never read it. */
struct route_progress {
	char engine[32]; /* engine of the list; "": none yet */
	char inner[32];	 /* engine that auto tries; "": none */
};

struct route_memo; /* route/core/memo.h */

struct route_job {
	const struct topo *topo;
	/* former routes, perhaps of another topo; NULL: none */
	const struct routes *previous;
	struct route_options options;
	unsigned threads;		 /* number of threads; 0: one per processor */
	const atomic_bool *cancelled;	 /* NULL: never cancelled */
	struct route_progress *progress; /* NULL: not reported */
	/* tables that engines of one choice share, for jobs without former routes; NULL: none */
	struct route_memo *memo;
};

struct graph;
struct shape;

/* Service levels of paths. */
enum route_sls {
	ANY_SL,	 /* the SL does not depend on the path */
	PATH_SL, /* the SL may depend on the path: hosts must ask for it */
};

/* A row of conf/engines.h, or an engine of a plugin. */
struct route_engine {
	const char *name;
	enum route_sls sls;
	/*
	 * Computes new routes (one reference); NULL: `why` has the reason. If the job was
	 * cancelled, `why` is undefined; so engines are called by route_engine_run(), which sets
	 * it.
	 */
	struct routes *(*compute)(const struct route_job *job, char *why, size_t why_len);
	/* compute() of a routing plugin (external.h), whose tables are not improved. */
	struct routes *(*compute_with)(void *arg, const struct route_job *job, char *why,
				       size_t why_len);
	void *arg;
	/* compute() for a fabric whose shape is known already; NULL: the engine has none. */
	struct routes *(*compute_shape)(const struct route_job *job, const struct graph *g,
					const struct shape *shape, char *why, size_t why_len);
	/*
	 * Sets r->lanes of found tables, as switches do not tell SLs; false: they do not fit. NULL:
	 * the VLs depend on the fabric only, or those of dfsssp will do.
	 */
	bool (*deal_vls)(const struct route_job *job, struct routes *r);
	bool chooses; /* set if it chooses tables of other engines (auto) */
	bool exact;   /* set if it ignores the former tables, except entries of unassigned LIDs */
	/* Set if a computation from scratch may take many times as long as with other engines. */
	bool slow;
	/* Set if reroute_balance() may improve its tables when they were derived from others. */
	bool balances;
	/* set if it balances its channels itself, with routes.expected_load as the result */
	bool by_load;
	bool given;   /* set if its tables come from a file, with entries of all end ports */
	bool detours; /* set if its paths need not be shortest, although routes.hops are */
	/* Order, from 1, in which simple engines are tried when others fail or die; 0: not. */
	uint8_t last_resort;
};

/* Engines of routing plugins, loaded once at the start. */
struct route_engines {
	const struct route_engine *rows;
	unsigned n;
};

/* Computes new routes (one reference). NULL: `why` has the reason, or "cancelled". */
struct routes *route_engine_run(const struct route_engine *engine, const struct route_job *job,
				char *why, size_t why_len);

/* Do options set the order in which destinations get their ports, or which ports count? */
static inline bool route_says_how_to_count(const struct route_options *o)
{
	return o->n_order || o->n_ignore || o->port_shifting || o->scatter_seed ||
	       o->count_switches;
}

/* Writes why a fabric cannot be routed. Returns NULL, as a function that returns `bool` false. */
void *route_refuse(char *why, size_t why_len, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Has the computation been cancelled? Long loops ask from time to time. NULL: it cannot be. */
static inline bool is_cancelled(const atomic_bool *cancelled)
{
	return cancelled && atomic_load_explicit(cancelled, memory_order_relaxed);
}

static inline bool route_is_cancelled(const struct route_job *job)
{
	return is_cancelled(job->cancelled);
}

/* The number of threads to use, 1 or more. */
unsigned route_threads(const struct route_job *job);

/* More switches than this cannot be routed by distances of 16 bits. */
#define ROUTE_SWITCHES_MAX 65534
/* Can the fabric be routed? False: it has too many switches; `why` says so. */
bool route_is_possible(const struct route_job *job, char *why, size_t why_len);

/* The number of VLs that all cables between switches have, at most max_vls. */
static inline unsigned route_vls_whole(const struct route_job *job)
{
	unsigned most = sl2vl_available(job->topo);

	return job->options.max_vls ? MIN(most, job->options.max_vls) : most;
}

/* The number of VLs that an engine may use: those of one service level. */
static inline unsigned route_vls(const struct route_job *job)
{
	return MAX(route_vls_whole(job) / MAX(job->options.levels, 1u), 1u);
}
/*
 * Completes the tables of an engine: adds entries for end ports that are set aside, and, if they
 * fit, VLs of its own for each service level of the job (sl2vl_add_levels()). `r` may be NULL.
 */
void route_complete(const struct route_job *job, struct routes *r);
