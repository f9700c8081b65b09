// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of a node: forwarding, multicast, P_Keys, GUIDs, SL to VL, VL arbitration.
 * Rows that were never written are not stored; they read as after power-on.
 */
#include "sim/sim_internal.h"

#define PKEYS_PER_BLOCK 32u
#define GUIDS_PER_BLOCK 8u
#define MFT_BLOCK_MLIDS 32u
#define MFT_POSITION_PORTS 16u
#define MFT_POSITIONS 16u
#define SL2VL_BYTES 8u
#define PKEY_DEFAULT_FULL  0xFFFF

static struct tables *get_tables(struct sim_node *n)
{
	if (!n->tables)
		n->tables = xcalloc(1, sizeof(*n->tables));
	return n->tables;
}

/*
 * Room up to `last`, and as much as LinearFDBTop says, so rows of the same fabric are equally long.
 */
static void lft_reserve(struct sim_node *n, uint32_t last)
{
	uint32_t size = (MAX(last, (uint32_t)n->lft_top) | (LFT_BLOCK_LIDS - 1)) + 1;

	if (size <= n->lft_size)
		return;
	if (n->lft_size && size < n->lft_size + n->lft_size / 2)
		size = (n->lft_size + n->lft_size / 2) | (LFT_BLOCK_LIDS - 1);
	size = (size + LFT_BLOCK_LIDS - 1) / LFT_BLOCK_LIDS * LFT_BLOCK_LIDS;
	n->lft = xrealloc(n->lft, size, 1);
	memset(n->lft + n->lft_size, LFT_NO_PORT, size - n->lft_size);
	n->lft_size = size;
}

/* The row may have moved. */
static void lft_ready(struct sma_call *c, uint32_t last)
{
	lft_reserve(c->n, last);
	oracle_node_changed(c->sim, c->node);
}

uint16_t sma_lft(struct sma_call *c)
{
	uint8_t before[LFT_BLOCK_LIDS];
	struct sim_node *n = c->n;
	uint32_t first = c->mod * LFT_BLOCK_LIDS;

	if (!node_is_switch(n))
		return MAD_STATUS_BAD_METHOD_ATTR;
	if (c->mod >= 0xC000 / LFT_BLOCK_LIDS || first >= ib_get(n->sw_info, SI_LINEAR_FDB_CAP))
		return MAD_STATUS_BAD_VALUE;
	if (!c->set) {
		memset(c->payload, LFT_NO_PORT, LFT_BLOCK_LIDS);
		if (first < n->lft_size)
			memcpy(c->payload, n->lft + first, LFT_BLOCK_LIDS);
		return 0;
	}
	lft_ready(c, first + LFT_BLOCK_LIDS - 1);
	memcpy(before, n->lft + first, LFT_BLOCK_LIDS);
	memcpy(n->lft + first, c->payload, LFT_BLOCK_LIDS);
	oracle_lft_block(c->sim, c->node, c->mod, before);
	return 0;
}

static void mft_reserve(struct tables *t, unsigned rows)
{
	if (rows <= t->mft_rows)
		return;
	t->mft = xrealloc(t->mft, (size_t)rows * MFT_POSITIONS, sizeof(*t->mft));
	memset(t->mft + (size_t)t->mft_rows * MFT_POSITIONS, 0,
	       (size_t)(rows - t->mft_rows) * MFT_POSITIONS * sizeof(*t->mft));
	t->mft_rows = rows;
}

/* A state as the asker of SwitchPortStateTable may see it. */
static uint64_t state_shown(const struct sma_call *c, unsigned port)
{
	const struct sim_port *p = &c->n->ports[port];
	uint64_t state = ib_get(p->info, PI_PORT_STATE);

	if (c->n->state_table == SIM_STATE_TABLE_LIES)
		return IB_PORT_ACTIVE;
	return (p->flags & PF_DEFER) && state == IB_PORT_ACTIVE && (c->mod & PST_MOD_DEFER)
		       ? PST_ACTIVE_DEFER
		       : state;
}

uint16_t sma_port_states(struct sma_call *c)
{
	unsigned block = c->mod & ~PST_MOD_DEFER, first = block * PST_PORTS;

	if (c->set ||
	    (c->n->state_table != SIM_STATE_TABLE && c->n->state_table != SIM_STATE_TABLE_LIES))
		return MAD_STATUS_BAD_METHOD_ATTR;
	if (block >= PST_BLOCKS || first > c->n->nports)
		return MAD_STATUS_BAD_VALUE;
	memset(c->payload, 0, SMP_DATA_SIZE);
	for (unsigned i = 0; i < PST_PORTS && first + i <= c->n->nports; i++)
		ib_bits_put(c->payload, PST_STATE(i), PST_STATE_W, state_shown(c, first + i));
	return 0;
}

