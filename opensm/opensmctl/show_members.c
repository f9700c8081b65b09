// SPDX-License-Identifier: BSD-2-Clause
/* partitions, groups, sa, managers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/partitions.h"
#include "util/mem.h"

/* ---- partitions ----------------------------------------------------------------------------- */

/* Adds to a partition how many members it has of each membership. */
static void add_sums(struct json_object *partition)
{
	struct json_object *members = js_get(partition, "members");

	for (size_t i = 0; i < js_len(members); i++) {
		const char *membership = js_str(js_at(members, i), "membership");
		int64_t n = js_int(partition, membership);

		json_object_object_add(partition, membership, json_object_new_int64(n + 1));
	}
}

static enum ctl_color absent_tint(struct json_object *partition)
{
	return js_len(js_get(partition, "absent")) ? CTL_WARN : CTL_PLAIN;
}

static const struct column partition_columns[] = {
	{ "PARTITION", .key = "name", .color = CTL_NAME },
	{ "PKEY", .key = "pkey" },
	{ "FULL>", COLUMN_INT, .key = "full" },
	{ "LIMITED>", COLUMN_INT, .key = "limited" },
	{ "BOTH>", COLUMN_INT, .key = "both" },
	{ "ABSENT>", COLUMN_LEN, .key = "absent", .tint = absent_tint },
	{ "GROUPS>", COLUMN_LEN, .key = "groups", .drop = 2 },
	{ "SL>", COLUMN_INT, .key = "sl", .drop = 3 },
	{ "SOURCE", .key = "source", .color = CTL_DIM, .optional = true, .drop = 1 },
	{ 0 },
};

/* The reason why the member is not in order. */
static char *member_remark_text(struct json_object *member)
{
	if (js_has(member, "remark") || !js_has(member, "pending"))
		return xstrdup(js_str(member, "remark"));
	return xasprintf("pending: %s", js_str(member, "pending"));
}

static char *member_text(struct json_object *member)
{
	return js_has(member, "name") ? ctl_place(member) : xstrdup("not in the fabric");
}

static enum ctl_color member_tint(struct json_object *member)
{
	return js_has(member, "name") ? CTL_NAME : CTL_WARN;
}

static const struct column member_columns[] = {
	{ "MEMBER", .text = member_text, .tint = member_tint },
	{ "MEMBERSHIP", .key = "membership" },
	{ "LID>", COLUMN_INT, .key = "lid", .otherwise = "" },
	{ "PORT GUID", .key = "port_guid", .color = CTL_DIM, .drop = 1 },
	{ "REMARK", .text = member_remark_text, .color = CTL_WARN, .folds = true },
	{ 0 },
};

static const struct column partition_group_columns[] = {
	{ "GROUP", .key = "mgid", .color = CTL_NAME },
	{ "MTU>", COLUMN_INT, .key = "mtu" },
	{ "Gb/s>", COLUMN_GBPS, .key = "gbps" },
	{ "SL>", COLUMN_INT, .key = "sl", .drop = 3 },
	{ 0 },
};

/* Ports of the fabric, then those that only the file names. */
static void print_members(struct ctl *c, struct json_object *partition)
{
	static const char *const lists[] = { "members", "absent" };
	struct json_object *all = json_object_new_array();

	for (unsigned l = 0; l < ARRAY_SIZE(lists); l++) {
		struct json_object *list = js_get(partition, lists[l]);

		for (size_t i = 0; i < js_len(list); i++)
			json_object_array_add(all, json_object_get(js_at(list, i)));
	}
	ctl_print_table(c, member_columns, all);
	json_object_put(all);
}

static void print_without_room(struct json_object *all)
{
	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *o = js_at(all, i), *keys = js_get(o, "pkeys");
		_cleanup_free_ char *place = ctl_place(o);

		printf("%s has no room for %d P_Key(s):", place, (int)js_int(o, "n_dropped"));
		for (size_t k = 0; k < js_len(keys); k++)
			printf(" %s", json_object_get_string(js_at(keys, k)));
		putchar('\n');
	}
}

