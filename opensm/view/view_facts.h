// SPDX-License-Identifier: BSD-2-Clause
/* Nodes and cables of a view as a picture of an expected topology (topo/expect.h). */
#pragma once

#include "topo/expect.h"
#include "view/view.h"

/* For expect_build(); in any thread. Nodes have the names that they gave themselves. */
struct expect_builder *view_facts(const struct view *v);
