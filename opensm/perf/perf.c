// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sweep: every port of every node is queried in turn, so many at a time.
 *
 *   [CAPS] -> [BASIC] -> [EXTENDED] -> [FEC] -> [details] -> [CLEAR] -> next port
 *
 * A port is a visit: it holds a slot from its first query to its last, and one query of a visit is
 * outstanding at a time. Ports are taken in rounds, the first of every node, then the second, so
 * that no switch has all its ports queried at once; and they are spread over most of the interval,
 * so that neither the fabric nor our loop has them all in one burst. Each turn comes to a few
 * places of the round; which port stands there, and at which LID, is looked up only then.
 *
 * A switch is not asked for the sum of its ports (AllPortSelect) in place of them: sums stop at the
 * end of their fields, a port that was cleared hides what others grew by, and data always moves.
 *
 * The transport brings back every query, answered or not; one whose id fits no slot is dropped.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "perf/perf_internal.h"
#include "util/log.h"
#include "util/mem.h"

#define PERF_CLASS_VERSION 1
/* Pause after the transport refused a send. */
#define BLOCKED	     (10 * MONO_MS)
/* Ports are sent to so often, */
#define TICK	     (50 * MONO_MS)
/* in this part of the interval; the rest is for answers that are late, */
#define SPREAD(t)    ((t) * 4 / 5)
/* and not slower than one port in this time: a small fabric is read at once. */
#define SLOWEST	     (5 * MONO_MS)
/* Places looked at in one dispatch: with every port down nothing else ends a turn. */
#define PLACES_MAX   4096u
/* Nodes that one dispatch takes up at the start of a sweep. */
#define MEET_MAX     250u
#define FDR	     140 /* tenths of Gb/s per lane */

/* ---- life ---------------------------------------------------------------------------------- */

struct perf *perf_new(const struct conf *conf, const struct perf_hooks *hooks)
{
	struct perf *p = xcalloc(1, sizeof(*p));

	assert(conf->perfmgr_max_outstanding_queries);
	p->conf = conf_ref(conf);
	if (hooks)
		p->hooks = *hooks;
	p->n_slots = MIN(conf->perfmgr_max_outstanding_queries, PERF_SLOTS_MAX);
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
	free(p->walk);
	free(p->slots);
	free(p);
	return NULL;
}

/* ---- ports to query ------------------------------------------------------------------------- */

static bool is_queried(const struct perf *p, const struct node *n)
{
	return node_is_switch(n) || !p->conf->perfmgr_ignore_cas;
}

/*
 * The LID at which port `num` of `n` is queried; 0: none. A switch also tells of links that are
 * held in INIT: the probation of one that is isolated for its health is for errors, not silence.
 */
