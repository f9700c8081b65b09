// SPDX-License-Identifier: BSD-2-Clause
/*
 * The log: one record per decision, in the line format of OpenSM (files.md 8), to a file, stdout,
 * stderr or, when systemd started us, the journal (levels become syslog priorities; the subject of
 * the record becomes fields). Repetitions are counted (util/log_flood.h).
 *
 *   Nov 20 17:15:04 463241 [A9FDC6C0] 0x02 -> minhop tables configured on all switches
 *
 * Layers below sm/, sa/ and perf/ log at LOGB_DEBUG only; they return what went wrong.
 * Text from the fabric (NodeDescription) must pass str_printable() first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log_ids.h"
#include "util/mono.h"
#include "util/types.h"

enum log_bits {
	LOGB_ERROR = 0x01,
	LOGB_INFO = 0x02,
	LOGB_VERBOSE = 0x04,
	LOGB_DEBUG = 0x08,
	LOGB_FUNCS = 0x10,
	LOGB_FRAMES = 0x20,
	LOGB_ROUTING = 0x40,
	LOGB_SYS = 0x80, /* state changes: also to stdout and syslog */
};

struct log_config {
	const char *path;     /* file; "-", "stdout", "stderr" or NULL (stdout) */
	const char *instance; /* OPENSM_INSTANCE in the journal, NULL for none */
	const char *prefix;   /* put before every record's text, NULL for none */
	unsigned flags;       /* mask of enum log_bits; LOGB_SYS is always added */
	unsigned max_size_mb; /* 0: no limit; above it the file is truncated in place */
	bool append;          /* false: start with an empty file at every (re)open */
	bool flush;           /* accepted without effect: every record is one write() already */
	bool quiet;           /* no copy of SYS records on stdout (daemon mode) */
};

/*
 * Opens the destination. `config` is copied. Returns 0 or -errno; on failure the old log stays.
 * Refused: FIFOs, sockets and devices other than /dev/null and terminals (-EINVAL), and in a folder
 * that group or others may write to, symlinks (-ELOOP) and files with several names (-EMLINK).
 * Before the first call, ERROR and INFO go to stderr.
 */
int log_open(const struct log_config *config);
/* SIGUSR1: closes and opens the file again by path. */
int log_reopen(void);
/*
 * Takes over flags, size limit, append, prefix and (if not NULL) instance of `config` without
 * reopening.
 */
void log_configure(const struct log_config *config);
/* The mask in force, always with LOGB_SYS. */
unsigned log_flags(void);
/* Sets another mask (console, control socket), in force until log_configure(). */
void log_set_flags(unsigned flags);
/* Frees everything; the log is then as it was before log_open(). */
void log_close(void);
/*
 * The descriptor of the destination; a daemon duplicates it to fds 0-2, again after log_reopen().
 */
int log_fileno(void);

/* ---- levels of single source files (per_module_logging_file) ---- */

/*
 * A module is a folder ("sa/", "route/", "route/tree/") or a file with its folders
 * ("sm/trust/traps.c"; "opensm/main.c" for what is in none).
 */
struct log_module {
	const char *name;
	unsigned mask; /* mask of enum log_bits, added to the mask of all files */
};

/*
 * The folders below opensm/ and the file, without them the last folder: "sm/trust/traps.c" of
 * "../../opensm/sm/trust/traps.c".
 */
const char *log_module_of(const char *file);
/* Is `file`, as the compiler names it, in the module? */
bool log_module_has(const char *name, const char *file);
/* The bits that `modules` add for `file`. */
unsigned log_modules_mask(const struct log_module *modules, size_t n, const char *file);
/* Sets levels of single modules, in addition to the mask of all files; copied. `n` 0: none. */
void log_set_modules(const struct log_module *modules, size_t n);
/* Writes counts of suppressed records that are due. Also done before each record. */
void log_tick(void);

/*
 * Tests only: passes the text of every record to `sink` instead of a destination; NULL ends it.
 * Repetitions are not counted unless log_set_now() was called.
 */
void log_set_sink(void (*sink)(void *arg, unsigned bits, const char *text), void *arg);

/*
 * Tests only: sets the time, in place of the clock. From then on repetitions are counted for a
 * sink, too.
 */
void log_set_now(mono_t now);

enum log_id {
	LOG_ID_NONE,
#define ID(name, hex) LOG_ID_##name,
	LOG_IDS(ID)
#undef ID
	LOG_N_IDS
};
/* 32 hexadecimal digits, and "SUBNET_UP"; NULL for LOG_ID_NONE. */
const char *log_id_hex(enum log_id id);
const char *log_id_name(enum log_id id);

