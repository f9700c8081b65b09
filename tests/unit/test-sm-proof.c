// SPDX-License-Identifier: BSD-2-Clause
/*
 * Managers of ours prove that they know sm_key and sa_key, and neither leaves a host: what is seen
 * of one is of no use to a stranger, and what a stranger says is not believed.
 */
#include "tests/unit/two-managers.h"

#include "keys/key_proof.h"
#include "sm/elect/elect_internal.h"

#define SM_KEY UINT64_C(0x515ec4e7515ec4e7)
#define SA_KEY UINT64_C(0x5a5ec4e75a5ec4e7)
#define ROGUE  5 /* host */
#define NOT_SENT 0xFFFF

/* ---- a recorder ------------------------------------------------------------------------------ */

/* All MADs that managers sent in this test; setup_secret() empties it. */
static struct {
	unsigned mads, sm_keys, sa_keys;
	uint8_t question[MAD_SIZE], answer[MAD_SIZE], order[MAD_SIZE]; /* with proof: the last */
	unsigned questions, answers, orders;
	unsigned status;     /* of the last answer to a Set(SMInfo) */
	lid_t watched;	     /* requests to the SA at this LID: */
	unsigned keyed, all; /* with an SM_Key, and all of them */
} wire;

static bool has_number(const uint8_t *bytes, size_t len, uint64_t number)
{
	uint8_t wanted[8];

	ib_bits_put(wanted, 0, 64, number);
	return memmem(bytes, len, wanted, sizeof(wanted));
}

static void keep(uint8_t *place, unsigned *n, const uint8_t *mad)
{
	if (proof_is_carried(smp_data(mad))) {
		memcpy(place, mad, MAD_SIZE);
		(*n)++;
	}
}

static void record_smp(const uint8_t *mad)
{
	if (ib_get(mad, SMP_ATTR_ID) != IB_ATTR_SM_INFO)
		return;
	switch (ib_get(mad, SMP_METHOD)) {
	case MAD_GET:
		keep(wire.question, &wire.questions, mad);
		break;
	case MAD_GET_RESP:
		if (!ib_get(mad, SMP_ATTR_MOD))
			keep(wire.answer, &wire.answers, mad);
		else
			wire.status = (unsigned)ib_get(mad, SMP_STATUS);
		break;
	case MAD_SET:
		keep(wire.order, &wire.orders, mad);
		break;
	}
}

/* The channel has proofs of its own. */
static void record(const struct transport_addr *to, const uint8_t *mad, size_t length)
{
	unsigned class = ib_get(mad, SMP_CLASS);

	if (tap_is_part(mad))
		return;
	wire.mads++;
	wire.sm_keys += has_number(mad, length, SM_KEY);
	wire.sa_keys += has_number(mad, length, SA_KEY);
	if (class == MAD_CLASS_SA && to->lid == wire.watched &&
	    !(ib_get(mad, SAH_METHOD) & MAD_RESPONSE_BIT)) {
		wire.all++;
		wire.keyed += ib_get(mad, SAH_SM_KEY) != 0;
	}
	if (class == MAD_CLASS_SMI_DR || class == MAD_CLASS_SMI_LID)
		record_smp(mad);
}

static int setup_secret(void **state)
{
	struct world *w;
	int r = setup(state);

	w = *state;
	memset(&wire, 0, sizeof(wire));
	for (unsigned i = 0; i < 2; i++) {
		w->conf[i]->sm_key = SM_KEY;
		w->conf[i]->sa_key = SA_KEY;
	}
	for (unsigned i = 0; i < N_TAPS; i++)
		w->tap[i].sees = record;
	for (unsigned i = 1; i < N_HOSTS - 1; i++)
		w->host[i]->sm_key = 0;
	return r;
}

/* ---- a stranger, with root and a port of its own --------------------------------------------- */

enum answer_kind { PLAIN, REPEATED, MIRRORED };

struct rogue {
	struct world *w;
	struct transport *tr;
	enum answer_kind kind;
	uint64_t key;
	uint8_t state, priority;
	uint8_t heard[SMP_DATA_SIZE]; /* REPEATED: behind SMInfo */
	unsigned asked, handed;
	uint8_t got[MAD_SIZE]; /* the last answer to a question of its own */
	bool has_got;
};

