// SPDX-License-Identifier: BSD-2-Clause
/* What an answer changes. */
#include "fabric/observe.h"

#include <assert.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "util/str.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

struct delta observe_node_info(struct fabric *f, const uint8_t *ni)
{
	struct delta d = { .node = fabric_find_node(f, ib_get(ni, NI_NODE_GUID)) };
	unsigned local = ib_get(ni, NI_LOCAL_PORT);

	if (!d.node) {
		d.node = fabric_add_node(f, ni);
		d.kinds = d.node ? DELTA(DELTA_NODE_NEW) : 0;
	}
	if (d.node && local <= d.node->n_ports)
		d.port = &d.node->ports[local];
	return d;
}

bool observe_is_same(const struct node *n, const uint8_t *ni)
{
	return n->type == ib_get(ni, NI_NODE_TYPE) && n->n_ports == ib_get(ni, NI_NUM_PORTS) &&
	       n->sysimg_guid == ib_get(ni, NI_SYSTEM_IMAGE_GUID) &&
	       n->vendor_id == ib_get(ni, NI_VENDOR_ID);
}

void observe_own(struct fabric *f, const struct delta *d, const uint8_t *ni, uint64_t m_key)
{
	const struct port *before = f->own_port;
	struct node *n = d->node;

	assert(n);
	f->own = n;
	f->own_port = d->port ? d->port : &n->ports[n->n_ports];
	if (node_is_switch(n))
		f->own_port = &n->ports[0];
	else
		fabric_set_port_guid(f, f->own_port, ib_get(ni, NI_PORT_GUID));
	if (f->own_port != before)
		f->shape++;
	f->own_port->m_key = m_key;
}

void observe_begin(struct node *n)
{
	n->changed = n->path_changed = false;
}

struct delta observe_image(struct node *n, const uint8_t *ni)
{
	struct delta d = { .node = n };
	guid_t now = ib_get(ni, NI_SYSTEM_IMAGE_GUID);

	if (ib_get(ni, NI_NODE_GUID) != n->guid || now == n->sysimg_guid)
		return d;
	n->sysimg_guid = now;
	fabric_edited(n);
	d.kinds = DELTA(DELTA_NAME);
	return d;
}

struct delta observe_description(struct node *n, const uint8_t *payload)
{
	struct delta d = { .node = n };
	char desc[NODE_DESC_STRLEN];

	str_printable(payload, SMP_DATA_SIZE, desc, sizeof(desc));
	if (!n->desc_known)
		d.kinds = DELTA(DELTA_DESCRIBED);
	else if (strcmp(desc, n->desc) != 0)
		d.kinds = DELTA(DELTA_NAME);
	if (strcmp(desc, n->desc) != 0)
		fabric_edited(n);
	memcpy(n->desc, desc, sizeof(n->desc));
	n->desc_known = true;
	return d;
}

void observe_path(struct node *n, const struct dr_path *path)
{
	n->path_changed =
		path->length != n->path.length || memcmp(path->hop, n->path.hop, path->length + 1u);
	n->path = *path;
}

void observe_shown(struct node *n)
{
	fabric_edited(n);
}

void observe_no_ext_modifier(struct node *n)
{
	n->no_ext_modifier = true;
}

void observe_has_ext_port_info(struct node *n, bool has)
{
	n->ext_port_info = has ? NODE_HAS : NODE_HAS_NOT;
}

int observe_port_guid(struct fabric *f, struct port *p, guid_t guid)
{
	return fabric_set_port_guid(f, p, guid);
}

void observe_node_gone(struct fabric *f, struct node *n)
{
	fabric_remove_node(f, n);
}

/* ---- switches -------------------------------------------------------------------------------- */

static void take_switch_info(struct node *n, const uint8_t *payload)
{
	assert(node_is_switch(n));
	if (!n->switch_known || memcmp(n->switch_info, payload, SI_BYTES) != 0)
		fabric_edited(n);
	memcpy(n->switch_info, payload, SI_BYTES);
	n->switch_known = true;
}

struct delta observe_switch_info(struct node *n, const uint8_t *payload)
{
	struct delta d = { .node = n };
	lid_t top = (lid_t)ib_get(payload, SI_LINEAR_FDB_TOP);

	take_switch_info(n, payload);
	if (n->lft_top_written && top != n->lft_top_written) {
		node_forget_tables(n);
		n->lft_top_written = top;
		d.kinds = DELTA(DELTA_TABLE);
	}
	n->change_uncleared = n->changed = ib_get(payload, SI_PORT_STATE_CHANGE);
	n->cleared_late = false;
	return d;
}

void observe_change_cleared(struct node *n, const uint8_t *payload, bool late)
{
	take_switch_info(n, payload);
	n->change_uncleared = false;
	n->cleared_late = late;
}

