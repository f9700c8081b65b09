// SPDX-License-Identifier: BSD-2-Clause
/* --fail: what the words mean in this fabric. */
#include <errno.h>
#include <string.h>

#include "offline/plan.h"
#include "util/mem.h"
#include "util/str.h"

static int refuse_failure(const char *what, const char *why)
{
	char quoted[CONF_QUOTE_MAX];

	fprintf(stderr, "opensm: --fail: %s; %s\n", conf_quote(what, strlen(what), quoted), why);
	return -EINVAL;
}

uint32_t plan_find_node(const struct plan_world *w, const char *text, size_t len, const char **why)
{
	_cleanup_free_ char *name = xmalloc(len + 1);
	const struct topofile *f = w->file;
	uint32_t found = TOPO_NONE;
	uint64_t guid = 0;

	memcpy(name, text, len);
	name[len] = '\0';
	if (len >= 2 && name[0] == '"' && name[len - 1] == '"') {
		memmove(name, name + 1, len - 2);
		name[len - 2] = '\0';
	} else if (!str_starts(name, "0x") || str_to_u64(name, 16, UINT64_MAX, &guid) < 0) {
		guid = 0;
	}
	str_printable(name, strlen(name), name, len + 1); /* like names of the fabric */
	*why = "no node has this name or GUID";
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct topofile_node *n = &f->nodes[i];
		bool is = guid ? n->guid == guid || n->port_guid == guid
			       : str_equal(plan_name(w, n->guid), name);

		for (uint32_t k = 0; guid && k < n->n_rows; k++)
			is |= f->ports[n->first_port + k].guid == guid;
		if (is && found != TOPO_NONE) {
			*why = "several nodes are called that; expected a GUID";
			return TOPO_NONE;
		}
		if (is)
			found = i;
	}
	return found;
}

static int fail_link(const struct plan_world *w, const char *what, const char *rest,
		     struct cut *cut)
{
	const char *slash = strrchr(rest, '/'), *why;
	const struct topofile_node *n;
	const struct topofile_port *p = NULL, *q;
	uint64_t port;
	uint32_t node;

	if (!slash || str_to_u64(slash + 1, 10, IB_MAX_PORTS, &port) < 0 || !port)
		return refuse_failure(what, "expected link:NODE/PORT");
	node = plan_find_node(w, rest, (size_t)(slash - rest), &why);
	if (node == TOPO_NONE)
		return refuse_failure(what, why);
	n = &w->file->nodes[node];
	for (uint32_t k = 0; k < n->n_rows; k++)
		if (w->file->ports[n->first_port + k].number == port)
			p = &w->file->ports[n->first_port + k];
	if (!p || p->peer == TOPO_NONE)
		return refuse_failure(what, "there is no cable in this port");
	q = &w->file->ports[p->peer];
	for (unsigned i = 0; i < 2; i++, p = q) {
		uint32_t sw = topo_find_switch(w->topo, w->file->nodes[p->node].guid);

		if (w->file->nodes[p->node].type == TOPOFILE_SWITCH && sw != TOPO_NONE)
			cut->ports[topo_port(w->topo, sw, p->number) - w->topo->ports] = true;
	}
	return 0;
}

static int fail_switch(const struct plan_world *w, const char *what, const char *rest,
		       struct cut *cut)
{
	const char *why;
	uint32_t node = plan_find_node(w, rest, strlen(rest), &why), sw;

	if (node == TOPO_NONE)
		return refuse_failure(what, why);
	sw = topo_find_switch(w->topo, w->file->nodes[node].guid);
	if (w->file->nodes[node].type != TOPOFILE_SWITCH || sw == TOPO_NONE)
		return refuse_failure(what, "that is no switch");
	cut->switches[sw] = true;
	return 0;
}

int plan_fail_add(const struct plan_world *w, const char *what, struct cut *cut)
{
	if (str_starts(what, "link:"))
		return fail_link(w, what, what + strlen("link:"), cut);
	if (str_starts(what, "switch:"))
		return fail_switch(w, what, what + strlen("switch:"), cut);
	return refuse_failure(
		what, "expected link:NODE/PORT or switch:NODE, where NODE is a GUID or a name");
}
