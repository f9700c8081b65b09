// SPDX-License-Identifier: BSD-2-Clause
/*
 * A view that is copied in parts while the fabric changes: it is that of the last moment, whatever
 * happened in between, and what did not change is copied once. Random lives print their seed;
 * TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "fabric/observe.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"
#include "util/random.h"
#include "view/view_copy.h"

#define _view_ _cleanup_(view_unrefp) struct view *
#define _copy_ _cleanup_(view_copy_freep) struct view_copy *

enum { SLICE = 10, CALLS_MOST = 1000 };

/* What is noted beside: how often each node was copied. */
struct notes {
	unsigned begun, nodes, asked;
	unsigned fails; /* so often it does not hold */
	const struct fabric *fabric;
	struct node *first; /* that was copied */
	uint64_t edits; /* of it, when all was copied: moment() */
};

static uint64_t moment(const struct fabric *f)
{
	return f->edits + f->mft_edits;
}

static void note_begin(void *arg, const struct view *v)
{
	struct notes *n = arg;

	n->begun++;
}

static void note_node(void *arg, const struct view *v, const struct node *node, uint32_t at)
{
	struct notes *n = arg;

	if (!n->nodes++)
		n->first = fabric_find_node(n->fabric, node->guid);
	assert_int_equal(v->nodes[at].guid, node->guid);
}

static bool notes_hold(void *arg)
{
	struct notes *n = arg;

	n->edits = moment(n->fabric);
	return n->asked++ >= n->fails;
}

static struct view_copy *copy_of(struct desk *d, struct notes *notes)
{
	const struct view_source from = { .conf = d->conf, .files = d->files, .fabric = d->fabric,
					  .parts = VIEW_TREES };
	const struct view_beside beside = { note_begin, note_node, notes_hold, notes };

	if (notes)
		notes->fabric = d->fabric;
	return view_copy_new(&from, notes ? &beside : NULL);
}

static void assert_same_port(const struct view *a, const struct view *b, uint32_t i)
{
	const struct view_port *p = &a->ports[i], *q = &b->ports[i];

	assert_int_equal(p->guid, q->guid);
	assert_int_equal(p->node, q->node);
	assert_int_equal(p->peer, q->peer);
	assert_int_equal(p->lid, q->lid);
	assert_int_equal(p->state, q->state);
	assert_int_equal(p->rate, q->rate);
	assert_int_equal(p->known, q->known);
	assert_int_equal(p->fdr10, q->fdr10);
	assert_int_equal(p->met_guid, q->met_guid);
	assert_memory_equal(p->info, q->info, sizeof(p->info));
}

static void assert_same_trees(const struct mft_have *a, const struct mft_have *b)
{
	for (unsigned mlid = MFT_FIRST_MLID; mlid < MFT_FIRST_MLID + 2 * MFT_BLOCK_MLIDS; mlid++) {
		uint64_t p[4], q[4];

		assert_int_equal(mft_have_row(a, (lid_t)mlid, p), mft_have_row(b, (lid_t)mlid, q));
		assert_memory_equal(p, q, sizeof(p));
	}
}

/* It is the view that is made now, at one go. */
static void assert_of_now(struct desk *d, const struct view *v)
{
	const struct view_source from = { .conf = d->conf, .files = d->files, .fabric = d->fabric,
					  .parts = VIEW_TREES };
	_view_ now = view_new(&from);

	assert_int_equal(v->n_nodes, now->n_nodes);
	assert_int_equal(v->n_ports, now->n_ports);
	assert_int_equal(v->sm_port, now->sm_port);
	for (uint32_t i = 0; i < now->n_nodes; i++) {
		assert_int_equal(v->nodes[i].guid, now->nodes[i].guid);
		assert_int_equal(v->nodes[i].first_port, now->nodes[i].first_port);
		assert_string_equal(v->nodes[i].desc, now->nodes[i].desc);
		assert_memory_equal(v->nodes[i].switch_info, now->nodes[i].switch_info, SI_BYTES);
		assert_same_trees(&v->mfts[i], &now->mfts[i]);
	}
	for (uint32_t i = 0; i < now->n_ports; i++)
		assert_same_port(v, now, i);
	assert_memory_equal(v->by_lid, now->by_lid, (LID_MAX_UCAST + 1) * sizeof(*v->by_lid));
	for (uint32_t i = 0; i < now->n_ports; i++)
		assert_int_equal(view_port_of_guid(v, now->ports[i].guid),
				 view_port_of_guid(now, now->ports[i].guid));
}

