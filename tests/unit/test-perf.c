// SPDX-License-Identifier: BSD-2-Clause
/* Counters of a simulated fabric, read, added up, cleared and printed, in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/counters.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "util/log.h"
#include "util/mem.h"

#define EPOCH 1700000000 /* what the wall clock shows at 0 */

struct world {
	struct rig *rig;
	struct conf *conf;
	struct perf *perf;
	struct sm *sm;
	/* done to the next answer before it is taken in; then none is any more */
	void (*forge)(struct transport_event *ev);
	unsigned told_errors; /* times the hook was called */
	uint64_t told_symbol;
	/* of the port that is watched */
	const char *watched;
	unsigned told_counts;
	struct port_counts counts;
	mono_t told_at;
};

static int64_t realtime(const struct world *w)
{
	return EPOCH + sim_now(w->rig->sim) / MONO_S;
}

static struct perf_place place_now(const struct world *w)
{
	return counters_place(w->sm, sim_now(w->rig->sim), realtime(w));
}

static void dispatch_now(struct world *w)
{
	const struct perf_place place = place_now(w);

	perf_dispatch(w->perf, &place);
}

static void on_perf(struct rig_sm *sm, struct transport_event *ev, mono_t now)
{
	struct world *w = sm->rig->owner;
	const struct perf_place place = place_now(w);

	if (w->forge && ev->kind == TRANSPORT_MAD) {
		w->forge(ev);
		w->forge = NULL;
	}
	perf_receive(w->perf, ev, &place);
}

static void on_errors(void *arg, const struct perf_node *node, uint8_t port,
		      const uint64_t deltas[PERF_ERRORS], int64_t seconds)
{
	struct world *w = arg;

	w->told_errors++;
	w->told_symbol += deltas[PERF_SYMBOL];
}

static void on_counts(void *arg, const struct perf_node *node, uint8_t port,
		      const struct port_counts *counts)
{
	struct world *w = arg;

	assert_true(counts->interval_us > 0);
	if (!w->watched || strcmp(node->name, w->watched) || port != 1)
		return;
	w->told_counts++;
	w->counts = *counts;
	w->told_at = sim_now(w->rig->sim);
}

static void run_for(struct world *w, mono_t t)
{
	mono_t until = sim_now(w->rig->sim) + t, now;

	while ((now = sim_now(w->rig->sim)) < until) {
		mono_t next;

		dispatch_now(w);
		/*
		 * As the daemon does: a manager that is not MASTER asks no port, and waits for
		 * none.
		 */
		next = sm_state(w->sm) == SM_MASTER ? MAX(perf_next(w->perf), now + 1) : until;
		rig_step(w->rig, mono_min(next, until));
	}
	dispatch_now(w);
}

/* Two leaves with two hosts each under two spines; `perfmgr` is on and reads every 10 s. */
static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 2, 1);
	struct world *w = xcalloc(1, sizeof(*w));
	const struct perf_hooks hooks = { .errors = on_errors, .counts = on_counts,
					  .arg = w };
	int place;

	w->rig = rig_new(sim_new(net, 1));
	w->rig->perf = on_perf;
	w->rig->owner = w;
	w->conf = conf_new();
	w->conf->perfmgr = true;
	w->conf->perfmgr_sweep_time_s = 10;
	w->perf = perf_new(w->conf, &hooks);
	place = rig_start(w->rig, "h0", 0, w->conf, NULL);
	assert_true(place >= 0);
	w->sm = w->rig->sms[place].sm;
	run_for(w, 5 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	run_for(w, 10 * MONO_S);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	perf_free(w->perf);
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
	return 0;
}

static void count(struct world *w, const char *node, unsigned port, enum sim_counter which,
		  uint64_t n)
{
	assert_int_equal(sim_count_errors(w->rig->sim, sim_find(w->rig->sim, node), port, which, n),
			 0);
}

static const struct perf_port *port_of(const struct world *w, const char *node, unsigned port)
{
	const struct perf_node *n = perf_node_find(w->perf, 0, node);

	assert_non_null(n);
	return &n->ports[port];
}

