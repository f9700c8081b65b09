// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports: notices on their way to subscribers (traps.md 4, 5).
 *
 * An event goes into one log that all subscribers share; each subscriber reads it at its own pace,
 * from the place where it stands:
 *
 *        dropped | 17 18 19 20 21 22 23 24 |           (sa_raise() appends)
 *                      ^ busy    ^ slow     ^ up to date: "idle"
 *
 * So an event costs one entry however many subscribers there are, and a slow one costs nothing but its
 * place. What falls off the old end (more than REPORT_LOG_MAX events, older than REPORT_LOG_AGE) is
 * lost to those who had not come that far; that is counted, and said now and then.
 *
 * A subscriber has at most one report on its way, those of a port REPORTS_PER_PORT, all together
 * REPORTS_ON_WIRE. A try ends with the
 * ReportResp, with the MAD coming back, or, under transports that forget, with our own watchdog. Who
 * does not answer all the tries of a report rests for a growing time and then gets single tries, in a
 * small part of the window, until it answers. REPORT_FAILURES reports in a row without an answer, all
 * while its port was there, take all its subscriptions back: with the rests in between that takes two
 * minutes at least.
 *
 * A port that is away from the view is not written to, and does not fail.
 */
#include <errno.h>
#include <string.h>

#include "plan/pkey.h"
#include "sa/inform.h"
#include "sa/words.h"
#include "util/mem.h"

#define REPORT_LOG_MAX	  65536
#define REPORT_LOG_AGE	  (300 * MONO_S)
#define REPORTS_ON_WIRE	  64
#define REPORTS_TO_SILENT 8 /* of these, to subscribers that did not answer last time */
#define REPORTS_PER_PORT                                                                           \
	8 /* to queue pairs of one port: a port of dead ones does not fill the window */
#define REPORT_FAILURES	 8
#define REPORT_REST	 MONO_S /* after the first failure; doubled each time */
#define REPORT_REST_MAX	 (60 * MONO_S)
#define REPORT_TRIES_MAX 8
#define REPORT_PATIENCE	 (250 * MONO_MS) /* of the watchdog, beyond the timeout */
#define STEPS_A_TICK	 8192		 /* events looked at by subscribers */
#define STALL		 (10 * MONO_MS)	 /* after the transport said: later */

/* TID: serial number of the report, then of the try. */
#define TRY_BITS 3

/* P_Keys of the port an event is about, as they were then; shared by events about like ports. */
struct audience {
	unsigned refs;
	const void *made_from; /* tells whether the next event may share it; never looked into */
	struct pkey_set set;
};

struct event {
	mono_t raised;
	uint8_t notice[NT_BYTES];
	struct audience *audience; /* NULL: see pkey */
	uint16_t pkey;		   /* 0: everybody */
	bool nobody;		   /* about a port whose P_Keys are not known */
};

struct slot {
	struct subscriber *who; /* NULL: free, or the subscriber has gone meanwhile */
	bool used;
	guid_t port; /* of the subscriber, also when it has gone */
	bool silent; /* counts among REPORTS_TO_SILENT */
	uint32_t serial;
	unsigned tries; /* made */
	mono_t deadline;
	uint8_t notice[NT_BYTES];
};

struct reports {
	struct event *log; /* ring of `cap` (a power of two); event number i is at i % cap */
	size_t cap;
	uint64_t first, end; /* numbers of the oldest event and of the one to come */
	struct audience *newest;

	struct link idle, ready, blocked; /* LISTENING: up to date; not; waits for a silent slot */
	struct link crowded; /* LISTENING: its port has REPORTS_PER_PORT on their way */
	struct link resting; /* RESTING */
	mono_t rest_next;
	struct slot slots[REPORTS_ON_WIRE];
	unsigned n_used, n_silent;
	uint32_t serial;
	mono_t stalled_until; /* the transport takes nothing before */
	struct log_limit lost_log, gone_log;
	uint64_t lost; /* not told yet */
};

/* ---- lists --------------------------------------------------------------------------------- */

static void link_init(struct link *head)
{
	head->prev = head->next = head;
}

static bool link_empty(const struct link *head)
{
	return head->next == head;
}

static void link_remove(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	link_init(l);
}

