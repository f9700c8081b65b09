// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the user's words mean: LIDs, GUIDs, GIDs, names, and names with a port.
 *
 * A word that is a number is never taken for a name. Of names the stricter reading counts first: the
 * name of the map or the whole description, then the first word of the description (the host's name).
 * Whatever fits several is refused, with those that it fits.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/show.h"
#include "util/guidmap.h"
#include "util/mem.h"
#include "util/str.h"

enum likeness { LIKE_NOT, LIKE_FIRST_WORD, LIKE_WHOLE };

bool show_number(const char *word, uint64_t max, uint64_t *ret)
{
	bool hex = str_starts(word, "0x") || str_starts(word, "0X");

	return str_to_u64(hex ? word + 2 : word, hex ? 16 : 10, max, ret) == 0;
}

/* `word` need not end where its name does. */
static enum likeness likeness_of(const struct dump_node *n, const char *word, size_t len)
{
	size_t first = strcspn(n->desc, " ");

	if (!len)
		return LIKE_NOT;
	if (n->mapped && strlen(n->mapped) == len && !memcmp(n->mapped, word, len))
		return LIKE_WHOLE;
	if (strlen(n->desc) == len && !memcmp(n->desc, word, len))
		return LIKE_WHOLE;
	return first == len && !memcmp(n->desc, word, len) ? LIKE_FIRST_WORD : LIKE_NOT;
}

/* ---- names ---------------------------------------------------------------------------------- */

struct named {
	const struct dump_node *node;
	enum likeness like;
	unsigned n;	  /* as like as that */
	char names[160];  /* of some of them */
	unsigned n_names;
};

static void remember(struct named *f, const struct dump_node *n)
{
	size_t len = strlen(f->names);

	if (f->n_names++ < 3)
		snprintf(f->names + len, sizeof(f->names) - len, "%s0x%016" PRIx64, len ? ", " : "",
			 n->guid);
}

static void search_name(const struct show *s, const char *word, size_t len, struct named *ret)
{
	*ret = (struct named){ .like = LIKE_NOT };
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct dump_node *n = &s->view->nodes[s->order[i]];
		enum likeness like = likeness_of(n, word, len);

		if (like == LIKE_NOT || like < ret->like)
			continue;
		if (like > ret->like)
			*ret = (struct named){ .node = n, .like = like };
		ret->n++;
		remember(ret, n);
	}
}

static bool is_unique(const struct named *f, const char *word, int len, struct control_error *err)
{
	if (f->n <= 1)
		return true;
	control_fail(err, "Ambiguous", "'%.*s' is the name of %u nodes (%s%s): say which by its GUID or a LID",
		     MIN(len, 100), word, f->n, f->names, f->n > 3 ? ", ..." : "");
	return false;
}

static bool port_of(const struct show *s, const struct dump_node *n, const char *text,
		    struct show_found *ret, struct control_error *err)
{
	uint64_t num;

	if (!show_number(text, n->n_ports, &num) || (!num && n->type != IB_NODE_SWITCH)) {
		control_fail(err, "NotFound", "'%.64s' has no port '%.20s', its ports are %u to %u",
			     dump_node_name(n), text, n->type == IB_NODE_SWITCH ? 0 : 1, n->n_ports);
		return false;
	}
	*ret = (struct show_found){ .node = n, .port = show_port(s, n, (unsigned)num) };
	return true;
}

static bool find_name(const struct show *s, const char *word, struct show_found *ret,
		      struct control_error *err)
{
	const char *slash = strrchr(word, '/');
	struct named f;

	search_name(s, word, strlen(word), &f);
	if (f.n) {
		*ret = (struct show_found){ .node = f.node };
		return is_unique(&f, word, (int)strlen(word), err);
	}
	if (slash) {
		search_name(s, word, (size_t)(slash - word), &f);
		if (f.n)
			return is_unique(&f, word, (int)(slash - word), err) &&
			       port_of(s, f.node, slash + 1, ret, err);
	}
	if (show_gone_fail(s, word, err))
		return false;
	control_fail(err, "NotFound", "nobody in the fabric is called '%.100s'; expected a name, NAME/PORT, "
		     "a LID, a GUID (0x...) or a GID. Who is off or unplugged is not in the fabric: "
		     "'ports --not-active' has the other end of the cable", word);
	return false;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static bool find_lid(const struct show *s, const char *word, unsigned lid, struct show_found *ret,
		     struct control_error *err)
{
	uint32_t at = lid_is_unicast(lid) ? s->by_lid[lid] : DUMP_NONE;

