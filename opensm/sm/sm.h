// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subnet manager: sweeps, election, traps. Everything that decides when something is done.
 *
 * It reads no clock, no descriptor and starts no thread: its owner (daemon.c, or the simulator's
 * rig) calls sm_dispatch() whenever MADs may have arrived or sm_next() has come, and runs the jobs
 * that it hands out.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "conf/files.h"
#include "conf/tenants/tenants.h"
#include "fabric/fabric.h"
#include "fabric/port_tables.h"
#include "mad/mad.h"
#include "opensm/transport.h"
#include "route/core/engine.h"
#include "route/core/routes.h"
#include "sm/sweep/sweep_kind.h"
#include "util/mono.h"

struct sm;

enum sm_state { SM_NOT_ACTIVE = 0, SM_DISCOVERING = 1, SM_STANDBY = 2, SM_MASTER = 3 };

/* "light", "dirty", "heavy", "watch", "rerouting"; "no" of SWEEP_NONE. */
const char *sweep_kind_name(enum sweep_kind kind);

/*
 * Long work on immutable input. run() may be called on another thread, once; then done() on the
 * thread of the SM. Jobs run one at a time and in order, those for the disk apart from the others.
 */
struct sm_job {
	void (*run)(struct sm_job *job);
	void (*done)(struct sm_job *job); /* frees the job */
	const char *what;		  /* "routing", "saving state" */
	bool disk;			  /* waits for a disk: never in the way of the others */
	/* Set by the owner of the SM when that goes: done() only frees, run() may end early. */
	atomic_bool orphan;
	/* Counted by run() where it begins anew (another engine): each turn may take its time. */
	atomic_uint turn;
	struct sm_job *next; /* for the queue of the owner */
	struct sm_job *link; /* for what hands it to a thread */
};

/*
 * Events, for plugins, monitors and metrics. In a heavy sweep: SWEEP_START, LINK and NODE,
 * DISCOVERED, ROUTES, LFT for each block, SUBNET_UP, SWEEP_DONE (events.c).
 */
enum sm_event_kind {
	SM_EVENT_STATE,	       /* entered another state: `from`, `to` */
	SM_EVENT_SWEEP_START,  /* `sweep` begins: `why` */
	SM_EVENT_DISCOVERED,   /* what is there has been read, and it goes on: `sweep` so far */
	SM_EVENT_SWEEP_DONE,   /* the sweep ended: numbers in `sweep` */
	SM_EVENT_ROUTES,       /* routes were computed and checked, and are written now: `routes` */
	SM_EVENT_LFT,	       /* a block of a forwarding table, or its top, was written: `lft` */
	/* as the log line; also after a sweep with errors (`sweep.errors`) */
	SM_EVENT_SUBNET_UP,
	SM_EVENT_NODE,	       /* a node came or went: `node` */
	SM_EVENT_LINK,	       /* a link between known nodes came up or went down: `link` */
	SM_EVENT_TRAP,	       /* a trap that was believed: `trap` */
	SM_EVENT_MANAGER,      /* another subnet manager is seen, changed or is gone: `manager` */
	SM_EVENT_SA_DUMPED,    /* opensm-sa.dump, or what is kept of the SA, was written */
	SM_EVENT_PORT_DOWN,    /* our own port lost its link */
	SM_EVENT_SECURITY,     /* a port does what it may not do: `security` */
	SM_EVENT_DRIFT,	       /* the fabric is not as it was meant, or is again: `drift` */
	SM_EVENT_HEALTH,       /* a link is not in order, or is again: `health` */
	SM_EVENT_MARK,	       /* a link is taken out of service, or put back: `mark` */
	SM_EVENT_KINDS
};

