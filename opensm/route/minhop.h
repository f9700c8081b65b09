// SPDX-License-Identifier: BSD-2-Clause
/* Shortest paths on any graph, spread evenly. Free of credit loops on trees only. */
#pragma once

#include "route/engine.h"

struct routes *minhop_compute(const struct route_job *job, char *why, size_t why_len);
