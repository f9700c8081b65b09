// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions: members as their ports hold the P_Keys, with names; multicast groups that stand from
 * the start; ports whose P_Key table has no room; and members, of partitions.conf or of run time,
 * that are not in the fabric.
 */
#include <stdio.h>
#include <string.h>

#include "ib/codes.h"
#include "plan/pkey.h"
#include "show/show_internal.h"
#include "util/mem.h"

struct without_room {
	guid_t guid;
	unsigned n_dropped, n_keys;
	uint16_t keys[PKEY_DROPPED_KEPT];
};

static void note_dropped(struct show *s, const struct pkey_plan *plan, guid_t guid)
{
	size_t at = pkey_plan_find(plan, guid);
	struct without_room *row;

	if (at == SIZE_MAX || !plan->ports[at].n_dropped)
		return;
	s->rows = xrealloc(s->rows, s->n_rows + 1, sizeof(*row));
	row = (struct without_room *)s->rows + s->n_rows++;
	*row = (struct without_room){
		.guid = guid,
		.n_dropped = plan->ports[at].n_dropped,
		.n_keys = MIN(plan->ports[at].n_dropped, (unsigned)PKEY_DROPPED_KEPT),
	};
	memcpy(row->keys, pkey_plan_dropped(plan, at), row->n_keys * sizeof(row->keys[0]));
}

static bool is_wanted(const struct show *s, const struct partition *part)
{
	uint64_t pkey;

	if (!s->word[0][0] || !strcmp(part->name, s->word[0]))
		return true;
	return show_number(s->word[0], UINT16_MAX, &pkey) && (pkey & PKEY_BASE) == part->pkey;
}

/* ---- members of run time -------------------------------------------------------------------- */

static void copy_tenants(struct show *s, const struct sm *sm, const struct tenant_partition *from)
{
	struct show_tenants *t = &s->tenants;

	GROW(t->rows, t->n_rows + 1, t->cap_rows);
	t->rows[t->n_rows++] = (struct show_tenant_row){ .pkey = from->pkey,
							 .first = t->n_members,
							 .n = from->n_members };
	GROW(t->members, t->n_members + from->n_members, t->cap_members);
	for (size_t i = 0; i < from->n_members; i++)
		t->members[t->n_members++] = (struct show_tenant){
			.guid = from->members[i].guid,
			.full = from->members[i].full,
			.pending = sm_tenancy_pending(sm, from->members[i].guid),
		};
}

static void note_tenants(struct show *s, const struct sm *sm)
{
	const struct tenant_partition *from;

	for (size_t i = 0; (from = tenants_at(sm_tenants(sm), i)); i++) {
		const struct partition *part = partitions_find(s->partitions, from->pkey);

		if (part && is_wanted(s, part))
			copy_tenants(s, sm, from);
	}
}

static int compare_row(const void *key, const void *row)
{
	return (int)*(const uint16_t *)key - (int)((const struct show_tenant_row *)row)->pkey;
}

/* NULL: the table does not have it. */
static const struct show_tenant_row *tenants_of(const struct show *s, uint16_t pkey)
{
	if (!s->tenants.n_rows)
		return NULL;
	return bsearch(&pkey, s->tenants.rows, s->tenants.n_rows, sizeof(s->tenants.rows[0]),
		       compare_row);
}

static int compare_tenant(const void *key, const void *tenant)
{
	const guid_t *guid = key;
	const struct show_tenant *t = tenant;

	return *guid < t->guid ? -1 : *guid > t->guid;
}

static const struct show_tenant *find_tenant(const struct show *s,
					     const struct show_tenant_row *row, guid_t guid)
{
	if (!row || !row->n)
		return NULL;
	return bsearch(&guid, s->tenants.members + row->first, row->n,
		       sizeof(s->tenants.members[0]), compare_tenant);
}

/* ---- the snapshot --------------------------------------------------------------------------- */

