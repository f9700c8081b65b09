// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much the log says in bad hours: lost MADs, cables that come and go, storms
 * of traps, hosts that ask for what they may not have. In virtual time, which the log is told.
 * Prints what it counted.
 */
#include "tests/lib/rounds.h"
#include "trap-world.h"

static unsigned per_hour[24];

/* As the daemon would: with the time, and with counts that are due. */
static void live(struct world *w, mono_t t)
{
	mono_t end = sim_now(w->sim) + t;

	while (sim_now(w->sim) < end) {
		run_for(w, mono_min(100 * MONO_MS, end - sim_now(w->sim)));
		log_set_now(sim_now(w->sim));
		log_tick();
	}
}

static void begin(struct world *w, unsigned flags)
{
	log_set_flags(flags);
	log_set_now(0);
	start(w);
	log_set_now(sim_now(w->sim));
	listen_for(w, NULL);
}

static void note_hour(struct world *w, unsigned hour)
{
	static unsigned before;

	per_hour[hour] = w->lines - (hour ? before : 0);
	before = w->lines;
}

static void told(struct world *w, const char *what, unsigned hours)
{
	print_message("%s: %u lines in %u h, by the hour:", what, w->lines, hours);
	for (unsigned i = 0; i < hours; i++)
		print_message(" %u", per_hour[i]);
	print_message("\n");
}

static void one_percent_of_all_mads_is_lost(void **state)
{
	struct world *w = *state;

	begin(w, LOGB_ERROR | LOGB_INFO);
	sim_set_loss(w->sim, 1, 1);
	for (unsigned h = 0; h < 6; h++) {
		live(w, 3600 * MONO_S);
		note_hour(w, h);
	}
	told(w, "1 % loss each way", 6);
	assert_in_range(w->lines, 0, 600);
}

static void cables_come_and_go_all_day(void **state)
{
	struct world *w = *state;
	unsigned hours = test_rounds(4);
	int leaf[4];

	begin(w, LOGB_ERROR | LOGB_INFO);
	for (unsigned i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "leaf%u", i + 1);
		leaf[i] = node_of(w, name);
	}
	for (unsigned h = 0; h < hours; h++) {
		for (unsigned i = 0; i < 3600 / 10; i++) {
			sim_link_down(w->sim, leaf[i % 4], 1 + i / 4 % 4);
			live(w, 5 * MONO_S);
			sim_link_up(w->sim, leaf[i % 4], 1 + i / 4 % 4);
			live(w, 5 * MONO_S);
		}
		note_hour(w, h);
	}
	told(w, "a cable falls every 10 s", hours);
	/*
	 * 360 falls an hour, and seven lines for each: the node, the sweep, its routes, SUBNET UP.
	 */
	assert_in_range(per_hour[hours - 1], 100, 3600);
}

static void all_hosts_send_traps_for_hours(void **state)
{
	struct world *w = *state;
	uint8_t notice[SMP_DATA_SIZE];
	char name[8];

	begin(w, LOGB_ERROR | LOGB_INFO | LOGB_VERBOSE);
	for (unsigned h = 0, i = 0; h < 2; h++) {
		for (mono_t end = sim_now(w->sim) + 3600 * MONO_S; sim_now(w->sim) < end; i++) {
			unsigned from = 1 + i % (N_HOSTS - 1);

			snprintf(name, sizeof(name), "h%u", from);
			notice_of(every_trap[i % ARRAY_SIZE(every_trap)], lid_of(w, name), notice);
			ib_bits_put(notice, 40 * 8, 64, i * 0x9E3779B97F4A7C15u);
			send_as(w, host(w, from), ++w->tid, 0, notice);
			live(w, 100 * MONO_MS);
		}
		note_hour(w, h);
	}
	told(w, "10 traps a second from 15 hosts", 2);
	assert_in_range(per_hour[1], 0, 3600);
}

/* ---- joins ---------------------------------------------------------------------------------- */

static unsigned refused_joins(struct world *w, struct client *c, bool vary, unsigned seconds)
{
	unsigned n = 0;

	for (mono_t end = sim_now(w->sim) + seconds * MONO_S; sim_now(w->sim) < end; n++) {
		uint8_t record[MCM_BYTES], mgid[16] = { 0xFF, 0x12, 0x40, 0x1B, 0x80, 0x02 };
		struct transport_event ev;
		struct question q;

		ib_bits_put(mgid, 96, 32, vary ? 0x1000 + n : 0x101);
		q = client_join(c, MAD_SET, mgid, 1, record);
		ib_put(record, MCM_PKEY, 0x8002);
		assert_int_not_equal(client_ask(c, w->rig, &q, &ev), 0);
		free(ev.whole);
		live(w, 900 * MONO_MS);
	}
	return n;
}

static void a_refused_join_is_told_once_and_counted(void **state)
{
	struct world *w = *state;
	struct client *c;
	unsigned n;

	begin(w, LOGB_ERROR | LOGB_INFO);
	c = client_new(w->sim, "h7");
	assert_non_null(c);
	live(w, 30 * MONO_S);
	listen_for(w, "multicast join of IPv4 group 224.0.1.1 (NTP) of partition 0x0002 "
		      "(ff12:401b:8002::101) refused (");
	n = refused_joins(w, c, false, 3600);
	print_message("%u refused joins of one port and group in an hour: %u lines\n", n, w->lines);
	assert_true(w->said);
	assert_in_range(w->lines, 1, 10);
	listen_for(w, "too many records about one node");
	n = refused_joins(w, c, true, 7200);
	print_message(
		"%u refused joins of one port, each of another group, in two hours: %u lines\n", n,
		w->lines);
	assert_true(w->said);
	assert_in_range(w->lines, 100, 2 * 120 + 60 + 30);
	client_free(c);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(one_percent_of_all_mads_is_lost),
		IN_WORLD(cables_come_and_go_all_day),
		IN_WORLD(all_hosts_send_traps_for_hours),
		IN_WORLD(a_refused_join_is_told_once_and_counted),
	};

	return cmocka_run_group_tests_name("sm-log", tests, NULL, NULL);
}
