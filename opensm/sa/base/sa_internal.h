// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of struct sa, shared by the files of sa/ only.
 *
 *   sa.c        life, admission                 answer.c  answers in all shapes
 *   trust.c, askers.c   which requests are answered at all
 *   query.c     Get, GetTable, GetMulti over record types   match.c   the component mask
 *   turns.c     long queries, in turn           limits.h, quota.c   costs of a requester
 *   records*.c  topology records                path*.c   PathRecord, MultiPathRecord
 *   mgroup.c, mcmember.c   groups and joins     inform.c, report.c   subscriptions and notices
 *   events.c    a new view's traps              roll.c    registrations in order of arrival
 *   service.c, guidinfo.c  registered records   db.c      opensm-sa.dump
 *
 * A record type is one const row (struct sa_type) of SA_TYPES.
 */
#pragma once

#include <sys/queue.h>

#include "ib/records.h"
#include "sa/base/limits.h"
#include "sa/sa.h"
#include "util/log.h"

/* A request as admitted. `data` has at least SA_DATA_SIZE bytes, padded with zeroes. */
struct sa_request {
	struct transport_addr from;
	uint8_t method; /* enum mad_method */
	uint16_t attr;
	uint32_t mod;
	uint64_t tid;
	uint64_t mask; /* component mask */
	uint64_t sm_key;
	uint32_t port;	 /* requester's end port in the view; VIEW_NONE: unknown LID */
	bool trusted;	 /* set if the SM_Key is right: trust_has_key() */
	bool manager;	 /* set if trusted, and the port has a subnet manager */
	bool whole;	 /* set if a manager asks for everything (SA_FOR_STANDBY) */
	bool rmpp;	 /* Active flag set */
	uint16_t offset; /* AttributeOffset */
	const uint8_t *data;
	size_t data_len; /* number of bytes received */
	mono_t arrived;
};

/* Results of next(); SA_SKIP rows count against the slice like others. */
enum sa_step { SA_ROW, SA_SKIP, SA_WAIT, SA_END };

struct sa_query;

struct sa_type {
	uint16_t size;	   /* bytes of a record; a multiple of 8 in answers: sa_type_stride() */
	uint16_t head_len; /* bytes before the wrapped SMP attribute */
	/* The layout, by SA_HEAD() and SA_BODY(): row n of head, then body, is component n. */
	const struct ib_field *head, *body;
	uint8_t n_head, n_body;
	uint64_t lids;	     /* components that name a port by any LID of its range; in the head */
	uint64_t settled;    /* components that next() or match() have compared */
	bool matches_itself; /* set if next() compares all components (paths, groups) */
	bool trusted_only;   /* REQ_INVALID for others (P_Key tables) */
	bool pairs;	     /* set if rows tell which partitions ports share */

	/* Refuses a request before anything is looked up; 0: fine. NULL: nothing to check. */
	uint16_t (*check)(const struct sa_query *q);
	/* Narrows the scan, makes q->state. NULL: from the first row. Status as check(). */
	uint16_t (*start)(struct sa_query *q);
	/*
	 * The next row that exists into `ret` (`size` bytes, zeroed before). Sets q->subject to the
	 * port whose partitions decide whether the requester may see it; VIEW_NONE: all may. NULL:
	 * the type has no Get.
	 */
	enum sa_step (*next)(struct sa_query *q, uint8_t *ret);
	/* With walk_next() (sa/records.h): the next row of an end port; SA_END: no more. */
	enum sa_step (*of_port)(struct sa_query *q, uint32_t end, uint8_t *ret);
	/* Compares components that are `settled`. NULL: next() gives only rows that match. */
	bool (*match)(const struct sa_query *q, const uint8_t *row);

