// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sets of channel dependencies without cycles, one per lane, that grow one dependency at a time.
 *
 * A channel is a cable between switches in one direction, numbered by switch and port. A dependency is
 * a channel and one that leaves where it ends. Each set keeps an order of the channels in which all its
 * dependencies lead forward (Pearce and Kelly): one that leads forward costs nothing to add, one that
 * leads back is searched for a cycle only between the two ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"

#define CHANNEL_NONE UINT32_MAX

/* What all sets share. */
struct channels {
	uint32_t n_switches, n; /* channels */
	uint32_t *of_port;	/* per entry of topo->ports: channel or CHANNEL_NONE */
	uint32_t *first;	/* n_switches + 1: channels that leave a switch */
	uint32_t *to;		/* switch where a channel ends */
	uint32_t *back;		/* the same cable, other direction */
	uint32_t *deps;		/* n + 1: dependencies of channel c are deps[c] .. deps[c + 1] - 1 */
};

struct channels *channels_new(const struct topo *t);
struct channels *channels_free(struct channels *c);

/* The dependency of `then`, which leaves where `channel` ends. */
static inline uint32_t channels_dep(const struct channels *c, uint32_t channel, uint32_t then)
{
	return c->deps[channel] + then - c->first[c->to[channel]];
}

struct acyclic {
	const struct channels *channels; /* borrowed */
	bool *has;	  /* per dependency */
	uint32_t *place;  /* per channel: where it stands */
	uint32_t *marks, mark;
	uint32_t *found, *queue, *pool; /* work space */
	uint64_t *keys;
};

struct acyclic *acyclic_new(const struct channels *c);
struct acyclic *acyclic_free(struct acyclic *a);
/* Adds a dependency; false and nothing added if that closed a cycle. */
bool acyclic_add(struct acyclic *a, uint32_t channel, uint32_t then);
/* Takes one away that was added. */
void acyclic_remove(struct acyclic *a, uint32_t channel, uint32_t then);
