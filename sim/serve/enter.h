// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mount namespaces. A fabric is mounted in one of its own, so that nothing is left when it ends; a
 * program on a node gets another one, with /dev/infiniband and /sys/class of the node.
 */
#pragma once

#include <stddef.h>

/* Gives this process mounts of its own. 0 or -errno. */
int enter_private(void);
/*
 * Moves this process to a node of the fabric served by `pid`, mounted at `folder`; `node` is the
 * number of the node. 0, or -errno and a line on stderr.
 */
int enter_node(int pid, const char *folder, unsigned node);
/*
 * Mounts /dev/infiniband and /sys/class of a node over those below folder `root` ("/" for the root
 * itself) in the mount namespace of process `into` (0: ours), which may be running. 0, or -errno
 * and a line on stderr. This process is in that namespace afterwards.
 */
int lay_node(int pid, const char *folder, unsigned node, int into, const char *root);