static struct rogue rogue_on(struct world *w, unsigned host, enum sm_state state)
{
	char name[8];
	struct rogue g = { .w = w, .state = state, .priority = 15 };

	w->host[host] = client_free(w->host[host]);
	snprintf(name, sizeof(name), "h%u", host);
	g.tr = sim_attach(w->rig->sim, name, 0);
	assert_non_null(g.tr);
	if (state != SM_NOT_ACTIVE)
		transport_set_issm(g.tr, true);
	return g;
}

static void say(const struct rogue *g, const struct transport_event *ev,
		uint8_t info[SMP_DATA_SIZE])
{
	memset(info, 0, SMP_DATA_SIZE);
	if (g->kind == REPEATED)
		memcpy(info, g->heard, SMP_DATA_SIZE);
	if (g->kind == MIRRORED)
		memcpy(info, smp_data(ev->mad), SMP_DATA_SIZE);
	ib_put(info, SMI_GUID, g->tr->port_guid);
	ib_put(info, SMI_SM_KEY, g->key);
	ib_put(info, SMI_PRIORITY, g->priority);
	ib_put(info, SMI_STATE, g->state);
}

static void serve_rogue(struct rogue *g)
{
	struct transport_event ev;
	uint8_t info[SMP_DATA_SIZE];

	while (transport_receive(g->tr, &ev) > 0) {
		unsigned method = ev.kind == TRANSPORT_MAD ? ib_get(ev.mad, SMP_METHOD) : 0;

		free(ev.whole);
		if (method == MAD_GET_RESP) {
			memcpy(g->got, ev.mad, MAD_SIZE);
			g->has_got = true;
		}
		if ((method != MAD_GET && method != MAD_SET) ||
		    ib_get(ev.mad, SMP_ATTR_ID) != IB_ATTR_SM_INFO)
			continue;
		g->asked += method == MAD_GET;
		g->handed += method == MAD_SET;
		say(g, &ev, info);
		smp_make_response(ev.mad, 0, info);
		transport_send(g->tr, &ev.from, ev.mad, MAD_SIZE, 0);
	}
}

static void run_with(struct rogue *g, mono_t t)
{
	mono_t until = sim_now(g->w->rig->sim) + t;

	while (rig_step(g->w->rig, until))
		serve_rogue(g);
	serve_rogue(g);
}

/* Its own Get or Set of SMInfo. The status of the answer. */
static unsigned rogue_asks(struct rogue *g, unsigned which, const struct smp_head *head,
			   const uint8_t *payload)
{
	const struct rig_sm *s = &g->w->rig->sms[which];
	struct transport_addr to = { .lid = sim_port_lid(g->w->rig->sim,
							 sim_find(g->w->rig->sim, s->node), 1) };
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, head, payload);
	g->has_got = false;
	assert_int_equal(transport_send(g->tr, &to, mad, MAD_SIZE, 200), 0);
	run_with(g, 300 * MONO_MS);
	assert_true(g->has_got);
	return (unsigned)ib_get(g->got, SMP_STATUS);
}

static const struct smp_head get = { .method = MAD_GET, .attr = IB_ATTR_SM_INFO, .tid = 0x77 };

static bool is_believed(struct world *w, unsigned which, guid_t guid)
{
	struct sm_manager m;

	for (unsigned i = 0; sm_manager_at(sm_of(w, which), i, &m); i++)
		if (m.guid == guid)
			return !m.trust;
	return false;
}

/* ---- keys on the wire ------------------------------------------------------------------------ */

static void no_key_leaves_a_host(void **state)
{
	struct world *w = *state;

	start_both(w);
	join(w, 1, 1);
	run_for(w, 20 * MONO_S);
	assert_true(replica_master_is_ours(sm_of(w, SPARE)));
	assert_int_equal(managers(w), 2);
	fail_over(w);
	/* The former master comes back, is greater, and is handed the fabric. */
	assert_true(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]) >= 0);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	assert_true(wire.orders > 0 && wire.questions > 10 && wire.answers > 10);
	assert_true(wire.mads > 100);
	assert_int_equal(wire.sm_keys, 0);
	assert_int_equal(wire.sa_keys, 0);
}

