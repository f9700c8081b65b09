// SPDX-License-Identifier: BSD-2-Clause
/*
 * Views for the sake of names and of IsSM, which hosts change as often as they like: how many there
 * are, and that they are made in turns.
 */
#include "trap-world.h"
#include "fabric/observe.h"
#include "sm/read/identity.h"
#include "view/view.h"

enum { VIEWS = 64 };

/* Those that were published, in order, with a reference: an address is used once. */
struct views {
	struct view *seen[VIEWS];
	unsigned n;
};

static void look(struct world *w, struct views *v)
{
	const struct view *now = sm_view(w->sm);

	if (!now || (v->n && v->seen[v->n - 1] == now))
		return;
	assert_true(v->n < VIEWS);
	v->seen[v->n++] = view_ref(now);
}

static void forget(struct views *v)
{
	while (v->n)
		view_unref(v->seen[--v->n]);
}

static bool is_sm(struct world *w, const char *name)
{
	const struct port *p = &known(w, name)->ports[1];

	return ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM);
}

static bool is_shown_as_sm(struct world *w, const char *name)
{
	const struct view *v = sm_view(w->sm);
	uint32_t port = view_port_of_guid(v, known(w, name)->ports[1].guid);

	return ib_get(v->ports[port].info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM);
}

/* Ten times a second, for ten seconds. */
static void a_host_that_toggles_is_sm_costs_a_view_a_second(void **state)
{
	struct world *w = *state;
	struct views v = { .n = 0 };
	unsigned toggled = 0;

	start(w);
	look(w, &v);
	for (unsigned i = 0; i < 100; i++) {
		bool before = is_sm(w, "h5");

		transport_set_issm(host(w, 5), i % 2 == 0);
		run_for(w, 100 * MONO_MS);
		toggled += before != is_sm(w, "h5");
		look(w, &v);
	}
	assert_true(toggled >= 5); /* of most traps only that they came is taken in */
	assert_in_range(v.n - 1, 1, 11);
	run_for(w, 3 * MONO_S);
	look(w, &v);
	assert_int_equal(is_sm(w, "h5"), is_shown_as_sm(w, "h5"));
	forget(&v);
}

/* Steps until there is another view. */
static unsigned steps_to_view(struct world *w)
{
	const struct view *before = sm_view(w->sm);
	mono_t until = sim_now(w->sim) + 10 * MONO_S;
	unsigned n = 0;

	while (sm_view(w->sm) == before) {
		assert_true(rig_step(w->rig, until));
		n += sm_next(w->sm) == 0;
	}
	return n;
}

static const char *shown_name(struct world *w, const char *name)
{
	const struct view *v = sm_view(w->sm);

	return view_find_node(v, sim_node_guid(w->sim, node_of(w, name)))->desc;
}

/* 3,456 hosts: more than a turn has room for. */
static void start_large(struct world *w)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(24);

	rig_free(w->rig);
	w->sim = sim_new(net, 1);
	w->rig = rig_new(w->sim);
	start(w);
	run_for(w, 30 * MONO_S);
}

static void a_name_is_published_in_turns(void **state)
{
	struct world *w = *state;

	start_large(w);
	sim_set_desc(w->sim, node_of(w, "h7"), "another name");
	assert_true(steps_to_view(w) >= 5);
	assert_string_equal(shown_name(w, "h7"), "another name");
}

/* What changes while a view is copied is in the next one, or in the same; no view is lost. */
static void a_sweep_ends_the_copy(void **state)
{
	struct world *w = *state;
	mono_t until;

	start_large(w);
	sim_set_desc(w->sim, node_of(w, "h7"), "another name");
	until = sim_now(w->sim) + 5 * MONO_S;
	while (sm_next(w->sm) != 0 && rig_step(w->rig, until))
		;
	assert_int_equal(sm_next(w->sm), 0);
	sm_request_heavy(w->sm, NULL);
	run_for(w, 30 * MONO_S);
	assert_string_equal(shown_name(w, "h7"), "another name");
	assert_true(is_good(w));
}

/*
 * A port that was left out for a GUID that is there twice is held for a claim: documents that are
 * being copied have to say so.
 */
static void another_reason_is_an_edit(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	struct node *leaf;
	uint64_t before;

	free(w->conf->guid_location_policy);
	w->conf->guid_location_policy = xstrdup("hold");
	start(w);
	leaf = fabric_find_node(sm_fabric(w->sm), known(w, "leaf1")->guid);
	ib_put(info, NI_NODE_TYPE, IB_NODE_CA);
	ib_put(info, NI_NODE_GUID, known(w, "h9")->guid);
	ib_put(info, NI_PORT_GUID, known(w, "h9")->ports[1].guid);
	ib_put(info, NI_LOCAL_PORT, 1);
	observe_quarantine(&leaf->ports[2], true);
	before = leaf->edited;
	assert_true(identity_holds(w->sm, &leaf->ports[2], info));
	assert_true(identity_is_held(&leaf->ports[2]));
	assert_true(leaf->edited > before);
	free(w->conf->guid_location_policy);
	w->conf->guid_location_policy = xstrdup("off");
	before = leaf->edited;
	assert_false(identity_holds(w->sm, &leaf->ports[2], info));
	assert_true(leaf->edited > before);
	before = leaf->edited;
	assert_false(identity_holds(w->sm, &leaf->ports[2], info));
	assert_int_equal(leaf->edited, before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_host_that_toggles_is_sm_costs_a_view_a_second),
		TEST(a_name_is_published_in_turns),
		TEST(a_sweep_ends_the_copy),
		TEST(another_reason_is_an_edit),
	};

	return cmocka_run_group_tests_name("sm-views", tests, NULL, NULL);
}
