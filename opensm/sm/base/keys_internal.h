// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the files of the keys: keys.c (which there are, which are tried), keys_file.c. */
#pragma once

#include "sm/base/keys.h"
#include "util/told.h"

#define MANAGERS 16

struct keys {
	char *path; /* NULL: nothing is kept */
	struct key_ring *known;
	struct key_ring *none; /* without a seed */
	bool is_fresh; /* there was no file at the start */
	/*
	 * `known` with another seed in front, of which a port has shown a key: others, too, may
	 * have keys of it. NULL: there is none. And the sweep in which it was seen last.
	 */
	struct key_ring *met;
	uint32_t met_in;
	/*
	 * As MASTER: `known` in a later epoch, which a port or another manager has shown. Ports
	 * that this manager rules have keys of `known` until that is put in force. NULL: none.
	 */
	struct key_ring *later;
	uint64_t kept;	       /* mark of the ring that the file has, as far as known; 0: none */
	/* `known` has an epoch that a port showed, and is not on the disk yet */
	bool is_unstored;
	/* another manager may have rotated keys since guid2mkey was written */
	bool others_ruled;
	uint32_t n_ruled; /* how often others have */
	mono_t used_at; /* when a ring came into force last */
	bool is_unlooked; /* keys_look() has not put its keys first */
	/* keys_manager_met(): the last ones; the next one is put at `manager_at` */
	guid_t managers[MANAGERS];
	unsigned manager_at;
	struct told told;
	uint64_t own_shown; /* by our own port, last */
	uint64_t released;  /* m_key of before --release; 0: none */
};

/* The ring that is kept, and whether it can be used, at the start. */
void keys_read(struct keys *k);
