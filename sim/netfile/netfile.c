// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric of a net file in memory, and how it is written down. Reading is netfile_parse.c.
 */
#include "sim/netfile/netfile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ib/attrs.h"
#include "util/mem.h"
#include "util/str.h"

struct netfile *netfile_new(void)
{
	struct netfile *net = xcalloc(1, sizeof(*net));

	net->next_guid[IB_NODE_CA] = 0x100000;
	net->next_guid[IB_NODE_SWITCH] = 0x200000;
	net->next_guid[IB_NODE_ROUTER] = 0x300000;
	return net;
}

struct netfile *netfile_free(struct netfile *net)
{
	if (!net)
		return NULL;
	for (size_t i = 0; i < net->n_nodes; i++)
		free(net->nodes[i].ports);
	free(net->nodes);
	free(net);
	return NULL;
}

/* A switch takes one GUID, the others one for the node and one per port. */
static guid_t take_guid(struct netfile *net, uint8_t type, uint8_t nports)
{
	guid_t guid = net->next_guid[type & 3];

	net->next_guid[type & 3] += type == IB_NODE_SWITCH ? 1 : nports + 1u;
	return guid;
}

int netfile_add(struct netfile *net, uint8_t type, const char *id, uint8_t nports, guid_t guid)
{
	struct netfile_node *node;

	GROW(net->nodes, net->n_nodes + 1, net->cap_nodes);
	node = &net->nodes[net->n_nodes];
	*node = (struct netfile_node){ .type = type, .nports = nports };
	node->guid = guid ? guid : take_guid(net, type, nports);
	node->sysimg_guid = node->guid;
	str_printable(id, strlen(id), node->id, sizeof(node->id));
	memcpy(node->desc, node->id, sizeof(node->desc));
	node->ports = xcalloc(nports + 1u, sizeof(*node->ports));
	for (unsigned p = 0; p <= nports; p++) {
		node->ports[p].peer_node = -1;
		if (p && type != IB_NODE_SWITCH)
			node->ports[p].guid = node->guid + p;
	}
	return (int)net->n_nodes++;
}

static struct netfile_port *find_port(const struct netfile *net, int node, uint8_t port)
{
	if (node < 0 || (size_t)node >= net->n_nodes || !port || port > net->nodes[node].nports)
		return NULL;
	return &net->nodes[node].ports[port];
}

int netfile_link(struct netfile *net, int a, uint8_t a_port, int b, uint8_t b_port)
{
	struct netfile_port *from = find_port(net, a, a_port), *to = find_port(net, b, b_port);

	if (!from || !to)
		return -EINVAL;
	if (from->peer_node >= 0 || to->peer_node >= 0)
		return -EBUSY;
	from->peer_node = b;
	from->peer_port = b_port;
	to->peer_node = a;
	to->peer_port = a_port;
	return 0;
}

int netfile_find(const struct netfile *net, const char *id_or_desc)
{
	for (size_t i = 0; i < net->n_nodes; i++)
		if (!strcmp(net->nodes[i].id, id_or_desc))
			return (int)i;
	for (size_t i = 0; i < net->n_nodes; i++)
		if (!strcmp(net->nodes[i].desc, id_or_desc))
			return (int)i;
	return -1;
}

static const char *speed_name(unsigned speed)
{
	const struct ib_speed *s = ib_speed_of(speed);

	return (s ? s : ib_speed_of(NETFILE_DEFAULT_SPEED))->name;
}

static const char *printable_desc(const struct netfile_node *node, char ret[sizeof(node->desc)])
{
	str_printable(node->desc, sizeof(node->desc) - 1, ret, sizeof(node->desc));
	return ret[0] ? ret : node->id;
}

/* "4xEDR"; of a slow cable "1xSDR (4xEDR)". */
static void write_rate(const struct netfile_port *port, FILE *out)
{
	unsigned width = port->width ? port->width : NETFILE_DEFAULT_WIDTH;
	bool slow = port->cable_width || port->cable_speed;

	if (slow)
		fprintf(out, " %ux%s", port->cable_width ? port->cable_width : width,
			speed_name(port->cable_speed ? port->cable_speed : port->speed));
	if (slow || port->width || port->speed)
		fprintf(out, slow ? " (%ux%s)" : " %ux%s", width, speed_name(port->speed));
}

/*
 * Writes ibnetdiscover's comment behind a cable: own LID (not on switches), peer, its LID, the
 * link.
 */
static void write_tail(const struct netfile *net, const struct netfile_node *node,
		       const struct netfile_port *port, FILE *out)
{
	const struct netfile_node *peer = &net->nodes[port->peer_node];
	bool peer_is_switch = peer->type == IB_NODE_SWITCH, own_lid = node->type != IB_NODE_SWITCH;
	char desc[sizeof(peer->desc)];

	if (!port->width && !port->speed && !port->cable_width && !port->cable_speed &&
	    !port->silent && !(own_lid && (port->lid || port->lmc)))
		return;
	fputs("\t\t# ", out);
	if (own_lid)
		fprintf(out, "lid %u lmc %u ", port->lid, port->lmc);
	fprintf(out, "\"%s\" lid %u", printable_desc(peer, desc),
		peer->ports[peer_is_switch ? 0 : port->peer_port].lid);
	write_rate(port, out);
	if (port->silent)
		fputs(" silent", out);
}

static void write_port(const struct netfile *net, const struct netfile_node *node, unsigned number,
		       FILE *out)
{
	const struct netfile_port *port = &node->ports[number];
	const struct netfile_node *peer;

	if (port->peer_node < 0)
		return;
	peer = &net->nodes[port->peer_node];
	fprintf(out, "[%u]", number);
	if (node->type != IB_NODE_SWITCH)
		fprintf(out, "(%" PRIx64 ")", port->guid);
	fprintf(out, "\t\"%s\"[%u]", peer->id, port->peer_port);
	if (peer->type != IB_NODE_SWITCH)
		fprintf(out, "(%" PRIx64 ")", peer->ports[port->peer_port].guid);
	write_tail(net, node, port, out);
	fputc('\n', out);
}

static void write_head(const struct netfile_node *node, FILE *out)
{
	const struct ib_node_row *type = ib_node_row(node->type);
	char desc[sizeof(node->desc)];

	fprintf(out, "vendid=0x%x\ndevid=0x%x\nsysimgguid=0x%" PRIx64 "\n%s=0x%" PRIx64,
		node->vendor_id, node->device_id, node->sysimg_guid, type->key, node->guid);
	if (node->type == IB_NODE_SWITCH)
		fprintf(out, "(%" PRIx64 ")", node->guid);
	fprintf(out, "\n%s\t%u \"%s\"\t\t# \"%s\"", type->net, node->nports, node->id,
		printable_desc(node, desc));
	if (node->type == IB_NODE_SWITCH)
		fprintf(out, " %s port 0 lid %u lmc %u", node->enhanced_port0 ? "enhanced" : "base",
			node->ports[0].lid, node->ports[0].lmc);
	if (node->silent)
		fputs(" silent", out);
	fputc('\n', out);
}

void netfile_write(const struct netfile *net, FILE *out)
{
	for (size_t i = 0; i < net->n_nodes; i++) {
		const struct netfile_node *node = &net->nodes[i];

		write_head(node, out);
		for (unsigned p = 1; p <= node->nports; p++)
			write_port(net, node, p, out);
		fputc('\n', out);
	}
}
