// SPDX-License-Identifier: BSD-2-Clause
/*
 * M_Keys of ports that are absent: a host that is off, or away, while keys change often has a key
 * that no seed makes any more. Which ports these are, and what guid2mkey says of them.
 *
 * There may be too many. A host with root can be any number of hosts, one after the other, and any
 * number of switches with hosts behind them, all with GUIDs of its choice; but all of them are
 * behind one switch port that is there. So ports are counted by the switch port behind which they
 * were seen last, as the file neighbors has it, and each switch port gets the same number at most.
 * Absent ports without a known cable get what is left.
 */
#pragma once

#include "sm/sm.h"

struct absent_key {
	guid_t guid; /* port GUID; of a switch that of port 0 */
	uint64_t key;
};

struct absent_keys {
	struct absent_key *keys; /* sorted by GUID */
	size_t n;
	size_t left_out; /* number of keys beyond `max` */
};

/* Finds at most `max` keys; `ret` is to be cleared. */
void absent_keys_find(const struct sm *sm, size_t max, struct absent_keys *ret);
/* Frees the keys and overwrites them. */
void absent_keys_clear(struct absent_keys *a);
/* The key of this port; NULL: the port is not among them. */
const struct absent_key *absent_keys_at(const struct absent_keys *a, guid_t guid);
/* Is the port present, and its key known? */
bool absent_key_is_here(const struct sm *sm, guid_t guid);
