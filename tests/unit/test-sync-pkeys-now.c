// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Keys of one end port written and read back outside of runs, and keys taken off a switch port:
 * what devices hold, and nodes that go while they are asked.
 */
#include "conf/partitions/partitions.h"
#include "fabric/fabric_internal.h"
#include "plan/pkey.h"
#include "sync-desk.h"

struct world {
	struct desk *d;
	struct partitions *parts;
	struct pkey_plan *plan;
	unsigned n_done;
	struct sync_pkeys result;
	enum pkeys_state removed;
};

static void plan(struct world *w, const char *text)
{
	struct pkey_port rows[MAX_NODES] = { 0 };
	struct pkey_job job = { .ports = rows, .previous = w->plan };
	struct conf_report r = { 0 };
	struct pkey_plan *before = w->plan;

	partitions_unref(w->parts);
	assert_int_equal(partitions_parse(text, strlen(text), "p", w->d->conf, &r, &w->parts), 0);
	conf_report_clear(&r);
	job.partitions = w->parts;
	pkey_job_options(&job, w->d->conf);
	for (unsigned h = 0; h < N_HOSTS; h++) {
		const struct port *p = desk_host(w->d, h);

		rows[job.n_ports++] = (struct pkey_port){
			.guid = p->guid,
			.node_type = p->node->type,
			.capacity = (uint16_t)fabric_pkey_cap(p),
			.peer_capacity = (uint16_t)fabric_pkey_cap(p->peer),
		};
	}
	w->plan = pkey_plan(&job);
	pkey_plan_free(before);
	w->d->pkeys = w->plan;
	sync_use_pkeys(w->d->sync, w->plan);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->d = desk_new(1);
	plan(w, "Default=0x7fff: ALL=full;");
	desk_run(w->d);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	desk_free(w->d);
	pkey_plan_free(w->plan);
	partitions_unref(w->parts);
	free(w);
	return 0;
}

static void give_one(struct world *w, unsigned host)
{
	_cleanup_free_ char *text =
		xasprintf("Default=0x7fff: ALL=full; One=0x1: 0x%016lx=full;",
			  (unsigned long)desk_host(w->d, host)->guid);

	plan(w, text);
}

static void on_done(void *arg, const struct sync_pkeys *r)
{
	struct world *w = arg;

	w->n_done++;
	w->result = *r;
}

static void on_removed(void *arg, const struct sync_pkeys *r)
{
	struct world *w = arg;

	w->n_done++;
	w->removed = r->switch_port;
}

static void confirm(struct world *w, unsigned host)
{
	w->n_done = 0;
	sync_confirm_pkeys(w->d->sync, desk_host(w->d, host), on_done, w);
}

static bool holds(const struct world *w, const struct port *p, unsigned key)
{
	uint8_t block[SMP_DATA_SIZE];
	int node = 0;

	while (w->d->nodes[node] != p->node)
		node++;
	assert_int_equal(sim_read(w->d->sim, node, IB_ATTR_PKEY_TABLE,
				  port_is_end(p) ? 0 : (uint32_t)p->num << 16, block),
			 0);
	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++) {
		if (ib_bits_get(block, i * 16, 16) == key)
			return true;
	}
	return false;
}

static void both_sides_are_written_and_read_back(void **state)
{
	struct world *w = *state;
	struct port *p = desk_host(w->d, 2);
	uint64_t n_sets = sim_sets(w->d->sim), n_gets = sim_gets(w->d->sim);

	give_one(w, 2);
	confirm(w, 2);
	desk_run_for(w->d, 5 * MONO_S);
	assert_int_equal(w->n_done, 1);
	assert_int_equal(w->result.switch_port, PKEYS_CONFIRMED);
	assert_int_equal(w->result.end_port, PKEYS_CONFIRMED);
	assert_true(holds(w, p, 0x8001) && holds(w, p->peer, 0x8001));
	assert_int_equal(sim_sets(w->d->sim) - n_sets, 2);
	assert_int_equal(sim_gets(w->d->sim) - n_gets, 2);
	confirm(w, 2);
	desk_run_for(w->d, 5 * MONO_S);
	assert_int_equal(w->n_done, 1);
	assert_int_equal(sim_sets(w->d->sim) - n_sets, 2);
}

