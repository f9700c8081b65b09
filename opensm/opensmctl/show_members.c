// SPDX-License-Identifier: BSD-2-Clause
/* partitions, groups, sa, managers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"

/* ---- partitions ----------------------------------------------------------------------------- */

static unsigned count_of(struct json_object *members, const char *membership)
{
	unsigned n = 0;

	for (size_t i = 0; i < js_len(members); i++)
		n += !strcmp(js_str(js_at(members, i), "membership"), membership);
	return n;
}

static void print_partitions(struct ctl *c, struct json_object *all)
{
	static const char *const heads[] = { "PARTITION", "PKEY", "FULL>", "LIMITED>", "BOTH>", "ABSENT>",
					     "GROUPS>", "SL>", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *p = js_at(all, i), *members = js_get(p, "members");
		size_t absent = js_len(js_get(p, "absent"));

		table_cell(t, CTL_NAME, "%s", js_str(p, "name"));
		table_cell(t, CTL_PLAIN, "%s", js_str(p, "pkey"));
		table_cell(t, CTL_PLAIN, "%u", count_of(members, "full"));
		table_cell(t, CTL_PLAIN, "%u", count_of(members, "limited"));
		table_cell(t, CTL_PLAIN, "%u", count_of(members, "both"));
		table_cell(t, absent ? CTL_WARN : CTL_PLAIN, "%zu", absent);
		table_cell(t, CTL_PLAIN, "%zu", js_len(js_get(p, "groups")));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(p, "sl"));
	}
	table_print(t);
}

static void print_members(struct ctl *c, struct json_object *p)
{
	static const char *const heads[] = { "MEMBER", "MEMBERSHIP", "LID>", "PORT GUID", "REMARK", NULL };
	struct json_object *lists[] = { js_get(p, "members"), js_get(p, "absent") };
	struct table *t = table_new(c, heads);
	char place[128];

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < js_len(lists[k]); i++) {
			struct json_object *m = js_at(lists[k], i);

			table_cell(t, k ? CTL_WARN : CTL_NAME, "%s",
				   js_has(m, "name") ? show_place(m, place) : "not in the fabric");
			table_cell(t, CTL_PLAIN, "%s", js_str(m, "membership"));
			if (k)
				table_cell(t, CTL_PLAIN, "%s", "");
			else
				table_cell(t, CTL_PLAIN, "%d", (int)js_int(m, "lid"));
			table_cell(t, CTL_DIM, "%s", js_str(m, "port_guid"));
			table_cell(t, CTL_WARN, "%s", js_str(m, "remark"));
		}
	table_print(t);
}

static void print_partition_groups(struct ctl *c, struct json_object *groups)
{
	static const char *const heads[] = { "GROUP", "MTU>", "Gb/s>", "SL>", NULL };
	struct table *t = table_new(c, heads);
	char gbps[32];

	for (size_t i = 0; i < js_len(groups); i++) {
		struct json_object *g = js_at(groups, i);

		table_cell(t, CTL_NAME, "%s", js_str(g, "mgid"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(g, "mtu"));
		table_cell(t, CTL_PLAIN, "%s", show_gbps(js_num(g, "gbps"), gbps));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(g, "sl"));
	}
	table_print(t);
}

static void print_without_room(struct json_object *all)
{
	char place[128];

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *o = js_at(all, i), *keys = js_get(o, "pkeys");

		printf("%s has no room for %d P_Key(s):", show_place(o, place), (int)js_int(o, "n_dropped"));
		for (size_t k = 0; k < js_len(keys); k++)
			printf(" %s", json_object_get_string(js_at(keys, k)));
		putchar('\n');
	}
}

static void print_origin(const char *origin)
{
	if (!strcmp(origin, "builtin"))
		puts("No partitions.conf is in force: everybody is full member of the default partition.\n");
	else if (!strcmp(origin, "limited"))
		puts("partitions.conf is faulty, and there was no good one before: all are limited members "
		     "(see the log).\n");
}

