// SPDX-License-Identifier: BSD-2-Clause
/*
 * Slim Fly: the graphs of McKay, Miller and Siran (MMS) for a prime q = 1 modulo 4 (5, 13, 17, 29).
 *
 * 2 q^2 switches of (3 q - 1) / 2 cables each, and no two of them further apart than two cables:
 * nearly as many switches as a graph of that degree and diameter can have. Switch (side, x, y) has
 * number (side * q + x) * q + y. Within a column x of side 0 two switches have a cable when the
 * difference of their y is a square modulo q, on side 1 when it is none; (0, x, y) and (1, m, c)
 * have one when y = m x + c.
 *
 * For the generators of the simulator and for those of unit tests (tests/lib/topogen.h), which
 * share no library.
 */
#pragma once

#include <stdbool.h>

#define SLIM_FLY_MAX 37 /* 2,738 switches of 55 cables */

static inline bool slim_fly_is_size(unsigned q)
{
	if (q < 5 || q > SLIM_FLY_MAX || q % 4 != 1)
		return false;
	for (unsigned d = 3; d * d <= q; d += 2)
		if (q % d == 0)
			return false;
	return true;
}

static inline unsigned slim_fly_switches(unsigned q)
{
	return 2 * q * q;
}

static inline bool slim_fly_is_square(unsigned q, unsigned n)
{
	for (unsigned root = 1; root < q; root++)
		if (root * root % q == n)
			return true;
	return false;
}

/* Do switches `a` and `b`, a < b, have a cable? */
static inline bool slim_fly_has_cable(unsigned q, unsigned a, unsigned b)
{
	unsigned a_side = a / (q * q), b_side = b / (q * q);
	unsigned a_x = a / q % q, b_x = b / q % q, a_y = a % q, b_y = b % q;

	if (a_side != b_side)
		return a_y == (b_x * a_x + b_y) % q;
	return a_x == b_x && slim_fly_is_square(q, (b_y - a_y) % q) != (a_side == 1);
}
