// SPDX-License-Identifier: BSD-2-Clause
/*
 * A standby is an ordinary client of the master's SA (replica.h). In rounds it asks for the
 * master's configuration, copies registrations of hosts, subscribes to changes, and registers its
 * own configuration; with the copy it takes over. Tables are asked for only if they have changed; a
 * foreign master does not report that, so its tables are copied in every round, and rounds are
 * rarer. Its SA needs to know nothing of us: any host may ask these questions. sa_key is sent to no
 * master (replica_proof.c).
 */
#include "sm/answers/replica_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

MACHINE_MEMORY(replica);

#define TRIES		3
#define RETRY_FIRST	MONO_S
#define RETRY_LAST	(60 * MONO_S)
#define PERIOD_MAX	(10 * MONO_S) /* greatest age of the copy: joins are not reported */
#define PERIOD_FOREIGN	(10 * MONO_S)
/* First rounds, in which a master of ours may not have met us, and answers like a foreign one. */
#define ROUNDS_EARLY	4
#define PERIOD_EARLY	MONO_S
#define STRANGE_MAX	3 /* answers in a row by which a master of ours counts as foreign */
/*
 * Least time from the begin of a round to the next one after a Report; also a multiple of its
 * length.
 */
#define GAP		(500 * MONO_MS)
#define GAP_LENGTHS	20
#define GAP_FOREIGN	(2 * MONO_S)
#define FOREIGN_ALIASES 6 /* rounds between copies of aliases, for which all ports are read */
#define LEASE_PERIODS	6
#define SECOND_TIME	(6 * MONO_S) /* time from our first registration to the second */
/* period of new subscriptions: a foreign master may have restarted unnoticed */
#define RESUBSCRIBE	(60 * MONO_S)

/* ---- copies -------------------------------------------------------------------------------- */

static void copy_clear(struct replica_copy *c)
{
	for (unsigned i = 0; i < COPY_TABLES; i++)
		free(c->tables[i].message);
	*c = (struct replica_copy){ .at = MONO_NEVER };
}

static bool copy_exists(const struct replica_copy *c)
{
	return c->at != MONO_NEVER;
}

void replica_new(struct sm *sm, const struct replica_questions *questions)
{
	struct replica *r = sm->m.replica;

	assert(questions);
	r->questions = questions;
	r->fresh.at = r->kept.at = MONO_NEVER;
	r->registered_at = MONO_NEVER;
	r->next_at = MONO_NEVER;
	r->config.log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
	r->state = SM_NOT_ACTIVE;
}

void replica_free(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	copy_clear(&r->fresh);
	copy_clear(&r->kept);
	conf_unref(r->config.digests_of);
}

/* ---- rounds: when -------------------------------------------------------------------------- */

enum round_step {
	STEP_REST,
	STEP_OWN_PORT,
	STEP_PKEYS,
	STEP_MASTER_PORT,
	STEP_CONFIG,
	STEP_TABLES, /* COPY_TABLES steps begin here */
	STEP_SUBSCRIBE = STEP_TABLES + COPY_TABLES,
	STEP_REGISTER,
	STEP_END,
};

static const uint16_t traps[] = {
	TRAP_GID_IN_SERVICE, TRAP_GID_OUT_OF_SERVICE, TRAP_MGID_CREATED,
	TRAP_MGID_DESTROYED, TRAP_LINK_STATE,	      TRAP_LOCAL_CHANGE,
};

static mono_t round_period(const struct sm *sm)
{
	const struct replica *r = sm->m.replica;
	mono_t t = mono_min(sm->conf->sminfo_polling_timeout * MONO_MS, PERIOD_MAX);

	if (r->of.ours)
		return t;
	return r->rounds < ROUNDS_EARLY ? mono_min(t, PERIOD_EARLY) : MAX(t, PERIOD_FOREIGN);
}

/* Ends the round: no answer is awaited, and one to an SMP under way will be dropped. */
static void give_up_round(struct replica *r)
{
	r->step = STEP_REST;
	r->ask.tid = 0;
	if (r->smp != SMP_NONE)
		r->smp = SMP_STALE;
	copy_clear(&r->fresh);
}

