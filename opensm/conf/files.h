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
	 * of the text, and of the options that count for what it comes to; of tables: of where and
	 * when
	 */
	uint64_t hash;
	size_t len;
	int loaded; /* 0 or -errno of getting at the text */
	int error;  /* 0: read; -ENOENT: no such file; other -errno: nothing of it is used */
	/* of reading it; that it is missing, where conf_file_is_needed() */
	struct conf_report findings;
	struct partitions *partitions; /* PARTITIONS without an error, else NULL */
	struct conf_prefixes prefixes; /* PREFIXES */
	struct conf_guids guids;       /* ORDER, ROOTS, CN, IO, MC_ROOTS */
	struct conf_guid_ids ids;      /* IDS */
	struct conf_port_orders port_orders; /* PORT_ORDER */
	struct torus_conf *torus; /* TORUS; NULL if it is broken */
	char *text; /* as it was read, `len` bytes; LFTS, LID_MATRIX: engines read it; EXPECTED */
	struct conf_guid_ports ports;  /* IGNORE, WEIGHTS */
	struct conf_names *names;      /* NAMES */
	struct conf_modules modules;   /* MODULES */
	/* QOS: of this reading, or after an error (`error`) the last good one; NULL: none */
	struct qos_policy *policy;
	struct conf_quirks quirks;     /* QUIRKS */
	struct conf_health_ports health; /* HEALTH */
	struct conf_hosts hosts;       /* HOST_ORDER */
};

struct conf_files {
	_Atomic unsigned refs;
	struct conf_file *of[CONF_N_FILES]; /* NULL: the configuration names none */
};

/*
 * Reads what `conf` names. One reference; never NULL. What says the same as in `before` (NULL:
 * there was no reading yet) is shared with it; if all does, `before` itself is returned.
 */
struct conf_files *conf_files_read(const struct conf *conf, const struct conf_files *before);
/* Only this one of them. */
struct conf_files *conf_files_read_one(const struct conf *conf, enum conf_file_kind kind);
struct conf_files *conf_files_ref(const struct conf_files *f);
struct conf_files *conf_files_unref(const struct conf_files *f); /* NULL is fine; returns NULL */
FREEP(conf_files_unref, struct conf_files)

/*
 * An option names it: that it is missing is a fault. The file of the default path may be missing.
 */
bool conf_file_is_needed(enum conf_file_kind kind, const struct conf *conf);
/* Errors for all that are needed and missing; nothing is read. */
void conf_files_check_there(const struct conf *conf, struct conf_report *r);
/*
 * What holds while the file that this option names is missing; NULL: the option names no file to be
 * read.
 */
const char *conf_file_without(enum conf_id id);
/* The file of the cables that are meant to be there, whichever option names it; NULL: none. */
const char *conf_expected_path(const struct conf *c);
/* Does routing depend on it? */
bool conf_file_is_of_routing(enum conf_file_kind kind);
/* The key of opensm.conf that names it: "partition_config_file". */
const char *conf_file_key(enum conf_file_kind kind);
enum conf_id conf_file_option(enum conf_file_kind kind);
/* The node-name map; NULL: none. */
const struct conf_names *conf_files_names(const struct conf_files *f);
/* The QoS policy in force; NULL: none. */
const struct qos_policy *conf_files_policy(const struct conf_files *f);
/* Has a device with these ids of NodeInfo this quirk, by the file or without one? */
bool conf_files_quirk(const struct conf_files *f, enum quirk quirk, uint32_t vendor,
		      uint16_t device);

/*
 * What is new in `now`, for the log, separated by "; ": "partitions: 2 added, 1 removed, 5 members
 * changed; hop_weights_file: 12 entries, were 10". NULL: nothing; else to be freed.
 */
char *conf_files_news(const struct conf_files *before, const struct conf_files *now);
