// SPDX-License-Identifier: BSD-2-Clause
/* Shared by store.c (maps, writing) and store_read.c (reading). Private to the two. */
#pragma once

#include "fabric/store.h"
#include "util/guidmap.h"

/* Values of the maps, allocated one by one. */
struct store_range {
	lid_t min, max;
};

struct store_key {
	uint64_t key;
	bool is_former; /* set by store_set_mkey_former() */
};

struct store_end {
	guid_t guid; /* 0: no cable is known */
	/* GUIDs of former cables here, the last one first; 0: none. Not in the file. */
	guid_t former[STORE_FORMER];
	uint32_t line; /* line number, while reading */
	uint8_t port;
};

/* Cables of one GUID by port number. */
struct store_cables {
	unsigned n, cap;
	struct store_end ends[];
};

struct store {
	char *dir;
	bool durable;
	bool dirty[STORE_FILES];
	struct guidmap *map[STORE_FILES]; /* GUID -> value */
};

/* The path of a file; the caller frees. */
char *store_path(const struct store *s, enum store_file which);
bool store_is_secret(enum store_file which);

/* One direction of a cable, whatever the other says. An `end` with GUID 0 removes it. */
struct store_end *store_end_at(const struct store *s, guid_t guid, uint8_t port);
void store_put_end(struct store *s, guid_t guid, uint8_t port, const struct store_end *end);