/* Begins with another master; the copy of the last one is kept until this one has answered. */
static void new_master(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	give_up_round(r);
	r->of.guid = elect_polled(sm);
	r->of.ours = false;
	r->reports.subscribed = r->reports.next = 0;
	r->rounds = r->failures = r->of.strange = 0;
	r->registered_at = MONO_NEVER;
	r->registrations = 0;
	r->told = (struct told){ 0 };
	r->aliases_due = true;
	r->ask.to.lid = 0;
	r->next_at = sm->now;
}

void replica_state_changed(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	if (!r || r->state == sm->state)
		return;
	give_up_round(r);
	r->is_expected = false;
	r->next_at = MONO_NEVER;
	r->state = sm->state;
	r->successor = (struct replica_successor){ 0 };
	if (sm->state == SM_STANDBY)
		new_master(sm);
	if (sm->state == SM_MASTER) {
		r->config.published = 0;
		r->config.n_peers = 0;
		r->config.own_epoch = (uint32_t)(sm->now ^ sm->now >> 32) * 2654435761u | 1;
	}
}

/* ---- rounds: what -------------------------------------------------------------------------- */

static mono_t retry_delay(const struct replica *r)
{
	return mono_min(RETRY_FIRST << MIN(r->failures - 1, 6u), RETRY_LAST);
}

static void round_failed(struct sm *sm, const char *why)
{
	struct replica *r = sm->m.replica;

	r->failures++;
	log_guid(sm, r->of.guid, LOG_ID_NONE, LOGB_VERBOSE,
		 "registrations of the master were not copied: %s", why);
	if (r->failures == 4 && !copy_exists(&r->kept) && told_first(&r->told, TOLD_SILENT))
		log_guid(
			sm, r->of.guid, LOG_ID_REPLICA, LOGB_ERROR,
			"what hosts register with this master cannot be copied: %s; when this host "
			"takes over, they have to register again",
			why);
	give_up_round(r);
	r->next_at = sm->now + retry_delay(r);
}

static size_t copy_records(const struct replica_copy *c)
{
	size_t n = 0;

	for (unsigned i = 0; i < COPY_TABLES; i++)
		n += c->tables[i].n;
	return n;
}

/* Keeps the tables of a complete round as the copy to take over with. */
static void keep_copy(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	if (!r->round_aliases && r->kept.master == r->of.guid) {
		r->fresh.tables[COPY_ALIASES] = r->kept.tables[COPY_ALIASES];
		r->kept.tables[COPY_ALIASES] = (struct replica_table){ 0 };
	}
	copy_clear(&r->kept);
	r->kept = r->fresh;
	r->fresh = (struct replica_copy){ .at = MONO_NEVER };
	/*
	 * A master of ours that has not met us answers like a foreign one, so early rounds do not
	 * log it as such.
	 */
	if ((r->of.ours || r->rounds >= ROUNDS_EARLY) && told_first(&r->told, TOLD_COPY)) {
		log_guid(sm, r->of.guid, LOG_ID_REPLICA,
			 r->copy_told == r->of.guid ? LOGB_VERBOSE : LOGB_INFO,
			 "what hosts register with this%s master is copied (%zu records)",
			 r->of.ours ? "" : " foreign", copy_records(&r->kept));
		r->copy_told = r->of.guid;
	}
}

/* Starts the next round sooner after a Report, but leaves a gap after the last one. */
static void hasten_round(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	mono_t rest = r->of.ours ? r->rest : MAX(r->rest, GAP_FOREIGN);

	r->again = r->step != STEP_REST;
	if (!r->again && !r->failures)
		r->next_at = mono_min(r->next_at, MAX(sm->now, r->round_at + rest));
}

static void round_is_over(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	r->step = STEP_REST;
	r->failures = 0;
	r->rounds++;
	r->rest = MAX(GAP, GAP_LENGTHS * (sm->now - r->round_at));
	r->next_at = MAX(r->round_at + round_period(sm), sm->now + GAP);
	if (r->again)
		hasten_round(sm);
}

/* ---- steps that read a port ----------------------------------------------------------------- */

static void take_own_port(struct sm *sm, const uint8_t *info)
{
	struct replica *r = sm->m.replica;

	r->own.lid = ib_get(info, PI_LID);
	r->ask.to.sl = ib_get(info, PI_MASTER_SM_SL);
	r->own.prefix = ib_get(info, PI_GID_PREFIX);
	if (!r->own.prefix)
		r->own.prefix = sm->conf->subnet_prefix;
}

