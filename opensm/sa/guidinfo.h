// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of alias GUIDs: which port goes by which other GUIDs, shared by guidinfo.c, events.c
 * and the database. sa.md 8.
 *
 * A port gets a table with its first alias; the table stays, empty perhaps, while the port does, so
 * that a deleted alias is written to the device as zeroes. A port that leaves keeps its aliases
 * and has them again when it comes back; but while it is away, another port may get them.
 *
 * Quotas: a port has as many as its GUIDCap says (255 at most), all ports sa_max_alias_guids
 * together; aliases beyond are declined: the answer shows 0 in their place.
 */
#pragma once

#include "sa/base/sa_internal.h"

#define ALIAS_BLOCK  8
#define ALIAS_BLOCKS 32 /* GUIDCap has 8 bits */

struct alias_port {
	guid_t port;
	lid_t lid; /* last known LID; 0: none */
	unsigned n_blocks;
	guid_t *guids; /* n_blocks * ALIAS_BLOCK; number 0, for the port's own GUID, is 0 here */
};

struct alias_guids {
	struct guidmap *ports;	 /* port GUID -> struct alias_port */
	struct guidmap *by_guid; /* alias -> struct alias_port */
	uint32_t counter;	 /* counter of the last assigned alias */
};

/* Called when ports came and went: their aliases come into and out of service, too. */
void alias_guids_view_changed(struct sa *sa, const struct view *before);
/* All tables, sorted by port GUID; the caller frees the array. */
struct alias_port **alias_guids_sorted(const struct sa *sa, size_t *ret_n);
/* Removes all aliases; hooks.guids_changed() follows with the next view. */
void alias_guids_clear(struct sa *sa);
/* Restores a block of a dump; guids[0] of block 0 is ignored. 0; -EINVAL; -ENOSPC (quota). */
int alias_guids_restore(struct sa *sa, guid_t port, lid_t lid, unsigned block,
			const guid_t guids[ALIAS_BLOCK]);