	/*
	 * Registers, or deletes. `record` has the request's data (`size` bytes) and becomes that of
	 * the answer, also of a refusal. Returns the status, or SA_DROP: no answer at all. NULL:
	 * method not supported.
	 */
	uint16_t (*set)(struct sa *sa, const struct sa_request *rq, uint8_t *record);
	uint16_t (*delete)(struct sa *sa, const struct sa_request *rq, uint8_t *record);
};

#define SA_LAYOUT_(PART, LIST)                                                                     \
	.PART = (const struct ib_field[])IB_LAYOUT_ROWS(LIST), .n_##PART = IB_LAYOUT_COUNT(LIST)
#define SA_HEAD(LIST) SA_LAYOUT_(head, LIST)
#define SA_BODY(LIST) SA_LAYOUT_(body, LIST)

/* Statuses for no answer, from SA_DROP on; sa_silence_why() returns the reason. */
enum sa_silence {
	SA_DROP = 0xFF00, /* the port is not entitled */
	SA_DROP_MCGS,
	SA_DROP_SRVCS,
	SA_DROP_EVENT_SUBS,
	SA_DROP_END
};

/* Bytes from one record to the next in an answer. */
static inline size_t sa_type_stride(const struct sa_type *t)
{
	return (t->size + 7u) & ~7u;
}

/* The resource that a query lacks; the log names it (quota.c: shortage_text()). */
enum sa_shortage {
	SA_ENOUGH,
	SA_SHORT_LONG_ANSWERS, /* limits.big_each */
	SA_SHORT_ANSWER,       /* limits.answer_bytes */
	SA_SHORT_ANSWERS,      /* limits.answers_bytes */
	SA_SHORT_SENT,	       /* limits.sent_bytes_each */
	SA_SHORT_CELLS,	       /* limits.cells */
	SA_SHORT_READS,	       /* reads from devices, by all queries */
	SA_SHORT_TURNS,	       /* the query was restarted too often */
	SA_SHORT_MEMORY
};

/*
 * A running Get, GetTable or GetMulti. Made and ended by query.c; moves in memory (from the stack
 * to the heap), so `state` must not point to it.
 */
struct sa_query {
	struct sa *sa;
	const struct view *view; /* one reference: the same view from the first row to the last */
	const struct sa_type *type;
	struct sa_request rq; /* rq.data is the query's own copy */
	uint32_t subject;     /* port of the last row, set by next() */
	/* cache of query_may_see(): P_Key set of the last port, and the result */
	const struct pkey_set *seen_set;
	bool seen;
	/* set if the struct and rq.data are on the heap, and the view is referenced */
	bool on_heap;
	bool out_heap;		   /* set if `out` is allocated, not the scratch buffer */
	bool big;		   /* set if it counts as a long answer of its requester */
	uint16_t status;	   /* reason why it ended, if not for lack of rows */
	enum sa_shortage shortage; /* resource that was short, with SA_NO_RESOURCES */
	/* Cursor of the record type, zero at the start. */
	uint32_t at[6];
	void *state;
	void (*free_state)(void *state);

	uint8_t *out; /* answer so far: header, then records */
	size_t out_len, out_cap;
	uint32_t n_records;
	uint32_t cells_read;		/* tables requested from devices; bounded */
	uint64_t cookie;		/* cookie of the table waited for; 0: none */
	struct sa_cell_address cell_at; /* table requested last */
	uint8_t cell[SMP_DATA_SIZE];
	bool cell_here, cell_failed;
	uint64_t view_no; /* number of `view`: sa->published when the request arrived */
	bool stale;	  /* set if rights of its requester are gone: it is restarted */
	uint8_t n_begun;  /* number of restarts */
	mono_t last_turn;
	STAILQ_ENTRY(sa_query) next; /* next query of the same requester */
};

/*
 * May the requester see this port of the view (VIEW_NONE: yes)? Trusted ones see all, others the
 * ports they share a partition with (sa.md 1.2); a switch port that faces a host is seen like the
 * host. Asked by query.c for q->subject.
 */
