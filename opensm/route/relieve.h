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
#include "route/ways.h"

struct relieve_job {
	const struct graph *graph;
	const struct distances *distances; /* with `find`: not needed */
	/* Ways that entries may take, nearest first; any may be combined with any. NULL: the shortest. */
	void (*find)(const void *arg, uint32_t to, struct ways *ret);
	const void *arg;
	const struct roll *roll;
	/* Per channel, when somebody has counted; then the roll has one class. NULL: they are counted. */
	const uint32_t *load;
	uint32_t tolerated; /* no entry moves while no channel carries more than this, or little more than the mean */
	uint32_t enough;    /* no channel need carry less */
	unsigned threads;
	const atomic_bool *cancelled;
};

/*
 * Classes of the roll one after the other: what is moved for one counts what the classes before it
 * carry, and moves none of that. Returns the load of the most loaded channel afterwards. Same job, same bytes.
 */
uint32_t relieve(const struct relieve_job *job, struct routes *r, uint32_t *ret_moved);
