// SPDX-License-Identifier: BSD-2-Clause
/*
 * TenantPartitions: the partitions of partitions.conf and of the table of tenants as one list,
 * copied on the main thread, made a document by the worker.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/control_change.h"
#include "control/control_internal.h"
#include "util/mem.h"

#define MTU_OF_FILE  4 /* 2048: of a partition of the file without a group (partitions-conf.md) */
#define RATE_OF_FILE 3 /* 10 Gb/s */
#define MEMBERS_NOW  1024 /* most members looked up on the main thread; else on the worker */

struct member {
	guid_t guid;
	const char *pending; /* constant text; NULL: its P_Key is on the device */
	uint32_t seq;	     /* the last one of a GUID counts */
	bool full, index0;
};

struct row {
	uint16_t pkey;
	bool in_file, in_table;
	const char *all; /* membership of ALL or ALL_CAS in the file; NULL: none */
	struct tenant_fields fields;
	uint64_t generation;
	struct member *members; /* sorted by GUID; NULL: none, or only their number is wanted */
	size_t n_members;
};

struct listing {
	uint64_t generation;
	int64_t changed;  /* seconds since 1970; 0: never */
	char closed[300]; /* "": no */
	unsigned standbys, open;
	bool has_members;
	struct row *rows; /* sorted by P_Key */
	size_t n, cap;
	/* With many members: ports of the fabric, and `pending` of GUIDs without a port. */
	struct sm_tenancy_pending *ports;
	size_t n_ports;
	const char *no_port; /* NULL: members have their `pending` already */
};

/* ---- members -------------------------------------------------------------------------------- */

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The last one of each GUID, by GUID. */
static void settle_members(struct row *row)
{
	size_t n = 0;

	if (row->n_members)
		qsort(row->members, row->n_members, sizeof(row->members[0]), compare_members);
	for (size_t i = 0; i < row->n_members; i++) {
		if (n && row->members[n - 1].guid == row->members[i].guid)
			n--;
		row->members[n++] = row->members[i];
	}
	row->n_members = n;
}

