// SPDX-License-Identifier: BSD-2-Clause
/*
 * Other subnet managers: which are known, what they said last, and whether they are believed.
 *
 * A row belongs to an end port. What it says counts while the last question to it was answered and
 * the port shows IsSM: when a sweep asks again, the row counts for nothing until the answer is
 * there, so that no decision rests on what was. A manager that has another SM_Key, or is not in
 * allowed_sm_guids, is logged with its place, and does not count.
 *
 * One of ours proves that it knows sm_key (elect_proof.c). One that shows it instead, as OpenSM
 * does, shows it to every host: it is believed, and is sent no key.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/elect/elect_internal.h"
#include "sm/base/about.h"
#include "sm/base/drawn_key.h"
#include "sm/base/events.h"
#include "sm/base/keys.h"
#include "sm/base/news.h"
#include "sm/trust/violations.h"
#include "util/hash.h"
#include "util/mem.h"

/* ---- rows ---------------------------------------------------------------------------------- */

struct remote_sm *remote_find(const struct sm *sm, guid_t guid)
{
	for (unsigned i = 0; i < sm->m.elect->n_remote && guid; i++) {
		if (sm->m.elect->remote[i].guid == guid)
			return &sm->m.elect->remote[i];
	}
	return NULL;
}

/* May the row be reused? Yes if its manager left, or is not trusted. */
static bool may_go(const struct sm *sm, const struct remote_sm *r)
{
	return r->guid != sm->m.elect->polled && r->guid != sm->m.elect->offer.by &&
	       !remote_counts(sm, r);
}

static void clear_row(struct sm *sm, struct remote_sm *r)
{
	mad_cancel(sm->mad, sm, &r->target);
	*r = (struct remote_sm){ 0 };
}

static struct remote_sm *free_row(struct sm *sm)
{
	struct elect *e = sm->m.elect;

	if (e->n_remote < MAX_REMOTE_SMS)
		return &e->remote[e->n_remote++];
	for (unsigned i = 0; i < e->n_remote; i++) {
		if (may_go(sm, &e->remote[i]) && !e->remote[i].asked) {
			clear_row(sm, &e->remote[i]);
			return &e->remote[i];
		}
	}
	return NULL;
}

static struct remote_sm *row_of(struct sm *sm, guid_t guid)
{
	struct remote_sm *r = remote_find(sm, guid);

	if (r)
		return r;
	r = free_row(sm);
	if (r)
		r->guid = guid;
	else if (told_first(&sm->m.elect->told, TOLD_FULL))
		log_on(ABOUT(.id = LOG_ID_MANAGER_REFUSED), LOGB_ERROR,
		       "more than %u subnet managers: those beyond are not looked at",
		       MAX_REMOTE_SMS);
	return r;
}

static bool shows_is_sm(const struct port *p)
{
	return p && (fabric_cap_mask(p) & IB_CAP(IB_CAP_IS_SM));
}

static bool may_count(const struct sm *sm, const struct remote_sm *r)
{
	return r->trust == SM_TRUSTED && !sm->conf->ignore_other_sm &&
	       shows_is_sm(fabric_find_port(sm->fabric, r->guid));
}

bool remote_counts(const struct sm *sm, const struct remote_sm *r)
{
	return r->known && may_count(sm, r);
}

bool remote_is_asked(const struct sm *sm, const struct remote_sm *r)
{
	return r->asked && r->was_known && may_count(sm, r);
}

void remote_free(struct sm *sm)
{
	struct elect *e = sm->m.elect;

	for (unsigned i = 0; i < e->n_remote; i++)
		clear_row(sm, &e->remote[i]);
	e->n_remote = 0;
	conf_guids_clear(&e->allowed);
}

/* Number of times that a manager which asks for the fabric and does nothing with it is believed. */
#define VAIN_MAX 3

/*
 * Number of answers in a row without SM_Key, by which all keys have been tried, until that is
 * logged. A manager hides SM_Key if the M_Key of the question is not that of its port any more.
 */
#define HIDDEN_MAX 3

void remote_failed(struct remote_sm *r)
{
	r->defiant = true;
	r->vain += r->vain < VAIN_MAX;
}

/* ---- trust --------------------------------------------------------------------------------- */

