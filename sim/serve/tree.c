// SPDX-License-Identifier: BSD-2-Clause
/* The tree of names; see tree.h. Each kind of folder is a row that lists its entries. */
#include "sim/serve/tree.h"

#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"
#include "ib/mad.h"
#include "util/mem.h"
#include "util/str.h"

/* kind, device, node, port, row side by side; 1 is the root for FUSE. */
uint64_t tree_number(const struct place *p)
{
	if (p->kind == PLACE_ROOT)
		return TREE_ROOT;
	return (uint64_t)p->kind << 56 | (uint64_t)p->device << 48 |
	       (uint64_t)(uint32_t)p->node << 24 |
	       (uint64_t)p->port << 16 | p->row;
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

static bool is_present(const struct tree *t, const struct place *p)
{
	return t->present(t->owner, p->node, p->device, p->port);
}

static const struct host *host_at(const struct tree *t, int node)
{
	return t->host(t->owner, node);
}

bool tree_place(const struct tree *t, uint64_t number, struct place *ret)
{
	struct place p = {
		.kind = (enum place_kind)(number >> 56), .node = (int)(number >> 24 & 0xFFFFFF),
		.device = number >> 48 & 0xFF, .port = number >> 16 & 0xFF, .row = number & 0xFFFF,
	};

	if (number == TREE_ROOT)
		p = (struct place){ .kind = PLACE_ROOT };
	if (p.kind < PLACE_ROOT || p.kind > PLACE_PKEY || (unsigned)p.node >= sim_n_nodes(t->sim))
		return false;
	*ret = p;
	return true;
}

/* ---- texts of /sys/class ---- */

enum text_form {
	TEXT_AS_IS,
	TEXT_DECIMAL,
	TEXT_HEX,
	TEXT_HEX_0X,
	TEXT_HEX_MASK,
	TEXT_GUID,
	TEXT_NODE_TYPE,
	TEXT_PORT_STATE,
	TEXT_PHYS_STATE,
	TEXT_RATE,
	TEXT_STRING
};

/* A file of /sys/class: a field of what an attribute says, in the form of the kernel. */
struct text_row {
	const char *name;
	enum text_form form;
	unsigned offset, width; /* place in bits; see layout.h */
	const char *as_is;
};

#define FIELD(name, form, field) { name, form, field, field##_W, NULL }

/* From NodeInfo; TEXT_STRING is NodeDescription. */
static const struct text_row device_texts[] = {
	FIELD("node_type", TEXT_NODE_TYPE, NI_NODE_TYPE),
	FIELD("node_guid", TEXT_GUID, NI_NODE_GUID),
	FIELD("sys_image_guid", TEXT_GUID, NI_SYSTEM_IMAGE_GUID),
	{ "node_desc", TEXT_STRING, 0, 0, NULL },
	{ "fw_ver", TEXT_AS_IS, 0, 0, "1.0.0" },
	FIELD("hw_rev", TEXT_HEX, NI_REVISION),
	{ "hca_type", TEXT_AS_IS, 0, 0, "simulated" },
	{ "board_id", TEXT_AS_IS, 0, 0, "simulated" },
};

/* Files with a field of PortInfo. */
static const struct text_row port_texts[] = {
	FIELD("state", TEXT_PORT_STATE, PI_PORT_STATE),
	FIELD("phys_state", TEXT_PHYS_STATE, PI_PHYS_STATE),
	FIELD("lid", TEXT_HEX_0X, PI_LID),
	FIELD("lid_mask_count", TEXT_DECIMAL, PI_LMC),
	FIELD("sm_lid", TEXT_HEX_0X, PI_MASTER_SM_LID),
	FIELD("sm_sl", TEXT_DECIMAL, PI_MASTER_SM_SL),
	FIELD("cap_mask", TEXT_HEX_MASK, PI_CAP_MASK),
	{ "rate", TEXT_RATE, 0, 0, NULL },
	{ "link_layer", TEXT_AS_IS, 0, 0, "InfiniBand" },
};

/* The kernel's text: tenths of Gb/s of data, without the name of SDR. */
static int text_rate(const uint8_t *pi, char *text)
{
	const struct ib_speed *s;
	unsigned lanes, tenths;

	s = ib_speed_of(ib_link_speed(pi, ib_speed_sets(pi), false));
	s = s ? s : ib_speed_of(IB_SPEED_SDR);
	lanes = ib_link_width(pi);
	lanes = lanes ? lanes : 4;
	tenths = (s->tenths == IB_SPEED_FDR10 ? IB_SPEED_QDR : s->tenths) * lanes;
	return snprintf(text, TREE_TEXT_MAX, "%u%s Gb/sec (%uX%s%s)\n", tenths / 10,
			tenths % 10 ? ".5" : "", lanes, s->tenths == IB_SPEED_SDR ? "" : " ",
			s->tenths == IB_SPEED_SDR ? "" : s->name);
}

static int text_guid(uint64_t guid, char *text)
{
	return snprintf(text, TREE_TEXT_MAX, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48),
			(unsigned)(guid >> 32 & 0xFFFF), (unsigned)(guid >> 16 & 0xFFFF),
			(unsigned)(guid & 0xFFFF));
}

