// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of tables: linear and multicast forwarding, SL to VL, VL arbitration, P_Keys.
 *
 * Tables that the fabric knows are answered from there; others are read from the device, one at a
 * time.
 */
#include <string.h>

#include "fabric/fabric.h"
#include "sa/mcast/mgroup.h"
#include "sa/records.h"
#include "util/mem.h"

/* The device of the end port at the cursor; NULL: gone since the view was made. */
static const struct node *device(const struct sa_query *q, uint32_t end)
{
	return fabric_find_node(q->sa->fabric, walk_node(q, end)->guid);
}

/* The value of a field in the request, or ANY. */
#define ANY		UINT64_MAX
#define ASKED(q, FIELD) QUERY_FIELD(q, FIELD, ANY)

/* The next value below `n` at the cursor, or only the one asked for. False: no more. */
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

/*
 * Pairs of numbers, of which the second runs faster: two ports, port and block, block and position.
 */
struct pairs {
	uint32_t first, end;	   /* range of the first number */
	uint64_t asked, asked_inner; /* values asked for; ANY: all */
	/* The number of second numbers, from 0 on, for first number `outer`. */
	unsigned (*n_inner)(const struct sa_query *q, uint32_t end, uint32_t outer);
};

struct pair {
	uint32_t outer, inner;
};

/* The next pair at the cursor. False: no more. */
static bool next_pair(struct sa_query *q, uint32_t end, const struct pairs *p, struct pair *ret)
{
	uint32_t *outer = &q->at[WALK_OWN], *inner = &q->at[WALK_OWN2];

	for (*outer = MAX(*outer, p->first); *outer < p->end; (*outer)++, *inner = 0) {
		if (p->asked != ANY && *outer != p->asked)
			continue;
		ret->outer = *outer;
		if (next_value(inner, p->asked_inner, p->n_inner(q, end, *outer), &ret->inner))
			return true;
	}
	return false;
}

#define TABLE 8 /* byte offset of the table, which extends to the end of a record */
_Static_assert(SLR_TABLE == TABLE * 8 && VAR_TABLE == TABLE * 8 && PKR_TABLE == TABLE * 8,
	       "records of tables");

/* Reads a table of port `port` of the end port's device; or returns the step instead of SA_ROW. */
static enum sa_step read_table(struct sa_query *q, uint32_t end, uint32_t port, uint16_t attr,
			       uint32_t mod, uint8_t *ret)
{
	const struct sa_cell_address at = {
		.node_guid = walk_node(q, end)->guid,
		.port = (uint8_t)port,
		.attr = attr,
		.mod = mod,
	};
	enum sa_step step = SA_ROW;
	const uint8_t *payload = query_cell(q, &at, &step);

	if (payload)
		memcpy(ret + TABLE, payload, q->type->size - TABLE);
	return payload ? SA_ROW : step;
}

/* ---- LFTRecord (15.2.5.7) ---- */

static uint32_t lft_blocks(const struct node *n)
{
	if (!node_is_switch(n) || !n->switch_known)
		return 0;
	return (uint32_t)ib_get(n->switch_info, SI_LINEAR_FDB_TOP) / LFT_BLOCK_LIDS + 1;
}

/* The block as the device is known to hold it, or as it was routed; NULL: neither. */
static const uint8_t *lft_block(const struct sa_query *q, const struct node *n, uint32_t end,
				uint32_t block)
{
	const struct routes *r = q->view->routes;
	uint32_t sw = walk_node(q, end)->topo_sw;
	const uint8_t *have = lft_have_block(&n->lft, block);

	if (have || !r || sw == TOPO_NONE || (block + 1) * LFT_BLOCK_LIDS > r->row_size)
		return have;
	return routes_row(r, sw) + block * LFT_BLOCK_LIDS;
}

