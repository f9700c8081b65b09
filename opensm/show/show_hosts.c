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
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/bisect.h"
#include "util/mem.h"
#include "util/str.h"

#define ADAPTERS_MAX 16 /* of one host */
#define TOLD_MAX     4	/* nodes of an ambiguous name that are told */

/* How a node has a name; a higher one silences those below. */
enum likeness {
	BY_DESCRIPTION, /* all of it, or its first word */
	BY_WORD,	/* the first word of the map's name */
	BY_MAP,
};

/* A distinct name of the request. */
struct name {
	const char *text;
	size_t len;
	enum likeness likeness;
	bool is_whole; /* a description is the name alone */
	unsigned n;    /* nodes of that likeness; the first ones are kept */
	uint32_t nodes[ADAPTERS_MAX], last; /* indices; last: + 1 */
	uint16_t gone; /* 0: none, else index + 1 */
};

/* A node that left, under one of its names. */
struct gone {
	guid_t guid; /* of a port */
	uint16_t next;
};

struct names {
	struct view *view;
	struct name *all; /* in their order */
	size_t n;
	bool map_has_hosts;
	struct gone gone[2 * DAEMON_GONE];
	uint16_t n_gone;
};

/* Any order does; lengths first make it fast. */
static int compare_text(const char *a, size_t len_a, const char *b, size_t len_b)
{
	return len_a != len_b ? (len_a < len_b ? -1 : 1) : memcmp(a, b, len_a);
}

static int compare_names(const void *va, const void *vb)
{
	const struct name *a = va, *b = vb;

	return compare_text(a->text, a->len, b->text, b->len);
}

static struct name *find_name(const struct names *names, const char *text, size_t len)
{
	size_t at = BISECT(i, (size_t)0, names->n,
			   compare_text(names->all[i].text, names->all[i].len, text, len) < 0);
	struct name *name = at < names->n ? &names->all[at] : NULL;

	return name && !compare_text(name->text, name->len, text, len) ? name : NULL;
}

static void add_name(struct names *names, const char *text, size_t len)
{
	if (len)
		names->all[names->n++] = (struct name){ .text = text, .len = len };
}

/* Each once, in their order. */
static void sort_names(struct names *names)
{
	size_t n = 0;

	if (names->n)
		qsort(names->all, names->n, sizeof(names->all[0]), compare_names);
	for (size_t i = 0; i < names->n; i++)
		if (!n || compare_names(&names->all[n - 1], &names->all[i]))
			names->all[n++] = names->all[i];
	names->n = n;
}

/* The part of "name/port" before the port; 0: there is none. */
static size_t len_without_port(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? (size_t)(slash - word) : 0;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static const struct view_node *node_at(const struct names *names, const struct name *name,
				       unsigned i)
{
	return &names->view->nodes[name->nodes[i]];
}

static void note_node(struct names *names, uint32_t node, const char *text, size_t len,
		      enum likeness likeness, bool is_whole)
{
	struct name *name = find_name(names, text, len);

	if (!name || (name->n && name->likeness > likeness))
		return;
	if (name->likeness < likeness) {
		name->n = name->last = 0;
		name->likeness = likeness;
	}
	if (name->last == node + 1)
		return;
	name->is_whole = name->is_whole || is_whole;
	if (name->n < ADAPTERS_MAX)
		name->nodes[name->n] = node;
	name->n++;
	name->last = node + 1;
}

static void note_nodes(struct names *names)
{
	for (uint32_t i = 0; i < names->view->n_nodes; i++) {
		const struct view_node *n = &names->view->nodes[i];
		const char *name = view_node_name(names->view, n);

		if (name != n->desc) {
			note_node(names, i, name, strlen(name), BY_MAP, true);
			note_node(names, i, name, strcspn(name, " "), BY_WORD, false);
			names->map_has_hosts = names->map_has_hosts || n->type == IB_NODE_CA;
		}
		note_node(names, i, n->desc, strlen(n->desc), BY_DESCRIPTION, true);
		note_node(names, i, n->desc, strcspn(n->desc, " "), BY_DESCRIPTION, false);
	}
}

static void note_gone(struct names *names, const struct daemon_gone *g, size_t len)
{
	struct name *name = find_name(names, g->name, len);

	if (!name)
		return;
	names->gone[names->n_gone] = (struct gone){ .guid = g->port_guid, .next = name->gone };
	name->gone = ++names->n_gone;
}

/* Those that have not come back. */
static void note_all_gone(struct names *names, const struct daemon_memory *memory)
{
	for (size_t i = 0; i < DAEMON_GONE; i++) {
		const struct daemon_gone *g = &memory->gone[i];
		size_t len = strlen(g->name), word = strcspn(g->name, " ");

		if (!g->node_guid || !g->port_guid || view_find_node(names->view, g->node_guid))
			continue;
		note_gone(names, g, len);
		if (word < len)
			note_gone(names, g, word);
	}
}

static void names_clear(struct names *names)
{
	view_unref(names->view);
	free(names->all);
	free(names);
}

static struct names *names_new(const struct view *view, const char *const *words, size_t n)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->view = view_ref(view);
	names->all = xcalloc(2 * n + 1, sizeof(names->all[0]));
	for (size_t i = 0; i < n; i++) {
		add_name(names, words[i], strlen(words[i]));
		add_name(names, words[i], len_without_port(words[i]));
	}
	sort_names(names);
	note_nodes(names);
	return names;
}