bool observe_tops(struct node *n, const uint8_t *payload)
{
	lid_t before = (lid_t)ib_get(n->switch_info, SI_LINEAR_FDB_TOP);

	take_switch_info(n, payload);
	n->lft_top_written = (lid_t)ib_get(payload, SI_LINEAR_FDB_TOP);
	return n->lft_top_written != before;
}

void observe_ports_in_doubt(struct node *n)
{
	n->cleared_late = true;
}

void observe_distrust(struct fabric *f, struct node *n)
{
	node_forget_tables(n);
	fabric_edited(n);
	n->lft_top_written = 0;
	for (unsigned i = 0; i <= n->n_ports; i++) {
		n->ports[i].ext_known = false;
		fabric_forget_cells(f, &n->ports[i]);
	}
}

void observe_distrust_pkeys(struct fabric *f, struct port *end)
{
	assert(port_is_end(end));
	cell_table_clear(f->cells, &end->tables[TABLE_PKEYS]);
	if (end->peer)
		cell_table_clear(f->cells, &end->peer->tables[TABLE_PKEYS]);
}

void observe_cold(struct node *n)
{
	mft_have_clear(&n->mft);
	fabric_mft_edited(n);
	n->mft.inherited = false;
}

bool observe_lft_block(struct node *n, uint32_t block, const uint8_t *entries)
{
	const uint8_t *have = lft_have_block(&n->lft, block);

	if (have && !memcmp(have, entries, LFT_BLOCK_LIDS))
		return false;
	lft_have_set(&n->lft, block, entries);
	return true;
}

void observe_lft_written(struct node *n, uint32_t block, const uint8_t *entries)
{
	lft_have_written(&n->lft, block, entries);
}

void observe_lft_lost(struct node *n, uint32_t block)
{
	lft_have_forget(&n->lft, block);
}

void observe_mft_cell(struct node *n, unsigned block, unsigned position,
		      const struct mft_cell *cell)
{
	mft_have_set(&n->mft, block, position, cell);
	fabric_mft_edited(n);
}

void observe_mft_sent(struct node *n, unsigned block, unsigned position,
		      const struct mft_cell *cell)
{
	mft_have_doubt(&n->mft, block, position, cell);
	fabric_mft_edited(n);
}

void observe_mft_written(struct node *n, unsigned block, unsigned position,
			 const struct mft_cell *cell)
{
	mft_have_written(&n->mft, block, position, cell);
	fabric_mft_edited(n);
}

void observe_mft_unreadable(struct node *n, unsigned block, unsigned position)
{
	mft_have_assume(&n->mft, block, position);
	fabric_mft_edited(n);
}

void observe_mft_lost(struct node *n)
{
	mft_have_forget_all(&n->mft);
	fabric_mft_edited(n);
}

void observe_tables_lost(struct node *n)
{
	node_forget_tables(n);
}

void observe_tables_proved(struct node *n)
{
	node_prove_tables(n);
}

/* ---- tables of a port ------------------------------------------------------------------------ */

bool observe_block(struct fabric *f, struct port *p, enum port_table table, unsigned block,
		   const uint8_t *payload)
{
	return fabric_observe_cell(f, p, table, block, payload);
}

void observe_block_sent(struct port *p, enum port_table table, unsigned block)
{
	assert(table < N_PORT_TABLES);
	cell_table_grow(&p->tables[table], block + 1);
	cell_table_send(p->tables[table], block);
}

void observe_block_back(struct port *p, enum port_table table, unsigned block)
{
	assert(table < N_PORT_TABLES);
	cell_table_back(p->tables[table], block);
}

void observe_blocks_written(struct port *p, enum port_table table, unsigned n)
{
	assert(table < N_PORT_TABLES);
	cell_table_send_many(&p->tables[table], n);
}

void observe_block_missing(struct port *p, enum port_table table, unsigned block)
{
	assert(table < N_PORT_TABLES);
	cell_table_grow(&p->tables[table], block + 1);
}

void observe_block_lost(struct fabric *f, struct port *p, enum port_table table, unsigned block)
{
	assert(table < N_PORT_TABLES);
	cell_table_forget(f->cells, p->tables[table], block);
}

void observe_blocks_lost(struct fabric *f, struct port *p)
{
	fabric_forget_cells(f, p);
}

void observe_blocks_proved(struct port *p)
{
	fabric_prove_cells(p);
	p->raised = false;
}

/* ---- PortInfo -------------------------------------------------------------------------------- */

static bool says_is_sm(const uint8_t *info)
{
	return ib_get(info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM);
}

/*
 * Counters grow by themselves; ClientReregister is a command, and no state. IsSM is a program that
 * comes and goes, and no matter of links, tables and routes: DELTA_IS_SM.
 */
