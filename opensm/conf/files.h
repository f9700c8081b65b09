// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that opensm.conf names, as they were read: partitions, prefix routes, the lists of
 * routing, the node-name map.
 *
 * A struct conf_files is one reading of all of them: immutable, shared by reference between threads.
 * Reading again gives the same object as long as every file says the same (by content, so that a
 * file that was only touched is not parsed again), and otherwise a new one that shares what did not
 * change. Whoever holds the former one sees by comparing pointers what is new.
 *
 * What is done about a faulty file is not decided here: at a start and in sweeps its good lines count
 * (of partitions.conf nothing, conf/partitions.h), at SIGHUP nothing at all (conf_files_faults()).
 */
#pragma once

#include <stdatomic.h>

#include "conf/lists_routing.h"
#include "conf/modules.h"
#include "conf/partitions.h"
#include "conf/prefixes.h"
#include "conf/torus.h"

enum conf_file_kind {
	CONF_FILE_PARTITIONS,
	CONF_FILE_PREFIXES,
	CONF_FILE_ORDER, /* from here to TORUS: of routing */
	CONF_FILE_IGNORE,
	CONF_FILE_WEIGHTS,
	CONF_FILE_ROOTS,
	CONF_FILE_CN,
	CONF_FILE_IO,
	CONF_FILE_IDS,
	CONF_FILE_PORT_ORDER,
	CONF_FILE_LFTS,
	CONF_FILE_LID_MATRIX,
	CONF_FILE_TORUS, /* read if routing_engine names torus-2QoS */
	CONF_FILE_MC_ROOTS, /* of multicast trees: read at every sweep */
	CONF_FILE_NAMES,
	CONF_FILE_MODULES,
	CONF_N_FILES,
};

struct conf_file {
	_Atomic unsigned refs;
	enum conf_file_kind kind;
	char *path;
	uint64_t hash; /* of the text, and of the options that count for what it comes to; of tables: of where and when */
	size_t len;
	int loaded; /* 0 or -errno of getting at the text */
	int error;  /* 0: read; -ENOENT: no such file; other -errno: nothing of it is used */
	struct conf_report
		findings; /* of reading it; a missing file is one if it has to be there */
	struct partitions *partitions; /* PARTITIONS without an error, else NULL */
	struct conf_prefixes prefixes; /* PREFIXES */
	struct conf_guids guids;       /* ORDER, ROOTS, CN, IO, MC_ROOTS */
	struct conf_guid_ids ids;      /* IDS */
	struct conf_port_orders port_orders; /* PORT_ORDER */
	struct torus_conf *torus; /* TORUS; NULL if it is broken */
	char *text; /* LFTS, LID_MATRIX: as it is, `len` bytes; engines read it */
	struct conf_guid_ports ports;  /* IGNORE, WEIGHTS */
	struct conf_names *names;      /* NAMES */
	struct conf_modules modules;   /* MODULES */
};

struct conf_files {
	_Atomic unsigned refs;
	struct conf_file *of[CONF_N_FILES]; /* NULL: the configuration names none */
};

/*
 * Reads what `conf` names. One reference; never NULL. What says the same as in `before` (NULL: there
 * was no reading yet) is shared with it; if all does, `before` itself is returned.
 */
struct conf_files *conf_files_read(const struct conf *conf, const struct conf_files *before);
struct conf_files *conf_files_ref(const struct conf_files *f);
struct conf_files *conf_files_unref(struct conf_files *f); /* NULL is fine; returns NULL */
void conf_files_unrefp(struct conf_files **f);

/* Does routing depend on it? */
bool conf_file_is_of_routing(enum conf_file_kind kind);
/* The key of opensm.conf that names it: "partition_config_file". */
const char *conf_file_key(enum conf_file_kind kind);
/* Findings of CONF_ERROR in all files. */
size_t conf_files_faults(const struct conf_files *f);
/* The node-name map; NULL: none. */
const struct conf_names *conf_files_names(const struct conf_files *f);

/* How two sets of partitions differ. Names and order do not count. */
struct partitions_changes {
	size_t added, removed; /* partitions, by P_Key */
	size_t members; /* items of partitions in both that came, went or changed membership */
	size_t groups;	/* multicast groups that came, went or changed */
	bool other;	/* something else: names, service levels, order of items */
};
void partitions_diff(const struct partitions *a, const struct partitions *b,
		     struct partitions_changes *ret);

/*
 * What is new in `now`, for the log, separated by "; ": "partitions: 2 added, 1 removed, 5 members
 * changed; hop_weights_file: 12 entries, were 10". NULL: nothing; else to be freed.
 */
char *conf_files_news(const struct conf_files *before, const struct conf_files *now);
