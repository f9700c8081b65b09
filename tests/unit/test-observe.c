// SPDX-License-Identifier: BSD-2-Clause
/* fabric/observe.c: an answer goes in, a delta comes out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "fabric/observe.h"
#include "util/mem.h"

#define LEAF 0x10
#define HOST 0xA0

struct world {
	struct fabric *f;
	struct port *up, *host; /* port 1 of the leaf, and the host there */
};

static const uint8_t *node_info(unsigned type, guid_t guid, unsigned n_ports, unsigned local)
{
	static uint8_t ni[SMP_DATA_SIZE];

	memset(ni, 0, sizeof(ni));
	ib_put(ni, NI_NODE_TYPE, type);
	ib_put(ni, NI_NUM_PORTS, n_ports);
	ib_put(ni, NI_NODE_GUID, guid);
	ib_put(ni, NI_SYSTEM_IMAGE_GUID, guid);
	ib_put(ni, NI_PORT_GUID, guid + (type == IB_NODE_CA));
	ib_put(ni, NI_LOCAL_PORT, local);
	return ni;
}

static const uint8_t *port_info(unsigned state, lid_t lid)
{
	static uint8_t info[SMP_DATA_SIZE];

	memset(info, 0, sizeof(info));
	ib_put(info, PI_PORT_STATE, state);
	ib_put(info, PI_LID, lid);
	return info;
}

static const uint8_t *switch_info(lid_t top, bool change)
{
	static uint8_t info[SMP_DATA_SIZE];

	memset(info, 0, sizeof(info));
	ib_put(info, SI_LINEAR_FDB_CAP, 0xC000);
	ib_put(info, SI_LINEAR_FDB_TOP, top);
	ib_put(info, SI_PORT_STATE_CHANGE, change);
	return info;
}

static struct port *meet(struct fabric *f, unsigned type, guid_t guid, unsigned n_ports)
{
	struct delta d = observe_node_info(f, node_info(type, guid, n_ports, 1));

	assert_int_equal(d.kinds, DELTA(DELTA_NODE_NEW));
	assert_non_null(d.port);
	return d.port;
}

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	bool was_out;

	w->f = fabric_new();
	w->up = meet(w->f, IB_NODE_SWITCH, LEAF, 4);
	w->host = meet(w->f, IB_NODE_CA, HOST, 1);
	observe_cable(w->up, w->host, &was_out);
	observe_port_info(w->f, w->up, port_info(IB_PORT_ACTIVE, 0));
	observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 7));
	w->host->lid = 7;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	fabric_free(w->f);
	free(w);
	return 0;
}

static unsigned link_kinds(struct world *w, unsigned state)
{
	struct delta d = observe_port_info(w->f, w->up, port_info(state, 0));

	assert_ptr_equal(d.port, w->up);
	return d.kinds;
}

/* ---- nodes ---- */

static void a_node_is_new_once(void **state)
{
	struct world *w = *state;
	struct delta d = observe_node_info(w->f, node_info(IB_NODE_SWITCH, LEAF, 4, 3));

	assert_int_equal(d.kinds, 0);
	assert_ptr_equal(d.node, w->up->node);
	assert_int_equal(d.port->num, 3);
}

static void nodes_have_1_to_254_ports(void **state)
{
	static const unsigned sizes[] = { 1, 32, 33, 254 };
	struct world *w = *state;
	unsigned before = w->f->n_nodes;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		guid_t guid = 0x100 + sizes[i];
		const uint8_t *ni = node_info(IB_NODE_SWITCH, guid, sizes[i], sizes[i]);

		assert_int_equal(observe_node_info(w->f, ni).port->num, sizes[i]);
		assert_int_equal(fabric_find_node(w->f, guid)->n_ports, sizes[i]);
	}
	assert_int_equal(w->f->n_nodes, before + ARRAY_SIZE(sizes));
	assert_null(observe_node_info(w->f, node_info(IB_NODE_SWITCH, 0x999, 255, 1)).node);
	assert_null(observe_node_info(w->f, node_info(IB_NODE_SWITCH, 0x999, 0, 0)).node);
}