/* Everything is the caller's and ends with the call. Descriptions are printable. */
struct sm_event {
	enum sm_event_kind kind;
	mono_t at;
	uint32_t more; /* nodes and links that came with this one, and are told right after it */
	union {
		struct {
			enum sm_state from, to;
		} state;
		struct {
			enum sweep_kind kind;
			const char *why;
			unsigned n_gets, n_sets, errors, ms; /* when done */
			bool through; /* when done: it went through to its end */
		} sweep;
		struct {
			const char *engine; /* "minhop" */
			bool reroute;	    /* nothing was read before */
			unsigned ms, unreachable, lanes;
		} routes;
		struct {
			guid_t node_guid;
			bool top_changed;
			unsigned top, block; /* block: when the top did not change */
		} lft;
		struct {
			guid_t node_guid, port_guid;
			const char *desc;
			uint8_t type; /* NODE_TYPE_* */
			bool came;
			/*
			 * If it went: the LID of its port, and what that was cabled to last; 0
			 * unknown.
			 */
			lid_t lid;
			uint8_t behind_port;
			guid_t behind_guid;
		} node;
		struct {
			guid_t guid[2];
			uint8_t port[2];
			bool up;
		} link;
		struct {
			const uint8_t *notice; /* 80 bytes, wire format */
			lid_t from;
			const char *text; /* in words */
		} trap;
		struct {
			guid_t guid;
			enum sm_state state;
			uint8_t priority;
			bool gone;
			const char *text;
		} manager;
		struct {
			const char *what; /* "sa_key", "sa_model", "m_key", "answers" ... */
			guid_t port_guid; /* of the port that does it; 0: not known */
			lid_t lid;
			const char *text; /* in words, with its switch port */
		} security;
		struct {
			bool begins;
			const char *cause, *text; /* "swapped"; the finding in words */
		} drift;
		struct {
			/* sm_sick_state_name(): "isolated", "dry_run" ...; or "returned" */
			const char *what;
			guid_t guid[2];
			uint8_t port[2];
			const char *text; /* in words, with the reasons */
		} health;
		struct {
			/*
			 * "drain" and "isolate" are asked for, "drained", "isolated" and "spared"
			 * reached; "restored"
			 */
			const char *what;
			guid_t guid;
			uint8_t port; /* unless it is about the switch as a whole */
			bool whole_switch;
			const char *by, *text;
		} mark;
	};
};

struct route_runner;

struct sm_hooks {
	/*
	 * May be NULL. Called from within sm_dispatch(): nothing of the SM may be called but what
	 * reads.
	 */
	void (*event)(void *arg, const struct sm_event *event);
	/* Takes the job; must end in done(), also of an orphan. */
	void (*submit_job)(void *arg, struct sm_job *job);
	/* The first heavy sweep that went through as MASTER, and every later one: subnet is up. */
	void (*subnet_up)(void *arg, const struct sm *sm);
	/*
	 * Routing engines from outside; NULL: none. They outlive the SM, and the jobs it handed
	 * out.
	 */
	const struct route_engines *engines;
	/*
	 * Where routes are computed so that it can be ended (route_runner.h); NULL: where the job
	 * runs. It outlives the SM.
	 */
	const struct route_runner *runner;
	/* A GMP of class PerfMgt came, or came back unanswered. May be NULL. */
	void (*perf)(void *arg, struct transport_event *ev, mono_t now);
	/* The same of congestion control. */
	void (*congestion)(void *arg, struct transport_event *ev, mono_t now);
	/*
	 * Random bytes (base/drawn_key.h); NULL: the kernel's. For tests, which are to send the
	 * same each time.
	 */
	void (*draw)(void *arg, void *ret, size_t len);
	/* Seconds since 1970, for what is stored; NULL: 0 is. */
	int64_t (*realtime)(void *arg);
	/*
	 * The clock that sm_dispatch() is given, as it is now: this process may be stopped in the
	 * middle of a turn. NULL: no turn takes any time.
	 */
	mono_t (*clock)(void *arg);
	/* One line on what the SM is doing, for `systemctl status`. */
	void (*status)(void *arg, const char *line);
	void *arg;
};

struct sm_paths {
	/* guid2lid, guid2mkey, neighbors, partitions.good, opensm-sa.state; NULL: keep nothing */
	const char *cache_dir;
	const char *dump_dir;  /* opensm-sa.dump, with sa_db_dump; NULL: none is kept */
};

