// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Topology document in other people's formats. Descriptions are whatever somebody wrote into an adapter:
 * no format may be broken by them.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * As ibnetdiscover of infiniband-diags prints it, so that what reads that (ibsim, topograph,
 * slurmibtopology.sh) reads this. Nodes are ordered by GUID within switches, CAs, routers; `when` is
 * seconds since 1970. Of a description a quote becomes an apostrophe: it would end the name.
 */
void format_ibnetdiscover(struct json_object *topology, int64_t when, FILE *out);
void format_dot(struct json_object *topology, FILE *out);
/* topology.conf, and topology.yaml of Slurm 25.05 and later. */
void format_slurm_conf(struct json_object *topology, FILE *out);
void format_slurm_yaml(struct json_object *topology, FILE *out);