void remote_reconfigured(struct sm *sm, bool other_key)
{
	struct elect *e = sm->m.elect;
	const struct conf_place nowhere = { 0 };
	struct conf_report said_by_conf = { 0 };

	conf_guids_clear(&e->allowed);
	conf_guids_words("allowed_sm_guids", sm->conf->allowed_sm_guids, &nowhere, &e->allowed,
			 &said_by_conf);
	conf_report_clear(&said_by_conf);
	for (unsigned i = 0; i < e->n_remote; i++) {
		struct remote_sm *r = &e->remote[i];

		if (e->allowed.n && !conf_guids_has(&e->allowed, r->guid))
			r->trust = SM_NOT_ALLOWED;
		if (other_key)
			r->proved = false;
	}
}

/*
 * Judges the SM_Key of a manager (testing.md 5.1 #15, #16). A key of 0 here asks for none
 * (handover.md 3).
 */
enum sm_trust remote_trust(const struct sm *sm, guid_t guid, uint64_t key)
{
	uint64_t own = sm_sm_key(sm);

	if (own && key != own)
		return SM_OTHER_KEY;
	if (sm->m.elect->allowed.n && !conf_guids_has(&sm->m.elect->allowed, guid))
		return SM_NOT_ALLOWED;
	return SM_TRUSTED;
}

/* Judges the sender of a Set. A manager that has proved the key before must not show it instead. */
enum sm_trust remote_trust_order(const struct sm *sm, const uint8_t *mad)
{
	const uint8_t *info = smp_data(mad);
	guid_t by = ib_get(info, SMI_GUID);
	const struct remote_sm *r = remote_find(sm, by);

	if (proof_is_order(sm, mad))
		return remote_trust(sm, by, sm_sm_key(sm));
	if (r && r->proved)
		return SM_OTHER_KEY;
	return remote_trust(sm, by, ib_get(info, SMI_SM_KEY));
}

static const char *remote_trust_name(enum sm_trust trust)
{
	switch (trust) {
	case SM_TRUSTED:
		return "is believed";
	case SM_OTHER_KEY:
		return "has another SM_Key";
	case SM_NOT_ALLOWED:
		return "is not in allowed_sm_guids";
	}
	return "?";
}

/* Words for a manager that is trusted without a proof, if sm_key is a secret. */
static const char *how_believed(const struct sm *sm, const struct remote_sm *r)
{
	if (r->proved || !key_is_secret(sm_sm_key(sm)))
		return "";
	return sm->conf->sm_key_shown
		       ? " that shows our SM_Key to every host; it is sent no key"
		       : " that shows our SM_Key to every host, and is not shown it: it takes this "
			 "one for a stranger (sm_key_shown); it is sent no key";
}

/*
 * The level of the record on a trusted manager: a master tells of a new standby; a manager that
 * finds a master logs that it stands by for it.
 */
static unsigned news_bits(const struct sm *sm, const struct remote_sm *r)
{
	return sm->state == SM_MASTER || how_believed(sm, r)[0] ? LOGB_INFO : LOGB_VERBOSE;
}

/* Logs a manager once with its place, and again when place or state change. */
static void report_manager(struct sm *sm, struct remote_sm *r)
{
	char where[PLACE_STRLEN], text[PLACE_STRLEN + 200];
	unsigned more;
	uint64_t h;

	guid_place_str(sm, r->guid, where);
	if (r->trust == SM_TRUSTED)
		snprintf(text, sizeof(text), "%s: another subnet manager is here, of priority %u%s",
			 where, r->priority, how_believed(sm, r));
	else
		snprintf(text, sizeof(text),
			 "%s: a subnet manager of priority %u %s: what it says is ignored; stop it "
			 "if it is not one of yours",
			 where, r->priority, remote_trust_name(r->trust));
	/* Is there anything new to log? The claims of an untrusted manager are not. */
	h = hash_bytes(HASH_START, where, strlen(where)) + r->trust;
	if (r->trust == SM_TRUSTED)
		h = hash_bytes(HASH_START, text, strlen(text));
	if (r->told == h || (r->hidden && r->hidden < HIDDEN_MAX) ||
	    !log_allow(&sm->m.elect->rogue_log, sm->now, &more))
		return;
	r->told = h;
	if (r->trust == SM_TRUSTED)
		log_on(about_guid(sm, LOG_ID_MANAGER_SEEN, r->guid), news_bits(sm, r), "%s", text);
	else
		log_on(about_guid(sm, LOG_ID_MANAGER_REFUSED, r->guid), LOGB_ERROR, "%s", text);
	if (more)
		log_error("%u similar records about subnet managers were left out", more);
}