/* Hides entries of LIDs that the requester may not know: they look like unassigned ones. */
static void hide_lids(struct sa_query *q, uint32_t block, uint8_t *table)
{
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
		uint32_t port = view_port_at(q->view, block * LFT_BLOCK_LIDS + i);

		if (port != VIEW_NONE && !query_may_see(q, port))
			table[i] = LFT_NO_PORT;
	}
}

static enum sa_step lft_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct node *n = device(q, end);
	const uint8_t *table;
	uint32_t block;

	if (!n || !next_value(&q->at[WALK_OWN], ASKED(q, LFR_BLOCK), lft_blocks(n), &block))
		return SA_END;
	ib_put(ret, LFR_BLOCK, block);
	table = lft_block(q, n, end, block);
	if (table)
		memcpy(ib_at(ret, LFR_TABLE), table, LFT_BLOCK_LIDS);
	else
		memset(ib_at(ret, LFR_TABLE), LFT_NO_PORT, LFT_BLOCK_LIDS);
	if (!q->rq.trusted)
		hide_lids(q, block, ib_at(ret, LFR_TABLE));
	return SA_ROW;
}

const struct sa_type sa_lft_record = {
	.size = LFR_BYTES,
	SA_HEAD(LFT_RECORD_LIST),
	.lids = SA_COMP(LFR_LID),
	.start = walk_start,
	.next = walk_next,
	.of_port = lft_of_port,
};

/* ---- MFTRecord (15.2.5.9) ---- */

static bool block_in_use(const struct mft_have *h, uint32_t block)
{
	static const struct mft_cell empty;

	for (unsigned i = 0; h->blocks[block] && i < h->blocks[block]->n_positions; i++)
		if (memcmp(&h->blocks[block]->cells[i], &empty, sizeof(empty)))
			return true;
	return false;
}

/* The number of blocks up to the last with an entry. */
static uint32_t mft_blocks(const struct node *n)
{
	uint32_t blocks = n->mft.n_blocks;

	while (blocks && !block_in_use(&n->mft, blocks - 1))
		blocks--;
	return blocks;
}

static unsigned positions_of(const struct sa_query *q, uint32_t end, uint32_t block)
{
	return mft_positions(walk_node(q, end)->n_ports);
}

/* Is there no group on this MLID, or one in a partition of the requester? */
static bool may_see_mlid(const struct sa_query *q, lid_t mlid)
{
	const struct mgroup *g = mgroup_on_mlid(q->sa, mlid, NULL);

	if (!g)
		return true;
	while (g && !view_has_pkey(q->view, q->rq.port, mgroup_pkey(g)))
		g = mgroup_on_mlid(q->sa, mlid, g);
	return g;
}

/* Hides groups that the requester may not know, as their ports tell where members are. */
static void hide_groups(const struct sa_query *q, uint32_t block, struct mft_cell *cell)
{
	for (unsigned i = 0; i < MFT_BLOCK_MLIDS; i++) {
		uint32_t mlid = MLID_FIRST + block * MFT_BLOCK_MLIDS + i;

		if (cell->mask[i] && mlid <= MLID_LAST && !may_see_mlid(q, (lid_t)mlid))
			cell->mask[i] = 0;
	}
}

/* The next cell, in wire order: by block, then by position. */
static enum sa_step mft_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct node *n = device(q, end);
	const struct pairs cells = { .end = n && node_is_switch(n) ? mft_blocks(n) : 0,
				     .asked = ASKED(q, MFR_BLOCK),
				     .asked_inner = ASKED(q, MFR_POSITION),
				     .n_inner = positions_of };
	const struct mft_cell *cell;
	struct pair at;
	bool known;

	if (!next_pair(q, end, &cells, &at))
		return SA_END;
	ib_put(ret, MFR_POSITION, at.inner);
	ib_put(ret, MFR_BLOCK, at.outer);
	cell = mft_have_cell(&n->mft, at.outer, at.inner, &known);
	if (cell) {
		struct mft_cell shown = *cell;

		if (!q->rq.trusted)
			hide_groups(q, at.outer, &shown);
		mft_cell_put(ib_at(ret, MFR_TABLE), &shown);
	}
	return SA_ROW;
}

