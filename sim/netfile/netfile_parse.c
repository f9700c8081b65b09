// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads net files: lines become nodes and cable ends at once; cables are tied when all ids are
 * known, because an id may be used before its node is described. Says line and column of the first
 * thing that is wrong. Writing is netfile.c.
 *
 * ibnetdiscover hides facts in comments: behind "#" of a node its description and LID, behind "#"
 * of a port its LID and the link. There, what is not recognised is a comment and ignored.
 */
#include "sim/netfile/netfile.h"

#include <errno.h>
#include <string.h>

#include "ib/attrs.h"
#include "sim/netfile/netfile_scan.h"
#include "util/guidmap.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/str.h"

/* One end of a cable, as described by the port it is plugged into. */
struct cable {
	int node;
	uint8_t port, remote_port;
	uint8_t remote_len;
	const char *remote; /* id, in the text */
	const char *line;   /* for error messages */
	unsigned number;
};

/* Width and speed of a link as masks of enabled values; 0: not given. */
struct link_masks {
	uint8_t width, speed, extended;
};

struct parser {
	struct scan scan;
	struct netfile *net;
	struct guidmap *ids; /* hash of id → index + 1 */
	struct guidmap *node_guids, *port_guids;
	struct cable *cables;
	size_t n_cables, cap_cables, n_ports;
	int node; /* node whose ports are being described; -1: none */
	uint32_t vendor_id;
	uint16_t device_id;
	guid_t sysimg_guid;
	bool sysimg_given;
	struct link_masks link; /* width= speed= extspeed= */
};

/*
 * Ids: guidmap keyed by a hash; a collision takes the next key.
 */

/* Index of the node or -1; `*ret_key` is where it is or belongs. */
static int find_id(const struct parser *parser, const char *id, size_t len, guid_t *ret_key)
{
	for (guid_t key = hash_bytes(HASH_START, id, len);; key++) {
		uintptr_t place;
		const char *known;

		if (!key)
			continue;
		*ret_key = key;
		place = (uintptr_t)guidmap_get(parser->ids, key);
		if (!place)
			return -1;
		known = parser->net->nodes[place - 1].id;
		if (strlen(known) == len && !memcmp(known, id, len))
			return (int)(place - 1);
	}
}

/* Claims `guid` for `owner` (index + 1); -EEXIST if another has it. */
static int claim_guid(struct guidmap *map, guid_t guid, int owner)
{
	const void *holder = guid ? guidmap_get(map, guid) : NULL;

	if (!guid)
		return 0;
	if (holder)
		return (uintptr_t)holder == (uintptr_t)owner + 1 ? 0 : -EEXIST;
	guidmap_put(map, guid, (void *)(uintptr_t)(owner + 1));
	return 0;
}

/*
 * Nodes.
 */

/* From behind "#": everything between the first and the last quote, which may contain quotes. */
static bool take_description(struct scan *scan, const char **ret, size_t *ret_len)
{
	const char *last = scan->end;

	scan_blanks(scan);
	if (!scan_next_is(scan, '"'))
		return false;
	while (last[-1] != '"')
		last--;
	if (last - 1 == scan->p)
		return false;
	*ret = scan->p + 1;
	*ret_len = (size_t)(last - 1 - *ret);
	scan->p = last;
	return true;
}

/* "lid L" and "lmc M", each if there. */
static int read_lid(struct scan *scan, lid_t *lid, uint8_t *lmc)
{
	uint64_t value = 0;
	int r = 0;

	if (scan_take_word(scan, "lid")) {
		scan_blanks(scan);
		if (scan_take_word(scan, "65535")) /* no driver has been loaded there */
			value = LID_PERMISSIVE;
		else
			r = scan_number(scan, 0, LID_MAX_UCAST, &value);
		if (r < 0)
			return r;
		*lid = (lid_t)value;
	}
	if (scan_take_word(scan, "lmc")) {
		scan_blanks(scan);
		r = scan_u8(scan, 7, lmc);
	}
	return r;
}

static int parse_node_comment(struct scan *scan, struct netfile_node *node)
{
	const char *desc;
	size_t len;
	int r;

	if (!scan_take(scan, '#') || !take_description(scan, &desc, &len))
		return 0;
	str_printable(desc, len, node->desc, sizeof(node->desc));
	if (!node->desc[0])
		memcpy(node->desc, node->id, sizeof(node->desc));
	node->silent = scan_take_word(scan, "silent");
	if (node->type != IB_NODE_SWITCH)
		return 0;
	if (scan_take_word(scan, "enhanced"))
		node->enhanced_port0 = true;
	else
		scan_take_word(scan, "base");
	if (!scan_take_word(scan, "port") || !scan_take_word(scan, "0"))
		return 0;
	r = read_lid(scan, &node->ports[0].lid, &node->ports[0].lmc);
	node->silent |= scan_take_word(scan, "silent");
	return r;
}

