// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that opensm.conf names, as they were read: partitions, prefix routes, the lists of
 * routing, the node-name map.
 *
 * A struct conf_files is one reading of all of them: immutable, shared by reference between
 * threads. Reading again gives the same object as long as every file says the same (by content, so
 * that a file that was only touched is not parsed again), and otherwise a new one that shares what
 * did not change. Comparing the pointers of two readings tells what is new.
 *
 * What is done about a faulty file is not decided here: at a start and in sweeps its good lines
 * count (of partitions.conf nothing, conf/partitions/partitions.h), at SIGHUP nothing at all.
 */
#pragma once

#include <stdatomic.h>

#include "conf/lists/health_ports.h"
#include "conf/lists/hosts.h"
#include "conf/lists/lists_routing.h"
#include "conf/lists/modules.h"
#include "conf/partitions/partitions.h"
#include "conf/lists/prefixes.h"
#include "conf/lists/quirks.h"
#include "conf/lists/torus.h"
#include "conf/qos/qos_policy.h"
#include "util/mem.h"

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
	CONF_FILE_QUIRKS,
	CONF_FILE_EXPECTED, /* sm/expected reads the text */
	CONF_FILE_QOS, /* read while `qos` is TRUE */
	CONF_FILE_HEALTH,
	CONF_FILE_HOST_ORDER,
	CONF_N_FILES,
};

struct conf_file {
	_Atomic unsigned refs;
	enum conf_file_kind kind;
	char *path;
	/*
	 * hash of the text and of the options that it depends on; of large files: of inode, size
	 * and times
	 */
	uint64_t hash;
	size_t len;
	int loaded; /* 0, or -errno if the text could not be read */
	int error; /* 0: parsed; -ENOENT: no such file; other -errno: nothing of the file is used */
	/* findings of the parser; an error if a file that is needed does not exist */
	struct conf_report findings;
	struct partitions *partitions; /* PARTITIONS, if without errors; else NULL */
	struct conf_prefixes prefixes; /* PREFIXES */
	struct conf_guids guids;       /* ORDER, ROOTS, CN, IO, MC_ROOTS */
	struct conf_guid_ids ids;      /* IDS */
	struct conf_port_orders port_orders; /* PORT_ORDER */
	struct torus_conf *torus; /* TORUS; NULL if the file has errors */
	char *text; /* the text as it was read, `len` bytes: engines and sm/expected parse it */
	struct conf_guid_ports ports;  /* IGNORE, WEIGHTS */
	struct conf_names *names;      /* NAMES */
	struct conf_modules modules;   /* MODULES */
	/* QOS: the policy of this file, or after an error the last good one; NULL: none */
	struct qos_policy *policy;
	struct conf_quirks quirks;     /* QUIRKS */
	struct conf_health_ports health; /* HEALTH */
	struct conf_hosts hosts;       /* HOST_ORDER */
};

struct conf_files {
	_Atomic unsigned refs;
	struct conf_file *of[CONF_N_FILES]; /* NULL: the configuration names no such file */
};

/*
 * Reads the files that `conf` names. One reference; never NULL. A file that is equal to that of
 * `before` (NULL: there was no reading yet) is shared; if all are, `before` itself is returned.
 */
struct conf_files *conf_files_read(const struct conf *conf, const struct conf_files *before);
/* Reads only the file of this kind. */
struct conf_files *conf_files_read_one(const struct conf *conf, enum conf_file_kind kind);
struct conf_files *conf_files_ref(const struct conf_files *f);
struct conf_files *conf_files_unref(const struct conf_files *f); /* NULL is fine; returns NULL */
FREEP(conf_files_unref, struct conf_files)

/* Is it an error if the file does not exist? True if an option names it, but for default paths. */
bool conf_file_is_needed(enum conf_file_kind kind, const struct conf *conf);
/* Adds an error for each file that is needed and does not exist; reads none. */
void conf_files_check_there(const struct conf *conf, struct conf_report *r);
/*
 * A clause for the log: the behaviour while the file of this option does not exist; NULL: the
 * option names no such file.
 */
const char *conf_file_without(enum conf_id id);
/* The path of the file with the expected cables, whichever option names it; NULL: none. */
const char *conf_expected_path(const struct conf *c);
/* Does routing depend on files of this kind? */
bool conf_file_is_of_routing(enum conf_file_kind kind);
/* The key of opensm.conf that names the file, as "partition_config_file". */
const char *conf_file_key(enum conf_file_kind kind);
enum conf_id conf_file_option(enum conf_file_kind kind);
/* The node-name map; NULL: none. */
const struct conf_names *conf_files_names(const struct conf_files *f);
/* The QoS policy in force; NULL: none. */
const struct qos_policy *conf_files_policy(const struct conf_files *f);
/* Has a device with these ids of NodeInfo this quirk, by the file or as a built-in row? */
bool conf_files_quirk(const struct conf_files *f, enum quirk quirk, uint32_t vendor,
		      uint16_t device);

/*
 * What is new in `now`, for the log, separated by "; ": "partitions: 2 added, 1 removed, 5 members
 * changed; hop_weights_file: 12 entries, were 10". NULL: nothing; else to be freed.
 */
char *conf_files_news(const struct conf_files *before, const struct conf_files *now);