/* ---- events and lists ---------------------------------------------------------------------- */

/* A hash of what the log would say on a manager; 0: nothing. */
static unsigned view_of(const struct sm *sm, const struct remote_sm *r, const struct port *p)
{
	if (!r->guid || !r->known || !p || !(fabric_cap_mask(p) & IB_CAP(IB_CAP_IS_SM)))
		return 0;
	return 1u + r->trust + 4u * r->state + 16u * r->priority;
}

static void tell_manager(struct sm *sm, struct remote_sm *r)
{
	const struct port *p = fabric_find_port(sm->fabric, r->guid);
	unsigned view = view_of(sm, r, p);
	char where[PLACE_STRLEN], text[PLACE_STRLEN + 120];
	struct sm_event e = {
		.kind = SM_EVENT_MANAGER,
		.manager = { .guid = r->guid,
			     .state = r->state,
			     .priority = r->priority,
			     .gone = !view,
			     .text = text },
	};

	if (!sm->hooks.event || view == r->event_told || (r->asked && p))
		return;
	r->event_told = view;
	guid_place_str(sm, r->guid, where);
	if (view)
		snprintf(text, sizeof(text), "%s: %s, priority %u, %s", where,
			 sm_state_name(r->state), r->priority, remote_trust_name(r->trust));
	else
		snprintf(text, sizeof(text), "%s: no subnet manager is there any more", where);
	event_raise(sm, &e);
}

void elect_tell_managers(struct sm *sm)
{
	for (unsigned i = 0; i < sm->m.elect->n_remote; i++)
		tell_manager(sm, &sm->m.elect->remote[i]);
}

/* The n-th manager that is present; rows outlive their managers. */
static const struct remote_sm *present_at(const struct sm *sm, unsigned n)
{
	for (unsigned i = 0; i < sm->m.elect->n_remote; i++) {
		const struct port *p = fabric_find_port(sm->fabric, sm->m.elect->remote[i].guid);

		if (p && (fabric_cap_mask(p) & IB_CAP(IB_CAP_IS_SM)) && !n--)
			return &sm->m.elect->remote[i];
	}
	return NULL;
}

bool sm_manager_at(const struct sm *sm, unsigned n, struct sm_manager *ret)
{
	const struct remote_sm *r = present_at(sm, n);

	if (!r)
		return false;
	*ret = (struct sm_manager){
		.guid = r->guid,
		.state = r->state,
		.priority = r->priority,
		.known = r->known,
		.heard = r->heard,
		.polled = sm->m.elect->polled == r->guid,
		.trust = r->trust == SM_TRUSTED ? NULL : remote_trust_name(r->trust),
		.shows_key = r->trust == SM_TRUSTED && !r->proved && key_is_secret(sm_sm_key(sm)),
	};
	guid_place_str(sm, r->guid, ret->where);
	return true;
}

bool elect_is_listed(const struct sm *sm, guid_t port_guid)
{
	return conf_guids_has(&sm->m.elect->allowed, port_guid);
}

bool elect_is_allowed(const struct sm *sm, guid_t port_guid)
{
	return remote_trust(sm, port_guid, sm_sm_key(sm)) == SM_TRUSTED;
}

bool elect_is_manager(const struct sm *sm, guid_t port_guid)
{
	const struct remote_sm *r = remote_find(sm, port_guid);

	return r && remote_counts(sm, r);
}

bool elect_has_proved(const struct sm *sm, guid_t port_guid)
{
	const struct remote_sm *r = remote_find(sm, port_guid);

	return r && r->proved && r->trust == SM_TRUSTED;
}

unsigned elect_managers(const struct sm *sm, struct view_sm *ret)
{
	unsigned n = 0;

	ret[n++] = (struct view_sm){
		.guid = sm->tr->port_guid,
		.act_count = (uint32_t)mad_sent(sm->mad, 0), /* 14.2.5.13: grows with every SMP */
		.priority = sm_told_priority(sm),
		.state = sm->state,
	};
	for (unsigned i = 0; i < sm->m.elect->n_remote; i++) {
		const struct remote_sm *r = &sm->m.elect->remote[i];

		if (remote_counts(sm, r))
			ret[n++] = (struct view_sm){
				.guid = r->guid,
				.priority = r->priority,
				.state = r->state,
			};
	}
	return n;
}