/* Results of the last complete sweep, and counts since the start. */
/* Tables that are audited: those of ports (enum port_table), and */
enum { SM_TABLE_LFT = N_PORT_TABLES, SM_TABLES };

struct sm_stats {
	uint32_t heavy_sweeps, light_sweeps;
	/* When reading of tables began: in this sweep; in the last heavy one that was completed. */
	mono_t tables_began, tables_read_since;
	uint32_t dirty_sweeps; /* that had something to do */
	unsigned last_sets, last_gets; /* SMPs of the last heavy or dirty sweep, retries included */
	unsigned last_errors;	       /* timeouts and refusals of it */
	bool up;		       /* it ended without errors */
	uint32_t silent_nodes;	       /* left out for not answering */
	uint32_t ports_active;
	uint32_t ports_pending; /* between two nodes that answer, and not ACTIVE */
	uint32_t ports_stuck;	/* of these: for so long that they are named as left out */
	uint32_t no_routes;	/* routings in a row that made no tables */
	/* Blocks that audits found changed by another, by table (read/audit.c). */
	uint64_t tables_changed[SM_TABLES];
};

/* Traps by what they are about (traps.md 1). */
enum sm_trap_kind {
	SM_TRAP_SM,	/* 64 to 67 */
	SM_TRAP_LINK,	/* 128 */
	SM_TRAP_ERRORS, /* 129 to 131 */
	SM_TRAP_LOCAL,	/* 144 */
	SM_TRAP_IMAGE,	/* 145 */
	SM_TRAP_KEYS,	/* 256 to 259 */
	SM_TRAP_OTHER,	/* generic, and nothing we know */
	SM_TRAP_VENDOR,
	SM_TRAP_KINDS
};

/* Since the start; traps that came while we were not MASTER are not counted. */
struct sm_trap_stats {
	uint64_t received[SM_TRAP_KINDS];
	uint64_t repressed;
	uint64_t taken;	     /* believed, forwarded, acted upon */
	uint64_t repeats;    /* of the same notice: nothing more was done */
	uint64_t suppressed; /* their source sends too many */
	uint64_t forged;     /* about another port than the sender */
	uint64_t strangers;  /* from LIDs that no known port has */
	unsigned sources;    /* heard of lately */
	unsigned storms;     /* of these: suppressed now */
};

struct sm *sm_new(const struct conf *conf, struct transport *tr, const struct sm_paths *paths,
		  const struct sm_hooks *hooks);
/* Jobs handed out must have ended. */
struct sm *sm_free(struct sm *sm);

/*
 * -ENODEV: the port is gone; the SM holds still until a new one is made. Else the number of MADs
 * taken in.
 */
int sm_dispatch(struct sm *sm, mono_t now);
/* Taken in by one dispatch at most: signals and control sockets get their turn in between. */
#define SM_MADS_PER_DISPATCH 256
mono_t sm_next(const struct sm *sm);

/*
 * A heavy sweep as soon as possible (console). Takes over `conf` (one more reference) if not NULL.
 */
void sm_request_heavy(struct sm *sm, const struct conf *conf);

/*
 * SIGHUP: `conf` and the files it names (one more reference each) count from the next sweep on,
 * never from the middle of one. What differs is written then; nothing is read, and nothing sent if
 * nothing changed.
 */
void sm_reload(struct sm *sm, const struct conf *conf, const struct conf_files *files);
/*
 * SIGHUP that found a fault: the files stay as they were read too, until sm_reload(), also in heavy
 * sweeps: nothing of what was found beside the fault comes into force.
 */
void sm_reload_refused(struct sm *sm);
/*
 * State that outlives a manager when its port vanishes: the next one of this process uses it. A
 * file that is gone, or was refused, must not come to something else because a cable was pulled.
 * Zero: nothing.
 */
