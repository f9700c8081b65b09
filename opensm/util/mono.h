// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time as the core knows it: microseconds on a monotonic clock whose origin means nothing.
 * Only daemon.c reads a clock; everything else takes `now` as an argument.
 */
#pragma once

#include <stdint.h>

typedef int64_t mono_t;

#define MONO_US ((mono_t)1)
#define MONO_MS ((mono_t)1000)
#define MONO_S ((mono_t)1000000)
#define MONO_NEVER INT64_MAX

static inline mono_t mono_min(mono_t a, mono_t b)
{
	return a < b ? a : b;
}
