// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes load off the channels that carry most: single entries move to other shortest ways with room.
 * What does not lead through such a channel stays as it is.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "route/graph.h"
#include "route/roll.h"
#include "route/routes.h"

struct relieve_job {
	const struct graph *graph;
	const struct distances *distances;
	const struct roll *roll;
	uint32_t tolerated; /* no entry moves while no channel carries more than this, or little more than the mean */
	unsigned threads;
	const atomic_bool *cancelled;
};

/*
 * Classes of the roll one after the other: what is moved for one counts what the classes before it
 * carry, and moves none of that. Returns the load of the most loaded channel afterwards.
 */
uint32_t relieve(const struct relieve_job *job, struct routes *r);
