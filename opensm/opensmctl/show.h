// SPDX-License-Identifier: BSD-2-Clause
/* Commands about the subnet: what their files share. */
#pragma once

#include <stdio.h>

#include "opensmctl/talk/ctl.h"

/* Parameters of one or two texts; NULL values are left out. */
struct json_object *show_words(const char *key, const char *value, const char *key2,
			       const char *value2);
/* "4x NDR"; "" without a link. Returns `ret`. */
char *show_link(struct json_object *port, char ret[static 32]);
/*
 * Calls with `parameters`, which are taken. With -j prints the member `array` of the answer (NULL:
 * all of it), else calls `print`; `named`: the user named what to show. Returns the exit code.
 */
int show_call(struct ctl *c, const char *method, struct json_object *parameters, const char *array,
	      void (*print)(struct ctl *c, struct json_object *answer, bool named), bool named);

int cmd_topology(struct ctl *c, int argc, char **argv);
int cmd_nodes(struct ctl *c, int argc, char **argv);
int cmd_ports(struct ctl *c, int argc, char **argv);
int cmd_routes(struct ctl *c, int argc, char **argv);
int cmd_path(struct ctl *c, int argc, char **argv);
int cmd_partitions(struct ctl *c, int argc, char **argv);
int cmd_groups(struct ctl *c, int argc, char **argv);
int cmd_sa(struct ctl *c, int argc, char **argv);
int cmd_qos(struct ctl *c, int argc, char **argv); /* qos.c */
/* qos_policy.c: qos policy, and the rule that decided for a path */
int qos_policy(struct ctl *c);
void qos_print_decision(struct json_object *doc);
int cmd_managers(struct ctl *c, int argc, char **argv);
int cmd_smp(struct ctl *c, int argc, char **argv); /* smp.c */
/* topology_meant.c: topology save FILE [--csv], diff [--json], accept FINDING|all. */
bool topology_is_meant(int argc, char **argv); /* argv[0] is one of these words */
int topology_as_meant(struct ctl *c, int argc, char **argv);
