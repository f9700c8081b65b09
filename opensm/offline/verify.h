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
#define VERIFY_EXIT_USAGE 64 /* as sysexits.h */
#define VERIFY_EXIT_INPUT 65
#define VERIFY_HOT	  5
#define VERIFY_TABLES	  16

/* The command line; strings are those of argv. */
struct verify_args {
	const char *what;		     /* a folder of dumps, or the fabric */
	const char *tables[VERIFY_TABLES];   /* none: those of the folder */
	unsigned n_tables;
	const char *sls, *sl2vl;
	unsigned mcast_sl, threads;
	bool json, help;
};

/*
 * Pairs whose packets an SL2VL table drops (VL 15) on every service level that the path may have.
 */
struct verify_dropped {
	uint64_t n;
	/*
	 * The first of them: from end ports on switch `from` to `to`, at switch `sw` between two
	 * ports (in 0: from there).
	 */
	lid_t to;
	uint32_t from, sw;
	uint8_t in, out;
	int sl; /* -1: any may be used */
};

/* What is wrong with the tables of a group. */
struct verify_group {
	lid_t mlid;
	/* of a member that sends and another one that gets it; of these: does not */
	uint64_t pairs, lost;
	/* sender and receiver of the first pair that is lost; unset if `lost` is 0 */
	const struct topo_host *from, *to;
	/*
	 * switch without an entry, or that sends nothing on (also: to VL 15), where it ends;
	 * TOPO_NONE: no cable leads on
	 */
	uint32_t end;
	/* switch by which packets come twice, or for ever; TOPO_NONE: by none */
	uint32_t round;
};

struct verify {
	const struct verify_args *args;
	struct topofile *file;
	struct topo *topo;
	struct tablefile *tables;
	struct routes *routes;
	struct mcast_tree **trees;
	lid_t *mlids;		   /* of the trees */
	uint32_t n_trees;
	struct verify_group *groups; /* those that do not hold, by MLID */
	uint32_t n_groups;
	struct verify_dropped dropped;
	uint32_t no_lid;	   /* end ports without a LID: not verified */
	bool sls, sl2vl;	   /* were read */
	struct route_verdict verdict;
	struct figures figures;
	/* with what switches themselves send and get, there is a credit loop */
	bool switches_loop;
	bool loops;		   /* a credit loop, multicast included */
	struct route_cycle cycle;  /* if so */
	bool by_multicast;	   /* and only multicast closes it */
};

/* 0, or -EINVAL; findings are on stderr. */
int verify_read(const struct verify_args *args, struct verify *ret);
void verify_clear(struct verify *v);
/* Fills in all that follows from topo, routes and trees. */
void verify_tables(struct verify *v);
/* Do the tables hold? */
bool verify_holds(const struct verify *v);

/* verify_lost.c: fills in v->dropped. */
void verify_find_dropped(struct verify *v);
/* verify_mcast.c: fills in v->groups. */
void verify_find_groups(struct verify *v);

/* The name of a node in quotes, else its GUID. */
#define VERIFY_NODE_STRLEN 96
char *verify_node_str(const struct verify *v, guid_t guid, char ret[VERIFY_NODE_STRLEN]);
/*
 * The host on the switch `sw` that has the lowest LID, other than `lid`, or TOPO_NONE; the end port
 * that has `lid`, or NULL.
 */
uint32_t verify_sender(const struct verify *v, uint32_t sw, lid_t lid);
const struct topo_host *verify_receiver(const struct verify *v, lid_t lid);

void verify_print_text(const struct verify *v, FILE *out);
void verify_print_json(const struct verify *v, FILE *out);