/* ---- one word -------------------------------------------------------------------------------- */

static const char *text_of(const struct names *names, const struct name *name, unsigned i)
{
	const struct view_node *n = node_at(names, name, i);

	return name->likeness == BY_DESCRIPTION ? n->desc : view_node_name(names->view, n);
}

static bool is_like_another(const struct names *names, const struct name *name, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (!strcmp(text_of(names, name, k), text_of(names, name, i)))
			return true;
	return false;
}

/* Adapters, all different. */
static bool is_one_host(const struct names *names, const struct name *name)
{
	bool is_trusted = name->likeness == BY_WORD;

	if (!is_trusted && (name->is_whole || names->map_has_hosts))
		return false;
	if (name->n > ADAPTERS_MAX)
		return false;
	for (unsigned i = 0; i < name->n; i++)
		if (node_at(names, name, i)->type != IB_NODE_CA || is_like_another(names, name, i))
			return false;
	return true;
}

/* `by_port`: a port of it is asked for, which one node has. */
static bool is_unique(const struct names *names, const struct name *name, bool by_port,
		      struct control_error *err)
{
	char told[TOLD_MAX * 24] = "";

	if (name->n == 1 || (!by_port && is_one_host(names, name)))
		return true;
	for (unsigned i = 0; i < MIN(name->n, (unsigned)TOLD_MAX); i++)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s0x%016" PRIx64,
			 i ? ", " : "", node_at(names, name, i)->guid);
	return control_fail(err, "InvalidParameter",
			    "'%.*s' is the name of %u nodes (%s%s): name the GUIDs of the ports "
			    "that are meant",
			    (int)MIN(name->len, 64u), name->text, name->n, told,
			    name->n > TOLD_MAX ? ", ..." : "");
}

static const struct name *named(struct names *names, const char *word, size_t len)
{
	const struct name *name = len ? find_name(names, word, len) : NULL;

	return name && name->n ? name : NULL;
}

static bool one_port(const struct names *names, const struct view_node *n, const char *word,
		     const char *port, guid_t *ret, struct control_error *err)
{
	uint32_t at = VIEW_NONE;
	uint64_t num;

	if (show_number(port, UINT8_MAX, &num))
		at = view_node_port(n, (unsigned)num);
	*ret = at == VIEW_NONE ? 0 : names->view->ports[at].guid;
	if (*ret)
		return true;
	return control_fail(err, "NotFound", "'%.64s' names no end port of its node", word);
}

static void tell_node(const struct names *names, const struct view_node *n, size_t at,
		      show_host_fn *port, void *arg)
{
	for (unsigned num = 0; num <= n->n_ports; num++) {
		uint32_t i = view_node_port(n, num);

		if (i != VIEW_NONE && names->view->ports[i].guid)
			port(arg, at, names->view->ports[i].guid, false);
	}
}

/* Returns whether there are any. */
static bool tell_gone(const struct names *names, const char *word, size_t at, show_host_fn *port,
		      void *arg)
{
	const struct name *name = find_name(names, word, strlen(word));
	bool found = name && name->gone;

	for (uint16_t i = found ? name->gone : 0; i; i = names->gone[i - 1].next)
		port(arg, at, names->gone[i - 1].guid, true);
	return found;
}

/* False: `err`. */
static bool tell_ports(struct names *names, const char *word, size_t at, show_host_fn *port,
		       void *arg, struct control_error *err)
{
	size_t len = len_without_port(word);
	const struct name *whole = named(names, word, strlen(word));
	const struct name *name = whole ? whole : named(names, word, len);
	bool is_gone = tell_gone(names, word, at, port, arg);
	guid_t guid;

	if (!name && is_gone)
		return true;
	if (!name)
		return control_fail(err, "NotFound",
				    "no node in the fabric has the name '%.64s'; a host that is "
				    "off can be named by the GUIDs of its ports",
				    word);
	if (!is_unique(names, name, !whole, err))
		return false;
	if (!whole) {
		if (!one_port(names, node_at(names, name, 0), word, word + len + 1, &guid, err))
			return false;
		port(arg, at, guid, false);
		return true;
	}
	for (unsigned i = 0; i < name->n; i++)
		tell_node(names, node_at(names, name, i), at, port, arg);
	return true;
}

bool show_hosts(const struct daemon_api *api, const char *const *words, size_t n, bool also_gone,
		show_host_fn *port, void *arg, struct control_error *err)
{
	const struct view *view = api->sm ? sm_view(api->sm) : NULL;
	struct names *names;
	bool found = true;

	assert(words && port && err);
	if (!view)
		return control_fail(err, "NotReady",
				    "names of hosts are known to the master, once the subnet is "
				    "up");
	names = names_new(view, words, n);
	if (also_gone)
		note_all_gone(names, &api->memory);
	for (size_t i = 0; found && i < n; i++)
		found = tell_ports(names, words[i], i, port, arg, err);
	names_clear(names);
	return found;
}