bool query_may_see(struct sa_query *q, uint32_t port);
/* The requested record, at least `size` bytes of the type. */
static inline const uint8_t *query_asked(const struct sa_query *q)
{
	return q->rq.data;
}
static inline bool query_is_get(const struct sa_query *q)
{
	return q->rq.method == MAD_GET;
}
/* The value of a field of the request if its component is set, else `other`. */
#define QUERY_FIELD(q, FIELD, other)                                                               \
	(SA_HAS((q)->rq.mask, FIELD) ? ib_get((q)->rq.data, FIELD) : (other))

/*
 * A table that may have to be read from the device: 64 bytes; NULL: *ret_step is SA_WAIT (return
 * it, and be called again for the same row), SA_SKIP (no answer) or SA_END (too many reads,
 * q->status is set). If the device is gone by then and the row is another one, its table is read
 * anew.
 */
const uint8_t *query_cell(struct sa_query *q, const struct sa_cell_address *at,
			  enum sa_step *ret_step);

/*
 * Do the fields of `row` whose components are in `mask` equal those of `asked` (15.4.1)? Both have
 * the layout of `type`; reserved fields and components beyond it do not count.
 */
bool sa_match(const struct sa_type *type, uint64_t mask, const uint8_t *asked, const uint8_t *row);

/* Begins a query: answers at once, or keeps it. */
void query_take(struct sa *sa, const struct sa_type *type, const struct sa_request *rq);
enum query_progress { QUERY_MORE, QUERY_WAITS, QUERY_DONE };
/* Runs a query for at most *rows rows, which it decrements. */
enum query_progress query_run(struct sa_query *q, uint32_t *rows);
/*
 * Restarts a query on the heap in the present view: its rows are discarded, q->status is that of
 * its start. False: its requester is not where it was.
 */
bool query_begin_anew(struct sa_query *q);
void query_answer(struct sa_query *q);	/* for a query that is DONE */
void query_release(struct sa_query *q); /* frees state, answer and view, not the struct */

/* ---- turns.c ---- */

struct queries *queries_new(struct sa *sa);
struct queries *queries_free(struct queries *qs);
/* Takes over a query that is not done: moves it to the heap, or drops it for lack of room. */
void queries_keep(struct sa_query *q);
void queries_drop_all(struct sa *sa);
/*
 * Called when sa->view has changed: queries under way continue with its P_Keys, if it is derived
 * from the same root as theirs. A query that may have shown a port by rights that are gone is
 * restarted.
 */
void queries_pkeys_changed(struct sa *sa);
bool queries_dispatch(struct sa *sa, mono_t now);
void queries_cell(struct sa *sa, uint64_t cookie, const uint8_t *payload);
/* The number of rows that may be examined when the request arrives. */
uint32_t queries_rows_at_once(const struct sa_query *q);
/* Do so many queries wait for so long that no new one is begun? */
bool queries_overloaded(const struct sa *sa);
/* Lets the answer grow to `cap` bytes; else returns what is short, and nothing has changed. */
enum sa_shortage queries_grow(struct sa_query *q, size_t cap);
void queries_give_back(struct sa *sa, size_t bytes);
/* May a table that needs RMPP be sent now? False: too many are on their way to the requester. */
bool queries_may_send(struct sa_query *q, size_t bytes);
/* A small buffer for the query that is being begun. */
#define QUERY_SCRATCH 4096
uint8_t *queries_scratch(struct sa *sa);
uint64_t queries_cookie(struct sa *sa); /* a new number, never 0 */

/* ---- answer.c ---- */

/* Answers Get, Set or Delete with one record, or none (len 0). */
void sa_answer_one(struct sa *sa, const struct sa_request *rq, const uint8_t *record, size_t len);
/* `message` begins with SA_DATA bytes for the header, records of `stride` bytes follow. */
void sa_answer_table(struct sa *sa, const struct sa_request *rq, uint8_t *message, size_t len,
		     size_t stride);
