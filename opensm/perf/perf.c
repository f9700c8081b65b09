// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sweep: every port of every node is queried in turn, so many at a time.
 *
 *   [CAPS] -> BASIC -> [EXTENDED] -> [CLEAR] -> next port
 *
 * A port is a visit: it holds a slot from its first query to its last, and one query of a visit is
 * outstanding at a time. Ports are taken in rounds, the first of every node, then the second, so
 * that no switch has all its ports queried at once. Nodes may vanish meanwhile: a visit keeps GUID
 * and LID, no pointers.
 *
 * The transport brings back every query, answered or not; one whose id fits no slot is dropped.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "perf/perf_internal.h"
#include "util/log.h"
#include "util/mem.h"

#define PERF_CLASS_VERSION 1
#define SLOTS_MAX	   4096u
/* Pause after the transport refused a send. */
#define BLOCKED	     (10 * MONO_MS)
/* Lines about errors that grew, for one sweep. */
#define LOGGED_MAX   50

enum stage { CAPS, BASIC, EXTENDED, CLEAR, DONE };

struct visit {
	guid_t guid;
	lid_t lid;
	uint8_t lmc, port;
};

struct slot {
	struct visit visit;
	enum stage stage;
	uint32_t tid; /* 0: free */
	uint32_t next;	   /* number, from 1, of the next slot in `by_tid`; 0: none */
	lid_t asked;	   /* the last query went there, */
	uint8_t asked_lmc; /* and its answer comes from this range */
	uint8_t tries;
	bool nearly_full;
};

struct perf {
	struct conf *conf;
	struct perf_hooks hooks;
	struct perf_status status;
	struct perf_totals totals;
	struct visit *visits; /* of this sweep */
	unsigned n_visits, next_visit;
	struct slot *slots; /* max_outstanding */
	unsigned n_slots, hint;
	uint32_t by_tid[SLOTS_MAX]; /* by the low bits of a TID: a list of slots */
	bool asked; /* a sweep is wanted now */
	mono_t next_at, started, blocked_until;
	unsigned logged, not_logged; /* ports whose errors grew in this sweep */
};

/* ---- life ---------------------------------------------------------------------------------- */

struct perf *perf_new(const struct conf *conf, const struct perf_hooks *hooks)
{
	struct perf *p = xcalloc(1, sizeof(*p));

	assert(conf->perfmgr_max_outstanding_queries);
	p->conf = conf_ref(conf);
	if (hooks)
		p->hooks = *hooks;
	p->n_slots = MIN(conf->perfmgr_max_outstanding_queries, SLOTS_MAX);
	p->slots = xcalloc(p->n_slots, sizeof(*p->slots));
	p->status = (struct perf_status){
		.state = conf->perfmgr ? PERF_ENABLED : PERF_DISABLED,
		.sweep_time_s = conf->perfmgr_sweep_time_s,
		.max_outstanding = conf->perfmgr_max_outstanding_queries,
		.remove_missing = conf->perfmgr_rm_nodes,
		.query_cpi = conf->perfmgr_query_cpi,
	};
	perf_totals_init(&p->totals);
	return p;
}

struct perf *perf_free(struct perf *p)
{
	if (!p)
		return NULL;
	perf_totals_clear(&p->totals);
	conf_unref(p->conf);
	free(p->visits);
	free(p->slots);
	free(p);
	return NULL;
}

/* ---- ports to query ------------------------------------------------------------------------- */

static bool is_queried(const struct perf *p, const struct node *n)
{
	return node_is_switch(n) || !p->conf->perfmgr_ignore_cas;
}

/* The LID at which port `num` of `n` is queried; 0: none. */
static lid_t lid_of(const struct node *n, unsigned num)
{
	const struct port *port = &n->ports[num];
	lid_t lid = node_is_switch(n) ? n->ports[0].lid : port->lid;

	if (num == 0)
		return port_is_enhanced0(port) ? lid : 0;
	return port_state(port) >= IB_PORT_ARMED ? lid : 0;
}

static uint8_t lmc_of(const struct node *n, unsigned num)
{
	return ib_get(n->ports[node_is_switch(n) ? 0 : num].info, PI_LMC);
}

