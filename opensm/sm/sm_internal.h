// SPDX-License-Identifier: BSD-2-Clause
/* The inside of struct sm, shared by the files of sm/ only. Each member names its one writer. */
#pragma once

#include "conf/lists/lists.h"
#include "conf/partitions/partitions.h"
#include "fabric/store.h"
#include "plan/pkey.h"
#include "route/proof/cdg.h"
#include "route/mcast/mcast.h"
#include "sa/sa.h"
#include "sm/answers/admin.h"
#include "sm/channel/channel.h"
#include "sm/read/adopt.h"
#include "sm/base/change_age.h"
#include "sm/out_of_use/out_of_use.h"
#include "sm/expected/expected.h"
#include "sm/trust/forgery.h"
#include "sm/trust/lockout.h"
#include "sm/marks/marks.h"
#include "sm/health/sick.h"
#include "sm/read/discover.h"
#include "sm/elect/elect.h"
#include "sm/read/incremental.h"
#include "sm/base/lids.h"
#include "sm/read/light.h"
#include "sm/sweep/multicast.h"
#include "sm/read/own_port.h"
#include "sm/base/partition.h"
#include "sm/sweep/program.h"
#include "sm/sweep/reload.h"
#include "sm/answers/replica.h"
#include "sm/routing/patching.h"
#include "sm/routing/routing.h"
#include "sm/read/single_get.h"
#include "sm/sm.h"
#include "sm/base/keys.h"
#include "sm/share/share.h"
#include "sm/answers/standby.h"
#include "sm/rows/key_rows.h"
#include "sm/rows/key_turn.h"
#include "sm/rows/marks_rows.h"
#include "sm/rows/sick_rows.h"
#include "sm/tenants/tenancy.h"
#include "sm/ledger/settle.h"
#include "sm/sweep/sweep.h"
#include "sm/sweep/sweep_kind.h"
#include "sm/trust/cc_traps.h"
#include "sm/trust/traps.h"
#include "sm/trust/violations.h"
#include "sm/read/identity.h"
#include "sm/read/strangers.h"
#include "sync/mft.h"
#include "sync/sync.h"
#include "util/log.h"

/* Number of questions in a row without an answer after which a node is silent. */
#define SILENT_AFTER 3

/*
 * Number of heavy sweeps in a row after which a port that is still in INIT or ARMED is reported as
 * stuck.
 */
#define PORT_STUCK_AFTER 3
/* Lengths of the line for `systemctl status`, and of its part about things left out. */
#define STATUS_STRLEN	 2700
#define LEFT_OUT_STRLEN	 600

struct news;

/*
 * Machines and parts of them that have memory: sm_new() allocates it zeroed before any machine
 * begins, sm_free() wipes and frees it after the last has ended. The inside is a machine's own: the
 * others know it by the functions of its header, and by its news.
 */
#define EACH_MEMORY(X) \
	X(reload) X(elect) X(sweep) X(discover) X(incremental) X(light) X(state_poll) X(own_port) \
	X(cell_reader) X(single_gets) X(adopt) X(standby) X(replica) X(channel) \
	X(settle) X(share) X(partitioning) X(tenancy) X(lids) X(keys) X(key_rows) \
	X(key_turn) X(routing) X(dead_cables) X(patching) X(quiet) X(rail_watch) X(program) \
	X(multicast) X(admin) \
	X(out_of_use) X(traps) X(cc_traps) X(marks) X(sick) X(expected) X(sick_rows) \
	X(violations) X(lockout) X(identity) X(strangers) X(forgery) X(alarms) X(changes)

struct machines {
#define MEMBER(name) struct name *name;
	EACH_MEMORY(MEMBER)
#undef MEMBER
	struct change_age *change_age;	     /* sweep.c */
	struct route_memory *route_memory;   /* routing.c */
	struct replacements *replacements;   /* routing.c */
};

struct machine_memory {
	size_t size;
	const void *at_first; /* values of members at the start; NULL: all 0 */
};
/* In the file of a machine, below its struct; with the values that are not 0 at the start. */
#define MACHINE_MEMORY(name)                                                                       \
	const struct machine_memory name##_memory = { .size = sizeof(struct name) }
#define MACHINE_MEMORY_WITH(name, ...)                                                             \
	static const struct name name##_at_first = { __VA_ARGS__ };                                \
	const struct machine_memory name##_memory = { sizeof(struct name), &name##_at_first }
#define DECLARE(name) extern const struct machine_memory name##_memory;
EACH_MEMORY(DECLARE)
#undef DECLARE

/* Shared by all machines. The comment of a member names its writer. */
struct sm {
	/* The layers below; made by sm_new() and never replaced. */
	struct sm_hooks hooks;
	struct transport *tr;
	struct mad_engine *mad;
	struct fabric *fabric;
	struct sync *sync;
	struct store *store; /* guid2lid, guid2mkey, neighbors */
	struct sa *sa;

	/* Takes the news of machines; sm.c. */
	void (*tell)(struct sm *sm, const struct news *news);

	/* Readable by all machines. */
	mono_t now;	   /* sm_dispatch() */
	struct conf *conf; /* reload.c */
	/* reload.c: the file quirks_file alone, until `files` are read */
	struct conf_files *quirks;
	struct conf_files *files; /* reload.c: NULL before the first heavy sweep */
	struct conf_files *next_files; /* reload.c: for the time after the running sweep, or NULL */
	enum sm_state state;	  /* elect_enter() */
	enum sweep_kind sweep;	  /* sweep.c */
	uint32_t sweep_no;	  /* discover_stamp(): number of the present sweep */
	mono_t sweep_started;	  /* sweep.c: start of the running sweep, or of the last one */
	bool first_sweep_done;	  /* sweep.c: set after the first sweep as MASTER */
	struct sm_stats stats;	  /* sweep.c */
	bool sweeping_off;	  /* actions.c */

	struct machines m;
	struct machine_lists *lists; /* machines.h */
	/* drawn_key.c: random key in place of sa_key; 0: sa_key applies */
	uint64_t drawn_key;
	/* drawn_key.c: random key in place of sm_key; 0: sm_key applies */
	uint64_t drawn_sm_key;
	char status[STATUS_STRLEN]; /* status.c */
	unsigned ledger_trouble;    /* enum sm_ledger_trouble that the status line names */
};

/* inbox.c */
/* Takes GMPs: counters, answers of a master's SA to its standby, requests to our own SA. */
void inbox_gmp(void *sm, struct transport_event *ev, mono_t now);
void inbox_receive(void *sm, const struct transport_addr *from, const uint8_t *mad, mono_t now);

/* status.c */
const char *sm_status_line(struct sm *sm);
void status_tell(struct sm *sm);
void status_tick(struct sm *sm);
mono_t status_next(const struct sm *sm);

/* The present time in seconds since 1970; 0: not known. */
static inline int64_t sm_realtime(const struct sm *sm)
{
	int64_t now = sm->hooks.realtime ? sm->hooks.realtime(sm->hooks.arg) : 0;

	return MAX(now, (int64_t)0);
}

/* Is the device of this node known to need care in this way (quirks_file)? */
static inline bool node_quirk(const struct sm *sm, const struct node *n, enum quirk quirk)
{
	return conf_files_quirk(sm->files ? sm->files : sm->quirks, quirk, n->vendor_id,
				n->device_id);
}