/* Answers with the request and a status other than 0. */
void sa_refuse(struct sa *sa, const struct sa_request *rq, uint16_t status);
/* No answer: counted, and logged now and then. `why` completes "dropping X from LID n: ". */
void sa_drop(struct sa *sa, const struct sa_request *rq, const struct sa_why *why);
const struct sa_why *sa_silence_why(enum sa_silence silence);
/* The reason that a function returns, where it is found; the word is that of metrics. */
#define SA_WHY(word, text)                                                                         \
	({                                                                                         \
		static const struct sa_why sa_why_row = { word, text };                            \
                                                                                                   \
		&sa_why_row;                                                                       \
	})
/* " (and 7 more since the last such line)", or nothing if `n` is 0. Returns `ret`. */
#define SA_MORE_STRLEN 64
const char *sa_more_words(unsigned n, char ret[static SA_MORE_STRLEN]);
/*
 * Returns SA_NO_RESOURCES after logging the option whose limit is reached; or the enum sa_silence
 * of a limit beyond which there is no answer.
 */
uint16_t sa_over_quota(struct sa *sa, const struct sa_request *rq, enum conf_id quota);
/* sa_over_quota() for a query that lacks a resource. */
uint16_t sa_short_of(struct sa *sa, const struct sa_request *rq, enum sa_shortage what);
/* Logs that a request is answered without `what`. */
void sa_without(struct sa *sa, const struct sa_request *rq, const char *what, enum conf_id quota);

/* ---- path/path_policy.c ---- */

struct path_tally *path_tally_new(void);
struct path_tally *path_tally_free(struct path_tally *t);
void path_tally_follow(struct sa *sa); /* follows another policy of sa->view */

/* ---- askers.c ---- */

/* Kinds of requests that are refused; many of one kind are logged once, with the switch port. */
enum sa_abuse {
	SA_ABUSE_MODEL, /* a request that needs sa_key */
	SA_ABUSE_CLAIM, /* a request for, or in the name of, another port */
	SA_ABUSE_ALIAS, /* GUIDs that belong to another port */
	SA_ABUSE_QUOTA, /* more registrations than allowed */
	SA_ABUSE_RATE,	/* more requests than sa_rate_threshold */
	SA_ABUSES
};
/* Counts a request that was refused for this; those with sa_key are not counted. */
void sa_abused(struct sa *sa, const struct sa_request *rq, enum sa_abuse kind);
/*
 * May one more refused request of this port be logged? Called before the text is made. `*ret_more`:
 * number of requests not logged since the last record.
 */
bool askers_may_log(struct sa *sa, const struct sa_request *rq, unsigned *ret_more);

/* ---- quota.c ---- */

/*
 * Registrations are charged to the port that asked for them, so that proxies do not escape. The
 * last eighth of what all ports may have together (sa_max_X) is reserved for ports with fewer than
 * SA_FEW_X: a few greedy ports cannot keep others from registering.
 */
enum sa_quota {
	SA_QUOTA_GROUPS,
	SA_QUOTA_MEMBERS,
	SA_QUOTA_SERVICES,
	SA_QUOTA_SUBSCRIPTIONS,
	SA_QUOTAS
};
#define SA_FEW_GROUPS	     16
#define SA_FEW_MEMBERS	     256
#define SA_FEW_SERVICES	     8
#define SA_FEW_SUBSCRIPTIONS 8

struct quotas *quotas_new(void);
struct quotas *quotas_free(struct quotas *q);
/* Charges `port` with one more (`by` 1) or less (-1); port 0: only the total. */
void quota_charge(struct sa *sa, enum sa_quota kind, guid_t port, int by);
void quota_move(struct sa *sa, enum sa_quota kind, guid_t from, guid_t to);
uint32_t quota_all(const struct sa *sa, enum sa_quota kind);
/* The option that forbids `port` (0: no port) one more; CONF_N_OPTIONS: none. */
enum conf_id quota_reached(const struct sa *sa, enum sa_quota kind, guid_t port);
/* quota_reached() for a request that registers one more: limits of the trust model are included. */
enum conf_id quota_reached_by(const struct sa *sa, enum sa_quota kind, const struct sa_request *rq);
/* The enum sa_silence if there is no answer beyond this limit; 0: the request is refused. */
uint16_t quota_silence(enum conf_id quota);
/* The rule for a limit that is no option: is there room for one more than `used` of `max`? */
bool quota_has_room(const struct sa *sa, enum sa_quota kind, guid_t port, uint32_t used,
		    uint32_t max);
