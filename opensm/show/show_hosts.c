// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ports of many hosts by name at once: one walk over the nodes of the published view, whatever
 * the number of names.
 *
 * A name of the node-name map counts before what nodes say of themselves: no host can set it. The
 * adapters of a host have names that begin with its own and differ behind it ("node17 mlx5_0",
 * "node17 mlx5_1"): the name stands for all their ports. As any host may describe itself so, this
 * holds for descriptions only where the map names no host, and where no description is the name
 * alone. Everything else that several nodes answer to is refused.
 *
 * Rights may be taken from what is away, too: nodes that left the fabric are found by the names
 * that they had.
 */
#include <assert.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/mem.h"

#define ADAPTERS_MAX 16 /* most adapters of one host */

static const struct name_ranks ranks = { { NAME_MAPPED, NAME_MAPPED_WORD,
					   NAME_DESC | NAME_DESC_WORD } };
static const struct name_ranks gone_ranks = { { NAME_DESC | NAME_DESC_WORD } };

struct hosts {
	const struct view *view;
	struct names *names; /* names of nodes of the view */
	struct names *gone;  /* names of nodes that left, struct daemon_gone */
	bool map_has_hosts;
};

/* ---- nodes ---------------------------------------------------------------------------------- */

static void add_nodes(struct hosts *h)
{
	for (uint32_t i = 0; i < h->view->n_nodes; i++) {
		const struct view_node *n = &h->view->nodes[i];
		const char *name = view_node_name(h->view, n);
		bool is_mapped = name != n->desc;

		names_add(h->names, n, is_mapped ? name : NULL, n->desc);
		h->map_has_hosts |= is_mapped && n->type == IB_NODE_CA;
	}
}

/* Adds nodes that left and have not come back. */
static void add_gone(struct hosts *h, const struct daemon_memory *memory)
{
	for (size_t i = 0; i < DAEMON_GONE; i++) {
		const struct daemon_gone *g = &memory->gone[i];

		if (g->node_guid && g->port_guid && !view_find_node(h->view, g->node_guid))
			names_add(h->gone, g, NULL, g->name);
	}
}

/* ---- one word -------------------------------------------------------------------------------- */

static const struct view_node *node_at(const struct name *name, size_t i)
{
	return name->nodes[i];
}

static bool is_like_another(const struct hosts *h, const struct name *name, size_t i)
{
	bool is_mapped = name->kinds & (NAME_MAPPED | NAME_MAPPED_WORD);
	const struct view_node *n = node_at(name, i);

	for (size_t k = 0; k < i; k++) {
		const struct view_node *other = node_at(name, k);

		if (is_mapped ? !strcmp(view_node_name(h->view, other), view_node_name(h->view, n))
			      : !strcmp(other->desc, n->desc))
			return true;
	}
	return false;
}

/* Adapters, all different. */
static bool is_one_host(const struct hosts *h, const struct name *name)
{
	bool is_whole = name->kinds & (NAME_MAPPED | NAME_DESC);

	if (!(name->kinds & NAME_MAPPED_WORD) && (is_whole || h->map_has_hosts))
		return false;
	if (name->n > ADAPTERS_MAX)
		return false;
	for (size_t i = 0; i < name->n; i++)
		if (node_at(name, i)->type != IB_NODE_CA || is_like_another(h, name, i))
			return false;
	return true;
}

/* `by_port`: a port of it is asked for, which one node has. */
static bool is_unique(const struct hosts *h, const struct name *name, bool by_port,
		      struct control_error *err)
{
	char guids[SHOW_GUIDS];

	if (name->n == 1 || (!by_port && is_one_host(h, name)))
		return true;
	return control_fail(err, "InvalidParameter",
			    "'%.*s' is the name of %zu nodes (%s): name the GUIDs of the ports "
			    "that are meant",
			    (int)MIN(name->len, 64u), name->text, name->n,
			    show_guids(name, 4, guids));
}

static bool one_port(const struct hosts *h, const struct view_node *n, const char *word,
		     const char *port, guid_t *ret, struct control_error *err)
{
	uint32_t at = VIEW_NONE;
	uint64_t num;

	if (show_number(port, UINT8_MAX, &num))
		at = view_node_port(n, (unsigned)num);
	*ret = at == VIEW_NONE ? 0 : h->view->ports[at].guid;
	if (*ret)
		return true;
	return control_fail(err, "NotFound", "'%.64s' names no end port of its node", word);
}

static void tell_node(const struct hosts *h, const struct view_node *n, size_t at,
		      show_host_fn *port, void *arg)
{
	for (unsigned num = 0; num <= n->n_ports; num++) {
		uint32_t i = view_node_port(n, num);

		if (i != VIEW_NONE && h->view->ports[i].guid)
			port(arg, at, h->view->ports[i].guid, false);
	}
}

/* Returns whether there are any. */
static bool tell_gone(const struct hosts *h, const char *word, size_t at, show_host_fn *port,
		      void *arg)
{
	const struct name *name = names_find(h->gone, word);

	for (size_t i = name ? name->n : 0; i-- > 0;)
		port(arg, at, ((const struct daemon_gone *)name->nodes[i])->port_guid, true);
	return name != NULL;
}

/* Calls `port` for the ports of a word. False: `err`. */
static bool tell_ports(const struct hosts *h, const char *word, size_t at, show_host_fn *port,
		       void *arg, struct control_error *err)
{
	const char *number;
	const struct name *name = names_find_port(h->names, word, &number);
	bool is_gone = tell_gone(h, word, at, port, arg);
	guid_t guid;

	if (!name && is_gone)
		return true;
	if (!name)
		return control_fail(err, "NotFound",
				    "no node in the fabric has the name '%.64s'; a host that is "
				    "off can be named by the GUIDs of its ports",
				    word);
	if (!is_unique(h, name, number != NULL, err))
		return false;
	if (number) {
		if (!one_port(h, node_at(name, 0), word, number, &guid, err))
			return false;
		port(arg, at, guid, false);
		return true;
	}
	for (size_t i = 0; i < name->n; i++)
		tell_node(h, node_at(name, i), at, port, arg);
	return true;
}

bool show_hosts(const struct daemon_api *api, const char *const *words, size_t n, bool also_gone,
		show_host_fn *port, void *arg, struct control_error *err)
{
	struct hosts h = { .view = api->sm ? sm_view(api->sm) : NULL };
	bool found = true;

	assert(words && port && err);
	if (!h.view)
		return control_fail(err, "NotReady",
				    "names of hosts are known to the master, once the subnet is "
				    "up");
	h.names = names_new(&ranks, words, n);
	h.gone = names_new(&gone_ranks, words, n);
	add_nodes(&h);
	if (also_gone)
		add_gone(&h, &api->memory);
	for (size_t i = 0; found && i < n; i++)
		found = tell_ports(&h, words[i], i, port, arg, err);
	names_free(h.names);
	names_free(h.gone);
	return found;
}
