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
#define TENANT_PARTITIONS_MAX	32766u	 /* and 0x7FFF: as many as there are P_Keys */
#define TENANT_MEMBERS_MAX	4000000u /* of all partitions */
#define TENANT_REQUEST_MAX	65536u	 /* members in one request */
#define TENANT_CLIENT_MAX	63	 /* bytes of user, address, request in the log */
#define TENANT_GENERATION_MAX	((uint64_t)INT64_MAX) /* 1 and up; in JSON it is signed */

struct tenant_member {
	guid_t guid; /* of a port, known in the fabric or not; never 0 */
	bool full;
	bool index0; /* the P_Key is at index 0 of the port; in one partition per GUID at most */
};

/* What a partition has besides its members. IBA codes. */
struct tenant_fields {
	char name[PARTITION_NAME_MAX + 1]; /* never "" in a table: "api_pkey_0x5" by default */
	bool ipoib;			   /* the IPoIB broadcast group stands; default true */
	uint8_t mtu;			   /* code 1..5; default 4 (2048) */
	uint8_t rate;			   /* code 2..24; default 2 (2.5 Gb/s) */
	uint8_t sl;			   /* 0..15; default 0 */
	uint64_t behind; /* the removal of the P_Key that it was made behind; 0: none */
};

struct tenant_partition {
	uint16_t pkey; /* base: 1..0x7FFF */
	struct tenant_fields fields;
	uint64_t generation;		/* of its last change */
	struct tenant_member *members;	/* by GUID */
	size_t n_members;
};

/* One of the partitions that a port is in; of a port by partition_order(). */
struct tenant_right {
	uint16_t pkey; /* base */
	bool full, index0;
};

struct tenants;

/* Empty, with generation 0. */
struct tenants *tenants_new(void);
struct tenants *tenants_free(struct tenants *t);
FREEP(tenants_free, struct tenants)

uint64_t tenants_generation(const struct tenants *t);
/* Seconds since 1970 of the last entry; 0: none. */
int64_t tenants_changed_at(const struct tenants *t);
/* Members in all partitions. */
size_t tenants_members(const struct tenants *t);

/* Partitions by P_Key, from 0; NULL: there are no more. Good until the next play. */
const struct tenant_partition *tenants_at(const struct tenants *t, size_t n);
const struct tenant_partition *tenants_find(const struct tenants *t, uint16_t pkey);
const struct tenant_member *tenants_member(const struct tenant_partition *p, guid_t guid);
/* The partitions of a port; NULL and 0: none. Good until the next play. O(1). */
const struct tenant_right *tenants_of_port(const struct tenants *t, guid_t guid, size_t *ret_n);
/* P_Key that this port shall have at index 0 of its table; 0: no partition demands one. */
uint16_t tenants_at_index0(const struct tenants *t, guid_t guid);
/* IBA codes of MTU and rate, and a service level, that a partition may have. */
bool tenants_fields_are_fine(uint8_t mtu, uint8_t rate, uint8_t sl);
/*
 * Partitions of `all` (tenants_join(), or the file where the table is empty) that have several
 * members, all limited: their P_Keys by partition_order(), `cap` at most. Returns how many there
 * are. The port of the subnet manager does not count, unless it is named.
 */
size_t tenants_all_limited(const struct tenants *t, const struct partitions *all, uint16_t *ret,
			   size_t cap);
/* GUIDs that are in some partition: `*at` is 0 at first; 0: there are no more. */
guid_t tenants_each_port(const struct tenants *t, size_t *at);

/* ---- requests ------------------------------------------------------------------------------- */

enum tenant_action {
	TENANT_CREATE,	  /* an empty partition; one that is there and the same is fine */
	TENANT_DELETE,	  /* with all its members */
	TENANT_ADD,	  /* members come or change; the partition is made if it is not there */
	TENANT_REMOVE,	  /* members go; of those that are none, or of no partition, nothing */
	TENANT_SET,	  /* members become exactly these; made if it is not there */
	TENANT_CONFIGURE, /* fields of one that is there */
};