struct sm_heritage {
	struct conf_files *files;
	struct partitions *partitions;
	bool partitions_good, partition_file_met, files_held;
	bool sweeping_off;		      /* as an administrator asked for */
	uint8_t priority, configured_priority; /* the first counts as long as the second does */
};
/* Overwrites `ret`, which sm_heritage_clear() gives back. */
void sm_bequeath(const struct sm *sm, struct sm_heritage *ret);
/* Before the first dispatch. */
void sm_inherit(struct sm *sm, const struct sm_heritage *h);
void sm_heritage_clear(struct sm_heritage *h);
/* The files in force, or from the next sweep on; NULL before the first sweep. */
const struct conf_files *sm_files(const struct sm *sm);

/* ---- what an administrator may ask for while it runs ---- */

/*
 * 0 to 15; told to other managers as a change of sm_priority is. It counts until this process ends,
 * or SIGHUP finds another sm_priority in the file.
 */
/* M_Keys that are made from a seed (m_key_per_port). */
struct sm_keys {
	bool per_port;
	bool changing;	/* a new seed or epoch is on its way into force */
	uint32_t epoch; /* 0: there is no seed */
	unsigned n_ports, n_right; /* end ports that were read, and those with the right key */
	unsigned n_standbys, n_informed; /* connected ones of ours, and those that have the ring */
	mono_t next_in; /* until the rotation by periodic_key_update; -1: there is none */
};
void sm_keys(const struct sm *sm, struct sm_keys *ret);
/*
 * All ports get other M_Keys: begins with the next dispatch. 0; -EAGAIN: not MASTER, the subnet is
 * not up, or other managers may know of later keys; -ENOKEY: keys are not made from a seed; -EBUSY:
 * they change right now; -ERANGE: the seed has no further epoch.
 */
int sm_rotate_keys(struct sm *sm);
/*
 * Before the first sm_dispatch(), with options that ask for no M_Key: all ports lose theirs. They
 * may have what `before` asks for.
 */
void sm_release_keys(struct sm *sm, const struct conf *before);
void sm_set_priority(struct sm *sm, unsigned priority);
unsigned sm_priority(const struct sm *sm);
/* The priority in SMInfo, which others compare: while MASTER at least master_sm_priority. */
unsigned sm_told_priority(const struct sm *sm);
/*
 * False: no sweep of any kind begins, whatever asks for one (traps and SIGHUP, too), until it is
 * true again; then what was asked for meanwhile is done at once. One that runs goes on to its end.
 */
void sm_set_sweeping(struct sm *sm, bool enabled);
bool sm_sweeping_enabled(const struct sm *sm);
/*
 * The key of trusted requests in force: sa_key, or the one that was drawn (0: none could be). For
 * root alone.
 */
uint64_t sm_sa_key(const struct sm *sm);
/* Our own port did not answer when it was last asked: no sweep is possible. */
bool sm_own_silent(const struct sm *sm);
/*
 * The oldest change that is not served: learnt of (a trap, PortStateChange, a request), and no
 * sweep that began after that has ended with nothing open.
 */
struct sm_unserved {
	mono_t age;
	bool is_late;	 /* longer than is usual on a fabric of this size */
	bool stuck;	 /* and nothing has moved for that long */
	char why[100];	 /* "trap 128: a link changed" */
	char cause[240]; /* "a heavy sweep has been at 'routing' for 70 s; ..." */
};
/* False: there is none. */
bool sm_unserved(const struct sm *sm, mono_t now, struct sm_unserved *ret);
/* A light sweep as soon as possible. */
void sm_request_light(struct sm *sm);
/*
 * Routes are computed afresh, whatever they were, and written, without reading the fabric before.
 * MASTER only, else nothing; while the first sweep runs, after it.
 */
void sm_request_reroute(struct sm *sm);
/* The description of every node that is known is read again. */
void sm_request_descriptions(struct sm *sm);

/*
 * One Get, for an administrator. `port` has the M_Key that goes with it; NULL: a device that is not
 * known, which is told no key. `done` is called once with how it ended, from within sm_dispatch().
 */
