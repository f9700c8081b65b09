// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files that name devices by GUID: lists of GUIDs, of switch ports, of weights, of names (qos.md 7
 * and 9).
 *
 * All have one syntax: a GUID first on each line, '#' begins a comment. A faulty line is a finding
 * and is left out; the others count. Whether a GUID exists in the fabric is not known here.
 *
 * Readers take the text of a file. They return 0, or -errno with a finding when it is no text; the
 * result is then empty. `ret` is overwritten.
 */
#pragma once

#include <stddef.h>

#include "conf/conf.h"
#include "util/mem.h"
#include "util/types.h"

/* GUIDs in the order of the file, each once. */
struct conf_guids {
	guid_t *guids;
	size_t n;
};

/* A port of a switch; the same shape as struct route_guid_port. */
struct conf_guid_port {
	guid_t guid;
	uint8_t port;	/* 1..254 */
	uint8_t weight; /* 1..255; 0 in a list without weights */
};

struct conf_guid_ports {
	struct conf_guid_port *items;
	size_t n;
};

/* The words that follow the GUID on a line. */
enum conf_list {
	CONF_LIST_GUIDS,   /* any text, ignored: guid_routing_order_file, root_guid_file ... */
	CONF_LIST_PORTS,   /* PORT: port_prof_ignore_file */
	/* PORT WEIGHT: hop_weights_file; of several lines for a port the last one holds */
	CONF_LIST_WEIGHTS,
};

/* `path` is the name of the file in findings. */
int conf_guids_read_text(const char *path, const char *text, size_t len, struct conf_guids *ret,
			 struct conf_report *r);
void conf_guids_clear(struct conf_guids *g);
/*
 * The GUIDs of an option such as allowed_sm_guids, separated by commas or blanks; NULL or no word:
 * none. A faulty word is a finding at `at` and stands as GUID 0, which no port has: a list that was
 * given is never empty.
 */
void conf_guids_words(const char *name, const char *text, const struct conf_place *at,
		      struct conf_guids *ret, struct conf_report *r);
bool conf_guids_has(const struct conf_guids *g, guid_t guid);

/* `kind` is CONF_LIST_PORTS or CONF_LIST_WEIGHTS. */
int conf_guid_ports_read_text(const char *path, const char *text, size_t len, enum conf_list kind,
			      struct conf_guid_ports *ret, struct conf_report *r);

void conf_guid_ports_clear(struct conf_guid_ports *p);

/* Names to be shown instead of node descriptions, by node GUID. */
struct conf_names;

/*
 * The file that `c` names or, if there is one, ib-node-name-map in the folder of the configuration;
 * NULL: neither. Valid as long as `c`.
 */
const char *conf_names_path(const struct conf *c);
/* `*ret` always gets a map, which may be empty. */
int conf_names_read_text(const char *path, const char *text, size_t len, struct conf_names **ret,
			 struct conf_report *r);
/* The name of a GUID, printable; NULL: there is none, or no map. */
const char *conf_names_find(const struct conf_names *names, guid_t guid);
size_t conf_names_count(const struct conf_names *names);
struct conf_names *conf_names_free(struct conf_names *names);
FREEP(conf_names_free, struct conf_names)

/*
 * Reads every list that `c` names only for its findings (--check), among them missing files. The
 * partitions, which need no file, are read too.
 */
void conf_lists_check(const struct conf *c, struct conf_report *r);

/*
 * Reads the GUID at the start of a line. 1: `*ret_rest` is the text after it, blanks skipped. 0:
 * the line is empty. -EINVAL: a finding was added.
 */
struct line;
int conf_line_guid(struct line *line, struct conf_report *r, guid_t *ret, char **ret_rest);
/* Cuts the next word, between blanks, off `*rest`; "" at the end. */
char *conf_line_word(char **rest);
