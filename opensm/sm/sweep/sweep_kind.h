// SPDX-License-Identifier: BSD-2-Clause
/* The kinds of sweeps (steps.c has their lists). */
#pragma once

enum sweep_kind {
	SWEEP_NONE,
	SWEEP_LIGHT,
	SWEEP_INCREMENTAL,
	SWEEP_HEAVY,
	SWEEP_WATCH,
	SWEEP_REROUTE
};
#define SWEEP_KINDS (SWEEP_REROUTE + 1)

/*
 * The kinds of sweeps that a sweep of this kind makes unnecessary once it has begun: bits 1 << enum
 * sweep_kind.
 */
static inline unsigned sweep_covers(enum sweep_kind kind)
{
	switch (kind) {
	case SWEEP_NONE:
		return 0;
	case SWEEP_LIGHT:
	case SWEEP_INCREMENTAL:
	case SWEEP_REROUTE:
		return 1u << kind;
	case SWEEP_WATCH:
	case SWEEP_HEAVY:
		return 1u << SWEEP_LIGHT | 1u << SWEEP_INCREMENTAL | 1u << SWEEP_HEAVY;
	}
	return 0;
}