#define SA_QUOTA_STRLEN 160
/* "this port has reached sa_max_services_per_port, which is 1024". Returns `ret`. */
const char *quota_text(const struct sa *sa, enum conf_id quota, char ret[static SA_QUOTA_STRLEN]);
/* "one answer has 67108864 bytes at most". Returns `ret`. */
const char *shortage_text(const struct sa *sa, enum sa_shortage what,
			  char ret[static SA_QUOTA_STRLEN]);

/* tally.c: sa_counts() and sa_drop_counts(). */
struct sa_tally;
struct sa_tally *tally_new(void);
struct sa_tally *tally_free(struct sa_tally *t);
void tally_answer(struct sa_tally *t, const struct sa_request *rq, uint16_t status);
void tally_drop(struct sa_tally *t, const struct sa_request *rq, const struct sa_why *why);

/* ---- types ---- */

/* All record types: attribute SA_X is served by sa_x. */
#define SA_TYPES(F)                                                                                \
	F(CLASS_PORT_INFO, class_port_info)                                                        \
	F(INFORM_INFO, inform_info)                                                                \
	F(NODE_RECORD, node_record)                                                                \
	F(PORT_INFO_RECORD, port_info_record)                                                      \
	F(SL2VL_RECORD, sl2vl_record)                                                              \
	F(SWITCH_INFO_RECORD, switch_info_record)                                                  \
	F(LFT_RECORD, lft_record)                                                                  \
	F(MFT_RECORD, mft_record)                                                                  \
	F(SM_INFO_RECORD, sm_info_record)                                                          \
	F(LINK_RECORD, link_record)                                                                \
	F(GUID_INFO_RECORD, guid_info_record)                                                      \
	F(SERVICE_RECORD, service_record)                                                          \
	F(PKEY_TABLE_RECORD, pkey_table_record)                                                    \
	F(PATH_RECORD, path_record)                                                                \
	F(VLARB_RECORD, vlarb_record)                                                              \
	F(MC_MEMBER_RECORD, mc_member_record)                                                      \
	F(MULTI_PATH_RECORD, multi_path_record)                                                    \
	F(INFORM_INFO_RECORD, inform_info_record)

#define SA_TYPE_(ATTR, name) extern const struct sa_type sa_##name;
SA_TYPES(SA_TYPE_)
/* The record type of an attribute; NULL: none. types.c */
const struct sa_type *sa_type_find(uint16_t attr);

/* ---- selectors and rates: select.c ---- */

/* Is this MTU code valid in a request? sa.md 4.1. */
bool sa_mtu_valid(unsigned mtu);
/* Does an enum sa_selector accept `order`: < 0, 0, > 0 for less, equal, more? */
bool sa_selector_holds(unsigned selector, int order);
/* Compares rates: < 0, 0, > 0 as `a` is slower than, as fast as, faster than `b`. */
int sa_rate_compare(unsigned a, unsigned b);
unsigned sa_rate_below(unsigned rate); /* next lower rate by bandwidth; 0: none */
/* Limits a rate code for clients that know no newer ones (max_rate_enum, its deprecated form). */
unsigned sa_rate_for_clients(const struct conf *conf, unsigned rate);

/* ---- the parts with a state of their own: x_new(sa) makes one, x_free() frees it ---- */