static void print_origin(const char *origin)
{
	if (!strcmp(origin, "builtin"))
		puts("No partitions.conf is in force: all ports are members of the default "
		     "partition, full or limited as default_membership says.\n");
	else if (!strcmp(origin, "limited"))
		puts("partitions.conf is faulty, and there was no good one before: all are limited "
		     "members (see the log).\n");
}

static void print_partitions(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	bool named = js_has(asked, "partition");
	struct json_object *all = js_get(answer, "partitions");

	if (!c->oneline)
		print_origin(js_str(answer, "origin"));
	for (size_t i = 0; i < js_len(all); i++)
		add_sums(js_at(all, i));
	if (!named || !c->oneline)
		ctl_print_table(c, partition_columns, all);
	for (size_t i = 0; named && i < js_len(all); i++) {
		struct json_object *groups = js_get(js_at(all, i), "groups");

		if (!c->oneline)
			putchar('\n');
		print_members(c, js_at(all, i));
		if (js_len(groups) && !c->oneline) {
			putchar('\n');
			ctl_print_table(c, partition_group_columns, groups);
		}
	}
	print_without_room(js_get(answer, "without_room"));
}

static const struct ctl_word any_partition[] = { { CTL_TEXT, .parameter = "partition",
						   .offers = OFFER_PARTITIONS },
						 { 0 } };
static const struct ctl_word one_partition[] = {
	{ CTL_TEXT, .parameter = "partition", .offers = OFFER_PARTITIONS, .missing = "which one?" },
	{ 0 },
};

#define PARTITIONS_CALL                                                                            \
	.scope = CTL_SHOWS, .method = "Partitions", .member = "partitions",                        \
	.print = print_partitions

#define PARTITION_FIELDS_WANTED "expected name=NAME, mtu=BYTES, rate=GBPS, sl=SL, ipoib=yes|no"
#define PARTITION_CHANGE                                                                           \
	.scope = CTL_ACTS, .document = "ChangePartition", .as = "action", .with = partition_change

static const struct ctl_command partition_commands[] = {
	{ .name = "list", PARTITIONS_CALL },
	{ .name = "show", .takes = one_partition, PARTITIONS_CALL },
	{ .name = "create",
	  .takes = partition_fields_takes,
	  .excess = PARTITION_FIELDS_WANTED,
	  PARTITION_CHANGE },
	{ .name = "delete", .takes = partition_delete_takes, PARTITION_CHANGE },
	{ .name = "add", .takes = partition_add_takes, PARTITION_CHANGE },
	{ .name = "remove", .takes = partition_remove_takes, PARTITION_CHANGE },
	{ .name = "set", .takes = partition_set_takes, PARTITION_CHANGE },
	{ .name = "configure",
	  .takes = partition_fields_takes,
	  .excess = PARTITION_FIELDS_WANTED,
	  PARTITION_CHANGE },
	{ .name = "verify",
	  .scope = CTL_ACTS,
	  .document = "VerifyPartitions",
	  .with = partition_verify },
	{ 0 },
};

/* Subcommands are not abbreviated: a partition may have any name. */
const struct ctl_command ctl_partitions = {
	.name = "partitions",
	.arguments = "[list|show|create|delete|add|remove|set|configure|verify] [NAME|PKEY] [...]",
	.help = "which port is a member of which partition; and changes of that",
	.words = "list show create delete add remove set configure verify --wait --no-wait "
		 "--dry-run --keep-empty --if-generation --known-only",
	.subs = partition_commands,
	.takes = any_partition,
	PARTITIONS_CALL,
};

/* ---- groups --------------------------------------------------------------------------------- */

static const struct column group_columns[] = {
	{ "MLID", .key = "mlid" },
	{ "MEMBERS>", COLUMN_INT, .key = "n_members" },
	{ "MTU>", COLUMN_INT, .key = "mtu" },
	{ "Gb/s>", COLUMN_GBPS, .key = "gbps" },
	{ "SL>", COLUMN_INT, .key = "sl", .drop = 3 },
	{ "GROUP", .key = "meaning", .color = CTL_NAME },
	{ 0 },
};

static char *join_text(struct json_object *member)
{
	char text[96];

	return xstrdup(ctl_list(js_get(member, "join"), "+", text, sizeof(text)));
}