static void every_linked_port_is_read(void **state)
{
	struct world *w = *state;
	unsigned nodes = 0, ports = 0;
	const struct perf_node *n;

	while ((n = perf_node_at(w->perf, nodes))) {
		assert_true(n->active);
		for (unsigned p = 0; p <= n->n_ports; p++)
			ports += n->ports[p].valid;
		if (nodes++)
			assert_true(perf_node_at(w->perf, nodes - 2)->guid < n->guid);
	}
	assert_int_equal(nodes, sm_fabric(w->sm)->n_nodes);
	assert_int_equal(ports, sm_stats(w->sm)->ports_active);
	assert_int_equal(perf_status(w->perf)->unanswered, 0);
	assert_int_equal(perf_status(w->perf)->outstanding, 0);
}

static void what_was_there_before_does_not_count(void **state)
{
	struct world *w = *state;

	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 0);
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 5);
	run_for(w, 10 * MONO_S);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 5);
	assert_int_equal(w->told_symbol, 5);
	assert_int_equal(w->told_errors, 1);
	run_for(w, 10 * MONO_S);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 5);
	assert_int_equal(w->told_errors, 1);
}

/* 16 bits of symbol errors, 4 of buffer overruns: cleared in time, nothing is lost. */
static void counters_are_cleared_before_they_stick(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 10; i++) {
		count(w, "leaf1", 1, SIM_SYMBOL_ERRORS, 30000);
		count(w, "leaf1", 2, SIM_BUFFER_OVERRUNS, 6);
		run_for(w, 10 * MONO_S);
	}
	assert_int_equal(port_of(w, "leaf1", 1)->errors[PERF_SYMBOL], 300000);
	assert_int_equal(port_of(w, "leaf1", 2)->errors[PERF_BUFFER_OVERRUN], 60);
}

static void counters_of_64_bits_are_read_where_there_are(void **state)
{
	struct world *w = *state;

	count(w, "leaf1", 1, SIM_XMIT_DATA, 1ull << 40);
	count(w, "leaf1", 1, SIM_XMIT_PACKETS, 1ull << 33);
	run_for(w, 10 * MONO_S);
	assert_true(port_of(w, "leaf1", 1)->extended);
	assert_true(port_of(w, "leaf1", 1)->data[PERF_XMIT_DATA] >= 1ull << 40);
	assert_int_equal(port_of(w, "leaf1", 1)->data[PERF_UNICAST_XMIT_PKTS], 1ull << 33);
}

static void without_asking_only_32_bits_are_there(void **state)
{
	struct world *w = *state;
	struct perf *keep = w->perf;

	w->conf->perfmgr_query_cpi = false;
	w->perf = perf_new(w->conf, NULL);
	run_for(w, MONO_S);
	count(w, "leaf1", 1, SIM_XMIT_PACKETS, 9);
	run_for(w, 15 * MONO_S);
	assert_false(port_of(w, "leaf1", 1)->extended);
	assert_int_equal(port_of(w, "leaf1", 1)->data[PERF_XMIT_PKTS], 9);
	assert_int_equal(port_of(w, "leaf1", 1)->data[PERF_UNICAST_XMIT_PKTS], 0);
	perf_free(keep);
}

static void somebody_elses_reset_adds_nothing_twice(void **state)
{
	struct world *w = *state;

	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 100);
	run_for(w, 10 * MONO_S);
	sim_reboot(w->rig->sim, sim_find(w->rig->sim, "h1"), MONO_S);
	run_for(w, 20 * MONO_S);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 100);
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 3);
	run_for(w, 20 * MONO_S);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 103);
}

static void loss_costs_a_reading_at_most(void **state)
{
	struct world *w = *state;

	sim_set_loss(w->rig->sim, 10, 10);
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 7);
	run_for(w, 60 * MONO_S);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 7);
	sim_set_loss(w->rig->sim, 0, 0);
	run_for(w, 20 * MONO_S);
	assert_int_equal(perf_status(w->perf)->outstanding, 0);
}