static const char *name_of(const struct node *n, const struct conf_names *names)
{
	const char *name = names ? conf_names_find(names, n->guid) : NULL;

	return name ? name : n->desc;
}

static void add_visit(struct perf *p, const struct node *n, unsigned num, unsigned *cap)
{
	lid_t lid = lid_of(n, num);

	if (!lid)
		return;
	GROW(p->visits, p->n_visits + 1, *cap);
	p->visits[p->n_visits++] = (struct visit){
		.guid = n->guid, .lid = lid, .lmc = lmc_of(n, num), .port = (uint8_t)num
	};
}

static void start_sweep(struct perf *p, const struct perf_place *place)
{
	const struct fabric *f = place->fabric;
	unsigned most = 0, cap = 0;

	for (unsigned i = 0; i < p->totals.n; i++)
		p->totals.entries[i]->node.active = false;
	for (unsigned i = 0; i < f->n_nodes; i++) {
		const struct node *n = f->nodes[i];

		if (!is_queried(p, n))
			continue;
		perf_totals_meet(&p->totals, n, name_of(n, place->names), place->realtime);
		most = MAX(most, n->n_ports);
	}
	if (p->status.remove_missing)
		perf_totals_drop(&p->totals);
	perf_totals_sort(&p->totals);
	free(p->visits);
	p->visits = NULL;
	p->n_visits = p->next_visit = 0;
	for (unsigned num = 0; num <= most; num++)
		for (unsigned i = 0; i < f->n_nodes; i++)
			if (is_queried(p, f->nodes[i]) && num <= f->nodes[i]->n_ports)
				add_visit(p, f->nodes[i], num, &cap);
	p->status.sweep = PERF_SWEEPING;
	p->asked = false;
	p->started = place->now;
	p->logged = p->not_logged = 0;
}

static void end_sweep(struct perf *p, mono_t now)
{
	p->status.sweep = PERF_SLEEPING;
	p->status.sweeps++;
	p->status.last_ms = (unsigned)((now - p->started) / MONO_MS);
	/* No ports yet: the subnet is just coming up. */
	p->next_at = p->started + (p->n_visits ? p->status.sweep_time_s * MONO_S : MONO_S);
	if (p->not_logged)
		log_info("counters of %u more ports grew", p->not_logged);
	log_verbose("counters of %u ports read in %u ms", p->n_visits, p->status.last_ms);
}

/* ---- slots and ids --------------------------------------------------------------------------- */

static void unlink_tid(struct perf *p, struct slot *s)
{
	uint32_t *at = &p->by_tid[s->tid & (SLOTS_MAX - 1)], number = (uint32_t)(s - p->slots) + 1;

	while (*at != number) {
		assert(*at); /* it was put there */
		at = &p->slots[*at - 1].next;
	}
	*at = s->next;
}

/* The slot waits for the answer with this id; 0: for none. */
static void set_tid(struct perf *p, struct slot *s, uint32_t tid)
{
	uint32_t *head = &p->by_tid[tid & (SLOTS_MAX - 1)];

	if (s->tid)
		unlink_tid(p, s);
	s->tid = tid;
	if (!tid)
		return;
	s->next = *head;
	*head = (uint32_t)(s - p->slots) + 1;
}

static struct slot *slot_of(struct perf *p, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)ib_get(mad, SMP_TID), at = p->by_tid[tid & (SLOTS_MAX - 1)];

	while (at && p->slots[at - 1].tid != tid)
		at = p->slots[at - 1].next;
	return at ? &p->slots[at - 1] : NULL;
}

/* Forgets all outstanding queries. */
static void stop_sweep(struct perf *p)
{
	if (p->status.sweep == PERF_SLEEPING)
		return; /* with every turn of the loop where it is switched off */
	for (unsigned i = 0; i < p->n_slots; i++)
		set_tid(p, &p->slots[i], 0);
	p->status.outstanding = 0;
	p->n_visits = p->next_visit = 0;
	p->status.sweep = PERF_SLEEPING;
}

/* ---- one query ------------------------------------------------------------------------------ */

static bool wants_caps(const struct perf *p, const struct perf_past *past)
{
	return p->status.query_cpi && !past->caps_known;
}