static void copy_state(const uint8_t *info, uint8_t *ret)
{
	memcpy(ret, info, SMP_DATA_SIZE);
	ib_put(ret, PI_M_KEY_VIOLATIONS, 0);
	ib_put(ret, PI_P_KEY_VIOLATIONS, 0);
	ib_put(ret, PI_Q_KEY_VIOLATIONS, 0);
	ib_put(ret, PI_CLIENT_REREGISTER, 0);
	ib_put(ret, PI_CAP_MASK, ib_get(info, PI_CAP_MASK) & ~(uint64_t)IB_CAP(IB_CAP_IS_SM));
}

static bool says_the_same(const struct port *p, const uint8_t *payload)
{
	uint8_t before[SMP_DATA_SIZE], now[SMP_DATA_SIZE];

	copy_state(p->info, before);
	copy_state(payload, now);
	return p->known && !memcmp(before, now, sizeof(now));
}

/* A LID that neither stood there as far as known nor is none: the port may be another. */
static bool has_other_lid(const struct port *p, const uint8_t *payload)
{
	unsigned lid = ib_get(payload, PI_LID);

	return port_is_end(p) && p->known && p->lid && lid && lid != p->lid &&
	       ib_get(p->info, PI_LID) == p->lid;
}

static unsigned port_delta(const struct port *p, const uint8_t *payload)
{
	unsigned before = port_state(p), now = ib_get(payload, PI_PORT_STATE),
		 kinds = DELTA(DELTA_PORT_STATE);

	if (has_other_lid(p, payload))
		kinds |= DELTA(DELTA_OTHER_LID);
	if (!says_the_same(p, payload))
		kinds |= DELTA(DELTA_PORT);
	if (p->known && says_is_sm(p->info) != says_is_sm(payload))
		kinds |= DELTA(DELTA_IS_SM);
	if (now > IB_PORT_INIT)
		return kinds;
	if (now == IB_PORT_INIT || before > now)
		kinds |= DELTA(DELTA_LINK_OUT);
	if (before > now)
		kinds |= DELTA(DELTA_LINK_FELL);
	if (before != now)
		kinds |= DELTA(DELTA_TRAINED);
	if (before != now && now == IB_PORT_DOWN)
		kinds |= DELTA(DELTA_LINK_DOWN);
	return kinds;
}

/* True: it is not what was known, or counters have grown. */
static bool take_port_info(struct port *p, const uint8_t *payload)
{
	uint8_t now[SMP_DATA_SIZE];

	memcpy(now, payload, sizeof(now));
	ib_put(now, PI_CLIENT_REREGISTER, 0);
	if (p->known && !memcmp(p->info, now, sizeof(now)))
		return false;
	memcpy(p->info, now, sizeof(now));
	p->known = true;
	return true;
}

struct delta observe_port_info(struct fabric *f, struct port *p, const uint8_t *payload)
{
	struct delta d = { .node = p->node, .port = p, .far = p->peer, .before = port_state(p) };
	bool was_live = port_is_live(p);

	d.kinds = port_delta(p, payload);
	p->raised |= p->known && (d.before == IB_PORT_INIT || d.before == IB_PORT_ARMED) &&
		     ib_get(payload, PI_PORT_STATE) > d.before;
	if (take_port_info(p, payload) || (d.kinds & DELTA(DELTA_TRAINED) && p->ext_known))
		fabric_edited(p->node);
	/* What an end waits for is the state of the other one. */
	if (p->peer && port_state(p) != d.before)
		fabric_edited(p->peer->node);
	p->doubt = p->fell = false;
	fabric_learn_mkey(p);
	if (d.kinds & DELTA(DELTA_TRAINED))
		p->ext_known = false;
	if (was_live && !port_is_live(p)) {
		fabric_forget_cells(f, p); /* rebooted meanwhile */
		p->lives++;
	}
	return d;
}

void observe_fell(struct port *p)
{
	p->fell = true;
}

void observe_cable_died(struct node *n, mono_t now)
{
	n->cable_died = now;
}

void observe_link_down(struct port *p)
{
	fabric_disconnect(p);
	fabric_edited(p->node);
	p->silent = p->quarantined = false;
	p->odd = PORT_ODD_NOT;
	if (p->behind)
		mad_target_revive(p->behind);
}

void observe_doubt(struct port *p)
{
	p->doubt = true;
	fabric_doubt_mkey(p);
}

void observe_is_sm(struct port *p)
{
	if (!p || !p->known || ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM))
		return;
	ib_put(p->info, PI_CAP_MASK, ib_get(p->info, PI_CAP_MASK) | IB_CAP(IB_CAP_IS_SM));
	fabric_edited(p->node);
}