struct mgroups;	    /* mgroup.h */
struct services;    /* service.c */
struct informs;	    /* inform.c */
struct reports;	    /* report.c */
struct alias_guids; /* guidinfo.c */
struct queries;	    /* turns.c */
struct quotas;	    /* quota.c */
struct askers;	    /* askers.c */

struct mgroups *mgroups_new(struct sa *sa);
struct mgroups *mgroups_free(struct mgroups *m);
/* The view has changed: ports that are gone leave, the MLID range follows the switches. */
void mgroups_view_changed(struct sa *sa);
/* The view has other P_Keys: partition groups come with their first port, go with their last. */
void mgroups_pkeys_changed(struct sa *sa);
/* Is this alias GUID used by a member of any group? */
bool mgroups_uses_gid(const struct sa *sa, guid_t interface_id);

struct services *services_new(struct sa *sa);
struct services *services_free(struct services *s);
void services_tick(struct sa *sa, mono_t now);
mono_t services_next(const struct sa *sa);

struct informs *informs_new(struct sa *sa);
struct informs *informs_free(struct informs *s);
/* Called when ports are gone (drop_event_subscriptions decides), or after standby. */
void informs_view_changed(struct sa *sa, const struct view *before);

struct reports *reports_new(struct sa *sa);
struct reports *reports_free(struct reports *r);
/* Takes a ReportResp, or a Report that returned unanswered. */
void reports_receive(struct sa *sa, const struct transport_event *ev, mono_t now);
/* Called when sa->view has other P_Keys than before. */
void reports_pkeys_changed(struct sa *sa);
void reports_tick(struct sa *sa, mono_t now);
mono_t reports_next(const struct sa *sa);

/*
 * Called by sa_publish() with the new sa->view: acts upon it for subscriptions, reports, services
 * and alias GUIDs (traps 64 and 65, subscribers that moved). events.c
 */
void events_view_changed(struct sa *sa, const struct view *before, mono_t now);

struct alias_guids *alias_guids_new(struct sa *sa);
struct alias_guids *alias_guids_free(struct alias_guids *a);
/* The end port with this interface id, real or alias; VIEW_NONE: none. ports.c */
uint32_t sa_port_of_interface_id(const struct sa *sa, const struct view *v, guid_t id);

/*
 * Trap 66 or 67 of a group (16 bytes of MGID; 13.4.8.2), from our own GID, for subscribers that
 * hold its P_Key (0: all). Without a view there are none. report.c
 */
void sa_raise_mgid(struct sa *sa, enum ib_trap trap, const uint8_t *mgid, uint16_t pkey);

struct sa {
	const struct conf *conf; /* one reference; sa.c */
	struct sa_limits limits; /* tests change them */
	const struct fabric *fabric;
	struct mad_engine *mad;
	struct sa_hooks hooks;
	const struct view *view;       /* one reference; NULL: not serving. Writer: sa_publish() */
	uint64_t published;	       /* views so far. Writer: sa_publish() */
	struct conf_prefixes prefixes; /* owned. Writer: sa_set_prefixes() */
	mono_t now;
	struct log_limit drop_log, quota_log, key_log; /* for all ports together */
	struct mgroups *mgroups;
	struct services *services;
	struct informs *informs;
	struct reports *reports;
	struct alias_guids *guids;
	struct queries *queries;
	struct quotas *quotas;
	struct askers *askers;
	uint64_t drawn_key; /* random key in place of sa_key; 0: none. Writer: sa_set_drawn_key() */
	uint32_t n_mlids;   /* number of MLIDs that all switches have room for. Writer: mgroup.c */
	uint64_t db_version; /* incremented with every change of dumped state */
	struct sa_stats stats;
	struct sa_tally *tally;	       /* tally.c */
	struct path_tally *path_tally; /* path/path_policy.c */
};

/* Writes our own GID, of prefix and interface id, 16 bytes in wire order. ports.c */
void sa_gid(uint64_t prefix, guid_t id, uint8_t ret[16]);
