// SPDX-License-Identifier: BSD-2-Clause
/* Virtual time as a function of real time: t0 plus `scale` times the time since. */
#pragma once

#include "util/mono.h"

struct vclock {
	mono_t real, virtual; /* both times at the last change of scale */
	double scale;
};

static inline mono_t vclock_at(const struct vclock *c, mono_t real)
{
	return c->virtual + (mono_t)((double)(real - c->real) * c->scale);
}

/* Real time until virtual time `at`, from `real`; 0: it has passed. */
static inline mono_t vclock_wait(const struct vclock *c, mono_t real, mono_t at)
{
	mono_t now = vclock_at(c, real);

	return at <= now ? 0 : (mono_t)((double)(at - now) / c->scale) + 1;
}

static inline void vclock_scale(struct vclock *c, mono_t real, double scale)
{
	c->virtual = vclock_at(c, real);
	c->real = real;
	c->scale = scale;
}