static void nonsense_is_no_node(void **state)
{
	struct world *w = *state;
	unsigned before = w->f->n_nodes;
	uint8_t garbage[SMP_DATA_SIZE];

	assert_null(observe_node_info(w->f, node_info(0, 0x99, 2, 1)).node);
	assert_null(observe_node_info(w->f, node_info(IB_NODE_ROUTER + 1, 0x99, 2, 1)).node);
	assert_null(observe_node_info(w->f, node_info(IB_NODE_CA, 0, 2, 1)).node);
	assert_null(observe_node_info(w->f, node_info(IB_NODE_CA, 0x99, 2, 3)).node);
	assert_null(observe_node_info(w->f, node_info(IB_NODE_CA, 0x99, 2, 0)).node);
	memset(garbage, 0xFF, sizeof(garbage));
	assert_null(observe_node_info(w->f, garbage).node);
	assert_int_equal(w->f->n_nodes, before);
}

/* A node that has fewer ports than an answer with its GUID says. */
static void a_port_that_a_node_does_not_have_is_none(void **state)
{
	struct world *w = *state;
	const uint8_t *ni = node_info(IB_NODE_SWITCH, LEAF, 36, 36);
	struct delta d = observe_node_info(w->f, ni);

	assert_ptr_equal(d.node, w->up->node);
	assert_null(d.port);
	assert_false(observe_is_same(d.node, ni));
}

static void the_first_name_is_told_as_such(void **state)
{
	static const uint8_t first[SMP_DATA_SIZE] = "leaf1", other[SMP_DATA_SIZE] = "leaf2\n\x1b[";
	struct world *w = *state;
	struct node *n = w->up->node;

	assert_int_equal(observe_description(n, first).kinds, DELTA(DELTA_DESCRIBED));
	assert_int_equal(observe_description(n, first).kinds, 0);
	assert_int_equal(observe_description(n, other).kinds, DELTA(DELTA_NAME));
	for (const char *c = n->desc; *c; c++)
		assert_in_range(*c, ' ', '~');
}

static void another_system_image_is_told(void **state)
{
	struct world *w = *state;
	uint8_t ni[SMP_DATA_SIZE];

	memcpy(ni, node_info(IB_NODE_SWITCH, LEAF, 4, 1), sizeof(ni));
	assert_int_equal(observe_image(w->up->node, ni).kinds, 0);
	ib_put(ni, NI_SYSTEM_IMAGE_GUID, 0x77);
	assert_int_equal(observe_image(w->up->node, ni).kinds, DELTA(DELTA_NAME));
	assert_int_equal(w->up->node->sysimg_guid, 0x77);
	ib_put(ni, NI_NODE_GUID, 0x11); /* another node answered */
	ib_put(ni, NI_SYSTEM_IMAGE_GUID, 0x78);
	assert_int_equal(observe_image(w->up->node, ni).kinds, 0);
	assert_int_equal(w->up->node->sysimg_guid, 0x77);
}

static void our_port_is_one_that_the_node_has(void **state)
{
	struct world *w = *state;
	const uint8_t *ni = node_info(IB_NODE_CA, HOST, 255, 255);
	struct delta d = observe_node_info(w->f, ni);

	assert_null(d.port);
	observe_own(w->f, &d, ni, 0x5);
	assert_ptr_equal(w->f->own_port, w->host);
	assert_int_equal(w->host->m_key, 0x5);
}

/* ---- PortInfo ---- */

static void a_port_as_it_was_is_only_read(void **state)
{
	assert_int_equal(link_kinds(*state, IB_PORT_ACTIVE), DELTA(DELTA_PORT_STATE));
}

static void counters_and_reregister_are_no_change(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE];

	memcpy(info, port_info(IB_PORT_ACTIVE, 0), sizeof(info));
	ib_put(info, PI_M_KEY_VIOLATIONS, 3);
	ib_put(info, PI_P_KEY_VIOLATIONS, 4);
	ib_put(info, PI_Q_KEY_VIOLATIONS, 5);
	ib_put(info, PI_CLIENT_REREGISTER, 1);
	assert_int_equal(observe_port_info(w->f, w->up, info).kinds, DELTA(DELTA_PORT_STATE));
	assert_int_equal(ib_get(w->up->info, PI_P_KEY_VIOLATIONS), 4);
	assert_int_equal(ib_get(w->up->info, PI_CLIENT_REREGISTER), 0);
}