static int text_number(const struct text_row *row, const uint8_t *info, char *text)
{
	const uint64_t value = ib_bits_get(info, row->offset, row->width);
	const unsigned u = (unsigned)value;

	switch (row->form) {
	case TEXT_DECIMAL:
		return snprintf(text, TREE_TEXT_MAX, "%u\n", u);
	case TEXT_HEX:
		return snprintf(text, TREE_TEXT_MAX, "%x\n", u);
	case TEXT_HEX_0X:
		return snprintf(text, TREE_TEXT_MAX, "0x%x\n", u);
	case TEXT_HEX_MASK:
		return snprintf(text, TREE_TEXT_MAX, "0x%08x\n", u);
	case TEXT_NODE_TYPE:
		return snprintf(text, TREE_TEXT_MAX, "%u: %s\n", u, ib_node_row(u)->sysfs);
	case TEXT_PORT_STATE:
		return snprintf(text, TREE_TEXT_MAX, "%u: %s\n", u, ib_port_state_row(u)->sysfs);
	case TEXT_PHYS_STATE:
		return snprintf(text, TREE_TEXT_MAX, "%u: %s\n", u, ib_phys_state_row(u)->sysfs);
	default:
		return text_guid(value, text);
	}
}

/* `attr`, `modifier`: the attribute that the row is a field of. */
static int text_field(const struct tree *t, const struct place *p, const struct text_row *row,
		      uint16_t attr, uint32_t modifier, char *text)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	sim_read(t->sim, p->node, attr, modifier, info);
	switch (row->form) {
	case TEXT_AS_IS:
		return snprintf(text, TREE_TEXT_MAX, "%s\n", row->as_is);
	case TEXT_STRING:
		return snprintf(text, TREE_TEXT_MAX, "%.64s\n", (const char *)info);
	case TEXT_RATE:
		return text_rate(info, text);
	default:
		return text_number(row, info, text);
	}
}

static int text_of_device(const struct tree *t, const struct place *p, char *text)
{
	const struct text_row *row = &device_texts[p->row % ARRAY_SIZE(device_texts)];
	const bool is_desc = row->form == TEXT_STRING;

	return text_field(t, p, row, is_desc ? IB_ATTR_NODE_DESC : IB_ATTR_NODE_INFO, 0, text);
}

/* Ports of Ethernet are there and ACTIVE, like many that a manager must pass by. */
static int text_of_ethernet(const struct text_row *row, char *text)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	if (row->form == TEXT_AS_IS)
		return snprintf(text, TREE_TEXT_MAX, "Ethernet\n");
	ib_put(info, PI_PORT_STATE, IB_PORT_ACTIVE);
	ib_put(info, PI_PHYS_STATE, IB_PHYS_LINK_UP);
	return row->form == TEXT_RATE ? text_rate(info, text) : text_number(row, info, text);
}

