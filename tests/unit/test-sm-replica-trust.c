// SPDX-License-Identifier: BSD-2-Clause
/*
 * Managers among each other: which options are compared (configured-otherwise.scn has the rest),
 * which managers may see that, and which answers of a master are believed.
 */
#include "tests/unit/two-managers.h"

/* ---- configuration --------------------------------------------------------------------------- */

/* A new option that reaches the fabric is listed here, too: both must have it. */
static void what_reaches_the_fabric_is_compared(void **state)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		const struct conf_option *o = conf_option(id);

		if (o->state != CONF_STATE_EFFECTIVE || id == CONF_ID_reassign_lids)
			continue;
		if (o->cost == CONF_COST_SWEEP || o->cost == CONF_COST_ROUTE)
			assert_true(config_group_of(id));
	}
	assert_int_equal(config_group_of(CONF_ID_sm_priority), 0);
	assert_int_equal(config_group_of(CONF_ID_log_file), 0);
}

/* ---- rights to see it ------------------------------------------------------------------------ */

static uint32_t services_shown(struct world *w, unsigned host, const struct question *q)
{
	struct transport_event ev;
	uint32_t n;

	assert_int_equal(client_ask(w->host[host], w->rig, q, &ev), 0);
	n = (uint32_t)((ev.length - SA_DATA) / SVR_BYTES);
	free(ev.whole);
	return n;
}

static void hosts_see_nothing_of_managers(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES] = { 0 };
	struct question q = { .method = MAD_SA_GET_TABLE,
			      .attr = SA_SERVICE_RECORD,
			      .data = record,
			      .len = sizeof(record) };
	size_t len;
	_cleanup_free_ char *dump = NULL;

	start_both(w);
	run_for(w, 5 * MONO_S);
	assert_int_equal(managers(w), 2);
	assert_int_equal(services_shown(w, 1, &q), 0);
	w->host[1]->sm_key = 1;
	assert_int_equal(services_shown(w, 1, &q), 0);
	ib_put(record, SVR_ID, SA_MANAGER_ID);
	q.mask = SA_COMP(SVR_ID);
	assert_int_equal(services_shown(w, 1, &q), 0);
	q.mod = SA_FOR_STANDBY;
	assert_int_equal(ask(w, 1, &q, NULL, 0), SA_REQ_DENIED);
	dump = sa_db_text(sm_sa(sm_of(w, ACTIVE)), &len);
	assert_null(strstr(dump, "Service Record"));
	assert_int_equal(sa_stats(sm_sa(sm_of(w, ACTIVE)))->services, 0);
}

static void a_host_cannot_pose_as_a_manager(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES];
	struct question q = { .method = MAD_SET,
			      .attr = SA_SERVICE_RECORD,
			      .mask = ~0ull & ~SA_COMP(SVR_PKEY),
			      .data = record,
			      .len = sizeof(record) };

	start_both(w);
	client_service(w->host[1], MAD_SET, SA_MANAGER_ID, 100, record);
	w->host[1]->sm_key = 1;
	assert_int_equal(ask(w, 1, &q, NULL, 0), SA_REQ_INVALID);
	q.method = MAD_SA_DELETE;
	client_service(w->host[1], MAD_SET, SA_MANAGER_ID, 100, record);
	ib_bits_put(record, SVR_GID + 64, 64, w->rig->sms[ACTIVE].tr->port_guid);
	assert_int_equal(ask(w, 1, &q, NULL, 0), SA_NO_RECORDS);
}

/* ---- answers that cannot be believed -------------------------------------------------------- */

/* An answer to the question that is out, as it would come from the master. */
static struct transport_event answer_to(struct world *w, size_t stride, size_t bytes)
{
	const struct tap *tap = spare_tap(w);
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = SA_DATA + bytes };

	ev.from = tap->to;
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_CLASS_VERSION, 2);
	ib_put(ev.mad, SAH_METHOD, ib_get(tap->mad, SAH_METHOD) | MAD_RESPONSE_BIT);
	ib_put(ev.mad, SAH_TID, ib_get(tap->mad, SAH_TID));
	ib_put(ev.mad, SAH_ATTR_ID, ib_get(tap->mad, SAH_ATTR_ID));
	ib_put(ev.mad, SAH_ATTR_OFFSET, stride / 8);
	ib_put(ev.mad, SAH_RMPP_FLAGS, RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST);
	if (ev.length > MAD_SIZE) {
		ev.whole = xcalloc(1, ev.length);
		memcpy(ev.whole, ev.mad, MAD_SIZE);
	}
	return ev;
}

/* Stops where the standby waits for the table of members. */
static void wait_for_members_question(struct world *w)
{
	start_both(w);
	join(w, 1, 1);
	wait_for_question(w, SA_MC_MEMBER_RECORD);
}

/* True: the table was taken, which shows in the question for the next one. */
static bool is_taken(struct world *w, struct transport_event ev)
{
	const struct tap *tap = spare_tap(w);
	unsigned questions = tap->questions, attr = ib_get(tap->mad, SAH_ATTR_ID);
	bool ours = replica_receive(sm_of(w, SPARE), &ev);

	assert_true(ours);
	free(ev.whole);
	return tap->questions == questions + 1 && ib_get(tap->mad, SAH_ATTR_ID) != attr &&
	       ib_get(tap->mad, SAH_METHOD) == MAD_SA_GET_TABLE;
}