static void nobody_is_asked_by_a_standby(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *greater = conf_copy(w->conf);
	uint64_t before;

	greater->sm_priority = 15;
	assert_true(rig_start(w->rig, "h2", 0, greater, NULL) >= 0);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	before = perf_status(w->perf)->queries;
	run_for(w, 60 * MONO_S);
	assert_int_equal(perf_status(w->perf)->queries, before);
}

static void a_node_that_left_is_forgotten_if_wanted(void **state)
{
	struct world *w = *state;

	perf_set_remove_missing(w->perf, false);
	assert_int_equal(sim_link_down(w->rig->sim, sim_find(w->rig->sim, "h1"), 1), 0);
	run_for(w, 60 * MONO_S);
	assert_false(perf_node_find(w->perf, 0, "h1")->active);
	assert_int_equal(perf_remove_inactive(w->perf), 1);
	assert_null(perf_node_find(w->perf, 0, "h1"));
}

static void the_administrator_switches_it(void **state)
{
	struct world *w = *state;
	uint64_t before;

	perf_enable(w->perf, false);
	before = perf_status(w->perf)->queries;
	run_for(w, 60 * MONO_S);
	assert_int_equal(perf_status(w->perf)->queries, before);
	perf_enable(w->perf, true);
	run_for(w, MONO_S);
	assert_true(perf_status(w->perf)->queries > before);
	before = perf_status(w->perf)->queries;
	perf_set_sweep_time(w->perf, 1000);
	run_for(w, 60 * MONO_S);
	assert_int_equal(perf_status(w->perf)->queries, before);
	perf_sweep_now(w->perf);
	run_for(w, MONO_S);
	assert_true(perf_status(w->perf)->queries > before);
}

static char *printed(const struct world *w, void (*print)(const struct world *w, FILE *out))
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	print(w, out);
	fclose(out);
	return text;
}

static void print_h1(const struct world *w, FILE *out)
{
	perf_print_node(perf_node_find(w->perf, 0, "h1"), -1, out);
}

static void print_machine(const struct world *w, FILE *out)
{
	perf_print_all(w->perf, true, out);
}

static void print_all_errors(const struct world *w, FILE *out)
{
	const struct perf_node *n;

	for (unsigned i = 0; (n = perf_node_at(w->perf, i)); i++)
		perf_print_errors(n, out);
}

/* The shape is the peer's (files.md 7). */
static void blocks_are_printed_as_by_the_peer(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *text = NULL;

	setenv("TZ", "UTC", 1);
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 2);
	count(w, "h1", 1, SIM_XMIT_DATA, 48600);
	run_for(w, 10 * MONO_S);
	text = printed(w, print_h1);
	assert_int_equal(strncmp(text, "\"h1\" 0x", 7), 0);
	assert_non_null(strstr(text, " active TRUE port 1\n     Last Reset           : "));
	assert_non_null(strstr(text, "\n     symbol_err_cnt       : 2\n"));
	assert_non_null(strstr(text, "\n     rcv_switch_relay_err : 0\n"));
	assert_non_null(strstr(text, "\n     xmit_data            : 4"));
	assert_non_null(strstr(text, "KB)\n"));
	assert_non_null(strstr(text, "\n     multicast_rcv_pkts   : 0 (0.000)\n"));
}

static void errors_are_printed_alone(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *text = NULL;

	count(w, "h1", 1, SIM_LINK_DOWNED, 3);
	run_for(w, 10 * MONO_S);
	text = printed(w, print_all_errors);
	assert_non_null(strstr(text, "     link_downed          : 3\n"));
	assert_null(strstr(text, "symbol"));
	assert_null(strstr(text, "port 2"));
}

