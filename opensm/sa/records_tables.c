// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of tables: linear and multicast forwarding, SL to VL, VL arbitration, P_Keys.
 *
 * What the fabric knows is answered from there; what it does not keep, or does not know, is read
 * from the device, one table at a time.
 */
#include <string.h>

#include "fabric/fabric.h"
#include "sa/records.h"
#include "util/mem.h"

/* The device of the end port at the cursor, as known now; NULL: gone since the view was made. */
static const struct node *device(const struct sa_query *q, uint32_t end)
{
	return fabric_find_node(q->sa->fabric, q->view->nodes[q->view->ports[end].node].guid);
}

static enum sa_step next_device(struct sa_query *q)
{
	walk_on(q);
	q->at[WALK_OWN] = q->at[WALK_OWN + 1] = 0;
	return SA_SKIP;
}

/* What a request may name in place of a walk over all. */
#define ANY		UINT64_MAX
#define ASKED(q, FIELD) QUERY_FIELD(q, FIELD, ANY)

/* Of the values below `n`: the next at the cursor, or the one that is asked for. False: no more. */
static bool next_value(uint32_t *cursor, uint64_t asked, uint32_t n, uint32_t *ret)
{
	if (asked != ANY && *cursor > asked)
		return false;
	if (asked != ANY)
		*cursor = (uint32_t)asked;
	if (*cursor >= n)
		return false;
	*ret = (*cursor)++;
	return true;
}

/* The 64 bytes a device holds, from it: the step to return if not SA_ROW. */
static enum sa_step read_table(struct sa_query *q, const struct sa_cell_address *at, size_t len,
			       uint8_t *ret)
{
	enum sa_step step;
	const uint8_t *payload = query_cell(q, at, &step);

	if (!payload)
		return step;
	memcpy(ret, payload, len);
	return SA_ROW;
}

/* ---- LFTRecord (15.2.5.7) ---- */

static const struct ib_field lft_head[] = IB_LAYOUT_ROWS(LFT_RECORD_LIST);

static uint32_t lft_blocks(const struct node *n)
{
	if (!node_is_switch(n) || !n->switch_known)
		return 0;
	return (uint32_t)ib_get(n->switch_info, SI_LINEAR_FDB_TOP) / LFT_BLOCK_LIDS + 1;
}

/* What it is known to hold, else what it was routed to hold; NULL: neither. */
static const uint8_t *lft_block(const struct sa_query *q, const struct node *n, uint32_t end,
				uint32_t block)
{
	const struct routes *r = q->view->routes;
	uint32_t sw = q->view->nodes[q->view->ports[end].node].topo_sw;
	const uint8_t *have = lft_have_block(&n->lft, block);

	if (have || !r || sw == TOPO_NONE || (block + 1) * LFT_BLOCK_LIDS > r->row_size)
		return have;
	return routes_row(r, sw) + block * LFT_BLOCK_LIDS;
}

static enum sa_step lft_next(struct sa_query *q, uint8_t *ret)
{
	uint32_t end = walk_port(q), block;
	const struct node *n;
	const uint8_t *table;

	if (end == VIEW_NONE)
		return SA_END;
	n = device(q, end);
	if (!n || !next_value(&q->at[WALK_OWN], ASKED(q, LFR_BLOCK), lft_blocks(n), &block))
		return next_device(q);
	q->subject = end;
	ib_put(ret, LFR_LID, q->view->ports[end].lid);
	ib_put(ret, LFR_BLOCK, block);
	table = lft_block(q, n, end, block);
	if (table)
		memcpy(ib_at(ret, LFR_TABLE), table, LFT_BLOCK_LIDS);
	else
		memset(ib_at(ret, LFR_TABLE), LFT_NO_PORT, LFT_BLOCK_LIDS);
	return SA_ROW;
}

const struct sa_type sa_lft_record = {
	.attr = SA_LFT_RECORD,
	.name = "LFTRecord",
	.size = LFR_BYTES,
	.head = lft_head,
	.n_head = ARRAY_SIZE(lft_head),
	.start = walk_start_lid,
	.next = lft_next,
	.match = walk_match_lid,
};

/* ---- MFTRecord (15.2.5.9) ---- */

static const struct ib_field mft_head[] = IB_LAYOUT_ROWS(MFT_RECORD_LIST);

