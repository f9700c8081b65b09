// SPDX-License-Identifier: BSD-2-Clause
/* The topology for schedulers. */
#pragma once

#include "opensmctl/talk/ctl.h"
#include "opensmctl/format/slurm_tree.h"

enum scheduler_format {
	SCHEDULER_TREE,	 /* Slurm's topology.conf for topology/tree */
	SCHEDULER_BLOCK, /* Slurm's topology.conf for topology/block */
	SCHEDULER_YAML,	 /* Slurm's topology.yaml */
	SCHEDULER_K8S,	 /* kubectl label */
};

/* Arguments as given; NULL: not given. */
struct scheduler_wish {
	enum scheduler_format format;
	struct slurm_wish slurm;
	const char *k8s_prefix, *blocks, *block_size;
};

/* Parses the arguments and fills in the rest. Returns what is wrong with them, or NULL. */
const char *scheduler_wish_check(struct scheduler_wish *wish);
/* Writes to stdout. Returns the exit code. */
int show_scheduler(struct ctl *c, const struct scheduler_wish *wish);
