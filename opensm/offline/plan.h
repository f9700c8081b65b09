// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of --plan: arguments, input, result. */
#pragma once

#include <stdio.h>

#include "conf/files.h"
#include "conf/lists/hosts.h"
#include "offline/base/cut.h"
#include "offline/base/figures.h"
#include "route/patch/patch.h"
#include "route/select/choose.h"
#include "topo/topofile.h"

struct json_object;

#define PLAN_EXIT_USAGE 64 /* EX_USAGE of sysexits.h */
#define PLAN_EXIT_INPUT 65
#define PLAN_HOT	10
#define PLAN_TRIES	48

enum plan_worst { PLAN_WORST_NONE, PLAN_WORST_LINK, PLAN_WORST_SWITCH };

/* The command line; strings are those of argv. */
struct plan_args {
	const char *fabric, *conf, *engine, *running, *before, *dumps, *svg, *hosts;
	const char **fails;
	unsigned n_fails;
	enum plan_worst worst;
	unsigned tries;	   /* number of failures that --worst routes; 0: all */
	bool tries_given;
	unsigned vls;	   /* 0: not given */
	unsigned threads;  /* 0: one for each processor */
	const char *drain, *then;
	bool json, help, fresh, bill, strict;
};

/* 0, or -EINVAL after a message on stderr. The caller frees `fails`. */
int plan_args_parse(int argc, char **argv, struct plan_args *ret);
void plan_usage(FILE *out);

/* Input from files. */
struct plan_world {
	const struct plan_args *args;
	struct topofile *file;
	struct topo *topo;
	struct conf *conf;
	struct conf_files *files;
	uint32_t new_lids; /* number of ports whose LIDs are not in the file */
	bool vls_known;	   /* set if the file has VLs */
	uint32_t *job;	   /* --hosts: entries of topo->hosts in rank order; NULL: not given */
	uint32_t n_job;
	/* all end ports that take part, those of host_order_file first; NULL: not given */
	uint32_t *order;
	uint32_t n_order, n_listed;
};

/* 0, or -EINVAL; findings are on stderr. */
int plan_read(const struct plan_args *args, struct plan_world *ret);
void plan_world_clear(struct plan_world *w);
/* The name and GUID of a node, "leaf 1" 0x... */
#define PLAN_NODE_STRLEN 128
char *plan_switch_str(const struct plan_world *w, guid_t guid, char ret[PLAN_NODE_STRLEN]);
const char *plan_name(const struct plan_world *w, guid_t guid);

/* One routing of a topo. */
struct plan_tables {
	struct routes *routes; /* NULL: no engine succeeded; choice.why says why */
	struct route_choice choice;
	double cpu_seconds;    /* of engines and verifier */
	/* slvl_count() of a fabric whose tables are unknown, without and with wildcards */
	uint64_t slvl_sets, slvl_wildcards;
	char levels[240];      /* VLs of QoS levels, in the words of the daemon; "": none */
	char kept[200];	       /* result for the former tables; "": there were none */
	struct figures figures;
	struct traffic job;    /* traffic of --hosts; 0 hosts: not given */
	struct plan_rails *rails;     /* NULL: there are none */
	/* traffic of --hosts by rail; NULL: the job is on one rail at most */
	struct plan_rails *job_rails;
};

/*
 * Former tables. As in the daemon (sm/routing/route_job.c), tables found in switches stay unless
 * they are clearly worse than new ones, own tables stay as long as they are balanced.
 */
struct plan_before {
	const struct routes *routes; /* NULL: none */
	bool found; /* set if the tables were found in switches */
};

/* Routes `t`; `full`: with figures. */
void plan_route(const struct plan_world *w, const struct topo *t, struct plan_before before,
		bool full, struct plan_tables *ret);
void plan_tables_clear(struct plan_tables *p);

