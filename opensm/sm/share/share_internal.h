// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of the shared configuration, for share*.c only; the rest of sm/ sees share.h.
 *
 *   share.c          what is in force; what is told of it
 *   share_master.c   as MASTER: the text, and what standbys say of it
 *   share_standby.c  as STANDBY: a text comes, is stored, and counts
 *   share_disk.c     CACHE/from-master/
 *   share_diff.c     what people are told of the differences
 *   share_group.c    which options and files are shared
 *
 * A message on CHANNEL_CONFIG is the text of conf/copied/, or "diff OFFSET": which bytes of
 * copied_diff() are wanted. A reply is the head SRP_LIST, behind "diff" with bytes of the text.
 */
#pragma once

#include "conf/copied/copied.h"
#include "ib/layout.h"
#include "sm/channel/channel.h"
#include "sm/share/share.h"
#include "sm/sm_internal.h"
#include "util/told.h"

#define SHARE_REPLY_LIST(F)                                                                        \
	F(SRP, FORMAT, 8) F(SRP, STATUS, 8) F(SRP, PINS, 16) F(SRP, LENGTH, 32) F(SRP, HASH, 64)
IB_LAYOUT_ENUM(SRP, SHARE_REPLY_LIST)
#define SHARE_REPLY_FORMAT 1
#define SHARE_PAGE	   (CHANNEL_REPLY_MAX - SRP_BYTES)
#define SHARE_DIFF_MAX	   (256u << 10)
#define SHARE_QUERY	   "diff "

enum share_status {
	SHARE_STORED = 1,
	SHARE_DIFFERS,	  /* the answer to a query */
	SHARE_DECLINED,	  /* replicate_configuration is FALSE there */
	SHARE_DAMAGED,	  /* it does not understand the text */
	SHARE_DISK,	  /* it cannot be stored there */
	SHARE_NOTHING,	  /* a query, and it has no text */
};

/* A standby, as the master knows it. */
struct share_peer {
	guid_t guid;
	bool busy;
	uint64_t sent, stored; /* hash of a text; 0: none */
	enum share_status status; /* 0: it has not replied yet */
	mono_t retry_at, ask_at;
	char *diff, *coming; /* complete; page by page. NULL: none */
	size_t n_coming, coming_len;
	uint64_t coming_hash;
};

struct share {
	char *folder; /* NULL: nothing is kept */
	struct conf *own;
	/* as another master had it */
	struct copied *copied; /* NULL: none */
	struct copied_pins pins;
	bool storing;
	char *page_text; /* what pages of a query are of */
	char *pins_told;
	/* as MASTER */
	const struct conf *text_of;
	const struct conf_files *text_of_files; /* one reference each */
	char *text;
	size_t len;
	uint64_t hash, version;
	struct share_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* of peers: those behind were never in use, and are not looked at */
	struct told told;
};

enum { TOLD_FAULTY_FILE, TOLD_LARGE_FILE, TOLD_NOT_STORED };

/* ---- share_group.c ---- */

bool share_holds_option(enum conf_id id);
bool share_holds_file(enum conf_id id);

/* ---- share.c ---- */

/* `c` counts from now on (one reference): NEWS_CONFIG_COPIED. */
void share_use(struct sm *sm, struct copied *c);

/* ---- share_disk.c ---- */

/* The copy that is kept; NULL: none, or it is damaged. */
struct copied *share_load(const char *folder);
/* Both may be called on another thread. 0 or -errno. */
int share_store(const char *folder, const struct copied *c, const char *text, size_t len,
		int64_t *ret_at);

/* ---- share_master.c ---- */

void share_master_tick(struct sm *sm);
mono_t share_master_next(const struct sm *sm);
void share_forget_peers(struct share *s);
