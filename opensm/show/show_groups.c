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

/* "ipv4", "ipv6" with the address, "assigned", "other" with "". */
static const char *kind_of(const uint8_t *mgid, char ret[INET6_ADDRSTRLEN])
{
	ret[0] = '\0';
	switch ((unsigned)mgid[2] << 8 | mgid[3]) {
	case SIGNATURE_IPV4:
		ipv4_of(mgid, ret, INET6_ADDRSTRLEN);
		return "ipv4";
	case SIGNATURE_IPV6:
		ipv6_of(mgid, ret, INET6_ADDRSTRLEN);
		return "ipv6";
	case SIGNATURE_ASSIGNED:
		return "assigned";
	}
	return "other";
}

/* ---- members and tree ----------------------------------------------------------------------- */

static struct json_object *join_of(unsigned join)
{
	struct json_object *array = json_object_new_array();
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
	return array;
}

/* Behind the port. */
#define MEMBER_FIELDS(F)                                                                           \
	F("alias_guid", IF(m->id != m->port, GUID), m->id)                                         \
	F("join", OF("[]string"), join_of(m->join))                                                \
	F("proxy", IF(m->proxy, BOOL), true)

static const struct json_field member_fields[] = { SHOW_END_FIELDS(FIELD_MAYBE)
							   MEMBER_FIELDS(FIELD_ROW){ 0 } };

static struct json_object *member_of(const struct show *s, const struct mgroup_member *m)
{
	struct json_object *o = json_object_new_object();

	show_put_port_guid(o, s, m->port);
	FIELDS_PUT(MEMBER_FIELDS);
	return o;
}

#define BRANCH_FIELDS(F)                                                                           \
	F("port", INT, num)                                                                        \
	F("to", IF(p->peer != VIEW_NONE, STR),                                                     \
	  show_name(s, show_node_of(s, &s->view->ports[p->peer])))

static const struct json_field branch_fields[] = FIELDS_TABLE(BRANCH_FIELDS);

static struct json_object *branches_of(const struct show *s, const struct view_node *n,
				       const uint64_t mask[4])
{
	struct json_object *ports = json_object_new_array();

	for (unsigned num = 0; num <= n->n_ports; num++) {
		const struct view_port *p = show_port(s, n, num);

		if (mask[num / 64] >> num % 64 & 1)
			json_object_array_add(ports, FIELDS_NEW(BRANCH_FIELDS));
	}
	return ports;
}

#define TREE_FIELDS(F)                                                                             \
	SHOW_NODE_FIELDS(F)                                                                        \
	F("ports", LIST(branch_fields), branches_of(s, n, mask))

static const struct json_field tree_fields[] = FIELDS_TABLE(TREE_FIELDS);

static struct json_object *tree_of(const struct show *s, lid_t mlid)
{
	struct json_object *tree = json_object_new_array();

	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		const struct view_node *n = &s->view->nodes[i];
		char name[SHOW_CALLED];
		uint64_t mask[4];

		if (n->type == IB_NODE_SWITCH && mft_have_row(&s->view->mfts[i], mlid, mask))
			json_object_array_add(tree, FIELDS_NEW(TREE_FIELDS));
	}
	return tree;
}

#define GROUP_FIELDS(F)                                                                            \
	F("mgid", GID, mgid)                                                                       \
	F("kind", STR, kind_of(mgid, address))                                                     \
	F("address", TEXT, address)                                                                \
	F("meaning", STR, ib_mgid_words(mgid, words))                                              \
	F("mlid", HEX, mlid)                                                                       \
	F("pkey", HEX, pkey)                                                                       \
	F("partition", OPT(STR), part ? part->name : NULL)                                         \
	F("mtu", INT, ib_mtu_bytes((unsigned)ib_get(r, MCM_MTU)))                                  \
	F("gbps", TENTHS, ib_rate_bandwidth((unsigned)ib_get(r, MCM_RATE)))                        \
	F("sl", INT, ib_get(r, MCM_SL))                                                            \
	F("scope", INT, ib_get(r, MCM_SCOPE))                                                      \
	F("well_known", BOOL, row->well_known)                                                     \
	F("n_members", INT, row->n_members)                                                        \
	F("members", IF(row->members, LIST(member_fields)),                                        \
	  JSON_LIST(row->n_kept, member_of(s, &row->members[i])))                                  \
	F("tree", IF(row->members, LIST(tree_fields)), tree_of(s, mlid))

static const struct json_field group_fields[] = FIELDS_TABLE(GROUP_FIELDS);

static struct json_object *group_of(const struct show *s, const struct row *row)
{
	const uint8_t *r = row->record, *mgid = ib_at((uint8_t *)r, MCM_MGID);
	lid_t mlid = (lid_t)ib_get(r, MCM_MLID);
	uint16_t pkey = (uint16_t)ib_get(r, MCM_PKEY);
	const struct partition *part = show_partition_of(s, pkey);
	char address[INET6_ADDRSTRLEN], words[IB_MGID_STRLEN];

	return FIELDS_NEW(GROUP_FIELDS);
}

#define GROUPS_FIELDS(F)                                                                           \
	F("groups", LIST(group_fields), JSON_LIST(s->n_rows, group_of(s, &rows[i])))

const struct json_field show_groups_fields[] = FIELDS_TABLE(GROUPS_FIELDS);

struct json_object *show_groups(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	const struct row *rows = s->rows;

	return FIELDS_NEW(GROUPS_FIELDS);
}
