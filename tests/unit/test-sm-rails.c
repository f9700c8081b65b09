// SPDX-License-Identifier: BSD-2-Clause
/* Rails of a running fabric: told with the first routes, and again when they are others. */
#include "topo/rails/rails.h"
#include "tests/unit/marks-world.h"

static int open_rails(struct world **ret, struct netfile *net, const char *host)
{
	struct world *w = *ret = xcalloc(1, sizeof(*w));

	w->sim = sim_new(net, 1);
	netfile_free(net);
	w->rig = rig_new(w->sim);
	w->conf = conf_new();
	w->conf->sweep_interval = 10;
	log_set_sink(on_line, w);
	listen_for(w, "rails: ");
	assert_int_equal(rig_start(w->rig, host, 0, w->conf, NULL), 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
	return 0;
}

static int open_four(void **st)
{
	return open_rails((struct world **)st, gen_rails(2, 4, 4, 2, false), "gpu0 mlx5_0");
}

static int open_tree(void **st)
{
	return open_rails((struct world **)st, gen_tree(4, 4, 2, 1), "h0");
}

static bool says(struct world *w, const char *text)
{
	return strstr(sm_rails_text(w->sm), text);
}

static void rails_are_told_with_the_first_routes(void **st)
{
	struct world *w = *st;

	assert_true(w->said);
	assert_non_null(sm_rails(w->sm));
	assert_int_equal(sm_rails(w->sm)->n, 4);
	assert_true(says(w, "4 rails of 8 end ports (mlx5_0 ... mlx5_3), which share spines"));
	/* Once. */
	listen_for(w, "rails: ");
	run_for(w, 120 * MONO_S);
	assert_false(w->said);
}

/* One end port less is no other line; the numbers follow. */
static void a_host_that_goes_is_counted_and_not_told(void **st)
{
	struct world *w = *st;

	listen_for(w, "rails: ");
	assert_int_equal(sim_link_down(w->sim, node_of(w, "gpu3 mlx5_2"), 1), 0);
	run_for(w, 60 * MONO_S);
	assert_false(w->said);
	assert_int_equal(sm_rails(w->sm)->least, 7);
	assert_int_equal(sm_rails(w->sm)->of[2].ports, 7);
	assert_int_equal(sim_link_up(w->sim, node_of(w, "gpu3 mlx5_2"), 1), 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_rails(w->sm)->least, 8);
}

/* Two adapters of a host were exchanged, as their names have it. */
static void a_port_on_a_wrong_rail_is_told(void **st)
{
	struct netfile *net = gen_rails(4, 4, 4, 2, false);
	int a = netfile_find(net, "gpu3 mlx5_2"), b = netfile_find(net, "gpu3 mlx5_1");
	struct world *w;

	snprintf(net->nodes[a].desc, sizeof(net->nodes[a].desc), "gpu3 mlx5_1");
	snprintf(net->nodes[b].desc, sizeof(net->nodes[b].desc), "gpu3 mlx5_2");
	open_rails(&w, net, "gpu0 mlx5_0");
	*st = w;
	assert_true(says(w, "2 ports on another rail: 'gpu3 mlx5_2' port 1 on mlx5_1"));
	assert_int_equal(sm_rails(w->sm)->wrong, 2);
	/* It is over when these are gone. */
	listen_for(w, "; 0 ports on another rail");
	assert_int_equal(sim_link_down(w->sim, a, 1), 0);
	assert_int_equal(sim_link_down(w->sim, b, 1), 0);
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	assert_int_equal(sm_rails(w->sm)->wrong, 0);
}

static void hosts_that_get_their_names_later_are_looked_at_again(void **st)
{
	struct world *w = *st;

	listen_for(w, "; 2 ports on another rail");
	sim_set_desc(w->sim, node_of(w, "gpu5 mlx5_0"), "x");
	sim_set_desc(w->sim, node_of(w, "gpu5 mlx5_3"), "gpu5 mlx5_0");
	sim_set_desc(w->sim, node_of(w, "x"), "gpu5 mlx5_3");
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	assert_int_equal(sm_rails(w->sm)->wrong, 2);
}

static void a_fabric_without_rails_says_nothing(void **st)
{
	struct world *w = *st;

	run_for(w, 60 * MONO_S);
	assert_false(w->said);
	assert_null(sm_rails(w->sm));
	assert_string_equal(sm_rails_text(w->sm), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rails_are_told_with_the_first_routes, open_four,
						close_world),
		cmocka_unit_test_setup_teardown(a_host_that_goes_is_counted_and_not_told,
						open_four, close_world),
		cmocka_unit_test_teardown(a_port_on_a_wrong_rail_is_told, close_world),
		cmocka_unit_test_setup_teardown(
			hosts_that_get_their_names_later_are_looked_at_again, open_four,
			close_world),
		cmocka_unit_test_setup_teardown(a_fabric_without_rails_says_nothing, open_tree,
						close_world),
	};

	return cmocka_run_group_tests_name("sm-rails", tests, NULL, NULL);
}
