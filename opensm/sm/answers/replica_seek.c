// SPDX-License-Identifier: BSD-2-Clause
/*
 * A manager that is locked out, as its cache folder is empty, asks the master for the keys: the
 * master's SA is reached by LID, and no SMA on the way looks at an M_Key.
 *
 *   locked out --own port names a master--> asks its SA which manager it is --one that may rule-->
 *   registers with it as a manager --> the master opens the channel, and rows of the ledger come:
 *   seeds (key_turn.c), keys of absent ports and cables (key_rows.c) --> the next sweep
 *
 * What is there may be a stranger: it is sent proofs of both keys and no key (replica_proof.c). The
 * master sees by them that a manager of ours is at this port.
 * Over the channel it proves that it has both.
 */
#include "sm/answers/replica_internal.h"
#include "sm/base/about.h"
#include "keys/key_proof.h"
#include "sm/base/drawn_key.h"
#include "util/mem.h"

#define LEASE 120 /* seconds of the registration */

/*
 * The master that our own port names. 0: none, or the port has no M_Key, so any host may have set
 * it.
 */
static lid_t named_master(const struct sm *sm)
{
	const uint8_t *info = sm->fabric->own_port->info;
	lid_t lid = ib_get(info, PI_MASTER_SM_LID), own = ib_get(info, PI_LID);

	return ib_get(info, PI_M_KEY) && lid_is_unicast(own) && lid_is_unicast(lid) && lid != own
		       ? lid
		       : 0;
}

/* The reason why the master is not asked, in words; NULL: none. */
static const char *obstacle(const struct sm *sm)
{
	if (sm->conf->ignore_other_sm)
		return "ignore_other_sm is TRUE";
	if (conf_draws_sa_key(sm->conf) || sm->conf->randomize_sm_key)
		return "sm_key or sa_key is drawn at random here";
	if (!key_is_secret(sm->conf->sm_key) || !key_is_secret(sm->conf->sa_key))
		return "sm_key or sa_key is 0 or 1";
	return named_master(sm) ? NULL : "our own port names no master";
}

static void aim(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	const uint8_t *info = sm->fabric->own_port->info;

	r->own.lid = ib_get(info, PI_LID);
	r->own.prefix = ib_get(info, PI_GID_PREFIX);
	if (!r->own.prefix)
		r->own.prefix = sm->conf->subnet_prefix;
	r->ask.to = (struct transport_addr){ .lid = named_master(sm),
					     .sl = ib_get(info, PI_MASTER_SM_SL),
					     .qp = 1,
					     .qkey = MAD_QP1_QKEY };
	r->ask.to_lmc = 0;
	r->ask.whom = 0;
}

static void question_of_master(struct replica_question *q, lid_t lid)
{
	*q = (struct replica_question){ .method = MAD_GET, .attr = SA_SM_INFO_RECORD,
					.mask = SA_COMP(SMR_LID) };
	ib_put(q->data, SMR_LID, lid);
}

static void register_with_master(struct sm *sm)
{
	struct replica_question q;
	uint8_t record[SVR_BYTES];

	config_refresh(sm);
	config_record(sm, record);
	replica_question_register(&q, record, LEASE);
	replica_ask(sm, &q);
}

const char *replica_seek_keys(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	const char *why = obstacle(sm);
	struct replica_question q;

	assert(sm->state != SM_MASTER);
	if (sm->state != SM_DISCOVERING)
		return "this manager stands by";
	if (why || (r->ask.tid && sm->now < r->ask.deadline))
		return why;
	aim(sm);
	question_of_master(&q, r->ask.to.lid);
	replica_ask(sm, &q);
	return NULL;
}

/* Takes the manager at the LID from its answer. */
static void take_master(struct sm *sm, const struct replica_answer *a)
{
	const uint8_t *info = a->data + SMR_BYTES;
	guid_t guid = ib_get(info, SMI_GUID);

	if (ib_get(info, SMI_STATE) != SM_MASTER)
		return;
	sm->m.replica->ask.whom = guid;
	if (elect_is_allowed(sm, guid))
		register_with_master(sm);
	else
		log_guid(sm, guid, LOG_ID_MANAGER_REFUSED, LOGB_ERROR,
			 "this master has locked our own port, and is not in allowed_sm_guids: "
			 "its M_Keys are not asked for");
}

static void take_registration(struct sm *sm, bool is_done)
{
	struct replica *r = sm->m.replica;

	if (is_done && !r->is_expected)
		log_info("the master at LID %u takes this manager for one of its own: its M_Keys "
			 "are waited for",
			 r->ask.to.lid);
	r->is_expected = is_done;
}

void replica_seek_ended(struct sm *sm, const struct replica_answer *a)
{
	struct replica *r = sm->m.replica;

	if (sm->state != SM_DISCOVERING)
		return;
	if (a->end != REPLICA_OK)
		log_verbose("the master at LID %u does not take this manager for one of its own "
			    "yet (sm_key, sa_key, allowed_sm_guids)",
			    r->ask.to.lid);
	if (r->ask.question.attr != SA_SM_INFO_RECORD)
		take_registration(sm, a->end == REPLICA_OK);
	else if (a->end == REPLICA_OK)
		take_master(sm, a);
}