/* Collects members of the file, then those of the table, which come after all lines of the file. */
static void collect_members(struct row *row, const struct partition *file,
			    const struct tenant_partition *table)
{
	size_t room = (file ? file->n_items : 0) + (table ? table->n_members : 0), n = 0;

	row->members = xcalloc(room + 1, sizeof(row->members[0]));
	for (size_t i = 0; file && i < file->n_items; i++)
		if (file->items[i].ports == PARTITION_GUID)
			row->members[n++] = (struct member){
				.guid = file->items[i].guid,
				.full = file->items[i].member != PARTITION_LIMITED,
				.index0 = file->items[i].indx0,
				.seq = (uint32_t)i,
			};
	for (size_t i = 0; table && i < table->n_members; i++)
		row->members[n++] = (struct member){
			.guid = table->members[i].guid,
			.full = table->members[i].full,
			.index0 = table->members[i].index0,
			.seq = UINT32_MAX,
		};
	row->n_members = n;
	if (file)
		settle_members(row);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const char *membership_name(bool full)
{
	return full ? "full" : "limited";
}

static bool is_ipoib_group(const struct partition_group *g)
{
	static const uint8_t ipv4[] = { 0x40, 0x1b }, ipv6[] = { 0x60, 0x1b };

	return !memcmp(g->mgid + 2, ipv4, 2) || !memcmp(g->mgid + 2, ipv6, 2);
}

static void take_file(struct row *row, const struct partitions *all, const struct partition *file)
{
	row->in_file = true;
	row->fields = (struct tenant_fields){
		.mtu = MTU_OF_FILE, .rate = RATE_OF_FILE, .sl = file->sl
	};
	snprintf(row->fields.name, sizeof(row->fields.name), "%s", file->name);
	for (size_t i = 0; i < file->n_items; i++)
		if (file->items[i].ports == PARTITION_ALL ||
		    file->items[i].ports == PARTITION_ALL_CAS)
			row->all = membership_name(file->items[i].member != PARTITION_LIMITED);
	for (size_t i = 0; i < all->n_groups && !row->fields.ipoib; i++) {
		if (&all->list[all->groups[i].partition] != file ||
		    !is_ipoib_group(&all->groups[i]))
			continue;
		row->fields.ipoib = true;
		row->fields.mtu = all->groups[i].mtu;
		row->fields.rate = all->groups[i].rate;
	}
}

/*
 * The partition in the file; those of the table alone have no line there; the built-in one has
 * items.
 */
static const struct partition *partition_of_file(const struct partitions *all, uint16_t pkey)
{
	const struct partition *p = all ? partitions_find(all, pkey) : NULL;

	return p && (p->line || p->n_items) ? p : NULL;
}

static void add_row(struct listing *l, const struct daemon_api *api, uint16_t pkey)
{
	const struct partition *file = partition_of_file(sm_partitions(api->sm), pkey);
	const struct tenant_partition *table = tenants_find(sm_tenants(api->sm), pkey);
	struct row row = {
		.pkey = pkey,
		.in_table = table != NULL,
		.fields = { .name = "Default", .mtu = MTU_OF_FILE, .rate = RATE_OF_FILE },
	};

	if (table) {
		row.fields = table->fields;
		row.generation = table->generation;
		row.n_members = table->n_members;
	}
	if (file)
		take_file(&row, sm_partitions(api->sm), file);
	if (file || l->has_members)
		collect_members(&row, file, table);
	GROW(l->rows, l->n + 1, l->cap);
	l->rows[l->n++] = row;
}

static int compare_rows(const void *a, const void *b)
{
	return (int)((const struct row *)a)->pkey - (int)((const struct row *)b)->pkey;
}

static void add_rows(struct listing *l, const struct daemon_api *api, uint16_t wanted)
{
	const struct partitions *all = sm_partitions(api->sm);
	const struct tenants *tenants = sm_tenants(api->sm);
	const struct tenant_partition *p;
	bool is_met = false; /* 0x7FFF */

	for (size_t i = 0; (p = tenants_at(tenants, i)); i++) {
		if (!wanted || p->pkey == wanted)
			add_row(l, api, p->pkey);
		is_met = is_met || p->pkey == PKEY_DEFAULT;
	}
	for (size_t i = 0; all && i < all->n; i++) {
		uint16_t pkey = all->list[i].pkey;

		if (!partition_of_file(all, pkey) || tenants_find(tenants, pkey))
			continue;
		if (!wanted || pkey == wanted)
			add_row(l, api, pkey);
		is_met = is_met || pkey == PKEY_DEFAULT;
	}
	if (!is_met && (!wanted || wanted == PKEY_DEFAULT))
		add_row(l, api, PKEY_DEFAULT);
	if (l->n)
		qsort(l->rows, l->n, sizeof(l->rows[0]), compare_rows);
}

/* ---- what is not on its device --------------------------------------------------------------- */

static int compare_ports(const void *a, const void *b)
{
	const struct sm_tenancy_pending *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static const char *pending_of(const struct listing *l, guid_t guid)
{
	const struct sm_tenancy_pending key = { .guid = guid }, *found = NULL;

	if (l->n_ports)
		found = bsearch(&key, l->ports, l->n_ports, sizeof(key), compare_ports);
	return found ? found->why : l->no_port;
}

/* A list of few members is not to cost a look at every port, a long one not one for each member. */
static void note_pending(struct listing *l, const struct daemon_api *api)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->rows[i].n_members;
	if (n > MEMBERS_NOW) {
		l->ports = sm_tenancy_all_pending(api->sm, &l->n_ports, &l->no_port);
		return;
	}
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < l->rows[i].n_members; k++)
			l->rows[i].members[k].pending =
				sm_tenancy_pending(api->sm, l->rows[i].members[k].guid);
	}
}

/* In the worker. */
static void fill_pending(struct listing *l)
{
	if (!l->no_port)
		return;
	if (l->n_ports)
		qsort(l->ports, l->n_ports, sizeof(l->ports[0]), compare_ports);
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < l->rows[i].n_members; k++)
			l->rows[i].members[k].pending = pending_of(l, l->rows[i].members[k].guid);
	}
}