void observe_ext_port_info(struct port *p, const uint8_t *payload)
{
	uint8_t active = (uint8_t)ib_get(payload, EPI_SPEED_ACTIVE);

	if (!p->ext_known || p->ext_active != active)
		fabric_edited(p->node);
	p->ext_supported = (uint8_t)ib_get(payload, EPI_SPEED_SUPPORTED);
	p->ext_enabled = (uint8_t)ib_get(payload, EPI_SPEED_ENABLED);
	p->ext_active = active;
	p->ext_known = true;
}

void observe_ext_enabled(struct port *p, const uint8_t *payload)
{
	p->ext_enabled = (uint8_t)ib_get(payload, EPI_SPEED_ENABLED);
}

void observe_ext_lost(struct port *p)
{
	if (p->ext_known)
		fabric_edited(p->node);
	p->ext_known = false;
}

bool observe_port_gone(struct fabric *f, struct port *p)
{
	bool was_known = p->known;

	fabric_disconnect(p);
	if (was_known)
		fabric_edited(p->node);
	p->known = false;
	p->key_doubts = 0;
	fabric_forget_cells(f, p);
	return was_known;
}

/* ---- M_Keys ---------------------------------------------------------------------------------- */

void observe_expected_mkey(struct port *p, uint64_t key, uint64_t other)
{
	if (p->m_key)
		return;
	p->m_key = key;
	if (!p->m_key_other)
		p->m_key_other = other;
}

void observe_mkey_hidden(struct port *p, uint32_t sweep)
{
	if (p->keys_sweep != sweep)
		p->key_doubts = p->keys_tried = 0;
	p->keys_sweep = sweep;
}

void observe_mkey_refused(struct port *p)
{
	fabric_doubt_mkey(p);
	port_of_sma(p)->keys_tried++;
}

void observe_mkey_tried(struct port *p, uint64_t key)
{
	p->m_key_other = p->m_key;
	p->m_key = key;
}

void observe_mkey_set(struct port *p, uint64_t key)
{
	p->m_key_other = key;
}

void observe_mkeys_renewed(struct port *p)
{
	p->key_doubts = 0;
}

void observe_mkey_untried(struct port *p)
{
	p->key_doubts--;
}

void observe_mkey_doubt(struct port *p)
{
	fabric_doubt_mkey(p);
}

/* ---- cables ---------------------------------------------------------------------------------- */

/*
 * Was a link in INIT down for a moment since it was last seen? Not if it was INIT then, too, and
 * its switches have reported no change since: links of a switch that is left out stay INIT.
 */
static bool has_trained(struct port *a, struct port *b)
{
	bool is_init = port_state(a) == IB_PORT_INIT, has_rested = a->rests && b->rests;

	a->rests = b->rests = is_init && !a->node->changed && !b->node->changed;
	return is_init && !(has_rested && a->rests);
}

struct delta observe_cable(struct port *a, struct port *b, bool *ret_was_out)
{
	struct delta d = { .node = b->node, .port = a, .far = b, .kinds = DELTA(DELTA_MET) };
	bool met = a->met_guid || b->met_guid, trained = has_trained(a, b);

	*ret_was_out = met && (a->peer != b || trained) && node_is_switch(a->node) &&
		       node_is_switch(b->node);
	if (a->peer != b)
		d.kinds |= DELTA(DELTA_CABLE);
	if (a->silent)
		d.kinds |= DELTA(DELTA_BACK);
	if (a->quarantined || a->odd != PORT_ODD_NOT)
		fabric_edited(a->node);
	a->quarantined = false;
	a->odd = PORT_ODD_NOT;
	if (a->behind) {
		mad_target_revive(a->behind);
		mad_target_is(&b->node->target, a->behind);
	}
	fabric_connect(a, b);
	return d;
}

void observe_cable_gone(struct port *p)
{
	fabric_disconnect(p);
}

void observe_forgotten(struct port *p)
{
	assert(!p->peer);
	if (p->met_guid)
		fabric_edited(p->node);
	p->met_guid = 0;
	p->met_port = 0;
}

bool observe_silence(struct port *p, bool silent)
{
	bool is_new = p->silent != silent;

	if (is_new)
		fabric_edited(p->node);
	p->silent = silent;
	return is_new;
}

struct delta observe_left_out(struct port *p, enum port_oddity why)
{
	struct delta d = { .node = p->node, .port = p, .far = p->peer };

	if (p->odd != why)
		fabric_edited(p->node);
	p->odd = why;
	if ((why == PORT_ODD_LOOPBACK || why == PORT_ODD_HIDDEN) && p->peer)
		d.kinds = DELTA(DELTA_CABLE_GONE);
	return d;
}

void observe_quarantine(struct port *p, bool quarantined)
{
	if (p->quarantined != quarantined)
		fabric_edited(p->node);
	p->quarantined = quarantined;
	if (quarantined)
		fabric_disconnect(p);
}
