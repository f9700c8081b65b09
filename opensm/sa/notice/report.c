// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports: notices on their way to subscribers (traps.md 4, 5; 13.4.8.2, 13.4.9).
 *
 * An event goes into one log that all subscribers share; each subscriber reads it at its own pace,
 * from the place where it stands:
 *
 *        dropped | 17 18 19 20 21 22 23 24 |           (raise_notice() appends)
 *                      ^ busy    ^ slow     ^ up to date: IDLE
 *
 * So an event is kept once however many subscribers there are, and a slow one costs nothing but
 * its place. Events that fall off the old end (more than EVENT_LOG_MAX, older than REPORT_LOG_AGE)
 * are lost to subscribers that had not come that far; the log says how many now and then.
 *
 * A subscriber has at most one Report on its way, those of a port REPORTS_PER_PORT, all together
 * REPORTS_ON_WIRE. A try ends with the ReportResp, with the MAD coming back, or, under transports
 * that forget, with our own watchdog. A subscriber that answers none of the tries of a Report rests
 * for a growing time and then gets single tries, in a small part of the window, until it answers.
 * REPORT_FAILURES Reports in a row without an answer, all while its port was there, take all its
 * subscriptions back: with the rests in between that takes two minutes at least.
 *
 * No Report is sent to a port that is away from the view, and none fails there.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "plan/pkey.h"
#include "sa/base/requester.h"
#include "sa/notice/event_log.h"
#include "sa/notice/inform.h"
#include "util/mem.h"

#define REPORT_LOG_AGE	  (300 * MONO_S)
#define REPORTS_ON_WIRE	  64
#define REPORTS_TO_SILENT 8 /* of these, to subscribers that did not answer last time */
#define REPORTS_PER_PORT  8 /* so that a port of dead queue pairs does not fill the window */
#define REPORT_FAILURES	 8
#define REPORT_REST	 MONO_S /* after the first failure; doubled each time */
#define REPORT_REST_MAX	 (60 * MONO_S)
#define REPORT_TRIES_MAX 8
#define REPORT_PATIENCE	 (250 * MONO_MS) /* of the watchdog, beyond the timeout */
#define STEPS_A_TICK	 8192		 /* events looked at by subscribers */
#define STALL		 (10 * MONO_MS)	 /* after the transport said: later */

struct slot {
	struct subscriber *to; /* NULL: free, or the subscriber has gone meanwhile */
	bool used;
	guid_t port; /* of the subscriber, also when it has gone */
	bool silent; /* counts among REPORTS_TO_SILENT */
	lid_t lid;   /* it was sent to */
	unsigned tries; /* made */
	uint32_t tids[REPORT_TRIES_MAX]; /* of the tries */
	mono_t deadline;
	struct event event; /* with a reference of its audience */
};
#define EACH_SLOT(r, s) (struct slot *s = (r)->slots; s < (r)->slots + REPORTS_ON_WIRE; s++)

TAILQ_HEAD(subscribers, subscriber);

struct reports {
	struct event_log log;
	struct audience *newest; /* of the last event that had one */

	struct subscribers in[SUBSCRIBER_STATES];
	mono_t rest_next;
	struct slot slots[REPORTS_ON_WIRE];
	unsigned n_used, n_silent;
	mono_t stalled_until; /* the transport takes nothing before */
	struct log_limit lost_log, gone_log;
	uint64_t lost; /* not logged yet */
};

/* ---- life ---------------------------------------------------------------------------------- */

struct reports *reports_new(struct sa *sa)
{
	struct reports *r = xcalloc(1, sizeof(*r));

	for (unsigned i = 0; i < SUBSCRIBER_STATES; i++)
		TAILQ_INIT(&r->in[i]);
	r->rest_next = MONO_NEVER;
	r->lost_log = (struct log_limit){ .interval = 60 * MONO_S, .burst = 1 };
	r->gone_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
	return r;
}

static void clear_log(struct reports *r)
{
	event_log_clear(&r->log);
	r->newest = audience_unref(r->newest);
}

/* Subscribers are freed by informs_free(), before or after. */
struct reports *reports_free(struct reports *r)
{
	if (!r)
		return NULL;
	clear_log(r);
	event_log_release(&r->log);
	for EACH_SLOT(r, s)
		audience_unref(s->event.audience);
	free(r);
	return NULL;
}

static void leave_state(struct reports *r, struct subscriber *sub)
{
	TAILQ_REMOVE(&r->in[sub->state], sub, link);
}