/*
 * The subject of a record: fields of the journal, by which records are also grouped as alike. All
 * members may be left out; strings need to be valid during the call only. Keys (m_key, sm_key,
 * sa_key, cc_key) are never in it.
 */
struct log_about {
	enum log_id id;	      /* MESSAGE_ID, OPENSM_EVENT */
	guid_t node_guid;     /* NODE_GUID */
	guid_t port_guid;     /* PORT_GUID */
	const char *name;     /* NODE_DESC: name of the node */
	unsigned port;	      /* PORT; 0: none */
	lid_t lid;	      /* LID */
	const char *attr;     /* ATTR: "PortInfo" */
	const char *method;   /* METHOD */
	const char *status;   /* STATUS, in words */
	const char *mgid;     /* MGID */
	const char *file;     /* FILE: of the configuration, of ours */
	unsigned pkey;	      /* PKEY: the base, 0x0005 */
	uint64_t generation;  /* GENERATION: of the table of partitions */
	const char *client;   /* CLIENT: the cause of a change */
	/* no field: reason of a refusal; records with different hints are not alike */
	const char *hint;
	int error;	      /* ERRNO */
	bool local;	      /* set if it cannot be caused from outside, whatever its subject */
	/* number of records written before repetitions are counted; 0: the usual number */
	unsigned often;
};
/* ABOUT(.id = LOG_ID_TABLE_FULL, .lid = 7) */
#define ABOUT(...) ((struct log_about){ __VA_ARGS__ })

/* `file` is __FILE__, as modules have masks of their own. */
bool log_wants_in(const char *file, unsigned bits);
#define log_wants(bits) log_wants_in(__FILE__, (bits))
/* Writes a record without asking for the mask; callers have asked log_wants(). */
void log_write(unsigned bits, const char *func, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void log_write_on(const struct log_about *about, unsigned bits, const char *func, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));

/*
 * `func` may be NULL: milestone records such as "SUBNET UP" have no function, and are never
 * suppressed. The function is a field of the journal (CODE_FUNC), and part of lines only while
 * LOGB_FUNCS is in the mask. No final newline.
 */
#define log_at(bits, ...)                                                                          \
	do {                                                                                       \
		if (log_wants(bits))                                                               \
			log_write((bits), __func__, __VA_ARGS__);                                  \
	} while (0)
#define log_error(...) log_at(LOGB_ERROR, __VA_ARGS__)
#define log_info(...) log_at(LOGB_INFO, __VA_ARGS__)
#define log_verbose(...) log_at(LOGB_VERBOSE, __VA_ARGS__)
#define log_debug(...) log_at(LOGB_DEBUG, __VA_ARGS__)
#define log_sys(...) log_write(LOGB_SYS, NULL, __VA_ARGS__)

/*
 * Logs with a subject: log_on(ABOUT(...), LOGB_ERROR, "text"). `about` is a struct log_about,
 * evaluated only if the record is wanted.
 */
#define log_on(about, bits, ...)                                                                   \
	do {                                                                                       \
		if (log_wants(bits)) {                                                             \
			struct log_about about_ = about;                                           \
			log_write_on(&about_, (bits), __func__, __VA_ARGS__);                      \
		}                                                                                  \
	} while (0)
/* Logs without a function name: records that scripts look for. */
#define log_milestone(about, bits, ...)                                                            \
	do {                                                                                       \
		if (log_wants(bits)) {                                                             \
			struct log_about about_ = about;                                           \
			log_write_on(&about_, (bits), NULL, __VA_ARGS__);                          \
		}                                                                                  \
	} while (0)
#define log_sys_on(about, ...)                                                                     \
	do {                                                                                       \
		struct log_about about_ = about;                                                   \
		log_write_on(&about_, LOGB_SYS, NULL, __VA_ARGS__);                                \
	} while (0)

/*
 * Token bucket for records that a peer can cause. `log_allow()` is true when a record may be
 * written now; `*ret_suppressed` is then the number of records suppressed since the last one.
 * Initialise `interval` and `burst`, the rest with zero.
 */
struct log_limit {
	mono_t interval; /* one record per interval once the burst is used up */
	unsigned burst;
	unsigned used;
	unsigned suppressed;
	mono_t since;
};
bool log_allow(struct log_limit *limit, mono_t now, unsigned *ret_suppressed);
/* "; 3 others were not said" for *ret_suppressed of log_allow(), or "" for none; in `ret`. */
#define LOG_OTHERS_STRLEN 48
const char *log_others(unsigned suppressed, char ret[LOG_OTHERS_STRLEN]);
