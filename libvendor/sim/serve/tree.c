// SPDX-License-Identifier: BSD-2-Clause
/* The tree of names; see tree.h. Each kind of folder is a row that lists its entries. */
#include "libvendor/sim/serve/tree.h"

#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"
#include "ib/mad.h"
#include "util/mem.h"
#include "util/str.h"

/* kind, node, port, row side by side; 1 is the root for FUSE. */
uint64_t tree_number(const struct place *p)
{
	if (p->kind == PLACE_ROOT)
		return TREE_ROOT;
	return (uint64_t)p->kind << 48 | (uint64_t)(uint32_t)p->node << 24 | (uint64_t)p->port << 16 | p->row;
}

/* Ports that programs can open: 1..n of hosts, 0 of switches. */
static unsigned first_port(const struct tree *t, int node)
{
	return sim_node_is_switch(t->sim, node) ? 0 : 1;
}

static unsigned n_ports(const struct tree *t, int node)
{
	return sim_node_is_switch(t->sim, node) ? 1 : sim_node_ports(t->sim, node);
}

static bool is_present(const struct tree *t, int node, unsigned port)
{
	return t->present(t->owner, node, port);
}

bool tree_place(const struct tree *t, uint64_t number, struct place *ret)
{
	struct place p = {
		.kind = (enum place_kind)(number >> 48), .node = (int)(number >> 24 & 0xFFFFFF),
		.port = number >> 16 & 0xFF, .row = number & 0xFFFF,
	};

	if (number == TREE_ROOT)
		p = (struct place){ .kind = PLACE_ROOT };
	if (p.kind < PLACE_ROOT || p.kind > PLACE_PKEY || (unsigned)p.node >= sim_n_nodes(t->sim))
		return false;
	*ret = p;
	return true;
}

/* ---- texts of /sys/class ---- */

static void port_info(const struct tree *t, const struct place *p, uint8_t pi[SMP_DATA_SIZE])
{
	memset(pi, 0, SMP_DATA_SIZE);
	sim_read(t->sim, p->node, IB_ATTR_PORT_INFO, p->port | PI_MOD_EXTENDED_SPEEDS, pi);
}

static void node_info(const struct tree *t, const struct place *p, uint8_t ni[SMP_DATA_SIZE])
{
	memset(ni, 0, SMP_DATA_SIZE);
	sim_read(t->sim, p->node, IB_ATTR_NODE_INFO, 0, ni);
}

static int put_guid(char *text, uint64_t guid)
{
	return snprintf(text, TREE_TEXT_MAX, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48),
			(unsigned)(guid >> 32 & 0xFFFF), (unsigned)(guid >> 16 & 0xFFFF), (unsigned)(guid & 0xFFFF));
}

static int text_node_type(const struct tree *t, const struct place *p, char *text)
{
	static const char *const names[] = { "", "CA", "SWITCH", "ROUTER" };
	uint8_t ni[SMP_DATA_SIZE];
	unsigned type;

	node_info(t, p, ni);
	type = (unsigned)ib_get(ni, NI_NODE_TYPE);
	return snprintf(text, TREE_TEXT_MAX, "%u: %s\n", type, names[type & 3]);
}

static int text_node_guid(const struct tree *t, const struct place *p, char *text)
{
	uint8_t ni[SMP_DATA_SIZE];

	node_info(t, p, ni);
	return put_guid(text, ib_get(ni, NI_NODE_GUID));
}

static int text_image_guid(const struct tree *t, const struct place *p, char *text)
{
	uint8_t ni[SMP_DATA_SIZE];

	node_info(t, p, ni);
	return put_guid(text, ib_get(ni, NI_SYSTEM_IMAGE_GUID));
}

static int text_node_desc(const struct tree *t, const struct place *p, char *text)
{
	uint8_t desc[SMP_DATA_SIZE] = { 0 };

	sim_read(t->sim, p->node, IB_ATTR_NODE_DESC, 0, desc);
	return snprintf(text, TREE_TEXT_MAX, "%.64s\n", (const char *)desc);
}

static int text_fw_ver(const struct tree *t, const struct place *p, char *text)
{
	return snprintf(text, TREE_TEXT_MAX, "1.0.0\n");
}

static int text_hw_rev(const struct tree *t, const struct place *p, char *text)
{
	uint8_t ni[SMP_DATA_SIZE];

	node_info(t, p, ni);
	return snprintf(text, TREE_TEXT_MAX, "%x\n", (unsigned)ib_get(ni, NI_REVISION));
}

static int text_hca_type(const struct tree *t, const struct place *p, char *text)
{
	return snprintf(text, TREE_TEXT_MAX, "simulated\n");
}

