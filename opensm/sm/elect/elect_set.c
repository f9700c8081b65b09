// SPDX-License-Identifier: BSD-2-Clause
/*
 * Get and Set of SMInfo from any sender (handover.md 2; testing.md 5.1 #14, #15).
 *
 * Get is answered in every state. A Set is obeyed if it is legal by the standard, proves that its
 * sender knows our SM_Key (elect_proof.c; a foreign manager shows it), and comes from a subnet
 * manager that we know, and where it takes a standby out of duty, from the very one we watch. A
 * LID-routed Set comes from the LID of the port it names; a directed one shows no sender, so that
 * the fabric is never taken from a greater master on its word alone: it is asked whether it is
 * MASTER still.
 *
 * The answer is sent before anything is done, and carries the old state.
 */
#include <inttypes.h>
#include <string.h>

#include "sm/elect/elect_internal.h"
#include "sm/base/about.h"
#include "sm/base/keys.h"
#include "sm/base/news.h"
#include "util/mem.h"

#define STATE(s)    (1u << (s))
#define OFFER_TRIES 3 /* questions to a master that hands over */

static void obey_handover(struct sm *sm, guid_t by);
static void obey_disable(struct sm *sm, guid_t by);
static void obey_standby(struct sm *sm, guid_t by);
static void obey_discover(struct sm *sm, guid_t by);

/* Set of SMInfo by modifier (14.4.1.3, table in handover.md 2). */
static const struct command {
	const char *name;
	enum sm_state sender; /* state of the sender in its SMInfo */
	unsigned own;	      /* states in which it is legal: STATE() */
	bool from_master;     /* accepted only from the manager that we poll */
	void (*obey)(struct sm *sm, guid_t by);
} commands[] = {
	[SMI_HANDOVER] = { "HANDOVER", SM_MASTER,
			   STATE(SM_DISCOVERING) | STATE(SM_STANDBY) | STATE(SM_MASTER), false,
			   obey_handover },
	[SMI_ACKNOWLEDGE] = { "ACKNOWLEDGE", SM_STANDBY, STATE(SM_STANDBY), false, NULL },
	[SMI_DISABLE] = { "DISABLE", SM_MASTER, STATE(SM_STANDBY), true, obey_disable },
	[SMI_STANDBY] = { "STANDBY", SM_MASTER, STATE(SM_NOT_ACTIVE), false, obey_standby },
	[SMI_DISCOVER] = { "DISCOVER", SM_MASTER, STATE(SM_STANDBY), true, obey_discover },
};

/* ---- a HANDOVER that is looked into --------------------------------------------------------- */

static mono_t answer_time(const struct sm *sm)
{
	return (mono_t)sm->conf->transaction_timeout * MONO_MS;
}

static void ask_offerer(struct sm *sm)
{
	struct sm_offer *offer = &sm->m.elect->offer;
	struct port *p = fabric_find_port(sm->fabric, offer->by);

	offer->asked++;
	offer->until = sm->now + answer_time(sm);
	if (!p || !remote_ask(sm, p))
		offer->until = sm->now;
}

static void look_into(struct sm *sm, guid_t by)
{
	if (sm->m.elect->offer.by == by)
		return;
	sm->m.elect->offer = (struct sm_offer){ .by = by };
	ask_offerer(sm);
}

void offer_answered(struct sm *sm, const struct remote_sm *r)
{
	char where[PLACE_STRLEN];

	if (r->guid != sm->m.elect->offer.by || r->trust != SM_TRUSTED)
		return;
	if (r->state != SM_MASTER) {
		elect_accept(sm, "handover");
	} else if (sm->m.elect->offer.asked > 1) {
		log_on(about_guid(sm, LOG_ID_MANAGER_REFUSED, r->guid), LOGB_ERROR,
		       "%s: a HANDOVER came in the name of this subnet manager, which is MASTER "
		       "still: nothing is taken over",
		       guid_place_str(sm, r->guid, where));
		sm->m.elect->offer.by = 0;
	}
}

/* Asks the manager that hands over twice, as it may not have stepped down yet. */
void offer_tick(struct sm *sm)
{
	const struct remote_sm *r = remote_find(sm, sm->m.elect->offer.by);

	if (!sm->m.elect->offer.by || sm->now < sm->m.elect->offer.until)
		return;
	if (!r || !r->known || r->state != SM_MASTER)
		elect_accept(sm, "handover from a master that has gone");
	else if (sm->m.elect->offer.asked < OFFER_TRIES)
		ask_offerer(sm);
	else /* it cannot be asked, so polls decide */
		sm->m.elect->offer.by = 0;
}

mono_t offer_next(const struct sm *sm)
{
	return sm->m.elect->offer.by ? sm->m.elect->offer.until : MONO_NEVER;
}

/* ---- obeying ------------------------------------------------------------------------------- */

static void tell_order(struct sm *sm, enum log_id id, guid_t by, const char *what)
{
	char where[PLACE_STRLEN];

	log_on(about_guid(sm, id, by), LOGB_INFO, "%s: %s", guid_place_str(sm, by, where), what);
}