static void a_cut_table_is_not_believed(void **state)
{
	struct world *w = *state;
	mono_t at;

	wait_for_members_question(w);
	at = replica_copied_at(sm_of(w, SPARE));
	assert_false(is_taken(w, answer_to(w, MCM_BYTES, 200)));
	assert_int_equal(replica_copied_at(sm_of(w, SPARE)), at);
	assert_int_equal(said("sent part of a table instead of the whole", ""), 1);
}

static void a_wrong_record_size_is_not_believed(void **state)
{
	struct world *w = *state;

	mono_t at;

	wait_for_members_question(w);
	at = replica_copied_at(sm_of(w, SPARE));
	assert_false(is_taken(w, answer_to(w, 64, 640)));
	assert_int_equal(replica_copied_at(sm_of(w, SPARE)), at);
}

static void records_without_a_size_are_not_believed(void **state)
{
	struct world *w = *state;

	wait_for_members_question(w);
	assert_false(is_taken(w, answer_to(w, 0, 560)));
}

static void an_absurd_number_is_not_believed(void **state)
{
	struct world *w = *state;
	const size_t most = (12u << 20) / SVR_BYTES;

	wait_for_members_question(w);
	wait_for_question(w, SA_SERVICE_RECORD);
	assert_false(is_taken(w, answer_to(w, SVR_BYTES, (most + 1) * SVR_BYTES)));
	assert_int_equal(said("sent part of a table instead of the whole", ""), 1);
}

static void another_lid_is_not_the_master(void **state)
{
	struct world *w = *state;
	struct transport_event ev;

	wait_for_members_question(w);
	ev = answer_to(w, MCM_BYTES, MCM_BYTES);
	ev.from.lid++;
	assert_false(is_taken(w, ev));
	/* it is still waited for */
	assert_true(is_taken(w, answer_to(w, MCM_BYTES, MCM_BYTES)));
}

static void an_empty_table_is_believed(void **state)
{
	struct world *w = *state;

	wait_for_members_question(w);
	assert_true(is_taken(w, answer_to(w, 0, 0)));
}

/* Records that make no sense cost themselves. */
static void nonsense_costs_itself(void **state)
{
	struct world *w = *state;
	uint8_t rows[4 * MCM_BYTES] = { 0 }, services[2 * SVR_BYTES] = { 0 }, mgid[16];
	struct sa_tables t = { .members = { rows, 4 }, .services = { services, 2 }, .whole = true };
	struct sa *sa;

	start_both(w);
	sa = sm_of(w, SPARE)->sa;
	for (unsigned i = 0; i < 4; i++) {
		uint8_t *r = rows + i * MCM_BYTES;

		client_mgid(i, mgid);
		memcpy(ib_at(r, MCM_MGID), mgid, 16);
		ib_put(r, MCM_MLID, 0xC001 + i);
		ib_put(r, MCM_PKEY, 0xFFFF);
		ib_put(r, MCM_MTU, 4);
		ib_put(r, MCM_RATE, 3);
		ib_bits_put(r, MCM_PORT_GID + 64, 64, w->host[1]->guid);
		ib_put(r, MCM_JOIN_STATE, MC_FULL);
	}
	rows[0] = 0x12;					 /* no multicast GID */
	ib_put(rows + MCM_BYTES, MCM_MLID, 0x0042);	 /* no multicast LID */
	ib_put(rows + 2 * MCM_BYTES, MCM_JOIN_STATE, 0); /* a port, but no member */
	ib_put(services, SVR_ID, SA_MANAGER_ID);
	ib_put(services + SVR_BYTES, SVR_LEASE, 0);
	assert_int_equal(sa_restore_tables(sa, &t), 3);
	assert_int_equal(sa_stats(sa)->members, 1);
	assert_int_equal(sa_stats(sa)->services, 0);
}

/* ---- Reports -------------------------------------------------------------------------------- */

static void reports_come_from_the_master_alone(void **state)
{
	struct world *w = *state;
	struct transport_event ev;
	mono_t next;

	w->conf[SPARE]->sminfo_polling_timeout = 10000; /* and so far are rounds from each other */
	start_both(w);
	run_for(w, 25 * MONO_S);
	ev = answer_to(w, 0, NT_BYTES);
	ib_put(ev.mad, SAH_METHOD, MAD_REPORT);
	ib_put(ev.mad, SAH_ATTR_ID, SA_NOTICE);
	ib_put(ev.mad + SA_DATA, NT_IS_GENERIC, 1);
	ib_put(ev.mad + SA_DATA, NT_TRAP, TRAP_MGID_CREATED);
	next = replica_next(sm_of(w, SPARE));
	assert_true(next > sim_now(w->rig->sim) && next != MONO_NEVER);
	ev.from.lid++;
	assert_true(replica_receive(sm_of(w, SPARE), &ev));
	assert_int_equal(replica_next(sm_of(w, SPARE)), next);
	ev.from.lid--;
	assert_true(replica_receive(sm_of(w, SPARE), &ev));
	assert_true(replica_next(sm_of(w, SPARE)) < next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_reaches_the_fabric_is_compared),
		TEST(hosts_see_nothing_of_managers),
		TEST(a_host_cannot_pose_as_a_manager),
		TEST(a_cut_table_is_not_believed),
		TEST(a_wrong_record_size_is_not_believed),
		TEST(records_without_a_size_are_not_believed),
		TEST(an_absurd_number_is_not_believed),
		TEST(another_lid_is_not_the_master),
		TEST(an_empty_table_is_believed),
		TEST(nonsense_costs_itself),
		TEST(reports_come_from_the_master_alone),
	};

	return cmocka_run_group_tests_name("sm-replica-trust", tests, NULL, NULL);
}
