// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups: multicast groups with their MGID in words; of those asked for also members and tree.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "ctl/show.h"
#include "ib/rates.h"
#include "ib/words.h"
#include "sa/mgroup.h"
#include "util/guidmap.h"
#include "util/mem.h"

struct row {
	uint8_t record[MCM_BYTES];
	bool well_known;
	unsigned n_members, n_kept;
	struct mgroup_member *members; /* n_kept of them */
};

static void free_rows(struct show *s)
{
	struct row *rows = s->rows;

	for (size_t i = 0; i < s->n_rows; i++)
		free(rows[i].members);
	free(rows);
}

/* ---- copied on the main thread -------------------------------------------------------------- */

static void copy_members(struct row *row, const struct mgroup *g)
{
	const struct mgroup_member *m = mgroup_member_from(g, 0);

	row->members = xcalloc(MAX(row->n_members, 1u), sizeof(*row->members));
	while (m && row->n_kept < row->n_members) {
		row->members[row->n_kept++] = *m;
		m = m->id == UINT64_MAX ? NULL : mgroup_member_from(g, m->id + 1);
	}
}

static void copy_group(struct show *s, const struct mgroup *g, size_t *cap)
{
	struct row *row;

	if (s->n_rows == *cap) {
		*cap = *cap ? 2 * *cap : 64;
		s->rows = xrealloc(s->rows, *cap, sizeof(*row));
	}
	row = (struct row *)s->rows + s->n_rows++;
	*row = (struct row){
		.well_known = mgroup_is_well_known(g),
		.n_members = mgroup_members(g),
	};
	memcpy(row->record, mgroup_record(g), MCM_BYTES);
	if (s->word[0][0])
		copy_members(row, g);
}

static void copy_groups(struct show *s, const struct sa *sa)
{
	const struct mgroup *g;
	uint8_t mgid[16];
	uint64_t mlid;
	size_t cap = 0;

	if (!s->word[0][0]) {
		for (g = mgroup_next(sa, NULL); g; g = mgroup_next(sa, mgroup_mgid(g)))
			copy_group(s, g, &cap);
	} else if (show_number(s->word[0], UINT16_MAX, &mlid)) {
		for (g = mgroup_on_mlid(sa, (lid_t)mlid, NULL); g; g = mgroup_on_mlid(sa, (lid_t)mlid, g))
			copy_group(s, g, &cap);
	} else if (inet_pton(AF_INET6, s->word[0], mgid) == 1) {
		g = mgroup_find(sa, mgid);
		if (g)
			copy_group(s, g, &cap);
	}
}

void *show_groups_new(const struct scene *scene, struct json_object *parameters,
		      struct control_error *err)
{
	char word[SHOW_WORD_MAX];
	struct show *s;

	if (!show_text(parameters, "group", word, err))
		return NULL;
	s = show_new(scene, SHOW_ANSWERS | (word[0] ? SHOW_TREES : 0), err);
	if (!s)
		return NULL;
	memcpy(s->word[0], word, sizeof(word));
	s->free_rows = free_rows;
	copy_groups(s, sm_sa(scene->sm));
	if (word[0] && !s->n_rows) {
		control_fail(err, "NotFound", "no multicast group '%.60s'; expected an MGID (ff12:...) or an MLID "
			     "(0xc000)", word);
		show_drop(s);
		return NULL;
	}
	return s;
}

/* ---- MGIDs in words ------------------------------------------------------------------------- */

#define SIGNATURE_IPV4	   0x401B
#define SIGNATURE_IPV6	   0x601B
#define SIGNATURE_ASSIGNED 0xA01B

