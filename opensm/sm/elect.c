// SPDX-License-Identifier: BSD-2-Clause
/*
 * Election: who is master (IBA 14.4.1, handover.md).
 *
 *   DISCOVERING --nobody better--> MASTER <---Set HANDOVER--- STANDBY
 *        ^   \--a master, or somebody greater--> STANDBY         |
 *        \------ the polled SM stays silent ---------------------/
 *   MASTER --somebody greater is seen: Set HANDOVER--> STANDBY
 *   NOT-ACTIVE: sm_inactive, answers only
 *
 * Greater: higher priority, then lower port GUID. An SM with another SM_Key is not obeyed.
 */
#include <inttypes.h>
#include <string.h>

#include "sm/impl.h"

const char *sm_state_name(enum sm_state s)
{
	switch (s) {
	case SM_NOT_ACTIVE:
		return "NOTACTIVE";
	case SM_DISCOVERING:
		return "DISCOVERING";
	case SM_STANDBY:
		return "STANDBY";
	case SM_MASTER:
		return "MASTER";
	}
	return "?";
}

void sm_enter(struct sm *sm, enum sm_state next)
{
	if (sm->state == next)
		return;
	if (sm->state == SM_STANDBY)
		prepare_left_standby(sm);
	sm->state = next;
	log_sys("Entering %s state", sm_state_name(next));
	sm->poll_misses = 0;
	sm->poll_at = sm->now + (mono_t)sm->conf->sminfo_polling_timeout * MONO_MS;
	if (next == SM_MASTER) {
		sm->registry++;
	} else {
		sm->first_sweep_done = false;
		multicast_stop(sm);
		admin_withdraw(sm);
	}
	replica_state_changed(sm);
}

bool elect_may_write(void *owner)
{
	const struct sm *sm = owner;

	return sm->state == SM_MASTER;
}

static bool is_greater(const struct sm *sm, const struct remote_sm *r)
{
	unsigned own = sm->conf->sm_priority & 0xF;

	return r->priority > own || (r->priority == own && r->guid < sm->tr->port_guid);
}

static struct remote_sm *remote_of(struct sm *sm, guid_t guid)
{
	for (unsigned i = 0; i < sm->n_remote; i++) {
		if (sm->remote[i].guid == guid)
			return &sm->remote[i];
	}
	for (unsigned i = 0; i < sm->n_remote && sm->n_remote == MAX_REMOTE_SMS; i++) {
		if (sm->remote[i].seen + 1 < sm->sweep_no) {
			sm->remote[i] = (struct remote_sm){ .guid = guid };
			return &sm->remote[i];
		}
	}
	if (sm->n_remote == MAX_REMOTE_SMS)
		return NULL;
	memset(&sm->remote[sm->n_remote], 0, sizeof(sm->remote[0]));
	sm->remote[sm->n_remote].guid = guid;
	return &sm->remote[sm->n_remote++];
}

/* Takes in an SMInfo that `p` answered with. NULL: it is not to be believed. */
static struct remote_sm *learn(struct sm *sm, const struct port *p, const uint8_t *info)
{
	char where[PORT_STRLEN];
	guid_t guid = ib_get(info, SMI_GUID);
	struct remote_sm *r;
	bool foreign = sm->conf->sm_key && ib_get(info, SMI_SM_KEY) != sm->conf->sm_key;

	if (guid != p->guid || guid == sm->tr->port_guid)
		return NULL;
	r = remote_of(sm, guid);
	if (!r)
		return NULL;
	if (foreign && !r->foreign_key)
		log_error("%s: a subnet manager with another SM_Key is there; it is not obeyed",
			  fabric_port_str(p, where));
	r->foreign_key = foreign;
	r->priority = ib_get(info, SMI_PRIORITY);
	r->state = ib_get(info, SMI_STATE);
	r->seen = sm->sweep_no;
	if (r->state == SM_MASTER && sm->state == SM_MASTER && !foreign)
		sm->rival_seen = true;
	return r;
}