/* One failure and its effect. */
struct plan_failure {
	enum plan_worst kind;
	uint32_t at;	   /* entry of topo->ports, or switch */
	/* ordered pairs of end ports without a path, including end ports of a failed switch */
	uint64_t lost;
	uint64_t beyond;   /* those of `lost` between end ports on other switches */
	uint32_t hosts;    /* number of end ports on a leaf; 0 for a link */
	uint32_t likes;	   /* number of other failures that look alike */
	bool alike;	   /* set if another failure that looks alike was routed instead */
	bool tried;	   /* set if this failure was routed: the members below are known */
	bool routed;
	uint32_t max_load;
	struct figures_change change;
};

struct plan_failures {
	/* switches with end ports first, of each kind the worst first; freed by the caller */
	struct plan_failure *rows;
	uint32_t n, tried;
};

/* What the patch of a cable would achieve; the worst first. */
enum plan_patch_grade {
	PLAN_PATCH_NONE,  /* nothing: there is no other way, or all waits for the routing */
	PLAN_PATCH_WAITS, /* some destinations wait */
	PLAN_PATCH_WHOLE,
	PLAN_PATCH_UNUSED, /* no destination is routed over the cable */
	PLAN_PATCH_GRADES
};

/* A cable between switches, and what the patch around it would do (route/patch/patch.h). */
struct plan_patch {
	uint32_t at; /* entry of topo->ports */
	enum plan_patch_grade grade;
	uint32_t counts[PATCH_HOWS];
	uint64_t lost; /* ordered pairs of end ports that the cable alone connects */
};

struct plan_patches {
	struct plan_patch *rows; /* the worst first; freed by the caller; NULL: not asked for */
	uint32_t n;
	uint32_t n_of[PLAN_PATCH_GRADES]; /* number of cables, by enum plan_patch_grade */
	uint64_t waiting; /* destinations of cables of PLAN_PATCH_WAITS that wait */
};

/* Kinds of cables of --bill. */
enum plan_cable { PLAN_CABLE_HOST, PLAN_CABLE_SWITCHES, PLAN_CABLE_DIRECT };

struct plan_cables {
	enum plan_cable kind;
	uint32_t low, high; /* levels of switches, 0: leaves; TOPO_NONE: no tree, or a host */
	char speed[8];	    /* "": not known */
	uint8_t width;	    /* 0: not known */
	uint32_t n;
};

/* One state of --drain: `sw` and all switches before it are drained. */
struct plan_step {
	uint32_t sw;
	bool holds;	     /* set if valid tables were found and proved */
	/* number of pairs of end ports that lost their path, without those of drained switches */
	uint64_t lost;
	uint32_t max_load;
	struct figures_change change; /* change from the state before */
};

struct plan_drain {
	struct plan_step *steps; /* in the order of draining; freed by the caller */
	uint32_t n;
};

struct plan_result {
	struct plan_world world;
	struct plan_tables now;
	struct routes *before;	       /* tables of --before; NULL: none */
	struct routes *running;	       /* tables of --running; NULL: not given */
	char running_why[160];
	struct figures_change against; /* change from `running` to `now` */
	struct cut *cut;	       /* failures of --fail; NULL: none */
	struct plan_world later;       /* input of --then; `file` NULL: not given */
	struct topo *broken;	       /* fabric after --fail, or that of --then; else NULL */
	struct plan_tables after;
	struct figures_change change;  /* change from `now` to `after` */
	struct plan_failures worst;
	struct plan_patches patches; /* --worst link */
	uint32_t *drained;	       /* switches of --drain */
	uint32_t n_drained;
	struct plan_drain drain;
};

/* plan_hosts.c. Reads --hosts into w->job. 0, or -EINVAL with findings on stderr. */
int plan_hosts_read(struct plan_world *w);
/*
 * End ports of the lines, in their order; findings for lines without one. The caller frees; there
 * is room for one more.
 */
uint32_t *plan_hosts_find(const struct plan_world *w, const char *path,
			  const struct conf_hosts *hosts, enum conf_severity severity,
			  struct conf_report *report, uint32_t *ret_n);
/* Reads host_order_file into w->order. 0, or with --strict -EINVAL. Findings are on stderr. */
int plan_order_read(struct plan_world *w);
/* All end ports that take part in `t`, in that order or by switch and port. To be freed. */
uint32_t *plan_order(const struct plan_world *w, const struct topo *t, uint32_t *ret_n);
/*
 * End ports of w->job that take part in `t`, a copy of the fabric without failed parts. To be
 * freed.
 */
