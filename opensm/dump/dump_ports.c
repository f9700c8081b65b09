// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports and cables as text: opensm-subnet.lst (files.md 3) and the table of ports (files.md 9).
 */
#include "dump/dump_internal.h"

#include <inttypes.h>

#include "util/mem.h"

/* The peer's word; with extended speeds only if the node of `says`, a live link, knows them. */
static const char *speed_text(const struct view *v, const struct view_port *p,
			      const struct view_port *says, const char *other)
{
	bool extended = says->state != IB_PORT_DOWN && view_speed_sets(v, says) != IB_SPEED_PLAIN;
	enum ib_speed_set most =
		extended ? MAX(view_speed_sets(v, p), IB_SPEED_EXTENDED) : IB_SPEED_PLAIN;
	const struct ib_speed *s = p->state == IB_PORT_DOWN
					   ? NULL
					   : ib_speed_of(ib_link_speed(p->info, most, p->fdr10));

	return s ? s->dump : other;
}

static const char *width_text(const struct view_port *p, const char *other)
{
	const struct ib_width *w =
		p->state == IB_PORT_DOWN ? NULL : ib_width_of(ib_link_width(p->info));

	return w ? w->name : other;
}

/* ---- opensm-subnet.lst --------------------------------------------------------------------- */

/* Readers take the first closing brace for the end. */
static void write_description(struct dump_out *o, const char *text)
{
	out_lit(o, "{");
	for (; *text; text++) {
		char c = *text == '{' ? '(' : *text == '}' ? ')' : *text;

		out_bytes(o, &c, 1);
	}
	out_lit(o, "}");
}

#define PUT_HEX(name, put, value, width) (out_lit(o, name), put(o, value, width))

static void list_end(const struct view *v, struct dump_out *o, const struct view_port *p,
		     bool is_left)
{
	const struct view_node *n = &v->nodes[p->node];
	const struct view_port *end = &v->ports[view_end_port(v, (uint32_t)(p - v->ports))];
	bool is_sm = p->lid && p->lid == ib_get(end->info, PI_MASTER_SM_LID);

	out_lit(o, "{ ");
	out_text(o, ib_node_row(n->type)->list);
	if (is_sm)
		out_lit(o, "-SM");
	PUT_HEX(" Ports:", out_hex_upper, n->n_ports, 2);
	PUT_HEX(" SystemGUID:", out_hex, n->sysimg_guid, 16);
	PUT_HEX(" NodeGUID:", out_hex, n->guid, 16);
	PUT_HEX(" PortGUID:", out_hex, view_guid_of(v, p), 16);
	/* Widths, and the place of the device, are those of the peer. */
	PUT_HEX(" VenID:", out_hex_upper, n->vendor_id, is_left ? 6 : 8);
	PUT_HEX(" DevID:", out_hex_upper,
		is_left ? n->device_id : (uint32_t)n->device_id << 16, 4);
	PUT_HEX(" Rev:", out_hex_upper, n->revision, 8);
	out_lit(o, " ");
	write_description(o, view_node_name(v, n));
	PUT_HEX(" LID:", out_hex_upper, p->lid, 4);
	PUT_HEX(" PN:", out_hex_upper, p->num, 2);
	out_lit(o, " }");
}

static void list_line(const struct view *v, struct dump_out *o, const struct view_port *p)
{
	const struct view_port *peer = &v->ports[p->peer];

	list_end(v, o, p, true);
	out_lit(o, " ");
	list_end(v, o, peer, false);
	/* Readers refuse any other word for the state. */
	out_printf(
		o, " PHY=%s LOG=%s SPD=%s\n", width_text(p, "??"),
		ib_port_state_row(p->state <= IB_PORT_ACTIVE && p->state ? p->state : IB_PORT_DOWN)
			->dump,
		speed_text(v, p, peer, "??"));
}

void dump_subnet(const struct dump_source *s, struct dump_out *o)
{
	const struct view *v = s->view;

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct view_node *n = &v->nodes[s->order[i]];

		for (unsigned num = 1; num <= n->n_ports; num++) {
			const struct view_port *p = &v->ports[view_node_port(n, num)];

			if (p->peer != VIEW_NONE)
				list_line(v, o, p);
		}
	}
}

/* ---- the table of ports -------------------------------------------------------------------- */

/* First three bytes of a GUID, as assigned by the IEEE; those that the peer knows. */
static const struct {
	unsigned oui;
	const char *name;
} vendors[] = {
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

static const char *vendor_of(guid_t guid)
{
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (vendors[i].oui == guid >> 40)
			return vendors[i].name;
	return "Unknown";
}

static void write_rule(struct dump_out *o, char c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		out_bytes(o, &c, 1);
	out_lit(o, "\n");
}

static void table_link(const struct view *v, struct dump_out *o, const struct view_port *p)
{
	unsigned bytes = p->state == IB_PORT_DOWN
				 ? 0
				 : ib_mtu_bytes((unsigned)ib_get(p->info, PI_NEIGHBOR_MTU));
	char mtu[12] = "???";

	if (bytes)
		snprintf(mtu, sizeof(mtu), "%u", bytes);
	out_printf(o, ": %-4s : %-3s : %-4s", mtu, width_text(p, "???"),
		   speed_text(v, p, p, "????"));
}

static void table_neighbor(const struct view *v, struct dump_out *o, const struct view_port *p)
{
	if (p->peer != VIEW_NONE) {
		out_printf(o, " %016" PRIx64 " (%02X)", view_guid_of(v, &v->ports[p->peer]),
			   v->ports[p->peer].num);
	} else if (p->num && p->state != IB_PORT_DOWN) {
		out_lit(o, " UNKNOWN");
	}
	out_lit(o, "\n");
}

static void table_row(const struct view *v, struct dump_out *o, const struct view_port *p)
{
	const struct view_node *n = &v->nodes[p->node];
	bool is_own =
		v->sm_port != VIEW_NONE && view_end_port(v, (uint32_t)(p - v->ports)) == v->sm_port;
	bool is_switch = n->type == IB_NODE_SWITCH;
	bool is_base0 = is_switch && !p->num && !view_is_enhanced0(n);

	out_printf(o, "%-11s : %s : %02X : %s", vendor_of(n->guid), ib_node_row(n->type)->table,
		   p->num, is_base0 ? "   " : ib_port_state_row(p->state)->dump);
	if (is_switch && p->num)
		out_lit(o, " :      :     ");
	else
		out_printf(o, " : %04X :  %u  ", p->lid, p->lmc);
	if (is_base0)
		out_lit(o, ":      :     :     ");
	else
		table_link(v, o, p);
	out_printf(o, " %c %016" PRIx64 " %c", is_own ? '*' : ':', view_guid_of(v, p),
		   is_own ? '*' : ':');
	table_neighbor(v, o, p);
}

void dump_table(const struct dump_source *s, struct dump_out *o)
{
	const struct view *v = s->view;

	out_lit(o, "\n");
	write_rule(o, '=', 103);
	out_text(o, "Vendor      : Ty : #  : Sta : LID  : LMC : MTU  : LWA : LSA  : "
		    "Port GUID        : Neighbor Port (Port #)\n");
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct view_node *n = &v->nodes[s->order[i]];
		bool is_switch = n->type == IB_NODE_SWITCH;

		for (unsigned num = is_switch ? 0 : 1; num <= n->n_ports; num++) {
			const struct view_port *p = &v->ports[view_node_port(n, num)];

			if (is_switch || p->known)
				table_row(v, o, p);
		}
		write_rule(o, '-', 102);
	}
}
