// SPDX-License-Identifier: BSD-2-Clause
/* From facts to the immutable topo that routes are computed on. */
#pragma once

#include "fabric/fabric.h"
#include "topo/topo.h"

/*
 * Nodes of sweep `sweep` (or not silent for long), with their assigned LIDs; cables with both ends
 * above DOWN that are not avoided. Ports of CAs for which `is_aside` holds are set aside (topo.h);
 * NULL: none are. One reference.
 */
struct topo *fabric_snapshot(const struct fabric *f,
			     bool (*is_aside)(const void *arg, const struct node *ca),
			     const void *arg);
