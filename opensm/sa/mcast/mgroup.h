// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of multicast groups: which groups exist, which MLID each has, which ports are in it.
 *
 * A group is found by its MGID and listed in the order of MGID bytes; a member is found by the
 * interface id it joined with (GUID of the port, or an alias) and listed in that order. Members
 * name ports by GUID and so outlive views. An MLID is in use exactly while a group stands on it:
 * there is no second account of MLIDs that could leak.
 *
 *          mgroups_create()                        the last full member leaves, or its port is gone
 *   (none) ------------------> members come, go -----------------------------------> (none)
 *                                                   well known: stays, without members
 *
 * "Full" is a member with JoinState FullMember or SendOnlyFullMember: these two keep a group alive.
 * When the last one leaves, trap 67 is raised and all other members are removed (sa.md 6.2).
 *
 * Rights are not decided here but in mcmember.c (sa.md 6.1); trees are not made here either:
 * hooks.mcast_changed() says that the ports of an MLID have changed, once per change.
 *
 * Quotas: SA_QUOTA_GROUPS, SA_QUOTA_MEMBERS, and the MLIDs by the rule of the former.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ib/records.h"
#include "sa/sa.h"
#include "util/types.h"

#define MLID_FIRST ((lid_t)0xC000)
#define MLID_LAST  ((lid_t)0xFFFE)
#define MLIDS_MAX  (MLID_LAST - MLID_FIRST + 1)

struct mgroup;

struct mgroup_member {
	guid_t id;    /* interface id of its PortGID; the prefix is always that of the subnet */
	guid_t port;  /* port GUID; after a restore `id` until there is a view */
	uint8_t join; /* mask of enum mc_join, never 0 */
	bool proxy;   /* set if another port asked for it */
};

/* ---- reading: path records, dumps, queries -------------------------------------------------- */

/* The group of an MGID, 16 bytes in wire order; or NULL. Valid, as members, until a change. */
struct mgroup *mgroup_find(const struct sa *sa, const uint8_t *mgid);
/* The group with the lowest MGID above `mgid` (NULL: the first of all), or NULL. O(log groups). */
struct mgroup *mgroup_next(const struct sa *sa, const uint8_t *mgid);
/*
 * The groups on an MLID, one after the other (`after` NULL: the first); more than one only if
 * shared.
 */
struct mgroup *mgroup_on_mlid(const struct sa *sa, lid_t mlid, const struct mgroup *after);

/*
 * The group as MCM_BYTES in wire order: PortGID, JoinState and ProxyJoin are 0, selectors
 * "exactly". opensm-sa.dump shows JoinState 1 there.
 */
const uint8_t *mgroup_record(const struct mgroup *g);
const uint8_t *mgroup_mgid(const struct mgroup *g);
lid_t mgroup_mlid(const struct mgroup *g);
uint16_t mgroup_pkey(const struct mgroup *g);
bool mgroup_is_well_known(const struct mgroup *g);
unsigned mgroup_members(const struct mgroup *g);

/* The member with this interface id; NULL: none. O(log members). */
const struct mgroup_member *mgroup_member(const struct mgroup *g, guid_t id);
/* The member with the lowest interface id at or above `id`; NULL: none. */
const struct mgroup_member *mgroup_member_from(const struct mgroup *g, guid_t id);
/* Is the port a member of the group, by its own GUID or by an alias? */
bool mgroup_has_port(const struct sa *sa, const struct mgroup *g, guid_t port);

/* The partitions of the last sa_set_partitions(), valid until its next call; NULL: none yet. */
const struct partitions *mgroups_partitions(const struct sa *sa);

/* ---- changing: mcmember.c ------------------------------------------------------------------- */

/*
 * The MLID a new group with this MGID would get: `wanted` if it is in range and free, else one
 * shared (consolidate_ipv6_snm_req, sa.md 6.4), else the lowest free one; 0: none left for this
 * requester (a port GUID; 0: ourselves, without quotas). Nothing is reserved.
 */
lid_t mgroups_pick_mlid(const struct sa *sa, const uint8_t *record, lid_t wanted, guid_t requester);
/* A number for an assigned MGID, another one in each call. */
uint32_t mgroups_assign(struct sa *sa);

/*
 * A new group without members; its MGID is new, `mlid` (MLID_FIRST to MLID_LAST) is from
 * mgroups_pick_mlid(). `record` is in the form of mgroup_record(); its MLID is set here.
 * `requester` (0: none) is charged. One that is not well known must get a full member before
 * anything else happens.
 */
struct mgroup *mgroups_create(struct sa *sa, const uint8_t *record, lid_t mlid, guid_t requester);

struct mgroup_join {
	guid_t id, port; /* as in struct mgroup_member */
	guid_t requester;
	uint8_t join; /* bits to be added, not 0 */
	bool proxy;
};
/* Adds a member, or bits to a member. Raises trap 66 for the first full member. */
const struct mgroup_member *mgroups_join(struct sa *sa, struct mgroup *g,
					 const struct mgroup_join *j);
/*
 * Removes bits from a member. Returns the remaining ones; 0: the member is gone, as no bits are
 * left, or no full member is left. The group may be gone, too.
 */
uint8_t mgroups_leave(struct sa *sa, struct mgroup *g, guid_t id, uint8_t bits);

/* ---- opensm-sa.dump, back again ------------------------------------------------------------- */

/* Removes all groups without notices, before a restore. */
void mgroups_clear(struct sa *sa);
/*
 * Restores a group before the first view: ports are looked up when the view comes, and members
 * without a port leave then. A group without a full member that is not in the partition file is
 * removed then, too. `record`: MCM_BYTES.
 *
 * Returns 0, also if the group has this MLID already. -EEXIST: it has another MLID, or the MLID has
 * another group (clients must register again). -EINVAL: no multicast GID, or a value out of range.
 * -ENOSPC: quotas of all ports together.
 */
int mgroups_restore(struct sa *sa, const uint8_t *record, lid_t mlid, bool well_known);
/*
 * Restores a member. Returns 0; -ENOENT: no such group; -EINVAL: no JoinState, or id 0; -ENOSPC:
 * quotas of all ports together.
 */
int mgroups_restore_member(struct sa *sa, const uint8_t *mgid, guid_t id, uint8_t join, bool proxy);