/* Any program on a host can say so, as often as it likes: no reason to compute anything. */
static void a_manager_that_comes_or_goes_is_no_change_of_the_port(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE];
	uint64_t caps;

	memcpy(info, w->host->info, sizeof(info));
	caps = ib_get(info, PI_CAP_MASK);
	ib_put(info, PI_CAP_MASK, caps | IB_CAP(IB_CAP_IS_SM));
	assert_int_equal(observe_port_info(w->f, w->host, info).kinds,
			 DELTA(DELTA_PORT_STATE) | DELTA(DELTA_IS_SM));
	assert_true(fabric_cap_mask(w->host) & IB_CAP(IB_CAP_IS_SM));
	assert_int_equal(observe_port_info(w->f, w->host, info).kinds, DELTA(DELTA_PORT_STATE));
	ib_put(info, PI_CAP_MASK, caps ^ IB_CAP(IB_CAP_CAPMASK2));
	assert_int_equal(observe_port_info(w->f, w->host, info).kinds,
			 DELTA(DELTA_PORT_STATE) | DELTA(DELTA_PORT) | DELTA(DELTA_IS_SM));
	assert_false(fabric_cap_mask(w->host) & IB_CAP(IB_CAP_IS_SM));
}

/* Why one end is not ACTIVE is said by the state of the other. */
static void the_state_of_one_end_is_shown_of_both(void **state)
{
	struct world *w = *state;
	uint64_t before;

	observe_port_info(w->f, w->host, port_info(IB_PORT_ARMED, 7));
	before = w->f->edits;
	observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 7));
	assert_true(w->up->node->edited > before);
	before = w->f->edits;
	observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 8));
	assert_true(w->host->node->edited > before);
	assert_false(w->up->node->edited > before);
}

static void the_first_portinfo_is_a_change(void **state)
{
	struct world *w = *state;
	struct port *p = &w->up->node->ports[2];
	struct delta d = observe_port_info(w->f, p, port_info(IB_PORT_DOWN, 0));

	assert_int_equal(d.kinds, DELTA(DELTA_PORT_STATE) | DELTA(DELTA_PORT));
	assert_true(p->known);
}

static void a_link_in_init_was_out(void **state)
{
	struct world *w = *state;

	w->up->ext_known = true;
	assert_int_equal(link_kinds(w, IB_PORT_INIT),
			 DELTA(DELTA_PORT_STATE) | DELTA(DELTA_PORT) | DELTA(DELTA_LINK_OUT) |
				 DELTA(DELTA_LINK_FELL) | DELTA(DELTA_TRAINED));
	assert_false(w->up->ext_known);
	assert_int_equal(link_kinds(w, IB_PORT_INIT),
			 DELTA(DELTA_PORT_STATE) | DELTA(DELTA_LINK_OUT));
	assert_int_equal(link_kinds(w, IB_PORT_ACTIVE),
			 DELTA(DELTA_PORT_STATE) | DELTA(DELTA_PORT));
}

static void a_cable_is_known_until_all_know_that_it_went(void **state)
{
	struct world *w = *state;
	struct delta d = observe_port_info(w->f, w->up, port_info(IB_PORT_DOWN, 0));

	assert_int_equal(d.kinds, DELTA(DELTA_PORT_STATE) | DELTA(DELTA_PORT) |
					  DELTA(DELTA_LINK_OUT) | DELTA(DELTA_LINK_FELL) |
					  DELTA(DELTA_TRAINED) | DELTA(DELTA_LINK_DOWN));
	assert_int_equal(d.before, IB_PORT_ACTIVE);
	assert_ptr_equal(d.far, w->host);
	assert_ptr_equal(w->up->peer, w->host);
	observe_link_down(w->up);
	assert_null(w->up->peer);
	assert_null(w->host->peer);
	assert_int_equal(link_kinds(w, IB_PORT_DOWN), DELTA(DELTA_PORT_STATE));
}