static struct transport_addr query_address(const struct perf_past *past, const struct visit *v,
				     uint8_t sl)
{
	const struct perf_redirection *to = &past->to;

	if (to->lid)
		return (struct transport_addr){
			.lid = to->lid, .sl = to->sl, .qp = to->qp, .qkey = to->qkey
		};
	return (struct transport_addr){ .lid = v->lid, .sl = sl, .qp = 1, .qkey = MAD_QP1_QKEY };
}

static void put_query_header(uint8_t mad[MAD_SIZE], enum perf_attr attr, enum mad_method method)
{
	memset(mad, 0, MAD_SIZE);
	ib_put(mad, SMP_BASE_VERSION, 1);
	ib_put(mad, SMP_CLASS, MAD_CLASS_PERF);
	ib_put(mad, SMP_CLASS_VERSION, PERF_CLASS_VERSION);
	ib_put(mad, SMP_METHOD, method);
	ib_put(mad, SMP_ATTR_ID, attr);
}

static enum perf_attr attr_of(enum stage stage)
{
	static const enum perf_attr attrs[] = {
		[CAPS] = PERF_CLASS_PORT_INFO,
		[BASIC] = PERF_PORT_COUNTERS,
		[EXTENDED] = PERF_PORT_COUNTERS_EXT,
		[CLEAR] = PERF_PORT_COUNTERS,
	};

	assert(stage < ARRAY_SIZE(attrs));
	return attrs[stage];
}

/* 0, -EAGAIN (later), or another -errno: this port cannot be queried. */
static int send_query(struct perf *p, struct slot *s, const struct perf_place *place)
{
	const struct perf_entry *e = perf_totals_find(&p->totals, s->visit.guid);
	uint8_t mad[MAD_SIZE];
	struct transport_addr to;
	int r;

	if (!e || s->visit.port > e->node.n_ports)
		return -ENOENT;
	to = query_address(&e->past[s->visit.port], &s->visit,
		     place->sl_to ? place->sl_to(place->sl_arg, s->visit.lid) : place->sl);
	put_query_header(mad, attr_of(s->stage), s->stage == CLEAR ? MAD_SET : MAD_GET);
	if (s->stage == CLEAR)
		perf_encode_clear(mad + PERF_DATA_OFFSET, s->visit.port);
	else if (s->stage != CAPS)
		perf_encode_get(mad + PERF_DATA_OFFSET, s->visit.port);
	set_tid(p, s, mad_gmp_tid(place->mad, to.lid));
	s->asked = to.lid;
	s->asked_lmc = (to.lid ^ s->visit.lid) >> s->visit.lmc ? 0 : s->visit.lmc;
	ib_put(mad, SMP_TID, s->tid);
	r = mad_send_gmp(place->mad, &to, mad, sizeof(mad), p->conf->transaction_timeout);
	if (r == 0)
		p->status.queries++;
	return r;
}

static void end_visit(struct perf *p, struct slot *s)
{
	set_tid(p, s, 0);
	p->hint = (unsigned)(s - p->slots);
	p->status.outstanding--;
}

/* Sends the next query of this visit. */
static void continue_visit(struct perf *p, struct slot *s, const struct perf_place *place)
{
	int r = s->stage == DONE ? -ENOENT : send_query(p, s, place);

	if (r < 0)
		end_visit(p, s); /* the transport is full or gone, or so is the node: next sweep */
}

/* Looks first where one was freed last. */
static struct slot *free_slot(struct perf *p)
{
	for (unsigned i = 0; i < p->n_slots; i++) {
		struct slot *s = &p->slots[(p->hint + i) % p->n_slots];

		if (!s->tid)
			return s;
	}
	return NULL;
}

