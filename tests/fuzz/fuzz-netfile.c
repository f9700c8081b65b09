// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as a net file. A refusal names its place in printable text; what is accepted is a
 * fabric whose cables agree, and what is written of it reads back to the same text.
 */
#include "sim/netfile/netfile.h"

#include <stdlib.h>
#include <string.h>

#include "ib/attrs.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_printable(const char *text)
{
	for (; *text; text++)
		require(*text >= ' ' && *text <= '~');
}

static void require_place(const char *err)
{
	unsigned line, column;

	require(sscanf(err, "%u:%u: ", &line, &column) == 2 && line && column);
	require_printable(err);
}

static void require_port(const struct netfile *net, size_t i, unsigned p)
{
	const struct netfile_port *port = &net->nodes[i].ports[p], *back;

	require(port->lid <= LID_MAX_UCAST && port->lmc <= 7);
	if (port->peer_node < 0)
		return;
	require(p && (size_t)port->peer_node < net->n_nodes);
	require(port->peer_port && port->peer_port <= net->nodes[port->peer_node].nports);
	back = &net->nodes[port->peer_node].ports[port->peer_port];
	require((size_t)back->peer_node == i && back->peer_port == p);
}

static void require_sound(const struct netfile *net)
{
	for (size_t i = 0; i < net->n_nodes; i++) {
		const struct netfile_node *node = &net->nodes[i];

		require(node->type >= IB_NODE_CA && node->type <= IB_NODE_ROUTER);
		require(node->nports && node->nports <= IB_MAX_PORTS);
		require(node->id[0] && node->desc[0] && node->guid);
		require_printable(node->id);
		require_printable(node->desc);
		for (unsigned p = 0; p <= node->nports; p++)
			require_port(net, i, p);
	}
}

static char *write_text(const struct netfile *net, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	require(out);
	netfile_write(net, out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(netfile_freep) struct netfile *net = NULL, *again = NULL;
	_cleanup_free_ char *first = NULL, *second = NULL;
	size_t first_len, second_len;
	char err[200] = "";

	net = netfile_parse((const char *)input, len, err, sizeof(err));
	if (!net) {
		require_place(err);
		return 0;
	}
	require_sound(net);
	first = write_text(net, &first_len);
	again = netfile_parse(first, first_len, err, sizeof(err));
	require(again);
	second = write_text(again, &second_len);
	require(first_len == second_len && !memcmp(first, second, first_len));
	return 0;
}
