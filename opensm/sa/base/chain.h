// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several items under one key of a guidmap, newest first: the map has the first, and `chain` of
 * each item is the next. Owns no item.
 */
#pragma once

#include "util/guidmap.h"

/* `key` is not 0. */
#define CHAIN_ADD(map, key, item) ((item)->chain = guidmap_put((map), (key), (item)))

/* `item` must be in the chain of `key`. */
#define CHAIN_REMOVE(map, key, item)                                                               \
	do {                                                                                       \
		__typeof__(item) first_ = guidmap_get((map), (key)), *at_ = &first_;               \
                                                                                                   \
		while (*at_ != (item))                                                             \
			at_ = &(*at_)->chain;                                                      \
		*at_ = (item)->chain;                                                              \
		if (first_)                                                                        \
			guidmap_put((map), (key), first_);                                         \
		else                                                                               \
			guidmap_remove((map), (key));                                              \
	} while (0)