/* ---- the snapshot --------------------------------------------------------------------------- */

void *control_partitions_new(const struct control_method *m, const struct daemon_api *api,
			     struct json_object *parameters, struct control_error *err)
{
	struct json_object *pkey = json_object_object_get(parameters, "pkey");
	struct json_object *members = json_object_object_get(parameters, "members");
	struct json_object *master = json_object_object_get(parameters, "master");
	uint16_t wanted = 0;
	const char *closed;
	struct listing *l;

	if (!api->sm)
		return control_fail(err, "NotReady", "no port is open: %.250s", api->status);
	if (master && json_object_get_boolean(master) && !control_is_master(api, err))
		return NULL;
	if (pkey && !control_read_pkey(pkey, &wanted, err))
		return NULL;
	closed = sm_tenancy_closed(api->sm);
	l = xcalloc(1, sizeof(*l));
	l->generation = tenants_generation(sm_tenants(api->sm));
	l->changed = tenants_changed_at(sm_tenants(api->sm));
	l->standbys = sm_tenancy_standbys(api->sm);
	l->open = sm_tenancy_open(api->sm, wanted);
	if (wanted && l->open)
		api->wake(api->arg);
	l->has_members = members && json_object_get_boolean(members);
	snprintf(l->closed, sizeof(l->closed), "%s", closed ? closed : "");
	add_rows(l, api, wanted);
	if (l->has_members)
		note_pending(l, api);
	return l;
}

void control_partitions_drop(void *snapshot)
{
	struct listing *l = snapshot;

	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		free(l->rows[i].members);
	free(l->rows);
	free(l->ports);
	free(l);
}

/* ---- the document --------------------------------------------------------------------------- */

#define MEMBER_FIELDS(F)                                                                           \
	F("guid", GUID, m->guid)                                                                   \
	F("membership", STR, membership_name(m->full))                                             \
	F("index0", BOOL, m->index0)                                                               \
	F("pending", OPT(STR), m->pending)

static const struct json_field member_fields[] = FIELDS_TABLE(MEMBER_FIELDS);

/* MTU and rate are codes, of PortInfo and of the SA. */
#define ROW_FIELDS(F)                                                                              \
	F("pkey", HEX, row->pkey)                                                                  \
	F("name", STR, row->fields.name)                                                           \
	F("source", STR, !row->in_table ? "file" : row->in_file ? "both" : "api")                  \
	F("default_membership", OPT(STR), row->pkey == PKEY_DEFAULT ? row->all : NULL)             \
	F("ip_over_ib", BOOL, row->fields.ipoib)                                                   \
	F("mtu", INT, row->fields.mtu)                                                             \
	F("rate", INT, row->fields.rate)                                                           \
	F("sl", INT, row->fields.sl)                                                               \
	F("generation", INT, row->generation)                                                      \
	F("n_members", INT, row->n_members)                                                        \
	F("members", IF(has_members, OPT_LIST(member_fields)),                                     \
	  JSON_LIST_OF(const struct member *m, i < row->n_members && (m = &row->members[i]),       \
		       FIELDS_ITEM(MEMBER_FIELDS)))

static const struct json_field row_fields[] = FIELDS_TABLE(ROW_FIELDS);

static struct json_object *row_of(const struct row *row, bool has_members)
{
	return FIELDS_NEW(ROW_FIELDS);
}

#define LISTING_FIELDS(F)                                                                          \
	F("generation", INT, l->generation)                                                        \
	F("changed", OPT(TIME), l->changed *MONO_S)                                                \
	F("closed", TEXT, l->closed)                                                               \
	F("standbys", INT, l->standbys)                                                            \
	F("open", INT, l->open)                                                                    \
	F("partitions", LIST(row_fields), JSON_LIST(l->n, row_of(&l->rows[i], l->has_members)))

const struct json_field control_partitions_fields[] = FIELDS_TABLE(LISTING_FIELDS);

struct json_object *control_partitions(void *snapshot, struct control_error *err)
{
	struct listing *l = snapshot;

	fill_pending(l);
	return FIELDS_NEW(LISTING_FIELDS);
}
