// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of commands: names and arguments are those of OpenSM, what they do is said in our
 * words.
 */
#include "console/console_internal.h"

#define PERFMGR_SYNTAX                                                                             \
	"perfmgr(pm) [enable|disable\n"                                                            \
	"             |clear_counters|dump_counters|print_counters(pc)|print_errors(pe)\n"         \
	"             |set_rm_nodes|clear_rm_nodes|clear_inactive\n"                               \
	"             |set_query_cpi|clear_query_cpi\n"                                            \
	"             |dump_redir|clear_redir\n"                                                   \
	"             |sweep|sweep_time[seconds]]"
#define PERFMGR_DETAIL                                                                             \
	"   without an argument: what the performance manager does\n"                              \
	"   enable, disable: reads counters from now on, or reads no more\n"                       \
	"   sweep: reads all counters now; sweep_time SECONDS: how often it does\n"                \
	"   print_counters (pc) [NAME|GUID][:PORT]: totals of a node, a port, or all\n"            \
	"   print_errors (pe) [NAME|GUID]: what is not 0 of the errors among them\n"               \
	"   dump_counters [mach]: totals into a file (mach: one line per port)\n"                  \
	"   clear_counters: totals start from 0\n"                                                 \
	"   set_rm_nodes, clear_rm_nodes: whether totals of nodes that are gone are dropped\n"     \
	"   clear_inactive: drops them now\n"                                                      \
	"   set_query_cpi, clear_query_cpi: whether agents are asked what they can do first\n"     \
	"   dump_redir, clear_redir [NAME|GUID]: agents that answer elsewhere\n"

/* clang-format off */
const struct console_command console_commands[] = {
	{ "quit", "quit (not valid in local mode; use ctl-c)", NULL, NULL, 0 },
	{ "loglevel", "loglevel [<log-level>]",
	  "   the sum of what is logged; 0x83 is usual\n"
	  "   0x01 errors    0x02 information     0x04 more of it       0x08 debugging\n"
	  "   0x10 functions 0x20 frames          0x40 routing tables   0x80 states (always)\n",
	  console_loglevel, 0 },
	{ "permodlog", "permodlog", NULL, console_permodlog, CONSOLE_ACTS },
	{ "priority", "priority [<sm-priority>]", NULL, console_priority, 0 },
	{ "resweep", "resweep [heavy|light]", NULL, console_resweep, CONSOLE_ACTS },
	{ "reroute", "reroute",
	  "   routes are computed afresh and written; nothing is read before\n",
	  console_reroute, CONSOLE_ACTS },
	{ "sweep", "sweep [on|off]",
	  "   off: no sweep begins, whatever happens, until it is on again\n",
	  console_sweep, CONSOLE_ACTS },
	{ "status", "status [loop]",
	  "   loop: again every 3 s; \"q\" ends it\n", console_status, 0 },
	{ "logflush", "logflush [on|off] -- accepted; every record is written at once", NULL,
	  console_logflush, CONSOLE_ACTS },
	{ "querylid", "querylid lid -- the node with this LID, and how its ports are", NULL,
	  console_querylid, 0 },
	{ "portstatus", "portstatus [ca|switch|router]",
	  "   counts ports, and names those that could be "
	  "better; only of this kind of node\n", console_portstatus, 0 },
	{ "switchbalance", "switchbalance [verbose] [guid]",
	  "   how many LIDs of hosts each cable between "
	  "switches carries\n   without verbose: only switches where that differs by more than 1\n",
	  console_switchbalance, 0 },
	{ "lidbalance", "lidbalance [switchguid]",
	  "   with LMC: hosts whose LIDs do not spread over next "
	  "switches and cables\n", console_lidbalance, 0 },
	{ "dump_conf", "dump_conf",
	  "   the configuration in force, as opensm.conf\n", console_dump_conf,
	  CONSOLE_ACTS },
	{ "update_desc", "update_desc",
	  "   asks every node for its description\n", console_update_desc,
	  CONSOLE_ACTS },
	{ "version", "version -- of this program", NULL, console_version, 0 },
	{ "perfmgr", PERFMGR_SYNTAX, PERFMGR_DETAIL, console_perfmgr, 0 },
	{ "dump_portguid", "dump_portguid [file filename] regexp1 [regexp2 [regexp3 ...]] -- "
	  "GUIDs of ports",
	  "   of every node that one of the POSIX extended expressions fits\n"
	  "   file: into this file below dump_files_dir\n", console_dump_portguid, 0 },
	{ "pm", PERFMGR_SYNTAX, PERFMGR_DETAIL, console_perfmgr, CONSOLE_HIDDEN },
	{ .name = NULL },
};
/* clang-format on */
