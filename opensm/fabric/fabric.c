// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of facts about the fabric: nodes, ports, and the cables between them.
 */
#include "fabric/fabric_internal.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "util/mem.h"

struct fabric *fabric_new(void)
{
	struct fabric *f = xcalloc(1, sizeof(*f));

	f->cells = cells_new();
	f->by_guid = guidmap_new();
	f->by_port_guid = guidmap_new();
	return f;
}

static void node_free(struct fabric *f, struct node *n)
{
	for (unsigned i = 0; i < (n->n_ports + 1u) * N_PORT_TABLES; i++)
		cell_table_free(f->cells, &n->ports[i / N_PORT_TABLES].tables[i % N_PORT_TABLES]);
	free(n->lft.entries);
	free(n->lft.known);
	mft_have_clear(&n->mft);
	for (unsigned i = 0; i <= n->n_ports; i++)
		free(n->ports[i].behind);
	free(n->ports);
	free(n->alias);
	free(n);
}

struct mad_target *fabric_behind(struct port *p)
{
	if (!p->behind)
		p->behind = xcalloc(1, sizeof(*p->behind));
	return p->behind;
}

void fabric_behind_done(struct port *p)
{
	if (!fabric_is_probed(p))
		free(take(p->behind));
}

struct fabric *fabric_free(struct fabric *f)
{
	if (!f)
		return NULL;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		node_free(f, f->nodes[i]);
	free(f->nodes);
	guidmap_free(f->by_guid);
	guidmap_free(f->by_port_guid);
	cells_free(f->cells);
	free(f);
	return NULL;
}

struct node *fabric_find_node(const struct fabric *f, guid_t guid)
{
	return guid ? guidmap_get(f->by_guid, guid) : NULL;
}

struct port *fabric_find_port(const struct fabric *f, guid_t port_guid)
{
	return port_guid ? guidmap_get(f->by_port_guid, port_guid) : NULL;
}

static bool node_info_is_sane(const uint8_t *ni)
{
	unsigned type = ib_get(ni, NI_NODE_TYPE);
	unsigned n_ports = ib_get(ni, NI_NUM_PORTS);
	unsigned local = ib_get(ni, NI_LOCAL_PORT);

	return type >= IB_NODE_CA && type <= IB_NODE_ROUTER && n_ports >= 1 &&
	       n_ports <= IB_MAX_PORTS && local <= n_ports &&
	       (local > 0 || type == IB_NODE_SWITCH) && ib_get(ni, NI_NODE_GUID) &&
	       ib_get(ni, NI_PORT_GUID);
}

struct node *fabric_add_node(struct fabric *f, const uint8_t *ni)
{
	struct node *n;

	/* A subnet has no more LIDs; more nodes than these are made up. */
	if (!node_info_is_sane(ni) || f->n_nodes >= LID_MAX_UCAST)
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->guid = ib_get(ni, NI_NODE_GUID);
	n->sysimg_guid = ib_get(ni, NI_SYSTEM_IMAGE_GUID);
	n->type = ib_get(ni, NI_NODE_TYPE);
	n->n_ports = ib_get(ni, NI_NUM_PORTS);
	n->device_id = ib_get(ni, NI_DEVICE_ID);
	n->vendor_id = ib_get(ni, NI_VENDOR_ID);
	n->revision = ib_get(ni, NI_REVISION);
	n->partition_cap = ib_get(ni, NI_PARTITION_CAP);
	snprintf(n->desc, sizeof(n->desc), "%s 0x%016" PRIx64, ib_node_type_name(n->type), n->guid);
	n->mft.inherited = node_is_switch(n); /* its tables are unknown */
	n->ports = xcalloc(n->n_ports + 1u, sizeof(*n->ports));
	for (unsigned i = 0; i <= n->n_ports; i++) {
		n->ports[i].node = n;
		n->ports[i].num = i;
	}
	n->index = f->n_nodes;
	n->of = f;
	f->shape++;
	fabric_edited(n);
	GROW(f->nodes, f->n_nodes + 1, f->cap_nodes);
	f->nodes[f->n_nodes++] = n;
	f->n_switches += node_is_switch(n);
	guidmap_put(f->by_guid, n->guid, n);
	if (node_is_switch(n))
		fabric_set_port_guid(f, &n->ports[0], ib_get(ni, NI_PORT_GUID));
	return n;
}

void fabric_remove_node(struct fabric *f, struct node *n)
{
	assert(f->nodes[n->index] == n && !n->target.members.first);
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		assert(!fabric_is_probed(p) && (!p->peer || p->peer->peer == p));
		fabric_disconnect(p);
		if (p->guid && fabric_find_port(f, p->guid) == p)
			guidmap_remove(f->by_port_guid, p->guid);
		if (f->own_port == p)
			f->own_port = NULL;
	}
	if (f->own == n)
		f->own = NULL;
	guidmap_remove(f->by_guid, n->guid);
	f->shape++;
	f->edits++;
	f->n_switches -= node_is_switch(n);
	f->nodes[n->index] = f->nodes[--f->n_nodes];
	f->nodes[n->index]->index = n->index;
	node_free(f, n);
}

int fabric_set_port_guid(struct fabric *f, struct port *p, guid_t guid)
{
	struct port *holder = fabric_find_port(f, guid);

	if (holder == p || !guid)
		return 0;
	/* Of several planes the first that was met has it, as long as it has a cable. */
	if (holder && (holder->node != p->node || holder->peer || holder == f->own_port))
		return -EEXIST;
	if (holder) {
		guidmap_remove(f->by_port_guid, guid);
		holder->guid = 0;
		holder->known = false;
		fabric_edited(holder->node);
		fabric_forget_cells(f, holder);
	}
	if (p->guid)
		guidmap_remove(f->by_port_guid, p->guid);
	p->guid = guid;
	fabric_edited(p->node);
	guidmap_put(f->by_port_guid, guid, p);
	return 0;
}