/*
 * Handles a HANDOVER while DISCOVERING: the SMInfo of the former master, read before, is out of
 * date.
 */
static void handed_while_discovering(struct sm *sm, guid_t by)
{
	struct port *p = fabric_find_port(sm->fabric, by);

	if (sm->sweep == SWEEP_NONE) {
		want_sweep_now(sm, SWEEP_HEAVY, "handover");
	} else if (p) {
		elect_ask(sm, p);
	}
}

static void obey_handover(struct sm *sm, guid_t by)
{
	const struct remote_sm *r = remote_find(sm, by);

	tell_order(sm, LOG_ID_HANDOVER, by,
		   "this subnet manager hands the fabric over to this host");
	sm->m.elect->others_ruled = true;
	switch (sm->state) {
	case SM_DISCOVERING:
		handed_while_discovering(sm, by);
		break;
	case SM_MASTER:
		sm->m.elect->rival_seen = true;
		tell_news(sm, NEWS_RIVAL, .flag = true);
		keys_ruled(sm);
		if (sm->m.elect->polled)
			elect_end_wait(sm, "handover");
		else
			want_sweep(sm, SWEEP_HEAVY, "handover");
		break;
	case SM_STANDBY:
		if (r && r->trust == SM_TRUSTED && !elect_is_greater(sm, r))
			elect_accept(sm, "handover");
		else
			look_into(sm, by);
		break;
	case SM_NOT_ACTIVE:
		break;
	}
}

static void obey_disable(struct sm *sm, guid_t by)
{
	tell_order(sm, LOG_ID_STATE_NOT_ACTIVE, by,
		   "this master disables this manager, which is NOTACTIVE until it is told "
		   "otherwise");
	elect_enter(sm, SM_NOT_ACTIVE);
}

/* Obeys STANDBY. Its sender may be unknown here: the state lasts if it answers as master. */
static void obey_standby(struct sm *sm, guid_t by)
{
	tell_order(sm, LOG_ID_HANDOVER, by, "this subnet manager tells this one to stand by");
	sm->m.elect->on_probation = true;
	poll_start(sm, by);
	elect_enter(sm, SM_STANDBY);
}

static void obey_discover(struct sm *sm, guid_t by)
{
	tell_order(sm, LOG_ID_HANDOVER, by,
		   "this master tells this manager to read the fabric anew");
	elect_take_over(sm, LOGB_INFO, "Set(SMInfo) DISCOVER");
}

/* ---- senders that are obeyed ----------------------------------------------------------------- */

static bool has_lid(const struct port *p, lid_t lid)
{
	unsigned base = p->known ? ib_get(p->info, PI_LID) : 0, n = 1u << ib_get(p->info, PI_LMC);

	return lid_is_unicast(base) && lid >= base && lid < base + n;
}

/*
 * Did a LID-routed SMP come from the port that it names? The master LID in our own port is newer
 * than the picture.
 */
static bool is_from(const struct sm *sm, const struct transport_addr *from, guid_t guid)
{
	const struct port *p = fabric_find_port(sm->fabric, guid);

	if (from->lid == LID_PERMISSIVE)
		return true;
	if (guid == sm->m.elect->polled && from->lid == sm->m.elect->poll.master_lid)
		return true;
	return p && (has_lid(p, from->lid) || lids_port_at(sm, from->lid) == p);
}

/* Is it a trusted subnet manager that is present? Its state may have changed. */
static bool is_known_sm(struct sm *sm, guid_t guid)
{
	const struct remote_sm *r = remote_find(sm, guid);

	return guid == sm->m.elect->polled ||
	       (r && r->trust == SM_TRUSTED && fabric_find_port(sm->fabric, guid) &&
		(r->known || r->asked != ASKED_NOT));
}

/*
 * The reason to refuse the sender; NULL: it is obeyed. While DISCOVERING, a master that has found
 * us may hand over before we have found it; all that follows is another look. So may the lower
 * master when two fabrics become one.
 */
static const char *refusal_of_sender(struct sm *sm, const struct transport_addr *from, guid_t guid,
				     const struct command *c)
{
	bool known = is_known_sm(sm, guid);

	if (guid == sm->tr->port_guid)
		return "it has our own GUID";
	if (sm->state == SM_NOT_ACTIVE)
		return NULL;
	if (c->from_master && guid != sm->m.elect->polled)
		return "it does not come from our master";
	if (!known && sm->state == SM_STANDBY)
		return "its sender is no subnet manager known here";
	if (known && !is_from(sm, from, guid))
		return "its LID is not that of the port it names";
	return NULL;
}

static const struct command *find_command(unsigned mod)
{
	return mod < ARRAY_SIZE(commands) && commands[mod].name ? &commands[mod] : NULL;
}

