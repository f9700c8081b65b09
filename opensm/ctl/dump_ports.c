// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports and cables as text: opensm-subnet.lst (files.md 3) and the table of ports (files.md 9).
 */
#include "ctl/dump_files.h"

#include "util/mem.h"

struct name {
	unsigned value;
	const char *text;
};

/* `other` for a value that has no row. */
static const char *name_of(const struct name *rows, size_t n, unsigned value, const char *other)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].value == value)
			return rows[i].text;
	return other;
}

#define NAME_OF(rows, value, other) name_of((rows), ARRAY_SIZE(rows), (value), (other))

static const struct name speeds[] = { /* tenths of Gb/s per lane */
	{ 25, "2.5" }, { 50, "5" },   { 100, "10" }, { 103, "FDR10" },
	{ 140, "14" }, { 250, "25" }, { 500, "50" }, { 1000, "100" },
};
static const struct name widths[] = {
	{ 1, "1x" }, { 2, "2x" }, { 4, "4x" }, { 8, "8x" }, { 12, "12x" },
};
static const struct name states[] = {
	{ IB_PORT_DOWN, "DWN" },
	{ IB_PORT_INIT, "INI" },
	{ IB_PORT_ARMED, "ARM" },
	{ IB_PORT_ACTIVE, "ACT" },
};
static const struct name mtus[] = {
	{ IB_MTU_256, "256" },	 { IB_MTU_512, "512" },	  { IB_MTU_1024, "1024" },
	{ IB_MTU_2048, "2048" }, { IB_MTU_4096, "4096" },
};

/* ---- opensm-subnet.lst --------------------------------------------------------------------- */

static const struct name list_types[] = {
	{ IB_NODE_CA, "CA" },
	{ IB_NODE_SWITCH, "SW" },
	{ IB_NODE_ROUTER, "Rt" },
};

/* Readers take the first closing brace for the end. */
static void description(struct dump_out *o, const char *text)
{
	out_lit(o, "{");
	for (; *text; text++) {
		char c = *text == '{' ? '(' : *text == '}' ? ')' : *text;

		out_bytes(o, &c, 1);
	}
	out_lit(o, "}");
}

static void vendor_and_device(struct dump_out *o, const struct dump_node *n, bool is_left)
{
	out_lit(o, " VenID:");
	out_hex_upper(o, n->vendor_id, is_left ? 6 : 8);
	out_lit(o, " DevID:");
	/* as the peer does */
	out_hex_upper(o, is_left ? n->device_id : (uint32_t)n->device_id << 16, 4);
}

static void list_end(const struct dump_view *v, struct dump_out *o, const struct dump_port *p,
		     bool is_left)
{
	const struct dump_node *n = &v->nodes[p->node];

	out_lit(o, "{ ");
	out_text(o, NAME_OF(list_types, n->type, "**"));
	if (p->lid && p->lid == p->sm_lid)
		out_lit(o, "-SM");
	out_lit(o, " Ports:");
	out_hex_upper(o, n->n_ports, 2);
	out_lit(o, " SystemGUID:");
	out_hex(o, n->sysimg_guid, 16);
	out_lit(o, " NodeGUID:");
	out_hex(o, n->guid, 16);
	out_lit(o, " PortGUID:");
	out_hex(o, p->guid, 16);
	vendor_and_device(o, n, is_left);
	out_lit(o, " Rev:");
	out_hex_upper(o, n->revision, 8);
	out_lit(o, " ");
	description(o, dump_node_name(n));
	out_lit(o, " LID:");
	out_hex_upper(o, p->lid, 4);
	out_lit(o, " PN:");
	out_hex_upper(o, p->num, 2);
	out_lit(o, " }");
}

static void list_line(const struct dump_view *v, struct dump_out *o, const struct dump_port *p)
{
	const struct dump_port *peer = &v->ports[p->peer];

	list_end(v, o, p, true);
	out_lit(o, " ");
	list_end(v, o, peer, false);
	out_lit(o, " PHY=");
	out_text(o, NAME_OF(widths, p->width, "??"));
	out_lit(o, " LOG=");
	out_text(o, NAME_OF(states, p->state, "DWN")); /* readers refuse any other word */
	out_lit(o, " SPD=");
	out_text(o, NAME_OF(speeds, peer->ext_capable ? p->speed : p->speed_plain, "??"));
	out_lit(o, "\n");
}

void dump_subnet(const struct dump_source *s, struct dump_out *o)
{
	const struct dump_view *v = s->view;

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct dump_node *n = &v->nodes[s->order[i]];

		for (unsigned num = 1; num <= n->n_ports; num++) {
			const struct dump_port *p = &v->ports[n->first_port + num];

			if (p->peer != DUMP_NONE)
				list_line(v, o, p);
		}
	}
}

/* ---- the table of ports -------------------------------------------------------------------- */

static const struct name table_types[] = {
	{ IB_NODE_CA, "CA" },
	{ IB_NODE_SWITCH, "SW" },
	{ IB_NODE_ROUTER, "RT" },
};