void fabric_disconnect(struct port *p)
{
	if (!p->peer)
		return;
	fabric_edited(p->node);
	fabric_edited(p->peer->node);
	p->peer->peer = NULL;
	p->peer = NULL;
}

/* The far end that `p` met last is `far`. */
static bool is_met(const struct port *p, const struct port *far)
{
	return p->met_guid == far->node->guid && p->met_port == far->num;
}

void fabric_connect(struct port *a, struct port *b)
{
	assert(a && b);
	a->raised = b->raised = false;
	if (a->peer == b && b->peer == a && !a->silent && !b->silent && is_met(a, b) &&
	    is_met(b, a))
		return;
	fabric_edited(a->node);
	fabric_edited(b->node);
	if (a->peer != b)
		fabric_disconnect(a);
	if (b->peer != a)
		fabric_disconnect(b);
	a->peer = b;
	b->peer = a;
	a->met_guid = b->node->guid;
	a->met_port = b->num;
	b->met_guid = a->node->guid;
	b->met_port = a->num;
	a->silent = b->silent = false;
}

int fabric_port_path(const struct fabric *f, const struct port *p, struct dr_path *ret)
{
	const struct port *peer = p->peer;

	if (node_is_switch(p->node) || p == f->own_port) {
		*ret = p->node->path;
		return 0;
	}
	if (!peer || (!node_is_switch(peer->node) && peer != f->own_port))
		return -ENOLINK;
	return dr_path_extend(&peer->node->path, peer->num, ret);
}

bool fabric_hides_mkey(const struct port *p)
{
	return p->known && port_is_end(p) && port_state(p) > IB_PORT_DOWN &&
	       !ib_get(p->info, PI_M_KEY) && ib_get(p->info, PI_M_KEY_PROTECT);
}

bool fabric_knows_mkey(const struct port *p)
{
	uint64_t shown = ib_get(p->info, PI_M_KEY);

	return p->known && !p->doubt && !p->key_doubts && !p->node->misses &&
	       !fabric_hides_mkey(p) && (!shown || shown == p->m_key);
}

void fabric_learn_mkey(struct port *p)
{
	uint64_t key = ib_get(p->info, PI_M_KEY);

	if (!port_is_end(p) || port_state(p) == IB_PORT_DOWN)
		return;
	/*
	 * No key: every key is accepted (14.2.4.1), and the expected one is right when another SM
	 * sets it.
	 */
	if (key)
		p->m_key = key;
	if (key || ib_get(p->info, PI_M_KEY_PROTECT) == 0) {
		p->m_key_other = p->m_key;
		p->key_doubts = 0;
	}
}

void fabric_doubt_mkey(struct port *p)
{
	struct port *sma = port_of_sma(p);
	uint64_t key = sma->m_key;

	sma->m_key = sma->m_key_other;
	sma->m_key_other = key;
	sma->key_doubts++;
}

/* The PortInfo with the CapabilityMask that applies to the port; NULL: not read. */
static const uint8_t *cap_info(const struct port *p)
{
	const struct port *speaker = node_is_switch(p->node) ? &p->node->ports[0] : p;

	return speaker->known ? speaker->info : NULL;
}

uint32_t fabric_cap_mask(const struct port *p)
{
	const uint8_t *info = cap_info(p);

	return info ? ib_get(info, PI_CAP_MASK) : 0;
}

enum ib_speed_set fabric_speed_sets(const struct port *p)
{
	return ib_speed_sets(cap_info(p));
}

const uint8_t *lft_have_block(const struct lft_have *lft, uint32_t block)
{
	return block < lft->n_blocks && lft->known[block] ? lft->entries + block * LFT_BLOCK_LIDS
							  : NULL;
}

void lft_have_set(struct lft_have *lft, uint32_t block, const uint8_t *entries)
{
	if (block >= lft->n_blocks) {
		lft->entries = xrealloc(lft->entries, block + 1, LFT_BLOCK_LIDS);
		lft->known = xrealloc(lft->known, block + 1, 1);
		memset(lft->known + lft->n_blocks, 0, block + 1 - lft->n_blocks);
		lft->n_blocks = block + 1;
	}
	memcpy(lft->entries + block * LFT_BLOCK_LIDS, entries, LFT_BLOCK_LIDS);
	lft->known[block] = LFT_PROVEN;
}

void lft_have_written(struct lft_have *lft, uint32_t block, const uint8_t *entries)
{
	lft_have_set(lft, block, entries);
	lft->known[block] = LFT_UNPROVEN;
	lft->unproven = true;
}

void lft_have_prove(struct lft_have *lft)
{
	for (uint32_t block = 0; lft->unproven && block < lft->n_blocks; block++) {
		if (lft->known[block] == LFT_UNPROVEN)
			lft->known[block] = LFT_PROVEN;
	}
	lft->unproven = false;
}

void lft_have_forget(struct lft_have *lft, uint32_t block)
{
	if (block < lft->n_blocks)
		lft->known[block] = LFT_UNKNOWN;
}

void lft_have_forget_all(struct lft_have *lft)
{
	if (lft->n_blocks)
		memset(lft->known, 0, lft->n_blocks);
}

void node_prove_tables(struct node *n)
{
	lft_have_prove(&n->lft);
	n->mft.unproven = false;
}

void node_forget_tables(struct node *n)
{
	lft_have_forget_all(&n->lft);
	mft_have_forget_all(&n->mft);
	fabric_mft_edited(n);
}
