// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions that are made and changed at run time: the table, and its changes.
 *
 * partitions.conf and this table are two sources of one thing; tenants_join() makes one of them. A
 * partition of the file is here only if the file lets it (flag "api"): then its members here count
 * as if they stood behind the last item of the file, and its fields are those of the file.
 *
 *   request --tenants_judge()--> entry --(rows of the ledger, on the disk)--> tenants_play()
 *
 * An entry says what is so afterwards, not what was asked for: played twice it changes nothing
 * more, and its inverse takes it back. Each has the generation behind that of the table.
 *
 * Pure: no clock, no file, no fabric. Not for what a device holds (sync/), nor for the right to
 * change a partition (control/).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/partitions/partitions.h"
#include "util/mem.h"
#include "util/types.h"

/* Bounds of a table; a request beyond them is refused (TENANT_TOO_MANY). */
#define TENANT_PARTITIONS_MAX	32766u	 /* as many as there are P_Keys without 0x7FFF */
#define TENANT_MEMBERS_MAX	4000000u /* of all partitions */
#define TENANT_REQUEST_MAX	65536u	 /* members in one request */
#define TENANT_CLIENT_MAX	63	 /* bytes of user, address, request in the log */
#define TENANT_GENERATION_MAX	((uint64_t)INT64_MAX) /* 1 and up; in JSON it is signed */

struct tenant_member {
	guid_t guid; /* of a port, known in the fabric or not; never 0 */
	bool full;
	bool index0; /* the P_Key is at index 0 of the port; in one partition per GUID at most */
};

/* Properties of a partition other than its members. MTU and rate are IBA codes. */
struct tenant_fields {
	char name[PARTITION_NAME_MAX + 1]; /* never "" in a table: "api_pkey_0x5" by default */
	bool ipoib; /* set if it has an IPoIB broadcast group; default true */
	uint8_t mtu;			   /* code 1..5; default 4 (2048) */
	uint8_t rate;			   /* code 2..24; default 2 (2.5 Gb/s) */
	uint8_t sl;			   /* 0..15; default 0 */
	/* number of the last removal of the P_Key before the partition was made; 0: none */
	uint64_t behind;
};

struct tenant_partition {
	uint16_t pkey; /* base: 1..0x7FFF */
	struct tenant_fields fields;
	uint64_t generation;		/* generation of the last change of the partition */
	struct tenant_member *members;	/* sorted by GUID */
	size_t n_members;
};

/* A partition of a port; those of one port are sorted by partition_order(). */
struct tenant_right {
	uint16_t pkey; /* base */
	bool full, index0;
};

struct tenants;

/* A new, empty table with generation 0. */
struct tenants *tenants_new(void);
struct tenants *tenants_free(struct tenants *t);
FREEP(tenants_free, struct tenants)

uint64_t tenants_generation(const struct tenants *t);
/* Seconds since 1970 of the last entry; 0: none. */
int64_t tenants_changed_at(const struct tenants *t);
/* The number of members in all partitions. */
size_t tenants_members(const struct tenants *t);

/* The partition at index `n`, by P_Key; NULL: there are no more. Valid until the next play. */
const struct tenant_partition *tenants_at(const struct tenants *t, size_t n);
const struct tenant_partition *tenants_find(const struct tenants *t, uint16_t pkey);
const struct tenant_member *tenants_member(const struct tenant_partition *p, guid_t guid);
/* The partitions of a port; NULL and 0: none. Valid until the next play. O(1). */
const struct tenant_right *tenants_of_port(const struct tenants *t, guid_t guid, size_t *ret_n);
/* P_Key that this port shall have at index 0 of its table; 0: no partition demands one. */
uint16_t tenants_at_index0(const struct tenants *t, guid_t guid);
/* Are these IBA codes of MTU and rate, and this service level, allowed for a partition? */
bool tenants_fields_are_fine(uint8_t mtu, uint8_t rate, uint8_t sl);
/*
 * P_Keys of the partitions of `all` that have several members, all of them limited, by
 * partition_order(), `cap` at most. Returns their number. `all`: tenants_join(), or the file if the
 * table is empty. The port of the subnet manager is ignored unless it is named.
 */
size_t tenants_all_limited(const struct tenants *t, const struct partitions *all, uint16_t *ret,
			   size_t cap);
/* Iterates over the GUIDs in partitions: `*at` is 0 at first; returns 0 at the end. */
guid_t tenants_each_port(const struct tenants *t, size_t *at);

/* ---- requests ------------------------------------------------------------------------------- */

