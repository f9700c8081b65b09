// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host names are the first word of NodeDescription, as rdma-ndd sets it: "node17 mlx5_0"; of an
 * adapter that the node name map names, the first word there. Adapters with the same word are one
 * host. On which of its leaves it is placed is slurm_place.c.
 */
#include "opensmctl/format/slurm_hosts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "client/js.h"
#include "util/mem.h"

void slurm_remark(struct slurm_tree *tree, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	/* A remark is one line, whatever it quotes. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	tree->remarks = xrealloc(tree->remarks, tree->n_remarks + 1, sizeof(char *));
	tree->remarks[tree->n_remarks++] = text;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_safe(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

/* Makes a name that Slurm does not read as an option, expression or default. */
static char *safe_name(const char *text)
{
	char *name = xasprintf("%s%s", is_safe(text[0]) && text[0] != '-' ? "" : "n", text);

	for (char *c = name; *c; c++)
		if (!is_safe(*c))
			*c = '_';
	if (!strcasecmp(name, "DEFAULT") || !strcasecmp(name, "ALL")) {
		char *other = xasprintf("%s_", name);

		free(name);
		name = other;
	}
	return name;
}

static bool is_taken(const struct slurm_tree *tree, const char *name)
{
	for (size_t i = 0; i < tree->n; i++)
		if (tree->switches[i].name && !strcmp(tree->switches[i].name, name))
			return true;
	return false;
}

char *slurm_switch_name(const char *name)
{
	const char *start = strchr(name, ';'), *colon = start ? strchr(start, ':') : NULL;
	const char *board = colon ? strchr(colon, '/') : NULL;
	size_t len;

	if (strncmp(name, "MF", 2) != 0 || !board || colon == start + 1)
		return xstrdup(name);
	len = strlen(board);
	if (len >= 3 && !strcmp(board + len - 3, "/U1"))
		len -= 3;
	return xasprintf("%.*s%.*s", (int)(colon - start - 1), start + 1, (int)len, board);
}

char *slurm_unique_name(struct slurm_tree *tree, const char *name)
{
	_cleanup_free_ char *safe = safe_name(name);
	char *ret = xstrdup(safe);

	for (unsigned i = 2; is_taken(tree, ret); i++) {
		free(ret);
		ret = xasprintf("%s_%u", safe, i);
	}
	if (strcmp(ret, name) != 0 && strcmp(name, "fabric") != 0)
		slurm_remark(tree, "switch '%s' is called %s here", name, ret);
	return ret;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* "mlx5_0/1" of "node17 mlx5_0", port 1; "1" where the description names no device. */
static char *slot_of(const char *desc, int port)
{
	const char *device = desc + strcspn(desc, " ");

	device += strspn(device, " ");
	return device[0] ? xasprintf("%.*s/%d", (int)strcspn(device, " "), device, port)
			 : xasprintf("%d", port);
}

static bool has_device(const char *text)
{
	text += strcspn(text, " ");
	return text[strspn(text, " ")];
}

static char *word_of(const char *desc, guid_t guid)
{
	return desc[0] ? xasprintf("%.*s", (int)strcspn(desc, " "), desc)
		       : xasprintf("ib%016" PRIx64, guid);
}

/* What adapters are called until a host gives them its name: "MT4129 ConnectX7 ...". */
static bool is_of_factory(struct json_object *node)
{
	const char *name = js_str(node, "name"), *p = name + strspn(name, " ");

	if (strncmp(p, "MT", 2) != 0)
		return false;
	p += 2;
	p += strspn(p, "0123456789");
	return *p == ' ' && strstr(p, "ConnectX");
}

/* False: no port of it leads to a switch. */
static bool read_host(struct slurm_hosts *h, struct json_object *node,
		      const struct guidmap *switches)
{
	struct json_object *ports = js_get(node, "ports");
	const char *desc = js_str(node, "desc"), *name = js_str(node, "name");
	guid_t guid = strtoull(js_str(node, "node_guid"), NULL, 16);
	size_t before = h->n_ports;

	desc += strspn(desc, " ");
	name += strspn(name, " ");
	name = name[0] ? name : desc;
	for (size_t i = 0; i < js_len(ports); i++) {
		struct json_object *port = js_at(ports, i), *peer = js_get(port, "peer");
		guid_t sw = peer ? strtoull(js_str(peer, "node_guid"), NULL, 16) : 0;
		uint32_t place = sw ? (uint32_t)(uintptr_t)guidmap_get(switches, sw) : 0;

		if (!place || !strcmp(js_str(port, "state"), "down"))
			continue;
		GROW(h->ports, h->n_ports + 1, h->cap_ports);
		h->ports[h->n_ports++] = (struct slurm_port){
			.word = word_of(name, guid),
			.slot = slot_of(has_device(name) ? name : desc, (int)js_int(port, "port")),
			.leaf = place - 1,
			.leaf_name = js_str(peer, "name"),
			.gbps = js_num(port, "gbps"),
			.guid = guid,
			.system = strtoull(js_str(node, "system_guid"), NULL, 16),
			.desc = desc,
		};
	}
	return h->n_ports > before;
}

static void remark_nameless(unsigned n, struct slurm_tree *tree)
{
	if (n)
		slurm_remark(
			tree,
			"adapters are not in here that no host has given its name, as their "
			"description is that of the factory (%u): rdma-ndd, of rdma-core, sets "
			"it on their hosts",
			n);
}

/*
 * Hosts of the document with a port, and of those without, the words. Returns the number of
 * aggregation nodes.
 */
static unsigned read_all(struct slurm_hosts *h, struct json_object *nodes,
			 const struct guidmap *switches, struct slurm_tree *tree)
{
	_cleanup_free_ const char **without = xcalloc(js_len(nodes) + 1, sizeof(char *));
	unsigned aggregation = 0, nameless = 0;
	size_t n = 0;

	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *node = js_at(nodes, i);

		if (strcmp(js_str(node, "type"), "ca") != 0)
			continue;
		if (!strcmp(js_str(node, "role"), "aggregation") ||
		    strstr(js_str(node, "desc"), "Aggregation Node"))
			aggregation++;
		else if (is_of_factory(node))
			nameless++;
		else if (!read_host(h, node, switches))
			without[n++] = js_str(node, "desc");
	}
	remark_nameless(nameless, tree);
	if (n) {
		_cleanup_free_ char *names = slurm_names(without, n);

		slurm_remark(tree,
			     "adapters count for nothing whose ports are down, or lead to no "
			     "switch (%zu): %s",
			     n, names);
	}
	return aggregation;
}

/* ---- hosts ---------------------------------------------------------------------------------- */

static int by_slot(const void *x, const void *y)
{
	const struct slurm_port *a = x, *b = y;
	int order = strcmp(a->word, b->word);

	if (!order)
		order = strcmp(a->slot, b->slot);
	return order ? order : (a->leaf > b->leaf) - (a->leaf < b->leaf);
}

/* Sorts the ports of a host by rank: the first one decides where it is placed. */
static int by_rank(const void *x, const void *y)
{
	const struct slurm_port *a = x, *b = y;
	int order = strcmp(a->word, b->word);

	if (order)
		return order;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->leaf != b->leaf ? (a->leaf > b->leaf) - (a->leaf < b->leaf)
				  : (a->guid > b->guid) - (a->guid < b->guid);
}

static int by_name(const void *x, const void *y)
{
	const struct slurm_host *a = x, *b = y;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->first > b->first) - (a->first < b->first);
}

