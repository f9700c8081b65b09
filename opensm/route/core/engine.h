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
	guid_t guid;    /* switch node GUID */
	uint8_t port;
	uint8_t weight; /* hop weight 1..255; unused for ignore lists */
};

struct route_guids {
	const guid_t *guids;
	uint32_t n;
	bool given;     /* the file was named in the configuration */
	bool broken;    /* it could not be read, or has faulty lines (left out of `guids`) */
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

struct torus_conf; /* conf/lists/torus.h */

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
	uint8_t lash_start_vl;
	uint8_t nue_max_num_vls;                /* 0: as many as there are. Default 1 */
	bool quasi_ftree_indexing;
	bool nue_include_switches;
	bool avoid_throttled_links;
	/* VLs an engine may use; 0: all that every cable has */
	unsigned max_vls;
	/* levels of service that are to have VLs of their own, each as many; 0 and 1: none */
	unsigned levels;
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
	/* loads decide in trees too; no option, the engine columns sets it */
	bool by_load;
};

/* Progress of a computation, for another process to watch. Engines never read it. */
struct route_progress {
	char engine[32]; /* of the list; "": none yet */
	char inner[32];  /* that auto tries; "": none */
};

struct route_job {
	const struct topo *topo;
	const struct routes *previous;          /* NULL: none; may be of another topo */
	struct route_options options;
	unsigned threads;                       /* 0: as many as the machine has */
	const atomic_bool *cancelled;           /* NULL: never */
	struct route_progress *progress;        /* NULL: not reported */
};

struct graph;
struct shape;

/* Service levels of paths. */
enum route_sls {
	ANY_SL,	 /* do not depend on the path */
	PATH_SL, /* may: hosts must ask for them */
};

/* A row of conf/engines.h, or an engine of a plugin. */
struct route_engine {
	const char *name;
	enum route_sls sls;
	/*
	 * New routes (one reference), or NULL and why not. When the job was cancelled `why` may be
	 * anything: to be called by route_engine_run(), which says so.
	 */
	struct routes *(*compute)(const struct route_job *job, char *why, size_t why_len);
	/* Of a routing plugin (external.h) instead; its tables are not improved. */
	struct routes *(*compute_with)(void *arg, const struct route_job *job, char *why,
				       size_t why_len);
	void *arg;
	/* As compute(), for a fabric that is recognised already; NULL: there is none. */
	struct routes *(*compute_shape)(const struct route_job *job, const struct graph *g,
					const struct shape *shape, char *why, size_t why_len);
	/*
	 * Sets r->lanes of found tables, whose SLs stand in no switch; false: they do not fit.
	 * NULL: the scheme depends on the fabric only, or dfsssp's will do.
	 */
	bool (*deal_vls)(const struct route_job *job, struct routes *r);
	bool chooses; /* takes the tables of other engines (auto) */
	bool exact; /* ignores the previous tables, except entries of unassigned LIDs */
	/* a computation from scratch may take many times as long as with others */
	bool slow;
	/* its tables are for reroute_balance() to improve when they grew out of others */
	bool balances;
	bool by_load; /* balances its channels itself: routes.expected_load is the result */
	bool given;   /* its tables come from a file, entries of all end ports included */
	bool detours; /* its paths need not be shortest, although routes.hops are */
	/* tried in this order, from 1, when others fail or die: simple, and always ends; 0: not */
	uint8_t last_resort;
};

/* Engines of routing plugins, loaded once at the start. */
struct route_engines {
	const struct route_engine *rows;
	unsigned n;
};

/* New routes (one reference), or NULL and why not: cannot route this, or "cancelled". */
struct routes *route_engine_run(const struct route_engine *engine, const struct route_job *job,
				char *why, size_t why_len);

/* Does an option say in which order destinations get their ports, or which ports count? */
static inline bool route_says_how_to_count(const struct route_options *o)
{
	return o->n_order || o->n_ignore || o->port_shifting || o->scatter_seed ||
	       o->count_switches;
}

/* Writes why a fabric cannot be routed. Returns NULL, as a function that returns `bool` false. */
void *route_refuse(char *why, size_t why_len, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Long loops ask now and then. NULL: the computation cannot be cancelled. */
static inline bool is_cancelled(const atomic_bool *cancelled)
{
	return cancelled && atomic_load_explicit(cancelled, memory_order_relaxed);
}

static inline bool route_is_cancelled(const struct route_job *job)
{
	return is_cancelled(job->cancelled);
}

/* 1 or more. */
unsigned route_threads(const struct route_job *job);

/* More switches than this cannot be routed by distances of 16 bits. */
#define ROUTE_SWITCHES_MAX 65534
/* False and `why`: the fabric has too many switches. */
bool route_is_possible(const struct route_job *job, char *why, size_t why_len);

/* The least VLs of all cables between switches, and of max_vls. */
static inline unsigned route_vls_whole(const struct route_job *job)
{
	unsigned most = sl2vl_available(job->topo);

	return job->options.max_vls ? MIN(most, job->options.max_vls) : most;
}

/* VLs that engines may use here: of these, those of one level of service. */
static inline unsigned route_vls(const struct route_job *job)
{
	return MAX(route_vls_whole(job) / MAX(job->options.levels, 1u), 1u);
}
/*
 * What tables get once an engine has made them: entries for end ports that are set aside, and for
 * each level of service of the job VLs of its own, if they fit (sl2vl_add_levels()). `r` may be
 * NULL.
 */
void route_complete(const struct route_job *job, struct routes *r);