/* Text of the drivers for the two devices of a split node. False: that of any port. */
static bool text_of_split(const struct tree *t, const struct place *p, const struct text_row *row,
			  char *text, int *ret)
{
	const struct host *h = host_at(t, p->node);
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	if (!h->split || p->device != DEVICE_MAIN)
		return false;
	sim_read(t->sim, p->node, IB_ATTR_PORT_INFO, p->port | PI_MOD_EXTENDED_SPEEDS, info);
	ib_put(info, PI_CAP_MASK, (ib_get(info, PI_CAP_MASK) & ~(uint64_t)IB_CAP(IB_CAP_IS_SM)) |
					  IB_CAP(IB_CAP_SM_DISABLED));
	if (h->gmp_lid)
		ib_put(info, PI_LID, h->gmp_lid);
	if (row->offset != PI_CAP_MASK && row->offset != PI_LID)
		return false;
	*ret = text_number(row, info, text);
	return true;
}

static int text_of_port(const struct tree *t, const struct place *p, char *text)
{
	const struct text_row *row = &port_texts[p->row % ARRAY_SIZE(port_texts)];
	int n;

	if (p->device >= DEVICE_ETHERNET)
		return text_of_ethernet(row, text);
	if (text_of_split(t, p, row, text, &n))
		return n;
	return text_field(t, p, row, IB_ATTR_PORT_INFO, p->port | PI_MOD_EXTENDED_SPEEDS, text);
}

static int text_gid(const struct tree *t, const struct place *p, char *text)
{
	uint8_t gid[16] = { 0 };
	int n = 0;

	sim_port_gid(t->sim, p->node, p->port, p->row, gid);
	for (unsigned i = 0; i < 8; i++)
		n += snprintf(text + n, TREE_TEXT_MAX - (size_t)n, "%s%02x%02x", i ? ":" : "",
			      gid[2 * i], gid[2 * i + 1]);
	return n + snprintf(text + n, TREE_TEXT_MAX - (size_t)n, "\n");
}

static int text_device_name(const struct tree *t, const struct place *p, char *text)
{
	char name[DEVICE_NAME_MAX];

	host_device(host_at(t, p->node), p->device, name);
	return snprintf(text, TREE_TEXT_MAX, "%s\n", name);
}

