// SPDX-License-Identifier: BSD-2-Clause
/* Do the cables that are held and those of the goal close a circle? */
#include "plan/mft_order.h"

#include <assert.h>
#include <string.h>

#include "util/sets.h"

/* Calls for each port of a mask; `p` is the port. */
#define EACH_PORT(mask, p)                                                                         \
	for (unsigned p##_w = 0; p##_w < 4; p##_w++)                                               \
		for (uint64_t p##_left = (mask)[p##_w]; p##_left; p##_left &= p##_left - 1)        \
			for (unsigned p = p##_w * 64 + (unsigned)__builtin_ctzll(p##_left),        \
				      p##_once = 1;                                                \
			     p##_once; p##_once = 0)

/* May the place send copies to this port that the goal does not want? */
static bool is_extra(const struct mft_place *at, unsigned port)
{
	uint64_t extra = at->held[port / 64] & ~(at->row ? at->row->mask[port / 64] : 0);

	return extra >> port % 64 & 1;
}

/* Is the cable at `port` the one that the goal has between a place and its parent? */
static bool is_up_cable(const struct mft_place *at, uint32_t up, unsigned port)
{
	return at->row && at->up == up && at->row->up_port == port;
}

/* Does the cable at `port`, on which copies may pass beyond the goal, close a circle? */
static bool closes_circle(const struct mft_order *o, uint32_t place, unsigned port)
{
	unsigned far;
	uint32_t other = o->behind(o->arg, place, port, &far);

	if (other == MCAST_NONE || is_up_cable(&o->places[place], other, port) ||
	    is_up_cable(&o->places[other], place, far))
		return false;
	/* Held at both ends: the first end counts. */
	if (other < place && is_extra(&o->places[other], far))
		return false;
	return !sets_join(o->set, place, other);
}

bool mft_order_is_free(const struct mft_order *o)
{
	assert(o && o->behind && (!o->n || (o->places && o->set)));
	for (uint32_t i = 0; i < o->n; i++)
		o->set[i] = i;
	for (uint32_t i = 0; i < o->n; i++) {
		if (o->places[i].row && o->places[i].up != MCAST_NONE)
			sets_join(o->set, i, o->places[i].up);
	}
	for (uint32_t i = 0; i < o->n; i++) {
		EACH_PORT(o->places[i].held, port)
		{
			if (is_extra(&o->places[i], port) && closes_circle(o, i, port))
				return false;
		}
	}
	return true;
}

void mft_order_row(const struct mft_order *o, uint32_t place, bool cut, uint64_t ret[4])
{
	const struct mft_place *at = &o->places[place];
	unsigned far;

	assert(place < o->n);
	memset(ret, 0, 4 * sizeof(*ret));
	if (!at->row)
		return;
	memcpy(ret, at->row->mask, 4 * sizeof(*ret));
	EACH_PORT(at->row->mask, port)
	{
		if (cut && !(at->held[port / 64] >> port % 64 & 1) &&
		    o->behind(o->arg, place, port, &far) != MCAST_NONE)
			ret[port / 64] &= ~(UINT64_C(1) << port % 64);
	}
}