struct sm_smp {
	uint16_t attr;
	uint32_t mod;
	struct dr_path path;
	struct port *port; /* of the fabric, in this call */
};
typedef void sm_smp_fn(void *arg, const struct mad_result *result);
/* 0, or -EBUSY: too many at a time, or per second. */
int sm_smp_get(struct sm *sm, const struct sm_smp *q, mono_t now, sm_smp_fn *done, void *arg);
/* `arg` is gone: its `done` is not called any more. */
void sm_smp_abandon(struct sm *sm, const void *arg);

/* How far it is, for status lines. */
struct sm_flags {
	bool serving;	   /* hosts are answered */
	bool first_sweep;  /* MASTER, and its first sweep has not come to its end */
	bool from_standby; /* on its way from STANDBY to MASTER */
	bool starting;	   /* a sweep runs, and our own port has not answered yet */
	bool init_errors;  /* the last complete sweep had some */
};
void sm_flags(const struct sm *sm, struct sm_flags *ret);

#define SM_WHERE_STRLEN 320

/* Another subnet manager, as far as it is known. */
struct sm_manager {
	guid_t guid;
	enum sm_state state;
	uint8_t priority;
	bool known;	     /* it has answered: state and priority count */
	bool polled;	     /* we watch it */
	const char *trust;   /* NULL: trusted; else why not, in words */
	bool shows_key;	     /* trusted, as it shows a secret SM_Key, to every host */
	char where[SM_WHERE_STRLEN]; /* "'h3' port 1 (0x...), LID 7, behind 'leaf1' port 5" */
};
/* How many of them are configured otherwise than we are, and in what ("partitions; routing"). */
unsigned sm_configured_otherwise(const struct sm *sm, char *ret, size_t cap);
/* The n-th of them (from 0); false: there are no more. */
bool sm_manager_at(const struct sm *sm, unsigned n, struct sm_manager *ret);
/* In what it is configured otherwise than we are (sm/share/share.h). */
struct sm_manager_diff {
	guid_t guid;
	char where[SM_WHERE_STRLEN];
	const char *unknown; /* NULL: `text` counts; else why it is not known, in words */
	/* lines as of copied_diff() (conf/copied/copied.h); to be freed */
	char *text;
	bool theirs_first; /* of two values in a line the first is that of the other one */
};
/* Of the n-th, as above. */
bool sm_manager_diff_at(const struct sm *sm, unsigned n, struct sm_manager_diff *ret);

/*
 * Orderly end: what we were master of goes to the greatest subnet manager that stands by, and the
 * SA database to its file. Jobs it hands out end as usual; nothing else is waited for, and nothing
 * may be dispatched any more.
 */
void sm_shutdown(struct sm *sm);

/*
 * Ports left out of the subnet, and why, as one line of at most `cap` bytes, "" if there are none.
 * Returns the number of things left out.
 */
unsigned sm_left_out(const struct sm *sm, char *ret, size_t cap);
/*
 * The same port by port: why a port, what is behind it or its switch (port 0) is not served as it
 * should be, in words that stay ("comes and goes, held down"); NULL: nothing is left out. `r` is
 * good until the next dispatch, and after it as long as sm_reasons_hold().
 */
struct sm_reasons;
struct sm_reasons *sm_reasons_new(const struct sm *sm);
const char *sm_reason(const struct sm_reasons *r, const struct port *p);
struct sm_reasons *sm_reasons_free(struct sm_reasons *r); /* NULL is fine; returns NULL */
/* All that ports have in common is as it was: those that changed since are to be asked again. */
bool sm_reasons_hold(const struct sm_reasons *r, const struct sm *sm);
/*
 * A port that comes and goes, and is held: how long it is held yet if it stays quiet. 0: it is not
 * held.
 */