static bool block_in_use(const struct mft_have *h, uint32_t block)
{
	static const struct mft_cell empty;

	for (unsigned i = 0; h->blocks[block] && i < h->blocks[block]->n_positions; i++)
		if (memcmp(&h->blocks[block]->cells[i], &empty, sizeof(empty)))
			return true;
	return false;
}

/* Up to the last one that holds something. */
static uint32_t mft_blocks(const struct node *n)
{
	uint32_t blocks = n->mft.n_blocks;

	while (blocks && !block_in_use(&n->mft, blocks - 1))
		blocks--;
	return blocks;
}

/* Cells in order of the wire: for each block all positions. */
static bool next_cell(struct sa_query *q, const struct node *n, uint32_t *ret_block,
		      uint32_t *ret_position)
{
	uint32_t *block = &q->at[WALK_OWN], *position = &q->at[WALK_OWN + 1];
	uint64_t asked = ASKED(q, MFR_BLOCK);

	for (; *block < mft_blocks(n); (*block)++, *position = 0) {
		if (asked != ANY && *block != asked)
			continue;
		if (next_value(position, ASKED(q, MFR_POSITION), mft_positions(n->n_ports),
			       ret_position)) {
			*ret_block = *block;
			return true;
		}
	}
	return false;
}

static enum sa_step mft_next(struct sa_query *q, uint8_t *ret)
{
	uint32_t end = walk_port(q), block, position;
	const struct mft_cell *cell;
	const struct node *n;
	bool known;

	if (end == VIEW_NONE)
		return SA_END;
	n = device(q, end);
	if (!n || !node_is_switch(n) || !next_cell(q, n, &block, &position))
		return next_device(q);
	q->subject = end;
	ib_put(ret, MFR_LID, q->view->ports[end].lid);
	ib_put(ret, MFR_POSITION, position);
	ib_put(ret, MFR_BLOCK, block);
	cell = mft_have_cell(&n->mft, block, position, &known);
	if (cell)
		mft_cell_put(ib_at(ret, MFR_TABLE), cell);
	return SA_ROW;
}

const struct sa_type sa_mft_record = {
	.attr = SA_MFT_RECORD,
	.name = "MFTRecord",
	.size = MFR_BYTES,
	.head = mft_head,
	.n_head = ARRAY_SIZE(mft_head),
	.start = walk_start_lid,
	.next = mft_next,
	.match = walk_match_lid,
};

/* ---- SLtoVLMappingTableRecord (15.2.5.5) ---- */

static const struct ib_field sl2vl_head[] = IB_LAYOUT_ROWS(SL2VL_RECORD_LIST);

struct lane {
	uint32_t in, out;
};

/* A switch has a table for each pair of ports, others one without port numbers. False: no more. */
static bool next_lane(struct sa_query *q, uint32_t end, struct lane *ret)
{
	const struct view_node *n = &q->view->nodes[q->view->ports[end].node];
	uint32_t *out = &q->at[WALK_OWN], *in = &q->at[WALK_OWN + 1];
	uint64_t asked = ASKED(q, SLR_OUT_PORT);

	if (n->type != IB_NODE_SWITCH) {
		*ret = (struct lane){ 0, 0 };
		return !(*out)++;
	}
	for (; *out <= n->n_ports; (*out)++, *in = 0) {
		if (asked != ANY && *out != asked)
			continue;
		if (next_value(in, ASKED(q, SLR_IN_PORT), n->n_ports + 1u, &ret->in)) {
			ret->out = *out;
			return true;
		}
	}
	return false;
}

static enum sa_step sl2vl_next(struct sa_query *q, uint8_t *ret)
{
	uint32_t end = walk_port(q), before[2] = { q->at[WALK_OWN], q->at[WALK_OWN + 1] };
	struct sa_cell_address at = { .attr = IB_ATTR_SL2VL };
	const struct view_port *p;
	struct lane lane;
	enum sa_step step;