uint16_t sma_mft(struct sma_call *c)
{
	unsigned first = (c->mod & 0x1FF) * MFT_BLOCK_MLIDS, position = c->mod >> 28;
	uint16_t before[MFT_BLOCK_MLIDS] = { 0 };
	struct tables *t;

	if (!node_is_switch(c->n))
		return MAD_STATUS_BAD_METHOD_ATTR;
	if ((c->mod & 0x0FFFFE00u) || first >= ib_get(c->n->sw_info, SI_MULTICAST_FDB_CAP) ||
	    position * MFT_POSITION_PORTS > c->n->nports)
		return MAD_STATUS_BAD_VALUE;
	t = get_tables(c->n);
	if (c->set)
		mft_reserve(t, first + MFT_BLOCK_MLIDS);
	for (unsigned i = 0; i < MFT_BLOCK_MLIDS; i++) {
		uint16_t *row = first + i < t->mft_rows
					? &t->mft[(first + i) * MFT_POSITIONS + position]
					: NULL;

		before[i] = row ? *row : 0;
		if (c->set)
			*row = (uint16_t)ib_bits_get(c->payload, i * 16, 16);
		else
			ib_bits_put(c->payload, i * 16, 16, before[i]);
	}
	if (c->set)
		mcast_block(c->sim, c->node, c->mod, before);
	return 0;
}

/*
 * The port of a P_Key or GUID modifier: named for switches; for adapters the port that received it.
 */
static bool table_port(const struct sma_call *c, unsigned named, unsigned *ret)
{
	*ret = node_is_switch(c->n) ? named : c->in_port;
	return *ret <= c->n->nports;
}

unsigned sma_pkey_cap(const struct sim_node *n, unsigned port)
{
	if (node_is_switch(n) && port > 0)
		return (unsigned)ib_get(n->sw_info, SI_PARTITION_ENF_CAP);
	return (unsigned)ib_get(n->node_info, NI_PARTITION_CAP);
}

uint16_t sma_pkeys(struct sma_call *c)
{
	unsigned block = c->mod & 0xFFFF, port, cap;
	struct tables *t = get_tables(c->n);

	if (!table_port(c, c->mod >> 16, &port))
		return MAD_STATUS_BAD_VALUE;
	cap = sma_pkey_cap(c->n, port);
	if (block * PKEYS_PER_BLOCK >= cap)
		return MAD_STATUS_BAD_VALUE;
	if (!t->pkeys)
		t->pkeys = xcalloc(c->n->nports + 1u, sizeof(*t->pkeys));
	if (c->set && !t->pkeys[port]) {
		t->pkeys[port] = xcalloc(cap, sizeof(uint16_t));
		t->pkeys[port][0] = PKEY_DEFAULT_FULL; /* whichever block is written first */
	}
	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++) {
		unsigned at = block * PKEYS_PER_BLOCK + i;
		uint16_t *key = t->pkeys[port] && at < cap ? &t->pkeys[port][at] : NULL;

		if (c->set && key)
			*key = (uint16_t)ib_bits_get(c->payload, i * 16, 16);
		else
			ib_bits_put(c->payload, i * 16, 16,
				    key	      ? *key
				    : at == 0 ? PKEY_DEFAULT_FULL
					      : 0);
	}
	return 0;
}

uint16_t sma_guids(struct sma_call *c)
{
	unsigned port = node_is_switch(c->n) ? 0 : c->in_port;
	unsigned cap = (unsigned)ib_get(c->n->ports[port].info, PI_GUID_CAP);
	struct tables *t = get_tables(c->n);

	if (c->mod * GUIDS_PER_BLOCK >= cap || c->mod > 0xFF)
		return MAD_STATUS_BAD_VALUE;
	if (!t->guids)
		t->guids = xcalloc(c->n->nports + 1u, sizeof(*t->guids));
	if (c->set && !t->guids[port])
		t->guids[port] =
			xcalloc((cap + GUIDS_PER_BLOCK) / GUIDS_PER_BLOCK * GUIDS_PER_BLOCK,
				sizeof(guid_t));
	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++) {
		unsigned at = c->mod * GUIDS_PER_BLOCK + i;

		if (c->set && at > 0)
			t->guids[port][at] = ib_bits_get(c->payload, i * 64, 64);
		else if (at == 0)
			/* entry 0 is read-only */
			ib_bits_put(c->payload, 0, 64, c->n->ports[port].guid);
		else
			ib_bits_put(c->payload, i * 64, 64,
				    t->guids[port] ? t->guids[port][at] : 0);
	}
	return 0;
}