const struct sa_type sa_mft_record = {
	.size = MFR_BYTES,
	SA_HEAD(MFT_RECORD_LIST),
	.lids = SA_COMP(MFR_LID),
	.start = walk_start,
	.next = walk_next,
	.of_port = mft_of_port,
};

/* ---- SLtoVLMappingTableRecord (15.2.5.5) ---- */

static unsigned in_ports(const struct sa_query *q, uint32_t end, uint32_t out)
{
	return walk_node(q, end)->n_ports + 1u;
}

static unsigned one_table(const struct sa_query *q, uint32_t end, uint32_t out)
{
	return 1;
}

/*
 * A switch has a table for each pair of ports; others have one, without port numbers, whatever
 * ports are asked for.
 */
static enum sa_step sl2vl_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct view_node *n = walk_node(q, end);
	bool is_switch = n->type == IB_NODE_SWITCH;
	const struct pairs tables = { .end = is_switch ? n->n_ports + 1u : 1,
				      .asked = is_switch ? ASKED(q, SLR_OUT_PORT) : ANY,
				      .asked_inner = is_switch ? ASKED(q, SLR_IN_PORT) : ANY,
				      .n_inner = is_switch ? in_ports : one_table };
	struct pair at;

	if (!next_pair(q, end, &tables, &at))
		return SA_END;
	q->subject = end + at.outer;
	if (!query_may_see(q, q->subject))
		return SA_SKIP;
	ib_put(ret, SLR_IN_PORT, at.inner);
	ib_put(ret, SLR_OUT_PORT, at.outer);
	return read_table(q, end, q->view->ports[end].num, IB_ATTR_SL2VL,
			  at.inner << 8 | at.outer, ret); /* 14.2.5.8 */
}

const struct sa_type sa_sl2vl_record = {
	.size = SLR_BYTES,
	SA_HEAD(SL2VL_RECORD_LIST),
	.lids = SA_COMP(SLR_LID),
	.settled = SA_COMP(SLR_IN_PORT) | SA_COMP(SLR_OUT_PORT),
	.start = walk_start,
	.next = walk_next,
	.of_port = sl2vl_of_port,
};

/* ---- VLArbitrationTableRecord (15.2.5.11), P_KeyTableRecord (15.2.5.12) ---- */

#define VLARB_BLOCKS	4  /* 1, 2: low priority; 3, 4: high */
#define VLARB_PER_BLOCK 32 /* number of entries */

static bool is_host(const struct sa_query *q, uint32_t end)
{
	return walk_node(q, end)->type != IB_NODE_SWITCH;
}

/* The ports of the end port's node, only one of a host. `port`: as asked, or ANY. */
static struct pairs blocks_of_ports(const struct sa_query *q, uint32_t end, uint64_t port,
				    uint64_t block)
{
	uint32_t num = q->view->ports[end].num;

	return (struct pairs){
		.first = is_host(q, end) ? num : 0,
		.end = (is_host(q, end) ? num : walk_node(q, end)->n_ports) + 1,
		.asked = port,
		.asked_inner = block,
	};
}

/* Port `num` of the end port's device; NULL: gone since the view was made. */
static const struct port *device_port(const struct sa_query *q, uint32_t end, unsigned num)
{
	const struct node *n = device(q, end);

	return n && num <= n->n_ports ? &n->ports[num] : NULL;
}

static unsigned vlarb_blocks(const struct sa_query *q, uint32_t end, uint32_t num)
{
	return VLARB_BLOCKS;
}