mono_t sm_held_for(const struct port *p, mono_t now);
enum sm_state sm_state(const struct sm *sm);
const char *sm_state_name(enum sm_state s); /* "DISCOVERING" */
bool sm_sweeping(const struct sm *sm);
const struct sm_stats *sm_stats(const struct sm *sm);
/* Blocks of all tables that audits found changed by another. */
uint64_t sm_tables_changed(const struct sm *sm);
const char *sm_trap_kind_name(enum sm_trap_kind kind); /* "manager", "link" ... */
const struct sm_trap_stats *sm_trap_stats(const struct sm *sm);
const struct fabric *sm_fabric(const struct sm *sm);
uint32_t sm_aggregation_nodes(const struct sm *sm); /* of the fabric's nodes; looks at each */
const struct routes *sm_routes(const struct sm *sm); /* installed ones; NULL before the first */
/*
 * Engines that were asked for and had no tables that hold, last time, and why: "updn: ...; lash:
 * ..."; "" none.
 */
const char *sm_routes_refused(const struct sm *sm);
/* When the installed tables are compared with those of a fresh start; MONO_NEVER: they need not. */
mono_t sm_comparison_due(const struct sm *sm);
/* Rails of the fabric (topo/rails/rails.h), and their line; NULL: not master, or there are none. */
struct rails;
const struct rails *sm_rails(const struct sm *sm);
const char *sm_rails_text(const struct sm *sm);
/* Why the last routing made no tables at all, so that nothing was written; "" it made some. */
const char *sm_no_routes(const struct sm *sm);
/*
 * The means that routing goes on without, with reasons, as one line of at most `cap` bytes: engines
 * that died and are left out now, a process of its own. "": none.
 */
void sm_engines_out(const struct sm *sm, char *ret, size_t cap);
/* Could the last computation be given a process of its own, or need there be none? */
bool sm_routing_has_process(const struct sm *sm);
/* By engine and cause, since the start of this manager (route_memory.h). */
struct route_death_count;
const struct route_death_count *sm_route_deaths(const struct sm *sm, unsigned *ret_n);
const struct conf *sm_conf(const struct sm *sm);
/* The SL of what we send to a LID that is not in a conversation with us: sm_sl, or its lane's. */
uint8_t sm_path_sl(const struct sm *sm, lid_t lid);
const struct mad_engine *sm_mad(const struct sm *sm);
/* For GMPs of another class than the SA's: mad_send_gmp() and nothing else. */
struct mad_engine *sm_gmp_engine(struct sm *sm);
const struct sa *sm_sa(const struct sm *sm);
/* The view that the SA answers from; NULL before the first, and while not MASTER. */
const struct view *sm_view(const struct sm *sm);
/* The same, as long as nothing that it shows has changed; NULL: it has. */
const struct view *sm_view_present(const struct sm *sm);
/*
 * A view of the fabric as it stands now, in any state: the caller's reference. `routes` may be
 * NULL, `parts` is a set of enum view_parts. P_Keys and managers are not in it.
 */
struct view *sm_view_now(const struct sm *sm, const struct routes *routes, unsigned parts);
/* The same in parts (view/view_copy.h), which go on as long as there is this manager. */
struct view_beside;
struct view_copy *sm_view_copy(const struct sm *sm, const struct routes *routes, unsigned parts,
			       const struct view_beside *beside);
/* ---- partitions at run time (tenants/tenancy.h) ---- */

enum sm_tenancy_end {
	SM_TENANCY_DONE,	 /* on the devices, and read back; or stored, for ports not there */
	SM_TENANCY_REFUSED,	 /* `fault`: nothing was changed */
	SM_TENANCY_NO_ROOM,	 /* a P_Key table is full; nothing was changed */
	SM_TENANCY_NOT_MASTER,	 /* or not yet; nothing was changed */
	SM_TENANCY_CLOSED,	 /* the store cannot be written, is corrupt or behind; as above */
	SM_TENANCY_NO_STANDBY,	 /* require_standby, and none has it; as above */
	SM_TENANCY_BUSY,	 /* too many changes wait; as above */
	SM_TENANCY_UNCONFIRMED,	 /* stored; a device has not confirmed in time, it is tried on */
	SM_TENANCY_ENDS
};

/* A block of a P_Key table that the change writes: of a dry run. */
struct sm_tenancy_block {
	guid_t node_guid;
	uint8_t port;
	bool is_switch; /* the switch port that faces an end port */
	uint16_t block;
	uint16_t before[32], after[32];
	bool before_known;
};

