// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files with one line per port, which describe nodes only by what their ports say:
 *
 *   SW    11  4 0x0000000000200003 4x SDR - SW    19  4 0x0000000000200005 ( 'leaf4' - 'spine2' )
 *   { CA-SM Ports:01 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {h0} LID:0001 \
 *     PN:01 } { ... } PHY=4x LOG=ACT SPD=2.5
 *
 * The first (ibnetdiscover -p) has no node GUIDs of CAs, neither has LMCs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "topo/topofile_internal.h"
#include "util/mem.h"
#include "util/str.h"

struct end {
	enum topofile_type type;
	guid_t node_guid, port_guid, sysimg_guid;
	unsigned lid, number, n_ports; /* n_ports 0: not said */
	uint32_t vendor, device;
	const char *name;
	size_t name_len;
};

static bool type_of(const char *word, enum topofile_type *ret)
{
	for (unsigned type = TOPOFILE_SWITCH; type <= TOPOFILE_ROUTER; type++)
		if (!strncasecmp(word, ib_node_row(topofile_node_type(type))->list, 2)) {
			*ret = type;
			return true;
		}
	return false;
}

/* The node's id; it is made when it is seen for the first time. */
static uint32_t node_of(struct topofile_reader *t, const struct end *e, const struct line *line)
{
	char text[24];
	struct topofile_node node = {
		.type = e->type,
		.guid = e->node_guid,
		.port_guid = e->port_guid,
		.sysimg_guid = e->sysimg_guid,
		.vendor = e->vendor,
		.device = e->device,
		.n_ports = (uint8_t)e->n_ports,
	};
	uint32_t id;

	snprintf(text, sizeof(text), "%c-%016" PRIx64,
		 ib_node_row(topofile_node_type(e->type))->letter, e->node_guid);
	id = topofile_id(t, text, strlen(text));
	if (t->draft_of[id] != TOPO_NONE)
		return id;
	if (e->type == TOPOFILE_SWITCH)
		node.lid = (lid_t)e->lid;
	node.name = topofile_clean_name(e->name, e->name_len);
	topofile_add_node(t, &node, id, !e->n_ports, &line->at);
	return id;
}

static bool end_is_sound(struct topofile_reader *t, const struct end *e, const struct line *line)
{
	if (e->node_guid && e->lid <= LID_MAX_UCAST && e->number && e->number <= IB_MAX_PORTS &&
	    e->n_ports <= IB_MAX_PORTS)
		return true;
	topofile_expected(t, line, line->text,
			  "a GUID that is not 0, a unicast LID, and ports of 1 to 254");
	return false;
}

/* One end of the cable; the other one is `peer` (NULL: none). */
static void claim_end(struct topofile_reader *t, const struct end *e, const struct end *peer,
		      const struct topofile_port *rate, const struct line *line)
{
	struct topofile_claim claim = { .port = *rate, .line = line->at.line };

	claim.port.node = node_of(t, e, line);
	claim.port.number = (uint8_t)e->number;
	if (e->type != TOPOFILE_SWITCH) {
		claim.port.guid = e->port_guid;
		claim.port.lid = (lid_t)e->lid;
	}
	claim.peer_id = node_of(t, peer, line);
	claim.peer_number = (uint8_t)peer->number;
	*topofile_add_claim(t) = claim;
}

static bool add_cable(struct topofile_reader *t, const struct end *a, const struct end *b,
		      const struct topofile_port *rate, const struct line *line)
{
	t->current = TOPO_NONE;
	t->lmc_unknown = true;
	if (!end_is_sound(t, a, line) || !end_is_sound(t, b, line))
		return true;
	claim_end(t, a, b, rate, line);
	claim_end(t, b, a, rate, line);
	return true;
}

/* --- ibnetdiscover -p ----------------------------------------------------------------------- */

/* 'name' up to `until`; moves *p behind it. False: no such text. */
static bool take_quoted(const char **p, const char *until, struct end *e)
{
	const char *end = strstr(*p, until);

	if (!end)
		return false;
	e->name = *p;
	e->name_len = (size_t)(end - *p);
	*p = end + strlen(until);
	return true;
}