static bool may_take_over(const struct sm *sm, const struct remote_sm *r)
{
	return r->guid && r->trust == SM_TRUSTED && !sm->conf->ignore_other_sm &&
	       (r->asked || (r->known && r->state != SM_NOT_ACTIVE)) &&
	       shows_is_sm(fabric_find_port(sm->fabric, r->guid));
}

static bool is_in_sight(const struct sm *sm, const struct remote_sm *r)
{
	return may_take_over(sm, r) && (r->known || !r->unanswered);
}

guid_t elect_in_sight(const struct sm *sm, unsigned n)
{
	const struct elect *e = sm->m.elect;

	for (unsigned i = 0; i < e->n_remote; i++) {
		if (is_in_sight(sm, &e->remote[i]) && !n--)
			return e->remote[i].guid;
	}
	return 0;
}

guid_t elect_successor_at(const struct sm *sm, unsigned n)
{
	const struct elect *e = sm->m.elect;

	for (unsigned i = 0; i < e->n_remote; i++) {
		if (may_take_over(sm, &e->remote[i]) && !n--)
			return e->remote[i].guid;
	}
	return 0;
}

unsigned elect_successors(const struct sm *sm, guid_t *ret)
{
	const struct elect *e = sm->m.elect;
	unsigned n = 0;

	for (unsigned i = 0; i < e->n_remote; i++) {
		if (may_take_over(sm, &e->remote[i]))
			ret[n++] = e->remote[i].guid;
	}
	return n;
}

/* ---- questions ----------------------------------------------------------------------------- */

static void note_hidden(const struct sm *sm, struct remote_sm *r, const uint8_t *info)
{
	bool hidden = sm_sm_key(sm) && sm->conf->m_key_protection_level &&
		      !ib_get(info, SMI_SM_KEY) && !proof_is_carried(info);

	r->hidden = hidden ? (uint8_t)MIN(r->hidden + 1, HIDDEN_MAX) : 0;
}

static void note_proof(const struct sm *sm, struct remote_sm *r, uint64_t nonce,
		       const uint8_t *info)
{
	r->proved = proof_is_answer(sm, nonce, info);
	r->challenge = r->proved ? ib_get(info, SMX_NONCE) : 0;
	r->trust = remote_trust(sm, r->guid,
				r->proved ? sm_sm_key(sm) : ib_get(info, SMI_SM_KEY));
}

/*
 * Pause before a manager that is DISCOVERING is asked again, doubled each time: it does not report
 * when it becomes STANDBY, and only then can it get the fabric.
 */
#define LOOK_PAUSE (100 * MONO_MS)
#define LOOKS_MAX 7 /* up to 12.7 s; afterwards sweeps ask */

static void note_discovering(const struct sm *sm, struct remote_sm *r)
{
	bool discovers = r->state == SM_DISCOVERING && r->trust == SM_TRUSTED;

	r->looks = discovers ? r->looks : 0;
	r->look_at = discovers && r->looks < LOOKS_MAX ? sm->now + (LOOK_PAUSE << r->looks) : 0;
}

struct remote_sm *remote_learn(struct sm *sm, guid_t guid, uint64_t nonce, const uint8_t *info)
{
	struct remote_sm *r = row_of(sm, guid);
	uint8_t priority = ib_get(info, SMI_PRIORITY), state = ib_get(info, SMI_STATE);

	if (!r || ib_get(info, SMI_GUID) != guid || guid == sm->tr->port_guid || state > SM_MASTER)
		return NULL;
	if (r->state != state || r->priority != priority)
		r->defiant = false;
	note_proof(sm, r, nonce, info);
	if (r->proved && r->trust == SM_TRUSTED)
		tell_news(sm, NEWS_EPOCH_TOLD, .bytes = info);
	note_hidden(sm, r, info);
	r->priority = priority;
	r->state = state;
	r->known = r->heard = true;
	note_discovering(sm, r);
	report_manager(sm, r);
	tell_manager(sm, r);
	if (r->trust != SM_TRUSTED && !r->hidden &&
	    fabric_find_port(sm->fabric, guid))
		tell_news(sm, NEWS_VIOLATION, .number = VIOLATION_MANAGER, .flag = true,
			  .port = fabric_find_port(sm->fabric, guid));
	if (r->trust == SM_TRUSTED && r->proved)
		keys_manager_met(sm, guid);
	if (r->trust == SM_TRUSTED && sm->state == SM_MASTER) {
		if (r->state == SM_MASTER)
			elect_met_rival(sm);
		sm->m.elect->decide_pending = true;
	}
	return r;
}