/* A member that is stored, and not on a device now. */
struct sm_tenancy_pending {
	guid_t guid;
	const char *why; /* "no such port in the fabric", "its link is down" */
};

struct sm_tenancy_result {
	enum sm_tenancy_end end;
	enum tenant_fault fault;
	char text[300];	     /* "" or a sentence: why not, or what is not so yet */
	uint64_t generation; /* of the table, behind this change */
	bool changed;	     /* false: all was so before */
	bool replicated;     /* a standby of ours has stored it */
	unsigned n_standbys, n_standbys_with; /* that are connected; that have stored it */
	size_t n_members;    /* of the partition, afterwards */
	const struct sm_tenancy_pending *pending;
	size_t n_pending;
	const struct sm_tenancy_block *blocks; /* of a dry run */
	size_t n_blocks;
};
typedef void sm_tenancy_done_fn(void *arg, const struct sm_tenancy_result *r);

/*
 * Changes a partition. `done` is called once, from sm_dispatch() or sm_free(), never from within.
 * `wait` false: as soon as it is stored. `dry_run`: nothing is changed, the answer has the blocks.
 * `rq` is copied.
 */
void sm_tenancy_request(struct sm *sm, const struct tenant_request *rq, bool wait, bool dry_run,
			sm_tenancy_done_fn *done, void *arg);
/* `arg` is gone: its `done` is not called any more; changes go on. */
void sm_tenancy_abandon(struct sm *sm, const void *arg);
/* The table; never NULL. */
const struct tenants *sm_tenants(const struct sm *sm);
/* Why nothing can be changed now, in words; NULL: it can. */
const char *sm_tenancy_closed(const struct sm *sm);
/*
 * Ports that may still hold a P_Key that they are to lose, by what is known of the devices: what
 * was not read since the start counts, and is read then. Of what a switch port does not let through
 * nothing counts. `pkey` 0: ports whose P_Keys are being written, or tried again, whichever.
 */
unsigned sm_tenancy_open(struct sm *sm, uint16_t pkey);
/* Standbys that have stored all that is stored here. */
unsigned sm_tenancy_standbys(const struct sm *sm);
/* Changes that ended so, since the start of this manager. */
uint64_t sm_tenancy_ended(const struct sm *sm, enum sm_tenancy_end end);
/* Is a member's P_Key on its device? NULL: yes; else why not, a constant text. */
const char *sm_tenancy_pending(const struct sm *sm, guid_t guid);
/*
 * The same of all end ports of the fabric, in any order: to be freed. Other GUIDs: `ret_other`.
 * O(ports): for many members, which may be looked up elsewhere then.
 */
struct sm_tenancy_pending *sm_tenancy_all_pending(const struct sm *sm, size_t *ret_n,
						  const char **ret_other);
/*
 * Reads the P_Key tables of all end ports, and of the switch ports that face them, from the
 * devices, and compares. `done` is called once with the result, as above.
 */
struct sm_tenancy_audit {
	size_t n_ports, n_blocks; /* read */
	size_t n_silent;	  /* ports that did not answer */
	const struct sm_tenancy_block *wrong; /* before: as the device has it; after: as it shall */
	size_t n_wrong, n_wrong_told; /* the first ones are told */
};
typedef void sm_tenancy_audit_fn(void *arg, const struct sm_tenancy_audit *a);
/* False: not MASTER, or an audit is under way. */
bool sm_tenancy_verify(struct sm *sm, sm_tenancy_audit_fn *done, void *arg);
/* `arg` is gone: its `done` is not called any more. */
void sm_tenancy_verify_abandon(struct sm *sm, const void *arg);

/*
 * Which ports hold which P_Keys, as planned last; NULL before the first, and with partitions that
 * stay as they are.
 */
const struct pkey_plan *sm_pkeys(const struct sm *sm);
const struct partitions *sm_partitions(const struct sm *sm); /* in force; NULL as above */
