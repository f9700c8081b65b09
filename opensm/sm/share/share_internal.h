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
	F(SAID, FORMAT, 8) F(SAID, STATUS, 8) F(SAID, PINS, 16) F(SAID, HASH, 64)                \
	F(SAID, LIFE, 64)
IB_LAYOUT_ENUM(SAID, SHARE_SAID_LIST)
#define SHARE_SAID_FORMAT 1
#define SHARE_DIFF_MAX	  (256u << 10)

/* The fate of a text at a standby. */
enum share_status {
	SHARE_COMING,	/* it is being stored: nothing is said yet */
	SHARE_STORED,
	SHARE_DECLINED, /* replicate_configuration is FALSE there */
	SHARE_DAMAGED,	/* it is not understood there */
	SHARE_DISK,	/* it cannot be stored there */
};

/* The row of a standby. */
struct share_said {
	guid_t guid;
	enum share_status status;
	unsigned pins;
	uint64_t hash;	  /* hash_bytes() of the configuration that the standby judged */
	uint64_t life;	  /* number of the opensm process that wrote this (channel.h) */
	const char *diff; /* SHARE_STORED: `len` bytes of copied_diff(), in the ledger; no NUL */
	size_t len;
};

struct share {
	char *folder; /* NULL: nothing is kept */
	struct conf *own;
	/* as another master had it */
	struct copied *copied; /* NULL: none */
	struct copied_pins pins;
	char *pins_told;
	/* as STANDBY */
	guid_t followed; /* the master whose row was looked at */
	bool is_due;	 /* that row, or our configuration, has changed since */
	bool storing, saying;
	mono_t look_at;
	/* as MASTER */
	const struct conf *text_of;
	const struct conf_files *text_of_files; /* one reference each */
	char *text; /* NULL: none can be shared yet */
	size_t len;
	uint64_t hash; /* of the last one */
	bool is_row_due, writing; /* the row may have to be written: the text is another one */
	mono_t write_at;
	struct told told;
};

enum { TOLD_FAULTY_FILE, TOLD_LARGE_FILE, TOLD_LARGE_TEXT, TOLD_NOT_STORED };

/* ---- share_group.c ---- */

bool share_holds_option(enum conf_id id);
bool share_holds_file(enum conf_id id);

/* ---- share_rows.c ---- */

struct ledger_key share_text_key(void);
struct ledger_key share_said_key(guid_t guid);
/* True if the edit would change nothing, and this manager wrote the row, or it is gone. */
bool share_is_row(const struct sm *sm, const struct settle_edit *e);
/* The bytes of the row; the caller frees them. */
uint8_t *share_said_pack(const struct share_said *said, uint32_t *ret_len);
/* False: not the row of a standby, or of a process that does not run there any more. */
bool share_said(const struct sm *sm, const struct ledger_key *key, struct share_said *ret);

/* ---- share_disk.c ---- */

/* The copy that is kept; NULL: none, or it is damaged. */
struct copied *share_load(const char *folder);
/* Both may be called on another thread. 0 or -errno. */
int share_store(const char *folder, const struct copied *c, const char *text, size_t len,
		int64_t *ret_at);

/* ---- share_master.c, share_standby.c ---- */

/* The row has changed: logs what a standby says of our configuration, if it is its row. */
void share_master_hears(struct sm *sm, const struct ledger_key *key);
void share_master_tick(struct sm *sm);
mono_t share_master_next(const struct sm *sm);
void share_standby_tick(struct sm *sm);
mono_t share_standby_next(const struct sm *sm);