/* The option shows SM_Key; of sa_key there is nothing to be seen all the same. */
static void sa_key_stays_where_sm_key_is_shown(void **state)
{
	struct world *w = *state;

	w->conf[ACTIVE]->sm_key_shown = w->conf[SPARE]->sm_key_shown = true;
	start_both(w);
	run_for(w, 20 * MONO_S);
	assert_true(replica_master_is_ours(sm_of(w, SPARE)));
	assert_true(wire.sm_keys > 0);
	assert_int_equal(wire.sa_keys, 0);
}

/* With an sm_key that everyone knows the rest works as well, and sa_key stays. */
static void sa_key_stays_with_the_default_sm_key(void **state)
{
	struct world *w = *state;

	w->conf[ACTIVE]->sm_key = w->conf[SPARE]->sm_key = 1;
	start_both(w);
	run_for(w, 20 * MONO_S);
	assert_true(replica_master_is_ours(sm_of(w, SPARE)));
	assert_false(elect_has_proved(sm_of(w, SPARE), elect_polled(sm_of(w, SPARE))));
	assert_int_equal(wire.questions + wire.answers + wire.orders, 0);
	assert_int_equal(wire.sa_keys, 0);
}

static void a_host_that_asks_is_shown_no_key(void **state)
{
	for (unsigned shown = 0; shown < 2; shown++) {
		struct world *w = *state;
		uint8_t junk[SMP_DATA_SIZE];
		struct rogue g;

		w->conf[ACTIVE]->sm_key_shown = w->conf[SPARE]->sm_key_shown = shown;
		start_both(w);
		g = rogue_on(w, ROGUE, SM_NOT_ACTIVE);
		memset(junk, 0x5A, sizeof(junk));
		for (unsigned which = 0; which < 2; which++) {
			assert_int_equal(rogue_asks(&g, which, &get, NULL), 0);
			assert_true(ib_get(smp_data(g.got), SMI_SM_KEY) == (shown ? SM_KEY : 0));
			assert_false(proof_is_carried(smp_data(g.got)));
			assert_int_equal(rogue_asks(&g, which, &get, junk), 0);
			assert_true(ib_get(smp_data(g.got), SMI_SM_KEY) == (shown ? SM_KEY : 0));
			assert_false(proof_is_carried(smp_data(g.got)));
		}
		transport_close(g.tr);
		teardown(state);
		setup_secret(state);
	}
}

/* ---- strangers that want to be master -------------------------------------------------------- */

/* It has heard all that others said; and it shows any key but the right one. */
static void a_stranger_is_not_believed(void **state)
{
	static const struct {
		enum answer_kind kind;
		uint64_t key;
	} tries[] = { { PLAIN, 0 }, { PLAIN, 1 }, { PLAIN, SA_KEY }, { REPEATED, 0 },
		      { MIRRORED, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		struct world *w = *state;
		struct rogue g;

		start_both(w);
		g = rogue_on(w, ROGUE, SM_MASTER);
		g.kind = tries[i].kind;
		g.key = tries[i].key;
		memcpy(g.heard, smp_data(wire.answer), SMP_DATA_SIZE);
		wire.watched = sim_port_lid(w->rig->sim,
					    sim_find(w->rig->sim, "h5"), 1);
		run_with(&g, 60 * MONO_S);
		assert_true(g.asked > 0);
		assert_false(is_believed(w, ACTIVE, g.tr->port_guid));
		assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_MASTER);
		assert_true(elect_polled(sm_of(w, SPARE)) != g.tr->port_guid);
		assert_int_equal(g.handed + wire.all, 0);
		transport_close(g.tr);
		teardown(state);
		setup_secret(state);
	}
}