static void link_append(struct link *head, struct link *l)
{
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

/* All of `from` behind the last of `to`. */
static void link_splice(struct link *to, struct link *from)
{
	if (link_empty(from))
		return;
	from->next->prev = to->prev;
	from->prev->next = to;
	to->prev->next = from->next;
	to->prev = from->prev;
	link_init(from);
}

static struct subscriber *subscriber_of(struct link *l)
{
	return (struct subscriber *)((char *)l - offsetof(struct subscriber, link));
}

/* ---- life ---------------------------------------------------------------------------------- */

struct reports *reports_new(struct sa *sa)
{
	struct reports *r = xcalloc(1, sizeof(*r));

	link_init(&r->idle);
	link_init(&r->ready);
	link_init(&r->blocked);
	link_init(&r->crowded);
	link_init(&r->resting);
	r->rest_next = MONO_NEVER;
	r->lost_log = (struct log_limit){ .interval = 60 * MONO_S, .burst = 1 };
	r->gone_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
	return r;
}

static struct audience *audience_unref(struct audience *a)
{
	if (a && --a->refs == 0) {
		free((void *)a->set.order);
		free((void *)a->set.forms);
		free(a);
	}
	return NULL;
}

static struct event *event_at(const struct reports *r, uint64_t number)
{
	return &r->log[number & (r->cap - 1)];
}

static void forget_oldest(struct reports *r)
{
	struct event *e = event_at(r, r->first++);

	e->audience = audience_unref(e->audience);
}

static void clear_log(struct reports *r)
{
	while (r->first < r->end)
		forget_oldest(r);
	r->newest = audience_unref(r->newest);
}

/* Subscribers are freed by informs_free(), before or after. */
struct reports *reports_free(struct reports *r)
{
	if (!r)
		return NULL;
	clear_log(r);
	free(r->log);
	free(r);
	return NULL;
}

static void enter(struct reports *r, struct subscriber *who, enum subscriber_state state)
{
	link_remove(&who->link);
	who->state = state;
	switch (state) {
	case SUBSCRIBER_LISTENING:
		link_append(&r->ready, &who->link);
		break;
	case SUBSCRIBER_RESTING:
		r->rest_next = mono_min(r->rest_next, who->rest_until);
		link_append(&r->resting, &who->link);
		break;
	case SUBSCRIBER_WAITING:
		break;
	}
}

void reports_admit(struct sa *sa, struct subscriber *who)
{
	link_init(&who->link);
	who->seen = sa->reports->end;
	enter(sa->reports, who, SUBSCRIBER_LISTENING);
}

void reports_forget(struct sa *sa, struct subscriber *who)
{
	link_remove(&who->link);
	for (unsigned i = 0; i < REPORTS_ON_WIRE; i++) {
		if (sa->reports->slots[i].who == who)
			sa->reports->slots[i].who = NULL; /* used until its MAD comes back */
	}
}

void reports_view_changed(struct sa *sa)
{
	struct reports *r = sa->reports;

	r->newest = audience_unref(r->newest); /* its address may be used again */
	if (sa->view)
		return;
	clear_log(r);
	for (unsigned i = 0; i < REPORTS_ON_WIRE; i++) {
		struct subscriber *who = r->slots[i].who;

		r->slots[i].who = NULL;
		if (who)
			enter(r, who, SUBSCRIBER_LISTENING);
	}
}

/* ---- raising ------------------------------------------------------------------------------- */

static struct audience *audience_of(struct reports *r, const struct view *v, uint32_t about)
{
	const struct pkey_set *set = &v->pkey_sets[v->ports[view_end_port(v, about)].pkeys];
	struct audience *a = r->newest;

	if (!a || a->made_from != set) {
		a = xcalloc(1, sizeof(*a));
		a->refs = 1;
		a->made_from = set;
		a->set = *set;
		a->set.order = xmemdup(set->order, set->n * sizeof(*set->order));
		a->set.forms = xmemdup(set->forms, set->n * sizeof(*set->forms));
		audience_unref(r->newest);
		r->newest = a;
	}
	a->refs++;
	return a;
}

static void grow_log(struct reports *r)
{
	size_t cap = r->cap ? r->cap * 2 : 64;
	struct event *log = xcalloc(cap, sizeof(*log));

	for (uint64_t i = r->first; i < r->end; i++)
		log[i & (cap - 1)] = *event_at(r, i);
	free(r->log);
	r->log = log;
	r->cap = cap;
}

static struct event *append(struct reports *r)
{
	if (r->end - r->first == r->cap) {
		if (r->cap < REPORT_LOG_MAX)
			grow_log(r);
		else
			forget_oldest(r);
	}
	return event_at(r, r->end++);
}

static void raise_in(struct sa *sa, const struct sa_event *event, const struct view *v)
{
	struct reports *r = sa->reports;
	struct event *e;

	if (!informs_count(sa))
		return;
	e = append(r);
	*e = (struct event){ .raised = sa->now, .pkey = event->pkey };
	memcpy(e->notice, event->notice, NT_BYTES);
	if (event->about != VIEW_NONE) {
		e->nobody = v->ports[view_end_port(v, event->about)].pkeys == VIEW_NONE;
		if (!e->nobody)
			e->audience = audience_of(r, v, event->about);
	}
	link_splice(&r->ready, &r->idle);
}

void sa_raise(struct sa *sa, const struct sa_event *event, mono_t now)
{
	sa->now = now;
	if (sa->view)
		raise_in(sa, event, sa->view);
}

static void make_gid_notice(const struct sa *sa, enum ib_trap trap, const uint8_t *gid,
			    uint8_t *notice)
{
	const struct view_port *own =
		sa->view->sm_port == VIEW_NONE ? NULL : &sa->view->ports[sa->view->sm_port];

	memset(notice, 0, NT_BYTES);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 3);
	ib_put(notice, NT_PRODUCER, 4); /* class manager */
	ib_put(notice, NT_TRAP, trap);
	memcpy(notice + NOTICE_GID, gid, 16);
	if (!own)
		return;
	ib_put(notice, NT_ISSUER_LID, own->lid);
	sa_gid(sa->view->prefix, own->guid, ib_at(notice, NT_ISSUER_GID));
}

