// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of --verify: arguments, input, verdict. */
#pragma once

#include <stdio.h>

#include "offline/base/figures.h"
#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/io/tablefile.h"
#include "topo/topofile.h"

#define VERIFY_EXIT_FAULT 1
#define VERIFY_EXIT_USAGE 64 /* EX_USAGE of sysexits.h */
#define VERIFY_EXIT_INPUT 65
#define VERIFY_HOT	  5
#define VERIFY_TABLES	  16

/* The command line; strings are those of argv. */
struct verify_args {
	const char *what;		     /* a folder of dumps, or the fabric */
	const char *tables[VERIFY_TABLES];   /* files of tables; none: those of the folder */
	unsigned n_tables;
	const char *sls, *sl2vl;
	unsigned mcast_sl, threads;
	bool json, help;
};

/* Pairs whose packets an SL2VL table drops (VL 15) on every SL that the path may use. */
struct verify_dropped {
	uint64_t n;
	/*
	 * The first pair: from end ports on switch `from` to `to`, dropped at switch `sw` between
	 * two ports (`in` 0: `sw` is `from`).
	 */
	lid_t to;
	uint32_t from, sw;
	uint8_t in, out;
	int sl; /* SL of the path; -1: any */
};

/* Faults of the tables of a multicast group. */
struct verify_group {
	lid_t mlid;
	/* number of pairs of a sending and another receiving member; those that are not served */
	uint64_t pairs, lost;
	/* sender and receiver of the first pair that is lost; unset if `lost` is 0 */
	const struct topo_host *from, *to;
	/*
	 * switch without an entry, or that forwards no further (or to VL 15), where packets end;
	 * TOPO_NONE: no cable leads on
	 */
	uint32_t end;
	/* switch that packets reach twice or endlessly; TOPO_NONE: none */
	uint32_t round;
};

struct verify {
	const struct verify_args *args;
	struct topofile *file;
	struct topo *topo;
	struct tablefile *tables;
	struct routes *routes;
	struct mcast_tree **trees;
	lid_t *mlids;		   /* MLIDs of `trees` */
	uint32_t n_trees;
	struct verify_group *groups; /* groups with faults, by MLID */
	uint32_t n_groups;
	struct verify_dropped dropped;
	uint32_t no_lid;	   /* number of end ports without a LID, which are not verified */
	bool sls, sl2vl;	   /* set if the file was read */
	struct route_verdict verdict;
	struct figures figures;
	/* set if the traffic of switches themselves closes a credit loop */
	bool switches_loop;
	bool loops;		   /* set if there is a credit loop, multicast included */
	struct route_cycle cycle;  /* the credit loop, if there is one */
	bool by_multicast;	   /* set if the credit loop needs multicast */
};

/* 0, or -EINVAL; findings are on stderr. */
int verify_read(const struct verify_args *args, struct verify *ret);
void verify_clear(struct verify *v);
/* Computes all results from topo, routes and trees. */
void verify_tables(struct verify *v);
/* Are the tables valid? */
static inline bool verify_holds(const struct verify *v)
{
	return !v->verdict.lost && !v->verdict.looping && !v->loops && !v->dropped.n &&
	       !v->n_groups;
}

/* verify_lost.c: computes v->dropped. */
void verify_find_dropped(struct verify *v);
/* verify_mcast.c: computes v->groups. */
void verify_find_groups(struct verify *v);

/* The name of a node in quotes, or its GUID if it has none. */
#define VERIFY_NODE_STRLEN 96
char *verify_node_str(const struct verify *v, guid_t guid, char ret[VERIFY_NODE_STRLEN]);
/*
 * The host with the lowest LID on switch `sw`, other than `lid`, or TOPO_NONE; and the end port
 * that has `lid`, or NULL.
 */
uint32_t verify_sender(const struct verify *v, uint32_t sw, lid_t lid);
const struct topo_host *verify_receiver(const struct verify *v, lid_t lid);

void verify_print_text(const struct verify *v, FILE *out);
void verify_print_json(const struct verify *v, FILE *out);
