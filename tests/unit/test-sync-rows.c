// SPDX-License-Identifier: BSD-2-Clause
/*
 * What holds for every attribute that sync/ writes: the one sender, verdicts and limits, cells on
 * the wire.
 */
#include "fabric/fabric_internal.h"
#include "sync-desk.h"
#include "sync/sync_internal.h"

static bool may_write;
static unsigned asked;

static bool ask_election(void *arg)
{
	asked++;
	return may_write;
}

static struct desk *desk_with_election(bool is_master)
{
	struct desk *d = desk_new(1);
	const struct sync_hooks hooks = { .may_write = ask_election,
					  .ended = desk_on_ended,
					  .unsettled = desk_on_unsettled,
					  .arg = d };

	may_write = is_master;
	asked = 0;
	sync_free(d->sync);
	d->sync = sync_new(d->fabric, d->mad, &hooks);
	return d;
}

static void on_command(void *owner, const struct mad_result *r)
{
	++*(unsigned *)r->arg;
}

/* ---- the sender ------------------------------------------------------------------------------ */

static void a_standby_sends_nothing(void **state)
{
	struct desk *d = desk_with_election(false);
	const guid_t guids[GUID_BLOCK] = { 0, 0x1234 };
	const struct mad_request rq = { .attr = IB_ATTR_SM_INFO, .mod = 1 };
	unsigned ended = 0;

	sync_want_guids(d->sync, desk_host(d, 4)->guid, 0, guids);
	desk_run(d);
	assert_int_equal(d->outcome.sets, 0);
	assert_false(sync_command(d->sync, desk_host(d, 3), &rq, on_command, d, &ended));
	assert_false(sync_last_command(d->sync, desk_host(d, 3), &rq));
	assert_false(sync_switch_off(d->sync, desk_host(d, 3), on_command, d, &ended));
	desk_run_for(d, 100 * MONO_MS);
	assert_int_equal(ended, 0);
	assert_int_equal(sim_sets(d->sim), 0);
	assert_true(asked > 20);
	desk_free(d);
}

static void every_set_asks_the_election(void **state)
{
	struct desk *d = desk_with_election(true);

	desk_run(d);
	assert_true(d->outcome.sets > 20);
	assert_int_equal(asked, d->outcome.sets);
	assert_int_equal(sim_sets(d->sim), asked);
	desk_free(d);
}

/* Mastership goes in the middle of a run: what is queued is not taken back, and nothing follows. */
static void what_loses_the_election_stops(void **state)
{
	struct desk *d = desk_with_election(true);
	const struct plan p = { .conf = d->conf, .sm_lid = desk_host(d, 0)->lid };

	sync_start(d->sync, &p);
	sync_feed(d->sync);
	may_write = false;
	while (!d->ended)
		desk_step(d);
	assert_int_equal(sim_sets(d->sim), d->outcome.sets);
	for (unsigned h = 0; h < N_HOSTS; h++)
		assert_true(sim_port_state(d->sim, desk_host_index(d, h), 1) < IB_PORT_ACTIVE);
	desk_free(d);
}

