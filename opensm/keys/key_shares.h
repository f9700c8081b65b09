// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which lines of absent ports are kept when there are too many (key_lines.h).
 *
 * A host with root can be any number of hosts, one after the other, and any number of switches with
 * hosts behind them, all with GUIDs of its choice: neither GUIDs nor far ends tell these from
 * others. But all of them are behind the one cable of that host. So room is shared along the tree
 * of shortest paths from the manager: at each switch, what is behind one port gets as much as what
 * is behind any other one, and what it does not need goes to the rest. Ports that no cable joins
 * with the manager any more come behind all of these, and those without a cable last.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "keys/key_lines.h"

/*
 * Sets ret_keep[i] of the lines that are kept, `max` at most: of a port all, or none, and the same
 * ones in whatever order they come. Returns how many.
 */
size_t key_shares(const struct key_line *lines, size_t n, const struct key_map *map, size_t max,
		  bool *ret_keep);