bool topofile_ports_line(struct topofile_reader *t, struct line *line)
{
	struct end a = { .name = "" }, b = { .name = "" };
	struct topofile_port rate = { 0 };
	char one[3], two[3], width[8], speed[12], text[24];
	int n = 0, m = 0;
	const char *p;

	if (sscanf(line->text, " %2[A-Za-z] %5u %3u 0x%16" SCNx64 " %7[0-9xX?] %11s %n", one,
		   &a.lid, &a.number, &a.port_guid, width, speed, &n) != 6 ||
	    !n || !type_of(one, &a.type))
		return false;
	p = line->text + n;
	if (*p != '-')
		return *p == '\'' || !*p; /* no cable */
	if (sscanf(p, "- %2[A-Za-z] %5u %3u 0x%16" SCNx64 " %n", two, &b.lid, &b.number,
		   &b.port_guid, &m) != 4 ||
	    !m || !type_of(two, &b.type))
		return false;
	p = strstr(p, "( '");
	if (p && (p += 3, take_quoted(&p, "' - '", &a)))
		take_quoted(&p, "' )", &b);
	a.node_guid = a.port_guid;
	b.node_guid = b.port_guid;
	snprintf(text, sizeof(text), "%s%s", width, speed);
	topofile_rate(text, &rate);
	return add_cable(t, &a, &b, &rate, line);
}

/* --- opensm-subnet.lst ---------------------------------------------------------------------- */

/* "} LID:0001 PN:01 }", which ends a name. NULL: not here. Returns what follows. */
static const char *take_place(const char *p, struct end *e)
{
	int n = 0;

	return sscanf(p, "} LID:%4X PN:%2X }%n", &e->lid, &e->number, &n) == 2 && n ? p + n : NULL;
}

static const char *take_end(const char *p, struct end *e, const char *then)
{
	char type[8];
	const char *place, *after;
	int n = 0;

	if (sscanf(p,
		   " { %7[A-Za-z-] Ports:%2X SystemGUID:%16" SCNx64 " NodeGUID:%16" SCNx64
		   " PortGUID:%16" SCNx64 " VenID:%8" SCNx32 " DevID:%8" SCNx32 " Rev:%*8X {%n",
		   type, &e->n_ports, &e->sysimg_guid, &e->node_guid, &e->port_guid, &e->vendor,
		   &e->device, &n) != 7 ||
	    !n || !type_of(type, &e->type))
		return NULL;
	e->name = p + n;
	/* A name may have brackets; it ends where the line goes on as it should. */
	for (place = strchr(e->name, '}'); place; place = strchr(place + 1, '}')) {
		after = take_place(place, e);
		if (!after || !str_starts(after, then))
			continue;
		e->name_len = (size_t)(place - e->name);
		return after;
	}
	return NULL;
}

static void rate_of_lst(const char *p, struct topofile_port *rate)
{
	char speed[8] = "", text[16];
	unsigned width = 0;

	if (sscanf(p, " PHY=%2ux LOG=%*3[A-Z?] SPD=%7s", &width, speed) < 1)
		return;
	for (unsigned i = 0; i < IB_SPEEDS; i++)
		if (!strcmp(speed, ib_speeds[i].dump)) {
			snprintf(text, sizeof(text), "%ux%s", width, ib_speeds[i].name);
			topofile_rate(text, rate);
			return;
		}
	rate->width = (uint8_t)width;
}

bool topofile_lst_line(struct topofile_reader *t, struct line *line)
{
	struct end a = { .name = "" }, b = { .name = "" };
	struct topofile_port rate = { 0 };
	const char *p = line->text;

	if (*p != '{')
		return false;
	p = take_end(p, &a, " { ");
	if (p)
		p = take_end(p, &b, " PHY=");
	if (!p)
		return false;
	a.vendor &= 0xFFFFFF;
	b.device >>= 16; /* shown shifted on the right */
	rate_of_lst(p, &rate);
	return add_cable(t, &a, &b, &rate, line);
}