/* OpenSM, say, or a host that has read its key: obeyed as ever, and sent none of our keys. */
static void a_manager_that_shows_the_key_is_sent_none(void **state)
{
	for (unsigned shown = 0; shown < 2; shown++) {
		struct world *w = *state;
		struct rogue g;

		w->conf[ACTIVE]->sm_key_shown = shown;
		assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), 0);
		run_for(w, 8 * MONO_S);
		g = rogue_on(w, ROGUE, SM_MASTER);
		g.key = SM_KEY;
		wire.watched = sim_port_lid(w->rig->sim, sim_find(w->rig->sim, "h5"), 1);
		run_with(&g, 40 * MONO_S);
		assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_STANDBY);
		assert_true(is_believed(w, ACTIVE, g.tr->port_guid));
		assert_false(elect_has_proved(sm_of(w, ACTIVE), g.tr->port_guid));
		assert_true(g.handed > 0 && wire.all > 0);
		assert_int_equal(wire.keyed + wire.sa_keys + wire.orders, 0);
		assert_int_equal(wire.sm_keys > 0, shown);
		assert_int_equal(said("shows our SM_Key to every host", "sent no key"), 1);
		transport_close(g.tr);
		teardown(state);
		setup_secret(state);
	}
}

/* ---- what is heard of others ----------------------------------------------------------------- */

/* A question of a manager, asked again by a stranger: the answer is worth nothing but there. */
static void a_repeated_question_is_no_oracle(void **state)
{
	struct world *w = *state;
	uint8_t question[SMP_DATA_SIZE];
	struct rogue g;
	guid_t asked;

	start_both(w);
	run_for(w, 5 * MONO_S);
	g = rogue_on(w, ROGUE, SM_NOT_ACTIVE);
	memcpy(question, smp_data(wire.question), sizeof(question));
	asked = ib_get(question, SMI_GUID) == w->rig->sms[SPARE].tr->port_guid ? ACTIVE : SPARE;
	assert_int_equal(rogue_asks(&g, asked, &get, question), 0);
	assert_true(proof_is_carried(smp_data(g.got)));
	assert_int_equal(ib_get(smp_data(g.got), SMI_SM_KEY), 0);
	/* Not to its asker either, once that has its answer; and in its own name not at all. */
	assert_false(proof_is_answer(sm_of(w, !asked), sm_of(w, !asked)->m.elect->poll.nonce + 1,
				     smp_data(g.got)));
	ib_put(question, SMI_GUID, g.tr->port_guid);
	assert_int_equal(rogue_asks(&g, asked, &get, question), 0);
	assert_false(proof_is_carried(smp_data(g.got)));
	/* The other one was not asked. */
	memcpy(question, smp_data(wire.question), sizeof(question));
	assert_int_equal(rogue_asks(&g, !asked, &get, question), 0);
	assert_false(proof_is_carried(smp_data(g.got)));
	transport_close(g.tr);
}

/* Question and answer by hand, between the two. */
static void exchange(struct world *w, uint64_t nonce, uint8_t info[SMP_DATA_SIZE])
{
	uint8_t question[SMP_DATA_SIZE];

	proof_ask(sm_of(w, ACTIVE), w->rig->sms[SPARE].tr->port_guid, nonce, question);
	elect_fill(sm_of(w, SPARE), info, true);
	proof_answer(sm_of(w, SPARE), question, info);
}

