// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which device a word stands for: a directed route ("0,1,5", as infiniband-diags write it), a LID,
 * a GUID, a name, NAME/PORT. On the facts as they are now, not on the published view: a device that
 * is being discovered can be asked, too.
 */
#include "control/control_smp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/words.h"
#include "topo/names.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- directed routes ------------------------------------------------------------------------- */

static bool is_route(const char *word)
{
	return word[0] == '0' && (!word[1] || word[1] == ',') &&
	       strspn(word, "0123456789,") == strlen(word);
}

static bool read_route(const char *word, struct dr_path *ret)
{
	const char *at = word + 1;

	*ret = (struct dr_path){ 0 };
	while (*at == ',') {
		char *end;
		unsigned long port = strtoul(at + 1, &end, 10);

		if (end == at + 1 || port > 254 || dr_path_extend(ret, (uint8_t)port, ret) < 0)
			return false;
		at = end;
	}
	return !*at;
}

/* The end port at the end of a route, as far as cables are known. */
static struct port *walk(const struct fabric *f, const struct dr_path *path)
{
	struct port *at = f->own_port;

	for (unsigned i = 1; at && i <= path->length; i++) {
		const struct node *n = at->node;

		if (path->hop[i] > n->n_ports || (i > 1 && !node_is_switch(n)))
			return NULL;
		at = n->ports[path->hop[i]].peer;
	}
	return at ? port_of_sma(at) : NULL;
}

/* ---- ports ----------------------------------------------------------------------------------- */

static bool take_port(const struct fabric *f, struct port *p, struct sm_smp *ret,
		      struct control_error *err)
{
	char place[PLACE_STRLEN];

	ret->port = port_of_sma(p);
	if (fabric_port_path(f, ret->port, &ret->path) == 0)
		return true;
	return control_fail(err, "NotFound",
			    "no way leads to %s: its link is down, or it is too far",
			    fabric_place_str(p, place));
}

static bool has_lid(const struct port *p, lid_t lid)
{
	lid_t base = fabric_lid_of(p);
	unsigned lmc = p->known ? ib_get(p->info, PI_LMC) : 0;

	return base && lid >= base && lid < base + (1u << lmc);
}

/* The end port of `n` with this LID; 0: the first one that a cable leads to. */
static struct port *port_with(const struct node *n, lid_t lid)
{
	unsigned first = node_is_switch(n) ? 0 : 1, last = node_is_switch(n) ? 0 : n->n_ports;

	for (unsigned i = first; i <= last; i++) {
		struct port *p = &n->ports[i];

		if (lid ? has_lid(p, lid) : !i || p->peer)
			return p;
	}
	return lid ? NULL : &n->ports[first];
}

static struct port *port_of_lid(const struct fabric *f, lid_t lid)
{
	FABRIC_EACH_NODE(f, n) {
		struct port *p = port_with(n, lid);

		if (p)
			return p;
	}
	return NULL;
}

static bool find_number(const struct fabric *f, uint64_t number, struct sm_smp *ret,
			struct control_error *err)
{
	const struct node *n;
	struct port *p;

	if (number <= UINT16_MAX) {
		p = number ? port_of_lid(f, (lid_t)number) : NULL;
		if (p)
			return take_port(f, p, ret, err);
		return control_fail(err, "NotFound", "no port in the fabric has LID %u",
				    (unsigned)number);
	}
	p = fabric_find_port(f, number);
	n = p ? NULL : fabric_find_node(f, number);
	if (n)
		p = port_with(n, 0);
	if (p)
		return take_port(f, p, ret, err);
	return control_fail(err, "NotFound", "no node or port in the fabric has GUID 0x%016" PRIx64,
			    number);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The whole name, or its first word: the host's. */
static const struct name_ranks ranks = { { NAME_MAPPED | NAME_DESC | NAME_DESC_WORD } };

static struct names *names_of(const struct fabric *f, const char *const *word)
{
	struct names *names = names_new(&ranks, word, 1);

	FABRIC_EACH_NODE(f, n)
		names_add(names, n, node_name(n), n->desc);
	return names;
}

static bool find_name(const struct fabric *f, const char *word, struct sm_smp *ret,
		      struct control_error *err)
{
	_cleanup_(names_freep) struct names *names = names_of(f, &word);
	const char *port;
	const struct name *name = names_find_port(names, word, &port);
	struct node *n = name ? (struct node *)name->nodes[0] : NULL;
	uint64_t num = 0;

