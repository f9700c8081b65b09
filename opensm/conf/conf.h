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
	uint8_t kind;	/* enum conf_cc_kind; OFF: the setting of the whole switch holds */
	uint8_t threshold, packet_size;
	uint16_t parameter; /* marking rate, or delay: shift in the upper two bits */
};

#define CONF_CC_PORTS_MAX 16
struct conf_cc_ports {
	unsigned n; /* 0: unset */
	/* if several match a port, the last one holds */
	struct conf_cc_port items[CONF_CC_PORTS_MAX];
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

/* The effort of a change at run time, in ascending order: of several changes the maximum is due. */
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
	CONF_SOURCE_COMMAND_LINE, /* or from the environment, or from a line that was deleted */
	CONF_SOURCE_COPIED,	  /* copied from the master */
	CONF_SOURCE_PROFILE,
};

struct conf_option {
	const char *name;
	const char *default_text;
	const char *range;
	const char *help;
	const char *section; /* heading in the output of -c */
	size_t offset;       /* offset of the member in struct conf */
	size_t size;
	enum conf_type type;
	enum conf_format format;
	enum conf_cost cost;
	enum conf_state state;
};

struct conf {
	unsigned refs;
	char *file;                          /* file that conf_read() read; NULL: none */
	uint32_t file_line[CONF_N_OPTIONS]; /* line the value comes from; 0: not from the file */
	uint32_t file_column[CONF_N_OPTIONS]; /* column where the value begins */
	bool strict; /* an option without effect is an error; set before a file is read */
	bool file_faulty[CONF_N_OPTIONS];   /* set if a line of the file for it was refused */
	bool given[CONF_N_OPTIONS];	    /* set if the command line gave it */
	bool profiled[CONF_N_OPTIONS];	    /* set if only a profile gave it its value */
	enum conf_profile profile;	    /* profile that was applied last */
	/* options copied from the master (conf/copied/); its port GUID; the time of the copy */
	bool copied[CONF_N_OPTIONS];
	guid_t copied_from;
	int64_t copied_at; /* seconds since 1970; 0: nothing was copied */
#define OPTION(name, ctype, ...) ctype name;
#include "conf/options.def"
};

/* The row of an option; never NULL. */
const struct conf_option *conf_option(enum conf_id id);
/* The option of a key, also of an alias (dimn_ports_file); CONF_N_OPTIONS: there is no such key. */
enum conf_id conf_option_find(const char *name);
/* The known key that looks most like `name` (case, dashes, typing errors), or NULL. */
const char *conf_option_nearest(const char *name);
/* "RESTART" and so on, for messages and the man page. */
const char *conf_cost_name(enum conf_cost cost);

/* --- Life ----------------------------------------------------------------------------------- */

/* All defaults; one reference. Environment (OSM_TMP_DIR) is looked up by the caller. */
struct conf *conf_new(void);
struct conf *conf_ref(const struct conf *c);
struct conf *conf_unref(const struct conf *c);
FREEP(conf_unref, struct conf)
/* A deep copy with one reference, which the caller may change. */
struct conf *conf_copy(const struct conf *c);

/* --- Values --------------------------------------------------------------------------------- */

/*
 * Sets an option from `text`, which is written as in the file, without its quotes. Returns 0, or
 * -EINVAL or -ERANGE with a finding; the old value then stays.
 */
int conf_set(struct conf *c, enum conf_id id, const char *text, const struct conf_place *at,
	     struct conf_report *r);
/* The value as -c writes it, to be freed; a list per SL gives the pairs separated by commas. */
char *conf_value_text(const struct conf *c, enum conf_id id);
/* Is the option a key (m_key, sm_key, sa_key, cc_key)? Findings and logs never show its value. */
bool conf_is_secret(enum conf_id id);
/* Is the key of trusted requests drawn at random, instead of being sa_key? */
bool conf_draws_sa_key(const struct conf *c);
/* Are there keys other than the defaults, which are publicly known? */
bool conf_has_secrets(const struct conf *c);
/* The value for logs: as conf_value_text(), but secrets are masked. */
char *conf_value_shown(const struct conf *c, enum conf_id id);
bool conf_value_equal(const struct conf *a, const struct conf *b, enum conf_id id);
bool conf_value_is_default(const struct conf *c, enum conf_id id);
/* Is it the default, or the corresponding path of Debian's OpenSM, /etc/opensm/NAME? */
bool conf_value_is_default_path(const struct conf *c, enum conf_id id);
/* The place of the value in the file; all zero: the value is not from a file. */
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
/* As conf_read(), for text in memory; `path` is its name in findings. */
int conf_read_text(struct conf *c, const char *path, const char *text, size_t len,
		   struct conf_report *r);

/*
 * Writes a file that conf_read() reads back to the same values, in the peer's order and formats.
 * 0, -EIO when the stream failed. A value that the file format cannot express (a '#' inside) is
 * written as a comment, with an error in `r`.
 */
int conf_write(const struct conf *c, FILE *out, struct conf_report *r);

/* --- What belongs together ------------------------------------------------------------------ */

/* Applies the rules between values (opensm-conf.md 5). Each value that it changes is a finding. */
void conf_verify(struct conf *c, struct conf_report *r);
/*
 * Remarks on values that stay: not supported yet, deprecated, malformed QoS lists, engines. With
 * `since`, only on those that differ from it.
 */
void conf_advise(const struct conf *c, const struct conf *since, struct conf_report *r);
/* The part of conf_advise() on options that have no effect without another one (needs.c). */
void conf_advise_needs(const struct conf *c, const struct conf *since, struct conf_report *r);
/* The part of conf_advise() on words of metrics_groups that name no group (metrics_groups.c). */
void conf_advise_metrics(const struct conf *c, const char *list, struct conf_report *r);
/* The reason why the option has no effect now, as "qos is FALSE"; NULL: it has one. */
const char *conf_need(enum conf_id id);
/*
 * Warns of well-known keys, and of protection without a key (an error where `c` is strict); silent
 * while nothing relies on keys: no profile, no option of security. With `since`, adds only findings
 * that `since` would not have.
 */
void conf_advise_keys(const struct conf *c, const struct conf *since, struct conf_report *r);
/*
 * Puts `logdir` into log_file and dump_files_dir where these are at their defaults. The last step.
 */
void conf_settle(struct conf *c);
/* True for a word that routing_engine may contain ("minhop", "updn" ..., not "no_fallback"). */
bool conf_engine_known(const char *name);
/* Is `name` among the words of routing_engine? */
bool conf_engine_is_asked_for(const struct conf *c, const char *name);

/* --- SIGHUP --------------------------------------------------------------------------------- */

struct conf_changes {
	size_t n;
	enum conf_id ids[CONF_N_OPTIONS];
};

/* The keys whose values differ. Returns their number. */
size_t conf_diff(const struct conf *a, const struct conf *b, struct conf_changes *ret);
/* Has every option the same value in both? */
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