static int text_state(const struct tree *t, const struct place *p, char *text)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };
	uint8_t pi[SMP_DATA_SIZE];
	unsigned state;

	port_info(t, p, pi);
	state = (unsigned)ib_get(pi, PI_PORT_STATE);
	return snprintf(text, TREE_TEXT_MAX, "%u: %s\n", state, state < ARRAY_SIZE(names) ? names[state] : "?");
}

static int text_phys_state(const struct tree *t, const struct place *p, char *text)
{
	static const char *const names[] = { "NOP",	 "Sleep",  "Polling",	       "Disabled",
					     "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery" };
	uint8_t pi[SMP_DATA_SIZE];
	unsigned state;

	port_info(t, p, pi);
	state = (unsigned)ib_get(pi, PI_PHYS_STATE);
	return snprintf(text, TREE_TEXT_MAX, "%u: %s\n", state, state < ARRAY_SIZE(names) ? names[state] : "?");
}

static int text_lid(const struct tree *t, const struct place *p, char *text)
{
	uint8_t pi[SMP_DATA_SIZE];

	port_info(t, p, pi);
	return snprintf(text, TREE_TEXT_MAX, "0x%x\n", (unsigned)ib_get(pi, PI_LID));
}

static int text_lmc(const struct tree *t, const struct place *p, char *text)
{
	uint8_t pi[SMP_DATA_SIZE];

	port_info(t, p, pi);
	return snprintf(text, TREE_TEXT_MAX, "%u\n", (unsigned)ib_get(pi, PI_LMC));
}

static int text_sm_lid(const struct tree *t, const struct place *p, char *text)
{
	uint8_t pi[SMP_DATA_SIZE];

	port_info(t, p, pi);
	return snprintf(text, TREE_TEXT_MAX, "0x%x\n", (unsigned)ib_get(pi, PI_MASTER_SM_LID));
}

static int text_sm_sl(const struct tree *t, const struct place *p, char *text)
{
	uint8_t pi[SMP_DATA_SIZE];

	port_info(t, p, pi);
	return snprintf(text, TREE_TEXT_MAX, "%u\n", (unsigned)ib_get(pi, PI_MASTER_SM_SL));
}

static int text_cap_mask(const struct tree *t, const struct place *p, char *text)
{
	uint8_t pi[SMP_DATA_SIZE];

	port_info(t, p, pi);
	return snprintf(text, TREE_TEXT_MAX, "0x%08x\n", (unsigned)ib_get(pi, PI_CAP_MASK));
}

static int text_link_layer(const struct tree *t, const struct place *p, char *text)
{
	return snprintf(text, TREE_TEXT_MAX, "InfiniBand\n");
}

/* As the kernel says it: per lane in tenths of Gb/s of data, without the name below QDR. */
static int text_rate(const struct tree *t, const struct place *p, char *text)
{
	static const struct {
		unsigned speed, tenths;
		const char *name;
	} rows[] = {
		{ 50, 50, " DDR" },    { 100, 100, " QDR" },  { 103, 100, " FDR10" }, { 140, 140, " FDR" },
		{ 250, 250, " EDR" }, { 500, 500, " HDR" }, { 1000, 1000, " NDR" }, { 25, 25, "" },
	};
	uint8_t pi[SMP_DATA_SIZE];
	unsigned speed, lanes, i = 0;

	port_info(t, p, pi);
	speed = ib_link_speed(pi, (uint32_t)ib_get(pi, PI_CAP_MASK), false);
	lanes = ib_link_width(pi);
	while (i < ARRAY_SIZE(rows) - 1 && rows[i].speed != speed)
		i++;
	lanes = lanes ? lanes : 4;
	return snprintf(text, TREE_TEXT_MAX, "%u%s Gb/sec (%uX%s)\n", rows[i].tenths * lanes / 10,
			rows[i].tenths * lanes % 10 ? ".5" : "", lanes, rows[i].name);
}

struct text_row {
	const char *name;
	int (*make)(const struct tree *t, const struct place *p, char *text);
};

static const struct text_row device_texts[] = {
	{ "node_type", text_node_type }, { "node_guid", text_node_guid }, { "sys_image_guid", text_image_guid },
	{ "node_desc", text_node_desc }, { "fw_ver", text_fw_ver },	  { "hw_rev", text_hw_rev },
	{ "hca_type", text_hca_type },	 { "board_id", text_hca_type },
};

static const struct text_row port_texts[] = {
	{ "state", text_state },     { "phys_state", text_phys_state }, { "lid", text_lid },
	{ "lid_mask_count", text_lmc }, { "sm_lid", text_sm_lid },	{ "sm_sl", text_sm_sl },
	{ "cap_mask", text_cap_mask }, { "rate", text_rate },		{ "link_layer", text_link_layer },
};

