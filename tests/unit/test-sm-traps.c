// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traps against a whole manager: which are answered and believed, what a reaction costs
 * (traps.md).
 */
#include "trap-world.h"
#include "sm/trust/traps.h"

/* ---- answers ------------------------------------------------------------------------------- */

/* The TrapRepress that came for `tr`. */
static void expect_repress(struct transport *tr, unsigned class, uint64_t tid,
			   const uint8_t *notice)
{
	struct transport_event ev;

	while (transport_receive(tr, &ev) == 1) {
		if (ev.kind != TRANSPORT_MAD || ib_get(ev.mad, SMP_METHOD) != MAD_TRAP_REPRESS)
			continue;
		assert_int_equal(ib_get(ev.mad, SMP_CLASS), class);
		assert_int_equal(ib_get(ev.mad, SMP_TID) & UINT32_MAX, tid);
		assert_int_equal(ib_get(ev.mad, SMP_ATTR_ID), IB_ATTR_NOTICE);
		assert_int_equal(ib_get(ev.mad, SMP_STATUS), 0);
		assert_memory_equal(smp_data(ev.mad), notice, SMP_DATA_SIZE);
		return;
	}
	fail_msg("no TrapRepress");
}

static void every_kind_is_repressed(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];

	start(w);
	for (size_t i = 0; i < ARRAY_SIZE(every_trap); i++) {
		notice_of(every_trap[i], lid_of(w, "h5"), notice);
		send_from_host(w, 5, notice);
		expect_repress(host(w, 5), MAD_CLASS_SMI_LID, w->tid, notice);
	}
	notice_of(1, lid_of(w, "h5"), notice);
	ib_put(notice, NT_IS_GENERIC, 0);
	send_from_host(w, 5, notice);
	expect_repress(host(w, 5), MAD_CLASS_SMI_LID, w->tid, notice);
	assert_int_equal(sm_trap_stats(w->sm)->repressed >= ARRAY_SIZE(every_trap) + 1, true);
	assert_int_equal(sm_trap_stats(w->sm)->received[SM_TRAP_VENDOR], 1);
	assert_int_equal(sm_trap_stats(w->sm)->received[SM_TRAP_KEYS], 4);
	assert_true(is_good(w));
}

/* The way from one host to another, over the first spine. */
static struct dr_path route_to(struct world *w, const char *from, const char *to)
{
	int leaf, far, spine = node_of(w, "spine1"), there = node_of(w, to), at;
	unsigned port;
	struct dr_path path = { 0 };

	assert_true(sim_peer(w->sim, node_of(w, from), 1, &leaf, &port));
	assert_true(sim_peer(w->sim, there, 1, &far, &port));
	dr_path_extend(&path, 1, &path);
	for (unsigned p = 1; p <= sim_node_ports(w->sim, leaf); p++) {
		if (sim_peer(w->sim, leaf, p, &at, &port) && at == spine)
			dr_path_extend(&path, (uint8_t)p, &path);
	}
	for (unsigned p = 1; p <= sim_node_ports(w->sim, spine); p++) {
		if (sim_peer(w->sim, spine, p, &at, &port) && at == far)
			dr_path_extend(&path, (uint8_t)p, &path);
	}
	for (unsigned p = 1; p <= sim_node_ports(w->sim, far); p++) {
		if (sim_peer(w->sim, far, p, &at, &port) && at == there)
			dr_path_extend(&path, (uint8_t)p, &path);
	}
	assert_int_equal(path.length, 4);
	return path;
}

