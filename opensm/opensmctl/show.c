// SPDX-License-Identifier: BSD-2-Clause
/* Commands about the subnet: the table, and what they share. */
#include "opensmctl/partitions.h"
#include "opensmctl/show.h"

const struct ctl_command show_commands[] = {
	{ .name = "topology",
	  .arguments = "[save FILE [--csv]|diff [--json]|accept FINDING|all] "
		       "[--format table|ibnetdiscover|json|dot|slurm-conf|slurm-block|"
		       "slurm-yaml|k8s] [--network PATTERN] [--ports DEVICE] [--blocks leaf|pod] "
		       "[--block-size N] [--k8s-prefix DOMAIN]",
	  .help = "the fabric: as a table, or in a format that other programs read; save, diff and "
		  "accept: as it was meant",
	  .words = "save diff accept --csv --json "
		   "--format table ibnetdiscover json dot slurm-conf slurm-block slurm-yaml k8s "
		   "--network --ports --blocks leaf pod --block-size --k8s-prefix",
	  .scope = CTL_SEES_ALL,
	  .run = cmd_topology },
	{ .name = "nodes",
	  .arguments = "[NAME|GUID|LID] [switch|ca|router]",
	  .help = "switches and hosts",
	  .words = "switch ca router",
	  .scope = CTL_SHOWS,
	  .run = cmd_nodes },
	{ .name = "ports",
	  .arguments = "[--down|--not-active|--violations|NODE|NODE/PORT]",
	  .help = "ports, and why one is not ACTIVE; --violations: with violations by the node "
		  "attached",
	  .words = "--down --not-active --violations",
	  .scope = CTL_SHOWS,
	  .run = cmd_ports },
	{ .name = "routes",
	  .arguments = "SWITCH [LID|NODE]",
	  .help = "where a switch sends, and how much by each port",
	  .scope = CTL_SHOWS,
	  .run = cmd_routes },
	{ .name = "path",
	  .arguments = "A B [--service-id S] [--qos-class C] [--pkey P]",
	  .help = "why A reaches B by these ports, with this P_Key, SL, MTU and rate; or why not",
	  .words = "--service-id --qos-class --pkey",
	  .scope = CTL_SHOWS,
	  .run = cmd_path },
	{ .name = "partitions",
	  .arguments = "[list|show|create|delete|add|remove|set|configure|verify] [NAME|PKEY] "
		       "[...]",
	  .help = "which port is a member of which partition; and changes of that",
	  .words = "list show create delete add remove set configure verify --wait --no-wait "
		   "--dry-run --keep-empty --if-generation --known-only",
	  .scope = CTL_SHOWS,
	  .run = cmd_partitions,
	  .acts = partition_acts },
	{ .name = "groups",
	  .arguments = "[MGID|MLID]",
	  .help = "multicast groups; of one its members and its tree",
	  .scope = CTL_SHOWS,
	  .run = cmd_groups },
	{ .name = "sa",
	  .arguments = "[services|subscriptions|aliases]",
	  .help = "what hosts have registered",
	  .words = "services subscriptions aliases",
	  .scope = CTL_SHOWS,
	  .run = cmd_sa },
	{ .name = "managers",
	  .arguments = "[--diff]",
	  .help = "all subnet managers, and which of them is master; --diff: in what they are "
		  "configured otherwise",
	  .words = "--diff",
	  .scope = CTL_SHOWS,
	  .run = cmd_managers },
	{ .name = "smp",
	  .arguments = "get ATTRIBUTE DEVICE [MODIFIER] | show ATTRIBUTE DEVICE [PORT] [--hex]",
	  .help = "one Get as the manager, where infiniband-diags lack the M_Key; show: all blocks",
	  .words = "get show --hex nodeinfo nodedesc portinfo switchinfo pkeys sl2vl vlarb guids "
		   "lft mft sminfo",
	  .scope = CTL_ACTS,
	  .run = cmd_smp },
	{ .name = "qos",
	  .arguments = "[policy] [--json]",
	  .help = "VLs as programmed, by kind of port: which SL takes which, and its share of a "
		  "cable; lanes that starve; policy: the rules of qos-policy.conf, and how often "
		  "each decided",
	  .words = "policy --json",
	  .scope = CTL_SHOWS,
	  .run = cmd_qos },
	{ 0 },
};

struct json_object *show_words(const char *key, const char *value, const char *key2,
			       const char *value2)
{
	struct json_object *o = json_object_new_object();

	if (value)
		json_object_object_add(o, key, json_object_new_string(value));
	if (value2)
		json_object_object_add(o, key2, json_object_new_string(value2));
	return o;
}

char *show_link(struct json_object *port, char ret[static 32])
{
	ret[0] = '\0';
	if (js_int(port, "width"))
		snprintf(ret, 32, "%dx %.8s", (int)js_int(port, "width"), js_str(port, "speed"));
	return ret;
}

int show_call(struct ctl *c, const char *method, struct json_object *parameters, const char *array,
	      void (*print)(struct ctl *c, struct json_object *answer, bool named), bool named)
{
	struct json_object *answer = ctl_call(c, method, parameters);

	if (!answer)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, array ? js_get(answer, array) : answer);
	else
		print(c, answer, named);
	json_object_put(answer);
	return CTL_OK;
}