	if (at == DUMP_NONE) {
		if (!show_gone_fail(s, word, err))
			control_fail(err, "NotFound", "nobody in the fabric has LID %u", lid);
		return false;
	}
	*ret = (struct show_found){ .port = &s->view->ports[at] };
	ret->node = show_node_of(s, ret->port);
	return true;
}

static bool find_guid(const struct show *s, const char *word, guid_t guid, struct show_found *ret,
		      struct control_error *err)
{
	*ret = (struct show_found){ .port = guid ? guidmap_get(s->by_port, guid) : NULL };
	if (ret->port)
		ret->node = show_node_of(s, ret->port);
	else
		ret->node = guid ? guidmap_get(s->by_node, guid) : NULL;
	if (!ret->node && !show_gone_fail(s, word, err))
		control_fail(err, "NotFound", "nobody in the fabric has GUID 0x%016" PRIx64, guid);
	return ret->node != NULL;
}

bool show_find(const struct show *s, const char *word, struct show_found *ret,
	       struct control_error *err)
{
	uint8_t gid[16];
	uint64_t v;

	if (!word[0]) {
		control_fail(err, "InvalidParameter", "a name, NAME/PORT, a LID, a GUID (0x...) or a GID is missing");
		return false;
	}
	if (show_number(word, UINT64_MAX, &v))
		return v <= UINT16_MAX ? find_lid(s, word, (unsigned)v, ret, err) : find_guid(s, word, v, ret, err);
	if (inet_pton(AF_INET6, word, gid) == 1) {
		v = 0;
		for (unsigned i = 8; i < 16; i++)
			v = v << 8 | gid[i];
		return find_guid(s, word, v, ret, err);
	}
	return find_name(s, word, ret, err);
}

bool show_find_end(const struct show *s, const char *word, const struct dump_port **ret,
		   struct control_error *err)
{
	struct show_found f;
	unsigned n = 0;

	if (!show_find(s, word, &f, err))
		return false;
	if (f.port || f.node->type == IB_NODE_SWITCH) {
		/* Who names a port of a switch means the switch: only port 0 has a LID. */
		*ret = f.node->type == IB_NODE_SWITCH ? show_port(s, f.node, 0) : f.port;
		return true;
	}
	for (unsigned i = 1; i <= f.node->n_ports; i++) {
		const struct dump_port *p = show_port(s, f.node, i);

		if (!p->lid)
			continue;
		*ret = p;
		n++;
	}
	if (!n)
		*ret = show_port(s, f.node, 1);
	if (n > 1)
		control_fail(err, "Ambiguous", "'%.64s' has %u ports with a LID: say which, for instance '%.64s/%u'",
			     dump_node_name(f.node), n, dump_node_name(f.node), (*ret)->num);
	return n <= 1;
}

static bool has_lid(const struct show *s, const struct dump_node *n, unsigned lid)
{
	return lid_is_unicast(lid) && s->by_lid[lid] != DUMP_NONE &&
	       show_node_of(s, &s->view->ports[s->by_lid[lid]]) == n;
}

static bool has_port_guid(const struct show *s, const struct dump_node *n, guid_t guid)
{
	for (unsigned i = 0; i <= n->n_ports; i++)
		if (show_port(s, n, i)->guid == guid)
			return true;
	return false;
}

bool show_node_matches(const struct show *s, const struct dump_node *n, const char *word)
{
	uint64_t v;

	if (!word[0])
		return true;
	if (show_number(word, UINT64_MAX, &v))
		return v <= UINT16_MAX ? has_lid(s, n, (unsigned)v)
				       : n->guid == v || n->sysimg_guid == v || has_port_guid(s, n, v);
	return likeness_of(n, word, strlen(word)) != LIKE_NOT;
}