static void on_sm_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	const struct port *p = r->arg;

	sm->discover_pending--;
	if (r->end == MAD_END_ANSWERED)
		learn(sm, p, r->payload);
}

static bool get_sm_info(struct sm *sm, struct port *p, mad_done_fn fn)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_SM_INFO,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
	};

	if (fabric_port_path(sm->fabric, p, &path) < 0)
		return false;
	mad_submit(sm->mad, &rq, fn, sm, p);
	return true;
}

void elect_ask(struct sm *sm, struct port *p)
{
	if (!sm->conf->ignore_other_sm && get_sm_info(sm, p, on_sm_info))
		sm->discover_pending++;
}

static void fill_sm_info(const struct sm *sm, uint8_t *info, bool with_key)
{
	memset(info, 0, SMP_DATA_SIZE);
	ib_put(info, SMI_GUID, sm->tr->port_guid);
	ib_put(info, SMI_SM_KEY, with_key ? sm->conf->sm_key : 0);
	ib_put(info, SMI_ACT_COUNT, mad_sent(sm->mad, 0) & 0xFFFFFFFFu);
	ib_put(info, SMI_PRIORITY, sm->conf->sm_priority & 0xF);
	ib_put(info, SMI_STATE, sm->state);
}

/* Modifiers of Set(SMInfo), 14.4.1.3. */
enum sm_info_set { SMI_HANDOVER = 1, SMI_ACKNOWLEDGE, SMI_DISABLE, SMI_STANDBY, SMI_DISCOVER };

/* An answer would change nothing: we stand by in any case, and watch what becomes of it. */
static void on_handed_over(void *owner, const struct mad_result *r)
{
}

static void hand_over(struct sm *sm, struct port *p)
{
	uint8_t info[SMP_DATA_SIZE];
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_SM_INFO,
		.mod = SMI_HANDOVER,
		.path = &path,
		.payload = info,
	};

	if (fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	fill_sm_info(sm, info, true);
	sync_command(sm->sync, p, &rq, on_handed_over, sm, p);
}

static void stand_by(struct sm *sm, const struct remote_sm *r)
{
	struct port *p = fabric_find_port(sm->fabric, r->guid);
	char where[PORT_STRLEN];

	log_info("%s: subnet manager of priority %u is %s; we %sstand by",
		 p ? fabric_port_str(p, where) : "?", r->priority, sm_state_name(r->state & 3),
		 sm->state == SM_MASTER ? "hand over and " : "");
	if (p && sm->state == SM_MASTER)
		hand_over(sm, p);
	sm->polled = r->guid;
	sm_enter(sm, SM_STANDBY);
}

/* What a remote SM means to us (handover.md 3). */
static bool must_yield(const struct sm *sm, const struct remote_sm *r)
{
	if (r->foreign_key || r->seen != sm->sweep_no)
		return false;
	switch ((enum sm_state)r->state) {
	case SM_NOT_ACTIVE:
		return false;
	case SM_DISCOVERING:
	case SM_STANDBY:
		return is_greater(sm, r);
	case SM_MASTER:
		return sm->state != SM_MASTER || is_greater(sm, r);
	}
	return false;
}

void elect_carry_over(struct sm *sm, uint32_t from)
{
	for (unsigned i = 0; i < sm->n_remote; i++) {
		if (sm->remote[i].seen == from)
			sm->remote[i].seen = sm->sweep_no;
	}
}

bool elect_must_decide(const struct sm *sm)
{
	for (unsigned i = 0; i < sm->n_remote && !sm->conf->ignore_other_sm; i++) {
		if (must_yield(sm, &sm->remote[i]))
			return true;
	}
	return false;
}

static void on_look(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	const struct port *p = fabric_find_port(sm->fabric, sm->looked_at);

	sm->looked_at = 0;
	if (p && r->end == MAD_END_ANSWERED && learn(sm, p, r->payload) && elect_must_decide(sm))
		sweep_want(sm, SWEEP_HEAVY, "another subnet manager");
}