static bool vlarb_exists(const struct view_port *p, unsigned block)
{
	unsigned entries =
		block < 2 ? ib_get(p->info, PI_VLARB_LOW_CAP) : ib_get(p->info, PI_VLARB_HIGH_CAP);

	return entries > block % 2 * VLARB_PER_BLOCK;
}

/* For a host the port with this LID answers, whatever port is asked for (osmtest asks for 0). */
static enum sa_step vlarb_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	uint64_t asked = ASKED(q, VAR_BLOCK); /* from 1; 0 becomes one that does not exist */
	struct pairs blocks =
		blocks_of_ports(q, end, is_host(q, end) ? ANY : ASKED(q, VAR_PORT),
				asked == ANY ? ANY : (asked - 1) & 0xFF);
	struct pair at;

	blocks.n_inner = vlarb_blocks;
	if (!next_pair(q, end, &blocks, &at))
		return SA_END;
	q->subject = view_node_port(walk_node(q, end), at.outer);
	if (!device_port(q, end, at.outer) || !query_may_see(q, q->subject))
		return SA_SKIP;
	ib_put(ret, VAR_PORT, at.outer);
	ib_put(ret, VAR_BLOCK, at.inner + 1);
	if (!vlarb_exists(&q->view->ports[q->subject], at.inner))
		return SA_ROW; /* there is no table: all zeroes */
	return read_table(q, end, at.outer, IB_ATTR_VLARB, (at.inner + 1) << 16 | at.outer,
			  ret); /* 14.2.5.9 */
}

const struct sa_type sa_vlarb_record = {
	.size = VAR_BYTES,
	SA_HEAD(VLARB_RECORD_LIST),
	.lids = SA_COMP(VAR_LID),
	.settled = SA_COMP(VAR_PORT) | SA_COMP(VAR_BLOCK),
	.start = walk_start,
	.next = walk_next,
	.of_port = vlarb_of_port,
};

static unsigned pkey_blocks(const struct sa_query *q, uint32_t end, uint32_t num)
{
	const struct port *p = device_port(q, end, num);

	return p ? (fabric_pkey_cap(p) + PKEYS_PER_BLOCK - 1) / PKEYS_PER_BLOCK : 0;
}

/*
 * Writes the block number with its low byte first, as OpenSM does: saquery, and other clients built
 * with its headers, read it in host order. Requests have network order.
 */
static void put_pkey_block(uint8_t *ret, uint32_t block)
{
	ib_put(ret, PKR_BLOCK, (block & 0xFF) << 8 | block >> 8);
}

static enum sa_step pkey_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	struct pairs blocks =
		blocks_of_ports(q, end, ASKED(q, PKR_PORT), ASKED(q, PKR_BLOCK));
	const struct port *p;
	const uint8_t *known;
	struct pair at;

	blocks.n_inner = pkey_blocks;
	if (!next_pair(q, end, &blocks, &at))
		return SA_END;
	q->subject = view_node_port(walk_node(q, end), at.outer);
	if (!query_may_see(q, q->subject))
		return SA_SKIP;
	p = device_port(q, end, at.outer);
	put_pkey_block(ret, at.inner);
	ib_put(ret, PKR_PORT, at.outer);
	known = q->cell_here ? NULL : fabric_cell(q->sa->fabric, p, TABLE_PKEYS, at.inner);
	if (known) {
		memcpy(ib_at(ret, PKR_TABLE), known, SMP_DATA_SIZE);
		return SA_ROW;
	}
	return read_table(q, end, at.outer, IB_ATTR_PKEY_TABLE,
			  port_tables[TABLE_PKEYS].mod(p, at.inner), ret);
}

const struct sa_type sa_pkey_table_record = {
	.size = PKR_BYTES,
	SA_HEAD(PKEY_TABLE_RECORD_LIST),
	.lids = SA_COMP(PKR_LID),
	.settled = SA_COMP(PKR_BLOCK),
	.trusted_only = true,
	.start = walk_start,
	.next = walk_next,
	.of_port = pkey_of_port,
};
