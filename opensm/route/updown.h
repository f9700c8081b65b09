// SPDX-License-Identifier: BSD-2-Clause
/* What updn, dnup and ftree share: from levels to tables whose ways go up and then down. */
#pragma once

#include "route/engine.h"
#include "route/fill.h"

struct updown {
	const char *engine;
	struct graph *graph;    /* gets oriented */
	const struct tree *tree;
	const uint16_t *levels; /* NULL: none worth following */
	const bool *apart;      /* as in spread.h */
	bool from_above;
	bool keeps_homes;       /* as in fill.h */
};

/* One reference, or NULL and `why`. */
struct routes *updown_route(const struct route_job *job, const struct updown *how, char *why,
			    size_t why_len);