/* Finds the index of the default partition, which managers use to talk to each other. */
static void take_pkeys(struct sm *sm, const uint8_t *block)
{
	struct replica *r = sm->m.replica;

	r->ask.to.pkey_index = 0;
	for (unsigned i = PKEYS_PER_BLOCK; i-- > 0;) {
		r->own.pkeys[i] = ib_bits_get(block, i * 16, 16);
		if ((r->own.pkeys[i] & PKEY_BASE) == PKEY_DEFAULT)
			r->ask.to.pkey_index = i;
	}
}

static void take_master_port(struct sm *sm, const uint8_t *info)
{
	sm->m.replica->ask.to.lid = ib_get(info, PI_LID);
	sm->m.replica->ask.to_lmc = ib_get(info, PI_LMC);
}

/* Takes LIDs from the driver of our own port if they cannot be read, as its M_Key is unknown. */
static void take_unread(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	struct transport_port port;

	if (transport_look(sm->tr, &port) < 0)
		return;
	if (r->step == STEP_OWN_PORT && lid_is_unicast(port.lid)) {
		r->own.lid = port.lid;
		r->ask.to.sl = port.sm_sl;
	} else if (r->step == STEP_MASTER_PORT && lid_is_unicast(port.sm_lid)) {
		r->ask.to.lid = port.sm_lid;
		r->ask.to_lmc = port.lmc;
	}
}

static void port_read(struct sm *sm, const uint8_t *payload)
{
	struct replica *r = sm->m.replica;
	const struct port *p = r->step == STEP_MASTER_PORT
				       ? fabric_find_port(sm->fabric, r->of.guid)
				       : sm->fabric->own_port;

	switch (r->step) {
	case STEP_OWN_PORT:
		if (payload || (p && p->known))
			take_own_port(sm, payload ? payload : p->info);
		break;
	case STEP_PKEYS:
		if (payload)
			take_pkeys(sm, payload);
		break;
	default:
		if (payload || (p && p->known))
			take_master_port(sm, payload ? payload : p->info);
		break;
	}
	if (!payload)
		take_unread(sm);
	r->step++;
	if (r->step == STEP_CONFIG && (!r->own.lid || !lid_is_unicast(r->ask.to.lid)))
		round_failed(sm, "it has no LID yet, or we have none");
}

static void on_port_read(void *arg, const uint8_t *payload)
{
	struct sm *sm = arg;
	struct replica *r = sm->m.replica;

	bool stale = r->smp == SMP_STALE;

	r->smp = SMP_NONE;
	if (!stale)
		port_read(sm, payload);
}

/* Reads our own port. False: it cannot be read now, and the known values are used. */
static bool read_port(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	struct port *p = r->step == STEP_MASTER_PORT ? fabric_find_port(sm->fabric, r->of.guid)
						     : sm->fabric->own_port;
	uint16_t attr = r->step == STEP_PKEYS ? IB_ATTR_PKEY_TABLE : IB_ATTR_PORT_INFO;

	if (!p)
		return false;
	if (discover_read_cell(sm, p, attr, attr == IB_ATTR_PORT_INFO ? p->num : 0, on_port_read,
			       sm) < 0)
		return false;
	r->smp = SMP_OUT;
	return true;
}

/* ---- steps that ask the SA ------------------------------------------------------------------ */

/* Is the copy that of the present database of the master? */
static bool is_current(const struct replica *r)
{
	return r->of.ours && copy_exists(&r->kept) && r->kept.whole &&
	       r->kept.master == r->of.guid && r->kept.epoch == r->of.epoch &&
	       r->kept.version == r->of.version;
}

static void start_copy(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	r->round_aliases = r->of.ours || r->aliases_due || r->rounds % FOREIGN_ALIASES == 0;
	r->aliases_due = false;
	copy_clear(&r->fresh);
	r->fresh.at = sm->now;
	r->fresh.master = r->of.guid;
	r->fresh.whole = r->of.ours;
	r->fresh.epoch = r->of.epoch;
	r->fresh.version = r->of.version;
}

