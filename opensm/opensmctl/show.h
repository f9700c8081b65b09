// SPDX-License-Identifier: BSD-2-Clause
/* Commands about the subnet: what their files share. */
#pragma once

#include <stdio.h>

#include "opensmctl/ctl.h"

/* Parameters of one or two texts; NULL values are left out. */
struct json_object *show_words(const char *key, const char *value, const char *key2, const char *value2);
/* "spine1/3" of an object with name and port, "spine1" of port 0; "-" of none. Returns `ret`. */
char *show_place(struct json_object *o, char ret[static 128]);
/* "4x NDR"; "" without a link. Returns `ret`. */
char *show_link(struct json_object *port, char ret[static 32]);
/* "12.5", "400". Returns `ret`. */
char *show_gbps(double gbps, char ret[static 32]);
/* Calls; NULL ends the command with c->exit_code. `array` (NULL: the whole answer) is what -j prints. */
struct json_object *show_ask(struct ctl *c, const char *method, struct json_object *parameters,
			     const char *array, bool *ret_done);

int cmd_topology(struct ctl *c, int argc, char **argv);
int cmd_nodes(struct ctl *c, int argc, char **argv);
int cmd_ports(struct ctl *c, int argc, char **argv);
int cmd_routes(struct ctl *c, int argc, char **argv);
int cmd_path(struct ctl *c, int argc, char **argv);
int cmd_partitions(struct ctl *c, int argc, char **argv);
int cmd_groups(struct ctl *c, int argc, char **argv);
int cmd_sa(struct ctl *c, int argc, char **argv);
int cmd_managers(struct ctl *c, int argc, char **argv);
