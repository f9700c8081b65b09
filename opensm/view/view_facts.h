// SPDX-License-Identifier: BSD-2-Clause
/* Nodes and cables of a view as a picture of an expected topology (topo/expect.h). */
#pragma once

#include "topo/expect.h"
#include "view/view.h"

/* A builder for expect_build(), from any thread. Nodes have their NodeDescriptions as names. */
struct expect_builder *view_facts(const struct view *v);