/* ---- changes --------------------------------------------------------------------------------- */

static void see_state(struct desk *d, struct port *p, enum ib_port_state state)
{
	uint8_t info[SMP_DATA_SIZE];

	memcpy(info, p->info, sizeof(info));
	ib_put(info, PI_PORT_STATE, state);
	observe_port_info(d->fabric, p, info);
}

static void see_name(struct node *n, const char *name)
{
	uint8_t desc[SMP_DATA_SIZE] = { 0 };

	memcpy(desc, name, strlen(name));
	observe_description(n, desc);
}

static struct node *come(struct desk *d, guid_t guid)
{
	uint8_t ni[SMP_DATA_SIZE] = { 0 };

	ib_put(ni, NI_NODE_TYPE, IB_NODE_CA);
	ib_put(ni, NI_NUM_PORTS, 1);
	ib_put(ni, NI_NODE_GUID, guid);
	ib_put(ni, NI_PORT_GUID, guid + 1);
	ib_put(ni, NI_LOCAL_PORT, 1);
	return observe_node_info(d->fabric, ni).node;
}

static struct port *random_port(struct desk *d, uint64_t *dice)
{
	struct node *n = d->fabric->nodes[random_next(dice) % d->fabric->n_nodes];

	return &n->ports[1 + random_next(dice) % n->n_ports];
}

static void see_mft(struct node *n, uint64_t *dice)
{
	unsigned block = random_next(dice) % 2;
	struct mft_cell cell = { .mask = { (uint16_t)random_next(dice) } };

	if (!node_is_switch(n))
		return;
	switch (random_next(dice) % 5) {
	case 0:
		observe_mft_cell(n, block, 0, &cell);
		break;
	case 1:
		observe_mft_sent(n, block, 0, &cell);
		break;
	case 2:
		observe_mft_written(n, block, 0, &cell);
		break;
	case 3:
		observe_mft_lost(n);
		break;
	case 4:
		observe_cold(n);
		break;
	}
}