static void every_bit_of_an_answer_counts(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE];
	uint64_t nonce;

	start_both(w);
	nonce = proof_nonce(sm_of(w, ACTIVE));
	exchange(w, nonce, info);
	assert_true(proof_is_answer(sm_of(w, ACTIVE), nonce, info));
	for (unsigned bit = 0; bit < SMX_BITS; bit++) {
		info[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
		assert_false(proof_is_answer(sm_of(w, ACTIVE), nonce, info));
		info[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	}
	assert_true(proof_is_answer(sm_of(w, ACTIVE), nonce, info));
	assert_false(proof_is_answer(sm_of(w, ACTIVE), nonce + 1, info));
	assert_false(proof_is_answer(sm_of(w, ACTIVE), 0, info));
	assert_false(proof_is_answer(sm_of(w, SPARE), nonce, info));
	assert_false(proof_is_answer(sm_of(w, ACTIVE), proof_nonce(sm_of(w, ACTIVE)), info));
}

static void every_bit_of_a_question_counts(void **state)
{
	struct world *w = *state;
	uint8_t question[SMP_DATA_SIZE], info[SMP_DATA_SIZE];
	uint64_t nonce;

	start_both(w);
	nonce = proof_nonce(sm_of(w, ACTIVE));
	proof_ask(sm_of(w, ACTIVE), w->rig->sms[SPARE].tr->port_guid, nonce, question);
	for (unsigned bit = 0; bit < SMX_BITS; bit++) {
		question[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
		elect_fill(sm_of(w, SPARE), info, true);
		proof_answer(sm_of(w, SPARE), question, info);
		assert_false(proof_is_carried(info));
		question[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	}
	elect_fill(sm_of(w, SPARE), info, true);
	proof_answer(sm_of(w, SPARE), question, info);
	assert_true(proof_is_answer(sm_of(w, ACTIVE), nonce, info));
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* The Set of the master to its standby that a stranger would like to have. */
static void make_order(struct world *w, unsigned mod, uint8_t mad[MAD_SIZE])
{
	struct remote_sm *r =
		remote_find(sm_of(w, ACTIVE), w->rig->sms[SPARE].tr->port_guid);
	const struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_SM_INFO, .mod = mod, .tid = 1
	};
	uint8_t info[SMP_DATA_SIZE];

	assert_true(r && r->proved && r->challenge);
	elect_fill(sm_of(w, ACTIVE), info, false);
	proof_order(sm_of(w, ACTIVE), r, mod, info);
	smp_build_lid(mad, &head, info);
}

static void every_bit_of_an_order_counts(void **state)
{
	struct world *w = *state;
	uint8_t mad[MAD_SIZE], *info = mad + SMP_DATA;

	start_both(w);
	run_for(w, 15 * MONO_S);
	make_order(w, SMI_DISABLE, mad);
	assert_true(proof_is_order(sm_of(w, SPARE), mad));
	assert_false(proof_is_order(sm_of(w, ACTIVE), mad));
	for (unsigned bit = 0; bit < SMX_BITS; bit++) {
		info[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
		assert_false(proof_is_order(sm_of(w, SPARE), mad));
		info[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	}
	ib_put(mad, SMP_ATTR_MOD, SMI_HANDOVER);
	assert_false(proof_is_order(sm_of(w, SPARE), mad));
}

/* The status of the answer. */
static unsigned give(struct world *w, const uint8_t *mad)
{
	struct transport_addr from = {
		.lid = sim_port_lid(w->rig->sim, sim_find(w->rig->sim, "h0"), 1)
	};

	wire.status = NOT_SENT;
	elect_answer(sm_of(w, SPARE), &from, mad);
	return wire.status;
}

/* Once; a repetition changes nothing, whether it is the sender's or a stranger's. */
static void an_order_counts_once(void **state)
{
	struct world *w = *state;
	uint8_t disable[MAD_SIZE], standby[MAD_SIZE];

	start_both(w);
	run_for(w, 15 * MONO_S);
	make_order(w, SMI_DISABLE, disable);
	make_order(w, SMI_STANDBY, standby);
	assert_int_equal(give(w, disable), 0);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_NOT_ACTIVE);
	assert_int_equal(give(w, standby), MAD_STATUS_BAD_VALUE); /* the challenge is spent */
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_NOT_ACTIVE);
	run_for(w, 15 * MONO_S);
	make_order(w, SMI_STANDBY, standby);
	assert_int_equal(give(w, standby), 0);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	run_for(w, 5 * MONO_S);
	assert_int_equal(give(w, disable), MAD_STATUS_BAD_VALUE);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	assert_int_equal(give(w, standby), 0); /* its answer may have been lost */
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
}

/* Our SM_Key is no order where the one that is named has proved before. */
static void a_key_in_the_name_of_one_of_ours_orders_nothing(void **state)
{
	struct world *w = *state;
	const struct smp_head set = {
		.method = MAD_SET, .attr = IB_ATTR_SM_INFO, .mod = SMI_DISABLE, .tid = 1
	};
	uint8_t mad[MAD_SIZE], info[SMP_DATA_SIZE];

	start_both(w);
	elect_fill(sm_of(w, ACTIVE), info, false);
	ib_put(info, SMI_SM_KEY, SM_KEY);
	smp_build_lid(mad, &set, info);
	assert_int_equal(give(w, mad), MAD_STATUS_BAD_VALUE);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	assert_int_equal(said("is refused", "another SM_Key"), 1);
}

/* ---- requests to the SA ---------------------------------------------------------------------- */

/* As a standby asks: by its port, for this question alone, and with both keys. */
static void a_proof_is_for_one_request_of_one_manager(void **state)
{
	struct world *w = *state;
	guid_t asker, other;
	uint8_t mad[MAD_SIZE];

	start_both(w);
	run_for(w, 20 * MONO_S);
	asker = w->rig->sms[SPARE].tr->port_guid;
	other = w->host[1]->guid;
	memcpy(mad, spare_tap(w)->mad, sizeof(mad));
	assert_true(ib_get(mad, SAH_SM_KEY) != 0 && ib_get(mad, SAH_SM_KEY) != SA_KEY);
	assert_true(replica_knows_keys(sm_of(w, ACTIVE), asker, mad));
	assert_false(replica_knows_keys(sm_of(w, ACTIVE), other, mad));
	assert_false(replica_knows_keys(sm_of(w, SPARE), asker, mad));
	ib_put(mad, SAH_TID, ib_get(mad, SAH_TID) ^ UINT64_C(0x5500000000)); /* the kernel's half */
	assert_true(replica_knows_keys(sm_of(w, ACTIVE), asker, mad));
	for (unsigned bit = 8 * SA_DATA; bit < 8 * (SA_DATA + SVR_BYTES); bit++) {
		mad[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
		assert_false(replica_knows_keys(sm_of(w, ACTIVE), asker, mad));
		mad[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	}
	ib_put(mad, SAH_TID, ib_get(mad, SAH_TID) ^ 1);
	assert_false(replica_knows_keys(sm_of(w, ACTIVE), asker, mad));
	ib_put(mad, SAH_TID, ib_get(mad, SAH_TID) ^ 1);
	w->conf[ACTIVE]->sa_key++;
	assert_false(replica_knows_keys(sm_of(w, ACTIVE), asker, mad));
	w->conf[ACTIVE]->sa_key = 1;
	assert_false(replica_knows_keys(sm_of(w, ACTIVE), asker, mad));
}

/* A host that repeats it is a host that guesses. */
static void a_repeated_request_of_another_port_is_dropped(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES] = { 0 };
	struct question q = { .method = MAD_SET,
			      .attr = SA_SERVICE_RECORD,
			      .mask = SA_COMP(SVR_ID),
			      .data = record,
			      .len = sizeof(record) };

	start_both(w);
	run_for(w, 20 * MONO_S);
	w->host[1]->sm_key = ib_get(spare_tap(w)->mad, SAH_SM_KEY);
	memcpy(record, spare_tap(w)->mad + SA_DATA, sizeof(record));
	assert_int_equal(ask(w, 1, &q, NULL, 0), -ETIMEDOUT);
	assert_true(sa_stats(sm_sa(sm_of(w, ACTIVE)))->key_guesses > 0);
	/* Programs of an administrator have sa_key. */
	w->host[1]->sm_key = SA_KEY;
	q = (struct question){ .method = MAD_GET, .attr = SA_CLASS_PORT_INFO, .data = "" };
	assert_int_equal(ask(w, 1, &q, NULL, 0), 0);
}

#define SECRET(f) cmocka_unit_test_setup_teardown(f, setup_secret, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SECRET(no_key_leaves_a_host),
		SECRET(sa_key_stays_where_sm_key_is_shown),
		SECRET(sa_key_stays_with_the_default_sm_key),
		SECRET(a_host_that_asks_is_shown_no_key),
		SECRET(a_stranger_is_not_believed),
		SECRET(a_manager_that_shows_the_key_is_sent_none),
		SECRET(a_repeated_question_is_no_oracle),
		SECRET(every_bit_of_an_answer_counts),
		SECRET(every_bit_of_a_question_counts),
		SECRET(every_bit_of_an_order_counts),
		SECRET(an_order_counts_once),
		SECRET(a_key_in_the_name_of_one_of_ours_orders_nothing),
		SECRET(a_proof_is_for_one_request_of_one_manager),
		SECRET(a_repeated_request_of_another_port_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