static int text_gid(const struct tree *t, const struct place *p, char *text)
{
	uint8_t gid[16] = { 0 };
	int n = 0;

	sim_port_gid(t->sim, p->node, p->port, p->row, gid);
	for (unsigned i = 0; i < 8; i++)
		n += snprintf(text + n, TREE_TEXT_MAX - (size_t)n, "%s%02x%02x", i ? ":" : "", gid[2 * i], gid[2 * i + 1]);
	return n + snprintf(text + n, TREE_TEXT_MAX - (size_t)n, "\n");
}

size_t tree_text(const struct tree *t, const struct place *p, char text[TREE_TEXT_MAX])
{
	int n = 0;

	switch (p->kind) {
	case PLACE_DEVICE_TEXT:
		n = device_texts[p->row % ARRAY_SIZE(device_texts)].make(t, p, text);
		break;
	case PLACE_PORT_TEXT:
		n = port_texts[p->row % ARRAY_SIZE(port_texts)].make(t, p, text);
		break;
	case PLACE_GID:
		n = text_gid(t, p, text);
		break;
	case PLACE_PKEY:
		n = snprintf(text, TREE_TEXT_MAX, "0x%04x\n", sim_port_pkey(t->sim, p->node, p->port, p->row));
		break;
	case PLACE_ABI:
		n = snprintf(text, TREE_TEXT_MAX, "5\n");
		break;
	case PLACE_MAD_IBDEV:
		n = snprintf(text, TREE_TEXT_MAX, "sim0\n");
		break;
	case PLACE_MAD_PORT:
		n = snprintf(text, TREE_TEXT_MAX, "%u\n", p->port);
		break;
	default:
		break;
	}
	return (size_t)n;
}

/* ---- folders ---- */

/* Entries with a name of their own. */
struct fixed {
	const char *name;
	enum place_kind kind;
};

static const struct fixed in_root[] = {
	{ "ctl", PLACE_CTL }, { "stats", PLACE_STATS }, { "check", PLACE_CHECK },
	{ "nodes", PLACE_NODES }, { "node", PLACE_NODE_LIST },
};
static const struct fixed in_node[] = { { "dev", PLACE_DEV }, { "sys", PLACE_SYS } };
static const struct fixed in_sys[] = {
	{ "infiniband", PLACE_IB_CLASS }, { "infiniband_mad", PLACE_MAD_CLASS }, { "net", PLACE_NET },
};
static const struct fixed in_port[] = { { "gids", PLACE_GIDS }, { "pkeys", PLACE_PKEYS } };
static const struct fixed in_mad[] = { { "ibdev", PLACE_MAD_IBDEV }, { "port", PLACE_MAD_PORT } };

static int fixed_entry(const struct fixed *rows, size_t n, unsigned i, char *name, struct place *ret)
{
	if (i >= n)
		return -1;
	snprintf(name, TREE_NAME_MAX, "%s", rows[i].name);
	ret->kind = rows[i].kind;
	return 1;
}

#define FIXED(rows, i, name, ret) fixed_entry(rows, ARRAY_SIZE(rows), i, name, ret)

static int text_entry(const struct text_row *rows, size_t n, unsigned i, char *name, struct place *ret)
{
	if (i >= n)
		return -1;
	snprintf(name, TREE_NAME_MAX, "%s", rows[i].name);
	ret->row = i;
	return 1;
}

static int numbered(unsigned i, unsigned n, char *name, struct place *ret)
{
	if (i >= n)
		return -1;
	snprintf(name, TREE_NAME_MAX, "%u", i);
	ret->row = i;
	return 1;
}

/* umad0, issm0, umad1 ...: device number k is the node's k-th port. */
static int device_file(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	bool umad = i % 2 == 0;

	if (i / 2 >= n_ports(t, ret->node))
		return -1;
	ret->port = first_port(t, ret->node) + i / 2;
	if (ret->kind == PLACE_DEV)
		ret->kind = umad ? PLACE_UMAD : PLACE_ISSM;
	else
		ret->kind = umad ? PLACE_MAD_UMAD : PLACE_MAD_ISSM;
	snprintf(name, TREE_NAME_MAX, "%s%u", umad ? "umad" : "issm", i / 2);
	return is_present(t, ret->node, ret->port);
}

static bool any_present(const struct tree *t, int node)
{
	bool any = false;

	for (unsigned i = 0; i < n_ports(t, node); i++)
		any |= is_present(t, node, first_port(t, node) + i);
	return any;
}

static int port_folder(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	if (i >= n_ports(t, ret->node))
		return -1;
	ret->kind = PLACE_PORT;
	ret->port = first_port(t, ret->node) + i;
	snprintf(name, TREE_NAME_MAX, "%u", ret->port);
	return is_present(t, ret->node, ret->port);
}

