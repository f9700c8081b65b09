// SPDX-License-Identifier: BSD-2-Clause
/* The cancel flag of a computation: loops that take long test it now and then. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* NULL: the computation cannot be cancelled. */
static inline bool is_cancelled(const atomic_bool *cancelled)
{
	return cancelled && atomic_load_explicit(cancelled, memory_order_relaxed);
}