int cmd_partitions(struct ctl *c, int argc, char **argv)
{
	struct json_object *doc, *all;
	bool done;

	if (argc > 1)
		return ctl_usage(&show_commands[5], "'%s' is one too many", argv[1]);
	doc = show_ask(c, "Partitions", show_words("partition", argc ? argv[0] : NULL, NULL, NULL),
		       "partitions", &done);
	if (!doc)
		return c->exit_code;
	all = js_get(doc, "partitions");
	if (!done && !c->oneline)
		print_origin(js_str(doc, "origin"));
	if (!done && (!argc || !c->oneline))
		print_partitions(c, all);
	for (size_t i = 0; !done && argc && i < js_len(all); i++) {
		if (!c->oneline)
			putchar('\n');
		print_members(c, js_at(all, i));
		if (js_len(js_get(js_at(all, i), "groups")) && !c->oneline) {
			putchar('\n');
			print_partition_groups(c, js_get(js_at(all, i), "groups"));
		}
	}
	if (!done)
		print_without_room(js_get(doc, "without_room"));
	json_object_put(doc);
	return CTL_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

static void print_groups(struct ctl *c, struct json_object *all)
{
	static const char *const heads[] = { "MLID", "MEMBERS>", "MTU>", "Gb/s>", "SL>", "GROUP", NULL };
	struct table *t = table_new(c, heads);
	char gbps[32];

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *g = js_at(all, i);

		table_cell(t, CTL_PLAIN, "%s", js_str(g, "mlid"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(g, "n_members"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(g, "mtu"));
		table_cell(t, CTL_PLAIN, "%s", show_gbps(js_num(g, "gbps"), gbps));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(g, "sl"));
		table_cell(t, CTL_NAME, "%s", js_str(g, "meaning"));
	}
	table_print(t);
}

static char *join_str(struct json_object *array, char ret[static 96])
{
	ret[0] = '\0';
	for (size_t i = 0; i < js_len(array); i++)
		snprintf(ret + strlen(ret), 96 - strlen(ret), "%s%.30s", i ? "+" : "",
			 json_object_get_string(js_at(array, i)));
	return ret;
}

static void print_group_members(struct ctl *c, struct json_object *members)
{
	static const char *const heads[] = { "MEMBER", "JOINED AS", "LID>", "GUID", "", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(members); i++) {
		struct json_object *m = js_at(members, i);
		char place[128], join[96];

		table_cell(t, CTL_NAME, "%s", show_place(m, place));
		table_cell(t, CTL_PLAIN, "%s", join_str(js_get(m, "join"), join));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(m, "lid"));
		table_cell(t, CTL_DIM, "%s", js_str(m, js_has(m, "alias_guid") ? "alias_guid" : "port_guid"));
		table_cell(t, CTL_PLAIN, "%s", js_has(m, "alias_guid") ? "alias" :
					       js_bool(m, "proxy") ? "by another port" : "");
	}
	table_print(t);
}

static void print_tree(struct ctl *c, struct json_object *tree)
{
	static const char *const heads[] = { "SWITCH", "PORT>", "TO", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(tree); i++) {
		struct json_object *s = js_at(tree, i), *ports = js_get(s, "ports");

		for (size_t p = 0; p < js_len(ports); p++) {
			table_cell(t, CTL_NAME, "%s", js_str(s, "name"));
			table_cell(t, CTL_PLAIN, "%d", (int)js_int(js_at(ports, p), "port"));
			table_cell(t, CTL_PLAIN, "%s", js_int(js_at(ports, p), "port")
							       ? js_str(js_at(ports, p), "to")
							       : "the switch itself");
		}
	}
	table_print(t);
}

int cmd_groups(struct ctl *c, int argc, char **argv)
{
	struct json_object *doc, *all;
	bool done;

	if (argc > 1)
		return ctl_usage(&show_commands[6], "'%s' is one too many", argv[1]);
	doc = show_ask(c, "Groups", show_words("group", argc ? argv[0] : NULL, NULL, NULL), "groups", &done);
	if (!doc)
		return c->exit_code;
	all = js_get(doc, "groups");
	if (!done)
		print_groups(c, all);
	for (size_t i = 0; !done && argc && i < js_len(all); i++) {
		if (!js_len(js_get(js_at(all, i), "members")))
			continue; /* and so no tree */
		putchar('\n');
		print_group_members(c, js_get(js_at(all, i), "members"));
		putchar('\n');
		print_tree(c, js_get(js_at(all, i), "tree"));
	}
	json_object_put(doc);
	return CTL_OK;
}

/* ---- sa ------------------------------------------------------------------------------------- */

static void print_services(struct ctl *c, struct json_object *all)
{
	static const char *const heads[] = { "SERVICE", "ID", "PORT", "PKEY", "LEASE", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *o = js_at(all, i);
		char place[128], lease[32];

		table_cell(t, CTL_NAME, "%s", js_str(o, "service_name"));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "service_id"));
		table_cell(t, CTL_PLAIN, "%s", show_place(o, place));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "pkey"));
		table_cell(t, CTL_PLAIN, "%s", js_has(o, "lease_left")
						       ? ctl_duration(js_int(o, "lease_left"), lease)
						       : "for ever");
	}
	table_print(t);
}