static int node_folder(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	if (i >= sim_n_nodes(t->sim))
		return -1;
	*ret = (struct place){ .kind = PLACE_NODE, .node = (int)i };
	snprintf(name, TREE_NAME_MAX, "%u", i);
	return 1;
}

static int mad_class_entry(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	if (i > 0)
		return device_file(t, i - 1, name, ret);
	snprintf(name, TREE_NAME_MAX, "abi_version");
	ret->kind = PLACE_ABI;
	return 1;
}

static int ib_class_entry(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	if (i > 0)
		return -1;
	snprintf(name, TREE_NAME_MAX, "sim0");
	ret->kind = PLACE_DEVICE;
	return any_present(t, ret->node);
}

static int device_entry(unsigned i, char *name, struct place *ret)
{
	if (i == 0) {
		snprintf(name, TREE_NAME_MAX, "ports");
		ret->kind = PLACE_PORTS;
		return 1;
	}
	ret->kind = PLACE_DEVICE_TEXT;
	return text_entry(device_texts, ARRAY_SIZE(device_texts), i - 1, name, ret);
}

static int port_entry(unsigned i, char *name, struct place *ret)
{
	if (i < ARRAY_SIZE(in_port))
		return FIXED(in_port, i, name, ret);
	ret->kind = PLACE_PORT_TEXT;
	return text_entry(port_texts, ARRAY_SIZE(port_texts), i - ARRAY_SIZE(in_port), name, ret);
}

static int table_entry(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	uint8_t attr[SMP_DATA_SIZE];

	if (ret->kind == PLACE_GIDS) {
		port_info(t, ret, attr);
		ret->kind = PLACE_GID;
		return numbered(i, (unsigned)ib_get(attr, PI_GUID_CAP), name, ret);
	}
	node_info(t, ret, attr);
	ret->kind = PLACE_PKEY;
	return numbered(i, (unsigned)ib_get(attr, NI_PARTITION_CAP), name, ret);
}

bool tree_is_folder(enum place_kind kind)
{
	switch (kind) {
	case PLACE_ROOT:
	case PLACE_NODE_LIST:
	case PLACE_NODE:
	case PLACE_DEV:
	case PLACE_SYS:
	case PLACE_NET:
	case PLACE_MAD_CLASS:
	case PLACE_MAD_UMAD:
	case PLACE_MAD_ISSM:
	case PLACE_IB_CLASS:
	case PLACE_DEVICE:
	case PLACE_PORTS:
	case PLACE_PORT:
	case PLACE_GIDS:
	case PLACE_PKEYS:
		return true;
	default:
		return false;
	}
}

int tree_entry(const struct tree *t, const struct place *folder, unsigned i, char name[TREE_NAME_MAX],
	       struct place *ret)
{
	*ret = *folder;
	switch (folder->kind) {
	case PLACE_ROOT:
		return FIXED(in_root, i, name, ret);
	case PLACE_NODE_LIST:
		return node_folder(t, i, name, ret);
	case PLACE_NODE:
		return FIXED(in_node, i, name, ret);
	case PLACE_DEV:
		return device_file(t, i, name, ret);
	case PLACE_SYS:
		return FIXED(in_sys, i, name, ret);
	case PLACE_MAD_CLASS:
		return mad_class_entry(t, i, name, ret);
	case PLACE_MAD_UMAD:
	case PLACE_MAD_ISSM:
		return FIXED(in_mad, i, name, ret);
	case PLACE_IB_CLASS:
		return ib_class_entry(t, i, name, ret);
	case PLACE_DEVICE:
		return device_entry(i, name, ret);
	case PLACE_PORTS:
		return port_folder(t, i, name, ret);
	case PLACE_PORT:
		return port_entry(i, name, ret);
	case PLACE_GIDS:
	case PLACE_PKEYS:
		return table_entry(t, i, name, ret);
	default:
		return -1;
	}
}

bool tree_lookup(const struct tree *t, const struct place *folder, const char *name, struct place *ret)
{
	char have[TREE_NAME_MAX];
	struct place p;
	uint64_t number;
	int r;

	/* The list of nodes is long. */
	if (folder->kind == PLACE_NODE_LIST) {
		if (str_to_u64(name, 10, UINT32_MAX, &number) < 0 || node_folder(t, (unsigned)number, have, &p) < 0)
			return false;
		*ret = p;
		return true;
	}
	for (unsigned i = 0; (r = tree_entry(t, folder, i, have, &p)) >= 0; i++)
		if (r > 0 && !strcmp(have, name)) {
			*ret = p;
			return true;
		}
	return false;
}
