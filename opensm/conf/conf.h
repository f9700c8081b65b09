// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration: one struct with one member per key of opensm.conf, made from options.def.
 *
 * A struct conf is built (defaults, file, command line, verify), then immutable and shared by
 * reference. Nothing in here logs or exits: faults go into a struct conf_report, whose owner prints
 * them. A fault never silently becomes a different value: whatever cannot be understood leaves the
 * value as it was, and the finding says so.
 *
 *   conf_new, conf_read, conf_verify (the file)
 *   conf_set, ..., conf_verify (the command line), conf_advise, conf_settle
 *
 * At SIGHUP the file is read anew and compared with what the file said before, not with what is in
 * force, so that a value of the command line stays until its line in the file changes:
 * conf_reload().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "conf/text/report.h"
#include "util/mem.h"
#include "util/types.h"

#ifndef OPENSM_CONF_DIR
#define OPENSM_CONF_DIR "/etc/rdma"
#endif
#define CONF_FILE OPENSM_CONF_DIR "/opensm.conf"

/* --- The options ---------------------------------------------------------------------------- */

/* Members of struct conf by the C type column of options.def. */
typedef char *conf_string;

struct conf_mask256 {
	uint8_t bytes[32]; /* big endian: bit 0 is the lowest bit of bytes[31] */
};

struct conf_cct_entry {
	uint8_t shift;       /* 0..3 */
	uint16_t multiplier; /* 0..16383 */
};

#define CONF_CCT_MAX 128
struct conf_cct {
	unsigned n; /* 0: unset */
	struct conf_cct_entry entries[CONF_CCT_MAX];
};

/* cc_sw_port_cong_setting: a setting, and the ports of switches that have it. */
enum { CONF_CC_ALL, CONF_CC_HOSTS, CONF_CC_SWITCHES }; /* smaller than any speed */
enum conf_cc_kind { CONF_CC_OFF, CONF_CC_MARKS, CONF_CC_CREDIT };
struct conf_cc_port {
	uint16_t where; /* CONF_CC_ALL ..., or the speed of their link (ib/codes.h) */
	uint8_t kind;	/* enum conf_cc_kind; OFF: the setting of the whole switch counts */
	uint8_t threshold, packet_size;
	uint16_t parameter; /* marking rate, or delay: shift in the upper two bits */
};

#define CONF_CC_PORTS_MAX 16
struct conf_cc_ports {
	unsigned n; /* 0: unset */
	struct conf_cc_port items[CONF_CC_PORTS_MAX]; /* of several that fit the last counts */
};

struct conf_per_sl {
	uint16_t values[16];
};

enum conf_id {
#define OPTION(name, ...) CONF_ID_##name,
#include "conf/options.def"
	CONF_N_OPTIONS
};

enum conf_type {
	CONF_BOOL,
	CONF_U8,
	CONF_U16,
	CONF_U32,
	CONF_I32,
	CONF_U64,
	CONF_STRING,
	CONF_MASK256,
	CONF_CCT_ENTRY,
	CONF_CCT_LIST,
	CONF_CC_PORTS,
	CONF_SL_U16,
	CONF_SL_U8,
};

enum conf_format {
	CONF_FORMAT_TEXT,
	CONF_FORMAT_DEC,
	CONF_FORMAT_X2,
	CONF_FORMAT_X16,
	CONF_FORMAT_XU,
	CONF_FORMAT_X2U,
	CONF_FORMAT_X4U,
};

/* What a change at run time costs; ordered, so that the dearest of several is the maximum. */
enum conf_cost {
	CONF_COST_NOTHING,
	CONF_COST_LOG,     /* log_configure() or log_reopen() */
	CONF_COST_SWEEP,   /* written to the fabric where it differs */
	CONF_COST_ROUTE,   /* routes are computed again */
	CONF_COST_RESTART, /* not taken over at run time */
};

enum conf_state {
	CONF_STATE_EFFECTIVE,
	CONF_STATE_LATER,
	CONF_STATE_NONE,
	CONF_STATE_ALWAYS,
	CONF_STATE_OWN,
};

