// SPDX-License-Identifier: BSD-2-Clause
/*
 * Other subnet managers: who is known, what they said last, and whether to believe them.
 *
 * A row belongs to an end port. What it says counts while the last question to it was answered and the
 * port shows IsSM: when a sweep asks again, the row counts for nothing until the answer is there, so that no
 * decision rests on what was. Who has another SM_Key, or is not in allowed_sm_guids, is said with its
 * place, and is nobody to us.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/elect.h"
#include "sm/say.h"
#include "sm/events.h"
#include "util/mem.h"

/* ---- rows ---------------------------------------------------------------------------------- */

struct remote_sm *remote_find(struct sm *sm, guid_t guid)
{
	for (unsigned i = 0; i < sm->n_remote && guid; i++) {
		if (sm->remote[i].guid == guid)
			return &sm->remote[i];
	}
	return NULL;
}

/* Nobody is left without a row because of one who left, or whom we do not obey anyway. */
static bool may_go(const struct sm *sm, const struct remote_sm *r)
{
	return r->guid != sm->polled && r->guid != sm->offer.by && !remote_counts(sm, r);
}

static void clear(struct sm *sm, struct remote_sm *r)
{
	mad_cancel(sm->mad, sm, &r->target);
	*r = (struct remote_sm){ 0 };
}

static struct remote_sm *free_row(struct sm *sm)
{
	if (sm->n_remote < MAX_REMOTE_SMS)
		return &sm->remote[sm->n_remote++];
	for (unsigned i = 0; i < sm->n_remote; i++) {
		if (may_go(sm, &sm->remote[i]) && !sm->remote[i].asking) {
			clear(sm, &sm->remote[i]);
			return &sm->remote[i];
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
	else if (!sm->remote_full_told)
		log_on(ABOUT(.id = LOG_ID_MANAGER_REFUSED), LOGB_ERROR,
		       "more than %u subnet managers: those beyond are not looked at",
		       MAX_REMOTE_SMS);
	sm->remote_full_told |= !r;
	return r;
}

static bool shows_is_sm(const struct port *p)
{
	return p && (fabric_cap_mask(p) & IB_CAP(IB_CAP_IS_SM));
}

bool remote_counts(const struct sm *sm, const struct remote_sm *r)
{
	return r->known && r->trust == SM_TRUSTED && !sm->conf->ignore_other_sm &&
	       shows_is_sm(fabric_find_port(sm->fabric, r->guid));
}

void remote_free(struct sm *sm)
{
	for (unsigned i = 0; i < sm->n_remote; i++)
		clear(sm, &sm->remote[i]);
	sm->n_remote = 0;
	conf_guids_clear(&sm->allowed_sms);
}

/* Times that a subnet manager is believed which asks for the fabric and then does nothing with it. */
#define VAIN_MAX 3

void remote_failed(struct remote_sm *r)
{
	r->defiant = true;
	r->vain += r->vain < VAIN_MAX;
}

/* ---- trust --------------------------------------------------------------------------------- */

void remote_reconfigured(struct sm *sm)
{
	const struct conf_place nowhere = { 0 };
	struct conf_report said_by_conf = { 0 };

	conf_guids_clear(&sm->allowed_sms);
	conf_guids_words("allowed_sm_guids", sm->conf->allowed_sm_guids, &nowhere, &sm->allowed_sms,
			 &said_by_conf);
	conf_report_clear(&said_by_conf);
	for (unsigned i = 0; i < sm->n_remote; i++) {
		struct remote_sm *r = &sm->remote[i];

		if (sm->allowed_sms.n && !conf_guids_has(&sm->allowed_sms, r->guid))
			r->trust = SM_NOT_ALLOWED;
	}
}

/* testing.md 5.1 #15, #16. A key of 0 asks for none (handover.md 3). */
enum sm_trust remote_trust(const struct sm *sm, guid_t guid, uint64_t key)
{
	if (sm->conf->sm_key && key != sm->conf->sm_key)
		return SM_OTHER_KEY;
	if (sm->allowed_sms.n && !conf_guids_has(&sm->allowed_sms, guid))
		return SM_NOT_ALLOWED;
	return SM_TRUSTED;
}

const char *remote_trust_name(enum sm_trust trust)
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

char *remote_where(const struct port *p, guid_t guid, char ret[REMOTE_STRLEN])
{
	if (p)
		fabric_place_str(p, ret);
	else
		snprintf(ret, REMOTE_STRLEN, "0x%016" PRIx64 ", which is not known in this fabric",
			 guid);
	return ret;
}

/* FNV-1a: is there anything new to say of it? */
static uint64_t hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ull;
	return h;
}

/* Once with its place, and again when that, or what it is, changes. */
static void report(struct sm *sm, struct remote_sm *r)
{
	char where[REMOTE_STRLEN], text[REMOTE_STRLEN + 160];
	unsigned more;
	uint64_t h;

	remote_where(fabric_find_port(sm->fabric, r->guid), r->guid, where);
	if (r->trust == SM_TRUSTED)
		snprintf(text, sizeof(text), "%s: a subnet manager of priority %u", where,
			 r->priority);
	else
		snprintf(text, sizeof(text),
			 "%s: a subnet manager of priority %u that %s; it is not obeyed", where,
			 r->priority, remote_trust_name(r->trust));
	h = hash_text(text);
	if (r->told == h || !log_allow(&sm->rogue_log, sm->now, &more))
		return;
	r->told = h;
	if (r->trust == SM_TRUSTED)
		log_on(about_guid(sm, LOG_ID_MANAGER_SEEN, r->guid), LOGB_INFO, "%s", text);
	else
		log_on(about_guid(sm, LOG_ID_MANAGER_REFUSED, r->guid), LOGB_ERROR, "%s", text);
	if (more)
		log_error("%u similar records about subnet managers were left out", more);
}

/* ---- questions ----------------------------------------------------------------------------- */

struct remote_sm *remote_learn(struct sm *sm, guid_t guid, const uint8_t *info)
{
	struct remote_sm *r = row_of(sm, guid);
	uint8_t priority = ib_get(info, SMI_PRIORITY), state = ib_get(info, SMI_STATE);

