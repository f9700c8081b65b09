// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of --plan: what is asked, what was read, what came of it. */
#pragma once

#include <stdio.h>

#include "conf/files.h"
#include "conf/lists/hosts.h"
#include "offline/base/cut.h"
#include "offline/base/figures.h"
#include "route/select/choose.h"
#include "topo/topofile.h"

struct json_object;

#define PLAN_EXIT_USAGE 64 /* as sysexits.h */
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
	unsigned tries;	   /* failures that are routed for --worst; 0: all */
	bool tries_given;
	unsigned vls;	   /* 0: not said */
	unsigned threads;  /* 0: as many as the machine has */
	const char *drain, *then;
	bool json, help, fresh, bill, strict;
};

/* 0, or -EINVAL after a message on stderr. The caller frees `fails`. */
int plan_args_parse(int argc, char **argv, struct plan_args *ret);
void plan_usage(FILE *out);

/* What was read. */
struct plan_world {
	const struct plan_args *args;
	struct topofile *file;
	struct topo *topo;
	struct conf *conf;
	struct conf_files *files;
	uint32_t new_lids; /* ports whose LIDs are not those of the file */
	bool vls_known;	   /* the file gives VLs */
	uint32_t *job;	   /* --hosts: entries of topo->hosts in rank order; NULL: not given */
	uint32_t n_job;
	/* every end port that takes part, those of host_order_file first; NULL: not given */
	uint32_t *order;
	uint32_t n_order, n_listed;
};

/* 0, or -EINVAL; findings are on stderr. */
int plan_read(const struct plan_args *args, struct plan_world *ret);
void plan_world_clear(struct plan_world *w);
/* "leaf 1" 0x...: the node's name and GUID, for people. */
#define PLAN_NODE_STRLEN 128
char *plan_switch_str(const struct plan_world *w, guid_t guid, char ret[PLAN_NODE_STRLEN]);
const char *plan_name(const struct plan_world *w, guid_t guid);

/* One routing of one topo. */
struct plan_tables {
	struct routes *routes; /* NULL: no engine; choice.why */
	struct route_choice choice;
	double cpu_seconds;    /* of engines and verifier */
	/* slvl_count() of a fabric of which nothing is known, without and with wildcards */
	uint64_t slvl_sets, slvl_wildcards;
	char levels[240];      /* VLs of QoS levels, as the daemon logs it; "": nothing to say */
	char kept[200];	       /* what became of the tables before; "": nothing to say */
	struct figures figures;
	struct traffic job;    /* of --hosts; 0 hosts: not given */
	struct plan_rails *rails;     /* NULL: there are none */
	struct plan_rails *job_rails; /* of --hosts; NULL: the job is on one rail at most */
};

/*
 * Tables there were before; as the daemon has it (sm/routing/route_job.c), those found in switches
 * stay unless they are clearly worse than others from scratch, its own stay as long as they are
 * balanced.
 */
struct plan_before {
	const struct routes *routes; /* NULL: none */
	bool found;
};

/* The figures are made too if `full`. */
void plan_route(const struct plan_world *w, const struct topo *t, struct plan_before before,
		bool full, struct plan_tables *ret);
void plan_tables_clear(struct plan_tables *p);

/* One failure and what it does. */
struct plan_failure {
	enum plan_worst kind;
	uint32_t at;	   /* entry of topo->ports, or switch */
	/* ordered pairs of end ports without a path; hosts of a switch that is out included */
	uint64_t lost;
	uint64_t beyond;   /* of these: pairs of end ports on other switches */
	uint32_t hosts;    /* end ports on the switch: it is a leaf; of a link 0 */
	uint32_t likes;	   /* others that look alike */
	bool alike;	   /* another one, with what follows, stands for it */
	bool tried;	   /* what follows is known */
	bool routed;
	uint32_t max_load;
	struct figures_change change;
};

struct plan_failures {
	/* switches with end ports first, of each kind the worst first; the caller frees */
	struct plan_failure *rows;
	uint32_t n, tried;
};

/* --bill: cables of one kind, width, speed and level. */
enum plan_cable { PLAN_CABLE_HOST, PLAN_CABLE_SWITCHES, PLAN_CABLE_DIRECT };

struct plan_cables {
	enum plan_cable kind;
	uint32_t low, high; /* levels of switches, 0 of leaves; TOPO_NONE: no tree, or a host */
	char speed[8];	    /* "" not said */
	uint8_t width;	    /* 0: not said */
	uint32_t n;
};

/* One state of --drain: what is out when this switch is, too. */
struct plan_step {
	uint32_t sw;
	bool holds;	     /* valid tables were found and proved */
	uint64_t lost;	     /* pairs of end ports that are on none of the drained switches */
	uint32_t max_load;
	struct figures_change change; /* from the state before */
};

struct plan_drain {
	struct plan_step *steps; /* in the order found; the caller frees */
	uint32_t n;
};