static lid_t lid_of(const struct node *n, unsigned num)
{
	const struct port *port = &n->ports[num];
	lid_t lid = node_is_switch(n) ? n->ports[0].lid : port->lid;

	if (num == 0)
		return port_is_enhanced0(port) ? lid : 0;
	return port_state(port) >= (node_is_switch(n) ? IB_PORT_INIT : IB_PORT_ARMED) ? lid : 0;
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

/* Data bits per second of the link at this port; `ret_fast`: it is FDR or faster. */
static uint64_t bits_of(const struct port *port, bool *ret_fast)
{
	bool fdr10 = port->ext_known && port->ext_active & EPI_SPEED_FDR10;
	unsigned speed = ib_link_speed(port->info, fabric_speed_sets(port), fdr10);

	*ret_fast = port->num && speed >= FDR;
	return port->num ? ber_link_bits(ib_link_width(port->info), speed) : 0;
}

/* False: the port is not asked. */
static bool visit_of(const struct perf *p, const struct fabric *f, struct perf_visit *ret)
{
	struct perf_entry *e = p->walk[p->at];
	const struct node *n = fabric_find_node(f, e->node.guid);
	unsigned num = p->round;
	bool is_fast;

	if (!n || n->n_ports != e->node.n_ports || !lid_of(n, num))
		return false;
	e->past[num].bits = bits_of(&n->ports[num], &is_fast);
	*ret = (struct perf_visit){ .entry = e, .lid = lid_of(n, num), .lmc = lmc_of(n, num),
				    .port = (uint8_t)num, .is_fast = is_fast };
	return true;
}

static bool walk_ended(const struct perf *p)
{
	return p->at == p->n_walk;
}

/* To the next place; at the end of a round, on with the nodes that have a port of the next. */
static void step_on(struct perf *p)
{
	p->walked++;
	if (p->walk[p->at]->node.n_ports > p->round)
		p->walk[p->kept++] = p->walk[p->at];
	if (++p->at < p->n_walk)
		return;
	p->n_walk = p->kept;
	p->at = p->kept = 0;
	p->round++;
}

/* Some more nodes; a new one costs memory for all its ports. */
static void meet_nodes(struct perf *p, const struct perf_place *place)
{
	const struct fabric *f = place->fabric;
	unsigned end = MIN(p->n_met + MEET_MAX, f->n_nodes);

	p->walk = xrealloc(p->walk, MAX(f->n_nodes, p->n_walk + 1u), sizeof(*p->walk));
	for (; p->n_met < end; p->n_met++) {
		const struct node *n = f->nodes[p->n_met];
		const struct perf_entry *e = perf_totals_find(&p->totals, n->guid);

		if (!is_queried(p, n) || (e && e->met == p->totals.sweep))
			continue;
		p->walk[p->n_walk++] = perf_totals_meet(&p->totals, n, name_of(n, place->names),
							place->realtime);
		p->places += n->n_ports + 1u;
	}
	p->is_meeting = p->n_met < f->n_nodes;
}

/*
 * Nodes that were not met have left; but for those that moved in the list of nodes meanwhile, which
 * the next sweep asks.
 */
static void end_meeting(struct perf *p, const struct perf_place *place)
{
	mono_t most = SPREAD(p->status.sweep_time_s * MONO_S);

	for (unsigned i = 0; i < p->totals.n; i++) {
		struct perf_entry *e = p->totals.entries[i];
		const struct node *n = NULL;

		if (e->met != p->totals.sweep)
			n = fabric_find_node(place->fabric, e->node.guid);
		e->node.active = e->met == p->totals.sweep || (n && is_queried(p, n));
	}
	if (p->status.remove_missing)
		perf_totals_drop(&p->totals);
	perf_totals_sort(&p->totals);
	p->span = mono_min(most, (mono_t)p->places * SLOWEST);
	p->started = p->tick_at = place->now;
}

static void start_sweep(struct perf *p, const struct perf_place *place)
{
	p->totals.sweep++;
	p->is_meeting = true;
	p->n_met = p->n_walk = p->at = p->kept = p->round = p->n_visits = 0;
	p->places = p->walked = 0;
	p->in_a_hurry = p->asked;
	p->status.sweep = PERF_SWEEPING;
	p->asked = false;
	p->started = place->now;
	p->logged = p->not_logged = p->reset = p->details = 0;
}

static void end_sweep(struct perf *p, mono_t now)
{
	p->status.sweep = PERF_SLEEPING;
	p->status.sweeps++;
	p->status.last_ms = (unsigned)((now - p->started) / MONO_MS);
	/* No ports yet: the subnet is just coming up. */
	p->next_at = p->started + (p->n_visits ? p->status.sweep_time_s * MONO_S : MONO_S);
	if (p->not_logged)
		log_info("errors were counted at %u more ports ('opensmctl health', or the console "
			 "command 'perfmgr print_errors', has all)",
			 p->not_logged);
	if (p->reset)
		log_info("error counters of %u ports were cleared by another program: growth is "
			 "counted from there",
			 p->reset);
	log_verbose("counters of %u ports read in %u ms", p->n_visits, p->status.last_ms);
}

/* ---- slots and ids --------------------------------------------------------------------------- */

static void unlink_tid(struct perf *p, struct perf_slot *s)
{
	uint32_t *at = &p->by_tid[s->tid & (PERF_SLOTS_MAX - 1)];
	uint32_t number = (uint32_t)(s - p->slots) + 1;

	while (*at != number) {
		assert(*at); /* it was put there */
		at = &p->slots[*at - 1].next;
	}
	*at = s->next;
}

/* The slot waits for the answer with this id; 0: for none. */
static void set_tid(struct perf *p, struct perf_slot *s, uint32_t tid)
{
	uint32_t *head = &p->by_tid[tid & (PERF_SLOTS_MAX - 1)];

	if (s->tid)
		unlink_tid(p, s);
	s->tid = tid;
	if (!tid)
		return;
	s->next = *head;
	*head = (uint32_t)(s - p->slots) + 1;
}

static struct perf_slot *slot_of(struct perf *p, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)ib_get(mad, SMP_TID), at = p->by_tid[tid & (PERF_SLOTS_MAX - 1)];

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
	p->n_walk = p->at = 0;
	p->is_meeting = false;
	p->status.sweep = PERF_SLEEPING;
}

/* ---- one query ------------------------------------------------------------------------------ */

static struct transport_addr query_address(const struct perf_past *past,
					   const struct perf_visit *v,
					   const struct perf_place *place)
{
	const struct perf_redirection *to = &past->to;
	struct transport_addr a = { .lid = v->lid, .sl = place->sl, .qp = 1,
				    .qkey = MAD_QP1_QKEY };

	if (to->lid)
		return (struct transport_addr){
			.lid = to->lid, .sl = to->sl, .qp = to->qp, .qkey = to->qkey
		};
	if (place->sl_to)
		a.sl = place->sl_to(place->sl_arg, v->lid);
	return a;
}

