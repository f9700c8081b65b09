// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which ports there are, which of them are asked, and when: so many at a time, one question per
 * port. Their entries: entries.c. What is asked: ask.c.
 */
#include "congestion/congestion.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "congestion/congestion_internal.h"
#include "util/log.h"
#include "util/mem.h"

#define OUT_MAX 4096u
#define BLOCKED (10 * MONO_MS) /* pause after the transport refused a send */
/* So many silent ports are asked again in so long. */
#define AGAIN_PACE (1 * MONO_S)
#define AGAIN_MAX  16u

/* ---- life ------------------------------------------------------------------------------------ */

struct cc *cc_new(void)
{
	struct cc *cc = xcalloc(1, sizeof(*cc));

	cc->by_guid = guidmap_new();
	cc->by_lid = guidmap_new();
	cc->by_tid = guidmap_new();
	cc->log_at = cc->again_at = MONO_NEVER;
	TAILQ_INIT(&cc->queue);
	return cc;
}

static void forget_all(struct cc *cc)
{
	for (unsigned i = 0; i < cc->n; i++)
		cc_forget(cc, cc->entries[i]);
	free(cc->entries);
	cc->entries = NULL;
	cc->n = cc->cap = 0;
	cc->conf = conf_unref(cc->conf);
	cc->log_at = cc->again_at = MONO_NEVER;
	cc->busy = cc->heavy = false;
	cc->incast = 0;
	cc->ended = true; /* ports are looked for when it is switched on */
}

struct cc *cc_free(struct cc *cc)
{
	if (!cc)
		return NULL;
	forget_all(cc);
	guidmap_free(cc->by_guid);
	guidmap_free(cc->by_lid);
	guidmap_free(cc->by_tid);
	free(cc);
	return NULL;
}