enum control_collected show_partitions_collect(void *snapshot, const struct daemon_api *api,
					       struct control_error *err)
{
	struct show *s = snapshot;
	const struct pkey_plan *plan = sm_pkeys(api->sm);

	if (!s->partitions) {
		control_fail(err, "NotReady",
			     "no partitions are in force: a faulty partitions.conf at the first "
			     "start leaves P_Key tables as they are (see the log)");
		return CONTROL_FAILED;
	}
	if (show_collect(s, api, err) == CONTROL_MORE)
		return CONTROL_MORE;
	note_tenants(s, api->sm);
	for (uint32_t i = 0; plan && plan->n_dropped && i < s->view->n_ports; i++)
		if (s->view->ports[i].guid)
			note_dropped(s, plan, s->view->ports[i].guid);
	return CONTROL_COLLECTED;
}

/* ---- one partition -------------------------------------------------------------------------- */

/* Behind the port. */
#define MEMBER_FIELDS(F)                                                                           \
	F("membership", STR, show_membership(forms))                                               \
	F("pending", IF(tenant && tenant->pending, STR), tenant->pending)

static const struct json_field member_fields[] = { SHOW_END_FIELDS(FIELD_MAYBE)
							   MEMBER_FIELDS(FIELD_ROW){ 0 } };

static struct json_object *members_of(const struct show *s, uint16_t pkey,
				      const struct show_tenant_row *row)
{
	struct json_object *members = json_object_new_array(), *o;
	const struct view *v = s->answers;

	for (uint32_t i = 0; i < v->n_ports; i++) {
		unsigned forms = v->ports[i].guid ? view_pkey_forms(v, i, pkey) : 0;
		const struct show_tenant *tenant = find_tenant(s, row, v->ports[i].guid);

		if (!forms && !tenant)
			continue;
		if (!forms)
			forms = tenant->full ? PKEY_SET_FULL : PKEY_SET_LIMITED;
		o = json_append_object(members);
		show_put_port_guid(o, s, v->ports[i].guid);
		FIELDS_PUT(MEMBER_FIELDS);
	}
	return members;
}

/* A frequent slip: the GUID of a node in the place of that of a port. */
#define ABSENT_FIELDS(F)                                                                           \
	F("port_guid", GUID, guid)                                                                 \
	F("membership", STR, membership)                                                           \
	F("pending", IF(tenant, OPT(STR)), tenant->pending)                                        \
	F("remark", IF(view_find_node(s->view, guid), STR),                                        \
	  tenant ? "this is the GUID of a node; that of a port is needed"                          \
		 : "this is the GUID of a node; partitions.conf wants that of a port")

static const struct json_field absent_fields[] = FIELDS_TABLE(ABSENT_FIELDS);

/* `tenant`: a member of run time; NULL: the file names it. */
static struct json_object *absent_new(const struct show *s, guid_t guid, const char *membership,
				      const struct show_tenant *tenant)
{
	return FIELDS_NEW(ABSENT_FIELDS);
}

/* Ports that partitions.conf names, and members of run time, that the fabric does not have. */
static struct json_object *absent_of(const struct show *s, const struct partition *part,
				     const struct show_tenant_row *row)
{
	struct json_object *absent = json_object_new_array();

	for (size_t i = 0; i < part->n_items; i++) {
		const struct partition_item *item = &part->items[i];

		if (item->ports == PARTITION_GUID &&
		    view_port_of_guid(s->view, item->guid) == VIEW_NONE)
			json_object_array_add(
				absent, absent_new(s, item->guid,
						   partition_member_name(item->member), NULL));
	}
	for (size_t i = 0; row && i < row->n; i++) {
		const struct show_tenant *t = &s->tenants.members[row->first + i];

		if (view_port_of_guid(s->answers, t->guid) == VIEW_NONE)
			json_object_array_add(
				absent, absent_new(s, t->guid, t->full ? "full" : "limited", t));
	}
	return absent;
}