static void take_config(struct sm *sm, const struct replica_answer *a)
{
	struct replica *r = sm->m.replica;
	const uint8_t *config = a->data ? a->data + SVR_DATA8_0 / 8 : NULL;
	bool was_ours = r->of.ours;

	r->of.ours = a->end == REPLICA_OK && ib_get(a->data, SVR_ID) == SA_MANAGER_ID;
	r->of.strange = r->of.ours ? 0 : r->of.strange + 1;
	if (was_ours && !r->of.ours && r->of.strange < STRANGE_MAX) {
		r->of.ours = true;
		round_failed(sm, "it does not know us as a subnet manager just now");
		return;
	}
	if (r->of.ours != was_ours)
		told_change(&r->told, TOLD_COPY, false);
	if (r->of.ours) {
		if (r->of.epoch !=
		    ib_get(config, SMC_EPOCH)) { /* the master has restarted, and forgotten us */
			r->reports.subscribed = r->reports.next = 0;
			r->registered_at = MONO_NEVER;
			r->registrations = 0;
		}
		r->of.epoch = ib_get(config, SMC_EPOCH);
		r->of.version = ib_get(config, SMC_VERSION);
		config_compare(sm, r->of.guid, a->data);
	}
	r->step++;
	if (is_current(r))
		r->step = STEP_SUBSCRIBE;
	else
		start_copy(sm);
}

static void take_table(struct sm *sm, struct replica_answer *a)
{
	struct replica *r = sm->m.replica;
	struct replica_table *t = &r->fresh.tables[r->step - STEP_TABLES];

	*t = (struct replica_table){ .message = take(a->message), .n = a->n };
	if (++r->step == STEP_SUBSCRIBE)
		keep_copy(sm);
}

static void take_subscription(struct sm *sm, const struct replica_answer *a)
{
	struct replica *r = sm->m.replica;

	if (a->end == REPLICA_REFUSED && told_first(&r->told, TOLD_REFUSED))
		log_guid(sm, r->of.guid, LOG_ID_REPLICA, LOGB_INFO,
			 "this master refuses to report trap %u (%s): what changes there is copied "
			 "some time later",
			 traps[r->reports.next], sa_status_name(a->status));
	r->reports.next++;
	r->reports.subscribed = MAX(r->reports.subscribed, r->reports.next);
	if (r->reports.subscribed == ARRAY_SIZE(traps))
		tell_news(sm, NEWS_SUBSCRIBED);
}

/* Hands the answer to the running step. */
static void take_answer(struct sm *sm, struct replica_answer *a)
{
	struct replica *r = sm->m.replica;

	switch (r->step) {
	case STEP_CONFIG:
		take_config(sm, a);
		return;
	case STEP_SUBSCRIBE:
		take_subscription(sm, a);
		return;
	case STEP_REGISTER:
		r->registered_at = a->end == REPLICA_OK ? sm->now : MONO_NEVER;
		r->registrations += a->end == REPLICA_OK;
		r->step++;
		return;
	}
	if (a->end == REPLICA_REFUSED &&
	    a->status != SA_NO_RECORDS) /* SA_NO_RECORDS means an empty table */
		round_failed(sm, sa_status_name(a->status));
	else
		take_table(sm, a);
}

/*
 * Ends the round without tables, which a transport without RMPP (libumad2sim) cannot bring; we
 * subscribe to changes all the same.
 */
static void without_copy(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	if (r->step < STEP_TABLES || r->step >= STEP_SUBSCRIBE) {
		round_failed(sm, "an answer is not whole");
		return;
	}
	copy_clear(&r->fresh);
	r->step = STEP_SUBSCRIBE;
}

/*
 * Called when the proof of our keys was not answered: this round continues as any host would ask.
 */
static void tell_strange(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	if (r->step == STEP_CONFIG && replica_tries_proof(sm) && told_first(&r->told, TOLD_STRANGE))
		log_guid(sm, r->of.guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this master is another program, or has another sa_key: what hosts "
			 "register "
			 "with it cannot be copied whole; when this host takes over, some have to "
			 "register again");
}

static void question_ended(struct sm *sm, struct replica_answer *a)
{
	struct replica *r = sm->m.replica;

	if (a->end == REPLICA_SILENT) {
		if (++r->tries < TRIES) {
			tell_strange(sm);
			return; /* run_round() asks again */
		}
		round_failed(sm, "it does not answer (is sa_key the same there?)");
		return;
	}
	r->tries = 0;
	if (a->end == REPLICA_CUT && told_first(&r->told, TOLD_CUT))
		log_guid(sm, r->of.guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this master sent part of a table instead of the whole: nothing of it is "
			 "copied, and the copy made before is kept");
	if (a->end == REPLICA_CUT)
		without_copy(sm);
	else
		take_answer(sm, a);
}

