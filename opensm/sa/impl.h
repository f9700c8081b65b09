// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of struct sa, shared by the files of sa/ only.
 *
 *   sa.c        life, admission                 answer.c  answers in all shapes
 *   query.c     Get, GetTable, GetMulti over record types   match.c   the component mask
 *   turns.c     long queries, in turn           limits.h  what a requester may cost
 *   records*.c  topology records                path*.c   PathRecord, MultiPathRecord
 *   mgroup.c, mcmember.c   groups and joins     inform.c, report.c   subscriptions and notices
 *   events.c    what a new view means for them    roll.c  items in order of arrival
 *   service.c, guidinfo.c  registered records   db.c      opensm-sa.dump
 *
 * A record type is one const row (struct sa_type); types.c lists them.
 */
#pragma once

#include "ib/records.h"
#include "sa/limits.h"
#include "sa/sa.h"
#include "util/log.h"

/* A request as admitted. `data` has at least SA_DATA_SIZE bytes, zeroes behind what came. */
struct sa_request {
	struct transport_addr from;
	uint8_t method; /* enum mad_method */
	uint16_t attr;
	uint32_t mod;
	uint64_t tid;
	uint64_t mask; /* component mask */
	uint64_t sm_key;
	uint32_t port;	 /* requester's end port in the view; VIEW_NONE: unknown LID */
	bool trusted;	 /* SM_Key == sa_key */
	bool manager;	 /* trusted, and its port has a subnet manager */
	bool whole;	 /* a manager that asks for all there is (SA_FOR_STANDBY) */
	bool rmpp;	 /* Active flag set */
	uint16_t offset; /* AttributeOffset */
	const uint8_t *data;
	size_t data_len; /* bytes that came */
	mono_t arrived;
};

/* What next() says; SA_SKIP rows count against the slice like others. */
enum sa_step { SA_ROW, SA_SKIP, SA_WAIT, SA_END };

struct sa_query;

struct sa_type {
	uint16_t attr;
	const char *name;
	uint16_t size;	   /* bytes of a record; a multiple of 8 in answers: see stride() */
	uint16_t head_len; /* bytes before the wrapped SMP attribute */
	/* The layout: rows of the head, then of `body` (may be NULL). Row n is component n. */
	const struct ib_field *head;
	uint8_t n_head;
	const struct ib_field *body;
	uint8_t n_body;
	bool matches_itself; /* next() gives only rows that match (paths, groups): no generic match */
	bool trusted_only;   /* REQ_INVALID for others (P_Key tables) */

	/* Refuses a request before anything is looked up; 0: fine. NULL: nothing to check. */
	uint16_t (*check)(const struct sa_query *q);
	/* Narrows the scan (a LID given ...), makes q->state. NULL: from the first row. Status as check(). */
	uint16_t (*start)(struct sa_query *q);
	/*
	 * The next row that exists into `ret` (`size` bytes, zeroed before). Sets q->subject to the port
	 * whose partitions decide whether the requester may see it; VIEW_NONE: everybody may.
	 * NULL: the type has no Get.
	 */
	enum sa_step (*next)(struct sa_query *q, uint8_t *ret);
	/* Compares what the generic match must not; says which components it took care of. NULL: none. */
	bool (*match)(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done);

	/*
	 * Registers, or takes back. `record` holds the request's data (`size` bytes) and becomes the
	 * answer's, also that of a refusal. Returns the status, or SA_DROP: no answer at all. NULL:
	 * method not supported.
	 */
	uint16_t (*set)(struct sa *sa, const struct sa_request *rq, uint8_t *record);
	uint16_t (*delete)(struct sa *sa, const struct sa_request *rq, uint8_t *record);
};

#define SA_DROP 0xFFFF

/* Bytes from one record to the next in an answer. */
static inline size_t sa_type_stride(const struct sa_type *t)
{
	return (t->size + 7u) & ~7u;
}

/*
 * A running Get, GetTable or GetMulti. Made and ended by query.c; moves in memory (from the stack
 * to the heap), so `state` must not point to it.
 */
struct sa_query {
	struct sa *sa;
	const struct view *view; /* one reference: the same picture from first row to last */
	const struct sa_type *type;
	struct sa_request rq; /* rq.data is the query's own copy */
	uint32_t subject;     /* see next() */
	uint32_t seen_end; /* the last end port asked for by query_may_see(), and what was said */
	bool seen;
	bool on_heap;	 /* the struct itself, rq.data, a reference of the view */
	bool out_heap;	 /* out is ours, not the scratch buffer */
	bool big;	 /* counts as a long answer of its requester */
	uint16_t status; /* why it ended, if not by running out of rows */
	/* The type's own cursor, zero at start. */
	uint32_t at[6];
	void *state;
	void (*free_state)(void *state);