static void machines_get_a_line_per_port(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *text = printed(w, print_machine);
	unsigned heads = 0, lines = 0;

	for (char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	for (char *p = text; (p = strstr(p, "\nName\tGUID\tActive\t")); p++)
		heads++;
	assert_int_equal(heads, sm_fabric(w->sm)->n_nodes);
	assert_int_equal(lines, 2 * heads + sm_stats(w->sm)->ports_active);
}

/* What counters of 64 bits are ahead of those of 32 has not come since these were read. */
static void other_counters_begin_at_what_they_show(void **state)
{
	struct world *w = *state;

	w->perf = perf_free(w->perf);
	w->conf->perfmgr_query_cpi = false;
	w->perf = perf_new(w->conf, NULL);
	run_for(w, 11 * MONO_S);
	assert_false(port_of(w, "h1", 1)->extended);
	count(w, "h1", 1, SIM_XMIT_DATA, 3ull << 32);
	perf_set_query_cpi(w->perf, true);
	run_for(w, 10 * MONO_S);
	assert_true(port_of(w, "h1", 1)->extended);
	assert_int_equal(port_of(w, "h1", 1)->data[PERF_XMIT_DATA], 0);
	count(w, "h1", 1, SIM_XMIT_DATA, 7);
	run_for(w, 10 * MONO_S);
	assert_int_equal(port_of(w, "h1", 1)->data[PERF_XMIT_DATA], 7);
}

static void totals_begin_again_when_cleared(void **state)
{
	struct world *w = *state;

	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 2);
	run_for(w, 10 * MONO_S);
	perf_clear_totals(w->perf, realtime(w));
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 0);
	assert_int_equal(port_of(w, "h1", 1)->reset_at, realtime(w));
	run_for(w, 10 * MONO_S);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 0);
}

/* An answer with a TID of ours that was not asked, or comes twice, changes nothing. */
static void strange_answers_are_nothing(void **state)
{
	struct world *w = *state;
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = 256 };
	const struct perf_place place = place_now(w);

	for (uint32_t i = 0; i < 100000; i++) {
		memset(ev.mad, (int)i, sizeof(ev.mad));
		ib_put(ev.mad, SMP_CLASS, MAD_CLASS_PERF);
		ib_put(ev.mad, SMP_METHOD, i % 2 ? MAD_GET_RESP : MAD_TRAP);
		ib_put(ev.mad, SMP_TID, 0x50000000u | i * 2654435761u % 0x10000000u);
		perf_receive(w->perf, &ev, &place);
	}
	assert_int_equal(perf_status(w->perf)->outstanding, 0);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 0);
}

static void from_another_lid(struct transport_event *ev)
{
	ev->from.lid++;
}

static void other_attribute(struct transport_event *ev)
{
	ib_put(ev->mad, SMP_ATTR_ID, ib_get(ev->mad, SMP_ATTR_ID) + 1);
}

static void other_method(struct transport_event *ev)
{
	ib_put(ev->mad, SMP_METHOD, MAD_REPORT_RESP);
}

static void other_id(struct transport_event *ev)
{
	ib_put(ev->mad, SMP_TID, ib_get(ev->mad, SMP_TID) ^ 1);
}

/* The query is repeated: the transport does not wait for its answer any more. */
static void forged_answers_are_counted_and_asked_again(void **state)
{
	static const struct {
		void (*forge)(struct transport_event *ev);
		enum mad_stray why;
	} forgeries[] = {
		{ from_another_lid, MAD_STRAY_ELSEWHERE },
		{ other_attribute, MAD_STRAY_MISMATCHED },
		{ other_method, MAD_STRAY_MISMATCHED },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		uint32_t sweeps = perf_status(w->perf)->sweeps;

		w->forge = forgeries[i].forge;
		count(w, "h1", 1, SIM_SYMBOL_ERRORS, 1);
		run_for(w, 10 * MONO_S);
		assert_null(w->forge);
		assert_int_equal(mad_strays(sm_mad(w->sm))[forgeries[i].why], i == 2 ? 2 : 1);
		assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], i + 1);
		assert_true(perf_status(w->perf)->sweeps > sweeps);
		assert_int_equal(perf_status(w->perf)->outstanding, 0);
	}
}

static void an_answer_without_a_question_is_unasked(void **state)
{
	struct world *w = *state;

	w->forge = other_id;
	run_for(w, 10 * MONO_S);
	assert_null(w->forge);
	assert_int_equal(mad_strays(sm_mad(w->sm))[MAD_STRAY_UNASKED], 1);
}