static void a_lid_that_was_not_given_is_told(void **state)
{
	struct world *w = *state;
	struct delta d = observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 9));

	assert_int_equal(d.kinds, DELTA(DELTA_PORT_STATE) | DELTA(DELTA_PORT) |
					  DELTA(DELTA_OTHER_LID));
	/* It had that one before, and none is no other. */
	d = observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 9));
	assert_int_equal(d.kinds, DELTA(DELTA_PORT_STATE));
	observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 7));
	d = observe_port_info(w->f, w->host, port_info(IB_PORT_INIT, 0));
	assert_int_equal(d.kinds & DELTA(DELTA_OTHER_LID), 0);
}

static void a_reboot_loses_the_tables_of_a_port(void **state)
{
	static const uint8_t keys[SMP_DATA_SIZE] = { 0xFF, 0xFF };
	struct world *w = *state;

	w->host->node->partition_cap = 32;
	assert_false(fabric_observe_cell(w->f, w->host, TABLE_PKEYS, 0, keys));
	observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 7));
	assert_non_null(fabric_cell(w->f, w->host, TABLE_PKEYS, 0));
	observe_port_info(w->f, w->host, port_info(IB_PORT_INIT, 0));
	assert_null(fabric_cell(w->f, w->host, TABLE_PKEYS, 0));
}

static void any_bytes_are_a_portinfo(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE];

	srand(7);
	for (unsigned i = 0; i < 2000; i++) {
		struct delta d;

		for (unsigned k = 0; k < sizeof(info); k++)
			info[k] = (uint8_t)rand();
		d = observe_port_info(w->f, i % 2 ? w->up : w->host, info);
		assert_true(d.kinds & DELTA(DELTA_PORT_STATE));
		assert_true(d.kinds < DELTA(N_DELTAS));
	}
}

static void silence_of_a_set_is_doubt_until_the_next_answer(void **state)
{
	struct world *w = *state;

	observe_expected_mkey(w->host, 0x1, 0x2);
	observe_expected_mkey(w->host, 0x8, 0x9); /* known already */
	observe_doubt(w->host);
	assert_true(w->host->doubt);
	assert_int_equal(w->host->m_key, 0x2);
	assert_int_equal(w->host->m_key_other, 0x1);
	observe_port_info(w->f, w->host, port_info(IB_PORT_ACTIVE, 7));
	assert_false(w->host->doubt);
}

static void a_port_that_is_not_met_is_unknown(void **state)
{
	struct world *w = *state;

	assert_true(observe_port_gone(w->f, w->host));
	assert_false(observe_port_gone(w->f, w->host));
	assert_null(w->up->peer);
	assert_int_equal(port_state(w->host), IB_PORT_DOWN);
}

/* Another node, which has another key, got what was meant for it. */
static void the_key_of_a_port_that_is_gone_is_not_in_doubt(void **state)
{
	struct world *w = *state;

	observe_expected_mkey(w->host, 0x1, 0x1);
	observe_mkey_doubt(w->host);
	assert_int_equal(w->host->key_doubts, 1);
	observe_port_gone(w->f, w->host);
	assert_int_equal(w->host->key_doubts, 0);
	assert_int_equal(w->host->m_key, 0x1);
}

/* Questions with several keys at once time out together: that is no key tried and refused. */
static void a_port_that_hides_its_key_is_tried_with_each_key_whatever_is_doubted(void **state)
{
	struct world *w = *state;

	observe_expected_mkey(w->host, 0x1, 0x2);
	observe_mkey_hidden(w->host, 5);
	for (unsigned i = 0; i < 9; i++)
		observe_mkey_doubt(w->host);
	assert_int_equal(w->host->keys_tried, 0);
	observe_mkey_refused(w->host);
	observe_mkey_hidden(w->host, 5);
	assert_int_equal(w->host->keys_tried, 1);
	observe_mkey_hidden(w->host, 6);
	assert_int_equal(w->host->keys_tried, 0);
}