/* To the end of the list of `state`; from no list. */
static void enter_state(struct reports *r, struct subscriber *sub, enum subscriber_state state)
{
	sub->state = state;
	TAILQ_INSERT_TAIL(&r->in[state], sub, link);
	if (state == SUBSCRIBER_RESTING)
		r->rest_next = mono_min(r->rest_next, sub->rest_until);
}

static void change_state(struct reports *r, struct subscriber *sub, enum subscriber_state state)
{
	leave_state(r, sub);
	enter_state(r, sub, state);
}

/* All subscribers of a state, behind those that are ready already. */
static void make_ready(struct reports *r, enum subscriber_state state)
{
	struct subscriber *sub;

	while ((sub = TAILQ_FIRST(&r->in[state])))
		change_state(r, sub, SUBSCRIBER_READY);
}

void reports_admit(struct sa *sa, struct subscriber *sub)
{
	sub->seen = sa->reports->log.end;
	enter_state(sa->reports, sub, SUBSCRIBER_READY);
}

void reports_forget(struct sa *sa, struct subscriber *sub)
{
	leave_state(sa->reports, sub);
	for EACH_SLOT(sa->reports, s)
		if (s->to == sub)
			s->to = NULL; /* used until its MAD comes back */
}

void reports_pkeys_changed(struct sa *sa)
{
	struct reports *r = sa->reports;

	r->newest = audience_unref(r->newest); /* its address may be used again */
}

void reports_view_changed(struct sa *sa)
{
	struct reports *r = sa->reports;

	reports_pkeys_changed(sa);
	if (sa->view)
		return;
	clear_log(r);
	for EACH_SLOT(r, s) {
		if (s->to)
			change_state(r, s->to, SUBSCRIBER_READY);
		s->to = NULL;
	}
}

/* ---- raising ------------------------------------------------------------------------------- */

static struct audience *audience_of(struct reports *r, const struct pkey_set *set)
{
	struct audience *a = r->newest;

	if (!a || a->made_from != set) {
		a = audience_new(set);
		audience_unref(r->newest);
		r->newest = a;
	}
	a->refs++;
	return a;
}

/*
 * Puts a notice (NT_BYTES) into the log. `about`: the port of `v` whose partitions decide which
 * subscribers get it, or VIEW_NONE with the `pkey` of a group (0: all subscribers).
 */
