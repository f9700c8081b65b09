// SPDX-License-Identifier: BSD-2-Clause
/* A computation that nobody waits for any more: loops that take long ask now and then. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* NULL: never. */
static inline bool is_cancelled(const atomic_bool *cancelled)
{
	return cancelled && atomic_load_explicit(cancelled, memory_order_relaxed);
}