static void change(struct desk *d, uint64_t *dice)
{
	struct port *p = random_port(d, dice), *q = random_port(d, dice);
	uint8_t si[SMP_DATA_SIZE] = { 0 };
	bool was_out;

	switch (random_next(dice) % 11) {
	case 0:
		see_state(d, p, 1 + random_next(dice) % 4);
		break;
	case 1:
		observe_link_down(p);
		break;
	case 2:
		if (p != q)
			observe_cable(p, q, &was_out);
		break;
	case 3:
		see_name(p->node, random_next(dice) & 1 ? "a" : "b");
		break;
	case 4:
		observe_quarantine(p, random_next(dice) & 1);
		break;
	case 5:
		ib_put(si, SI_LINEAR_FDB_TOP, random_next(dice) % 8);
		if (node_is_switch(p->node))
			observe_switch_info(p->node, si);
		break;
	case 6:
		observe_is_sm(p);
		break;
	case 7:
		observe_port_gone(d->fabric, p);
		break;
	case 8:
		ib_put(si, EPI_SPEED_ACTIVE, random_next(dice) & EPI_SPEED_FDR10);
		observe_ext_port_info(p, si);
		break;
	default:
		see_mft(p->node, dice);
	}
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void at_rest_each_node_is_copied_once_in_many_slices(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct notes notes = { 0 };
	_copy_ c = copy_of(d, &notes);
	_view_ v = NULL;
	unsigned calls = 1;

	for (; !view_copy_some(c, SLICE); calls++)
		assert_true(calls < CALLS_MOST);
	v = view_copy_take(c);
	assert_of_now(d, v);
	assert_true(calls >= v->n_ports / (SLICE + 4));
	assert_int_equal(notes.begun, 1);
	assert_int_equal(notes.nodes, v->n_nodes);
	assert_int_equal(view_copy_rounds(c), 1);
}

static void a_small_fabric_is_whole_at_once(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_copy_ c = copy_of(d, NULL);
	_view_ v = NULL;

	assert_true(view_copy_some(c, 4096));
	v = view_copy_take(c);
	assert_of_now(d, v);
}

static void what_changed_is_copied_again_and_nothing_else(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct notes notes = { 0 };
	_copy_ c = copy_of(d, &notes);
	_view_ v = NULL;
	struct port *p;

	while (notes.nodes < d->fabric->n_nodes - 1)
		assert_false(view_copy_some(c, 1));
	p = &notes.first->ports[1];
	see_state(d, p, IB_PORT_ARMED);
	for (unsigned calls = 0; !view_copy_some(c, SLICE); calls++)
		assert_true(calls < CALLS_MOST);
	v = view_copy_take(c);
	assert_of_now(d, v);
	assert_int_equal(notes.nodes, v->n_nodes + 2); /* both ends of the cable */
	assert_int_equal(notes.begun, 1);
}

static void a_table_that_changed_is_copied_again_without_its_node(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct notes notes = { 0 };
	_copy_ c = copy_of(d, &notes);
	_view_ v = NULL;
	const struct mft_cell cell = { .mask = { 6 } };
	uint64_t mask[4];

	while (notes.nodes < d->fabric->n_nodes - 1)
		assert_false(view_copy_some(c, 1));
	observe_mft_written(desk_node(d, "spine1"), 0, 0, &cell);
	for (unsigned calls = 0; !view_copy_some(c, SLICE); calls++)
		assert_true(calls < CALLS_MOST);
	v = view_copy_take(c);
	assert_of_now(d, v);
	assert_true(mft_have_row(&v->mfts[view_find_node(v, desk_node(d, "spine1")->guid) -
					  v->nodes], MFT_FIRST_MLID, mask));
	assert_int_equal(mask[0], 6);
	assert_int_equal(notes.nodes, v->n_nodes);
	assert_int_equal(notes.begun, 1);
}

static void what_is_said_again_is_no_change(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct port *p = desk_end(d, "h0");
	uint64_t before = d->fabric->edits;
	bool was_out;

	see_state(d, p, (enum ib_port_state)port_state(p));
	see_name(p->node, p->node->desc);
	observe_quarantine(p, false);
	observe_silence(p, false);
	observe_cable(p, p->peer, &was_out);
	before = d->fabric->edits;
	observe_cable(p, p->peer, &was_out);
	see_state(d, p, (enum ib_port_state)port_state(p));
	see_name(p->node, p->node->desc);
	assert_int_equal(d->fabric->edits, before);
}

static void a_node_that_comes_or_goes_has_it_begin_anew(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct notes notes = { 0 };
	_copy_ c = copy_of(d, &notes);
	_view_ v = NULL;

	for (unsigned i = 0; i < 6; i++)
		assert_false(view_copy_some(c, SLICE));
	observe_node_gone(d->fabric, desk_node(d, "h3"));
	for (unsigned i = 0; i < 6; i++)
		assert_false(view_copy_some(c, SLICE));
	come(d, 0xABC0);
	for (unsigned calls = 0; !view_copy_some(c, SLICE); calls++)
		assert_true(calls < CALLS_MOST);
	v = view_copy_take(c);
	assert_of_now(d, v);
	assert_non_null(view_find_node(v, 0xABC0));
	assert_int_equal(notes.begun, 3);
}

static void a_fabric_that_never_rests_is_copied_at_one_go_at_last(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct port *p = desk_end(d, "h0");
	_copy_ c = copy_of(d, NULL);
	_view_ v = NULL;
	unsigned calls = 0;

	for (; !view_copy_some(c, SLICE); calls++) {
		assert_true(calls < CALLS_MOST);
		/* Then it is copied; what follows from it may come in further turns. */
		if (view_copy_rounds(c) < VIEW_COPY_ROUNDS)
			see_state(d, p, calls & 1 ? IB_PORT_INIT : IB_PORT_ARMED);
	}
	v = view_copy_take(c);
	assert_of_now(d, v);
	assert_int_equal(view_copy_rounds(c), VIEW_COPY_ROUNDS);
}

static void nodes_that_never_stop_coming_are_no_reason_to_go_on_for_ever(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct notes notes = { 0 };
	_copy_ c = copy_of(d, &notes);
	_view_ v = NULL;
	unsigned calls = 0;

	for (; view_copy_rounds(c) < VIEW_COPY_ROUNDS; calls++) {
		assert_true(calls < CALLS_MOST);
		come(d, 0xABC000 + 0x10 * calls);
		assert_false(view_copy_some(c, SLICE));
	}
	while (!view_copy_some(c, SLICE))
		assert_true(++calls < CALLS_MOST);
	v = view_copy_take(c);
	assert_of_now(d, v);
}

static void what_is_noted_beside_is_begun_anew_if_it_does_not_hold(void **state)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct notes notes = { .fails = 2 }, never = { .fails = UINT_MAX };
	_copy_ c = copy_of(d, &notes);
	_copy_ last = copy_of(d, &never);

	for (unsigned calls = 0; !view_copy_some(c, SLICE); calls++)
		assert_true(calls < CALLS_MOST);
	assert_int_equal(notes.begun, 3);
	assert_int_equal(notes.nodes, 3 * d->fabric->n_nodes);
	for (unsigned calls = 0; !view_copy_some(last, SLICE); calls++)
		assert_true(calls < CALLS_MOST);
	assert_true(never.begun <= VIEW_COPY_ROUNDS + 1);
}