/* Words of security_profile (conf/profile.h). */
enum conf_profile { CONF_PROFILE_OPEN, CONF_PROFILE_GUARDED, CONF_PROFILE_TENANT, CONF_PROFILES };

/* Where a value comes from. */
enum conf_source {
	CONF_SOURCE_DEFAULT,
	CONF_SOURCE_FILE,
	CONF_SOURCE_COMMAND_LINE, /* or the environment, or a line that is gone */
	CONF_SOURCE_COPIED,	  /* from the master */
	CONF_SOURCE_PROFILE,
};

struct conf_option {
	const char *name;
	const char *default_text;
	const char *range;
	const char *help;
	const char *section; /* heading in the output of -c */
	size_t offset;       /* of the member in struct conf */
	size_t size;
	enum conf_type type;
	enum conf_format format;
	enum conf_cost cost;
	enum conf_state state;
};

struct conf {
	unsigned refs;
	char *file;                          /* read by conf_read(); NULL: none */
	uint32_t file_line[CONF_N_OPTIONS]; /* line the value comes from; 0: not from the file */
	uint32_t file_column[CONF_N_OPTIONS]; /* where it begins there */
	bool strict; /* what has no effect is an error; set before a file is read */
	bool file_faulty[CONF_N_OPTIONS];   /* the file has a line for it that was refused */
	bool given[CONF_N_OPTIONS];	    /* by the command line */
	bool profiled[CONF_N_OPTIONS];	    /* by a profile, and by nothing else */
	enum conf_profile profile;	    /* the one that was applied last */
	/* options that are as another master had them (conf/copied/); its port, and since when */
	bool copied[CONF_N_OPTIONS];
	guid_t copied_from;
	int64_t copied_at; /* seconds since 1970; 0: nothing was copied */
#define OPTION(name, ctype, ...) ctype name;
#include "conf/options.def"
};

/* The row of an option; never NULL. */
const struct conf_option *conf_option(enum conf_id id);
/* CONF_N_OPTIONS: no such key. An alias (dimn_ports_file) gives the key it stands for. */
enum conf_id conf_option_find(const char *name);
/* The known key that looks most like `name` (case, dashes, typing errors), or NULL. */
const char *conf_option_nearest(const char *name);
/* "RESTART" ... for messages and the man page. */
const char *conf_cost_name(enum conf_cost cost);

/* --- Life ----------------------------------------------------------------------------------- */

/* All defaults; one reference. Environment (OSM_TMP_DIR) is looked up by the caller. */
struct conf *conf_new(void);
struct conf *conf_ref(const struct conf *c);
struct conf *conf_unref(const struct conf *c);
FREEP(conf_unref, struct conf)
/* A deep copy with one reference, to be changed. */
struct conf *conf_copy(const struct conf *c);

/* --- Values --------------------------------------------------------------------------------- */

/*
 * Gives an option the value written in `text` (as in the file, quotes gone). 0, or -EINVAL or
 * -ERANGE with a finding; the old value then stays.
 */
int conf_set(struct conf *c, enum conf_id id, const char *text, const struct conf_place *at,
	     struct conf_report *r);
/* The value as -c writes it, to be freed; a list per SL gives the pairs separated by commas. */
char *conf_value_text(const struct conf *c, enum conf_id id);
/*
 * Keys that prove something to others (m_key, sm_key, sa_key, cc_key): no finding, no log has their
 * value.
 */