static char *guid_text(struct json_object *member)
{
	return xstrdup(js_str(member, js_has(member, "alias_guid") ? "alias_guid" : "port_guid"));
}

static char *joined_by_text(struct json_object *member)
{
	return xstrdup(js_has(member, "alias_guid") ? "alias"
		       : js_bool(member, "proxy")   ? "by another port"
						    : "");
}

static const struct column group_member_columns[] = {
	{ "MEMBER", COLUMN_PLACE, .color = CTL_NAME },
	{ "JOINED AS", .text = join_text, .drop = 2 },
	{ "LID>", COLUMN_INT, .key = "lid" },
	{ "GUID", .text = guid_text, .color = CTL_DIM, .drop = 1 },
	{ "", .text = joined_by_text },
	{ 0 },
};

static char *to_text(struct json_object *port)
{
	return xstrdup(js_int(port, "port") ? js_str(port, "to") : "the switch itself");
}

static const struct column tree_columns[] = {
	{ "SWITCH", .key = "switch", .color = CTL_NAME },
	{ "PORT>", COLUMN_INT, .key = "port" },
	{ "TO", .text = to_text },
	{ 0 },
};

/* A record for each port of each switch. */
static void print_tree(struct ctl *c, struct json_object *tree)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < js_len(tree); i++) {
		struct json_object *ports = js_get(js_at(tree, i), "ports");

		for (size_t k = 0; k < js_len(ports); k++) {
			struct json_object *port = js_at(ports, k);
			const char *name = js_str(js_at(tree, i), "name");

			if (!json_object_is_type(port, json_type_object))
				continue;
			json_object_object_add(port, "switch", json_object_new_string(name));
			json_object_array_add(all, json_object_get(port));
		}
	}
	ctl_print_table(c, tree_columns, all);
	json_object_put(all);
}

static void print_groups(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	bool named = js_has(asked, "group");
	struct json_object *all = js_get(answer, "groups");

	ctl_print_table(c, group_columns, all);
	for (size_t i = 0; named && i < js_len(all); i++) {
		struct json_object *members = js_get(js_at(all, i), "members");

		if (!js_len(members))
			continue; /* a group without members has no tree */
		putchar('\n');
		ctl_print_table(c, group_member_columns, members);
		putchar('\n');
		print_tree(c, js_get(js_at(all, i), "tree"));
	}
}

const struct ctl_command ctl_groups = {
	.name = "groups",
	.arguments = "[MGID|MLID]",
	.help = "multicast groups; of one its members and its tree",
	.scope = CTL_SHOWS,
	.method = "Groups",
	.takes = (const struct ctl_word[]){ { CTL_TEXT, .parameter = "group",
					      .offers = OFFER_GROUPS },
					    { 0 } },
	.member = "groups",
	.print = print_groups,
};

/* ---- sa ------------------------------------------------------------------------------------- */

static char *lease_text(struct json_object *service)
{
	char lease[32];

	return xstrdup(js_has(service, "lease_left")
			       ? ctl_duration(js_int(service, "lease_left"), lease)
			       : "for ever");
}

static const struct column service_columns[] = {
	{ "SERVICE", .key = "service_name", .color = CTL_NAME },
	{ "ID", .key = "service_id" },
	{ "PORT", .kind = COLUMN_PLACE },
	{ "PKEY", .key = "pkey" },
	{ "LEASE", .text = lease_text },
	{ 0 },
};

static const struct column subscription_columns[] = {
	{ "PORT", COLUMN_PLACE, .color = CTL_NAME },
	{ "TRAP", COLUMN_INT, .key = "trap", .otherwise = "all", .drop = 1 },
	{ "LID>", COLUMN_INT, .key = "subscriber_lid" },
	{ "QP>", COLUMN_INT, .key = "qpn", .drop = 2 },
	{ "STATE", .key = "state" },
	{ 0 },
};

static const struct column alias_columns[] = {
	{ "ALIAS", .key = "alias_guid" },
	{ "INDEX>", COLUMN_INT, .key = "index" },
	{ "PORT", COLUMN_PLACE, .color = CTL_NAME },
	{ 0 },
};