static void directed_routes_are_gone_back(void **state)
{
	struct world *w = *state;
	const struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = 0x77 };
	const struct transport_addr to = { .lid = LID_PERMISSIVE };
	struct dr_path path;
	uint8_t notice[SMP_DATA_SIZE], mad[MAD_SIZE];

	start(w);
	sim_set_desc(w->sim, node_of(w, "h9"), "another name");
	run_for(w, MONO_S);
	path = route_to(w, "h9", "h0");
	desc_notice(w, "h9", notice);
	smp_build_dr(mad, &head, &path, notice);
	assert_int_equal(transport_send(host(w, 9), &to, mad, sizeof(mad), PATIENCE), 0);
	run_for(w, 5 * MONO_MS);
	expect_repress(host(w, 9), MAD_CLASS_SMI_DR, 0x77, notice);
	assert_int_equal(sm_trap_stats(w->sm)->strangers, 0);
	assert_int_equal(sm_trap_stats(w->sm)->forged, 0);
}

/* A path back that leads nowhere is an unknown sender, whatever stands in it. */
static void nonsense_on_the_way_back_is_a_stranger(void **state)
{
	struct world *w = *state;
	const struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = 0x77 };
	const struct transport_addr to = { .lid = lid_of(w, "h0") };
	uint8_t notice[SMP_DATA_SIZE], mad[MAD_SIZE];
	uint64_t strangers;

	start(w);
	strangers = sm_trap_stats(w->sm)->strangers;
	notice_of(TRAP_LOCAL_CHANGE, lid_of(w, "h0"), notice);
	for (unsigned i = 0; i < 64; i++) {
		const struct dr_path path = route_to(w, "h9", "h0");

		smp_build_dr(mad, &head, &path, notice);
		memset(mad + SMP_RETURN_PATH, (int)(i * 37), 64);
		assert_int_equal(transport_send(host(w, 9), &to, mad, sizeof(mad), 0), 0);
		run_for(w, MONO_MS);
	}
	/* The simulator fills in the way as a fabric does: it is h9, which speaks of h0. */
	assert_int_equal(sm_trap_stats(w->sm)->strangers, strangers);
	assert_true(sm_trap_stats(w->sm)->forged > 0);
	assert_true(is_good(w));
}

/* The key in the TrapRepress that came for `tr`; false: none came. */
static bool repress_came(struct transport *tr, uint64_t *ret_key)
{
	struct transport_event ev;

	while (transport_receive(tr, &ev) == 1) {
		if (ev.kind != TRANSPORT_MAD || ib_get(ev.mad, SMP_METHOD) != MAD_TRAP_REPRESS)
			continue;
		*ret_key = ib_get(ev.mad, SMP_M_KEY);
		return true;
	}
	return false;
}

static uint64_t key_of(struct world *w, const char *name)
{
	struct sim_m_key has;
	int node = node_of(w, name);

	assert_true(sim_port_m_key(w->sim, node, sim_node_is_switch(w->sim, node) ? 0 : 1, &has));
	return has.key;
}

static void start_with_keys(struct world *w)
{
	w->conf->m_key = 0x5eed;
	w->conf->m_key_per_port = true;
	w->conf->m_key_protection_level = 2;
	start(w);
}

/*
 * One directed hop to its leaf, which sends it on to the manager by LID, as from itself. `from` of
 * it is the DrSLID.
 */
static void send_by_leaf(struct world *w, lid_t from, const uint8_t *notice)
{
	const struct smp_head head = {
		.method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = ++w->tid
	};
	const struct transport_addr to = { .lid = from };
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	uint8_t mad[MAD_SIZE];

	smp_build_dr(mad, &head, &path, notice);
	ib_put(mad, SMP_DR_SLID, from);
	ib_put(mad, SMP_DR_DLID, lid_of(w, "h0"));
	assert_int_equal(transport_send(host(w, 9), &to, mad, sizeof(mad), PATIENCE), 0);
	run_for(w, 5 * MONO_MS);
}

