// SPDX-License-Identifier: BSD-2-Clause
/*
 * What survives a restart: guid2lid, guid2mkey and neighbors, in the format of OpenSM (files.md 2).
 *
 * A file is read whole, and written whole, by rename, only when its content changed. A line with an
 * error is reported and skipped, and never takes its neighbours with it; the original is then kept
 * beside as FILE.bad, unless there is one already. Nothing here logs or decides when to read or
 * write: a standby must not write, and a manager that leaves STANDBY may forget (sweep.md 8).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"
#include "util/types.h"

struct store;

enum store_file { STORE_LIDS, STORE_MKEYS, STORE_NEIGHBORS, STORE_FILES };

/* Findings of a read: "FILE:LINE: text", printable; after STORE_FINDINGS_MAX only a count. */
#define STORE_FINDINGS_MAX 20
struct store_findings {
	char *text[STORE_FINDINGS_MAX];
	size_t n;
	size_t more; /* number of findings that are not kept */
};
void store_findings_clear(struct store_findings *f);

/* An empty store; nothing is read or created yet. `dir` is copied. `durable`: files are fsynced. */
struct store *store_new(const char *dir, bool durable);
struct store *store_free(struct store *s);
FREEP(store_free, struct store)

/* "guid2lid" ... */
const char *store_file_name(enum store_file which);

/*
 * Replaces the records in memory by those of the file. Findings are added to `f` (zero-initialised,
 * or from another read). 0: read, or there is no such file yet; -errno: not readable as a whole
 * (directory, permissions, larger than 64 MB), with a finding; memory is then empty.
 */
int store_read(struct store *s, enum store_file which, struct store_findings *f);

/*
 * Writing: an image holds the whole new content of the files that changed since they were read or
 * last imaged, and is independent of the store. NULL: nothing changed.
 */
struct store_image;
struct store_image *store_image_new(struct store *s);
/*
 * Writes the image, from any thread; the folder is created when missing. 0, or the first -errno:
 * the files concerned are untouched (a failed fsync of the folder aside), the others are written.
 */
int store_image_write(struct store_image *image);
/* After a failed write: the files concerned count as changed again. */
void store_image_failed(struct store *s, const struct store_image *image);
struct store_image *store_image_free(struct store_image *image);

/* Forgets the records in memory; the file stays until an image without them is written. */
void store_forget(struct store *s, enum store_file which);

size_t store_count(const struct store *s, enum store_file which);

/* guid2lid. `guid` non-zero, 1 <= min <= max <= 0xBFFF. */
bool store_lids(const struct store *s, guid_t guid, lid_t *ret_min, lid_t *ret_max);
void store_set_lids(struct store *s, guid_t guid, lid_t min, lid_t max);
void store_drop_lids(struct store *s, guid_t guid);
/* The next range; start with *pos = 0; false at the end. Any order; no changes meanwhile. */
bool store_next_lids(const struct store *s, size_t *pos, guid_t *ret_guid, lid_t *ret_min,
		     lid_t *ret_max);

/* guid2mkey. */
bool store_mkey(const struct store *s, guid_t port_guid, uint64_t *ret_key);
void store_set_mkey(struct store *s, guid_t port_guid, uint64_t key);
/*
 * Notes that the port was given another key since, which is not known, until store_set_mkey(). Not
 * kept in the file.
 */
void store_set_mkey_former(struct store *s, guid_t port_guid);
bool store_mkey_is_former(const struct store *s, guid_t port_guid);
/* The next line; start with *pos = 0; false at the end. Any order; no changes meanwhile. */
bool store_next_mkey(const struct store *s, size_t *pos, guid_t *ret_guid, uint64_t *ret_key);

/*
 * neighbors: the other end of a cable. Ports are (port GUID, port number), switch ports (switch
 * GUID, port number), number 1..255. Setting a cable sets both directions and forgets the cables
 * that were there; a cable whose ports vanished stays known.
 */
bool store_neighbor(const struct store *s, guid_t guid, uint8_t port, guid_t *ret_guid,
		    uint8_t *ret_port);
/* store_neighbor() of an end port whose number is not known: its first cable in the file. */
bool store_neighbor_of(const struct store *s, guid_t guid, guid_t *ret_guid, uint8_t *ret_port);
/* The number of cables that a switch, or an end port, has in the file. */
unsigned store_n_neighbors(const struct store *s, guid_t guid);
void store_set_neighbor(struct store *s, guid_t a, uint8_t a_port, guid_t b, uint8_t b_port);
/* Sets the only cable of `a`, a host port. */
void store_set_only_neighbor(struct store *s, guid_t a, uint8_t a_port, guid_t b, uint8_t b_port);
/*
 * The end port that was known `nth` last behind this port, since the file was read; 0: none. It may
 * be plugged back, or was mistaken, as questions go elsewhere while cables are moved.
 */
#define STORE_FORMER 2
guid_t store_former_neighbor(const struct store *s, guid_t guid, uint8_t port, unsigned nth);
/* The other end of the only known cable of a GUID. False: none is known, or several. */
bool store_only_neighbor(const struct store *s, guid_t guid, guid_t *ret_guid, uint8_t *ret_port);
