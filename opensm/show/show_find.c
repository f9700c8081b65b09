// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the node or port that a word stands for: LIDs, GUIDs, GIDs, names, names with a port.
 *
 * A word that is a number is never taken for a name. Of names the stricter reading counts first:
 * the name of the map or the whole description, then the first word of the description (the host's
 * name). A word that fits several nodes is refused, and they are named.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/mem.h"
#include "util/str.h"

static const struct name_ranks ranks = { { NAME_MAPPED | NAME_DESC, NAME_DESC_WORD } };

bool show_number(const char *word, uint64_t max, uint64_t *ret)
{
	bool hex = str_starts(word, "0x") || str_starts(word, "0X");

	return str_to_u64(hex ? word + 2 : word, hex ? 16 : 10, max, ret) == 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

char *show_guids(const struct name *name, size_t max, char ret[SHOW_GUIDS])
{
	ret[0] = '\0';
	for (size_t i = 0; i < MIN(name->n, max); i++)
		snprintf(ret + strlen(ret), SHOW_GUIDS - strlen(ret), "%s0x%016" PRIx64,
			 i ? ", " : "", ((const struct view_node *)name->nodes[i])->guid);
	if (name->n > max)
		snprintf(ret + strlen(ret), SHOW_GUIDS - strlen(ret), ", ...");
	return ret;
}

static bool is_unique(const struct name *name, struct control_error *err)
{
	char guids[SHOW_GUIDS];

	if (name->n == 1)
		return true;
	return control_fail(err, "Ambiguous",
			    "'%.*s' is the name of %zu nodes (%s): say which by its GUID or a LID",
			    (int)MIN(name->len, (size_t)100), name->text, name->n,
			    show_guids(name, 3, guids));
}

static bool port_of(const struct show *s, const struct view_node *n, const char *text,
		    struct show_found *ret, struct control_error *err)
{
	uint64_t num;

	if (!show_number(text, n->n_ports, &num) || (!num && n->type != IB_NODE_SWITCH))
		return control_fail(
			err, "NotFound", "'%.64s' has no port '%.20s', its ports are %u to %u",
			show_name(s, n), text, n->type == IB_NODE_SWITCH ? 0 : 1, n->n_ports);
	*ret = (struct show_found){ .node = n, .port = show_port(s, n, (unsigned)num) };
	return true;
}

static struct names *names_of(const struct show *s, const char *const *word)
{
	struct names *names = names_new(&ranks, word, 1);
	char called[SHOW_CALLED];

	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct view_node *n = &s->view->nodes[i];

		names_add(names, n, show_called(s, n, called), n->desc);
	}
	return names;
}

static bool find_name(const struct show *s, const char *word, struct show_found *ret,
		      struct control_error *err)
{
	_cleanup_(names_freep) struct names *names = names_of(s, &word);
	const char *port;
	const struct name *name = names_find_port(names, word, &port);

	if (name) {
		*ret = (struct show_found){ .node = name->nodes[0] };
		return is_unique(name, err) && (!port || port_of(s, ret->node, port, ret, err));
	}
	if (show_gone_fail(s, word, err))
		return false;
	return control_fail(
		err, "NotFound",
		"no node in the fabric has the name '%.100s'; expected a name, NAME/PORT, "
		"a LID, a GUID (0x...) or a GID. A node that is off or unplugged is not in "
		"the fabric: 'ports --not-active' shows the switch port that its cable is in",
		word);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static bool find_lid(const struct show *s, const char *word, unsigned lid, struct show_found *ret,
		     struct control_error *err)
{
	const struct view_port *p = show_port_at(s, view_port_at(s->view, lid));

	if (!p && show_gone_fail(s, word, err))
		return false;
	if (!p)
		return control_fail(err, "NotFound", "no port in the fabric has LID %u", lid);
	*ret = (struct show_found){ .node = show_node_of(s, p), .port = p };
	return true;
}

static bool find_guid(const struct show *s, const char *word, guid_t guid, struct show_found *ret,
		      struct control_error *err)
{
	*ret = (struct show_found){ .port = show_port_at(s, view_port_of_guid(s->view, guid)) };
	if (ret->port)
		ret->node = show_node_of(s, ret->port);
	else
		ret->node = guid ? view_find_node(s->view, guid) : NULL;
	if (!ret->node && !show_gone_fail(s, word, err))
		control_fail(err, "NotFound",
			     "no node or port in the fabric has GUID 0x%016" PRIx64, guid);
	return ret->node != NULL;
}

bool show_find(const struct show *s, const char *word, struct show_found *ret,
	       struct control_error *err)
{
	uint8_t gid[16];
	uint64_t v;

	if (!word[0])
		return control_fail(err, "InvalidParameter",
				    "a name, NAME/PORT, a LID, a GUID (0x...) or a GID is missing");
	if (show_number(word, UINT64_MAX, &v))
		return v <= UINT16_MAX ? find_lid(s, word, (unsigned)v, ret, err)
				       : find_guid(s, word, v, ret, err);
	if (inet_pton(AF_INET6, word, gid) == 1) {
		v = 0;
		for (unsigned i = 8; i < 16; i++)
			v = v << 8 | gid[i];
		return find_guid(s, word, v, ret, err);
	}
	return find_name(s, word, ret, err);
}

bool show_find_end(const struct show *s, const char *word, const struct view_port **ret,
		   struct control_error *err)
{
	struct show_found f;
	unsigned n = 0;

	if (!show_find(s, word, &f, err))
		return false;
	if (f.port || f.node->type == IB_NODE_SWITCH) {
		/* A port of a switch stands for the switch: only port 0 has a LID. */
		*ret = f.node->type == IB_NODE_SWITCH ? show_port(s, f.node, 0) : f.port;
		return true;
	}
	for (unsigned i = 1; i <= f.node->n_ports; i++) {
		const struct view_port *p = show_port(s, f.node, i);

		if (!p->lid)
			continue;
		*ret = p;
		n++;
	}
	if (!n)
		*ret = show_port(s, f.node, 1);
	if (n > 1)
		control_fail(err, "Ambiguous",
			     "'%.64s' has %u ports with a LID: say which, for instance '%.64s/%u'",
			     show_name(s, f.node), n, show_name(s, f.node), (*ret)->num);
	return n <= 1;
}

static bool has_port(const struct show *s, const struct view_node *n, uint32_t at)
{
	const struct view_port *p = show_port_at(s, at);

	return p && show_node_of(s, p) == n;
}

bool show_node_matches(const struct show *s, const struct view_node *n, const char *word)
{
	char called[SHOW_CALLED];
	uint64_t v;

	if (!word[0])
		return true;
	if (show_number(word, UINT64_MAX, &v))
		return v <= UINT16_MAX ? has_port(s, n, view_port_at(s->view, (unsigned)v))
				       : n->guid == v || n->sysimg_guid == v ||
						 has_port(s, n, view_port_of_guid(s->view, v));
	return names_kinds(show_called(s, n, called), n->desc, word, strlen(word)) &
	       ~(unsigned)NAME_MAPPED_WORD;
}