void sa_raise_gid(struct sa *sa, enum ib_trap trap, const uint8_t *gid, uint32_t about,
		  uint16_t pkey, mono_t now)
{
	struct sa_event event = { .about = about, .pkey = pkey };

	if (!sa->view)
		return;
	make_gid_notice(sa, trap, gid, event.notice);
	sa_raise(sa, &event, now);
}

void reports_raise_gid(struct sa *sa, enum ib_trap trap, guid_t interface_id,
		       const struct view *view, uint32_t about)
{
	struct sa_event event = { .about = about };
	uint8_t gid[16];

	sa_gid(view->prefix, interface_id, gid);
	make_gid_notice(sa, trap, gid, event.notice);
	raise_in(sa, &event, view);
}

/* ---- traps of others ----------------------------------------------------------------------- */

/*
 * traps.md 3: link errors stay between the port and us. 64 to 67 are ours to tell: a port that says so
 * would speak in our name.
 */
static bool is_forwarded(const uint8_t *notice)
{
	unsigned trap = ib_get(notice, NT_TRAP);

	if (!ib_get(notice, NT_IS_GENERIC))
		return true;
	return (trap < TRAP_GID_IN_SERVICE || trap > TRAP_MGID_DESTROYED) &&
	       trap != TRAP_LINK_INTEGRITY && trap != TRAP_BUFFER_OVERRUN &&
	       trap != TRAP_FLOW_CONTROL;
}