/* First three bytes of a GUID, as assigned by the IEEE; those that the peer knows. */
static const struct name vendors[] = {
	{ 0x0001FF, "DataDirect" }, { 0x000255, "IBM" },	 { 0x0002C9, "Mellanox" },
	{ 0x0003BA, "Sun" },	    { 0x000453, "YottaYotta" },	 { 0x0005AD, "Topspin" },
	{ 0x000617, "Redswitch" },  { 0x00066A, "SilverStorm" }, { 0x00084E, "DivergeNet" },
	{ 0x0008F1, "Voltaire" },   { 0x000B5D, "Fujitsu" },	 { 0x000B8C, "Flextronics" },
	{ 0x000BC1, "BayMicro" },   { 0x001175, "PathScale" },	 { 0x001393, "Panta" },
	{ 0x001397, "Xsigo" },	    { 0x001405, "OpenIB" },	 { 0x0016A1, "3LeafNtwks" },
	{ 0x001708, "HP" },	    { 0x001777, "Obsidian" },	 { 0x00188B, "Dell" },
	{ 0x0018FE, "HP" },	    { 0x0019BB, "HP" },		 { 0x002128, "Sun" },
	{ 0x00237D, "HP" },	    { 0x003048, "SuperMicro" },	 { 0x0030D3, "Agilent" },
	{ 0x005045, "Rioworks" },   { 0x00A0B8, "LSILogic" },	 { 0x00D0B7, "Intel" },
	{ 0x00E000, "Fujitsu" },    { 0x080038, "Bull" },	 { 0x248A07, "Mellanox" },
	{ 0x506B4B, "Mellanox" },   { 0x7CFE90, "Mellanox" },	 { 0x98039B, "Mellanox" },
	{ 0xE41D2D, "Mellanox" },   { 0xEC0D9A, "Mellanox" },	 { 0xF45214, "Mellanox" },
};

static void padded(struct dump_out *o, const char *text, size_t width)
{
	size_t len = strlen(text);

	out_text(o, text);
	for (; len < width; len++)
		out_lit(o, " ");
}

static void rule(struct dump_out *o, char c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		out_bytes(o, &c, 1);
	out_lit(o, "\n");
}

static void table_addresses(struct dump_out *o, const struct dump_port *p, bool is_end)
{
	if (!is_end) {
		out_lit(o, " :      :     ");
		return;
	}
	out_lit(o, " : ");
	out_hex_upper(o, p->lid, 4);
	out_lit(o, " :  ");
	out_dec(o, p->lmc, 1);
	out_lit(o, "  ");
}

static void table_link(struct dump_out *o, const struct dump_port *p)
{
	out_lit(o, ": ");
	padded(o, NAME_OF(mtus, p->mtu, "???"), 4);
	out_lit(o, " : ");
	padded(o, NAME_OF(widths, p->width, "???"), 3);
	out_lit(o, " : ");
	padded(o, NAME_OF(speeds, p->ext_capable ? p->speed : p->speed_plain, "????"), 4);
}

static void table_neighbor(const struct dump_view *v, struct dump_out *o, const struct dump_port *p)
{
	if (p->peer != DUMP_NONE) {
		out_lit(o, " ");
		out_hex(o, v->ports[p->peer].guid, 16);
		out_lit(o, " (");
		out_hex_upper(o, v->ports[p->peer].num, 2);
		out_lit(o, ")");
	} else if (p->num && p->state != IB_PORT_DOWN) {
		out_lit(o, " UNKNOWN");
	}
	out_lit(o, "\n");
}

static void table_row(const struct dump_view *v, struct dump_out *o, const struct dump_port *p)
{
	const struct dump_node *n = &v->nodes[p->node];
	bool is_switch = n->type == IB_NODE_SWITCH;
	bool is_base0 = is_switch && !p->num && !n->is_enhanced;

	padded(o, NAME_OF(vendors, (unsigned)(n->guid >> 40), "Unknown"), 11);
	out_lit(o, " : ");
	out_text(o, NAME_OF(table_types, n->type, "??"));
	out_lit(o, " : ");
	out_hex_upper(o, p->num, 2);
	out_lit(o, " : ");
	out_text(o, is_base0 ? "   " : NAME_OF(states, p->state, "???"));
	table_addresses(o, p, !is_switch || !p->num);
	if (is_base0)
		out_lit(o, ":      :     :     ");
	else
		table_link(o, p);
	out_text(o, p->is_own ? " * " : " : ");
	out_hex(o, p->guid, 16);
	out_text(o, p->is_own ? " *" : " :");
	table_neighbor(v, o, p);
}

void dump_table(const struct dump_source *s, struct dump_out *o)
{
	const struct dump_view *v = s->view;

	out_lit(o, "\n");
	rule(o, '=', 103);
	out_text(o, "Vendor      : Ty : #  : Sta : LID  : LMC : MTU  : LWA : LSA  : "
		    "Port GUID        : Neighbor Port (Port #)\n");
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct dump_node *n = &v->nodes[s->order[i]];
		bool is_switch = n->type == IB_NODE_SWITCH;

		for (unsigned num = is_switch ? 0 : 1; num <= n->n_ports; num++) {
			const struct dump_port *p = &v->ports[n->first_port + num];

			if (is_switch || p->known)
				table_row(v, o, p);
		}
		rule(o, '-', 102);
	}
}
