// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the files of the keys: keys.c (which there are, which are tried), keys_file.c. */
#pragma once

#include "sm/base/keys.h"
#include "util/told.h"

#define MANAGERS 16

struct keys {
	char *path; /* path of the file of the ring; NULL: no file is kept */
	struct key_ring *known;
	struct key_ring *none; /* a ring without a seed */
	bool is_fresh;	       /* set if there was no file at the start */
	/*
	 * `known` with another seed in front, of which a port has shown a key, so that others may
	 * have keys of it, too. NULL: no such seed. `met_in`: the sweep in which it was seen last.
	 */
	struct key_ring *met;
	uint32_t met_in;
	/*
	 * As MASTER: `known` in a later epoch, which a port or another manager has shown. Ports
	 * that this manager rules have keys of `known` until that is put in force. NULL: none.
	 */
	struct key_ring *later;
	uint64_t kept; /* mark of the ring in the file, as far as known; 0: none */
	/* Set if `known` has an epoch that a port showed, and is not on the disk yet. */
	bool is_unstored;
	/* Set if another manager may have rotated keys since guid2mkey was written. */
	bool others_ruled;
	uint32_t n_ruled; /* how often another manager was found to have ruled */
	mono_t used_at;	  /* time at which a ring last came into force */
	bool is_unlooked; /* set until keys_look() has put keys of the ring first */
	/* Ring buffer of keys_manager_met(); `manager_at`: index of the next entry. */
	guid_t managers[MANAGERS];
	unsigned manager_at;
	struct told told;
	uint64_t own_shown; /* key that our own port showed last */
	uint64_t released;  /* m_key in force before --release; 0: none */
};

/* Reads the kept ring at the start, and judges whether it can be used. */
void keys_read(struct keys *k);