/* Neither is the leaf believed to speak, nor does the host see the key of its leaf. */
static void a_host_gets_no_key_of_its_leaf(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];
	const struct sm_trap_stats *st;
	uint64_t key = 0, taken;
	unsigned port;
	int leaf;

	start_with_keys(w);
	assert_true(sim_peer(w->sim, node_of(w, "h9"), 1, &leaf, &port));
	st = sm_trap_stats(w->sm);
	taken = st->taken;
	notice_of(TRAP_LINK_STATE, sim_port_lid(w->sim, leaf, 0), notice);
	send_by_leaf(w, LID_PERMISSIVE, notice);
	assert_true(repress_came(host(w, 9), &key));
	assert_int_equal(key, key_of(w, "h9"));
	assert_int_equal(st->taken, taken);
	assert_int_equal(st->forged, 1);
	notice_of(TRAP_LOCAL_CHANGE, lid_of(w, "h9"), notice);
	send_by_leaf(w, LID_PERMISSIVE, notice);
	assert_true(repress_came(host(w, 9), &key));
	assert_int_equal(key, key_of(w, "h9"));
	assert_int_equal(st->taken, taken + 1);
}

/* Behind the leaf the answer would go on by LID, with the key of the leaf. */
static void what_goes_on_by_lid_is_not_answered(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];
	uint64_t key, repressed;

	start_with_keys(w);
	repressed = sm_trap_stats(w->sm)->repressed;
	notice_of(TRAP_LOCAL_CHANGE, lid_of(w, "h9"), notice);
	send_by_leaf(w, lid_of(w, "h9"), notice);
	assert_false(repress_came(host(w, 9), &key));
	assert_int_equal(sm_trap_stats(w->sm)->repressed, repressed);
}

/* As if the route ended at the host, and the leaf stood behind it: any host can write a SLID. */
static void nothing_is_sent_on_by_a_host(void **state)
{
	struct world *w = *state;
	const struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = 0x77 };
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	struct transport_addr from = { 0 };
	uint8_t notice[SMP_DATA_SIZE], mad[MAD_SIZE];
	uint64_t strangers;

	start_with_keys(w);
	strangers = sm_trap_stats(w->sm)->strangers;
	from.lid = lid_of(w, "h9");
	notice_of(TRAP_LOCAL_CHANGE, from.lid, notice);
	smp_build_dr(mad, &head, &path, notice);
	ib_put(mad, SMP_DR_DLID, lid_of(w, "h0"));
	mad[SMP_RETURN_PATH + 1] = 1;
	traps_receive(w->sm, &from, mad);
	assert_int_equal(sm_trap_stats(w->sm)->strangers, strangers + 1);
	ib_put(mad, SMP_HOP_COUNT, IB_MAX_HOPS + 2u);
	traps_receive(w->sm, &from, mad);
	assert_int_equal(sm_trap_stats(w->sm)->strangers, strangers + 1);
}

/* Standby: not answered, not counted, nothing asked. */
static void a_standby_is_silent(void **state)
{
	struct world *w = *state;
	struct transport_addr standby = { .lid = 0 };
	struct conf *lesser;
	uint8_t notice[SMP_DATA_SIZE], mad[MAD_SIZE];
	const struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = 0x99 };
	struct transport_event ev;
	int second;

	w->conf->sm_priority = 9;
	start(w);
	lesser = conf_copy(w->conf);
	lesser->sm_priority = 1;
	second = rig_start(w->rig, "h12", 0, lesser, NULL);
	conf_unref(lesser);
	run_for(w, 15 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[second].sm), SM_STANDBY);
	notice_of(TRAP_LOCAL_CHANGE, lid_of(w, "h5"), notice);
	standby.lid = lid_of(w, "h12");
	smp_build_lid(mad, &head, notice);
	assert_int_equal(transport_send(host(w, 5), &standby, mad, sizeof(mad), PATIENCE), 0);
	run_for(w, 100 * MONO_MS);
	while (transport_receive(host(w, 5), &ev) == 1)
		assert_int_not_equal(ib_get(ev.mad, SMP_METHOD), MAD_TRAP_REPRESS);
	assert_int_equal(sm_trap_stats(w->rig->sms[second].sm)->repressed, 0);
	assert_int_equal(sm_trap_stats(w->rig->sms[second].sm)->received[SM_TRAP_LOCAL], 0);
}

/* ---- what it costs ------------------------------------------------------------------------- */

