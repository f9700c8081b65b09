// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keys of ports that are absent: a host that is off while keys change often has a key that no ring
 * makes any more. What is known of such ports is lines, and each line that came, or changed, has a
 * later version than those before it, so that a standby is sent these and no others.
 *
 *   all that are absent --key_lines_renew()--> lines --key_lines_text(.., what it has)--> standby
 *
 * A line has the key of the end port, and one cable of it as the file neighbors has that: without
 * the place nothing says which key opens what is behind a switch port. A switch has a line for each
 * cable; lines of one port are sent together.
 *
 * All of this is secret: whatever is freed is overwritten first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/mem.h"
#include "util/types.h"

#define KEY_LINES_MAX  32768
#define KEY_LINE_BYTES 26

struct key_line {
	guid_t guid; /* of the end port; a switch's of port 0 */
	uint64_t key;
	guid_t far; /* 0, with both port numbers: no cable is known */
	uint8_t port, far_port;
};

/* It has a key, and a cable between ports that there may be, or none. */
bool key_line_can_be(const struct key_line *line);

struct key_lines;

struct key_lines *key_lines_new(void);
struct key_lines *key_lines_free(struct key_lines *l);
FREEP(key_lines_free, struct key_lines)

/*
 * Where the manager is, and the cables that are there between switches, with its own one: `guid`,
 * as in lines, is of a switch or an end port. A host that is off is reached through these.
 */
struct key_cable {
	guid_t guid, far;
	uint8_t port, far_port;
};
struct key_map {
	guid_t own;
	const struct key_cable *cables;
	size_t n;
};

/*
 * These `n` are all there are now, in any order; the caller wipes its own. More than KEY_LINES_MAX:
 * ports are left out, with all their lines, as key_shares.h says; with fewer the map may be empty.
 * Returns how many lines.
 */
size_t key_lines_renew(struct key_lines *l, const struct key_line *lines, size_t n,
		       const struct key_map *map);
size_t key_lines_count(const struct key_lines *l);
/* Of the last line that came or changed; 0: there never was one. It never decreases. */
uint64_t key_lines_version(const struct key_lines *l);
/*
 * Lines that are later than version `after`, for a standby; the caller frees, with free_wiped().
 * NULL: there are none.
 */
uint8_t *key_lines_text(const struct key_lines *l, uint64_t after, size_t *ret_len);

/* How many lines a text has; 0: it is none, or one of its lines cannot be. */
size_t key_lines_check(const uint8_t *text, size_t len);
/* The n-th line of a text that was checked. */
struct key_line key_lines_at(const uint8_t *text, size_t n);