static void an_answer_to_sminfo_shows_a_manager(void **state)
{
	struct world *w = *state;

	observe_is_sm(w->host);
	assert_true(fabric_cap_mask(w->host) & IB_CAP(IB_CAP_IS_SM));
	observe_is_sm(NULL);
}

/* ---- switches ---- */

static void a_table_that_was_reset_is_told_and_unknown(void **state)
{
	struct world *w = *state;
	struct node *n = w->up->node;
	uint8_t block[LFT_BLOCK_LIDS] = { 1, 2, 3 };

	assert_int_equal(observe_switch_info(n, switch_info(0, false)).kinds, 0);
	assert_true(observe_tops(n, switch_info(63, false)));
	assert_false(observe_tops(n, switch_info(63, false)));
	assert_true(observe_lft_block(n, 0, block));
	assert_int_equal(observe_switch_info(n, switch_info(63, false)).kinds, 0);
	assert_non_null(lft_have_block(&n->lft, 0));
	assert_int_equal(observe_switch_info(n, switch_info(0, false)).kinds, DELTA(DELTA_TABLE));
	assert_null(lft_have_block(&n->lft, 0));
	assert_int_equal(observe_switch_info(n, switch_info(0, false)).kinds, 0);
}

static void a_block_is_news_once(void **state)
{
	struct world *w = *state;
	struct node *n = w->up->node;
	uint8_t block[LFT_BLOCK_LIDS] = { 1, 2, 3 };

	assert_true(observe_lft_block(n, 767, block)); /* the last one, LIDs up to 0xBFFF */
	assert_false(observe_lft_block(n, 767, block));
	assert_null(lft_have_block(&n->lft, 766));
	block[63] = 9;
	assert_true(observe_lft_block(n, 767, block));
	observe_distrust(w->f, n);
	assert_null(lft_have_block(&n->lft, 767));
}

static void a_change_is_open_until_it_is_cleared(void **state)
{
	struct world *w = *state;
	struct node *n = w->up->node;

	observe_switch_info(n, switch_info(0, true));
	assert_true(n->changed && n->change_uncleared && !n->cleared_late);
	observe_change_cleared(n, switch_info(0, false), false);
	assert_true(n->changed && !n->change_uncleared && !n->cleared_late);
	observe_change_cleared(n, switch_info(0, false), true);
	assert_true(n->cleared_late);
	observe_begin(n);
	assert_true(!n->changed && n->cleared_late);
	observe_switch_info(n, switch_info(0, false));
	assert_false(n->cleared_late);
	observe_ports_in_doubt(n);
	assert_true(n->cleared_late);
}

/* ---- cables ---- */

static void a_cable_is_another_if_its_end_is(void **state)
{
	struct world *w = *state;
	struct port *other = meet(w->f, IB_NODE_CA, HOST + 8, 1);
	bool was_out;
	struct delta d = observe_cable(w->up, w->host, &was_out);

	assert_int_equal(d.kinds, DELTA(DELTA_MET));
	assert_ptr_equal(d.far, w->host);
	assert_true(observe_silence(w->up, true));
	assert_false(observe_silence(w->up, true));
	d = observe_cable(w->up, w->host, &was_out);
	assert_int_equal(d.kinds, DELTA(DELTA_MET) | DELTA(DELTA_BACK));
	assert_false(w->up->silent);
	d = observe_cable(w->up, other, &was_out);
	assert_int_equal(d.kinds, DELTA(DELTA_MET) | DELTA(DELTA_CABLE));
	assert_null(w->host->peer);
	assert_int_equal(w->host->met_guid, LEAF); /* where it was */
	assert_false(was_out);			   /* no packet of others passes a host */
}

static void a_cable_between_switches_that_was_out_is_told(void **state)
{
	struct world *w = *state;
	struct port *a = &w->up->node->ports[3], *b = meet(w->f, IB_NODE_SWITCH, 0x20, 255 - 1);
	bool was_out;

	observe_port_info(w->f, a, port_info(IB_PORT_INIT, 0));
	observe_cable(a, b, &was_out);
	assert_false(was_out); /* never met before */
	observe_port_info(w->f, a, port_info(IB_PORT_ACTIVE, 0));
	observe_cable(a, b, &was_out);
	assert_false(was_out);
	observe_port_info(w->f, a, port_info(IB_PORT_INIT, 0));
	observe_cable(a, b, &was_out);
	assert_true(was_out);
	observe_cable(a, &b->node->ports[254], &was_out);
	assert_true(was_out);
}