/* Puts `vendid=` and its like to use; all but devid are for one node only. */
static void apply_keys(struct parser *parser, struct netfile_node *node)
{
	node->vendor_id = parser->vendor_id;
	node->device_id = parser->device_id;
	if (parser->sysimg_given)
		node->sysimg_guid = parser->sysimg_guid;
	parser->vendor_id = 0;
	parser->sysimg_given = false;
}

static int add_node(struct parser *parser, uint8_t type, const char *id, size_t len, uint8_t nports)
{
	struct scan *scan = &parser->scan;
	struct netfile *net = parser->net;
	char name[SCAN_ID_MAX + 1] = "";
	guid_t key;
	int node;

	if (find_id(parser, id, len, &key) >= 0)
		return scan_fail_at(scan, id, "a second node '%.*s', expected a new id", (int)len,
				    id);
	if (net->n_nodes >= NETFILE_MAX_NODES)
		return scan_fail_at(scan, id, "more than %u nodes", NETFILE_MAX_NODES);
	parser->n_ports += nports + 1u;
	if (parser->n_ports > NETFILE_MAX_PORTS)
		return scan_fail_at(scan, id, "more than %u ports", NETFILE_MAX_PORTS);
	memcpy(name, id, len);
	node = netfile_add(net, type, name, nports, 0);
	guidmap_put(parser->ids, key, (void *)(uintptr_t)(node + 1));
	apply_keys(parser, &net->nodes[node]);
	if (!net->nodes[node].guid)
		return scan_fail_at(scan, id, "no GUID is left for '%.*s'", (int)len, id);
	if (claim_guid(parser->node_guids, net->nodes[node].guid, node) < 0)
		return scan_fail_at(scan, id, "a second node with GUID 0x%llx",
			       (unsigned long long)net->nodes[node].guid);
	parser->node = node;
	return 0;
}

/* `Switch 36 "id" # "description" base port 0 lid 5 lmc 0`, `Ca 2 "id" # "description"`. */
static int parse_node(struct parser *parser, uint8_t type)
{
	struct scan *scan = &parser->scan;
	const char *id, *start;
	uint8_t nports;
	size_t len;
	int r;

	scan_blanks(scan);
	start = scan->p;
	r = scan_u8(scan, IB_MAX_PORTS, &nports);
	if (r == 0 && !nports)
		r = scan_fail_at(scan, start, "0 ports, expected 1 to %d", IB_MAX_PORTS);
	if (r == 0)
		r = scan_id(scan, &id, &len);
	if (r == 0)
		r = scan_end_of_line(scan);
	if (r == 0)
		r = add_node(parser, type, id, len, nports);
	if (r < 0)
		return r;
	return parse_node_comment(scan, &parser->net->nodes[parser->node]);
}

/*
 * Cables.
 */

static uint8_t lanes_of(uint8_t mask)
{
	const struct ib_width *w = ib_widest(mask);

	return w ? w->lanes : 0;
}

/* The fastest enabled speed: rows are in rising order. */
static uint16_t speed_of(const struct link_masks *link)
{
	for (size_t i = IB_SPEEDS; i-- > 0;) {
		const struct ib_speed *row = &ib_speeds[i];

		if (row->bit[IB_SPEED_PLAIN] & link->speed ||
		    row->bit[IB_SPEED_EXTENDED] & link->extended)
			return row->tenths;
	}
	return 0;
}

/* "w=2 s=4 e=0", any of them. */
static int read_masks(struct scan *scan, struct link_masks *link)
{
	int r = 0;

	while (r == 0) {
		scan_blanks(scan);
		if (scan->end - scan->p < 2 || scan->p[1] != '=' || !strchr("wse", scan->p[0]))
			return 0;
		scan->p += 2;
		switch (scan->p[-2]) {
		case 'w':
			r = scan_u8(scan, 31, &link->width);
			break;
		case 's':
			r = scan_u8(scan, 7, &link->speed);
			break;
		case 'e':
			r = scan_u8(scan, 15, &link->extended);
			break;
		}
	}
	return r;
}

