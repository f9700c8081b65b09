// SPDX-License-Identifier: BSD-2-Clause
/* Commands about the subnet: the table, and what they share. */
#include "opensmctl/show.h"

const struct ctl_command show_commands[] = {
	{ .name = "topology",
	  .arguments = "[--format table|ibnetdiscover|json|dot|slurm-conf|slurm-yaml]",
	  .help = "the fabric: as a table, or in a format that other programs read",
	  .words = "--format table ibnetdiscover json dot slurm-conf slurm-yaml",
	  .run = cmd_topology },
	{ .name = "nodes", .arguments = "[NAME|GUID|LID] [switch|ca|router]",
	  .help = "switches and hosts", .words = "switch ca router", .run = cmd_nodes },
	{ .name = "ports", .arguments = "[--down|--not-active|NODE|NODE/PORT]",
	  .help = "ports, and why one is not ACTIVE", .words = "--down --not-active", .run = cmd_ports },
	{ .name = "routes", .arguments = "SWITCH [LID|NODE]",
	  .help = "where a switch sends, and how much by each port", .run = cmd_routes },
	{ .name = "path", .arguments = "A B",
	  .help = "why A reaches B by these ports, with this P_Key, SL, MTU and rate; or why not",
	  .run = cmd_path },
	{ .name = "partitions", .arguments = "[NAME|PKEY]",
	  .help = "who is member of which partition", .run = cmd_partitions },
	{ .name = "groups", .arguments = "[MGID|MLID]",
	  .help = "multicast groups; of one its members and its tree", .run = cmd_groups },
	{ .name = "sa", .arguments = "[services|subscriptions|aliases]",
	  .help = "what hosts have registered", .words = "services subscriptions aliases", .run = cmd_sa },
	{ .name = "managers", .arguments = "",
	  .help = "all subnet managers, and which of them is master", .run = cmd_managers },
	{ 0 },
};

struct json_object *show_words(const char *key, const char *value, const char *key2, const char *value2)
{
	struct json_object *o = json_object_new_object();

	if (value)
		json_object_object_add(o, key, json_object_new_string(value));
	if (value2)
		json_object_object_add(o, key2, json_object_new_string(value2));
	return o;
}

char *show_place(struct json_object *o, char ret[static 128])
{
	if (!o)
		snprintf(ret, 128, "-");
	else if (!js_has(o, "name"))
		snprintf(ret, 128, "%s (not in the fabric)", js_str(o, "port_guid"));
	else if (js_int(o, "port"))
		snprintf(ret, 128, "%.70s/%d", js_str(o, "name"), (int)js_int(o, "port"));
	else
		snprintf(ret, 128, "%.70s", js_str(o, "name")); /* a switch */
	return ret;
}

char *show_link(struct json_object *port, char ret[static 32])
{
	ret[0] = '\0';
	if (js_int(port, "width"))
		snprintf(ret, 32, "%dx %.8s", (int)js_int(port, "width"), js_str(port, "speed"));
	return ret;
}

char *show_gbps(double gbps, char ret[static 32])
{
	snprintf(ret, 32, "%.4g", gbps);
	return ret;
}

struct json_object *show_ask(struct ctl *c, const char *method, struct json_object *parameters,
			     const char *array, bool *ret_done)
{
	struct json_object *doc = ctl_call(c, method, parameters);

	*ret_done = false;
	if (!doc || !c->json)
		return doc;
	ctl_print_json(c, array ? js_get(doc, array) : doc);
	*ret_done = true;
	return doc;
}