static void put_query_header(uint8_t mad[MAD_SIZE], enum pm_attr attr, enum mad_method method)
{
	memset(mad, 0, MAD_SIZE);
	ib_put(mad, SMP_BASE_VERSION, 1);
	ib_put(mad, SMP_CLASS, MAD_CLASS_PERF);
	ib_put(mad, SMP_CLASS_VERSION, PERF_CLASS_VERSION);
	ib_put(mad, SMP_METHOD, method);
	ib_put(mad, SMP_ATTR_ID, attr);
}

static enum pm_attr attr_of(const struct perf_slot *s)
{
	static const enum pm_attr attrs[STEPS] = {
		[STEP_CAPS] = PM_CLASS_PORT_INFO,
		[STEP_BASIC] = PM_PORT_COUNTERS,
		[STEP_EXTENDED] = PM_PORT_COUNTERS_EXT,
		[STEP_FEC] = PM_PORT_EXT_SPEEDS,
		[STEP_RCV_DETAILS] = PM_PORT_RCV_ERROR_DETAILS,
		[STEP_XMIT_DETAILS] = PM_PORT_XMIT_DISCARD_DETAILS,
		[STEP_CLEAR] = PM_PORT_COUNTERS,
		[STEP_CLEAR_FEC] = PM_PORT_EXT_SPEEDS,
	};

	return attrs[perf_step_of(s)];
}

static void put_query(const struct perf_slot *s, uint8_t mad[MAD_SIZE])
{
	enum perf_step step = perf_step_of(s);
	bool is_set = step == STEP_CLEAR || step == STEP_CLEAR_FEC;

	put_query_header(mad, attr_of(s), is_set ? MAD_SET : MAD_GET);
	if (step == STEP_CLEAR)
		perf_encode_clear(mad + PERF_DATA_OFFSET, s->visit.port, s->full);
	else if (step == STEP_CLEAR_FEC)
		perf_encode_clear_fec(mad + PERF_DATA_OFFSET, s->visit.port);
	else if (step != STEP_CAPS)
		perf_encode_get(mad + PERF_DATA_OFFSET, s->visit.port);
}

/* 0, -EAGAIN (later), or another -errno: this port cannot be queried. */
static int send_query(struct perf *p, struct perf_slot *s, const struct perf_place *place)
{
	const struct perf_past *past = &s->visit.entry->past[s->visit.port];
	struct transport_addr to = query_address(past, &s->visit, place);
	uint8_t mad[MAD_SIZE];
	int r;

	put_query(s, mad);
	set_tid(p, s, mad_gmp_tid(place->mad, to.lid));
	s->asked = to.lid;
	s->asked_lmc = (to.lid ^ s->visit.lid) >> s->visit.lmc ? 0 : s->visit.lmc;
	ib_put(mad, SMP_TID, s->tid);
	r = mad_send_gmp(place->mad, &to, mad, sizeof(mad), p->conf->transaction_timeout);
	if (r == 0)
		p->status.queries++;
	return r;
}

static void end_visit(struct perf *p, struct perf_slot *s)
{
	perf_visit_end(p, s);
	set_tid(p, s, 0);
	p->hint = (unsigned)(s - p->slots);
	p->status.outstanding--;
}

/* Sends the next query of this visit. */
static void continue_visit(struct perf *p, struct perf_slot *s, const struct perf_place *place)
{
	int r = s->todo ? send_query(p, s, place) : -ENOENT;

	if (r < 0)
		end_visit(p, s); /* the transport is full or gone, or so is the node: next sweep */
}

/* Looks first where one was freed last. */
static struct perf_slot *free_slot(struct perf *p)
{
	for (unsigned i = 0; i < p->n_slots; i++) {
		struct perf_slot *s = &p->slots[(p->hint + i) % p->n_slots];

		if (!s->tid)
			return s;
	}
	return NULL;
}

static void begin_visit(struct perf *p, struct perf_slot *s, const struct perf_visit *v)
{
	bool wants_caps = p->status.query_cpi && !perf_caps_of(v->entry, v->port)->known;

	s->visit = *v;
	s->tries = 0;
	s->full = 0;
	s->read_at = 0;
	s->counts = (struct port_counts){ 0 };
	s->todo = wants_caps ? STEP(STEP_CAPS) : perf_readings(v->entry, v->port, v->is_fast);
}

/* False: no more now. */
static bool visit_place(struct perf *p, const struct perf_place *place)
{
	struct perf_slot *s = free_slot(p);
	struct perf_visit v;
	int r;

	if (!s)
		return false;
	if (visit_of(p, place->fabric, &v)) {
		begin_visit(p, s, &v);
		r = send_query(p, s, place);
		if (r < 0)
			set_tid(p, s, 0);
		if (r == -EAGAIN || r == -ENODEV) {
			p->blocked_until = place->now + BLOCKED;
			return false;
		}
		p->n_visits++;
		if (r == 0)
			p->status.outstanding++;
	}
	step_on(p);
	return true;
}