#define GROUP_FIELDS(F)                                                                            \
	F("mgid", GID, g->mgid)                                                                    \
	F("mtu", INT, ib_mtu_bytes(g->mtu))                                                        \
	F("gbps", TENTHS, ib_rate_bandwidth(g->rate))                                              \
	F("sl", INT, g->sl)

static const struct json_field group_fields[] = FIELDS_TABLE(GROUP_FIELDS);

static struct json_object *groups_of(const struct show *s, size_t partition)
{
	struct json_object *groups = json_object_new_array();

	for (size_t i = 0; i < s->partitions->n_groups; i++) {
		const struct partition_group *g = &s->partitions->groups[i];

		if (g->partition == partition)
			json_object_array_add(groups, FIELDS_NEW(GROUP_FIELDS));
	}
	return groups;
}

#define PARTITION_FIELDS(F)                                                                        \
	F("name", STR, part->name)                                                                 \
	F("pkey", HEX, part->pkey)                                                                 \
	F("source", STR, !row ? "file" : is_filed ? "both" : "api")                                \
	F("sl", INT, part->sl)                                                                     \
	F("members", LIST(member_fields), members_of(s, part->pkey, row))                          \
	F("absent", LIST(absent_fields), absent_of(s, part, row))                                  \
	F("groups", LIST(group_fields), groups_of(s, at))

static const struct json_field partition_fields[] = FIELDS_TABLE(PARTITION_FIELDS);

static struct json_object *partition_of(const struct show *s, size_t at)
{
	const struct partition *part = &s->partitions->list[at];
	const struct show_tenant_row *row = tenants_of(s, part->pkey);
	/* The built-in one has items and no line. */
	bool is_filed = part->line || part->n_items;

	return FIELDS_NEW(PARTITION_FIELDS);
}

static struct json_object *pkey_text(uint16_t pkey)
{
	char text[12];

	snprintf(text, sizeof(text), "0x%04x", pkey);
	return json_object_new_string(text);
}

/* Behind the port. */
#define DROPPED_FIELDS(F)                                                                          \
	F("n_dropped", INT, row->n_dropped)                                                        \
	F("pkeys", OF("[]string"), JSON_LIST(row->n_keys, pkey_text(row->keys[i])))

static const struct json_field dropped_fields[] = { SHOW_END_FIELDS(FIELD_MAYBE)
							    DROPPED_FIELDS(FIELD_ROW){ 0 } };

static struct json_object *dropped_of(const struct show *s, const struct without_room *row)
{
	struct json_object *o = json_object_new_object();

	show_put_port_guid(o, s, row->guid);
	FIELDS_PUT(DROPPED_FIELDS);
	return o;
}

#define PARTITIONS_FIELDS(F)                                                                       \
	F("origin", STR, origins[s->partitions->origin])                                           \
	F("partitions", LIST(partition_fields), partitions)                                        \
	F("without_room", LIST(dropped_fields), JSON_LIST(s->n_rows, dropped_of(s, &rows[i])))

const struct json_field show_partitions_fields[] = FIELDS_TABLE(PARTITIONS_FIELDS);

struct json_object *show_partitions(void *snapshot, struct control_error *err)
{
	static const char *const origins[] = {
		[PARTITIONS_FILE] = "file",
		[PARTITIONS_BUILTIN] = "builtin",
		[PARTITIONS_LIMITED] = "limited",
	};
	const struct show *s = snapshot;
	const struct without_room *rows = s->rows;
	struct json_object *partitions = json_object_new_array();

	for (size_t i = 0; i < s->partitions->n; i++)
		if (is_wanted(s, &s->partitions->list[i]))
			json_object_array_add(partitions, partition_of(s, i));
	if (!s->word[0][0] || json_object_array_length(partitions))
		return FIELDS_NEW(PARTITIONS_FIELDS);
	json_object_put(partitions);
	return control_fail(err, "NotFound",
			    "no partition '%.60s'; expected a name of partitions.conf or a P_Key "
			    "(0x7fff)",
			    s->word[0]);
}