static void print_subscriptions(struct ctl *c, struct json_object *all)
{
	static const char *const heads[] = { "PORT", "TRAP", "LID>", "QP>", "STATE", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *o = js_at(all, i);
		char place[128];

		table_cell(t, CTL_NAME, "%s", show_place(o, place));
		if (js_has(o, "trap"))
			table_cell(t, CTL_PLAIN, "%d", (int)js_int(o, "trap"));
		else
			table_cell(t, CTL_PLAIN, "all");
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(o, "subscriber_lid"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(o, "qpn"));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "state"));
	}
	table_print(t);
}

static void print_aliases(struct ctl *c, struct json_object *all)
{
	static const char *const heads[] = { "ALIAS", "INDEX>", "PORT", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *o = js_at(all, i);
		char place[128];

		table_cell(t, CTL_PLAIN, "%s", js_str(o, "alias_guid"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(o, "index"));
		table_cell(t, CTL_NAME, "%s", show_place(o, place));
	}
	table_print(t);
}

static void print_sa_counts(struct ctl *c, struct json_object *doc)
{
	static const char *const heads[] = { "TABLE", "NOW>", "ROOM>", "FOR ONE PORT>", NULL };
	static const char *const rows[] = { "groups", "members", "services", "subscriptions", "aliases" };
	struct json_object *counts = js_get(doc, "counts"), *quotas = js_get(doc, "quotas");
	struct table *t = table_new(c, heads);
	char key[40];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(key, sizeof(key), "%s_each", rows[i]);
		table_cell(t, CTL_NAME, "%s", rows[i]);
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(counts, rows[i]));
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(quotas, rows[i]));
		if (js_has(quotas, key))
			table_cell(t, CTL_PLAIN, "%" PRId64, js_int(quotas, key));
		else
			table_cell(t, CTL_PLAIN, "%s", "");
	}
	table_print(t);
	if (c->oneline)
		return;
	printf("\nrequests %" PRId64 ": answered %" PRId64 ", refused %" PRId64 ", dropped %" PRId64 "\n",
	       js_int(counts, "requests"), js_int(counts, "answered"), js_int(counts, "refused"),
	       js_int(counts, "dropped"));
	printf("reports %" PRId64 ", of these lost %" PRId64 "\n", js_int(counts, "reports"),
	       js_int(counts, "reports_lost"));
}

int cmd_sa(struct ctl *c, int argc, char **argv)
{
	static const char *const tables[] = { "services", "subscriptions", "aliases", NULL };
	static void (*const print[])(struct ctl *, struct json_object *) = { print_services, print_subscriptions,
									     print_aliases };
	struct json_object *doc;
	int which = argc ? ctl_match(argv[0], tables) : -1;
	bool done;

	if (argc > 1 || (argc && which < 0))
		return ctl_usage(&show_commands[7], "'%s' is no table", argv[argc > 1]);
	doc = show_ask(c, "Sa", show_words("table", which < 0 ? NULL : tables[which], NULL, NULL),
		       which < 0 ? NULL : tables[which], &done);
	if (!doc)
		return c->exit_code;
	if (!done && which < 0)
		print_sa_counts(c, doc);
	else if (!done)
		print[which](c, js_get(doc, tables[which]));
	json_object_put(doc);
	return CTL_OK;
}

/* ---- managers ------------------------------------------------------------------------------- */

static void print_managers(struct ctl *c, struct json_object *all)
{
	static const char *const heads[] = { "STATE", "PRIORITY>", "GUID", "WHERE", "REMARK", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *m = js_at(all, i);
		bool master = !strcmp(js_str(m, "state"), "MASTER");

		table_cell(t, master ? CTL_GOOD : CTL_PLAIN, "%s", js_has(m, "state") ? js_str(m, "state") : "?");
		if (js_has(m, "priority"))
			table_cell(t, CTL_PLAIN, "%d", (int)js_int(m, "priority"));
		else
			table_cell(t, CTL_PLAIN, "?");
		table_cell(t, CTL_DIM, "%s", js_str(m, "port_guid"));
		table_cell(t, CTL_NAME, "%s", js_str(m, "where"));
		table_cell(t, js_has(m, "not_trusted") ? CTL_BAD : CTL_PLAIN, "%s",
			   js_bool(m, "own") ? "this one" : js_has(m, "not_trusted") ? js_str(m, "not_trusted") :
			   js_bool(m, "watched") ? "watched" : "");
	}
	table_print(t);
}

int cmd_managers(struct ctl *c, int argc, char **argv)
{
	struct json_object *doc;
	bool done;

	if (argc)
		return ctl_usage(&show_commands[8], "'%s' is one too many", argv[0]);
	doc = show_ask(c, "Managers", NULL, "managers", &done);
	if (!doc)
		return c->exit_code;
	if (!done)
		print_managers(c, js_get(doc, "managers"));
	json_object_put(doc);
	return CTL_OK;
}