static void fill_slots(struct perf *p, const struct perf_place *place)
{
	while (p->next_visit < p->n_visits && p->status.outstanding < p->n_slots &&
	       place->now >= p->blocked_until) {
		struct slot *s = free_slot(p);
		const struct visit *v = &p->visits[p->next_visit];
		const struct perf_entry *e = perf_totals_find(&p->totals, v->guid);
		int r;

		if (!s)
			return;
		s->visit = *v;
		s->tries = 0;
		s->stage = e && v->port <= e->node.n_ports && wants_caps(p, &e->past[v->port])
				   ? CAPS
				   : BASIC;
		r = send_query(p, s, place);
		if (r == -EAGAIN || r == -ENODEV) {
			set_tid(p, s, 0);
			p->blocked_until = place->now + BLOCKED;
			return;
		}
		p->next_visit++;
		if (r == 0)
			p->status.outstanding++;
		else
			set_tid(p, s, 0);
	}
}

void perf_dispatch(struct perf *p, const struct perf_place *place)
{
	if (p->status.state == PERF_DISABLED || !place->fabric) {
		stop_sweep(p);
		return;
	}
	if (p->status.sweep == PERF_SLEEPING && (p->asked || place->now >= p->next_at))
		start_sweep(p, place);
	if (p->status.sweep != PERF_SWEEPING)
		return;
	fill_slots(p, place);
	if (p->next_visit == p->n_visits && !p->status.outstanding)
		end_sweep(p, place->now);
}

mono_t perf_next(const struct perf *p)
{
	if (p->status.state == PERF_DISABLED)
		return MONO_NEVER;
	if (p->status.sweep == PERF_SLEEPING)
		return p->asked ? 0 : p->next_at;
	/*
	 * Outstanding queries come back by themselves; so only a transport that refuses sends is
	 * waited for here.
	 */
	return p->next_visit < p->n_visits && p->status.outstanding < p->n_slots ? p->blocked_until
										 : MONO_NEVER;
}

/* ---- an answer ----------------------------------------------------------------------------- */

static void log_errors(struct perf *p, const struct perf_node *n, uint8_t port,
			const uint64_t grew[PERF_ERRORS], int64_t seconds)
{
	char text[600];
	size_t len = 0;

	for (unsigned i = 0; i < PERF_ERRORS; i++) {
		bool shown = grew[i] && p->conf->perfmgr_log_errors;

		if (i == PERF_XMIT_WAIT)
			shown = p->conf->perfmgr_xmit_wait_log &&
				grew[i] >= p->conf->perfmgr_xmit_wait_threshold;
		if (shown && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s +%" PRIu64,
						len ? ", " : "", perf_error_name(i), grew[i]);
	}
	if (len && p->logged++ < LOGGED_MAX)
		log_info("'%s' (0x%016" PRIx64 ") port %u in %" PRId64 " s: %s", n->name, n->guid,
			 port, seconds, text);
	else if (len)
		p->not_logged++;
}

static void take_errors(struct perf *p, struct perf_entry *e, uint8_t port,
			const uint64_t now[PERF_ERRORS], int64_t realtime)
{
	int64_t seconds = realtime - e->ports[port].errors_at;
	uint64_t grew[PERF_ERRORS];

	if (!perf_add_errors(e, port, now, realtime, grew) || !perf_any_error(grew))
		return;
	log_errors(p, &e->node, port, grew, seconds);
	if (p->hooks.errors)
		p->hooks.errors(p->hooks.arg, &e->node, port, grew, seconds);
}

static void take_data(struct perf *p, struct perf_entry *e, uint8_t port,
		      const uint64_t now[PERF_DATA], int64_t realtime)
{
	int64_t seconds = realtime - e->ports[port].data_at;
	uint64_t grew[PERF_DATA];

	if (perf_add_data(e, port, now, realtime, grew) && p->hooks.data)
		p->hooks.data(p->hooks.arg, &e->node, port, grew, seconds);
}

static enum stage take_basic(struct perf *p, struct slot *s, struct perf_entry *e,
			     const uint8_t *attr, int64_t realtime)
{
	uint8_t port = s->visit.port;
	uint16_t caps = e->past[port].caps;
	bool extended = caps & (PERF_CAP_EXT_WIDTH | PERF_CAP_EXT_WIDTH_NOIETF);
	uint64_t errors[PERF_ERRORS], data[PERF_DATA];

	/* Other counters: their lead is not growth since the last reading. */
	if (extended != e->ports[port].extended)
		e->past[port].has_data = false;
	e->ports[port].extended = extended;
	perf_decode_basic(attr, !e->past[port].caps_known || caps & PERF_CAP_XMIT_WAIT, errors,
			  data);
	take_errors(p, e, port, errors, realtime);
	s->nearly_full = perf_nearly_full(errors, data, e->ports[port].extended);
	if (e->ports[port].extended)
		return EXTENDED;
	take_data(p, e, port, data, realtime);
	return s->nearly_full ? CLEAR : DONE;
}

