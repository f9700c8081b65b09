// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mount namespaces. A fabric is mounted in one of its own, so that nothing is left when it ends; who
 * runs on a node gets another one where /dev/infiniband and /sys/class are those of the node.
 */
#pragma once

#include <stddef.h>

/* From now on this process's mounts are its own. 0 or -errno. */
int enter_private(void);
/*
 * Takes this process to a node of the fabric served by `pid`; `folder` is where that is mounted,
 * `node` the number of the node. 0, or -errno and a line on stderr.
 */
int enter_node(int pid, const char *folder, unsigned node);