void sa_forward_trap(struct sa *sa, const struct transport_addr *from, const uint8_t *notice,
		     mono_t now)
{
	struct sa_event event = { .pkey = 0 };
	uint32_t issuer, source;

	if (!sa->view || !is_forwarded(notice))
		return;
	source = from->lid ? view_port_at(sa->view, from->lid) : sa->view->sm_port;
	issuer = view_port_at(sa->view, ib_get(notice, NT_ISSUER_LID));
	if (issuer == VIEW_NONE)
		issuer = source;
	if (issuer == VIEW_NONE)
		return;
	if (source != VIEW_NONE && source != issuer)
		return; /* in the name of another, and in that one's partitions */
	event.about = issuer;
	memcpy(event.notice, notice, SMP_DATA_SIZE);
	sa_gid(sa->view->prefix, sa->view->ports[issuer].guid, ib_at(event.notice, NT_ISSUER_GID));
	sa_raise(sa, &event, now);
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* Both sides are asked now: the event's P_Keys as they were, the subscriber's as they are. */
static bool may_hear(const struct sa *sa, const struct event *e, uint32_t port)
{
	uint32_t set = sa->view->ports[port].pkeys;

	if (e->nobody)
		return false;
	if (e->audience)
		return set != VIEW_NONE &&
		       pkey_share(&e->audience->set, &sa->view->pkey_sets[set], NULL);
	return !e->pkey || view_has_pkey(sa->view, port, e->pkey);
}

enum verdict { PASS, TELL, GONE };

/*
 * Does anything of the subscriber's match? A subscription that names its source and may not hear of
 * it is taken back (traps.md 6), perhaps the last one: GONE.
 */
static enum verdict judge(struct sa *sa, struct subscriber *who, uint32_t port,
			  const struct event *e)
{
	bool allowed = may_hear(sa, e, port);
	enum verdict verdict = PASS;
	struct subscription *after;

	for (struct subscription *s = who->subscriptions; s; s = after) {
		after = s->next;
		if (!inform_matches(s->info, e->notice))
			continue;
		if (allowed)
			return TELL;
		if (ib_get(s->info, INF_LID_BEGIN) != 0xFFFF && informs_remove(sa, s))
			verdict = GONE;
	}
	return verdict;
}

static void skip_lost(struct sa *sa, struct subscriber *who)
{
	struct reports *r = sa->reports;

	if (who->seen >= r->first)
		return;
	r->lost += r->first - who->seen;
	sa->stats.reports_lost += r->first - who->seen;
	who->seen = r->first;
}

/* The next event for this subscriber, which then stands before it. */
static enum verdict advance(struct sa *sa, struct subscriber *who, unsigned *steps)
{
	struct reports *r = sa->reports;
	uint32_t port = view_port_of_guid(sa->view, who->port_guid);

	skip_lost(sa, who);
	if (port == VIEW_NONE || !sa->view->ports[port].lid)
		who->seen = r->end;
	for (; who->seen < r->end && *steps; who->seen++, (*steps)--) {
		enum verdict verdict = judge(sa, who, port, event_at(r, who->seen));

		if (verdict != PASS)
			return verdict;
	}
	return PASS;
}

/* ---- sending ------------------------------------------------------------------------------- */

static unsigned tries_for(const struct sa *sa, const struct slot *s)
{
	return s->silent ? 1 : MIN(1ull + sa->conf->transaction_retries, REPORT_TRIES_MAX);
}

static uint32_t tid_of(const struct slot *s)
{
	return s->serial << TRY_BITS | (s->tries & ((1u << TRY_BITS) - 1));
}

static void make_report(const struct slot *s, uint8_t mad[MAD_SIZE])
{
	memset(mad, 0, MAD_SIZE);
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, MAD_REPORT);
	ib_put(mad, SAH_TID, tid_of(s));
	ib_put(mad, SAH_ATTR_ID, SA_NOTICE);
	memcpy(mad + SA_DATA, s->notice, NT_BYTES);
}

/* False: the transport is full, nothing has changed. Other refusals count as a try without answer. */
static bool send_try(struct sa *sa, struct slot *s)
{
	unsigned timeout = sa->conf->transaction_timeout;
	struct transport_addr to = s->who->addr;
	uint8_t mad[MAD_SIZE];
	int r;

	make_report(s, mad);
	if (sa->view)
		to.sl = view_path_sl(sa->view, sa->view->sm_port, view_port_at(sa->view, to.lid), to.lid,
				     to.sl);
	r = mad_send_gmp(sa->mad, &to, mad, MAD_SIZE, timeout);
	if (r == -EAGAIN) {
		sa->reports->stalled_until = sa->now + STALL;
		return false;
	}
	s->tries++;
	s->deadline = sa->now + timeout * MONO_MS + REPORT_PATIENCE;
	return true;
}

static struct slot *free_slot(struct reports *r)
{
	for (unsigned i = 0; i < REPORTS_ON_WIRE; i++) {
		if (!r->slots[i].used)
			return &r->slots[i];
	}
	return NULL;
}