enum tenant_action {
	TENANT_CREATE,	  /* an empty partition; no fault if it exists with the same fields */
	TENANT_DELETE,	  /* with all its members */
	TENANT_ADD, /* members are added or changed; the partition is made if it does not exist */
	TENANT_REMOVE,	  /* members are removed; a GUID that is no member is ignored */
	TENANT_SET, /* these become the only members; the partition is made if it does not exist */
	TENANT_CONFIGURE, /* changes fields of an existing partition */
};

/* The fields that a request names, as bits. */
enum tenant_field {
	TENANT_NAME = 1,
	TENANT_IPOIB = 2,
	TENANT_MTU = 4,
	TENANT_RATE = 8,
	TENANT_SL = 16,
};

struct tenant_request {
	enum tenant_action action;
	uint16_t pkey; /* base */
	/* bits of enum tenant_field; a field without its bit keeps its value, or has its default */
	unsigned has;
	struct tenant_fields fields;   /* name "": the default name */
	struct tenant_member *members; /* in any order */
	size_t n_members;
	bool keep_empty;    /* TENANT_REMOVE: a partition without members is kept */
	/* refused unless the partition has this generation (0: does not exist) */
	bool if_generation;
	uint64_t generation;
	/* Origin of the request, for the record of the change: printable, "" if unknown. */
	char user[TENANT_CLIENT_MAX + 1], address[TENANT_CLIENT_MAX + 1],
		request[TENANT_CLIENT_MAX + 1];
};

enum tenant_fault {
	TENANT_FINE,
	TENANT_UNKNOWN,	  /* the partition does not exist (DELETE, CONFIGURE) */
	TENANT_EXISTS,	  /* CREATE of a partition that exists with other fields */
	TENANT_INVALID,	  /* a value out of range, one GUID twice with different memberships */
	/*
	 * The partition is of partitions.conf and has no flag "api", or its fields are; or it is
	 * 0x7FFF, which cannot be deleted. REMOVE and DELETE are allowed all the same for members
	 * of the table, as they only take rights away.
	 */
	TENANT_READ_ONLY,
	TENANT_OVERTAKEN, /* if_generation is set, and the generation differs */
	TENANT_TOO_MANY,  /* beyond a bound of the table */
};

/* ---- entries -------------------------------------------------------------------------------- */

struct tenant_row {
	enum tenant_row_kind {
		TENANT_ROW_PARTITION, /* the partition exists with these fields */
		TENANT_ROW_GONE,      /* the partition does not exist, so has no members */
		TENANT_ROW_MEMBER,    /* `member` is a member of the partition */
		TENANT_ROW_LEFT,      /* member.guid is no member of the partition */
	} kind;
	uint16_t pkey;
	struct tenant_fields fields;
	struct tenant_member member;
	uint64_t generation; /* generation of the partition, in an inverse; 0: that of the entry */
};

struct tenant_entry {
	uint64_t generation;
	int64_t at; /* seconds since 1970 */
	struct tenant_row *rows; /* in the order of playing */
	size_t n_rows;
};
void tenant_entry_clear(struct tenant_entry *e);

/*
 * Makes the entry of a request; `file`: partitions.conf in force (NULL: none, so 0x7FFF cannot be
 * changed). TENANT_FINE: `ret` is to be cleared; without rows it changes nothing. For any other
 * result `ret` is untouched, and `why` says what was found and what was expected, with FILE:LINE of
 * a partition of the file.
 *
 * A P_Key that is set at index 0 of a port takes that place from another partition, of which the
 * entry then has a row too. TENANT_DELETE of a partition that the file has as well deletes only its
 * members in the table.
 */
enum tenant_fault tenants_judge(const struct tenants *t, const struct partitions *file,
				const struct tenant_request *rq, int64_t at,
				struct tenant_entry *ret, char *why, size_t why_size);
/*
 * The entry that undoes `e`, to be made before `e` is played; it has the present generation and
 * time, and playing it restores the present table.
 */
void tenants_inverse(const struct tenants *t, const struct tenant_entry *e,
		     struct tenant_entry *ret);
/*
 * Changes the table; any entry with P_Keys, GUIDs and fields in range can be played. O(rows), plus
 * memmove() of the members after an insertion.
 */
void tenants_play(struct tenants *t, const struct tenant_entry *e);

/*
 * The partitions of the file and of the table in one; `file` NULL: partitions_builtin(). Partitions
 * of the table alone have no items (members: tenants_of_port()) and line 0; their IPoIB groups
 * follow those of the file. partitions_text() is NULL. One reference, which the caller gives back.
 */
struct partitions *tenants_join(const struct tenants *t, const struct partitions *file,
				const struct conf *conf);
