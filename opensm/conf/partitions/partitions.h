// SPDX-License-Identifier: BSD-2-Clause
/*
 * partitions.conf: the members of each partition, and the permanent multicast groups
 * (compat/partitions-conf.md).
 *
 * A struct partitions is what the file says, not what it comes to: ALL, SELF and GUIDs are
 * evaluated against a fabric by plan/pkey. It is built once, immutable, shared by reference between
 * threads.
 *
 * The reading fails closed. Every fault of the file becomes a finding ("FILE:LINE:COLUMN: what was
 * found, what was expected, what happens now"); one error among them and nothing of the file is
 * used. The caller keeps the last good one, whose text partitions_text() gives to be saved and
 * parsed again at the next start.
 *
 *   file fine        partitions_read() = 0
 *   nothing in it    0: partitions_builtin(), and a warning
 *   no file          -ENOENT: partitions_builtin(); if partition_config_file names another one than
 *                    the default,
 *                    it is as one with faults
 *   faults           -EINVAL (or why it cannot be read): the last good one; without any, what
 *                    partition_config_error says: partitions_limited() for "default"
 *
 * A file that is gone while another one is in force may just be being saved by an editor, and
 * partitions_builtin() lets all ports talk to each other: better keep the partitions in force.
 *
 * Not for P_Key tables (plan/pkey), nor for MLIDs and the life of groups (sa/).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"
#include "util/mem.h"
#include "util/types.h"

/* Where sm/ saves the text of the last good file: this name in the cache directory. */
#define PARTITIONS_GOOD_FILE "partitions.good"

#define PKEY_FULL	     0x8000u /* bit 15 of a P_Key: full member */
#define PKEY_BASE	     0x7FFFu /* the other bits: which partition */
#define PKEY_DEFAULT	     0x7FFFu /* base of the default partition */
#define PARTITION_NAME_MAX   31	     /* longer names are cut, with a warning */
#define PARTITION_GROUPS_MAX 16383   /* there are no more multicast LIDs (0xC000-0xFFFE) */

/* The ports that an item of a partition names. */
enum partition_ports {
	PARTITION_GUID, /* the port with this GUID */
	PARTITION_ALL,	/* every port of a CA or router, port 0 of every switch */
	PARTITION_ALL_CAS,
	PARTITION_ALL_SWITCHES,
	PARTITION_ALL_ROUTERS,
	PARTITION_SELF, /* the subnet manager's own port */
};

enum partition_member {
	PARTITION_LIMITED,
	PARTITION_FULL,
	PARTITION_BOTH, /* full, and limited as well if allow_both_pkeys is on */
};

/*
 * One item of a port list. Of several that match a port in the same partition the last one decides,
 * membership and indx0 alike.
 */
struct partition_item {
	guid_t guid;  /* non-zero for PARTITION_GUID, else 0 */
	/* position in the whole file: of several items with indx0 for a port the last one holds */
	uint32_t seq;
	uint8_t ports;  /* enum partition_ports */
	uint8_t member; /* enum partition_member */
	bool indx0;	/* the port has the P_Key at index 0 of its table */
};

struct partition {
	uint16_t pkey; /* base: 1..0x7FFF */
	uint8_t sl;    /* 0..15; 0 while qos is off */
	char name[PARTITION_NAME_MAX + 1];
	bool api;      /* may be changed at run time as well (conf/tenants) */
	/* line of its first definition in the file; 0: the file does not define it */
	unsigned line;
	struct partition_item *items; /* in the order of the file; at least one, or `api` */
	size_t n_items;
};

/*
 * A multicast group that stands without members ("well known"). Selectors are all "exactly". MLIDs
 * are given in the order of the array. A group whose partition has no port at all in the fabric is
 * not made.
 */
struct partition_group {
	uint8_t mgid[16];   /* wire order, unique */
	uint16_t pkey;	    /* P_Key with bit 15 set */
	uint16_t partition; /* index into partitions.list */
	uint32_t qkey;
	uint32_t flow; /* 20 bits */
	uint8_t mtu;   /* code 1..5 */
	uint8_t rate;  /* code 2..24 */
	uint8_t sl;
	uint8_t tclass;
	uint8_t hop;   /* 0: link-local, else 255 */
	uint8_t life;  /* packet life time code: subnet_timeout */
	uint8_t scope; /* 1..15; also in the MGID */
};