static bool is_crowded(const struct reports *r, guid_t port)
{
	unsigned n = 0;

	for (unsigned i = 0; i < REPORTS_ON_WIRE; i++)
		n += r->slots[i].used && r->slots[i].port == port;
	return n >= REPORTS_PER_PORT;
}

static void release(struct reports *r, struct slot *s)
{
	if (is_crowded(r, s->port))
		link_splice(&r->ready, &r->crowded);
	r->n_used--;
	if (s->silent) {
		r->n_silent--;
		link_splice(&r->ready, &r->blocked);
	}
	*s = (struct slot){ .used = false };
}

static bool begin(struct sa *sa, struct subscriber *who)
{
	struct reports *r = sa->reports;
	struct slot *s = free_slot(r);

	*s = (struct slot){
		.who = who,
		.used = true,
		.port = who->port_guid,
		.silent = who->failures,
		.serial = ++r->serial,
	};
	memcpy(s->notice, event_at(r, who->seen)->notice, NT_BYTES);
	r->n_used++;
	r->n_silent += s->silent;
	if (!send_try(sa, s)) {
		release(r, s);
		return false;
	}
	who->seen++;
	sa->stats.reports++;
	enter(r, who, SUBSCRIBER_WAITING);
	return true;
}

/* One subscriber's turn. False: nobody can send now. */
static bool serve(struct sa *sa, struct subscriber *who, unsigned *steps)
{
	struct reports *r = sa->reports;

	switch (advance(sa, who, steps)) {
	case GONE:
		return true;
	case PASS:
		link_remove(&who->link);
		link_append(who->seen == r->end ? &r->idle : &r->ready, &who->link);
		return true;
	case TELL:
		break;
	}
	if (who->failures && r->n_silent >= REPORTS_TO_SILENT) {
		link_remove(&who->link);
		link_append(&r->blocked, &who->link);
		return true;
	}
	if (is_crowded(r, who->port_guid)) {
		link_remove(&who->link);
		link_append(&r->crowded, &who->link);
		return true;
	}
	return begin(sa, who);
}

static bool is_open(const struct reports *r, mono_t now)
{
	return r->n_used < REPORTS_ON_WIRE && now >= r->stalled_until;
}

/* ---- what becomes of a try ----------------------------------------------------------------- */

static void tell_gone(struct sa *sa, const struct subscriber *who)
{
	struct sa_who gone;
	unsigned more;

	if (!log_allow(&sa->reports->gone_log, sa->now, &more))
		return;
	sa_who_port(sa, who->port_guid, who->addr.lid, &gone);
	gone.about.id = LOG_ID_SUBSCRIBER_LOST;
	log_on(gone.about, LOGB_INFO,
	       "%s: subscriber QP 0x%x did not answer %u reports: its subscriptions are taken back "
	       "(%u more like this)",
	       gone.text, who->addr.qp, REPORT_FAILURES, more);
}

static void fail(struct sa *sa, struct subscriber *who)
{
	sa->stats.reports_lost++;
	sa->reports->lost++;
	if (++who->failures >= REPORT_FAILURES) {
		tell_gone(sa, who);
		informs_remove_subscriber(sa, who);
		return;
	}
	who->rest_until = sa->now + mono_min(REPORT_REST << (who->failures - 1), REPORT_REST_MAX);
	enter(sa->reports, who, SUBSCRIBER_RESTING);
}

static void succeed(struct sa *sa, struct slot *s)
{
	struct subscriber *who = s->who;

	release(sa->reports, s);
	if (!who)
		return;
	who->failures = 0;
	enter(sa->reports, who, SUBSCRIBER_LISTENING);
}

static void try_ended(struct sa *sa, struct slot *s)
{
	struct subscriber *who = s->who;

	if (who && s->tries < tries_for(sa, s)) {
		if (!send_try(sa, s))
			s->deadline = sa->now + STALL; /* and again */
		return;
	}
	release(sa->reports, s);
	if (who)
		fail(sa, who);
}