	uint8_t *out; /* the answer as it grows: header, then records */
	size_t out_len, out_cap;
	uint32_t n_records;
	uint32_t cells_read;		/* asked from devices; bounded */
	uint64_t cookie;		/* of the cell waited for; 0: none */
	struct sa_cell_address cell_at; /* the cell asked for last */
	uint8_t cell[SMP_DATA_SIZE];
	bool cell_here, cell_failed;
	uint64_t view_no; /* of `view`: sa->published when the question came in */
	mono_t last_turn;
	struct sa_query *next; /* of the same requester */
};

/* May the requester hear of this port (VIEW_NONE: yes)? Asked by the engine for q->subject. */
bool query_may_see(struct sa_query *q, uint32_t port);
/* The requested record; at least `size` bytes of the type. */
static inline const uint8_t *query_asked(const struct sa_query *q)
{
	return q->rq.data;
}
static inline bool query_is_get(const struct sa_query *q)
{
	return q->rq.method == MAD_GET;
}
/* Value of a request's field if its component is set, else `other`. */
#define QUERY_FIELD(q, FIELD, other)                                                               \
	(SA_HAS((q)->rq.mask, FIELD) ? ib_get((q)->rq.data, FIELD) : (other))

/*
 * A table that may have to be read: the 64 bytes, or NULL; then *ret_step is SA_WAIT (return it and
 * be called again at the same row) or SA_SKIP (nobody answers). When the device is gone by then and
 * the row is another one, what was read is not taken for that one's.
 */
const uint8_t *query_cell(struct sa_query *q, const struct sa_cell_address *at,
			  enum sa_step *ret_step);

/* Does a row satisfy the component mask? Components in `done` are not looked at. */
bool sa_match(const struct sa_type *type, const struct sa_request *rq, const uint8_t *row,
	      uint64_t done);

/* Takes a query up: answers at once, or keeps it. */
void query_take(struct sa *sa, const struct sa_type *type, const struct sa_request *rq);
enum query_progress { QUERY_MORE, QUERY_WAITS, QUERY_DONE };
/* Goes on for at most *rows rows, which it counts down. */
enum query_progress query_run(struct sa_query *q, uint32_t *rows);
void query_answer(struct sa_query *q);	/* of a DONE one */
void query_release(struct sa_query *q); /* what it holds; not the struct */

/* ---- turns.c ---- */

struct queries *queries_new(struct sa *sa);
struct queries *queries_free(struct queries *qs);
/* Takes over a query that is not done: moves it to the heap, or drops it for want of room. */
void queries_keep(struct sa_query *q);
void queries_drop_all(struct sa *sa);
bool queries_dispatch(struct sa *sa, mono_t now);
void queries_cell(struct sa *sa, uint64_t cookie, const uint8_t *payload);
/* Rows that may be looked at when the question comes in. */
uint32_t queries_rows_at_once(const struct sa_query *q);
/* Too much waits, for too long: nothing new is begun. */
bool queries_overloaded(const struct sa *sa);
/* Room for the answer to grow to `cap` bytes; false: the bounds are reached, or memory is. */
bool queries_grow(struct sa_query *q, size_t cap);
void queries_give_back(struct sa *sa, size_t bytes);
/* A table that needs RMPP is about to go out; false: the requester has too many on their way. */
bool queries_may_send(struct sa_query *q, size_t bytes);
/* A small buffer for the query that is being taken up. */
#define QUERY_SCRATCH 4096
uint8_t *queries_scratch(struct sa *sa);
uint64_t queries_cookie(struct sa *sa); /* a new one, never 0 */

/* ---- answer.c ---- */

/* One record, or none (len 0): the answer to Get, Set, Delete. */
void sa_answer_one(struct sa *sa, const struct sa_request *rq, const uint8_t *record, size_t len);
/* `message` begins with SA_DATA bytes for the header, records of `stride` bytes follow. */
void sa_answer_table(struct sa *sa, const struct sa_request *rq, uint8_t *message, size_t len,
		     size_t stride);
/* Echoes the request with a status other than 0. */
void sa_refuse(struct sa *sa, const struct sa_request *rq, uint16_t status);
/* No answer: counted, and logged now and then. `why` completes "dropping X from LID n: ". */
void sa_drop(struct sa *sa, const struct sa_request *rq, const char *why);

/* tally.c: sa_counts() and sa_drop_counts(). `why` stays. */
struct sa_tally;
struct sa_tally *tally_new(void);
struct sa_tally *tally_free(struct sa_tally *t);
void tally_answer(struct sa_tally *t, const struct sa_request *rq, uint16_t status);
void tally_drop(struct sa_tally *t, const struct sa_request *rq, const char *why);

/* ---- types ---- */