static int by_leaf(const void *x, const void *y)
{
	const struct slurm_host *a = x, *b = y;

	if (a->leaf != b->leaf)
		return a->leaf < b->leaf ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Ports of the same word. */
static void find_hosts(struct slurm_hosts *h)
{
	h->all = xcalloc(h->n_ports + 1, sizeof(*h->all));
	for (size_t i = 0; i < h->n_ports; i++) {
		if (!i || strcmp(h->ports[i - 1].word, h->ports[i].word) != 0)
			h->all[h->n++] = (struct slurm_host){ .name = safe_name(h->ports[i].word),
							      .first = i };
		h->all[h->n - 1].n++;
	}
}

/* Remarks on unusual ports of those that fit; the first one decides where the host is placed. */
static void remark_ports(const struct slurm_hosts *h, const struct slurm_host *host,
			 struct slurm_tree *tree)
{
	const struct slurm_port *first = &h->ports[host->first];
	bool many_leaves = false, namesakes = false;

	for (const struct slurm_port *p = first + 1; p < first + host->n_fit; p++) {
		if (p->leaf != first->leaf && !strcmp(p->slot, first->slot) && !many_leaves) {
			many_leaves = true;
			slurm_remark(tree,
				     "host %s is on several leaves by ports of the same name: it "
				     "is placed on the first",
				     host->name);
		}
		if (p->system != first->system && !strcmp(p->desc, first->desc) && !namesakes) {
			namesakes = true;
			slurm_remark(tree,
				     "several adapters are called '%s': is the description set on "
				     "these hosts (rdma-ndd)?",
				     p->desc);
		}
	}
}

/* Gives a host whose name an earlier one has a name with its GUID. */
static void name_hosts(struct slurm_hosts *h, struct slurm_tree *tree)
{
	size_t first = 0; /* has the name that others may share */

	qsort(h->all, h->n, sizeof(*h->all), by_name);
	for (size_t i = 0; i < h->n; i++) {
		struct slurm_host *host = &h->all[i];
		const struct slurm_port *p = &h->ports[host->first];

		if (i && !strcmp(h->all[first].name, host->name)) {
			_cleanup_free_ char *shared = host->name;

			host->name = xasprintf("%s_%" PRIx64, shared, p->guid);
		} else {
			first = i;
		}
		if (strcmp(host->name, p->word) != 0)
			slurm_remark(tree, "host '%s' is called %s here", p->word, host->name);
		remark_ports(h, host, tree);
		host->leaf = p->leaf;
		host->gbps = p->gbps;
	}
}

void slurm_hosts_read(struct slurm_hosts *ret, struct json_object *topology,
		      const struct guidmap *switches, const struct slurm_wish *wish,
		      struct slurm_tree *tree)
{
	unsigned aggregation;

	*ret = (struct slurm_hosts){ 0 };
	aggregation = read_all(ret, js_get(topology, "nodes"), switches, tree);
	if (aggregation)
		slurm_remark(tree, "%u aggregation nodes inside of switches are no hosts",
			     aggregation);
	if (!ret->n_ports)
		return;
	qsort(ret->ports, ret->n_ports, sizeof(*ret->ports), by_slot);
	find_hosts(ret);
	slurm_place(ret, wish, tree);
	if (!ret->n)
		return;
	qsort(ret->ports, ret->n_ports, sizeof(*ret->ports), by_rank);
	name_hosts(ret, tree);
	qsort(ret->ports, ret->n_ports, sizeof(*ret->ports), by_slot);
	qsort(ret->all, ret->n, sizeof(*ret->all), by_leaf);
}

void slurm_hosts_clear(struct slurm_hosts *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->all[i].name);
	for (size_t i = 0; i < h->n_ports; i++) {
		free(h->ports[i].word);
		free(h->ports[i].slot);
	}
	free(h->all);
	free(h->ports);
	*h = (struct slurm_hosts){ 0 };
}
