// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of congestion/. */
#pragma once

#include <sys/queue.h>

#include "congestion/congestion.h"
#include "congestion/want.h"
#include "util/guidmap.h"

#define CC_TRIES 4 /* timeouts in a row that make a port silent */

/* What there is to do at a port, in this order. */
enum cc_step {
	CC_STEP_KEY,
	CC_STEP_TRAPS,
	CC_STEP_INFO,
	CC_STEP_SETTING,
	CC_STEP_BLOCK,
	CC_STEP_LOG = CC_STEP_BLOCK + CC_BLOCKS,
	CC_STEPS
};
#define CC_TODO(step) (1u << (step))
#define CC_TODO_ALL   (CC_TODO(CC_STEP_LOG) - 1)
#define CC_TODO_SETTINGS (CC_TODO_ALL & ~(CC_TODO(CC_STEP_SETTING) - 1))

enum cc_verdict { CC_CELL_UNKNOWN, CC_CELL_HELD, CC_CELL_ROUNDED, CC_CELL_REFUSED };

struct cc_entry {
	struct cc_port port; /* first */
	struct cc_device device;
	uint8_t lmc;
	uint16_t life; /* port->lives of the fabric when its settings were unknown last */
	uint32_t seen; /* walk that last met it */
	unsigned todo; /* of CC_TODO() */
	bool writes;	   /* the question of the step is a Set */
	uint8_t timeouts;  /* in a row */
	uint8_t again;	   /* times it was asked since it is silent */
	mono_t again_at;   /* SILENT: when it is asked next */
	uint8_t lost_sets; /* in a row, of this step */
	bool key_known;
	uint64_t key;	  /* that it answered to */
	uint64_t key_out; /* of the question */
	uint32_t tid;	  /* of the question; 0: none is out */
	uint64_t given[CC_CELLS]; /* what was written last and not kept; 0: nothing */
	uint8_t verdicts[CC_CELLS]; /* enum cc_verdict */
	TAILQ_ENTRY(cc_entry) queue;
};

struct cc {
	struct conf *conf; /* that ports were last set up for; NULL: off */
	uint64_t key_mark; /* of the ring */
	struct guidmap *by_guid, *by_lid, *by_tid;
	struct cc_entry **entries; /* by GUID if `sorted` */
	unsigned n, cap;
	bool sorted, ended, heavy; /* a sweep ended */
	uint32_t walk;
	uint16_t incast; /* hosts that there were, up to the next power of two */
	TAILQ_HEAD(, cc_entry) queue;
	unsigned outstanding, logged, not_logged;
	bool busy; /* since cc_settled() */
	mono_t blocked_until, log_at, now;
	mono_t again_at; /* silent ports are asked again */
	uint64_t n_gets, n_sets, timeouts, said_gets, said_sets;
};

/* congestion.c: what is left to do is done when its turn comes. */
void cc_enqueue(struct cc *cc, struct cc_entry *e, unsigned todo);
/* It has not answered, and is asked again some time. */
void cc_leave_silent(struct cc *cc, struct cc_entry *e);
struct cc_entry *cc_entry_of_lid(const struct cc *cc, lid_t lid);
/* One line about a port; of many in a row only the first. */
void cc_say(struct cc *cc, const struct cc_place *place, const struct cc_entry *e,
	    const char *text);

/* ask.c */
/* 0: sent, or nothing was left to ask. -EAGAIN, -ENODEV: later. */
int cc_ask(struct cc *cc, struct cc_entry *e, const struct cc_place *place);
void cc_answered(struct cc *cc, struct cc_entry *e, const uint8_t *mad,
		 const struct cc_place *place);
void cc_unanswered(struct cc *cc, struct cc_entry *e, const struct cc_place *place);
bool cc_is_answer(const struct cc_entry *e, const uint8_t *mad);
uint64_t cc_key_wanted(const struct cc_place *place, const struct cc_entry *e);

/* links.c */
/* Hosts that may send to one: it only grows, so that tables do not change with each host. */
void cc_count_hosts(struct cc *cc, const struct fabric *f);
/* What is up at the port, or at its switch. True: settings that depend on it may be others. */
bool cc_learn_links(struct cc *cc, struct cc_entry *e, const struct port *p,
		    const struct conf *conf);

/* log.c: CongestionLog, from byte 32 of a MAD. */
void cc_take_log(struct cc *cc, struct cc_entry *e, const uint8_t *log);