/* "4xQDR"; other words are a comment, and leave both as they are. */
static int read_rate(struct scan *scan, uint8_t *ret_width, uint16_t *ret_speed)
{
	const struct ib_speed *speed;
	unsigned lanes = 0;
	const char *start;

	scan_blanks(scan);
	start = scan->p;
	while (scan->p < scan->end && *scan->p >= '0' && *scan->p <= '9' && scan->p - start < 3)
		lanes = lanes * 10 + (unsigned)(*scan->p++ - '0');
	if (scan->p == start || !scan_take(scan, 'x'))
		return 0;
	if (!ib_width_of(lanes))
		return scan_fail_at(scan, start, "%u lanes, expected 1, 2, 4, 8 or 12", lanes);
	speed = ib_speed_named(scan->p, scan_word_len(scan));
	if (!speed)
		return scan_fail(scan, "SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR");
	scan->p += scan_word_len(scan);
	*ret_width = (uint8_t)lanes;
	*ret_speed = speed->tenths;
	return 0;
}

/* "4xEDR"; of a slow cable "1xSDR (4xEDR)"; then "silent". */
static int parse_link_name(struct scan *scan, struct netfile_port *port)
{
	int r = read_rate(scan, &port->width, &port->speed);

	if (r < 0)
		return r;
	scan_blanks(scan);
	if (port->width && scan_take(scan, '(')) {
		uint8_t width = port->width;
		uint16_t speed = port->speed;

		r = read_rate(scan, &port->width, &port->speed);
		scan_take(scan, ')');
		if (width != port->width || speed != port->speed) {
			port->cable_width = width;
			port->cable_speed = speed;
		}
	}
	port->silent = scan_take_word(scan, "silent");
	return r;
}

/* `# lid 4 lmc 0 "peer's description" lid 5 4xQDR`; switch ports lack the first two. */
static int parse_port_comment(struct scan *scan, bool on_switch, struct netfile_port *port)
{
	const char *desc;
	lid_t peer_lid;
	uint8_t peer_lmc;
	size_t len;
	int r = 0;

	if (!scan_take(scan, '#'))
		return 0;
	if (!on_switch)
		r = read_lid(scan, &port->lid, &port->lmc);
	if (r < 0 || !take_description(scan, &desc, &len))
		return r;
	r = read_lid(scan, &peer_lid, &peer_lmc);
	return r < 0 ? r : parse_link_name(scan, port);
}

/* `"id"[q](guid)`; the port number of the other end is 1 if it is not given. */
static int read_remote(struct parser *parser, struct cable *cable)
{
	struct scan *scan = &parser->scan;
	guid_t ignored;
	size_t len;
	int r = scan_id(scan, &cable->remote, &len);

	if (r < 0)
		return r;
	cable->remote_len = (uint8_t)len;
	cable->remote_port = 1;
	if (scan_next_is(scan, '['))
		r = scan_port(scan, IB_MAX_PORTS, &cable->remote_port);
	return r < 0 ? r : scan_port_guid(scan, &ignored);
}

/* "[p](guid)" of the port described; the GUID means nothing on a switch. */
static int read_own_port(struct parser *parser, struct netfile_node *node, struct cable *cable)
{
	struct scan *scan = &parser->scan;
	const char *start = scan->p;
	struct netfile_port *port;
	guid_t guid;
	int r = scan_port(scan, node->nports, &cable->port);

	if (r < 0)
		return r;
	port = &node->ports[cable->port];
	if (port->peer_node != -1)
		return scan_fail_at(scan, start, "port %u of '%s' is described twice", cable->port,
				    node->id);
	port->peer_node = -2; /* a mark until all ids are known */
	guid = port->guid;
	r = scan_port_guid(scan, &guid);
	if (r < 0 || node->type == IB_NODE_SWITCH)
		return r;
	port->guid = guid;
	if (claim_guid(parser->port_guids, guid, cable->node) < 0)
		return scan_fail_at(scan, start, "a second port with GUID 0x%llx",
				    (unsigned long long)guid);
	return 0;
}

static int parse_cable(struct parser *parser)
{
	struct scan *scan = &parser->scan;
	struct cable cable = { .node = parser->node, .line = scan->line, .number = scan->number };
	struct link_masks link = parser->link;
	struct netfile_node *node;
	struct netfile_port *port;
	int r;

	if (parser->node < 0)
		return scan_fail(scan, "Switch, Ca or Rt before its ports");
	node = &parser->net->nodes[parser->node];
	r = read_own_port(parser, node, &cable);
	if (r == 0)
		r = read_remote(parser, &cable);
	if (r == 0)
		r = read_masks(scan, &link);
	if (r == 0)
		r = scan_end_of_line(scan);
	if (r < 0)
		return r;
	port = &node->ports[cable.port];
	port->width = lanes_of(link.width);
	port->speed = speed_of(&link);
	GROW(parser->cables, parser->n_cables + 1, parser->cap_cables);
	parser->cables[parser->n_cables++] = cable;
	return parse_port_comment(scan, node->type == IB_NODE_SWITCH, port);
}

