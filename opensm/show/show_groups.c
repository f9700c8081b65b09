// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups: multicast groups with their MGID in words; of those asked for also members and tree.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "ib/codes.h"
#include "ib/words.h"
#include "sa/mcast/mgroup.h"
#include "show/show_internal.h"
#include "util/mem.h"

struct row {
	uint8_t record[MCM_BYTES];
	bool well_known;
	unsigned n_members, n_kept;
	struct mgroup_member *members; /* n_kept of them */
};

static void clear_rows(struct show *s)
{
	struct row *rows = s->rows;

	for (size_t i = 0; i < s->n_rows; i++)
		free(rows[i].members);
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
		for (g = mgroup_on_mlid(sa, (lid_t)mlid, NULL); g;
		     g = mgroup_on_mlid(sa, (lid_t)mlid, g))
			copy_group(s, g, &cap);
	} else if (inet_pton(AF_INET6, s->word[0], mgid) == 1) {
		g = mgroup_find(sa, mgid);
		if (g)
			copy_group(s, g, &cap);
	}
}

enum control_collected show_groups_collect(void *snapshot, const struct daemon_api *api,
					   struct control_error *err)
{
	struct show *s = snapshot;

	if (show_collect(s, api, err) == CONTROL_MORE)
		return CONTROL_MORE;
	s->clear_rows = clear_rows;
	copy_groups(s, sm_sa(api->sm));
	if (!s->word[0][0] || s->n_rows)
		return CONTROL_COLLECTED;
	control_fail(err, "NotFound",
		     "no multicast group '%.60s'; expected an MGID (ff12:...) or an MLID (0xc000)",
		     s->word[0]);
	return CONTROL_FAILED;
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

static void put_join(struct json_object *array, unsigned join)
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

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		if (join & bits[i].bit)
			json_append_str(array, bits[i].name);
}

static void put_members(struct json_object *array, const struct show *s, const struct row *row)
{
	for (unsigned i = 0; i < row->n_kept; i++) {
		const struct mgroup_member *m = &row->members[i];
		struct json_object *o = json_append_object(array);

		show_put_port_guid(o, s, m->port);
		if (m->id != m->port)
			json_add_guid(o, "alias_guid", m->id);
		put_join(json_add_array(o, "join"), m->join);
		if (m->proxy)
			json_add_bool(o, "proxy", true);
	}
}

static void put_branch(struct json_object *tree, const struct show *s, const struct view_node *n,
		       lid_t mlid)
{
	uint64_t mask[4];
	struct json_object *o, *ports;

	if (n->type != IB_NODE_SWITCH ||
	    !mft_have_row(&s->view->mfts[n - s->view->nodes], mlid, mask))
		return;
	o = json_append_object(tree);
	show_put_node(o, s, n);
	ports = json_add_array(o, "ports");
	for (unsigned p = 0; p <= n->n_ports; p++) {
		const struct view_port *port = show_port(s, n, p);
		struct json_object *branch;

		if (!(mask[p / 64] >> p % 64 & 1))
			continue;
		branch = json_append_object(ports);
		json_add_int(branch, "port", p);
		if (port->peer != VIEW_NONE)
			json_add_str(branch, "to",
				     show_name(s, show_node_of(s, &s->view->ports[port->peer])));
	}
}

static void put_tree(struct json_object *tree, const struct show *s, lid_t mlid)
{
	for (uint32_t i = 0; i < s->view->n_nodes; i++)
		put_branch(tree, s, &s->view->nodes[i], mlid);
}

static void put_group(struct json_object *o, const struct show *s, const struct row *row)
{
	const uint8_t *r = row->record, *mgid = ib_at((uint8_t *)r, MCM_MGID);
	lid_t mlid = (lid_t)ib_get(r, MCM_MLID);
	const struct partition *part = show_partition_of(s, (uint16_t)ib_get(r, MCM_PKEY));

	show_put_gid(o, "mgid", mgid);
	put_meaning(o, mgid);
	json_add_hex(o, "mlid", mlid);
	json_add_hex(o, "pkey", (unsigned)ib_get(r, MCM_PKEY));
	json_add_str(o, "partition", part ? part->name : NULL);
	json_add_int(o, "mtu", ib_mtu_bytes((unsigned)ib_get(r, MCM_MTU)));
	show_put_tenths(o, "gbps", ib_rate_bandwidth((unsigned)ib_get(r, MCM_RATE)));
	json_add_int(o, "sl", (int64_t)ib_get(r, MCM_SL));
	json_add_int(o, "scope", (int64_t)ib_get(r, MCM_SCOPE));
	json_add_bool(o, "well_known", row->well_known);
	json_add_int(o, "n_members", row->n_members);
	if (row->members) {
		put_members(json_add_array(o, "members"), s, row);
		put_tree(json_add_array(o, "tree"), s, mlid);
	}
}

struct json_object *show_groups(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	struct json_object *ret = json_object_new_object();
	struct json_object *groups = json_add_array(ret, "groups");
	const struct row *rows = s->rows;

	for (size_t i = 0; i < s->n_rows; i++)
		put_group(json_append_object(groups), s, &rows[i]);
	return ret;
}
