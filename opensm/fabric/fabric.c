// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of facts about the fabric: who is there, and what is plugged into what.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
	for (unsigned i = 0; i <= n->n_ports; i++)
		fabric_forget_cells(f, &n->ports[i]);
	free(n->lft.entries);
	free(n->lft.known);
	mft_have_clear(&n->mft);
	free(n->ports);
	free(n->alias);
	free(n);
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

	/* A subnet has no more LIDs; whoever shows more nodes makes them up. */
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
	n->is_new = true;
	n->mft.inherited = node_is_switch(n); /* nobody knows what it forwards */
	n->ports = xcalloc(n->n_ports + 1u, sizeof(*n->ports));
	for (unsigned i = 0; i <= n->n_ports; i++) {
		n->ports[i].node = n;
		n->ports[i].num = i;
		n->ports[i].is_new = true;
	}
	n->index = f->n_nodes;
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
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		fabric_disconnect(p);
		if (p->guid && fabric_find_port(f, p->guid) == p)
			guidmap_remove(f->by_port_guid, p->guid);
		if (f->own_port == p)
			f->own_port = NULL;
	}
	if (f->own == n)
		f->own = NULL;
	guidmap_remove(f->by_guid, n->guid);
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
	if (holder)
		return -EEXIST;
	if (p->guid)
		guidmap_remove(f->by_port_guid, p->guid);
	p->guid = guid;
	guidmap_put(f->by_port_guid, guid, p);
	return 0;
}

void fabric_disconnect(struct port *p)
{
	if (!p->peer)
		return;
	p->peer->peer = NULL;
	p->peer = NULL;
}