/* The reason to refuse a Set; NULL: it is obeyed. */
static const char *refusal_of(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
			      const struct command *c)
{
	const uint8_t *info = smp_data(mad);
	guid_t guid = ib_get(info, SMI_GUID);
	enum sm_trust trust = remote_trust_order(sm, mad);

	if (!c)
		return "there is no such command";
	if (trust != SM_TRUSTED)
		return trust == SM_OTHER_KEY ? "it has another SM_Key"
					     : "its sender is not in allowed_sm_guids";
	if (ib_get(info, SMI_STATE) != c->sender || !(c->own & STATE(sm->state)))
		return "it is not legal now";
	return refusal_of_sender(sm, from, guid, c);
}

static const struct port *port_with(const struct sm *sm, lid_t lid)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			if (n->ports[i].known && port_is_end(&n->ports[i]) &&
			    has_lid(&n->ports[i], lid))
				return &n->ports[i];
		}
	}
	return NULL;
}

static void report_refusal(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
			   const char *why)
{
	const struct command *c = find_command(ib_get(mad, SMP_ATTR_MOD));
	guid_t guid = ib_get(smp_data(mad), SMI_GUID);
	char where[PLACE_STRLEN];
	unsigned more;

	if (!log_allow(&sm->m.elect->set_log, sm->now, &more))
		return;
	if (from->lid == LID_PERMISSIVE)
		log_on(about_guid(sm, LOG_ID_MANAGER_REFUSED, guid), LOGB_ERROR,
		       "%s: Set(SMInfo) %s in the name of this port, which came by a directed "
		       "route, is refused: %s",
		       guid_place_str(sm, guid, where), c ? c->name : "of an unknown kind", why);
	else
		log_on(about_port(LOG_ID_MANAGER_REFUSED, port_with(sm, from->lid)), LOGB_ERROR,
		       "%s sent, from LID %u, a Set(SMInfo) %s in the name of 0x%016" PRIx64
		       ", which is refused: %s",
		       fabric_place_str(port_with(sm, from->lid), where), from->lid,
		       c ? c->name : "of an unknown kind", guid, why);
	if (more)
		log_error("%u similar records were left out", more);
}

/* ---- answering ----------------------------------------------------------------------------- */

static void answer_sm_info(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
			   uint16_t status, bool with_key)
{
	uint8_t response[MAD_SIZE], info[SMP_DATA_SIZE];

	elect_fill(sm, info, with_key);
	if (with_key && ib_get(mad, SMP_METHOD) == MAD_GET)
		proof_answer(sm, smp_data(mad), info);
	memcpy(response, mad, sizeof(response));
	smp_make_response(response, status, info);
	sm->m.elect->act_count++;
	mad_send_once(sm->mad, from, response);
}

/*
 * Reads the fabric again if, in STANDBY, an unknown manager with our key hands over, which is not
 * obeyed. Limited in rate.
 */
static void look_round(struct sm *sm, guid_t by, const struct command *c)
{
	if (sm->state != SM_STANDBY || c != &commands[SMI_HANDOVER] || sm->m.elect->on_probation ||
	    is_known_sm(sm, by) || by == sm->tr->port_guid ||
	    !log_allow(&sm->m.elect->look_limit, sm->now, &(unsigned){ 0 }))
		return;
	elect_take_over(sm, LOGB_INFO, "a subnet manager that is not known here hands over");
}

static void receive_set(struct sm *sm, const struct transport_addr *from, const uint8_t *mad,
			bool key_ok)
{
	const struct command *c = find_command(ib_get(mad, SMP_ATTR_MOD));
	const uint8_t *info = smp_data(mad);
	guid_t by = ib_get(info, SMI_GUID);
	const char *refusal;

	if (proof_was_obeyed(sm, mad)) {
		answer_sm_info(sm, from, mad, 0, key_ok);
		return;
	}
	refusal = refusal_of(sm, from, mad, c);
	if (refusal) {
		answer_sm_info(sm, from, mad, MAD_STATUS_BAD_VALUE, key_ok);
		report_refusal(sm, from, mad, refusal);
		if (remote_trust_order(sm, mad) == SM_TRUSTED &&
		    ib_get(info, SMI_STATE) == SM_MASTER)
			look_round(sm, by, c);
		return;
	}
	if (!log_allow(&sm->m.elect->set_limit, sm->now, &(unsigned){ 0 })) {
		answer_sm_info(sm, from, mad, MAD_STATUS_BUSY, key_ok);
		return;
	}
	answer_sm_info(sm, from, mad, 0, key_ok);
	proof_obeyed(sm, mad);
	if (c->obey)
		c->obey(sm, by);
}

/*
 * Answers SMInfo. The M_Key is checked as by an SMA (14.2.4): with a wrong one a Set gets no answer
 * at any level, and a Get none from level 2 on; at level 1 SM_Key is neither shown nor proved.
 */
void elect_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *mad)
{
	bool set = ib_get(mad, SMP_METHOD) == MAD_SET;
	unsigned protection = sm->conf->m_key_protection_level;
	bool key_ok = keys_open_own(sm, ib_get(mad, SMP_M_KEY));

	if (!key_ok && (set || protection > 1))
		return;
	if (protection == 0)
		key_ok = true;
	if (set)
		receive_set(sm, from, mad, key_ok);
	else
		answer_sm_info(sm, from, mad, 0, key_ok);
}