/* How many places were to be come to by the end of this tick. */
static uint64_t places_due(const struct perf *p, mono_t now)
{
	mono_t gone = now - p->started + TICK;

	if (p->in_a_hurry || gone >= p->span)
		return p->places;
	return p->places * (uint64_t)gone / (uint64_t)p->span;
}

static void fill_slots(struct perf *p, const struct perf_place *place)
{
	uint64_t due = MIN(places_due(p, place->now), p->walked + PLACES_MAX);

	if (place->now < p->blocked_until || (place->now < p->tick_at && !p->in_a_hurry))
		return;
	p->tick_at = place->now + TICK;
	while (!walk_ended(p) && p->walked < due && p->status.outstanding < p->n_slots)
		if (!visit_place(p, place))
			break;
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
	if (p->is_meeting) {
		meet_nodes(p, place);
		if (p->is_meeting)
			return;
		end_meeting(p, place);
	}
	fill_slots(p, place);
	if (walk_ended(p) && !p->status.outstanding)
		end_sweep(p, place->now);
}

mono_t perf_next(const struct perf *p)
{
	if (p->status.state == PERF_DISABLED)
		return MONO_NEVER;
	if (p->status.sweep == PERF_SLEEPING)
		return p->asked ? 0 : p->next_at;
	if (p->is_meeting)
		return 0;
	/* Outstanding queries come back by themselves. */
	if (walk_ended(p) || p->status.outstanding >= p->n_slots)
		return MONO_NEVER;
	return p->in_a_hurry ? p->blocked_until : MAX(p->blocked_until, p->tick_at);
}

/* ---- an answer ----------------------------------------------------------------------------- */

/* A port may redirect once; a second redirection ends the visit for this sweep. */
static void take_redirection(struct perf *p, struct perf_slot *s, const uint8_t *attr)
{
	struct perf_past *past = &s->visit.entry->past[s->visit.port];

	if (!p->conf->perfmgr_redir || past->to.lid || !perf_decode_redirection(attr, &past->to))
		s->todo = 0;
}

/* An agent that redirects may answer any question with ClassPortInfo (13.4.7). */
static bool redirects(const uint8_t *mad)
{
	return ib_get(mad, SMP_STATUS) & MAD_STATUS_REDIRECT &&
	       ib_get(mad, SMP_ATTR_ID) == PM_CLASS_PORT_INFO;
}

/* Why this is no answer to the query of `s`; MAD_STRAYS: it is one. */
static enum mad_stray fault_of(const struct perf_slot *s, const struct transport_event *ev)
{
	if (!s)
		return MAD_STRAY_UNASKED;
	if ((ev->from.lid ^ s->asked) >> s->asked_lmc)
		return MAD_STRAY_ELSEWHERE;
	if (ib_get(ev->mad, SMP_METHOD) != MAD_GET_RESP ||
	    (ib_get(ev->mad, SMP_ATTR_ID) != (uint64_t)attr_of(s) && !redirects(ev->mad)))
		return MAD_STRAY_MISMATCHED;
	return MAD_STRAYS;
}

/*
 * Is it the answer to the query of `s`? One that is not is counted. With the id of `s` it has ended
 * the wait of the transport all the same: then the query is as one without an answer.
 */
static bool is_believed(const struct perf_slot *s, const struct transport_event *ev,
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
	struct perf_slot *s = ev->kind == TRANSPORT_GONE ? NULL : slot_of(p, ev->mad);
	unsigned status;
	bool is_answer;

	if (!place->fabric || !is_end(ev))
		return;
	is_answer = ev->kind == TRANSPORT_MAD && is_believed(s, ev, place);
	if (!s)
		return;
	status = (unsigned)ib_get(ev->mad, SMP_STATUS);
	if (!is_answer) {
		if (s->tries++ >= p->conf->transaction_retries) {
			p->status.unanswered++;
			s->tries = 0;
			perf_take_no_answer(s, false);
		}
	} else if (status & MAD_STATUS_REDIRECT) {
		take_redirection(p, s, ev->mad + PERF_DATA_OFFSET);
	} else if (status) {
		perf_take_no_answer(s, true);
	} else {
		perf_take_answer(p, s, ev->mad + PERF_DATA_OFFSET, place);
	}
	continue_visit(p, s, place);
	perf_dispatch(p, place);
}

void perf_enable(struct perf *p, bool enabled)
{
	p->status.state = enabled ? PERF_ENABLED : PERF_DISABLED;
	p->next_at = 0;
	if (!enabled)
		stop_sweep(p);
}