void fabric_connect(struct port *a, struct port *b, uint32_t sweep)
{
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
	a->peer_seen = b->peer_seen = sweep;
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

void fabric_learn_mkey(struct port *p)
{
	uint64_t key = ib_get(p->info, PI_M_KEY);

	if (!port_is_end(p) || port_state(p) == IB_PORT_DOWN)
		return;
	/* No key: any will do (14.2.4.1), and the one that is expected is right when another SM sets it. */
	if (key)
		p->m_key = key;
	if (key || ib_get(p->info, PI_M_KEY_PROTECT) == 0)
		p->m_key_other = p->m_key;
}

void fabric_doubt_mkey(struct port *p)
{
	uint64_t key = port_of_sma(p)->m_key;

	port_of_sma(p)->m_key = port_of_sma(p)->m_key_other;
	port_of_sma(p)->m_key_other = key;
}

uint32_t fabric_cap_mask(const struct port *p)
{
	const struct port *speaker = node_is_switch(p->node) ? &p->node->ports[0] : p;

	return speaker->known ? ib_get(speaker->info, PI_CAP_MASK) : 0;
}

const uint8_t *fabric_pkey_block(const struct fabric *f, const struct port *p, unsigned block)
{
	return cell_table_get(f->cells, p->pkeys, block);
}

const uint8_t *fabric_guid_block(const struct fabric *f, const struct port *p, unsigned block)
{
	return cell_table_get(f->cells, p->guids, block);
}

const uint8_t *fabric_sl2vl_row(const struct fabric *f, const struct port *p, unsigned in)
{
	return cell_table_get(f->cells, p->sl2vl, in);
}

const uint8_t *fabric_vlarb_block(const struct fabric *f, const struct port *p, unsigned block)
{
	return cell_table_get(f->cells, p->vlarb, block - 1);
}

unsigned fabric_pkey_cap(const struct port *p)
{
	unsigned cap = p->node->partition_cap;

	if (!port_is_end(p))
		cap = p->node->switch_known
			      ? (unsigned)ib_get(p->node->switch_info, SI_PARTITION_ENF_CAP)
			      : 0;
	return MIN(cap, PKEY_CAP_MAX);
}

#define SL2VL_BYTES	8  /* a nibble for each of 16 SLs */
#define VLARB_PER_BLOCK 32 /* entries of 2 bytes */

static bool observe_table(struct fabric *f, struct cell_table **t, unsigned block,
			  const uint8_t *payload, size_t n_used)
{
	const uint8_t *have = cell_table_get(f->cells, *t, block);
	uint8_t used[SMP_DATA_SIZE] = { 0 };

	memcpy(used, payload, MIN(n_used, sizeof(used)));
	if (have && !memcmp(have, used, sizeof(used)))
		return true;
	cell_table_set(f->cells, t, block, used);
	return false;
}

bool fabric_observe_pkeys(struct fabric *f, struct port *p, unsigned block, const uint8_t *payload)
{
	unsigned cap = fabric_pkey_cap(p), first = block * PKEYS_PER_BLOCK;

	if (first >= cap)
		return true;
	return observe_table(f, &p->pkeys, block, payload, (cap - first) * sizeof(uint16_t));
}

bool fabric_observe_guids(struct fabric *f, struct port *p, unsigned block, const uint8_t *payload)
{
	unsigned cap = ib_get(p->info, PI_GUID_CAP), first = block * GUIDS_PER_BLOCK;

	if (first >= cap)
		return true;
	return observe_table(f, &p->guids, block, payload, (cap - first) * sizeof(guid_t));
}

bool fabric_observe_sl2vl(struct fabric *f, struct port *p, unsigned in, const uint8_t *payload)
{
	return observe_table(f, &p->sl2vl, in, payload, SL2VL_BYTES);
}

/* The table as far as it goes, without reserved bits (14.2.5.9). */
bool fabric_observe_vlarb(struct fabric *f, struct port *p, unsigned block, const uint8_t *payload)
{
	unsigned cap = (unsigned)(block <= 2 ? ib_get(p->info, PI_VLARB_LOW_CAP)
					     : ib_get(p->info, PI_VLARB_HIGH_CAP));
	unsigned before = block % 2 ? 0 : VLARB_PER_BLOCK;
	uint8_t shares[SMP_DATA_SIZE];

	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		shares[i] = i % 2 ? payload[i] : payload[i] & 0x0F;
	return observe_table(f, &p->vlarb, block - 1, shares,
			     cap > before ? (cap - before) * sizeof(uint16_t) : 0);
}

unsigned fabric_pkeys(const struct fabric *f, const struct port *p, uint16_t *ret)
{
	unsigned cap = fabric_pkey_cap(p);

	for (unsigned i = 0; i < cap; i++) {
		const uint8_t *block = fabric_pkey_block(f, p, i / PKEYS_PER_BLOCK);

		if (!block)
			return 0;
		ret[i] = (uint16_t)ib_bits_get(block, i % PKEYS_PER_BLOCK * 16, 16);
	}
	return cap;
}

uint32_t fabric_pkey_mod(const struct port *p, unsigned block)
{
	return port_is_end(p) ? block : (uint32_t)p->num << 16 | block;
}

void fabric_forget_cells(struct fabric *f, struct port *p)
{
	cell_table_clear(f->cells, &p->pkeys);
	cell_table_clear(f->cells, &p->guids);
	cell_table_clear(f->cells, &p->sl2vl);
	cell_table_clear(f->cells, &p->vlarb);
}

bool fabric_cells_unproven(const struct port *p)
{
	return (p->pkeys && p->pkeys->unproven) || (p->guids && p->guids->unproven) ||
	       (p->sl2vl && p->sl2vl->unproven) || (p->vlarb && p->vlarb->unproven);
}

void fabric_prove_cells(struct port *p)
{
	struct cell_table *const tables[] = { p->pkeys, p->guids, p->sl2vl, p->vlarb };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (tables[i])
			tables[i]->unproven = false;
	}
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

void node_forget_tables(struct node *n)
{
	lft_have_forget_all(&n->lft);
	mft_have_forget_all(&n->mft);
}