bool conf_is_secret(enum conf_id id);
/* Is the key of trusted requests one that is drawn at random, instead of sa_key? */
bool conf_draws_sa_key(const struct conf *c);
/* Are there keys beside the defaults, which every distribution knows? */
bool conf_has_secrets(const struct conf *c);
/* For logs: as conf_value_text(), but without secrets. */
char *conf_value_shown(const struct conf *c, enum conf_id id);
bool conf_value_equal(const struct conf *a, const struct conf *b, enum conf_id id);
bool conf_value_is_default(const struct conf *c, enum conf_id id);
/* The same, or the path that files written by Debian's OpenSM name instead: /etc/opensm/NAME. */
bool conf_value_is_default_path(const struct conf *c, enum conf_id id);
/* Where the value stands; all zero: not in a file. */
struct conf_place conf_place(const struct conf *c, enum conf_id id);
enum conf_source conf_source(const struct conf *c, enum conf_id id);
/* A finding about the value of an option, at its place: "NAME: " and the text. */
void conf_report_option(struct conf_report *r, enum conf_severity severity, const struct conf *c,
			enum conf_id id, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Takes over one value from another configuration. */
void conf_value_copy(struct conf *to, const struct conf *from, enum conf_id id);

/* --- Files ---------------------------------------------------------------------------------- */

/*
 * Reads opensm.conf over the values of `c`. 0: read, findings in `r` (a faulty line never stops the
 * reading). -ENOENT: no such file, no finding. Other -errno: not readable as a whole (directory,
 * FIFO, NUL bytes, too large), one finding, `c` unchanged.
 */
int conf_read(struct conf *c, const char *path, struct conf_report *r);
/* The same for text in memory; `path` is the name for findings. */
int conf_read_text(struct conf *c, const char *path, const char *text, size_t len,
		   struct conf_report *r);

/*
 * Writes a file that conf_read() reads back to the same values, in the peer's order and formats.
 * 0, -EIO when the stream failed. A value that the file format cannot express (a '#' inside) is
 * written as a comment, with an error in `r`.
 */
int conf_write(const struct conf *c, FILE *out, struct conf_report *r);

/* --- What belongs together ------------------------------------------------------------------ */

/* Rules between values (opensm-conf.md 5). What it has to change, it changes with a finding. */
void conf_verify(struct conf *c, struct conf_report *r);
/*
 * Remarks on values that stay: not supported yet, deprecated, malformed QoS lists, engines. With
 * `since`, only on those that differ from it.
 */
void conf_advise(const struct conf *c, const struct conf *since, struct conf_report *r);
/* The part of conf_advise() on options that have no effect without another one (needs.c). */
void conf_advise_needs(const struct conf *c, const struct conf *since, struct conf_report *r);
/* "qos is FALSE": while that is so, the option has no effect; NULL: it needs no other one. */
const char *conf_need(enum conf_id id);
/*
 * Warnings of keys that everyone knows, and of protection without a key (an error where `c` is
 * strict); none while nothing relies on keys: no profile, no option of security. With `since`, only
 * those that are new.
 */
void conf_advise_keys(const struct conf *c, const struct conf *since, struct conf_report *r);
/* Puts `logdir` into log_file and dump_files_dir where these are at their defaults. Last step. */
void conf_settle(struct conf *c);
/* True for a word that routing_engine may contain ("minhop", "updn" ..., not "no_fallback"). */
bool conf_engine_known(const char *name);
/* Is it one of the words of routing_engine? */
bool conf_engine_is_asked_for(const struct conf *c, const char *name);

/* --- SIGHUP --------------------------------------------------------------------------------- */

struct conf_changes {
	size_t n;
	enum conf_id ids[CONF_N_OPTIONS];
};

/* The keys whose values differ. Returns their number. */
size_t conf_diff(const struct conf *a, const struct conf *b, struct conf_changes *ret);
/* Every option has the same value in both. */
bool conf_is_same(const struct conf *a, const struct conf *b);

/*
 * What is in force after the file changed from `before` to `now`: a new struct made from `live`
 * with every changed key that is re-read at run time. `ret` lists the keys in which it differs from
 * `live`. Findings: changes that wait for a restart, lines that went (their value stays), and those
 * of conf_verify() and conf_advise().
 *
 * `before` is cli.file or the last `now`; `now` is a conf_copy() of it with conf_read() over it (so
 * that a faulty line keeps what the file said before). Neither is verified: the result is.
 */
struct conf *conf_reload(const struct conf *live, const struct conf *before, const struct conf *now,
			 struct conf_changes *ret, struct conf_report *r);
