// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Topology document in formats of other programs. Descriptions of nodes are text of any kind:
 * no format may be broken by them.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * As ibnetdiscover of infiniband-diags prints it, so that what reads that (ibsim, topograph,
 * slurmibtopology.sh) reads this. Nodes are ordered by GUID within switches, CAs, routers; `when`
 * is seconds since 1970. Of a description a quote becomes an apostrophe: it would end the name.
 */
void format_ibnetdiscover(struct json_object *topology, int64_t when, FILE *out);
void format_dot(struct json_object *topology, FILE *out);
struct slurm_tree;
struct slurm_wish;
/* topology.conf for topology/tree. */
void format_slurm_conf(const struct slurm_tree *tree, FILE *out);
/*
 * topology.conf for topology/block, and topology.yaml of Slurm 25.05 and later. What is left out of
 * blocks becomes a remark of the tree.
 */
void format_slurm_block(struct slurm_tree *tree, const struct slurm_wish *wish, FILE *out);
void format_slurm_yaml(struct slurm_tree *tree, const struct slurm_wish *wish, FILE *out);
/*
 * Commands "kubectl label --overwrite node HOST PREFIX/leaf=... ...", one a host, for a shell.
 * `prefix`: as format_k8s_prefix_is_legal() has it. Hosts whose names Kubernetes cannot have are
 * comments, and counted in tree->n_left_out.
 */
void format_k8s(struct slurm_tree *tree, const char *prefix, FILE *out);
/* A DNS subdomain of 1 to 253 bytes: labels of a-z, 0-9 and '-' with dots between. */
bool format_k8s_prefix_is_legal(const char *prefix);