static struct perf_view view_of(const struct world *w, const char *node, unsigned port)
{
	struct perf_view v;

	assert_true(perf_view_port(w->perf, perf_node_find(w->perf, 0, node)->guid, port, &v));
	return v;
}

/* All devices are of this kind, and asked anew what they can do. */
static void use_pma(struct world *w, enum sim_pma kind)
{
	const struct perf_hooks hooks = { .errors = on_errors, .counts = on_counts, .arg = w };

	for (unsigned i = 0; i < sm_fabric(w->sm)->n_nodes; i++)
		assert_int_equal(sim_set_pma(w->rig->sim, (int)i, kind), 0);
	perf_free(w->perf);
	w->perf = perf_new(w->conf, &hooks);
	run_for(w, 11 * MONO_S);
}

static void growth_is_told_once_per_reading(void **state)
{
	struct world *w = *state;

	w->watched = "h1";
	count(w, "h1", 1, SIM_RCV_ERRORS, 4);
	run_for(w, 20 * MONO_S);
	assert_int_equal(w->told_counts, 2);
	assert_int_equal(w->counts.grown[PORT_COUNT_RCV_ERRORS], 0);
	count(w, "h1", 1, SIM_RCV_ERRORS, 4);
	run_for(w, 10 * MONO_S);
	assert_true(port_count_known(&w->counts, PORT_COUNT_RCV_ERRORS));
	assert_int_equal(w->counts.grown[PORT_COUNT_RCV_ERRORS], 4);
	assert_false(w->counts.wide & 1u << PORT_COUNT_RCV_ERRORS);
	assert_true(w->counts.wide & 1u << PORT_COUNT_RCV_DATA);
	assert_false(port_count_known(&w->counts, PORT_COUNT_FEC_CORRECTED));
	assert_int_equal(w->counts.interval_us, 10 * MONO_S);
	assert_false(w->counts.reset);
}

/* Neither negative, nor the whole value, nor 0: not known, and counting goes on from there. */
static void a_reset_by_others_is_no_growth(void **state)
{
	struct world *w = *state;
	int h1 = sim_find(w->rig->sim, "h1");

	w->watched = "h1";
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 100);
	run_for(w, 10 * MONO_S);
	assert_int_equal(sim_clear_counters(w->rig->sim, h1, 1), 0);
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 3);
	run_for(w, 10 * MONO_S);
	assert_true(w->counts.reset);
	assert_false(port_count_known(&w->counts, PORT_COUNT_SYMBOL_ERRORS));
	assert_int_equal(view_of(w, "h1", 1).resets, 1);
	assert_int_equal(perf_status(w->perf)->resets, 1);
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 2);
	run_for(w, 10 * MONO_S);
	assert_false(w->counts.reset);
	assert_int_equal(w->counts.grown[PORT_COUNT_SYMBOL_ERRORS], 2);
}

static void our_own_clear_is_no_reset(void **state)
{
	struct world *w = *state;

	w->watched = "h1";
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 50000);
	count(w, "h1", 1, SIM_LINK_DOWNED, 9);
	run_for(w, 10 * MONO_S);
	assert_int_equal(w->counts.grown[PORT_COUNT_SYMBOL_ERRORS], 50000);
	assert_int_equal(view_of(w, "h1", 1).shown[PORT_COUNT_SYMBOL_ERRORS], 0);
	assert_true(view_of(w, "h1", 1).shown[PORT_COUNT_LINK_DOWNED] >= 9); /* far from its end */
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 7);
	run_for(w, 10 * MONO_S);
	assert_false(w->counts.reset);
	assert_int_equal(w->counts.grown[PORT_COUNT_SYMBOL_ERRORS], 7);
}

static void a_counter_at_its_end_is_a_least(void **state)
{
	struct world *w = *state;

	w->watched = "h1";
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 1000000);
	run_for(w, 10 * MONO_S);
	assert_true(w->counts.saturated & 1u << PORT_COUNT_SYMBOL_ERRORS);
	assert_int_equal(w->counts.grown[PORT_COUNT_SYMBOL_ERRORS], 65535);
	run_for(w, 10 * MONO_S);
	assert_false(w->counts.saturated & 1u << PORT_COUNT_SYMBOL_ERRORS);
}

