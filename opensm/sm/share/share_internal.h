// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of the shared configuration, for share*.c only; the rest of sm/ sees share.h.
 *
 *   share.c          what is in force; what is told of it
 *   share_rows.c     the rows of the ledger: their keys and values
 *   share_master.c   as MASTER: the text becomes a row, and what standbys say of it is told
 *   share_standby.c  as STANDBY: the text is stored, and counts; what came of it becomes a row
 *   share_disk.c     CACHE/from-master/
 *   share_diff.c     what people are told of the differences
 *   share_group.c    which options and files are shared
 *
 * Rows of LEDGER_CONFIG:
 *
 *   "configuration"		the text of conf/copied/; whichever manager is master writes it
 *   "differs 0x<port GUID>"	layout SAID, then copied_diff(); of the standby on that port
 */
#pragma once

#include "conf/copied/copied.h"
#include "ib/layout.h"
#include "sm/channel/channel.h"
#include "sm/share/share.h"
#include "sm/sm_internal.h"
#include "util/told.h"

#define SHARE_SAID_LIST(F)                                                                         \
	F(SAID, FORMAT, 8) F(SAID, STATUS, 8) F(SAID, PINS, 16) F(SAID, HASH, 64) F(SAID, LIFE, 64)
IB_LAYOUT_ENUM(SAID, SHARE_SAID_LIST)
#define SHARE_SAID_FORMAT 1
#define SHARE_DIFF_MAX	  (256u << 10)

/* The result of storing a text at a standby. */
enum share_status {
	SHARE_COMING, /* being stored: nothing is reported yet */
	SHARE_STORED,
	SHARE_DECLINED, /* replicate_configuration is FALSE there */
	SHARE_DAMAGED,	/* the standby does not understand it */
	SHARE_DISK,	/* the standby cannot store it */
};

/* The contents of a standby's row. */
struct share_said {
	guid_t guid;
	enum share_status status;
	unsigned pins;
	uint64_t hash;	  /* hash_bytes() of the configuration that the standby judged */
	uint64_t life;	  /* number of the opensm process that wrote this (channel.h) */
	const char *diff; /* SHARE_STORED: `len` bytes of copied_diff(), in the ledger; no NUL */
	size_t len;
};

/* A standby of which it was logged that it has our configuration; `guid` 0: free. */
#define SHARE_TOLD 8u
struct share_told {
	guid_t guid;
	bool pins; /* set if some options differ there, as they are set so */
};

struct share {
	char *folder; /* NULL: no copy is kept */
	struct conf *own;
	/* The copy of another master's configuration. */
	struct copied *copied; /* NULL: no copy */
	struct copied_pins pins;
	char *pins_told;
	mono_t tell_at; /* time at which `pins` are logged; 0: they need not be */
	/* As STANDBY. */
	guid_t followed; /* port GUID of the master whose row was last read */
	bool is_due;	 /* set if that row, or our configuration, has changed since */
	bool storing, saying;
	mono_t look_at;
	/* As MASTER. */
	const struct conf *text_of;
	const struct conf_files *text_of_files; /* sources of `text`, one reference each */
	char *text;				/* NULL: nothing can be shared yet */
	size_t len;
	uint64_t hash; /* hash of the last text */
	/* is_row_due: set if the row may have to be written, as the text has changed */
	bool is_row_due, writing;
	mono_t write_at;
	struct told told;
	guid_t copy_told; /* master whose copy was logged last; later ones are verbose */
	struct share_told with_told[SHARE_TOLD];
};

enum { TOLD_FAULTY_FILE, TOLD_LARGE_FILE, TOLD_LARGE_TEXT, TOLD_NOT_STORED };

/* ---- share_group.c ---- */

bool share_holds_option(enum conf_id id);
bool share_holds_file(enum conf_id id);

/* ---- share_rows.c ---- */

struct ledger_key share_text_key(void);
struct ledger_key share_said_key(guid_t guid);
/* Would the edit change nothing? True only if this manager wrote the row, or the row is gone. */
bool share_is_row(const struct sm *sm, const struct settle_edit *e);
/* Packs the value of the row; the caller frees it. */
uint8_t *share_said_pack(const struct share_said *said, uint32_t *ret_len);
/* Reads a standby's row. False: it is none, or of a process that does not run there any more. */
bool share_said(const struct sm *sm, const struct ledger_key *key, struct share_said *ret);

/* ---- share_disk.c ---- */

/* Loads the stored copy; NULL: none, or it is damaged. */
struct copied *share_load(const char *folder);
/* Stores a copy. Returns 0 or -errno. This and share_load() may be called on another thread. */
int share_store(const char *folder, const struct copied *c, const char *text, size_t len,
		int64_t *ret_at);

/* ---- share_master.c, share_standby.c ---- */

/* Called when a row has changed: logs what a standby reports on our configuration. */
void share_master_hears(struct sm *sm, const struct ledger_key *key);
void share_master_tick(struct sm *sm);
mono_t share_master_next(const struct sm *sm);
void share_standby_tick(struct sm *sm);
mono_t share_standby_next(const struct sm *sm);
