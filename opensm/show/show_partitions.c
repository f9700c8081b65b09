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
	t->rows[t->n_rows++] = (struct show_tenant_row){
		.pkey = from->pkey, .first = t->n_members, .n = from->n_members
	};
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

static void put_members(struct json_object *members, const struct show *s, uint16_t pkey,
			const struct show_tenant_row *row)
{
	const struct view *v = s->answers;

	for (uint32_t i = 0; i < v->n_ports; i++) {
		unsigned forms = v->ports[i].guid ? view_pkey_forms(v, i, pkey) : 0;
		const struct show_tenant *tenant = find_tenant(s, row, v->ports[i].guid);
		struct json_object *m;

		if (!forms && !tenant)
			continue;
		if (!forms)
			forms = tenant->full ? PKEY_SET_FULL : PKEY_SET_LIMITED;
		m = json_append_object(members);
		show_put_port_guid(m, s, v->ports[i].guid);
		json_add_str(m, "membership", show_membership(forms));
		if (tenant && tenant->pending)
			json_add_str(m, "pending", tenant->pending);
	}
}

/* Ports that partitions.conf names and the fabric does not have. */
static void put_absent(struct json_object *absent, const struct show *s,
		       const struct partition *part)
{
	for (size_t i = 0; i < part->n_items; i++) {
		const struct partition_item *item = &part->items[i];
		struct json_object *a;

		if (item->ports != PARTITION_GUID ||
		    view_port_of_guid(s->view, item->guid) != VIEW_NONE)
			continue;
		a = json_append_object(absent);
		json_add_guid(a, "port_guid", item->guid);
		json_add_str(a, "membership", partition_member_name(item->member));
		/* A frequent slip: the file wants GUIDs of ports. */
		if (view_find_node(s->view, item->guid))
			json_add_str(
				a, "remark",
				"this is the GUID of a node; partitions.conf wants that of a port");
	}
}

/* Members of run time that are no port of the fabric. */
static void put_absent_tenants(struct json_object *absent, const struct show *s,
			       const struct show_tenant_row *row)
{
	for (size_t i = 0; row && i < row->n; i++) {
		const struct show_tenant *t = &s->tenants.members[row->first + i];
		struct json_object *a;

		if (view_port_of_guid(s->answers, t->guid) != VIEW_NONE)
			continue;
		a = json_append_object(absent);
		json_add_guid(a, "port_guid", t->guid);
		json_add_str(a, "membership", t->full ? "full" : "limited");
		json_add_str(a, "pending", t->pending);
		if (view_find_node(s->view, t->guid))
			json_add_str(a, "remark",
				     "this is the GUID of a node; that of a port is needed");
	}
}

static void put_groups(struct json_object *groups, const struct show *s, size_t partition)
{
	for (size_t i = 0; i < s->partitions->n_groups; i++) {
		const struct partition_group *g = &s->partitions->groups[i];
		struct json_object *a;

		if (g->partition != partition)
			continue;
		a = json_append_object(groups);
		show_put_gid(a, "mgid", g->mgid);
		json_add_int(a, "mtu", ib_mtu_bytes(g->mtu));
		show_put_tenths(a, "gbps", ib_rate_bandwidth(g->rate));
		json_add_int(a, "sl", g->sl);
	}
}

static void put_partition(struct json_object *o, const struct show *s, size_t at)
{
	const struct partition *part = &s->partitions->list[at];
	const struct show_tenant_row *row = tenants_of(s, part->pkey);
	/* The built-in one has items and no line. */
	bool is_filed = part->line || part->n_items;
	struct json_object *absent;

	json_add_str(o, "name", part->name);
	json_add_hex(o, "pkey", part->pkey);
	json_add_str(o, "source", !row ? "file" : is_filed ? "both" : "api");
	json_add_int(o, "sl", part->sl);
	put_members(json_add_array(o, "members"), s, part->pkey, row);
	absent = json_add_array(o, "absent");
	put_absent(absent, s, part);
	put_absent_tenants(absent, s, row);
	put_groups(json_add_array(o, "groups"), s, at);
}

static void put_without_room(struct json_object *array, const struct show *s)
{
	const struct without_room *rows = s->rows;

	for (size_t i = 0; i < s->n_rows; i++) {
		struct json_object *o = json_append_object(array), *keys;
		char text[12];

		show_put_port_guid(o, s, rows[i].guid);
		json_add_int(o, "n_dropped", rows[i].n_dropped);
		keys = json_add_array(o, "pkeys");
		for (unsigned k = 0; k < rows[i].n_keys; k++) {
			snprintf(text, sizeof(text), "0x%04x", rows[i].keys[k]);
			json_append_str(keys, text);
		}
	}
}

struct json_object *show_partitions(void *snapshot, struct control_error *err)
{
	static const char *const origins[] = {
		[PARTITIONS_FILE] = "file",
		[PARTITIONS_BUILTIN] = "builtin",
		[PARTITIONS_LIMITED] = "limited",
	};
	struct show *s = snapshot;
	struct json_object *ret = json_object_new_object(), *array;

	json_add_str(ret, "origin", origins[s->partitions->origin]);
	array = json_add_array(ret, "partitions");
	for (size_t i = 0; i < s->partitions->n; i++)
		if (is_wanted(s, &s->partitions->list[i]))
			put_partition(json_append_object(array), s, i);
	if (s->word[0][0] && !json_object_array_length(array)) {
		json_object_put(ret);
		return control_fail(err, "NotFound",
				    "no partition '%.60s'; expected a name of partitions.conf or "
				    "a P_Key (0x7fff)",
				    s->word[0]);
	}
	put_without_room(json_add_array(ret, "without_room"), s);
	return ret;
}