static bool is_out_with_change(struct port *a, struct port *b, bool change)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	bool was_out;

	ib_put(info, SI_PORT_STATE_CHANGE, change);
	observe_switch_info(a->node, info);
	observe_cable(a, b, &was_out);
	return was_out;
}

static void a_link_that_stays_in_init_was_not_out(void **state)
{
	struct world *w = *state;
	struct port *a = &w->up->node->ports[3], *b = meet(w->f, IB_NODE_SWITCH, 0x20, 255 - 1);

	observe_port_info(w->f, a, port_info(IB_PORT_INIT, 0));
	is_out_with_change(a, b, true);
	assert_true(is_out_with_change(a, b, false)); /* since the change was reported */
	assert_false(is_out_with_change(a, b, false));
	assert_false(is_out_with_change(a, b, false));
	assert_true(is_out_with_change(a, b, true));
}

static void a_port_that_leads_to_itself_has_no_cable(void **state)
{
	struct world *w = *state;
	struct delta d = observe_left_out(w->up, PORT_ODD_LOOPBACK);

	assert_int_equal(d.kinds, DELTA(DELTA_CABLE_GONE));
	assert_ptr_equal(d.far, w->host);
	assert_int_equal(observe_left_out(w->host, PORT_ODD_NONSENSE).kinds, 0);
	fabric_disconnect(w->up);
	assert_int_equal(observe_left_out(w->up, PORT_ODD_LOOPBACK).kinds, 0);
}

static void a_quarantined_port_has_no_cable(void **state)
{
	struct world *w = *state;

	observe_quarantine(w->up, true);
	assert_null(w->host->peer);
	observe_quarantine(w->up, false);
	assert_false(w->up->quarantined);
}

static void another_path_is_noted(void **state)
{
	static const struct dr_path path = { .length = 2, .hop = { 0, 1, 5 } };
	struct world *w = *state;
	struct node *n = w->up->node;

	observe_path(n, &path);
	assert_true(n->path_changed);
	observe_path(n, &path);
	assert_false(n->path_changed);
}

static void extended_speeds_are_known_until_they_are_lost(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	ib_put(info, EPI_SPEED_ACTIVE, EPI_SPEED_FDR10);
	observe_ext_port_info(w->up, info);
	assert_true(w->up->ext_known && w->up->ext_active == EPI_SPEED_FDR10);
	observe_ext_lost(w->up);
	assert_false(w->up->ext_known);
}

static void a_set_is_on_the_wire_then_unproven_then_proved(void **state)
{
	struct world *w = *state;
	struct port *p = w->host;
	uint8_t block[SMP_DATA_SIZE] = { 0x80, 0x01 };

	observe_block_sent(p, TABLE_SL2VL, 0);
	assert_true(cell_table_is_out(p->tables[TABLE_SL2VL], 0));
	observe_block_back(p, TABLE_SL2VL, 0);
	assert_false(observe_block(w->f, p, TABLE_SL2VL, 0, block));
	assert_true(observe_block(w->f, p, TABLE_SL2VL, 0, block));
	assert_true(fabric_cells_unproven(p));
	observe_blocks_proved(p);
	assert_false(fabric_cells_unproven(p));
	observe_block_lost(w->f, p, TABLE_SL2VL, 0);
	assert_null(fabric_cell(w->f, p, TABLE_SL2VL, 0));
	observe_blocks_written(p, TABLE_SL2VL, 1);
	assert_true(fabric_cells_unproven(p));
	observe_blocks_lost(w->f, p);
	assert_null(p->tables[TABLE_SL2VL]);
}

static void a_written_forwarding_block_is_proved_or_lost(void **state)
{
	struct world *w = *state;
	struct node *n = w->up->node;
	uint8_t block[LFT_BLOCK_LIDS] = { 1 };

	observe_lft_written(n, 0, block);
	assert_true(n->lft.unproven);
	observe_tables_proved(n);
	assert_false(n->lft.unproven);
	assert_non_null(lft_have_block(&n->lft, 0));
	observe_lft_lost(n, 0);
	assert_null(lft_have_block(&n->lft, 0));
}