/* Which fields a request names. */
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
	unsigned has;  /* enum tenant_field; what is not named stays, or is the default */
	struct tenant_fields fields;   /* name "": the default name */
	struct tenant_member *members; /* in any order */
	size_t n_members;
	bool keep_empty;    /* TENANT_REMOVE: the last member gone, the partition stays */
	bool if_generation; /* refused unless the partition's is `generation` (0: not there) */
	uint64_t generation;
	/* For the record of the change: printable, "" unknown. */
	char user[TENANT_CLIENT_MAX + 1], address[TENANT_CLIENT_MAX + 1],
		request[TENANT_CLIENT_MAX + 1];
};

enum tenant_fault {
	TENANT_FINE,
	TENANT_UNKNOWN,	  /* no such partition (DELETE, CONFIGURE) */
	TENANT_EXISTS,	  /* CREATE, and it is there with other fields */
	TENANT_INVALID,	  /* a value out of range, one GUID twice with different memberships */
	/*
	 * Of partitions.conf, without flag "api" or in its fields; or 0x7FFF, which is never
	 * deleted. What the table has of a partition whose flag is gone still counts, and
	 * REMOVE and DELETE of that are fine: they lower rights.
	 */
	TENANT_READ_ONLY,
	TENANT_OVERTAKEN, /* its generation is another one */
	TENANT_TOO_MANY,  /* beyond a bound above */
};

/* ---- entries -------------------------------------------------------------------------------- */

struct tenant_row {
	enum tenant_row_kind {
		TENANT_ROW_PARTITION, /* it has these fields */
		TENANT_ROW_GONE,      /* it is gone, with all its members */
		TENANT_ROW_MEMBER,    /* `member` is in it so */
		TENANT_ROW_LEFT,      /* member.guid is not in it */
	} kind;
	uint16_t pkey;
	struct tenant_fields fields;
	struct tenant_member member;
	uint64_t generation; /* of the partition, in an inverse; 0: that of the entry */
};

struct tenant_entry {
	uint64_t generation;
	int64_t at; /* seconds since 1970 */
	struct tenant_row *rows; /* in the order of playing */
	size_t n_rows;
};
void tenant_entry_clear(struct tenant_entry *e);

/*
 * What the request comes to; `file`: partitions.conf as in force (NULL: there is none, so 0x7FFF
 * cannot be changed). TENANT_FINE: `ret` is to be cleared; without rows it changes nothing. Else
 * `ret` is untouched and `why` says what was found and what was expected, with FILE:LINE of a
 * partition of the file.
 *
 * A P_Key that comes to index 0 of a port takes that place from another partition, whose row then
 * stands in the entry too. TENANT_DELETE of a partition that the file has as well deletes what is
 * in the table; the file's part stays.
 */
enum tenant_fault tenants_judge(const struct tenants *t, const struct partitions *file,
				const struct tenant_request *rq, int64_t at,
				struct tenant_entry *ret, char *why, size_t why_size);
/*
 * What takes the entry back, computed before it is played; its generation and time are the present
 * ones, and playing it makes the table what it is now.
 */
void tenants_inverse(const struct tenants *t, const struct tenant_entry *e,
		     struct tenant_entry *ret);
/*
 * Changes the table; any entry with P_Keys, GUIDs and fields in range can be played. O(rows), and
 * memmove() of members behind the place of a new one.
 */
void tenants_play(struct tenants *t, const struct tenant_entry *e);

/*
 * The partitions of the file and of the table as one; `file` NULL: partitions_builtin(). Those that
 * are of the table alone have no items (members: tenants_of_port()) and line 0, and their IPoIB
 * groups stand behind those of the file. It has no text. One reference, which the caller gives
 * back.
 */
struct partitions *tenants_join(const struct tenants *t, const struct partitions *file,
				const struct conf *conf);