uint32_t *plan_job(const struct plan_world *w, const struct topo *t, uint32_t *ret_n);
/* plan_rails.c. Rails of the fabric of the routes, and their traffic; NULL: there are none. */
struct plan_rails *plan_rails_new(const struct plan_world *w, const struct routes *r,
				  struct route_ranks all);
struct plan_rails *plan_job_rails_new(const struct plan_world *w, const struct routes *r,
				      struct route_ranks job);
struct plan_rails *plan_rails_free(struct plan_rails *p); /* NULL is fine; returns NULL */
void plan_print_rails(const struct plan_rails *p, FILE *out);
/* Prints a row for each rail alone, and for all at once. */
void plan_print_by_rail(const struct plan_rails *p, FILE *out);
struct json_object *plan_rails_json(const struct plan_rails *p);
/*
 * plan_fail.c. Adds a failure, `what` as on the command line. 0, or -EINVAL with a message on
 * stderr.
 */
int plan_fail_add(const struct plan_world *w, const char *what, struct cut *cut);
/*
 * Finds the node of this name (perhaps in quotes) or GUID of a node or port. TOPO_NONE with `why`:
 * there is none, or several.
 */
uint32_t plan_find_node(const struct plan_world *w, const char *text, size_t len,
			const char **why);
/* plan_bill.c. Counts the cables of each kind. The caller frees. */
struct plan_cables *plan_bill(const struct plan_world *w, uint32_t *ret_n);
void plan_print_bill(const struct plan_world *w, FILE *out);
struct json_object *plan_bill_json(const struct plan_world *w);
/* plan_drain.c. Reads the list of switches. 0, or -EINVAL with findings on stderr. */
int plan_drain_read(struct plan_result *r);
/* Finds an order in which each state holds, with as little load as possible. */
struct plan_drain plan_find_drain(const struct plan_result *r);
bool plan_drain_holds(const struct plan_drain *d);
/* Does any state cost pairs of the remaining end ports their path? */
bool plan_drain_loses_pairs(const struct plan_drain *d);
void plan_print_drain(const struct plan_result *r, FILE *out);
struct json_object *plan_drain_json(const struct plan_result *r);
/* plan_then.c. Ports without a LID get the LID of the same port in `was`. */
void plan_keep_lids(const struct topofile *was, struct topofile *is);

/* A channel of `to` with more load than in `from`, where it may not exist (load 0). */
struct plan_growth {
	uint32_t entry, was, is;
};

/* Finds the channels with the largest growth; returns how many. */
uint32_t plan_grown(const struct plan_tables *from, const struct plan_tables *to,
		    struct plan_growth ret[PLAN_HOT]);
/* plan_read.c. Reads the fabric of --then, with the options of `w`. 0, or -EINVAL. */
int plan_read_later(const struct plan_world *w, struct plan_world *ret);
/* plan_worst.c */
struct plan_failures plan_find_worst(const struct plan_result *r);
/* After plan_find_worst(). */
struct plan_patches plan_find_patches(const struct plan_result *r);
/* Number of destinations that get another way. */
uint32_t plan_patch_moved(const struct plan_patch *p);
/* Do they differ in nothing but the cable? */
bool plan_patches_alike(const struct plan_patch *a, const struct plan_patch *b);
/* Reads a file of routes_save() (route/io/routes_pack.h). NULL with `why`. */
struct routes *plan_read_before(const char *path, char *why, size_t why_len);
/* Reads the tables of switches from a dump. NULL with `why`. */
struct routes *plan_read_running(const struct plan_world *w, char *why, size_t why_len);

void plan_print_text(const struct plan_result *r, FILE *out);
void plan_print_json(const struct plan_result *r, FILE *out);
/* 0 or -errno; a message is on stderr. */
int plan_write_dumps(const struct plan_result *r, const char *dir);
int plan_write_svg(const struct plan_result *r, const char *path);
void plan_draw_svg(const struct topofile *names, const struct topo *t, const uint32_t *load,
		   const char *title, FILE *out);