/* One question per port, and no Set: what small fields show is left to others. */
static void with_64_bits_one_question_is_enough(void **state)
{
	struct world *w = *state;
	uint64_t before;

	use_pma(w, SIM_PMA_WIDE);
	w->watched = "h1";
	run_for(w, 10 * MONO_S);
	before = perf_status(w->perf)->queries;
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 1000000);
	run_for(w, 10 * MONO_S);
	assert_true(view_of(w, "h1", 1).caps.mask2 & PM_CAP2_EXT_ERRORS);
	assert_true(w->counts.wide & 1u << PORT_COUNT_SYMBOL_ERRORS);
	assert_int_equal(w->counts.grown[PORT_COUNT_SYMBOL_ERRORS], 1000000);
	assert_int_equal(port_of(w, "h1", 1)->errors[PERF_SYMBOL], 1000000);
	assert_int_equal(w->counts.saturated, 0);
	assert_true(perf_status(w->perf)->queries - before <=
		    2u * sm_stats(w->sm)->ports_active);
	assert_int_equal(view_of(w, "h1", 1).shown[PORT_COUNT_SYMBOL_ERRORS], 1000000);
}

static void reasons_are_asked_where_errors_grew(void **state)
{
	struct world *w = *state;
	uint64_t before, quiet;

	run_for(w, 10 * MONO_S);
	before = perf_status(w->perf)->queries;
	run_for(w, 10 * MONO_S);
	quiet = perf_status(w->perf)->queries - before;
	before = perf_status(w->perf)->queries;
	count(w, "h1", 1, SIM_RCV_ERRORS, 5);
	count(w, "h1", 1, SIM_RCV_MALFORMED, 5);
	count(w, "h1", 1, SIM_XMIT_DISCARDS, 2);
	count(w, "h1", 1, SIM_DISCARDS_HOQ, 2);
	run_for(w, 10 * MONO_S);
	assert_int_equal(perf_status(w->perf)->queries - before, quiet + 2);
	assert_true(view_of(w, "h1", 1).has_details[0]);
	assert_int_equal(view_of(w, "h1", 1).details[1], 5);
	assert_int_equal(view_of(w, "h1", 1).details[PERF_RCV_DETAILS + 3], 2);
	assert_false(view_of(w, "h2", 1).has_details[0]);
}

static void a_port_without_reasons_is_asked_once(void **state)
{
	struct world *w = *state;
	uint64_t before;

	use_pma(w, SIM_PMA_BASIC);
	count(w, "h1", 1, SIM_RCV_ERRORS, 5);
	run_for(w, 10 * MONO_S);
	before = perf_status(w->perf)->queries;
	count(w, "h1", 1, SIM_RCV_ERRORS, 5);
	run_for(w, 10 * MONO_S);
	assert_int_equal(perf_status(w->perf)->queries - before, sm_stats(w->sm)->ports_active);
	assert_false(view_of(w, "h1", 1).has_details[0]);
}

static void a_silent_agent_is_given_up_and_comes_back(void **state)
{
	struct world *w = *state;
	int h1 = sim_find(w->rig->sim, "h1");

	w->watched = "h1";
	assert_int_equal(sim_set_pma(w->rig->sim, h1, SIM_PMA_SILENT), 0);
	run_for(w, 30 * MONO_S);
	assert_int_equal(w->told_counts, 0);
	assert_true(perf_status(w->perf)->unanswered > 0);
	assert_int_equal(sim_set_pma(w->rig->sim, h1, SIM_PMA_EXTENDED), 0);
	count(w, "h1", 1, SIM_SYMBOL_ERRORS, 2);
	run_for(w, 11 * MONO_S);
	assert_int_equal(w->counts.grown[PORT_COUNT_SYMBOL_ERRORS], 2);
	assert_true(w->counts.interval_us > 30 * MONO_S);
}