static void raise_notice(struct sa *sa, const uint8_t *notice, const struct view *v, uint32_t about,
			 uint16_t pkey)
{
	struct reports *r = sa->reports;
	struct event *e;

	assert(about == VIEW_NONE || about < v->n_ports);
	if (!quota_all(sa, SA_QUOTA_SUBSCRIPTIONS))
		return;
	e = event_log_append(&r->log);
	*e = (struct event){ .raised = sa->now, .pkey = pkey };
	memcpy(e->notice, notice, NT_BYTES);
	if (about != VIEW_NONE) {
		const struct pkey_set *set = view_pkeys(v, about);

		e->unheard = !set;
		e->about = view_guid_of(v, &v->ports[about]);
		if (set)
			e->audience = audience_of(r, set);
	}
	make_ready(r, SUBSCRIBER_IDLE);
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

void sa_raise_mgid(struct sa *sa, enum ib_trap trap, const uint8_t *mgid, uint16_t pkey)
{
	uint8_t notice[NT_BYTES];

	if (!sa->view)
		return;
	make_gid_notice(sa, trap, mgid, notice);
	raise_notice(sa, notice, sa->view, VIEW_NONE, pkey);
}

void reports_raise_gid(struct sa *sa, enum ib_trap trap, guid_t interface_id,
		       const struct view *view, uint32_t about)
{
	uint8_t gid[16], notice[NT_BYTES];

	sa_gid(view->prefix, interface_id, gid);
	make_gid_notice(sa, trap, gid, notice);
	raise_notice(sa, notice, view, about, 0);
}

/* ---- traps of others ----------------------------------------------------------------------- */

/*
 * traps.md 3: link errors stay between the port and us. 64 to 67 are raised by us alone: a port
 * that sends one would speak in our name.
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
	uint8_t forwarded[NT_BYTES] = { 0 };
	uint32_t issuer, source;

	sa->now = now;
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
	memcpy(forwarded, notice, SMP_DATA_SIZE);
	sa_gid(sa->view->prefix, sa->view->ports[issuer].guid,
	       ib_at(forwarded, NT_ISSUER_GID));
	raise_notice(sa, forwarded, sa->view, issuer, 0);
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* Of a port that is still there, the P_Keys of today count as well as those of the event. */
static bool shares_today(const struct sa *sa, const struct event *e, const struct pkey_set *set)
{
	uint32_t at = view_port_of_guid(sa->view, e->about);
	const struct pkey_set *today = at == VIEW_NONE ? NULL : view_pkeys(sa->view, at);

	return at == VIEW_NONE || (today && pkey_share(today, set, NULL));
}

/* By the event's P_Keys as they were and as they are, and the subscriber's as they are. */
static bool may_get(const struct sa *sa, const struct event *e, uint32_t port)
{
	const struct pkey_set *set = view_pkeys(sa->view, port);

	if (e->unheard)
		return false;
	if (e->audience)
		return set && pkey_share(&e->audience->set, set, NULL) &&
		       shares_today(sa, e, set);
	return !e->pkey || view_has_pkey(sa->view, port, e->pkey);
}

enum verdict { PASS, REPORT, GONE };

/*
 * Does a subscription match? One that names its source and may not get its notices is taken back
 * (traps.md 6), perhaps the last one: GONE.
 */
static enum verdict judge_event(struct sa *sa, struct subscriber *sub, uint32_t port,
				const struct event *e)
{
	bool allowed = may_get(sa, e, port), security = inform_is_security(e->notice);
	enum verdict verdict = PASS;
	struct subscription *after;

	for (struct subscription *s = sub->subscriptions; s; s = after) {
		after = s->next;
		if (!inform_matches(s->info, e->notice) || (security && !s->trusted))
			continue;
		if (allowed)
			return REPORT;
		if (ib_get(s->info, INF_LID_BEGIN) != 0xFFFF && informs_remove(sa, s))
			verdict = GONE;
	}
	return verdict;
}

static void skip_lost(struct sa *sa, struct subscriber *sub)
{
	struct reports *r = sa->reports;

	if (sub->seen >= r->log.first)
		return;
	r->lost += r->log.first - sub->seen;
	sa->stats.reports_lost += r->log.first - sub->seen;
	sub->seen = r->log.first;
}

/* The next event for this subscriber, which then stands before it. */
static enum verdict advance(struct sa *sa, struct subscriber *sub, unsigned *steps)
{
	struct reports *r = sa->reports;
	uint32_t port = view_port_of_guid(sa->view, sub->port_guid);

	skip_lost(sa, sub);
	if (port == VIEW_NONE || !sa->view->ports[port].lid)
		sub->seen = r->log.end;
	for (; sub->seen < r->log.end && *steps; sub->seen++, (*steps)--) {
		enum verdict verdict = judge_event(sa, sub, port, event_log_at(&r->log, sub->seen));

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

static void make_report(const struct slot *s, uint32_t tid, uint8_t mad[MAD_SIZE])
{
	memset(mad, 0, MAD_SIZE);
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, MAD_REPORT);
	ib_put(mad, SAH_TID, tid);
	ib_put(mad, SAH_ATTR_ID, SA_NOTICE);
	memcpy(mad + SA_DATA, s->event.notice, NT_BYTES);
}

/*
 * False: the transport is full, nothing has changed. Other refusals count as a try without answer.
 */
static bool send_try(struct sa *sa, struct slot *s)
{
	unsigned timeout = sa->conf->transaction_timeout;
	struct transport_addr to = s->to->addr;
	uint8_t mad[MAD_SIZE];
	int r;

	assert(s->tries < REPORT_TRIES_MAX);
	s->lid = to.lid;
	s->tids[s->tries] = mad_gmp_tid(sa->mad, to.lid);
	make_report(s, s->tids[s->tries], mad);
	if (sa->view)
		to.sl = view_path_sl(sa->view, sa->view->sm_port, view_port_at(sa->view, to.lid),
				     to.lid, to.sl);
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
	for EACH_SLOT(r, s)
		if (!s->used)
			return s;
	return NULL;
}

static bool is_crowded(struct reports *r, guid_t port)
{
	unsigned n = 0;

	for EACH_SLOT(r, s)
		if (s->used && s->port == port)
			n++;
	return n >= REPORTS_PER_PORT;
}

static void release_slot(struct reports *r, struct slot *s)
{
	if (is_crowded(r, s->port))
		make_ready(r, SUBSCRIBER_CROWDED);
	r->n_used--;
	if (s->silent) {
		r->n_silent--;
		make_ready(r, SUBSCRIBER_BLOCKED);
	}
	audience_unref(s->event.audience);
	*s = (struct slot){ .used = false };
}

/* False: the transport is full. */
static bool start_report(struct sa *sa, struct subscriber *sub)
{
	struct reports *r = sa->reports;
	struct slot *s = free_slot(r);

	*s = (struct slot){
		.to = sub,
		.used = true,
		.port = sub->port_guid,
		.silent = sub->failures,
		.event = event_copy(event_log_at(&r->log, sub->seen)),
	};
	r->n_used++;
	if (s->silent)
		r->n_silent++;
	if (!send_try(sa, s)) {
		release_slot(r, s);
		return false;
	}
	sub->seen++;
	sa->stats.reports++;
	change_state(r, sub, SUBSCRIBER_WAITING);
	return true;
}

/* One subscriber's turn. False: no subscriber can be sent to now. */
static bool serve_subscriber(struct sa *sa, struct subscriber *sub, unsigned *steps)
{
	struct reports *r = sa->reports;
	enum subscriber_state next = SUBSCRIBER_READY;

	switch (advance(sa, sub, steps)) {
	case GONE:
		return true;
	case PASS:
		if (sub->seen == r->log.end)
			next = SUBSCRIBER_IDLE;
		break;
	case REPORT:
		if (sub->failures && r->n_silent >= REPORTS_TO_SILENT)
			next = SUBSCRIBER_BLOCKED;
		else if (is_crowded(r, sub->port_guid))
			next = SUBSCRIBER_CROWDED;
		else
			return start_report(sa, sub);
		break;
	}
	change_state(r, sub, next);
	return true;
}

static bool is_open(const struct reports *r, mono_t now)
{
	return r->n_used < REPORTS_ON_WIRE && now >= r->stalled_until;
}

/* ---- the end of a try ---------------------------------------------------------------------- */

static void log_gone(struct sa *sa, const struct subscriber *sub)
{
	struct sa_port_text port;
	unsigned more;

	if (!log_allow(&sa->reports->gone_log, sa->now, &more))
		return;
	sa_port_text(sa, sub->port_guid, sub->addr.lid, &port);
	port.about.id = LOG_ID_SUBSCRIBER_LOST;
	log_on(port.about, LOGB_INFO,
	       "%s: subscriber QP 0x%x did not answer %u reports: its subscriptions are taken back "
	       "(%u more like this)",
	       port.text, sub->addr.qp, REPORT_FAILURES, more);
}

static void report_failed(struct sa *sa, struct subscriber *sub)
{
	sa->stats.reports_lost++;
	sa->reports->lost++;
	if (++sub->failures >= REPORT_FAILURES) {
		log_gone(sa, sub);
		informs_remove_subscriber(sa, sub);
		return;
	}
	sub->rest_until = sa->now + mono_min(REPORT_REST << (sub->failures - 1), REPORT_REST_MAX);
	change_state(sa->reports, sub, SUBSCRIBER_RESTING);
}

static void report_answered(struct sa *sa, struct slot *s)
{
	struct subscriber *sub = s->to;

	release_slot(sa->reports, s);
	if (!sub)
		return;
	sub->failures = 0;
	change_state(sa->reports, sub, SUBSCRIBER_READY);
}

/* False: the subscriber may not get this notice any more, so it is not repeated. */
static bool may_have_more(const struct sa *sa, const struct slot *s)
{
	uint32_t port = sa->view ? view_port_of_guid(sa->view, s->to->port_guid) : VIEW_NONE;

	return port == VIEW_NONE || may_get(sa, &s->event, port);
}

static void try_ended(struct sa *sa, struct slot *s)
{
	struct subscriber *sub = s->to;

	if (sub && !may_have_more(sa, s)) {
		report_answered(sa, s); /* nothing is left to be said */
		return;
	}
	if (sub && s->tries < tries_for(sa, s)) {
		if (!send_try(sa, s))
			s->deadline = sa->now + STALL; /* and again */
		return;
	}
	release_slot(sa->reports, s);
	if (sub)
		report_failed(sa, sub);
}

static struct slot *slot_of(struct reports *r, uint32_t tid)
{
	for EACH_SLOT(r, s)
	for (unsigned i = 0; s->used && i < s->tries; i++)
		if (s->tids[i] == tid)
			return s;
	return NULL;
}

/* An answer counts from the port it was sent to only, whichever of its LIDs it used. */
static bool is_from(const struct sa *sa, const struct slot *s, const struct transport_addr *from)
{
	uint32_t port = sa->view ? view_port_at(sa->view, from->lid) : VIEW_NONE;

	return from->lid == s->lid || (port != VIEW_NONE && sa->view->ports[port].guid == s->port);
}

/* Why an answer is none to the report of `s`; MAD_STRAYS: it is one. */
static enum mad_stray fault_of(const struct sa *sa, const struct slot *s,
			       const struct transport_event *ev)
{
	if (!s)
		return MAD_STRAY_UNASKED;
	if (!is_from(sa, s, &ev->from))
		return MAD_STRAY_ELSEWHERE;
	return ib_get(ev->mad, SAH_ATTR_ID) == SA_NOTICE ? MAD_STRAYS : MAD_STRAY_MISMATCHED;
}

static void take_answer(struct sa *sa, struct slot *s, const struct transport_event *ev)
{
	enum mad_stray fault = fault_of(sa, s, ev);

	if (fault == MAD_STRAYS)
		report_answered(sa, s);
	else
		mad_refuse_gmp(sa->mad, fault, ev);
}

void reports_receive(struct sa *sa, const struct transport_event *ev, mono_t now)
{
	uint32_t tid = (uint32_t)ib_get(ev->mad, SAH_TID);
	struct slot *s = slot_of(sa->reports, tid);

	sa->now = now;
	if (ev->kind == TRANSPORT_MAD) {
		take_answer(sa, s, ev);
		return;
	}
	/* `tries` counts the one on its way: what comes back late is of an earlier one */
	if (s && s->tids[s->tries - 1] == tid && ib_get(ev->mad, SAH_ATTR_ID) == SA_NOTICE)
		try_ended(sa, s);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void wake_rested(struct reports *r, mono_t now)
{
	struct subscriber *after;

	if (now < r->rest_next)
		return;
	r->rest_next = MONO_NEVER;
	for (struct subscriber *sub = TAILQ_FIRST(&r->in[SUBSCRIBER_RESTING]); sub; sub = after) {
		after = TAILQ_NEXT(sub, link);
		if (sub->rest_until <= now)
			change_state(r, sub, SUBSCRIBER_READY);
		else
			r->rest_next = mono_min(r->rest_next, sub->rest_until);
	}
}

static void end_overdue_tries(struct sa *sa)
{
	if (!sa->reports->n_used)
		return;
	for EACH_SLOT(sa->reports, s)
		if (s->used && s->deadline <= sa->now)
			try_ended(sa, s);
}

static void forget_old(struct reports *r, mono_t now)
{
	struct event_log *l = &r->log;

	while (l->first < l->end && event_log_at(l, l->first)->raised + REPORT_LOG_AGE <= now)
		event_log_forget_oldest(l);
}

/* No subscriber has an event left to read: the log is emptied. */
static void forget_read(struct reports *r)
{
	for (unsigned i = 0; i < SUBSCRIBER_STATES; i++)
		if (i != SUBSCRIBER_IDLE && !TAILQ_EMPTY(&r->in[i]))
			return;
	if (!r->n_used)
		clear_log(r);
}

static void log_lost(struct reports *r, mono_t now)
{
	if (!r->lost || !log_allow(&r->lost_log, now, &(unsigned){ 0 }))
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
	end_overdue_tries(sa);
	wake_rested(r, now);
	forget_old(r, now);
	if (!sa->view)
		return;
	while (steps && is_open(r, now) && !TAILQ_EMPTY(&r->in[SUBSCRIBER_READY])) {
		steps--;
		if (!serve_subscriber(sa, TAILQ_FIRST(&r->in[SUBSCRIBER_READY]), &steps))
			break;
	}
	forget_read(r);
	log_lost(r, now);
}

mono_t reports_next(const struct sa *sa)
{
	struct reports *r = sa->reports;
	mono_t next = r->rest_next;

	if (sa->view && r->n_used < REPORTS_ON_WIRE && !TAILQ_EMPTY(&r->in[SUBSCRIBER_READY]))
		next = mono_min(next, MAX(r->stalled_until, sa->now));
	if (r->n_used)
		for EACH_SLOT(r, s)
			if (s->used)
				next = mono_min(next, s->deadline);
	return next;
}