/* SMPs of the manager within a short time after a notice. */
static uint64_t cost_of(struct world *w, unsigned from, const uint8_t *notice)
{
	uint64_t before = sim_gets(w->sim) + sim_sets(w->sim);

	send_from_host(w, from, notice);
	run_for(w, 100 * MONO_MS);
	return sim_gets(w->sim) + sim_sets(w->sim) - before;
}

/* 145 with a GUID of the sender's choice: NodeInfo is read, and it alone believed. */
static void the_image_guid_is_asked_for(void **state)
{
	struct world *w = *state;
	struct node *n;
	guid_t real;
	uint8_t notice[SMP_DATA_SIZE];

	start(w);
	n = (struct node *)known(w, "h5");
	real = n->sysimg_guid;
	notice_of(TRAP_SYSIMG_GUID, lid_of(w, "h5"), notice);
	ib_put(notice, N145_GUID, 0x666);
	assert_int_equal(cost_of(w, 5, notice), 1);
	assert_true(n->sysimg_guid == real);
	n->sysimg_guid = 0x1234; /* as if it had changed since it was read */
	ib_put(notice, N145_GUID, 0x667);
	listen_for(w, "its SystemImageGUID is");
	assert_int_equal(cost_of(w, 5, notice), 1);
	assert_true(w->said);
	assert_true(n->sysimg_guid == real);
}

/* What the SA answers for the name of a node. */
static void expect_name(struct world *w, const char *node, const char *name)
{
	struct client *c = client_new(w->sim, "h7");
	uint8_t record[NR_BYTES + NI_BYTES + SMP_DATA_SIZE] = { 0 };
	const struct question q = { .method = MAD_GET,
				    .attr = SA_NODE_RECORD,
				    .mask = 1,
				    .data = record,
				    .len = sizeof(record) };
	struct transport_event ev;

	assert_non_null(c);
	ib_put(record, NR_LID, lid_of(w, node));
	assert_int_equal(client_ask(c, w->rig, &q, &ev), 0);
	assert_memory_equal(client_record(&ev) + NR_BYTES + NI_BYTES, name, strlen(name) + 1);
	free(ev.whole);
	client_free(c);
}

static void a_new_name_is_one_get_and_a_line(void **state)
{
	struct world *w = *state;
	uint64_t before;
	uint32_t dirty;

	start(w);
	before = sim_gets(w->sim);
	dirty = sm_stats(w->sm)->dirty_sweeps;
	listen_for(w, "'h5' (0x");
	sim_set_desc(w->sim, node_of(w, "h5"), "gpu-17");
	run_for(w, 100 * MONO_MS);
	assert_int_equal(sim_gets(w->sim) - before, 1);
	assert_true(w->said);
	assert_string_equal(known(w, "h5")->desc, "gpu-17");
	assert_int_equal(sm_stats(w->sm)->dirty_sweeps, dirty);
	run_for(w, 2 * MONO_S);
	expect_name(w, "h5", "gpu-17");
}

/* The second change comes while the first one is being read. */
static void the_last_of_two_names_counts(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];

	start(w);
	desc_notice(w, "h5", notice);
	sim_set_sma_time(w->sim, 20 * MONO_MS);
	send_from(w, 5, notice);
	run_for(w, 25 * MONO_MS);
	sim_set_desc(w->sim, node_of(w, "h5"), "second");
	notice[NT_COUNT / 8 + 1]++;
	send_from(w, 5, notice);
	run_for(w, 500 * MONO_MS);
	assert_string_equal(known(w, "h5")->desc, "second");
}

static void capabilities_are_read_again(void **state)
{
	struct world *w = *state;
	uint64_t before;
	uint32_t heavy;

	start(w);
	before = sim_gets(w->sim);
	heavy = sm_stats(w->sm)->heavy_sweeps;
	sim_set_cap_mask(w->sim, node_of(w, "h5"), 1u << 16, 0);
	run_for(w, 100 * MONO_MS);
	assert_true(ib_get(known(w, "h5")->ports[1].info, PI_CAP_MASK) & 1u << 16);
	assert_in_range(sim_gets(w->sim) - before, 1, 4);
	assert_int_equal(sm_stats(w->sm)->heavy_sweeps, heavy);
}