static void a_rate_is_errors_in_the_time_between(void **state)
{
	struct world *w = *state;
	struct perf_view v;

	w->watched = "h1";
	assert_int_equal(sim_set_rate(w->rig->sim, sim_find(w->rig->sim, "h1"), 1,
				      SIM_SYMBOL_ERRORS, 3), 0);
	run_for(w, 30 * MONO_S);
	assert_in_range(w->counts.grown[PORT_COUNT_SYMBOL_ERRORS],
			w->counts.interval_us * 3 / MONO_S - 1,
			w->counts.interval_us * 3 / MONO_S + 1);
	v = view_of(w, "h1", 1);
	assert_true(ber_watch_errors(&v.symbol) >= 58);
}

/* 36 ports at 5 ms each at the least, not all in the first moment. */
static void ports_are_spread_over_time(void **state)
{
	struct world *w = *state;
	uint64_t before = perf_status(w->perf)->queries, most = 0;

	for (unsigned i = 0; i < 100; i++) {
		run_for(w, 100 * MONO_MS);
		most = MAX(most, perf_status(w->perf)->queries - before);
		before = perf_status(w->perf)->queries;
	}
	assert_true(most > 0);
	assert_true(most <= 2 * 40);
	assert_true(perf_status(w->perf)->last_ms >= 40);
}

static void note_downed(void *arg, unsigned bits, const char *text)
{
	*(unsigned *)arg += strstr(text, "link_downed") != NULL;
}

/* A fall of a link that the manager has logged is not logged again when LinkDowned has grown. */
static void falls_that_were_seen_are_not_logged_again(void **state)
{
	struct world *w = *state;
	int leaf = sim_find(w->rig->sim, "leaf1");
	unsigned lines = 0;

	log_set_sink(note_downed, &lines);
	sim_link_down(w->rig->sim, leaf, 3);
	run_for(w, 30 * MONO_S);
	sim_link_up(w->rig->sim, leaf, 3);
	run_for(w, MONO_S);
	count(w, "leaf1", 3, SIM_LINK_DOWNED, 1);
	run_for(w, 20 * MONO_S);
	assert_int_equal(lines, 0);
	assert_true(port_of(w, "leaf1", 3)->errors[PERF_LINK_DOWNED] > 0);
	count(w, "leaf1", 3, SIM_LINK_DOWNED, 1);
	run_for(w, 20 * MONO_S);
	assert_int_equal(lines, 1);
	log_set_sink(NULL, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(every_linked_port_is_read),
		TEST(what_was_there_before_does_not_count),
		TEST(counters_are_cleared_before_they_stick),
		TEST(counters_of_64_bits_are_read_where_there_are),
		TEST(without_asking_only_32_bits_are_there),
		TEST(somebody_elses_reset_adds_nothing_twice),
		TEST(loss_costs_a_reading_at_most),
		TEST(nobody_is_asked_by_a_standby),
		TEST(a_node_that_left_is_forgotten_if_wanted),
		TEST(the_administrator_switches_it),
		TEST(blocks_are_printed_as_by_the_peer),
		TEST(falls_that_were_seen_are_not_logged_again),
		TEST(errors_are_printed_alone),
		TEST(machines_get_a_line_per_port),
		TEST(other_counters_begin_at_what_they_show),
		TEST(totals_begin_again_when_cleared),
		TEST(strange_answers_are_nothing),
		TEST(forged_answers_are_counted_and_asked_again),
		TEST(an_answer_without_a_question_is_unasked),
		TEST(growth_is_told_once_per_reading),
		TEST(a_reset_by_others_is_no_growth),
		TEST(our_own_clear_is_no_reset),
		TEST(a_counter_at_its_end_is_a_least),
		TEST(with_64_bits_one_question_is_enough),
		TEST(reasons_are_asked_where_errors_grew),
		TEST(a_port_without_reasons_is_asked_once),
		TEST(a_silent_agent_is_given_up_and_comes_back),
		TEST(a_rate_is_errors_in_the_time_between),
		TEST(ports_are_spread_over_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