/* Points the port at the node its cable names. */
static int tie(struct parser *parser, const struct cable *cable)
{
	struct netfile_node *peer;
	struct netfile_port *port = &parser->net->nodes[cable->node].ports[cable->port];
	guid_t key;
	int found = find_id(parser, cable->remote, cable->remote_len, &key);

	if (found < 0)
		return scan_fail_at(&parser->scan, cable->remote, "no node '%.*s' is described",
			       cable->remote_len, cable->remote);
	peer = &parser->net->nodes[found];
	if (cable->remote_port > peer->nports)
		return scan_fail_at(&parser->scan, cable->remote, "port %u of '%s', which has %u",
			       cable->remote_port, peer->id, peer->nports);
	port->peer_node = found;
	port->peer_port = cable->remote_port;
	return 0;
}

static int check_other_end(struct parser *parser, const struct cable *cable)
{
	const struct netfile_node *nodes = parser->net->nodes, *node = &nodes[cable->node];
	const struct netfile_port *port = &node->ports[cable->port];
	const struct netfile_node *peer = &nodes[port->peer_node];
	const struct netfile_port *back = &peer->ports[port->peer_port];

	if (back->peer_node == cable->node && back->peer_port == cable->port)
		return 0;
	if (back->peer_node < 0)
		return scan_fail_at(&parser->scan, cable->remote,
				    "'%s' does not describe port %u, expected a cable to '%s'[%u]",
				    peer->id, port->peer_port, node->id, cable->port);
	return scan_fail_at(&parser->scan, cable->remote,
		       "port %u of '%s' leads to '%s'[%u], expected to '%s'[%u]", port->peer_port,
		       peer->id, nodes[back->peer_node].id, back->peer_port, node->id, cable->port);
}

static int tie_cables(struct parser *parser)
{
	int (*const passes[])(struct parser *, const struct cable *) = { tie, check_other_end };
	int r = 0;

	for (size_t pass = 0; pass < ARRAY_SIZE(passes); pass++) {
		for (size_t i = 0; i < parser->n_cables && r == 0; i++) {
			parser->scan.line = parser->cables[i].line;
			parser->scan.number = parser->cables[i].number;
			r = passes[pass](parser, &parser->cables[i]);
		}
	}
	return r;
}

/*
 * Lines.
 */

enum key_id {
	KEY_VENDOR,
	KEY_DEVICE,
	KEY_SYSIMG,
	KEY_CA_GUID,
	KEY_SWITCH_GUID,
	KEY_ROUTER_GUID,
	KEY_WIDTH,
	KEY_SPEED,
	KEY_EXTENDED,
};

static const struct key_row {
	const char *name;
	enum key_id id;
	uint64_t max;
} key_rows[] = {
	{ "vendid", KEY_VENDOR, 0xFFFFFF },
	{ "devid", KEY_DEVICE, 0xFFFF },
	{ "sysimgguid", KEY_SYSIMG, UINT64_MAX },
	{ "caguid", KEY_CA_GUID, UINT64_MAX },
	{ "hcaguid", KEY_CA_GUID, UINT64_MAX },
	{ "hcaguids", KEY_CA_GUID, UINT64_MAX },
	{ "switchguid", KEY_SWITCH_GUID, UINT64_MAX },
	{ "switchguids", KEY_SWITCH_GUID, UINT64_MAX },
	{ "rtguid", KEY_ROUTER_GUID, UINT64_MAX },
	{ "width", KEY_WIDTH, 31 },
	{ "speed", KEY_SPEED, 7 },
	{ "extspeed", KEY_EXTENDED, 15 },
};

/*
 * GUID 0 of routers, as ibnetdiscover prints it for ibsim, does not change the automatic numbering.
 */
static void set_next_guid(struct parser *parser, uint8_t type, guid_t guid)
{
	if (guid)
		parser->net->next_guid[type] = guid;
}

