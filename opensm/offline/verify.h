// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of --verify: what is asked, what was read, what the judge says. */
#pragma once

#include <stdio.h>

#include "offline/figures.h"
#include "route/check.h"
#include "route/depend.h"
#include "route/tablefile.h"
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

/* 0, or -EINVAL after a message on stderr. */
int verify_args_parse(int argc, char **argv, struct verify_args *ret);
void verify_usage(FILE *out);

struct verify {
	const struct verify_args *args;
	struct topofile *file;
	struct topo *topo;
	struct tablefile *tables;
	struct routes *routes;
	struct mcast_tree **trees;
	uint32_t n_trees;
	uint32_t no_lid;	   /* end ports without a LID: not judged */
	bool sls, sl2vl;	   /* were read */
	struct route_verdict verdict;
	struct figures figures;
	double rp_mean;		   /* most flows on a channel, mean over random permutations */
	unsigned rp_patterns, rp_worst;
	bool switches_loop;	   /* with what switches themselves send and get, there is a credit loop */
	bool loops;		   /* a credit loop, multicast included */
	struct route_cycle cycle;  /* if so */
	bool by_multicast;	   /* and only multicast closes it */
};

/* 0, or -EINVAL; findings are on stderr. */
int verify_read(const struct verify_args *args, struct verify *ret);
void verify_clear(struct verify *v);
/* Do the tables hold? */
bool verify_holds(const struct verify *v);

/* The name of a node in quotes, else its GUID. */
#define VERIFY_NODE_STRLEN 96
char *verify_node_str(const struct verify *v, guid_t guid, char ret[VERIFY_NODE_STRLEN]);
/* The end port on the switch `sw` that has the lowest LID, other than `lid`; the one that has `lid`. TOPO_NONE. */
uint32_t verify_sender(const struct verify *v, uint32_t sw, lid_t lid);
uint32_t verify_receiver(const struct verify *v, lid_t lid);

void verify_print_text(const struct verify *v, FILE *out);
void verify_print_json(const struct verify *v, FILE *out);