/* Takes in an answer; returns the next query. */
static enum stage take_answer(struct perf *p, struct slot *s, struct perf_entry *e,
			      const uint8_t *attr, int64_t realtime)
{
	struct perf_past *past = &e->past[s->visit.port];
	uint64_t data[PERF_DATA];

	switch (s->stage) {
	case CAPS:
		past->caps = perf_decode_caps(attr);
		past->caps_known = true;
		return BASIC;
	case BASIC:
		return take_basic(p, s, e, attr, realtime);
	case EXTENDED:
		perf_decode_extended(attr, past->caps & PERF_CAP_EXT_WIDTH, data);
		take_data(p, e, s->visit.port, data, realtime);
		return s->nearly_full ? CLEAR : DONE;
	case CLEAR:
		perf_was_cleared(e, s->visit.port);
		return DONE;
	case DONE:
		break;
	}
	return DONE;
}

/* A port may redirect once; a second redirection ends the visit for this sweep. */
static enum stage take_redirection(struct perf *p, struct slot *s, struct perf_entry *e,
				   const uint8_t *attr)
{
	struct perf_past *past = &e->past[s->visit.port];

	if (!p->conf->perfmgr_redir || past->to.lid || !perf_decode_redirection(attr, &past->to))
		return DONE;
	return s->stage;
}

/* A refusal of ClassPortInfo is an answer too: the port has only what every port has. */
static enum stage take_refusal(struct slot *s, struct perf_entry *e)
{
	struct perf_past *past = &e->past[s->visit.port];

	if (s->stage == CAPS) {
		past->caps_known = true;
		past->caps = 0;
		return BASIC;
	}
	return DONE;
}

/* Why this is no answer to the query of `s`; MAD_STRAYS: it is one. */
/* An agent that redirects may answer any question with ClassPortInfo (13.4.7). */
static bool redirects(const uint8_t *mad)
{
	return ib_get(mad, SMP_STATUS) & MAD_STATUS_REDIRECT &&
	       ib_get(mad, SMP_ATTR_ID) == PERF_CLASS_PORT_INFO;
}

static enum mad_stray fault_of(const struct slot *s, const struct transport_event *ev)
{
	if (!s)
		return MAD_STRAY_UNASKED;
	if ((ev->from.lid ^ s->asked) >> s->asked_lmc)
		return MAD_STRAY_ELSEWHERE;
	if (ib_get(ev->mad, SMP_METHOD) != MAD_GET_RESP ||
	    (ib_get(ev->mad, SMP_ATTR_ID) != attr_of(s->stage) && !redirects(ev->mad)))
		return MAD_STRAY_MISMATCHED;
	return MAD_STRAYS;
}

/*
 * Is it the answer to the query of `s`? One that is not is counted. With the id of `s` it has ended
 * the wait of the transport all the same: then the query is as one without an answer.
 */
static bool is_believed(const struct slot *s, const struct transport_event *ev,
			const struct perf_place *place)
{
	enum mad_stray fault = fault_of(s, ev);

	if (fault != MAD_STRAYS)
		mad_refuse_gmp(place->mad, fault, ev);
	return fault == MAD_STRAYS;
}

/* A query that came back, or an answer to one; not a question of others. */
static bool is_end(const struct transport_event *ev)
{
	return ev->kind == TRANSPORT_RETURNED ||
	       (ev->kind == TRANSPORT_MAD && ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT);
}