static void silence_is_told_by_side(void **state)
{
	struct world *w = *state;

	give_one(w, 2);
	sim_set_silent(w->d->sim, desk_host_index(w->d, 2), SIM_SILENT, 0);
	confirm(w, 2);
	desk_run_for(w->d, 5 * MONO_S);
	assert_int_equal(w->n_done, 1);
	assert_int_equal(w->result.switch_port, PKEYS_CONFIRMED);
	assert_int_equal(w->result.end_port, PKEYS_SILENT);
}

/* Its cables are gone, too. */
static void remove_node(struct world *w, struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++)
		fabric_disconnect(&n->ports[i]);
	sync_forget(w->d->sync, n);
	for (unsigned i = 0; i < MAX_NODES; i++) {
		if (w->d->nodes[i] == n)
			w->d->nodes[i] = NULL;
	}
	fabric_remove_node(w->d->fabric, n);
}

/* Its Set is out; its cable goes first, so that the end port does not lead to it any more. */
static void a_switch_goes_while_it_is_asked(void **state)
{
	struct world *w = *state;
	struct port *p = desk_host(w->d, 5);
	struct node *leaf = p->peer->node;

	give_one(w, 5);
	sim_set_silent(w->d->sim, sim_find(w->d->sim, "leaf2"), SIM_SILENT, 0);
	confirm(w, 5);
	desk_step(w->d);
	assert_int_equal(w->n_done, 0);
	remove_node(w, leaf);
	assert_int_equal(w->n_done, 1);
	assert_int_equal(w->result.switch_port, PKEYS_CANCELLED);
	desk_run_for(w->d, 2 * MONO_S);
	assert_int_equal(w->n_done, 1);
}

static void a_host_goes_while_its_switch_is_asked(void **state)
{
	struct world *w = *state;
	struct node *host = desk_host(w->d, 5)->node;

	give_one(w, 5);
	confirm(w, 5);
	desk_step(w->d);
	remove_node(w, host);
	assert_int_equal(w->n_done, 1);
	desk_run_for(w->d, 2 * MONO_S);
	assert_int_equal(w->n_done, 1);
}

static void a_switch_port_loses_what_is_not_allowed(void **state)
{
	struct world *w = *state;
	struct port *at = desk_host(w->d, 2)->peer;
	const uint16_t allowed[] = { 0x7FFF };

	give_one(w, 2);
	confirm(w, 2);
	desk_run_for(w->d, 5 * MONO_S);
	w->n_done = 0;
	/* Nothing is known of it, as after its link was down for a moment. */
	fabric_forget_cells(w->d->fabric, at);
	sync_remove_pkeys(w->d->sync, at, (struct pkey_table){ allowed, 1 }, on_removed, w);
	desk_run_for(w->d, 5 * MONO_S);
	assert_int_equal(w->n_done, 1);
	assert_int_equal(w->removed, PKEYS_CONFIRMED);
	assert_false(holds(w, at, 0x8001));
	assert_false(holds(w, at, 0xFFFF));
	assert_true(holds(w, at, 0x7FFF));
}

static void nothing_is_removed_at_a_silent_switch(void **state)
{
	struct world *w = *state;
	struct port *at = desk_host(w->d, 5)->peer;

	fabric_forget_cells(w->d->fabric, at);
	sim_set_silent(w->d->sim, sim_find(w->d->sim, "leaf2"), SIM_SILENT, 0);
	sync_remove_pkeys(w->d->sync, at, (struct pkey_table){ NULL, 0 }, on_removed, w);
	desk_run_for(w->d, 5 * MONO_S);
	assert_int_equal(w->n_done, 1);
	assert_int_equal(w->removed, PKEYS_SILENT);
}