enum partitions_origin {
	PARTITIONS_FILE,
	/*
	 * no file, or an empty one: all ports are members of 0x7FFF as default_membership says
	 * (limited: the SM port full); IPv4 broadcast group
	 */
	PARTITIONS_BUILTIN,
	PARTITIONS_LIMITED, /* faulty file: all ports limited, SM port full, no group */
};

struct partitions {
	_Atomic unsigned refs;
	enum partitions_origin origin;
	struct partition *list; /* sorted by partition_order(), as in the P_Key tables of ports */
	size_t n;			/* at least 1: 0x7FFF is always there */
	struct partition_group *groups; /* in the order of creation */
	size_t n_groups;
	char *file; /* name of the file in findings; NULL: there was no file */
	char *text; /* text that was parsed; NULL: there was no file */
	size_t len;
};

/*
 * Reads the file `path`. What depends on `conf`: the SL (0 while qos is off), the life time of
 * groups (subnet_timeout), whether groups are checked (ipoib_mcgroup_creation_validation); when
 * these change, read again.
 *
 * 0: `*ret` is a new reference; warnings and notes are in `r`. A file that is empty or has only
 * comments is partitions_builtin(), with a warning. Otherwise `*ret` is untouched: -ENOENT: no such
 * file, no finding. -EINVAL: the file has faults, all of them errors in `r`. Other -errno: not
 * readable as a whole, one error.
 */
int partitions_read(const char *path, const struct conf *conf, struct conf_report *r,
		    struct partitions **ret);
/* As partitions_read(), for text in memory (no NUL needed); `file` is its name in findings. */
int partitions_parse(const char *text, size_t len, const char *file, const struct conf *conf,
		     struct conf_report *r, struct partitions **ret);

/* Do the items name more than one port, as far as the file alone shows? */
bool partition_names_several(const struct partition *p);
/*
 * Do the items make some port a full member? `is_limited` (NULL: false) returns true for a GUID
 * whose port is limited for a reason outside of the file.
 */
bool partition_has_full(const struct partition *p,
			bool (*is_limited)(const void *arg, guid_t guid), const void *arg);

/* The partitions in force without a file. One reference; never NULL. */
struct partitions *partitions_builtin(const struct conf *conf);
/* The partitions after a fault at a first start, if partition_config_error is "default". */
struct partitions *partitions_limited(const struct conf *conf);

struct partitions *partitions_ref(const struct partitions *p);
struct partitions *partitions_unref(const struct partitions *p);
FREEP(partitions_unref, struct partitions)

/* The exact text of the file (owned by `p`, not NUL-terminated); NULL and 0: no file. */
const char *partitions_text(const struct partitions *p, size_t *ret_len);

/* Are both the same, whatever their comments, blanks, files, line numbers and origins? */
bool partitions_equal(const struct partitions *a, const struct partitions *b);

/* The partition of a P_Key (bit 15 ignored), or NULL. O(log n), for every path record. */
const struct partition *partitions_find(const struct partitions *p, uint16_t pkey);

/*
 * The IPoIB broadcast group of a P_Key with scope 2, as flag "ipoib" makes it (RFC 4391): codes of
 * MTU and rate, `sl` 0..15 (0 while qos is off). Its index of the partition is the caller's.
 */
struct partition_group partitions_broadcast(const struct conf *conf, uint16_t pkey, uint8_t mtu,
					    uint8_t rate, uint8_t sl);
/*
 * The broadcast group of this P_Key among those of `p`, whatever its values; NULL: none. O(groups).
 */
const struct partition_group *partitions_find_broadcast(const struct partitions *p,
							uint16_t pkey);

/*
 * Sort key of partitions (partitions-conf.md 7): the low byte of the P_Key, then its high byte. Bit
 * 15 is ignored.
 */
static inline uint16_t partition_order(uint16_t pkey)
{
	return (uint16_t)((pkey & 0xFFu) << 8 | (pkey >> 8 & 0x7Fu));
}

/* The base of the P_Key that has this sort key. */
static inline uint16_t partition_pkey(uint16_t order)
{
	return (uint16_t)(order >> 8 | (order & 0x7Fu) << 8);
}

const char *partition_member_name(enum partition_member m); /* "limited", "full", "both" */