/*
 * Is it time to register? Also after a change of our configuration, and once after the master's has
 * arrived, as it compares us with itself whenever we register.
 */
static bool registration_is_due(const struct sm *sm, mono_t lease)
{
	const struct replica *r = sm->m.replica;

	if (r->registered_at == MONO_NEVER || sm->now >= r->registered_at + lease / 3 ||
	    memcmp(r->registered, r->config.digests, sizeof(r->registered)) != 0)
		return true;
	return r->registrations == 1 && sm->now >= r->registered_at + SECOND_TIME;
}

/* Makes the question of the present step. False: the step is done. */
static bool question_of_step(struct sm *sm, struct replica_question *q)
{
	struct replica *r = sm->m.replica;
	uint8_t record[SVR_BYTES];
	mono_t lease = LEASE_PERIODS * round_period(sm) + 60 * MONO_S;

	if (r->step == STEP_CONFIG) {
		replica_question_get(q, r);
	} else if (r->step < STEP_SUBSCRIBE) {
		replica_question_table(q, r, r->step - STEP_TABLES);
	} else if (r->step == STEP_SUBSCRIBE) {
		if (r->reports.next == ARRAY_SIZE(traps))
			return false;
		replica_question_inform(q, traps[r->reports.next]);
	} else {
		if (!r->of.ours || !registration_is_due(sm, lease))
			return false;
		config_record(sm, record);
		memcpy(r->registered, r->config.digests, sizeof(r->registered));
		replica_question_register(q, record, (uint32_t)(lease / MONO_S));
	}
	return true;
}

static void ask_step(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	struct replica_question q;

	if (r->step == STEP_TABLES + COPY_ALIASES && !r->round_aliases) {
		take_table(sm, &(struct replica_answer){ .end = REPLICA_OK });
		return;
	}
	if (!question_of_step(sm, &q)) {
		r->step++;
		return;
	}
	if (!replica_ask(sm, &q))
		round_failed(sm, "nothing can be sent now");
}

/* Runs the round as far as possible without waiting. */
static void run_round(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	while (r->step != STEP_REST && !r->ask.tid && r->smp == SMP_NONE) {
		if (r->step == STEP_END)
			round_is_over(sm);
		else if (r->step >= STEP_CONFIG)
			ask_step(sm);
		else if (!read_port(sm))
			port_read(sm, NULL);
	}
}

static void start_round(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	config_refresh(sm);
	if (conf_draws_sa_key(sm->conf)) {
		round_failed(sm, "sa_key is drawn at random here, so it is not the master's; give "
				 "all managers the same sa_key, without randomize_sa_key");
		return;
	}
	r->round_at = sm->now;
	r->again = false;
	r->tries = 0;
	if (sm->now >= r->reports.at + RESUBSCRIBE) {
		r->reports.at = sm->now;
		r->reports.next = 0;
	}
	r->ask.whom = r->of.guid;
	r->ask.to.qp = 1;
	r->ask.to.qkey = MAD_QP1_QKEY;
	r->step = STEP_OWN_PORT;
}

void replica_tick(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	if (sm->state == SM_MASTER) {
		config_publish(sm);
		successor_tick(sm);
	}
	if (sm->state != SM_STANDBY)
		return;
	if (r->of.guid != elect_polled(sm))
		new_master(sm);
	if (r->ask.tid && sm->now >= r->ask.deadline) {
		r->ask.tid = 0;
		question_ended(sm, &(struct replica_answer){ .end = REPLICA_SILENT });
	}
	if (r->step == STEP_REST && r->smp == SMP_NONE && sm->now >= r->next_at)
		start_round(sm);
	run_round(sm);
}

mono_t replica_next(const struct sm *sm)
{
	const struct replica *r = sm->m.replica;

	if (sm->state == SM_MASTER)
		return successor_next(sm);
	if (sm->state != SM_STANDBY || r->smp != SMP_NONE)
		return MONO_NEVER;
	if (r->of.guid != elect_polled(sm))
		return sm->now;
	if (r->step == STEP_REST)
		return r->next_at;
	return r->ask.tid ? r->ask.deadline : sm->now;
}