void cc_sweep_ended(struct cc *cc, bool heavy)
{
	cc->ended = true;
	cc->heavy |= heavy;
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* Nothing is known of its settings. */
static void begin_life(struct cc *cc, struct cc_entry *e, uint16_t life)
{
	e->life = life;
	e->timeouts = e->lost_sets = e->again = 0;
	memset(e->given, 0, sizeof(e->given));
	memset(e->verdicts, 0, sizeof(e->verdicts));
	cc_enqueue(cc, e, CC_TODO_ALL);
}

static void look_at(struct cc *cc, const struct port *p, lid_t own, const struct conf *conf)
{
	struct cc_entry *e;
	bool is_new, is_other;

	if (!p->guid || !p->lid || !port_is_live(p) || p->node->type == IB_NODE_ROUTER)
		return;
	is_new = !guidmap_get(cc->by_guid, p->guid);
	e = cc_meet(cc, p);
	e->seen = cc->walk;
	e->device.trap_lid = own;
	cc_place_at(cc, e, p);
	is_other = cc_learn_links(cc, e, p, conf);
	if (is_new || e->life != p->lives)
		begin_life(cc, e, p->lives);
	else if (e->port.state == CC_SILENT || e->port.state == CC_UNSUPPORTED)
		return;
	else if (cc->heavy)
		cc_enqueue(cc, e, CC_TODO_ALL & ~CC_TODO(CC_STEP_INFO));
	else if (is_other)
		cc_enqueue(cc, e, CC_TODO_SETTINGS);
}

static void look_around(struct cc *cc, const struct cc_place *place)
{
	const struct port *own = place->fabric->own_port;
	unsigned kept = 0;

	cc->walk++;
	cc_count_hosts(cc, place->fabric);
	FABRIC_EACH_END_PORT(place->fabric, p)
		look_at(cc, p, own ? own->lid : 0, place->conf);
	for (unsigned i = 0; i < cc->n; i++) {
		if (cc->entries[i]->seen == cc->walk)
			cc->entries[kept++] = cc->entries[i];
		else
			cc_forget(cc, cc->entries[i]);
	}
	cc->n = kept;
	cc->ended = cc->heavy = false;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool asks_for_other(const struct conf *a, const struct conf *b)
{
	static const enum conf_id ids[] = {
		CONF_ID_cc_key,
		CONF_ID_cc_key_enable,
		CONF_ID_cc_key_lease_period,
		CONF_ID_cc_key_protect_bit,
		CONF_ID_cc_no_throttle_sls,
		CONF_ID_cc_profile,
		CONF_ID_cc_sw_port_cong_setting,
		CONF_ID_cc_cct,
		CONF_ID_cc_sw_cong_setting_control_map,
		CONF_ID_cc_sw_cong_setting_victim_mask,
		CONF_ID_cc_sw_cong_setting_credit_mask,
		CONF_ID_cc_sw_cong_setting_threshold,
		CONF_ID_cc_sw_cong_setting_packet_size,
		CONF_ID_cc_sw_cong_setting_credit_starvation_threshold,
		CONF_ID_cc_sw_cong_setting_credit_starvation_return_delay,
		CONF_ID_cc_sw_cong_setting_marking_rate,
		CONF_ID_cc_ca_cong_setting_port_control,
		CONF_ID_cc_ca_cong_setting_control_map,
		CONF_ID_cc_ca_cong_setting_ccti_timer,
		CONF_ID_cc_ca_cong_setting_ccti_increase,
		CONF_ID_cc_ca_cong_setting_trigger_threshold,
		CONF_ID_cc_ca_cong_setting_ccti_min,
	};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (!conf_value_equal(a, b, ids[i]))
			return true;
	return false;
}

/* With other options silent ports, too, get another chance: the key may have been wrong. */
static void ask_all(struct cc *cc, unsigned todo)
{
	for (unsigned i = 0; i < cc->n; i++) {
		cc->entries[i]->timeouts = cc->entries[i]->again = 0;
		cc_enqueue(cc, cc->entries[i], todo);
	}
}

static void take_options(struct cc *cc, const struct cc_place *place)
{
	struct conf *before = cc->conf;
	uint64_t mark = place->keys ? key_ring_mark(place->keys) : 0;

	if (before != place->conf) {
		cc->conf = conf_ref(place->conf);
		if (before && asks_for_other(before, place->conf))
			ask_all(cc, CC_TODO_ALL);
		cc->ended |= cc_uses_links(place->conf);
		if (!before || before->cc_log_interval != place->conf->cc_log_interval)
			cc->log_at = place->conf->cc_log_interval ? place->now : MONO_NEVER;
		conf_unref(before);
	}
	if (mark != cc->key_mark && place->conf->cc_key_enable == CC_KEY_OWN)
		ask_all(cc, CC_TODO(CC_STEP_KEY));
	cc->key_mark = mark;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void read_logs(struct cc *cc, const struct cc_place *place)
{
	cc->log_at = place->now + place->conf->cc_log_interval * MONO_S;
	for (unsigned i = 0; i < cc->n; i++) {
		if (cc->entries[i]->port.is_switch && cc->entries[i]->port.state == CC_SETTLED)
			cc_enqueue(cc, cc->entries[i], CC_TODO(CC_STEP_LOG));
	}
}

/* That it is asked is no work that is waited for: `busy` stays as it is. */
static void ask_silent(struct cc *cc, struct cc_entry *e)
{
	bool busy = cc->busy;

	e->again += e->again < UINT8_MAX;
	cc_enqueue(cc, e, CC_TODO_ALL);
	cc->busy = busy;
}

static void ask_silent_ports(struct cc *cc)
{
	unsigned n = 0;

	cc->again_at = MONO_NEVER;
	for (unsigned i = 0; i < cc->n; i++) {
		struct cc_entry *e = cc->entries[i];

		if (e->port.state != CC_SILENT)
			continue;
		if (e->again_at <= cc->now && n++ < AGAIN_MAX)
			ask_silent(cc, e);
		else
			cc->again_at = mono_min(cc->again_at,
						MAX(e->again_at, cc->now + AGAIN_PACE));
	}
}

static void ask_ports(struct cc *cc, const struct cc_place *place)
{
	unsigned most = MIN(MAX(place->conf->cc_max_outstanding_mads, 1u), OUT_MAX);
	struct cc_entry *e;
	int r;

	while (cc->outstanding < most && place->now >= cc->blocked_until &&
	       (e = TAILQ_FIRST(&cc->queue))) {
		TAILQ_REMOVE(&cc->queue, e, queue);
		r = cc_ask(cc, e, place);
		if (r == 0)
			continue;
		e->port.state = CC_QUEUED;
		TAILQ_INSERT_HEAD(&cc->queue, e, queue);
		cc->blocked_until = place->now + BLOCKED;
	}
}

static void say_settled(struct cc *cc)
{
	if (cc->not_logged)
		log_info("congestion control: %u more lines about ports were left out",
			 cc->not_logged);
	log_verbose("congestion control: %u ports are as they were asked to be, or left alone "
		    "(%" PRIu64 " Gets, %" PRIu64 " Sets)",
		    cc->n, cc->n_gets - cc->said_gets, cc->n_sets - cc->said_sets);
	cc->said_gets = cc->n_gets;
	cc->said_sets = cc->n_sets;
	cc->logged = cc->not_logged = 0;
	cc->busy = false;
}

void cc_dispatch(struct cc *cc, const struct cc_place *place)
{
	if (!place->fabric || !place->conf->congestion_control) {
		if (cc->conf)
			forget_all(cc);
		return;
	}
	cc->now = place->now;
	take_options(cc, place);
	if (cc->ended)
		look_around(cc, place);
	if (place->now >= cc->log_at)
		read_logs(cc, place);
	if (place->now >= cc->again_at)
		ask_silent_ports(cc);
	ask_ports(cc, place);
	if (cc->busy && !cc->outstanding && TAILQ_EMPTY(&cc->queue))
		say_settled(cc);
}

mono_t cc_next(const struct cc *cc)
{
	mono_t next = mono_min(cc->log_at, cc->again_at);

	if (!cc->conf)
		return MONO_NEVER;
	if (cc->ended)
		return 0;
	/* Questions come back by themselves; only a transport that refuses sends is waited for. */
	if (!TAILQ_EMPTY(&cc->queue) && cc->blocked_until > cc->now)
		return mono_min(cc->blocked_until, next);
	return next;
}

bool cc_is_settled(const struct cc *cc)
{
	return cc->conf && !cc->ended && !cc->outstanding && TAILQ_EMPTY(&cc->queue);
}

/* MAD_STRAYS: nothing is wrong. */
static enum mad_stray fault_of(const struct cc_entry *e, const struct transport_event *ev)
{
	if (!e)
		return MAD_STRAY_UNASKED;
	if ((ev->from.lid ^ e->port.lid) >> e->lmc)
		return MAD_STRAY_ELSEWHERE;
	return cc_is_answer(e, ev->mad) ? MAD_STRAYS : MAD_STRAY_MISMATCHED;
}

static bool is_end(const struct transport_event *ev)
{
	return ev->kind == TRANSPORT_RETURNED ||
	       (ev->kind == TRANSPORT_MAD && ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT);
}

void cc_receive(struct cc *cc, struct transport_event *ev, const struct cc_place *place)
{
	uint32_t tid = is_end(ev) ? (uint32_t)ib_get(ev->mad, SMP_TID) : 0;
	struct cc_entry *e = tid ? guidmap_get(cc->by_tid, tid) : NULL;
	enum mad_stray fault = ev->kind == TRANSPORT_MAD && tid ? fault_of(e, ev) : MAD_STRAYS;

	if (!place->fabric || !tid)
		return;
	if (fault != MAD_STRAYS)
		mad_refuse_gmp(place->mad, fault, ev);
	if (!e)
		return;
	cc_stop_asking(cc, e);
	if (ev->kind == TRANSPORT_MAD && fault == MAD_STRAYS)
		cc_answered(cc, e, ev->mad, place);
	else
		cc_unanswered(cc, e, place);
	if (e->todo)
		cc_enqueue(cc, e, 0);
	cc_dispatch(cc, place);
}

/* ---- what there is to see -------------------------------------------------------------------- */

static void count_cells(struct cc_port *p, const struct cc_entry *e)
{
	p->rounded = p->refused = 0;
	for (unsigned i = 0; i < CC_CELLS; i++) {
		if (i == CC_CELL_TRAPS) /* see judge() */
			continue;
		p->rounded += e->verdicts[i] == CC_CELL_ROUNDED ? 1 : 0;
		p->refused += e->verdicts[i] == CC_CELL_REFUSED ? 1 : 0;
	}
}

void cc_status(const struct cc *cc, struct cc_status *ret)
{
	*ret = (struct cc_status){
		.on = cc->conf,
		.outstanding = cc->outstanding,
		.n_gets = cc->n_gets,
		.n_sets = cc->n_sets,
		.timeouts = cc->timeouts,
	};
	for (unsigned i = 0; i < cc->n; i++) {
		struct cc_port *p = &cc->entries[i]->port;

		count_cells(p, cc->entries[i]);
		ret->ports[p->state]++;
		ret->rounded += p->rounded ? 1 : 0;
		ret->refused += p->refused ? 1 : 0;
		ret->cut += p->cut ? 1 : 0;
		ret->with_key += p->has_key ? 1 : 0;
		ret->wrong_key += p->key_right || p->state == CC_UNSUPPORTED ? 0 : 1;
		ret->violations += p->key_violations;
		ret->marks += p->is_switch ? p->marks : 0;
	}
}

static int by_guid(const void *a, const void *b)
{
	guid_t x = (*(struct cc_entry *const *)a)->port.guid;
	guid_t y = (*(struct cc_entry *const *)b)->port.guid;

	return x < y ? -1 : x > y;
}

const struct cc_port *cc_port_at(struct cc *cc, unsigned n)
{
	if (n >= cc->n)
		return NULL;
	if (!cc->sorted)
		qsort(cc->entries, cc->n, sizeof(*cc->entries), by_guid);
	cc->sorted = true;
	count_cells(&cc->entries[n]->port, cc->entries[n]);
	return &cc->entries[n]->port;
}

const struct cc_port *cc_port_of_lid(const struct cc *cc, lid_t lid)
{
	const struct cc_entry *e = cc_entry_of_lid(cc, lid);

	return e ? &e->port : NULL;
}