static const struct column count_columns[] = {
	{ "TABLE", .key = "table", .color = CTL_NAME },
	{ "NOW>", COLUMN_INT, .key = "now" },
	{ "ROOM>", COLUMN_INT, .key = "room" },
	{ "FOR ONE PORT>", COLUMN_INT, .key = "each", .otherwise = "" },
	{ 0 },
};

static void print_drops(struct json_object *all)
{
	for (size_t i = 0; i < js_len(all); i++)
		printf("  %8" PRId64 " dropped: %s\n", js_int(js_at(all, i), "n"),
		       js_str(js_at(all, i), "why"));
}

static void print_sa_counts(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	static const char *const tables[] = { "groups", "members", "services", "subscriptions",
					      "aliases" };
	struct json_object *counts = js_get(answer, "counts"), *quotas = js_get(answer, "quotas");
	struct json_object *rows = json_object_new_array();

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct json_object *row = json_object_new_object();
		_cleanup_free_ char *each = xasprintf("%s_each", tables[i]);

		json_object_object_add(row, "table", json_object_new_string(tables[i]));
		json_object_object_add(row, "now", json_object_get(js_get(counts, tables[i])));
		json_object_object_add(row, "room", json_object_get(js_get(quotas, tables[i])));
		json_object_object_add(row, "each", json_object_get(js_get(quotas, each)));
		json_object_array_add(rows, row);
	}
	ctl_print_table(c, count_columns, rows);
	json_object_put(rows);
	if (c->oneline)
		return;
	printf("\nrequests %" PRId64 ": answered %" PRId64 ", refused %" PRId64 ", dropped %" PRId64
	       "\n",
	       js_int(counts, "requests"), js_int(counts, "answered"), js_int(counts, "refused"),
	       js_int(counts, "dropped"));
	print_drops(js_get(answer, "dropped"));
	printf("reports %" PRId64 ", of these lost %" PRId64 "\n", js_int(counts, "reports"),
	       js_int(counts, "reports_lost"));
}

/* The answer has one table, the one that was asked for. */
static void print_sa_table(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	if (js_has(answer, "services"))
		ctl_print_table(c, service_columns, js_get(answer, "services"));
	else if (js_has(answer, "subscriptions"))
		ctl_print_table(c, subscription_columns, js_get(answer, "subscriptions"));
	else
		ctl_print_table(c, alias_columns, js_get(answer, "aliases"));
}

#define SA_TABLE .scope = CTL_SHOWS, .method = "Sa", .as = "table", .print = print_sa_table

static const struct ctl_command sa_commands[] = {
	{ .name = "services", .member = "services", SA_TABLE },
	{ .name = "subscriptions", .member = "subscriptions", SA_TABLE },
	{ .name = "aliases", .member = "aliases", SA_TABLE },
	{ 0 },
};

const struct ctl_command ctl_sa = {
	.name = "sa",
	.arguments = "[services|subscriptions|aliases]",
	.help = "what hosts have registered",
	.words = "services subscriptions aliases",
	.scope = CTL_SHOWS,
	.subs = sa_commands,
	.method = "Sa",
	.print = print_sa_counts,
};

/* ---- managers ------------------------------------------------------------------------------- */

static enum ctl_color state_tint(struct json_object *manager)
{
	return !strcmp(js_str(manager, "state"), "MASTER") ? CTL_GOOD : CTL_PLAIN;
}

static enum ctl_color remark_tint(struct json_object *manager)
{
	return js_has(manager, "not_trusted") ? CTL_BAD : CTL_PLAIN;
}

static char *remark_text(struct json_object *manager)
{
	return xstrdup(js_bool(manager, "own")		? "this one"
		       : js_has(manager, "not_trusted") ? js_str(manager, "not_trusted")
		       : js_bool(manager, "watched")	? "watched"
							: "");
}

static char *ledger_text(struct json_object *manager)
{
	return xstrdup(js_bool(manager, "own") ? "" : js_str(js_get(manager, "ledger"), "text"));
}

static enum ctl_color ledger_tint(struct json_object *manager)
{
	const char *standing = js_str(js_get(manager, "ledger"), "standing");