size_t tree_text(const struct tree *t, const struct place *p, char text[TREE_TEXT_MAX])
{
	int n = 0;

	switch (p->kind) {
	case PLACE_DEVICE_TEXT:
		n = text_of_device(t, p, text);
		break;
	case PLACE_PORT_TEXT:
		n = text_of_port(t, p, text);
		break;
	case PLACE_GID:
		n = text_gid(t, p, text);
		break;
	case PLACE_PKEY:
		n = snprintf(text, TREE_TEXT_MAX, "0x%04x\n",
			     sim_port_pkey(t->sim, p->node, p->port, p->row));
		break;
	case PLACE_ABI:
		n = snprintf(text, TREE_TEXT_MAX, "5\n");
		break;
	case PLACE_MAD_IBDEV:
		n = text_device_name(t, p, text);
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
	{ "nodes", PLACE_NODES }, { "keys", PLACE_KEYS },   { "state", PLACE_STATE },
	{ "pkeys", PLACE_ALL_PKEYS },
	{ "node", PLACE_NODE_LIST },
};
static const struct fixed in_node[] = { { "dev", PLACE_DEV }, { "sys", PLACE_SYS } };
static const struct fixed in_sys[] = {
	{ "infiniband", PLACE_IB_CLASS },
	{ "infiniband_mad", PLACE_MAD_CLASS },
	{ "net", PLACE_NET },
};
static const struct fixed in_port[] = { { "gids", PLACE_GIDS }, { "pkeys", PLACE_PKEYS } };
static const struct fixed in_mad[] = { { "ibdev", PLACE_MAD_IBDEV }, { "port", PLACE_MAD_PORT } };

static int fixed_entry(const struct fixed *rows, size_t n, unsigned i, char *name,
		       struct place *ret)
{
	if (i >= n)
		return -1;
	snprintf(name, TREE_NAME_MAX, "%s", rows[i].name);
	ret->kind = rows[i].kind;
	return 1;
}

#define FIXED(rows, i, name, ret) fixed_entry(rows, ARRAY_SIZE(rows), i, name, ret)

static int text_entry(const struct text_row *rows, size_t n, unsigned i, char *name,
		      struct place *ret)
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

/* The port that device file number `k` is of: Ethernet first, then sim0's ports, then smi0's. */
static bool file_port(const struct tree *t, unsigned k, struct place *ret)
{
	const struct host *h = host_at(t, ret->node);
	unsigned n = n_ports(t, ret->node);

	if (k < h->ethernet) {
		ret->device = DEVICE_ETHERNET + k;
		ret->port = 1;
		return true;
	}
	k -= h->ethernet;
	ret->device = k < n ? DEVICE_MAIN : DEVICE_SMI;
	ret->port = first_port(t, ret->node) + k % n;
	return k < n || (h->split && k < 2 * n);
}

/* Has this device an issm file? The one that SMPs leave by. */
static bool has_issm(const struct tree *t, const struct place *p)
{
	return p->device == (host_at(t, p->node)->split ? DEVICE_SMI : DEVICE_MAIN);
}

/* umad0, issm0, umad1 ... */
static int device_file(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	bool umad = i % 2 == 0;

	if (!file_port(t, i / 2, ret))
		return -1;
	if (ret->kind == PLACE_DEV)
		ret->kind = umad ? PLACE_UMAD : PLACE_ISSM;
	else
		ret->kind = umad ? PLACE_MAD_UMAD : PLACE_MAD_ISSM;
	snprintf(name, TREE_NAME_MAX, "%s%u", umad ? "umad" : "issm", i / 2);
	return (umad || has_issm(t, ret)) && is_present(t, ret);
}

/* Ports of Ethernet devices are number 1 of one. */
static unsigned device_ports(const struct tree *t, const struct place *p)
{
	return p->device >= DEVICE_ETHERNET ? 1 : n_ports(t, p->node);
}

static unsigned device_first_port(const struct tree *t, const struct place *p)
{
	return p->device >= DEVICE_ETHERNET ? 1 : first_port(t, p->node);
}

static bool any_present(const struct tree *t, const struct place *device)
{
	struct place p = *device;
	bool any = false;

	for (unsigned i = 0; i < device_ports(t, device); i++) {
		p.port = device_first_port(t, device) + i;
		any |= is_present(t, &p);
	}
	return any;
}

static int port_folder(const struct tree *t, unsigned i, char *name, struct place *ret)
{
	if (i >= device_ports(t, ret))
		return -1;
	ret->kind = PLACE_PORT;
	ret->port = device_first_port(t, ret) + i;
	snprintf(name, TREE_NAME_MAX, "%u", ret->port);
	return is_present(t, ret);
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
	const struct host *h = host_at(t, ret->node);

	if (i >= DEVICE_ETHERNET + h->ethernet)
		return -1;
	ret->kind = PLACE_DEVICE;
	ret->device = i;
	return host_device(h, i, name) && any_present(t, ret);
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
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	if (ret->kind == PLACE_GIDS) {
		sim_read(t->sim, ret->node, IB_ATTR_PORT_INFO, ret->port, info);
		ret->kind = PLACE_GID;
		return numbered(i, (unsigned)ib_get(info, PI_GUID_CAP), name, ret);
	}
	sim_read(t->sim, ret->node, IB_ATTR_NODE_INFO, 0, info);
	ret->kind = PLACE_PKEY;
	return numbered(i, (unsigned)ib_get(info, NI_PARTITION_CAP), name, ret);
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

int tree_entry(const struct tree *t, const struct place *folder, unsigned i,
	       char name[TREE_NAME_MAX], struct place *ret)
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

bool tree_lookup(const struct tree *t, const struct place *folder, const char *name,
		 struct place *ret)
{
	char have[TREE_NAME_MAX];
	struct place p;
	uint64_t number;
	int r;

	/* The list of nodes is long. */
	if (folder->kind == PLACE_NODE_LIST) {
		if (str_to_u64(name, 10, UINT32_MAX, &number) < 0 ||
		    node_folder(t, (unsigned)number, have, &p) < 0)
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