/* True: it ended with the last change. */
static bool live(uint64_t *dice)
{
	_desk_ d = desk_new("tree 4 4 2");
	struct notes notes = { 0 };
	_copy_ c = copy_of(d, &notes);
	_view_ v = NULL;
	unsigned changes = random_next(dice) % 12, calls = 0;

	do {
		for (; changes && random_next(dice) & 1; changes--)
			change(d, dice);
		assert_true(calls++ < CALLS_MOST);
	} while (!view_copy_some(c, 1 + random_next(dice) % 40));
	v = view_copy_take(c);
	/* Changes while what follows from the nodes is made are of later. */
	if (notes.edits == moment(d->fabric))
		assert_of_now(d, v);
	return notes.edits == moment(d->fabric);
}

static void random_lives_end_in_the_view_of_the_last_moment(void **state)
{
	const char *seed = getenv("TEST_SEED");
	uint64_t dice = seed ? strtoull(seed, NULL, 0) : 0xC0B1E5;
	unsigned compared = 0;

	print_message("# TEST_SEED=%s\n", seed ? seed : "0xC0B1E5");
	for (unsigned i = 0; i < 300; i++)
		compared += live(&dice);
	assert_true(compared > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_rest_each_node_is_copied_once_in_many_slices),
		cmocka_unit_test(a_small_fabric_is_whole_at_once),
		cmocka_unit_test(what_changed_is_copied_again_and_nothing_else),
		cmocka_unit_test(a_table_that_changed_is_copied_again_without_its_node),
		cmocka_unit_test(what_is_said_again_is_no_change),
		cmocka_unit_test(a_node_that_comes_or_goes_has_it_begin_anew),
		cmocka_unit_test(a_fabric_that_never_rests_is_copied_at_one_go_at_last),
		cmocka_unit_test(nodes_that_never_stop_coming_are_no_reason_to_go_on_for_ever),
		cmocka_unit_test(what_is_noted_beside_is_begun_anew_if_it_does_not_hold),
		cmocka_unit_test(random_lives_end_in_the_view_of_the_last_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