extern const struct sa_type sa_class_port_info, sa_inform_info, sa_node_record, sa_port_info_record,
	sa_sl2vl_record, sa_switch_info_record, sa_lft_record, sa_mft_record, sa_sm_info_record,
	sa_link_record, sa_guid_info_record, sa_service_record, sa_pkey_table_record,
	sa_path_record, sa_vlarb_record, sa_mc_member_record, sa_multi_path_record,
	sa_inform_info_record;
const struct sa_type *sa_type_find(uint16_t attr);

/* ---- selectors and rates: select.c ---- */

/* MTU and rate values a request may name at all; see sa.md 4.1. */
bool sa_mtu_valid(unsigned mtu);
bool sa_rate_valid(unsigned rate);
/* Rates compare by bandwidth, not by code: tenths of Gb/s; 0 for a code that is none. */
unsigned sa_rate_bandwidth(unsigned rate);
/* < 0, 0, > 0 as a is slower than, as fast as, faster than b. */
int sa_rate_compare(unsigned a, unsigned b);
unsigned sa_rate_below(unsigned rate); /* next lower in order of bandwidth; 0: none */
/* From PortInfo as sa.md 4.3: width x speed, extended speeds only if the node has them. */
unsigned sa_rate_of(const uint8_t *port_info, uint32_t node_cap_mask, bool fdr10);
/* Clamped for clients that do not know newer codes (max_rate_enum and its deprecated form). */
unsigned sa_rate_for_clients(const struct conf *conf, unsigned rate);

/* ---- the parts with a state of their own; each made by x_new(sa), freed by x_free() ---- */

struct mgroups;	    /* mgroup.h */
struct services;    /* service.c */
struct informs;	    /* inform.c */
struct reports;	    /* report.c */
struct alias_guids; /* guidinfo.c */
struct queries;	    /* query.c */

struct mgroups *mgroups_new(struct sa *sa);
struct mgroups *mgroups_free(struct mgroups *m);
/* The view has changed: ports that are gone leave, MLID range follows the switches. */
void mgroups_view_changed(struct sa *sa, const struct view *before, mono_t now);
/* Does a member of any group go by this alias GUID? */
bool mgroups_uses_gid(const struct sa *sa, guid_t interface_id);

struct services *services_new(struct sa *sa);
struct services *services_free(struct services *s);
void services_tick(struct sa *sa, mono_t now);
mono_t services_next(const struct sa *sa);

struct informs *informs_new(struct sa *sa);
struct informs *informs_free(struct informs *s);
/* Ports are gone (drop_event_subscriptions decides), or we come out of standby. */
void informs_view_changed(struct sa *sa, const struct view *before, mono_t now);

struct reports *reports_new(struct sa *sa);
struct reports *reports_free(struct reports *r);
/* ReportResp, or a Report that came back unanswered. */
void reports_receive(struct sa *sa, const struct transport_event *ev, mono_t now);
void reports_tick(struct sa *sa, mono_t now);
mono_t reports_next(const struct sa *sa);

/*
 * All that follows from a new view for subscriptions, reports, services and alias GUIDs: traps 64 and
 * 65, subscribers that moved. events.c; called by sa_publish() with sa->view in place already.
 */
void events_view_changed(struct sa *sa, const struct view *before, mono_t now);

struct alias_guids *alias_guids_new(struct sa *sa);
struct alias_guids *alias_guids_free(struct alias_guids *a);
/* The end port with this interface id, real or alias; VIEW_NONE. */
uint32_t sa_port_of_interface_id(const struct sa *sa, const struct view *v, guid_t id);

/*
 * A notice for subscribers. `about`: the port whose partitions decide who may hear of it, or
 * VIEW_NONE with the `pkey` of a group (0: everybody). Raised inside of sa/ for 64 to 67, and by
 * sa_forward_trap() for others.
 */
struct sa_event {
	uint8_t notice[NT_BYTES];
	uint32_t about;
	uint16_t pkey;
};
void sa_raise(struct sa *sa, const struct sa_event *event, mono_t now);
/* Traps 64 to 67: made here, from our own GID. `gid` 16 bytes. */
void sa_raise_gid(struct sa *sa, enum ib_trap trap, const uint8_t *gid, uint32_t about,
		  uint16_t pkey, mono_t now);

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
	struct mgroups *mgroups;
	struct services *services;
	struct informs *informs;
	struct reports *reports;
	struct alias_guids *guids;
	struct queries *queries;
	uint64_t db_version; /* ++ by whoever changes something that is dumped */
	struct sa_stats stats;
	struct sa_tally *tally; /* tally.c */
	struct log_limit drop_log;
};

/* Our own GID prefix and interface id, 16 bytes in wire order. */
void sa_gid(uint64_t prefix, guid_t id, uint8_t ret[16]);