/* ---- what arrives --------------------------------------------------------------------------- */

static void take_report(struct sm *sm, const struct transport_event *ev)
{
	struct replica *r = sm->m.replica;
	const uint8_t *notice = ev->mad + SA_DATA;
	unsigned trap = ib_get(notice, NT_TRAP);

	if (sm->state != SM_STANDBY || ev->length < SA_DATA + NT_BYTES ||
	    ib_get(ev->mad, SAH_ATTR_ID) != SA_NOTICE || !replica_from_master(r, &ev->from))
		return;
	replica_answer_report(sm, ev);
	if (ib_get(notice, NT_IS_GENERIC) && trap >= TRAP_GID_IN_SERVICE &&
	    trap <= TRAP_MGID_DESTROYED) {
		r->aliases_due |= trap <= TRAP_GID_OUT_OF_SERVICE;
		hasten_round(sm);
	}
	tell_news(sm, NEWS_MASTER_NOTICE, .bytes = notice);
}

static bool is_of_client(uint8_t method, bool returned)
{
	switch (returned ? method : method & ~MAD_RESPONSE_BIT) {
	case MAD_GET:
	case MAD_SET:
	case MAD_SA_GET_TABLE:
		return returned || (method & MAD_RESPONSE_BIT);
	}
	return false;
}

bool replica_receive(struct sm *sm, struct transport_event *ev)
{
	struct replica_answer a;
	uint8_t method = ib_get(ev->mad, SAH_METHOD);

	if (ev->kind == TRANSPORT_GONE)
		return false;
	if (ev->kind == TRANSPORT_MAD && method == MAD_REPORT) {
		take_report(sm, ev);
		return true;
	}
	if (!is_of_client(method, ev->kind == TRANSPORT_RETURNED))
		return false;
	if (replica_is_answer(sm, ev, &a)) {
		if (sm->state == SM_STANDBY)
			question_ended(sm, &a);
		else
			replica_seek_ended(sm, &a);
		free(a.message);
		run_round(sm);
	}
	return true;
}

/* ---- taking over ---------------------------------------------------------------------------- */

static struct sa_table table_of(const struct replica_table *t)
{
	return (struct sa_table){ .records = t->message ? t->message + SA_DATA : NULL, .n = t->n };
}

mono_t replica_copied_at(const struct sm *sm)
{
	return sm->m.replica->kept.at;
}

bool replica_master_is_ours(const struct sm *sm)
{
	return sm->m.replica->of.ours;
}

bool replica_is_subscribed(const struct sm *sm)
{
	const struct replica *r = sm->m.replica;

	return r->of.guid == elect_polled(sm) && r->reports.subscribed == ARRAY_SIZE(traps) &&
	       !told_holds(&r->told, TOLD_REFUSED);
}

bool replica_restore(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	const struct replica_copy *c = &r->kept;
	const struct sa_tables tables = {
		.members = table_of(&c->tables[COPY_MEMBERS]),
		.services = table_of(&c->tables[COPY_SERVICES]),
		.subscriptions = table_of(&c->tables[COPY_SUBSCRIPTIONS]),
		.aliases = table_of(&c->tables[COPY_ALIASES]),
		.whole = c->whole,
		.age = copy_exists(c) ? (uint32_t)((sm->now - c->at) / MONO_S) : 0,
		.own_port = sm->tr->port_guid,
		.pkeys = r->own.pkeys,
		.n_pkeys = PKEYS_PER_BLOCK,
	};
	const struct sa_stats *st = sa_stats(sm->sa);
	char lost[56] = "";
	size_t left_out;

	if (!copy_exists(c))
		return false;
	left_out = sa_restore_tables(sm->sa, &tables);
	if (left_out)
		snprintf(lost, sizeof(lost), "; not kept: %zu", left_out);
	log_at(left_out ? LOGB_INFO : LOGB_VERBOSE,
	       "registrations of hosts with the last master are kept (multicast groups: %u, their "
	       "members: %u, services: %u, subscriptions: %u, alias GUIDs: %u%s)",
	       st->groups, st->members, st->services, st->subscriptions, st->guids, lost);
	copy_clear(&r->kept);
	return true;
}