	if (end == VIEW_NONE)
		return SA_END;
	if (!next_lane(q, end, &lane))
		return next_device(q);
	p = &q->view->ports[end];
	q->subject = end;
	if (!query_may_see(q, end))
		return SA_SKIP;
	ib_put(ret, SLR_LID, p->lid);
	ib_put(ret, SLR_IN_PORT, lane.in);
	ib_put(ret, SLR_OUT_PORT, lane.out);
	at.node_guid = q->view->nodes[p->node].guid;
	at.port = p->num;
	at.mod = view_is_switch(q->view, p) ? lane.in << 8 | lane.out : 0; /* 14.2.5.8 */
	step = read_table(q, &at, SLR_TABLE_W / 8, ib_at(ret, SLR_TABLE));
	if (step == SA_WAIT)
		memcpy(&q->at[WALK_OWN], before, sizeof(before));
	return step;
}

/* Whatever ports were asked for, a host's one table is the answer. */
static bool sl2vl_match(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done)
{
	*ret_done = SA_COMP(SLR_LID) | SA_COMP(SLR_IN_PORT) | SA_COMP(SLR_OUT_PORT);
	return true;
}

const struct sa_type sa_sl2vl_record = {
	.attr = SA_SL2VL_RECORD,
	.name = "SLtoVLMappingTableRecord",
	.size = SLR_BYTES,
	.head = sl2vl_head,
	.n_head = ARRAY_SIZE(sl2vl_head),
	.start = walk_start_lid,
	.next = sl2vl_next,
	.match = sl2vl_match,
};

/* ---- VLArbitrationTableRecord (15.2.5.11), P_KeyTableRecord (15.2.5.12) ---- */

static const struct ib_field vlarb_head[] = IB_LAYOUT_ROWS(VLARB_RECORD_LIST);
static const struct ib_field pkey_head[] = IB_LAYOUT_ROWS(PKEY_TABLE_RECORD_LIST);

#define VLARB_BLOCKS	4  /* 1, 2: low priority, 3, 4: high */
#define VLARB_PER_BLOCK 32 /* entries */

/* A block of a table that ports have one of each. */
struct port_block {
	const struct view_port *port;
	const struct port *device; /* the same in the fabric; NULL: gone since */
	uint32_t block;
};

/* Blocks 0 .. of a port that may exist. */
typedef unsigned (*blocks_fn)(const struct view_port *p, const struct port *device);

static const struct port *device_port(const struct sa_query *q, uint32_t end, unsigned num)
{
	const struct node *n = device(q, end);

	return n && num <= n->n_ports ? &n->ports[num] : NULL;
}

/* All ports of the end port's device (one of a host), all blocks of each. False: no more. */
static bool next_block(struct sa_query *q, uint32_t end, blocks_fn blocks, uint64_t asked_port,
		       uint64_t asked_block, struct port_block *ret)
{
	const struct view_node *n = &q->view->nodes[q->view->ports[end].node];
	uint32_t *num = &q->at[WALK_OWN], *block = &q->at[WALK_OWN + 1], last = n->n_ports;

	if (n->type != IB_NODE_SWITCH) {
		last = q->view->ports[end].num;
		*num = MAX(*num, last);
	}
	for (; *num <= last; (*num)++, *block = 0) {
		uint32_t port = view_node_port(n, *num);

		if ((asked_port != ANY && *num != asked_port) || port == VIEW_NONE)
			continue;
		ret->port = &q->view->ports[port];
		ret->device = device_port(q, end, *num);
		if (next_value(block, asked_block, blocks(ret->port, ret->device), &ret->block))
			return true;
	}
	return false;
}

static unsigned vlarb_blocks(const struct view_port *p, const struct port *device)
{
	return VLARB_BLOCKS;
}

static bool vlarb_exists(const struct view_port *p, unsigned block)
{
	unsigned entries =
		block < 2 ? ib_get(p->info, PI_VLARB_LOW_CAP) : ib_get(p->info, PI_VLARB_HIGH_CAP);

	return entries > block % 2 * VLARB_PER_BLOCK;
}

static bool is_host(const struct sa_query *q, uint32_t end)
{
	return !view_is_switch(q->view, &q->view->ports[end]);
}

/* Whatever port of a host is asked for, the answer is that of the port with this LID (osmtest asks for 0). */
static bool vlarb_match(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done)
{
	bool fits = walk_match_lid(q, row, ret_done);

	if (is_host(q, q->subject))
		*ret_done |= SA_COMP(VAR_PORT);
	return fits;
}

static enum sa_step vlarb_next(struct sa_query *q, uint8_t *ret)
{
	uint32_t end = walk_port(q), before[2] = { q->at[WALK_OWN], q->at[WALK_OWN + 1] };
	uint64_t asked = ASKED(q, VAR_BLOCK); /* from 1; 0 becomes one that no port has */
	struct sa_cell_address at = { .attr = IB_ATTR_VLARB };
	struct port_block b;
	enum sa_step step;