	if (!r || ib_get(info, SMI_GUID) != guid || guid == sm->tr->port_guid || state > SM_MASTER)
		return NULL;
	if (r->state != state || r->priority != priority)
		r->defiant = false;
	r->trust = remote_trust(sm, guid, ib_get(info, SMI_SM_KEY));
	r->priority = priority;
	r->state = state;
	r->known = true;
	report(sm, r);
	event_manager(sm, r);
	if (r->trust == SM_TRUSTED && sm->state == SM_MASTER) {
		sm->rival_seen |= r->state == SM_MASTER;
		sm->decide_pending = true;
	}
	return r;
}

/* Who answers SMInfo has an SM, whether PortInfo was read since it came up or not. */
static void show_is_sm(struct port *p)
{
	if (p && p->known)
		ib_put(p->info, PI_CAP_MASK, ib_get(p->info, PI_CAP_MASK) | IB_CAP(IB_CAP_IS_SM));
}

static void on_sm_info(void *owner, const struct mad_result *result)
{
	struct sm *sm = owner;
	struct remote_sm *r = result->arg;

	if (r->counted)
		sm->discover_pending--;
	r->asking = r->counted = false;
	if (result->end == MAD_END_TIMEOUT)
		r->unanswered += r->unanswered < SILENT_AFTER;
	else if (result->end != MAD_END_CANCELLED)
		r->unanswered = 0;
	if (result->end != MAD_END_ANSWERED || !remote_learn(sm, r->guid, result->payload))
		return;
	show_is_sm(fabric_find_port(sm->fabric, r->guid));
	offer_answered(sm, r);
}

static bool ask(struct sm *sm, struct remote_sm *r, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_SM_INFO,
		.path = &path,
		.m_key = elect_mkey(sm, p),
		.target = &r->target,
	};

	if (r->asking)
		return true;
	if (fabric_port_path(sm->fabric, p, &path) < 0)
		return false;
	mad_target_revive(&r->target);
	r->known = false;
	r->asking = true;
	mad_submit(sm->mad, &rq, on_sm_info, sm, r);
	return true;
}

bool remote_ask(struct sm *sm, struct port *p)
{
	struct remote_sm *r = row_of(sm, p->guid);

	return r && ask(sm, r, p);
}

/* Nobody waits for the answer of one who never answers: when it does, that is looked at by itself. */
void elect_ask(struct sm *sm, struct port *p)
{
	struct remote_sm *r;

	if (sm->conf->ignore_other_sm || !p->guid || p->guid == sm->tr->port_guid)
		return;
	r = row_of(sm, p->guid);
	if (!r || !ask(sm, r, p) || r->counted || r->unanswered == SILENT_AFTER)
		return;
	r->counted = true;
	sm->discover_pending++;
}

void elect_ask_all(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (port_is_end(p) && p->known &&
			    (ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
				elect_ask(sm, p);
		}
	}
}

/* The answer is looked at by elect_tick(). Who had failed gets another chance. */
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
	ask(sm, r, p);
}