struct plan_result {
	struct plan_world world;
	struct plan_tables now;
	struct routes *before;	       /* its own tables of before; NULL: none */
	struct routes *running;	       /* NULL: not asked for */
	char running_why[160];
	struct figures_change against; /* running -> now */
	struct cut *cut;	       /* --fail; NULL: none */
	struct plan_world later;       /* --then; no file: not given */
	struct topo *broken;	       /* what is left after --fail, or the later one; else NULL */
	struct plan_tables after;
	struct figures_change change;  /* now -> after */
	struct plan_failures worst;
	uint32_t *drained;	       /* --drain: switches of the list */
	uint32_t n_drained;
	struct plan_drain drain;
};

/* plan_hosts.c. --hosts: 0 and w->job, or -EINVAL with findings on stderr. */
int plan_hosts_read(struct plan_world *w);
/*
 * End ports of the lines, in their order; findings where a line means none. The caller frees; room
 * for one more.
 */
uint32_t *plan_hosts_find(const struct plan_world *w, const char *path,
			  const struct conf_hosts *hosts, enum conf_severity severity,
			  struct conf_report *report, uint32_t *ret_n);
/* host_order_file: w->order; 0, or with --strict -EINVAL. Findings are on stderr. */
int plan_order_read(struct plan_world *w);
/* Every end port that takes part in `t`, in that order or by switch and port. To be freed. */
uint32_t *plan_order(const struct plan_world *w, const struct topo *t, uint32_t *ret_n);
/* Those of w->job that take part in `t`, a copy of the fabric without failed parts. To be freed. */
uint32_t *plan_job(const struct plan_world *w, const struct topo *t, uint32_t *ret_n);
/* plan_rails.c. Rails of the fabric of the routes, and their traffic; NULL: there are none. */
struct plan_rails *plan_rails_new(const struct plan_world *w, const struct routes *r,
				  struct route_ranks all);
struct plan_rails *plan_job_rails_new(const struct plan_world *w, const struct routes *r,
				      struct route_ranks job);
struct plan_rails *plan_rails_free(struct plan_rails *p); /* NULL is fine; returns NULL */
void plan_print_rails(const struct plan_rails *p, FILE *out);
/* A row for each rail, and for all at once, alone. */
void plan_print_by_rail(const struct plan_rails *p, FILE *out);
struct json_object *plan_rails_json(const struct plan_rails *p);
/* plan_fail.c. `what` as on the command line; 0, or -EINVAL with a message on stderr. */
int plan_fail_add(const struct plan_world *w, const char *what, struct cut *cut);
/*
 * The node of this name (perhaps in quotes) or GUID of a node or port; TOPO_NONE and `why`: none,
 * or several.
 */
uint32_t plan_find_node(const struct plan_world *w, const char *text, size_t len,
			const char **why);
/* plan_bill.c. The caller frees. */
struct plan_cables *plan_bill(const struct plan_world *w, uint32_t *ret_n);
void plan_print_bill(const struct plan_world *w, FILE *out);
struct json_object *plan_bill_json(const struct plan_world *w);
/* plan_drain.c. The switches of the list, 0 or -EINVAL with findings on stderr. */
int plan_drain_read(struct plan_result *r);
/* An order of them in which each state holds and is as little loaded as can be. */
struct plan_drain plan_find_drain(const struct plan_result *r);
bool plan_drain_holds(const struct plan_drain *d);
/* Pairs of end ports that are left lose their path on the way. */
bool plan_drain_loses_pairs(const struct plan_drain *d);
void plan_print_drain(const struct plan_result *r, FILE *out);
struct json_object *plan_drain_json(const struct plan_result *r);
/* plan_then.c. Ports without a LID get that of the same port in `was`. */
void plan_keep_lids(const struct topofile *was, struct topofile *is);

/* A channel of `to` that carries more than in `from`, where it may not be. */
struct plan_growth {
	uint32_t entry, was, is;
};

/* Those that carry most more; returns how many. */
uint32_t plan_grown(const struct plan_tables *from, const struct plan_tables *to,
		    struct plan_growth ret[PLAN_HOT]);
/* plan_read.c. The fabric of --then, for the options of `w`; 0 or -EINVAL. */
int plan_read_later(const struct plan_world *w, struct plan_world *ret);
/* plan_worst.c */
struct plan_failures plan_find_worst(const struct plan_result *r);
/* What routes_save() wrote (route/io/routes_pack.h). NULL and `why`. */
struct routes *plan_read_before(const char *path, char *why, size_t why_len);
/* Tables as they would be in the switches, from a dump. NULL and `why`. */
struct routes *plan_read_running(const struct plan_world *w, char *why, size_t why_len);

void plan_print_text(const struct plan_result *r, FILE *out);
void plan_print_json(const struct plan_result *r, FILE *out);
/* 0 or -errno; a message is on stderr. */
int plan_write_dumps(const struct plan_result *r, const char *dir);
int plan_write_svg(const struct plan_result *r, const char *path);
void plan_draw_svg(const struct topofile *names, const struct topo *t, const uint32_t *load,
		   const char *title, FILE *out);