static void nothing_is_sent_where_no_path_leads(void **state)
{
	struct desk *d = desk_with_election(true);
	const struct mad_request rq = { .attr = IB_ATTR_SM_INFO, .mod = 1 };
	unsigned ended = 0;

	fabric_disconnect(desk_host(d, 4));
	assert_false(sync_command(d->sync, desk_host(d, 4), &rq, on_command, d, &ended));
	assert_false(sync_last_command(d->sync, desk_host(d, 4), &rq));
	desk_run_for(d, 100 * MONO_MS);
	assert_int_equal(sim_sets(d->sim), 0);
	desk_free(d);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void an_end_is_one_verdict(void **state)
{
	static const struct {
		enum mad_end end;
		bool as_asked;
		enum verdict v;
	} rows[] = {
		{ MAD_END_ANSWERED, true, VERDICT_STORED },
		{ MAD_END_ANSWERED, false, VERDICT_OTHERWISE },
		{ MAD_END_BAD_STATUS, false, VERDICT_REFUSED },
		{ MAD_END_TIMEOUT, false, VERDICT_SILENT },
		{ MAD_END_CANCELLED, false, VERDICT_CANCELLED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct mad_result r = { .end = rows[i].end };

		assert_int_equal(sync_verdict(&r, rows[i].as_asked), rows[i].v);
	}
}

/*
 * Limits 1, 3, 0: at once, the third time, never. An answer ends the count; a cancelled Set says
 * nothing.
 */
static void tries_are_counted_as_the_row_says(void **state)
{
	const struct sync_row row = { .limit = { [VERDICT_OTHERWISE] = 1, [VERDICT_REFUSED] = 3 } };
	uint8_t tries = 0;

	assert_true(sync_tries_are_over(&row, &tries, VERDICT_OTHERWISE));
	assert_false(sync_tries_are_over(&row, &tries, VERDICT_REFUSED));
	assert_false(sync_tries_are_over(&row, &tries, VERDICT_REFUSED));
	assert_false(sync_tries_are_over(&row, &tries, VERDICT_SILENT));
	assert_false(sync_tries_are_over(&row, &tries, VERDICT_CANCELLED));
	assert_true(sync_tries_are_over(&row, &tries, VERDICT_REFUSED));
	for (unsigned i = 0; i < 300; i++)
		assert_true(sync_tries_are_over(&row, &tries, VERDICT_REFUSED));
	assert_false(sync_tries_are_over(&row, &tries, VERDICT_STORED));
	assert_int_equal(tries, 0);
}

/* Limits 3, 3, 3: all failures count together, and an answer that is another is one of them. */
static void failures_of_all_kinds_may_count_together(void **state)
{
	uint8_t tries = 0;

	assert_false(sync_tries_are_over(&mft_row, &tries, VERDICT_OTHERWISE));
	assert_false(sync_tries_are_over(&mft_row, &tries, VERDICT_SILENT));
	assert_true(sync_tries_are_over(&mft_row, &tries, VERDICT_REFUSED));
	assert_false(sync_tries_are_over(&mft_row, &tries, VERDICT_STORED));
	assert_int_equal(tries, 0);
}

/*
 * Every attribute has its row in every stage, and a table of ports all columns that differ.c
 * reads.
 */
static void every_attribute_has_its_row(void **state)
{
	static const uint16_t attrs[] = { IB_ATTR_PKEY_TABLE, IB_ATTR_GUID_INFO, IB_ATTR_VLARB,
					  IB_ATTR_SL2VL, IB_ATTR_LFT, IB_ATTR_SWITCH_INFO,
					  IB_ATTR_PORT_INFO, IB_ATTR_MLNX_EXT_PORT_INFO };
	struct sync s = { 0 };

	for (s.stage = ST_IDLE; s.stage < ST_END; s.stage++) {
		for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
			const struct sync_row *row = sync_row_of(&s, attrs[i]);

			assert_int_equal(row->attr, attrs[i]);
			assert_int_equal(row->table, port_table_of(attrs[i]));
			assert_non_null(row->observe);
			assert_true(!row->unknown || row->forget);
			assert_true(row->tries || !row->limit[VERDICT_REFUSED]);
			if (row->table < N_PORT_TABLES)
				assert_true(row->want && row->fill && row->forget && row->give_up);
		}
	}
}

/* ---- cells on the wire ----------------------------------------------------------------------- */

/*
 * The port is found rebooted while a Set of its table is out: it is not sent again beside that
 * one.
 */
static void what_is_forgotten_on_the_wire_is_still_waited_for(void **state)
{
	struct desk *d = desk_new(1);
	struct port *p = desk_host(d, 4);
	const guid_t guids[GUID_BLOCK] = { 0, 0x1234 };

	desk_run(d);
	desk_observe(d);
	sync_want_guids(d->sync, p->guid, 0, guids);
	assert_true(cell_table_is_out(p->tables[TABLE_GUIDS], 0));
	fabric_forget_cells(d->fabric, p);
	assert_true(cell_table_is_out(p->tables[TABLE_GUIDS], 0));
	assert_true(fabric_cells_unproven(p));
	sync_want_guids(d->sync, p->guid, 0, guids);
	desk_run_for(d, 100 * MONO_MS);
	assert_int_equal(sim_count(d->sim, IB_ATTR_GUID_INFO, MAD_SET), 1);
	assert_false(cell_table_is_out(p->tables[TABLE_GUIDS], 0));
	assert_non_null(fabric_cell(d->fabric, p, TABLE_GUIDS, 0));
	fabric_forget_cells(d->fabric, p);
	assert_null(p->tables[TABLE_GUIDS]);
	desk_free(d);
}

static void modifiers_lead_back_to_their_block(void **state)
{
	struct desk *d = desk_new(1);
	const struct port *ports[] = { desk_host(d, 3), desk_host(d, 3)->peer,
				       &desk_host(d, 3)->peer->node->ports[0] };

	for (enum port_table t = 0; t < N_PORT_TABLES; t++) {
		assert_int_equal(port_table_of(port_tables[t].attr), t);
		for (unsigned i = 0; i < ARRAY_SIZE(ports); i++)
			for (unsigned block = 0; block < 4; block++)
				assert_int_equal(port_tables[t].block(
							 port_tables[t].mod(ports[i], block)),
						 block);
	}
	assert_int_equal(port_table_of(IB_ATTR_LFT), N_PORT_TABLES);
	desk_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_standby_sends_nothing),
		cmocka_unit_test(every_set_asks_the_election),
		cmocka_unit_test(what_loses_the_election_stops),
		cmocka_unit_test(nothing_is_sent_where_no_path_leads),
		cmocka_unit_test(an_end_is_one_verdict),
		cmocka_unit_test(tries_are_counted_as_the_row_says),
		cmocka_unit_test(failures_of_all_kinds_may_count_together),
		cmocka_unit_test(every_attribute_has_its_row),
		cmocka_unit_test(what_is_forgotten_on_the_wire_is_still_waited_for),
		cmocka_unit_test(modifiers_lead_back_to_their_block),
	};

	return cmocka_run_group_tests_name("sync-rows", tests, NULL, NULL);
}