	if (end == VIEW_NONE)
		return SA_END;
	if (!next_block(q, end, vlarb_blocks, is_host(q, end) ? ANY : ASKED(q, VAR_PORT),
			asked == ANY ? ANY : (asked - 1) & 0xFF, &b))
		return next_device(q);
	q->subject = end;
	if (!b.device || !query_may_see(q, end))
		return SA_SKIP;
	ib_put(ret, VAR_LID, q->view->ports[end].lid);
	ib_put(ret, VAR_PORT, b.port->num);
	ib_put(ret, VAR_BLOCK, b.block + 1);
	if (!vlarb_exists(b.port, b.block))
		return SA_ROW; /* nothing to read, and nothing to show */
	at.node_guid = b.device->node->guid;
	at.port = b.port->num;
	at.mod = (b.block + 1) << 16 | b.port->num; /* 14.2.5.9 */
	step = read_table(q, &at, SMP_DATA_SIZE, ib_at(ret, VAR_TABLE));
	if (step == SA_WAIT)
		memcpy(&q->at[WALK_OWN], before, sizeof(before));
	return step;
}

const struct sa_type sa_vlarb_record = {
	.attr = SA_VLARB_RECORD,
	.name = "VLArbitrationTableRecord",
	.size = VAR_BYTES,
	.head = vlarb_head,
	.n_head = ARRAY_SIZE(vlarb_head),
	.start = walk_start_lid,
	.next = vlarb_next,
	.match = vlarb_match,
};

static unsigned pkey_blocks(const struct view_port *p, const struct port *device)
{
	return device ? (fabric_pkey_cap(device) + PKEYS_PER_BLOCK - 1) / PKEYS_PER_BLOCK : 0;
}

/*
 * The answer has the block's low byte first, as the peer has it: it is the number that saquery, and
 * whoever else was built with its headers, reads without turning it round. Requests have it in order.
 */
static void put_pkey_block(uint8_t *ret, uint32_t block)
{
	ib_put(ret, PKR_BLOCK, (block & 0xFF) << 8 | block >> 8);
}

static enum sa_step pkey_next(struct sa_query *q, uint8_t *ret)
{
	uint32_t end = walk_port(q), before[2] = { q->at[WALK_OWN], q->at[WALK_OWN + 1] };
	struct sa_cell_address at = { .attr = IB_ATTR_PKEY_TABLE };
	struct port_block b;
	const uint8_t *known;
	enum sa_step step;

	if (end == VIEW_NONE)
		return SA_END;
	if (!next_block(q, end, pkey_blocks, ASKED(q, PKR_PORT), ASKED(q, PKR_BLOCK), &b))
		return next_device(q);
	q->subject = end;
	if (!query_may_see(q, end))
		return SA_SKIP;
	ib_put(ret, PKR_LID, q->view->ports[end].lid);
	put_pkey_block(ret, b.block);
	ib_put(ret, PKR_PORT, b.port->num);
	known = q->cell_here ? NULL : fabric_pkey_block(q->sa->fabric, b.device, b.block);
	if (known) {
		memcpy(ib_at(ret, PKR_TABLE), known, SMP_DATA_SIZE);
		return SA_ROW;
	}
	at.node_guid = b.device->node->guid;
	at.port = b.port->num;
	at.mod = fabric_pkey_mod(b.device, b.block);
	step = read_table(q, &at, SMP_DATA_SIZE, ib_at(ret, PKR_TABLE));
	if (step == SA_WAIT)
		memcpy(&q->at[WALK_OWN], before, sizeof(before));
	return step;
}

static bool pkey_match(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done)
{
	*ret_done = SA_COMP(PKR_LID) | SA_COMP(PKR_BLOCK);
	return true;
}

const struct sa_type sa_pkey_table_record = {
	.attr = SA_PKEY_TABLE_RECORD,
	.name = "P_KeyTableRecord",
	.size = PKR_BYTES,
	.head = pkey_head,
	.n_head = ARRAY_SIZE(pkey_head),
	.trusted_only = true,
	.start = walk_start_lid,
	.next = pkey_next,
	.match = pkey_match,
};