static void a_multicast_cell_on_its_way_may_hold_both(void **state)
{
	struct world *w = *state;
	struct node *n = w->up->node;
	struct mft_cell one = { .mask = { 1 } }, two = { .mask = { 2 } };
	bool known;

	assert_true(mft_have_is_untold(&n->mft, 0, 0));
	observe_mft_cell(n, 0, 0, &one);
	observe_mft_sent(n, 0, 0, &two);
	assert_int_equal(mft_have_cell(&n->mft, 0, 0, &known)->mask[0], 3);
	assert_false(known);
	observe_mft_written(n, 0, 0, &two);
	assert_int_equal(mft_have_cell(&n->mft, 0, 0, &known)->mask[0], 2);
	assert_true(known && n->mft.unproven);
	observe_mft_lost(n);
	assert_true(mft_have_is_untold(&n->mft, 0, 0));
	observe_mft_unreadable(n, 0, 0);
	assert_false(mft_have_is_untold(&n->mft, 0, 0));
}

static void a_node_that_is_gone_takes_its_cable_along(void **state)
{
	struct world *w = *state;

	observe_node_gone(w->f, w->host->node);
	assert_null(fabric_find_node(w->f, HOST));
	assert_null(w->up->peer);
}

static void a_port_guid_belongs_to_one_port(void **state)
{
	struct world *w = *state;

	assert_int_equal(observe_port_guid(w->f, w->host, 0xBEEF), 0);
	assert_ptr_equal(fabric_find_port(w->f, 0xBEEF), w->host);
	assert_int_equal(observe_port_guid(w->f, w->up, 0xBEEF), -EEXIST);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_node_is_new_once),
		TEST(nodes_have_1_to_254_ports),
		TEST(nonsense_is_no_node),
		TEST(a_port_that_a_node_does_not_have_is_none),
		TEST(the_first_name_is_told_as_such),
		TEST(another_system_image_is_told),
		TEST(our_port_is_one_that_the_node_has),
		TEST(a_port_as_it_was_is_only_read),
		TEST(counters_and_reregister_are_no_change),
		TEST(a_manager_that_comes_or_goes_is_no_change_of_the_port),
		TEST(the_state_of_one_end_is_shown_of_both),
		TEST(the_first_portinfo_is_a_change),
		TEST(a_link_in_init_was_out),
		TEST(a_cable_is_known_until_all_know_that_it_went),
		TEST(a_lid_that_was_not_given_is_told),
		TEST(a_reboot_loses_the_tables_of_a_port),
		TEST(any_bytes_are_a_portinfo),
		TEST(silence_of_a_set_is_doubt_until_the_next_answer),
		TEST(a_port_that_is_not_met_is_unknown),
		TEST(the_key_of_a_port_that_is_gone_is_not_in_doubt),
		TEST(a_port_that_hides_its_key_is_tried_with_each_key_whatever_is_doubted),
		TEST(an_answer_to_sminfo_shows_a_manager),
		TEST(a_table_that_was_reset_is_told_and_unknown),
		TEST(a_block_is_news_once),
		TEST(a_change_is_open_until_it_is_cleared),
		TEST(a_cable_is_another_if_its_end_is),
		TEST(a_cable_between_switches_that_was_out_is_told),
		TEST(a_link_that_stays_in_init_was_not_out),
		TEST(a_port_that_leads_to_itself_has_no_cable),
		TEST(a_quarantined_port_has_no_cable),
		TEST(another_path_is_noted),
		TEST(extended_speeds_are_known_until_they_are_lost),
		TEST(a_set_is_on_the_wire_then_unproven_then_proved),
		TEST(a_written_forwarding_block_is_proved_or_lost),
		TEST(a_multicast_cell_on_its_way_may_hold_both),
		TEST(a_node_that_is_gone_takes_its_cable_along),
		TEST(a_port_guid_belongs_to_one_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