	if (!name)
		return control_fail(err, "NotFound",
				    "no node in the fabric has the name '%.100s'; expected a name, "
				    "NAME/PORT, a LID, a GUID (0x...) or a directed route (0,1,5)",
				    word);
	if (name->n > 1)
		return control_fail(
			err, "Ambiguous",
			"'%.100s' is the name of %zu nodes: say which by its GUID or a LID", word,
			name->n);
	if (port && (str_to_u64(port, 10, n->n_ports, &num) < 0 || (!num && !node_is_switch(n))))
		return control_fail(err, "NotFound", "'%.64s' has no port '%.20s'", node_name(n),
				    port);
	return take_port(f, num ? &n->ports[num] : port_with(n, 0), ret, err);
}

bool control_smp_find(const struct fabric *f, const char *word, struct sm_smp *ret,
		      struct control_error *err)
{
	bool hex = str_starts(word, "0x") || str_starts(word, "0X");
	uint64_t number;

	if (!f->own_port)
		return control_fail(err, "NotReady", "the manager has not read its own port yet");
	if (is_route(word)) {
		if (!read_route(word, &ret->path))
			return control_fail(
				err, "InvalidParameter",
				"'%.100s' is no directed route; expected 0, or ports of at "
				"most 254 behind it: 0,1,5",
				word);
		ret->port = walk(f, &ret->path);
		return true;
	}
	if (str_to_u64(hex ? word + 2 : word, hex ? 16 : 10, UINT64_MAX, &number) == 0)
		return find_number(f, number, ret, err);
	return find_name(f, word, ret, err);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A GUID; of an end port: its node and its number. */
static bool find_guid(const struct fabric *f, const char *word, size_t len, guid_t *ret_node,
		      unsigned *ret_port)
{
	char text[24];
	const struct port *p;
	uint64_t guid;

	if (len < 3 || len >= sizeof(text) || word[0] != '0' || (word[1] | 0x20) != 'x')
		return false;
	memcpy(text, word, len);
	text[len] = '\0';
	if (str_to_u64(text + 2, 16, UINT64_MAX, &guid) < 0 || !guid)
		return false;
	p = fabric_find_node(f, guid) ? NULL : fabric_find_port(f, guid);
	*ret_node = p ? p->node->guid : guid;
	*ret_port = p ? p->num : 0;
	return true;
}

static bool take_number(const char *text, const char *word, unsigned *ret_port,
			struct control_error *err)
{
	uint64_t port;

	if (str_to_u64(text, 10, 254, &port) < 0 || !port)
		return control_fail(err, "InvalidParameter",
				    "'%.100s': a port is a number from 1 to 254", word);
	*ret_port = (unsigned)port;
	return true;
}

static bool find_place_named(const struct fabric *f, const char *word, guid_t *ret_node,
			     unsigned *ret_port, struct control_error *err)
{
	_cleanup_(names_freep) struct names *names = names_of(f, &word);
	const char *port;
	const struct name *name = names_find_port(names, word, &port);

	*ret_port = 0;
	if (!name)
		return control_fail(err, "NotFound",
				    "no node in the fabric has the name '%.100s'; expected a name, "
				    "NAME/PORT, a GUID (0x...) or GUID/PORT",
				    word);
	if (port && !take_number(port, word, ret_port, err))
		return false;
	if (name->n > 1)
		return control_fail(err, "Ambiguous",
				    "'%.100s' is the name of %zu nodes: say which by its GUID",
				    word, name->n);
	*ret_node = ((const struct node *)name->nodes[0])->guid;
	return true;
}

bool control_find_place(const struct fabric *f, const char *word, guid_t *ret_node,
			unsigned *ret_port, struct control_error *err)
{
	size_t len = strcspn(word, "/");

	if (!find_guid(f, word, len, ret_node, ret_port))
		return find_place_named(f, word, ret_node, ret_port, err);
	if (word[len])
		return take_number(word + len + 1, word, ret_port, err);
	if (fabric_find_node(f, *ret_node))
		return true;
	return control_fail(err, "NotFound", "no node or port in the fabric has GUID %.24s", word);
}
