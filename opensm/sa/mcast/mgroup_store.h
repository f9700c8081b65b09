// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of the store of groups, shared by mgroup.c (groups, members, MLIDs) and mgroup_view.c
 * (views, partitions, restoring) only.
 */
#pragma once

#include <sys/queue.h>

#include "sa/base/sa_internal.h"
#include "sa/mcast/mgroup.h"
#include "util/guidmap.h"

/* A port with members, by any GUID. */
struct mport {
	guid_t guid;
	uint32_t at; /* index in sa->view; VIEW_NONE: not there, or no view */
	LIST_HEAD(, member) members;
};

struct member {
	struct mgroup_member pub;
	struct mgroup *group;
	struct mport *where;
	guid_t requester; /* port charged for it */
	LIST_ENTRY(member) of_port;
	bool stale; /* set by mgroups_view_changed() if its GUID is gone */
};

struct mgroup {
	uint8_t record[MCM_BYTES];  /* with the MLID */
	guid_t requester;	    /* port charged for it; 0: none */
	LIST_ENTRY(mgroup) on_mlid; /* groups that share an MLID */
	struct member **members;    /* sorted by interface id */
	uint32_t n_members, cap, n_full;
	lid_t mlid;
	bool well_known;
	bool listed; /* set by mgroups_apply_partitions() if it is in the file */
};

struct mgroups {
	struct mgroup **groups; /* sorted by MGID bytes */
	uint32_t n_groups, cap, n_members;
	LIST_HEAD(, mgroup) mlids[MLIDS_MAX];
	uint32_t n_mlids;	/* least MulticastFDBCap of the switches in the view */
	uint32_t n_used;	/* number of these MLIDs with a group */
	uint32_t hint;		/* lower bound of the free MLIDs */
	struct guidmap *ports;	/* GUID -> struct mport */
	struct guidmap *ids;	/* interface id -> number of members with it */
	uint32_t next_assigned; /* counter of assigned MGIDs */

	/* MLIDs whose ports have changed, each once, until mgroups_tell(). */
	lid_t *changed;
	uint32_t n_changed, changed_cap;
	uint64_t is_changed[(MLIDS_MAX + 63) / 64];

	const struct partitions *parts; /* one reference; NULL: none */
	bool parts_new;			/* set until applied: faults are logged once */
	struct view_bases known;	/* P_Keys held by ports, when partitions were applied */
	/* set if the store was restored, and the partition file is not applied yet */
	bool restored;
};

/* ---- mgroup.c ---- */

/* Removes the remaining members without notices, and frees the group and its MLID. */
void mgroups_destroy(struct sa *sa, struct mgroup *g);
/* Removes all members, with trap 67 if one was full. The group stays. */
void mgroups_evict(struct sa *sa, struct mgroup *g);
/* Calls the hook for MLIDs that changed. Last step of each public function that changes members. */
void mgroups_tell(struct sa *sa);
/* mgroups_leave() without the hook. */
uint8_t mgroups_take_bits(struct sa *sa, struct member *m, uint8_t bits);
/* mgroups_join() without trap and hook. */
struct member *mgroups_add_bits(struct sa *sa, struct mgroup *g, const struct mgroup_join *j);
/* The MLID that this group may share with similar ones (consolidate_ipv6_snm_req); 0: none. */
lid_t mgroups_snm_mlid(const struct sa *sa, const uint8_t *record);
/* Moves a restored member to the port that has its interface id as an alias. */
void mgroups_rehome(struct sa *sa, struct member *m, guid_t port);
/* Sets the MLID range: the least MulticastFDBCap of the switches in the view. */
void mgroups_set_range(struct sa *sa, uint32_t n_mlids);