static void on_sm_info(void *owner, const struct mad_result *result)
{
	struct sm *sm = owner;
	struct remote_sm *r = result->arg;

	if (r->asked == ASKED_WAITED_FOR)
		discover_answered(sm);
	r->asked = ASKED_NOT;
	if (elect_key_is_doubtful(sm, result))
		elect_doubt(sm, r->guid, result->m_key);
	if (result->end == MAD_END_TIMEOUT)
		r->looks = 0;
	if (result->end == MAD_END_TIMEOUT && r->unanswered < SILENT_AFTER)
		r->unanswered++;
	else if (result->end != MAD_END_TIMEOUT && result->end != MAD_END_CANCELLED)
		r->unanswered = 0;
	if (result->end != MAD_END_ANSWERED ||
	    !remote_learn(sm, r->guid, r->nonce, result->payload))
		return;
	observe_is_sm(fabric_find_port(sm->fabric, r->guid));
	offer_answered(sm, r);
}

static bool ask_manager(struct sm *sm, struct remote_sm *r, struct port *p)
{
	struct dr_path path;
	uint8_t info[SMP_DATA_SIZE];
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_SM_INFO,
		.path = &path,
		.m_key = elect_mkey(sm, p),
		.payload = info,
		.target = &r->target,
	};

	if (r->asked)
		return true;
	if (fabric_port_path(sm->fabric, p, &path) < 0)
		return false;
	mad_target_revive(&r->target);
	r->was_known = r->known;
	r->known = false;
	r->asked = ASKED;
	r->nonce = proof_nonce(sm);
	proof_ask(sm, r->guid, r->nonce, info);
	mad_submit(sm->mad, &rq, on_sm_info, sm, r);
	return true;
}

bool remote_ask(struct sm *sm, struct port *p)
{
	struct remote_sm *r = row_of(sm, p->guid);

	return r && ask_manager(sm, r, p);
}

/* Asks a manager during discovery, which does not wait for the answer. */
void elect_ask(struct sm *sm, struct port *p)
{
	struct remote_sm *r;

	if (sm->conf->ignore_other_sm || !p->guid || p->guid == sm->tr->port_guid)
		return;
	r = row_of(sm, p->guid);
	if (!r || !ask_manager(sm, r, p) || r->asked == ASKED_WAITED_FOR ||
	    r->unanswered == SILENT_AFTER)
		return;
	r->asked = ASKED_WAITED_FOR;
	discover_waits(sm);
}

void elect_ask_all(struct sm *sm)
{
	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (p->known && (ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
			elect_ask(sm, p);
	}
}

void elect_node_goes(struct sm *sm, struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct remote_sm *r = n->ports[i].guid ? remote_find(sm, n->ports[i].guid) : NULL;

		if (r)
			r->unanswered = 0;
	}
}

/* Asks a manager; elect_tick() handles the answer. One that had failed gets another chance. */
void elect_look_at(struct sm *sm, struct port *p)
{
	struct remote_sm *r;

	if (sm->state != SM_MASTER || sm->conf->ignore_other_sm || !p->guid || !p->known ||
	    p->guid == sm->tr->port_guid)
		return;
	r = row_of(sm, p->guid);
	if (!r)
		return;
	r->defiant = r->defiant && r->vain == VAIN_MAX;
	ask_manager(sm, r, p);
}

void remote_tick(struct sm *sm)
{
	for (unsigned i = 0; i < sm->m.elect->n_remote && sm->state == SM_MASTER; i++) {
		struct remote_sm *r = &sm->m.elect->remote[i];
		struct port *p = fabric_find_port(sm->fabric, r->guid);

		if (!r->look_at || sm->now < r->look_at)
			continue;
		r->look_at = 0;
		r->looks++;
		if (shows_is_sm(p))
			ask_manager(sm, r, p);
	}
}

mono_t remote_next(const struct sm *sm)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < sm->m.elect->n_remote && sm->state == SM_MASTER; i++) {
		if (sm->m.elect->remote[i].look_at)
			next = mono_min(next, sm->m.elect->remote[i].look_at);
	}
	return next;
}