/* ---- another program writes a key back ------------------------------------------------------- */

struct vandal {
	struct world *w;
	struct transport *tr;
	struct port *at;
	uint8_t block[SMP_DATA_SIZE]; /* with the key */
	unsigned n_left, n_sent;      /* number of times that it goes on, and that it wrote */
	bool is_there;		      /* set while the key is in the table */
};

/* Called after each step of the simulation. */
static void write_back(void *arg)
{
	struct vandal *v = arg;
	const struct smp_head head = { .method = MAD_SET,
				       .attr = IB_ATTR_PKEY_TABLE,
				       .mod = (uint32_t)v->at->num << 16,
				       .tid = 7 };
	const struct transport_addr to = { .lid = LID_PERMISSIVE };
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	bool was_there = v->is_there;
	uint8_t mad[MAD_SIZE];

	v->is_there = holds(v->w, v->at, 0x8001);
	if (v->is_there || !was_there || !v->n_left)
		return;
	v->n_left--;
	v->n_sent++;
	smp_build_dr(mad, &head, &path, v->block);
	transport_send(v->tr, &to, mad, sizeof(mad), 1000);
}

/* h1 is at the switch of h2, whose port holds a key that it is to lose. */
static void start_vandal(struct world *w, unsigned times, struct vandal *v)
{
	*v = (struct vandal){ .w = w, .at = desk_host(w->d, 2)->peer, .n_left = times };
	give_one(w, 2);
	confirm(w, 2);
	desk_run_for(w->d, 5 * MONO_S);
	assert_int_equal(sim_read(w->d->sim, sim_find(w->d->sim, "leaf1"), IB_ATTR_PKEY_TABLE,
				  (uint32_t)v->at->num << 16, v->block),
			 0);
	v->tr = sim_attach(w->d->sim, "h1", 0);
	v->is_there = true;
	w->n_done = 0;
	w->d->watch = write_back;
	w->d->watch_arg = v;
}

static void remove_all(struct world *w, struct vandal *v)
{
	w->n_done = 0;
	sync_remove_pkeys(w->d->sync, v->at, (struct pkey_table){ NULL, 0 }, on_removed, w);
	desk_run_for(w->d, 5 * MONO_S);
	assert_int_equal(w->n_done, 1);
}

/* A turn that reads and one that writes are needed each time: eight turns are four Sets. */
static void a_removal_that_is_undone_again_and_again_ends(void **state)
{
	struct world *w = *state;
	struct vandal v;

	start_vandal(w, 100, &v);
	remove_all(w, &v);
	assert_int_equal(w->removed, PKEYS_REFUSED);
	assert_int_equal(v.n_sent, 4);
	assert_true(holds(w, v.at, 0x8001));
	/* What is asked for later begins anew. */
	v.n_left = 0;
	fabric_forget_cells(w->d->fabric, v.at);
	remove_all(w, &v);
	assert_int_equal(w->removed, PKEYS_CONFIRMED);
	assert_false(holds(w, v.at, 0x8001));
	transport_close(v.tr);
}

static void a_removal_that_is_undone_some_times_is_confirmed(void **state)
{
	struct world *w = *state;
	struct vandal v;

	start_vandal(w, 3, &v);
	remove_all(w, &v);
	assert_int_equal(w->removed, PKEYS_CONFIRMED);
	assert_int_equal(v.n_sent, 3);
	assert_false(holds(w, v.at, 0x8001));
	transport_close(v.tr);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_sides_are_written_and_read_back),
		TEST(silence_is_told_by_side),
		TEST(a_switch_goes_while_it_is_asked),
		TEST(a_host_goes_while_its_switch_is_asked),
		TEST(a_switch_port_loses_what_is_not_allowed),
		TEST(nothing_is_removed_at_a_silent_switch),
		TEST(a_removal_that_is_undone_again_and_again_ends),
		TEST(a_removal_that_is_undone_some_times_is_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