static void set_key(struct parser *parser, enum key_id id, uint64_t value)
{
	switch (id) {
	case KEY_VENDOR:
		parser->vendor_id = (uint32_t)value;
		break;
	case KEY_DEVICE:
		parser->device_id = (uint16_t)value;
		break;
	case KEY_SYSIMG:
		parser->sysimg_guid = value;
		parser->sysimg_given = true;
		break;
	case KEY_CA_GUID:
		set_next_guid(parser, IB_NODE_CA, value);
		break;
	case KEY_SWITCH_GUID:
		set_next_guid(parser, IB_NODE_SWITCH, value);
		break;
	case KEY_ROUTER_GUID:
		set_next_guid(parser, IB_NODE_ROUTER, value);
		break;
	case KEY_WIDTH:
		parser->link.width = (uint8_t)value;
		break;
	case KEY_SPEED:
		parser->link.speed = (uint8_t)value;
		break;
	case KEY_EXTENDED:
		parser->link.extended = (uint8_t)value;
		break;
	}
}

/* `key=value`, `switchguid=0x5(5)`. */
static int parse_key(struct parser *parser, const struct key_row *key)
{
	struct scan *scan = &parser->scan;
	guid_t ignored;
	uint64_t value;
	int r;

	scan_blanks(scan);
	r = scan_expect(scan, '=', "=");
	if (r < 0)
		return r;
	scan_blanks(scan);
	if (scan_next_is(scan, '+'))
		return scan_fail(scan, "an absolute GUID: relative ones are not understood");
	r = scan_number(scan, 0, key->max, &value);
	if (r == 0)
		r = scan_port_guid(scan, &ignored);
	if (r == 0)
		r = scan_end_of_line(scan);
	if (r == 0)
		set_key(parser, key->id, value);
	return r;
}

static int parse_statement(struct parser *parser)
{
	struct scan *scan = &parser->scan;

	for (uint8_t type = IB_NODE_CA; type <= IB_NODE_ROUTER; type++)
		if (scan_take_word(scan, ib_node_row(type)->net))
			return parse_node(parser, type);
	if (scan_take_word(scan, "Hca"))
		return parse_node(parser, IB_NODE_CA);
	parser->node = -1;
	for (size_t i = 0; i < ARRAY_SIZE(key_rows); i++)
		if (scan_take_word(scan, key_rows[i].name))
			return parse_key(parser, &key_rows[i]);
	/* Headings of `ibnetdiscover -g`. */
	if (scan_take_word(scan, "Chassis") || scan_take_word(scan, "Non"))
		return 0;
	return scan_fail(scan, "Switch, Ca, Rt, a port, a key=value or a comment");
}

static int parse_line(struct parser *parser)
{
	struct scan *scan = &parser->scan;

	scan_blanks(scan);
	if (scan->p == scan->end) {
		parser->node = -1; /* a blank line ends the node */
		return 0;
	}
	if (*scan->p == '#')
		return 0;
	return *scan->p == '[' ? parse_cable(parser) : parse_statement(parser);
}

static int parse_lines(struct parser *parser, const char *text, size_t len)
{
	const char *end = text + len;
	int r = 0;

	while (r == 0 && text < end) {
		struct scan *scan = &parser->scan;
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		scan->line = scan->p = text;
		scan->end = newline ? newline : end;
		scan->number++;
		text = newline ? newline + 1 : end;
		if (scan->end - scan->line > NETFILE_MAX_LINE)
			return scan_fail_at(scan, scan->line + NETFILE_MAX_LINE,
				       "the line goes on, expected at most %d characters",
				       NETFILE_MAX_LINE);
		if (scan->end > scan->line && scan->end[-1] == '\r')
			scan->end--;
		r = parse_line(parser);
	}
	return r < 0 ? r : tie_cables(parser);
}

static void parser_end(struct parser *parser)
{
	netfile_free(parser->net);
	guidmap_free(parser->ids);
	guidmap_free(parser->node_guids);
	guidmap_free(parser->port_guids);
	free(parser->cables);
}

struct netfile *netfile_parse(const char *text, size_t len, char *err, size_t err_len)
{
	_cleanup_(parser_end) struct parser parser = {
		.scan = { .err = err, .err_len = err_len, .line = text },
		.net = netfile_new(),
		.ids = guidmap_new(),
		.node_guids = guidmap_new(),
		.port_guids = guidmap_new(),
		.node = -1,
	};

	if (len > NETFILE_MAX_BYTES) {
		scan_fail_at(&parser.scan, text, "%zu bytes, expected at most %u", len,
			     NETFILE_MAX_BYTES);
		return NULL;
	}
	if (parse_lines(&parser, text, len) < 0)
		return NULL;
	return take(parser.net);
}