void perf_receive(struct perf *p, struct transport_event *ev, const struct perf_place *place)
{
	struct slot *s = ev->kind == TRANSPORT_GONE ? NULL : slot_of(p, ev->mad);
	struct perf_entry *e;
	unsigned status;
	bool is_answer;

	if (!place->fabric || !is_end(ev))
		return;
	is_answer = ev->kind == TRANSPORT_MAD && is_believed(s, ev, place);
	if (!s)
		return;
	e = perf_totals_find(&p->totals, s->visit.guid);
	status = (unsigned)ib_get(ev->mad, SMP_STATUS);
	if (!e || s->visit.port > e->node.n_ports) {
		s->stage = DONE;
	} else if (!is_answer) {
		if (s->tries++ >= p->conf->transaction_retries) {
			p->status.unanswered++;
			s->stage = DONE;
		}
	} else if (status & MAD_STATUS_REDIRECT) {
		s->stage = take_redirection(p, s, e, ev->mad + PERF_DATA_OFFSET);
	} else if (status) {
		s->stage = take_refusal(s, e);
	} else {
		s->stage = take_answer(p, s, e, ev->mad + PERF_DATA_OFFSET, place->realtime);
	}
	continue_visit(p, s, place);
	perf_dispatch(p, place);
}

/* ---- commands of administrators ------------------------------------------------------------- */

void perf_enable(struct perf *p, bool enabled)
{
	p->status.state = enabled ? PERF_ENABLED : PERF_DISABLED;
	p->next_at = 0;
	if (!enabled)
		stop_sweep(p);
}

void perf_sweep_now(struct perf *p)
{
	p->asked = true;
}

void perf_set_sweep_time(struct perf *p, unsigned seconds)
{
	assert(seconds > 0);
	p->status.sweep_time_s = seconds;
	p->next_at = p->started + seconds * MONO_S;
}

void perf_set_remove_missing(struct perf *p, bool remove)
{
	p->status.remove_missing = remove;
}

void perf_set_query_cpi(struct perf *p, bool query)
{
	p->status.query_cpi = query;
}

void perf_clear_totals(struct perf *p, int64_t realtime)
{
	for (unsigned i = 0; i < p->totals.n; i++) {
		struct perf_entry *e = p->totals.entries[i];

		for (unsigned num = 0; num <= e->node.n_ports; num++) {
			memset(e->ports[num].errors, 0, sizeof(e->ports[num].errors));
			memset(e->ports[num].data, 0, sizeof(e->ports[num].data));
			e->ports[num].reset_at = realtime;
		}
	}
}

unsigned perf_remove_inactive(struct perf *p)
{
	return perf_totals_drop(&p->totals);
}

void perf_clear_redirections(struct perf *p, guid_t guid)
{
	for (unsigned i = 0; i < p->totals.n; i++) {
		struct perf_entry *e = p->totals.entries[i];

		for (unsigned num = 0; num <= e->node.n_ports && (!guid || guid == e->node.guid);
		     num++)
			e->past[num].to = (struct perf_redirection){ 0 };
	}
}

const struct perf_status *perf_status(const struct perf *p)
{
	return &p->status;
}

const struct perf_node *perf_node_at(const struct perf *p, unsigned n)
{
	return n < p->totals.n ? &p->totals.entries[n]->node : NULL;
}

const struct perf_node *perf_node_find(const struct perf *p, guid_t guid, const char *name)
{
	const struct perf_entry *e = guid ? perf_totals_find(&p->totals, guid) : NULL;

	if (guid)
		return e ? &e->node : NULL;
	for (unsigned i = 0; i < p->totals.n; i++)
		if (strcmp(p->totals.entries[i]->node.name, name) == 0)
			return &p->totals.entries[i]->node;
	return NULL;
}

void perf_print_redirections(const struct perf *p, const struct perf_node *node, FILE *out)
{
	const struct perf_entry *e = perf_totals_find(&p->totals, node->guid);
	bool any_yet = false;

	for (unsigned num = 0; e && num <= node->n_ports; num++) {
		const struct perf_redirection *to = &e->past[num].to;

		if (!to->lid)
			continue;
		if (!any_yet)
			fprintf(out,
				"\"%s\" 0x%" PRIx64
				"\n   Port  LID     QP        Q_Key       P_Key   SL\n",
				node->name, node->guid);
		any_yet = true;
		fprintf(out, "   %-4u  0x%04x  0x%06x  0x%08x  0x%04x  %u\n", num, to->lid, to->qp,
			to->qkey, to->pkey, to->sl);
	}
}