static struct slot *slot_of(struct reports *r, uint32_t tid)
{
	for (unsigned i = 0; i < REPORTS_ON_WIRE; i++) {
		struct slot *s = &r->slots[i];

		if (s->used && (s->serial << TRY_BITS) >> TRY_BITS == tid >> TRY_BITS)
			return s;
	}
	return NULL;
}

/* An answer counts from the port it was sent to only, whichever of its LIDs it used. */
static bool is_from(const struct sa *sa, const struct slot *s, const struct transport_addr *from)
{
	uint32_t port = sa->view ? view_port_at(sa->view, from->lid) : VIEW_NONE;

	return !s->who || port == VIEW_NONE || sa->view->ports[port].guid == s->who->port_guid;
}

void reports_receive(struct sa *sa, const struct transport_event *ev, mono_t now)
{
	uint32_t tid = (uint32_t)ib_get(ev->mad, SAH_TID);
	struct slot *s = slot_of(sa->reports, tid);

	sa->now = now;
	if (!s || ib_get(ev->mad, SAH_ATTR_ID) != SA_NOTICE)
		return;
	if (ev->kind == TRANSPORT_RETURNED) {
		/* `tries` counts the one on its way: what comes back late is of an earlier one */
		if ((tid & ((1u << TRY_BITS) - 1)) == ((s->tries - 1) & ((1u << TRY_BITS) - 1)))
			try_ended(sa, s);
	} else if (ib_get(ev->mad, SAH_METHOD) == MAD_REPORT_RESP && is_from(sa, s, &ev->from)) {
		succeed(sa, s);
	}
}

/* ---- time ---------------------------------------------------------------------------------- */

static void wake_rested(struct reports *r, mono_t now)
{
	struct link *l = r->resting.next;

	if (now < r->rest_next)
		return;
	r->rest_next = MONO_NEVER;
	while (l != &r->resting) {
		struct subscriber *who = subscriber_of(l);

		l = l->next;
		if (who->rest_until <= now)
			enter(r, who, SUBSCRIBER_LISTENING);
		else
			r->rest_next = mono_min(r->rest_next, who->rest_until);
	}
}

static void watch(struct sa *sa)
{
	for (unsigned i = 0; i < REPORTS_ON_WIRE; i++) {
		struct slot *s = &sa->reports->slots[i];

		if (s->used && s->deadline <= sa->now)
			try_ended(sa, s);
	}
}

static void forget_old(struct reports *r, mono_t now)
{
	while (r->first < r->end && event_at(r, r->first)->raised + REPORT_LOG_AGE <= now)
		forget_oldest(r);
}

/* Nobody has anything left to read: the log is waste paper. */
static void forget_read(struct reports *r)
{
	if (link_empty(&r->ready) && link_empty(&r->blocked) && link_empty(&r->crowded) &&
	    link_empty(&r->resting) && !r->n_used)
		clear_log(r);
}

static void tell_lost(struct reports *r, mono_t now)
{
	unsigned more;

	if (!r->lost || !log_allow(&r->lost_log, now, &more))
		return;
	log_on(ABOUT(.id = LOG_ID_SUBSCRIBER_LOST), LOGB_INFO,
	       "%llu reports did not reach their subscribers", (unsigned long long)r->lost);
	r->lost = 0;
}

void reports_tick(struct sa *sa, mono_t now)
{
	struct reports *r = sa->reports;
	unsigned steps = STEPS_A_TICK;

	sa->now = now;
	watch(sa);
	wake_rested(r, now);
	forget_old(r, now);
	if (!sa->view)
		return;
	while (steps && is_open(r, now) && !link_empty(&r->ready)) {
		steps--;
		if (!serve(sa, subscriber_of(r->ready.next), &steps))
			break;
	}
	forget_read(r);
	tell_lost(r, now);
}

mono_t reports_next(const struct sa *sa)
{
	const struct reports *r = sa->reports;
	mono_t next = r->rest_next;

	if (sa->view && r->n_used < REPORTS_ON_WIRE && !link_empty(&r->ready))
		next = mono_min(next, MAX(r->stalled_until, sa->now));
	for (unsigned i = 0; r->n_used && i < REPORTS_ON_WIRE; i++) {
		if (r->slots[i].used)
			next = mono_min(next, r->slots[i].deadline);
	}
	return next;
}