/* 28 bits of the address are in the MGID (RFC 4391), all bits of the broadcast address. */
static void ipv4_of(const uint8_t *mgid, char *ret, size_t cap)
{
	uint8_t a[4];

	memcpy(a, mgid + 12, 4);
	if (memcmp(a, "\xFF\xFF\xFF\xFF", 4) != 0)
		a[0] = (uint8_t)(0xE0 | (a[0] & 0x0F));
	snprintf(ret, cap, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

/* 80 bits, and the scope. */
static void ipv6_of(const uint8_t *mgid, char *ret, size_t cap)
{
	uint8_t a[16] = { 0xFF, mgid[1] & 0x0F };

	memcpy(a + 6, mgid + 6, 10);
	if (!inet_ntop(AF_INET6, a, ret, (socklen_t)cap))
		ret[0] = '\0';
}

static void put_meaning(struct json_object *o, const uint8_t *mgid)
{
	char address[INET6_ADDRSTRLEN] = "", words[IB_MGID_STRLEN];
	const char *kind = "other";

	switch ((unsigned)mgid[2] << 8 | mgid[3]) {
	case SIGNATURE_IPV4:
		kind = "ipv4";
		ipv4_of(mgid, address, sizeof(address));
		break;
	case SIGNATURE_IPV6:
		kind = "ipv6";
		ipv6_of(mgid, address, sizeof(address));
		break;
	case SIGNATURE_ASSIGNED:
		kind = "assigned";
		break;
	}
	json_add_str(o, "kind", kind);
	json_add_str(o, "address", address[0] ? address : NULL);
	json_add_str(o, "meaning", ib_mgid_words(mgid, words));
}

/* ---- members and tree ----------------------------------------------------------------------- */

static void put_join(struct json_object *o, unsigned join)
{
	static const struct {
		unsigned bit;
		const char *name;
	} bits[] = {
		{ MC_FULL, "full" },
		{ MC_NON_MEMBER, "non_member" },
		{ MC_SEND_ONLY_NON_MEMBER, "send_only_non_member" },
		{ MC_SEND_ONLY_FULL, "send_only_full" },
	};
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		if (join & bits[i].bit)
			json_object_array_add(array, json_object_new_string(bits[i].name));
	json_object_object_add(o, "join", array);
}

static struct json_object *members_array(const struct show *s, const struct row *row)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < row->n_kept; i++) {
		const struct mgroup_member *m = &row->members[i];
		struct json_object *o = json_object_new_object();

		show_put_port_guid(o, s, m->port);
		if (m->id != m->port)
			json_add_guid(o, "alias_guid", m->id);
		put_join(o, m->join);
		if (m->proxy)
			json_add_bool(o, "proxy", true);
		json_object_array_add(array, o);
	}
	return array;
}

static void put_branch(struct json_object *tree, const struct show *s, const struct dump_node *n,
		       lid_t mlid)
{
	uint64_t mask[4];
	struct json_object *o, *ports;

	if (n->type != IB_NODE_SWITCH || !mft_have_row(&n->mft, mlid, mask))
		return;
	o = json_object_new_object();
	ports = json_object_new_array();
	show_put_node(o, n);
	for (unsigned p = 0; p <= n->n_ports; p++) {
		const struct dump_port *port = show_port(s, n, p);
		struct json_object *branch;

		if (!(mask[p / 64] >> p % 64 & 1))
			continue;
		branch = json_object_new_object();
		json_add_int(branch, "port", p);
		if (port->peer != DUMP_NONE)
			json_add_str(branch, "to", dump_node_name(show_node_of(s, &s->view->ports[port->peer])));
		json_object_array_add(ports, branch);
	}
	json_object_object_add(o, "ports", ports);
	json_object_array_add(tree, o);
}

static struct json_object *tree_array(const struct show *s, lid_t mlid)
{
	struct json_object *tree = json_object_new_array();

	for (uint32_t i = 0; i < s->view->n_nodes; i++)
		put_branch(tree, s, &s->view->nodes[s->order[i]], mlid);
	return tree;
}

static struct json_object *group_object(const struct show *s, const struct row *row)
{
	struct json_object *o = json_object_new_object();
	const uint8_t *r = row->record, *mgid = ib_at((uint8_t *)r, MCM_MGID);
	lid_t mlid = (lid_t)ib_get(r, MCM_MLID);
	const struct partition *part =
		s->partitions ? partitions_find(s->partitions, (uint16_t)ib_get(r, MCM_PKEY)) : NULL;

	show_put_gid(o, "mgid", mgid);
	put_meaning(o, mgid);
	show_put_hex(o, "mlid", mlid);
	show_put_hex(o, "pkey", (unsigned)ib_get(r, MCM_PKEY));
	json_add_str(o, "partition", part ? part->name : NULL);
	json_add_int(o, "mtu", ib_mtu_bytes((unsigned)ib_get(r, MCM_MTU)));
	show_put_tenths(o, "gbps", ib_rate_bandwidth((unsigned)ib_get(r, MCM_RATE)));
	json_add_int(o, "sl", (int64_t)ib_get(r, MCM_SL));
	json_add_int(o, "scope", (int64_t)ib_get(r, MCM_SCOPE));
	json_add_bool(o, "well_known", row->well_known);
	json_add_int(o, "n_members", row->n_members);
	if (row->members) {
		json_object_object_add(o, "members", members_array(s, row));
		json_object_object_add(o, "tree", tree_array(s, mlid));
	}
	return o;
}

struct json_object *show_groups(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ret = json_object_new_object(), *groups = json_object_new_array();
	const struct row *rows = s->rows;

	show_index(s);
	for (size_t i = 0; i < s->n_rows; i++)
		json_object_array_add(groups, group_object(s, &rows[i]));
	json_object_object_add(ret, "groups", groups);
	return ret;
}