void elect_look_at(struct sm *sm, struct port *p)
{
	if (sm->state != SM_MASTER || sm->conf->ignore_other_sm || sm->looked_at || !p->guid ||
	    p == sm->fabric->own_port)
		return;
	if (get_sm_info(sm, p, on_look))
		sm->looked_at = p->guid;
}

bool elect_decide(struct sm *sm)
{
	for (unsigned i = 0; i < sm->n_remote && !sm->conf->ignore_other_sm; i++) {
		if (must_yield(sm, &sm->remote[i])) {
			stand_by(sm, &sm->remote[i]);
			return false;
		}
	}
	sm_enter(sm, SM_MASTER);
	return true;
}

static void take_over(struct sm *sm, const char *why)
{
	sm_enter(sm, SM_DISCOVERING);
	sweep_want(sm, SWEEP_HEAVY, why);
}

static void on_poll(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	/* Not r->arg: the port may have gone and come back while the answer was on its way. */
	const struct port *p = fabric_find_port(sm->fabric, sm->polled);
	const struct remote_sm *known = NULL;

	sm->poll_pending = false;
	sm->poll_at = r->now + (mono_t)sm->conf->sminfo_polling_timeout * MONO_MS;
	if (sm->state != SM_STANDBY)
		return;
	if (p && r->end == MAD_END_ANSWERED)
		known = learn(sm, p, r->payload);
	if (!known) {
		if (++sm->poll_misses > sm->conf->polling_retry_number)
			take_over(sm, "the master does not answer any more");
		return;
	}
	sm->poll_misses = 0;
	if (known->state == SM_NOT_ACTIVE || (known->state != SM_MASTER && !is_greater(sm, known)))
		take_over(sm, "the master has stepped down");
}

void elect_tick(struct sm *sm)
{
	struct port *p;

	if (sm->state != SM_STANDBY || sm->poll_pending || sm->now < sm->poll_at)
		return;
	p = fabric_find_port(sm->fabric, sm->polled);
	if (p && get_sm_info(sm, p, on_poll))
		sm->poll_pending = true;
	else
		take_over(sm, "the way to the master is lost");
}

mono_t elect_next(const struct sm *sm)
{
	return sm->state == SM_STANDBY && !sm->poll_pending ? sm->poll_at : MONO_NEVER;
}

/* HANDOVER is the one command obeyed so far, from a master that knows our key. */
static bool set_is_legal(const struct sm *sm, const uint8_t *mad)
{
	const uint8_t *info = smp_data(mad);

	return ib_get(mad, SMP_ATTR_MOD) == SMI_HANDOVER && ib_get(info, SMI_STATE) == SM_MASTER &&
	       ib_get(info, SMI_SM_KEY) == sm->conf->sm_key && sm->state != SM_NOT_ACTIVE;
}

/* The answer is sent before it is acted upon: it carries the old state. */
void elect_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *mad)
{
	uint8_t answer[MAD_SIZE], info[SMP_DATA_SIZE];
	bool set = ib_get(mad, SMP_METHOD) == MAD_SET;
	bool legal = !set || set_is_legal(sm, mad);
	bool key_ok = !sm->conf->m_key || ib_get(mad, SMP_M_KEY) == sm->conf->m_key;

	if (!key_ok &&
	    (set ? sm->conf->m_key_protection_level > 0 : sm->conf->m_key_protection_level > 1))
		return;
	fill_sm_info(sm, info, key_ok || sm->conf->m_key_protection_level == 0);
	memcpy(answer, mad, sizeof(answer));
	smp_make_response(answer, legal ? 0 : MAD_STATUS_BAD_VALUE, info);
	mad_send_once(sm->mad, from, answer);
	if (set && legal && sm->state != SM_MASTER) {
		log_info("mastership is handed over to us by the subnet manager 0x%016" PRIx64,
			 (guid_t)ib_get(smp_data(mad), SMI_GUID));
		sm_enter(sm, SM_MASTER);
	}
	if (set && legal) {
		sm->rival_seen = true;
		sweep_want(sm, SWEEP_HEAVY, "handover");
	}
}