	return !strcmp(standing, "with")      ? CTL_GOOD
	       : !strcmp(standing, "refuses") ? CTL_BAD
					      : CTL_PLAIN;
}

static const struct column manager_columns[] = {
	{ "STATE", .key = "state", .otherwise = "?", .tint = state_tint },
	{ "PRIORITY>", COLUMN_INT, .key = "priority", .otherwise = "?" },
	{ "GUID", .key = "port_guid", .color = CTL_DIM, .drop = 1 },
	{ "WHERE", .key = "where", .color = CTL_NAME },
	{ "LEDGER", .text = ledger_text, .tint = ledger_tint, .folds = true },
	{ "REMARK", .text = remark_text, .tint = remark_tint, .folds = true },
	{ 0 },
};

static void print_managers(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	ctl_print_table(c, manager_columns, js_get(answer, "managers"));
}

static struct json_object *difference(const char *what, struct json_object *from, bool is_file)
{
	struct json_object *o = json_object_new_object();
	_cleanup_free_ char *place =
		is_file && js_int(from, "line")
			? xasprintf("%s:%" PRId64, js_str(from, "option"), js_int(from, "line"))
			: xstrdup(js_str(from, is_file ? "option" : "name"));

	json_object_object_add(o, "what", json_object_new_string(what));
	json_object_object_add(o, "name", json_object_new_string(place));
	json_object_object_add(o, "here", json_object_new_string(js_str(from, "here")));
	json_object_object_add(o, "there", json_object_new_string(js_str(from, "there")));
	return o;
}

/* Values of keys are never shown. */
static struct json_object *key_difference(const char *name)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "what", json_object_new_string("key"));
	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_object_add(o, "here", json_object_new_string("differs"));
	json_object_object_add(o, "there", json_object_new_string("differs"));
	return o;
}

static struct json_object *differences_of(struct json_object *manager)
{
	struct json_object *all = json_object_new_array(), *rows = js_get(manager, "options");

	for (size_t i = 0; i < js_len(rows); i++)
		json_object_array_add(all, difference("option", js_at(rows, i), false));
	rows = js_get(manager, "files");
	for (size_t i = 0; i < js_len(rows); i++)
		json_object_array_add(all, difference("file", js_at(rows, i), true));
	rows = js_get(manager, "keys");
	for (size_t i = 0; i < js_len(rows); i++)
		json_object_array_add(all, key_difference(json_object_get_string(js_at(rows, i))));
	return all;
}

static const struct column difference_columns[] = {
	{ "WHAT", .key = "what", .color = CTL_DIM },
	{ "NAME", .key = "name", .color = CTL_NAME },
	{ "HERE", .key = "here", .folds = true },
	{ "THERE", .key = "there", .folds = true },
	{ 0 },
};

static void print_differences(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	struct json_object *managers = js_get(answer, "managers");

	if (!js_len(managers))
		printf("no other subnet manager is known\n");
	for (size_t i = 0; i < js_len(managers); i++) {
		struct json_object *m = js_at(managers, i), *all = differences_of(m);

		printf("%s%s%s: %s\n", ctl_color(c, CTL_NAME), js_str(m, "where"),
		       ctl_color(c, CTL_PLAIN),
		       !js_bool(m, "compared") ? js_str(m, "why_not")
		       : js_len(all)	       ? "configured otherwise"
					       : "configured as this one");
		if (js_len(all))
			ctl_print_table(c, difference_columns, all);
		json_object_put(all);
	}
}

static const struct ctl_command managers_commands[] = {
	{
		.name = "--diff",
		.scope = CTL_SHOWS,
		.method = "ManagersDiff",
		.member = "managers",
		.print = print_differences,
	},
	{ 0 },
};

const struct ctl_command ctl_managers = {
	.name = "managers",
	.arguments = "[--diff]",
	.help = "all subnet managers, and which of them is master; --diff: in what they are "
		"configured otherwise",
	.words = "--diff",
	.scope = CTL_SHOWS,
	.subs = managers_commands,
	.method = "Managers",
	.member = "managers",
	.print = print_managers,
};
