// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of congestion/. */
#pragma once

#include <sys/queue.h>

#include "congestion/congestion.h"
#include "congestion/want.h"
#include "util/guidmap.h"

#define CC_TRIES 4 /* timeouts in a row that make a port silent */

/* The steps at a port, in this order. */
enum cc_step {
	CC_STEP_KEY,
	CC_STEP_TRAPS,
	CC_STEP_INFO,
	CC_STEP_SETTING,
	CC_STEP_BLOCK,
	CC_STEP_LOG = CC_STEP_BLOCK + CC_BLOCKS,
	CC_STEPS
};
#define CC_TODO(step)	 (1u << (step))
#define CC_TODO_ALL	 (CC_TODO(CC_STEP_LOG) - 1)
#define CC_TODO_SETTINGS (CC_TODO_ALL & ~(CC_TODO(CC_STEP_SETTING) - 1))

enum cc_verdict { CC_CELL_UNKNOWN, CC_CELL_HELD, CC_CELL_ROUNDED, CC_CELL_REFUSED };

struct cc_entry {
	struct cc_port port; /* must be the first member */
	struct cc_device device;
	uint8_t lmc;
	uint16_t life; /* value of port->lives of the fabric when its settings were last unknown */
	uint32_t seen; /* number of the walk that last met it */
	unsigned todo; /* bit mask of CC_TODO() */
	bool writes;   /* set if the request of the step is a Set */
	uint8_t timeouts;  /* timeouts in a row */
	uint8_t again;	   /* times that it was asked again since it is silent */
	mono_t again_at;   /* SILENT: time of the next request */
	uint8_t lost_sets; /* unanswered Sets of this step in a row */
	bool key_known;
	uint64_t key;		    /* key that it answered to */
	uint64_t key_out;	    /* key of the request under way */
	uint32_t tid;		    /* transaction ID of the request under way; 0: none */
	uint64_t given[CC_CELLS];   /* hash of values written last and not kept; 0: none */
	uint8_t verdicts[CC_CELLS]; /* enum cc_verdict */
	TAILQ_ENTRY(cc_entry) queue;
};

struct cc {
	struct conf *conf; /* configuration that ports were last set up for; NULL: off */
	uint64_t key_mark; /* mark of the key ring */
	struct guidmap *by_guid, *by_lid, *by_tid;
	struct cc_entry **entries; /* sorted by GUID if `sorted` */
	unsigned n, cap;
	bool sorted, ended, heavy; /* ended: a sweep ended; heavy: a heavy one */
	uint32_t walk;
	uint16_t incast; /* number of hosts, rounded up to a power of two */
	TAILQ_HEAD(, cc_entry) queue;
	unsigned outstanding, logged, not_logged;
	bool busy; /* set if a port was asked since the last report that all are settled */
	mono_t blocked_until, log_at, now;
	mono_t again_at; /* time at which silent ports are asked again */
	uint64_t n_gets, n_sets, timeouts, said_gets, said_sets;
};

/* entries.c */
/* The entry of a port, a new one at its first call. */
struct cc_entry *cc_meet(struct cc *cc, const struct port *p);
/* Notes the LIDs of a port. */
void cc_place_at(struct cc *cc, struct cc_entry *e, const struct port *p);
struct cc_entry *cc_entry_of_lid(const struct cc *cc, lid_t lid);
/* Frees the entry, which stays in `entries`. */
void cc_forget(struct cc *cc, struct cc_entry *e);
/* Queues a port for these steps. */
void cc_enqueue(struct cc *cc, struct cc_entry *e, unsigned todo);
/* Notes that a port has not answered, and when it is asked again. */
void cc_leave_silent(struct cc *cc, struct cc_entry *e);
/* Takes a port out of the queue, or forgets the request under way. */
void cc_stop_asking(struct cc *cc, struct cc_entry *e);
/* Logs a line about a port; of many in a row only the first. */
void cc_say(struct cc *cc, const struct cc_place *place, const struct cc_entry *e,
	    const char *text);

/* ask.c */
/* Sends the next request of a port. 0: sent, or none is left; -EAGAIN, -ENODEV: later. */
int cc_ask(struct cc *cc, struct cc_entry *e, const struct cc_place *place);
void cc_answered(struct cc *cc, struct cc_entry *e, const uint8_t *mad,
		 const struct cc_place *place);
void cc_unanswered(struct cc *cc, struct cc_entry *e, const struct cc_place *place);
bool cc_is_answer(const struct cc_entry *e, const uint8_t *mad);
uint64_t cc_key_wanted(const struct cc_place *place, const struct cc_entry *e);

/* links.c */
/* Counts hosts; the number only grows, so that tables do not change with each host. */
void cc_count_hosts(struct cc *cc, const struct fabric *f);
/* Notes the links of the port, or of its switch. True: settings that depend on them may change. */
bool cc_learn_links(struct cc *cc, struct cc_entry *e, const struct port *p,
		    const struct conf *conf);

/* log.c: takes a CongestionLog, which begins at byte 32 of a MAD. */
void cc_take_log(struct cc *cc, struct cc_entry *e, const uint8_t *log);
