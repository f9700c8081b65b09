// SPDX-License-Identifier: BSD-2-Clause
/* From facts to the immutable topo that routes are computed on. */
#pragma once

#include "fabric/fabric.h"
#include "topo/topo.h"

/*
 * Nodes of sweep `sweep` (or not silent for long), with their assigned LIDs; cables whose ends are
 * both above DOWN and which nobody avoids. One reference.
 */
struct topo *fabric_snapshot(const struct fabric *f);