/* A LID that was not assigned: one light sweep, however many come. */
static void strangers_cost_a_light_sweep(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];
	uint32_t light, heavy;

	w->conf->sweep_interval = 0;
	start(w);
	light = sm_stats(w->sm)->light_sweeps;
	heavy = sm_stats(w->sm)->heavy_sweeps;
	host(w, 5);
	sim_set_lid(w->sim, node_of(w, "h5"), 1, 0x4567, 0, lid_of(w, "h0"));
	for (unsigned i = 0; i < 500; i++) {
		notice_of(TRAP_LINK_STATE, 0x4567, notice);
		ib_put(notice, NT_COUNT, i);
		send_from_host(w, 5, notice);
	}
	assert_int_equal(sm_trap_stats(w->sm)->strangers, 500);
	assert_int_equal(sm_stats(w->sm)->light_sweeps, light + 1);
	assert_int_equal(sm_stats(w->sm)->heavy_sweeps, heavy);
	assert_int_equal(sm_trap_stats(w->sm)->sources <= 2, true);
}

static void a_repetition_is_repressed_and_nothing_more(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];
	uint64_t before, taken;

	start(w);
	notice_of(TRAP_LOCAL_CHANGE, lid_of(w, "h5"), notice);
	send_from_host(w, 5, notice);
	run_for(w, MONO_S);
	before = sim_gets(w->sim);
	taken = sm_trap_stats(w->sm)->taken;
	send_as(w, host(w, 5), w->tid, 0, notice);
	run_for(w, MONO_S);
	assert_int_equal(sim_gets(w->sim), before);
	assert_int_equal(sm_trap_stats(w->sm)->taken, taken);
	assert_int_equal(sm_trap_stats(w->sm)->repeats, 1);
	assert_int_equal(sm_trap_stats(w->sm)->received[SM_TRAP_LOCAL] >= 2, true);
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* ---- keys of the SA ------------------------------------------------------------------------ */

static struct {
	unsigned n;
	char text[500];
} security; /* events of that kind */

static void on_event(struct rig_sm *s, const struct sm_event *e)
{
	if (e->kind != SM_EVENT_SECURITY)
		return;
	assert_string_equal(e->security.what, "sa_key");
	security.n++;
	snprintf(security.text, sizeof(security.text), "%s", e->security.text);
}

static void a_host_that_tries_out_keys(void **state)
{
	struct world *w = *state;
	struct client *c = client_new(w->sim, "h5");
	const struct question q = { .method = MAD_GET, .attr = SA_CLASS_PORT_INFO, .data = "" };

	w->rig->event = on_event;
	start(w);
	for (unsigned i = 0; i < 15; i++) {
		c->sm_key = 100 + i;
		client_send(c, &q);
		run_for(w, 100 * MONO_MS);
	}
	assert_int_equal(security.n, 1);
	assert_non_null(strstr(security.text, "h5"));
	assert_non_null(strstr(security.text, "behind '"));
	client_free(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(every_kind_is_repressed),
		TEST(directed_routes_are_gone_back),
		TEST(nonsense_on_the_way_back_is_a_stranger),
		TEST(a_host_gets_no_key_of_its_leaf),
		TEST(what_goes_on_by_lid_is_not_answered),
		TEST(nothing_is_sent_on_by_a_host),
		TEST(a_standby_is_silent),
		TEST(the_image_guid_is_asked_for),
		TEST(a_new_name_is_one_get_and_a_line),
		TEST(the_last_of_two_names_counts),
		TEST(capabilities_are_read_again),
		TEST(strangers_cost_a_light_sweep),
		TEST(a_repetition_is_repressed_and_nothing_more),
		TEST(a_host_that_tries_out_keys),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("sm-traps", tests, NULL, NULL);
}
