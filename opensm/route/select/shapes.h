// SPDX-License-Identifier: BSD-2-Clause
/* Engines for fabrics that have been recognised already. Routes, or NULL and `why`. */
#pragma once

#include "route/shape/recognise.h"
#include "route/core/routes.h"

struct routes *minhop_routes(const struct route_job *job, const struct graph *g,
			     const struct shape *shape, char *why, size_t why_len);
struct routes *dragonfly_routes(const struct route_job *job, const struct graph *g,
				const struct shape *shape, char *why, size_t why_len);
struct routes *hyperx_routes(const struct route_job *job, const struct graph *g,
			     const struct shape *shape, char *why, size_t why_len);
