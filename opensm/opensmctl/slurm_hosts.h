// SPDX-License-Identifier: BSD-2-Clause
/* Hosts as Slurm knows them, and names that it can take: for slurm_tree.c. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "opensmctl/slurm_tree.h"
#include "util/guidmap.h"

struct slurm_host {
	char *name;    /* safe, each once */
	char *word;    /* as the description has it */
	uint32_t leaf; /* switch, as read */
	double gbps;
	guid_t guid;
	guid_t system;
	const char *desc; /* of the document */
	bool many_leaves, namesakes;
};

struct slurm_hosts {
	struct slurm_host *all; /* by leaf, then by name */
	size_t n, cap;
};

/* `switches`: node GUID -> place + 1. Remarks go to the tree. */
void slurm_hosts_read(struct slurm_hosts *ret, struct json_object *topology, const struct guidmap *switches,
		      struct slurm_tree *tree);
void slurm_hosts_clear(struct slurm_hosts *h);
/* A safe name that no switch of the tree has yet; where it is not `name`, a remark says so. */
char *slurm_unique_name(struct slurm_tree *tree, const char *name);
void slurm_remark(struct slurm_tree *tree, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
