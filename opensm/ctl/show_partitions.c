// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions: members as their ports hold the P_Keys, with names; multicast groups that stand from the
 * start; ports whose P_Key table has no room; and GUIDs of partitions.conf that are not in the fabric.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/show.h"
#include "ib/rates.h"
#include "plan/pkey.h"
#include "util/guidmap.h"
#include "util/mem.h"

struct without_room {
	guid_t guid;
	unsigned n_dropped, n_keys;
	uint16_t keys[PKEY_DROPPED_KEPT];
};

static void free_rows(struct show *s)
{
	free(s->rows);
}

static void note_dropped(struct show *s, const struct pkey_plan *plan, guid_t guid)
{
	struct without_room *rows = s->rows;
	size_t at = pkey_plan_find(plan, guid);
	struct without_room *row;

	if (at == SIZE_MAX || !plan->ports[at].n_dropped)
		return;
	rows = xrealloc(rows, s->n_rows + 1, sizeof(*rows));
	row = &rows[s->n_rows++];
	*row = (struct without_room){
		.guid = guid,
		.n_dropped = plan->ports[at].n_dropped,
		.n_keys = MIN(plan->ports[at].n_dropped, (unsigned)PKEY_DROPPED_KEPT),
	};
	memcpy(row->keys, pkey_plan_dropped(plan, at), row->n_keys * sizeof(row->keys[0]));
	s->rows = rows;
}

void *show_partitions_new(const struct scene *scene, struct json_object *parameters,
			  struct control_error *err)
{
	struct show *s = show_asked(scene, parameters, (const char *const[]){ "partition", NULL },
				    SHOW_ANSWERS, err);
	const struct pkey_plan *plan = s ? sm_pkeys(scene->sm) : NULL;

	if (!s)
		return NULL;
	if (!s->partitions) {
		control_fail(err, "NotReady", "no partitions are in force: a faulty partitions.conf at the first "
			     "start leaves P_Key tables as they are (see the log)");
		show_drop(s);
		return NULL;
	}
	s->free_rows = free_rows;
	for (uint32_t i = 0; plan && plan->n_dropped && i < s->view->n_ports; i++)
		if (show_is_end(s, &s->view->ports[i]) && s->view->ports[i].guid)
			note_dropped(s, plan, s->view->ports[i].guid);
	return s;
}

/* ---- one partition -------------------------------------------------------------------------- */

static const char *const form_names[] = { NULL, "limited", "full", "both" };

static void put_members(struct json_object *o, const struct show *s, uint16_t pkey)
{
	const struct view *v = s->answers;
	struct json_object *members = json_object_new_array();

	for (uint32_t i = 0; i < v->n_ports; i++) {
		unsigned forms = v->ports[i].guid ? view_pkey_forms(v, i, pkey) : 0;
		struct json_object *m;

		if (!forms)
			continue;
		m = json_object_new_object();
		show_put_port_guid(m, s, v->ports[i].guid);
		json_add_str(m, "membership", form_names[forms]);
		json_object_array_add(members, m);
	}
	json_object_object_add(o, "members", members);
}

/* Named in partitions.conf, and nowhere to be seen. */
static void put_absent(struct json_object *o, const struct show *s, const struct partition *part)
{
	struct json_object *absent = json_object_new_array();

	for (size_t i = 0; i < part->n_items; i++) {
		const struct partition_item *item = &part->items[i];
		struct json_object *a;

		if (item->who != PARTITION_GUID || guidmap_get(s->by_port, item->guid))
			continue;
		a = json_object_new_object();
		json_add_guid(a, "port_guid", item->guid);
		json_add_str(a, "membership", partition_member_name(item->member));
		/* A frequent slip: the file wants GUIDs of ports. */
		if (guidmap_get(s->by_node, item->guid))
			json_add_str(a, "remark", "this is the GUID of a node; partitions.conf wants that of a port");
		json_object_array_add(absent, a);
	}
	json_object_object_add(o, "absent", absent);
}

static void put_groups(struct json_object *o, const struct show *s, size_t partition)
{
	struct json_object *groups = json_object_new_array();

	for (size_t i = 0; i < s->partitions->n_groups; i++) {
		const struct partition_group *g = &s->partitions->groups[i];
		struct json_object *a;

		if (g->partition != partition)
			continue;
		a = json_object_new_object();
		show_put_gid(a, "mgid", g->mgid);
		json_add_int(a, "mtu", ib_mtu_bytes(g->mtu));
		show_put_tenths(a, "gbps", ib_rate_bandwidth(g->rate));
		json_add_int(a, "sl", g->sl);
		json_object_array_add(groups, a);
	}
	json_object_object_add(o, "groups", groups);
}

static bool is_wanted(const struct show *s, const struct partition *part)
{
	uint64_t pkey;

	if (!s->word[0][0] || !strcmp(part->name, s->word[0]))
		return true;
	return show_number(s->word[0], UINT16_MAX, &pkey) && (pkey & PKEY_BASE) == part->pkey;
}

static struct json_object *partition_object(const struct show *s, size_t at)
{
	const struct partition *part = &s->partitions->list[at];
	struct json_object *o = json_object_new_object();

	json_add_str(o, "name", part->name);
	show_put_hex(o, "pkey", part->pkey);
	json_add_int(o, "sl", part->sl);
	put_members(o, s, part->pkey);
	put_absent(o, s, part);
	put_groups(o, s, at);
	return o;
}

static struct json_object *without_room_array(const struct show *s)
{
	const struct without_room *rows = s->rows;
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < s->n_rows; i++) {
		struct json_object *o = json_object_new_object(), *keys = json_object_new_array();
		char text[12];

		show_put_port_guid(o, s, rows[i].guid);
		json_add_int(o, "n_dropped", rows[i].n_dropped);
		for (unsigned k = 0; k < rows[i].n_keys; k++) {
			snprintf(text, sizeof(text), "0x%04x", rows[i].keys[k]);
			json_object_array_add(keys, json_object_new_string(text));
		}
		json_object_object_add(o, "pkeys", keys);
		json_object_array_add(array, o);
	}
	return array;
}

struct json_object *show_partitions(void *snapshot, struct control_error *err)
{
	static const char *const origins[] = {
		[PARTITIONS_FILE] = "file",
		[PARTITIONS_BUILTIN] = "builtin",
		[PARTITIONS_LIMITED] = "limited",
	};
	struct show *s = snapshot;
	struct json_object *ret, *array = json_object_new_array();

	show_index(s);
	for (size_t i = 0; i < s->partitions->n; i++)
		if (is_wanted(s, &s->partitions->list[i]))
			json_object_array_add(array, partition_object(s, i));
	if (s->word[0][0] && !json_object_array_length(array)) {
		json_object_put(array);
		control_fail(err, "NotFound", "no partition '%.60s'; expected a name of partitions.conf or a P_Key "
			     "(0x7fff)", s->word[0]);
		return NULL;
	}
	ret = json_object_new_object();
	json_add_str(ret, "origin", origins[s->partitions->origin]);
	json_object_object_add(ret, "partitions", array);
	json_object_object_add(ret, "without_room", without_room_array(s));
	return ret;
}