/* After power-on SLs go round the VLs the port has. */
static void sl2vl_default(const struct sim_node *n, unsigned out, uint8_t *ret)
{
	unsigned vls = MAX(ib_data_vls((unsigned)ib_get(n->ports[out].info, PI_VL_CAP)), 1u);

	for (unsigned sl = 0; sl < 16; sl++)
		ib_bits_put(ret, sl * 4, 4, sl % vls);
}

static uint16_t *sl2vl_rows(struct sim *sim, struct sim_node *n)
{
	struct tables *t = get_tables(n);
	unsigned side = n->nports + 1u;

	if (t->sl2vl)
		return t->sl2vl;
	t->sl2vl = xcalloc((size_t)side * side, sizeof(*t->sl2vl));
	for (unsigned out = 0; out < side; out++) {
		uint8_t row[SL2VL_BYTES] = { 0 };
		uint16_t number;

		sl2vl_default(n, out, row);
		number = intern_put(&sim->sl2vl, row);
		for (unsigned in = 0; in < side; in++)
			t->sl2vl[in * side + out] = number;
	}
	return t->sl2vl;
}

/* The in-ports and out-ports, from..to each, of a Set; a Get reads the first of each. */
struct sl2vl_span {
	unsigned in, in_end, out, out_end;
};

static bool sl2vl_span(const struct sma_call *c, struct sl2vl_span *ret)
{
	bool all_out = c->mod & 0x10000, all_in = c->mod & 0x20000;
	unsigned in = c->mod >> 8 & 0xFF, out = c->mod & 0xFF;

	if (!node_is_switch(c->n)) {
		*ret = (struct sl2vl_span){ c->in_port, c->in_port, c->in_port, c->in_port };
		return true;
	}
	if (in > c->n->nports || out > c->n->nports || c->mod >> 18)
		return false;
	if ((all_in || all_out) && !(ib_get(c->n->sw_info, SI_OPTIMIZED_SL2VL) & 1))
		return false;
	*ret = (struct sl2vl_span){
		all_in ? 0 : in,
		all_in ? c->n->nports : in,
		all_out ? 1 : out,
		all_out ? c->n->nports : out,
	};
	return true;
}

uint16_t sma_sl2vl(struct sma_call *c)
{
	unsigned side = c->n->nports + 1u;
	struct sl2vl_span s;
	uint16_t *rows, number;

	if (!sl2vl_span(c, &s))
		return MAD_STATUS_BAD_VALUE;
	rows = sl2vl_rows(c->sim, c->n);
	if (c->set) {
		number = intern_put(&c->sim->sl2vl, c->payload);
		for (unsigned in = s.in; in <= s.in_end; in++)
			for (unsigned out = s.out; out <= s.out_end; out++)
				rows[in * side + out] = number;
	}
	memset(c->payload, 0, SMP_DATA_SIZE);
	memcpy(c->payload, intern_get(&c->sim->sl2vl, rows[s.in * side + s.out]), SL2VL_BYTES);
	return 0;
}

uint16_t sma_vlarb(struct sma_call *c)
{
	static const uint8_t zero[SMP_DATA_SIZE];
	unsigned block = c->mod >> 16, port = node_is_switch(c->n) ? c->mod & 0xFFFF : c->in_port;
	struct tables *t = get_tables(c->n);
	unsigned cap;

	if (block < 1 || block > 4 || port > c->n->nports)
		return MAD_STATUS_BAD_VALUE;
	cap = (unsigned)(block <= 2 ? ib_get(c->n->ports[port].info, PI_VLARB_LOW_CAP)
				    : ib_get(c->n->ports[port].info, PI_VLARB_HIGH_CAP));
	if (cap == 0 || (block % 2 == 0 && cap <= 32))
		return MAD_STATUS_BAD_VALUE;
	if (!t->vlarb && !c->set) { /* a question leaves no trace */
		memset(c->payload, 0, SMP_DATA_SIZE);
		return 0;
	}
	if (!t->vlarb) {
		uint16_t number = intern_put(&c->sim->vlarb, zero);

		t->vlarb = xcalloc((c->n->nports + 1u) * 4, sizeof(*t->vlarb));
		for (unsigned i = 0; i < (c->n->nports + 1u) * 4; i++)
			t->vlarb[i] = number;
	}
	if (c->set)
		t->vlarb[port * 4 + block - 1] = intern_put(&c->sim->vlarb, c->payload);
	memcpy(c->payload, intern_get(&c->sim->vlarb, t->vlarb[port * 4 + block - 1]),
	       SMP_DATA_SIZE);
	return 0;
}
