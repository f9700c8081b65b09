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
#include "sm/base/alarm_kinds.h"
#include "sm/sweep/sweep_kind.h"
#include "util/mono.h"

struct alarm;
struct patch_tally;
struct sm;

enum sm_state { SM_NOT_ACTIVE = 0, SM_DISCOVERING = 1, SM_STANDBY = 2, SM_MASTER = 3 };

/* "light", "dirty", "heavy", "watch", "rerouting"; "no" for SWEEP_NONE. */
const char *sweep_kind_name(enum sweep_kind kind);

/*
 * Long work on immutable input. run() may be called on another thread, once; then done() on the
 * thread of the SM. Jobs run one at a time and in order, those for the disk apart from the others.
 */
struct sm_job {
	void (*run)(struct sm_job *job);
	void (*done)(struct sm_job *job); /* frees the job */
	const char *what;		  /* "routing", "saving state" */
	/* set if it waits for a disk: it never delays the other jobs */
	bool disk;
	/* Set by the owner of the SM at its end: done() only frees, run() may end early. */
	atomic_bool orphan;
	/* Counted by run() when it begins anew (another engine): each turn has the full time. */
	atomic_uint turn;
	struct sm_job *next; /* next job in the owner's queue */
	struct sm_job *link; /* next job in the queue of a thread */
};

/*
 * Events, for plugins, monitors and metrics. In a heavy sweep: SWEEP_START, LINK and NODE,
 * DISCOVERED, ROUTES, LFT for each block, SUBNET_UP, SWEEP_DONE (events.c).
 */
enum sm_event_kind {
	SM_EVENT_STATE,	      /* another state was entered: `from`, `to` */
	SM_EVENT_SWEEP_START, /* `sweep` begins: `why` */
	SM_EVENT_DISCOVERED,  /* discovery has ended, and the sweep goes on: `sweep` so far */
	SM_EVENT_SWEEP_DONE,  /* the sweep ended: numbers in `sweep` */
	SM_EVENT_ROUTES,      /* routes were computed and checked, and will be written: `routes` */
	SM_EVENT_LFT,	      /* a block of a forwarding table, or its top, was written: `lft` */
	/* "SUBNET UP" was logged; also after a sweep with errors (`sweep.errors`) */
	SM_EVENT_SUBNET_UP,
	SM_EVENT_NODE,	    /* a node came or went: `node` */
	SM_EVENT_LINK,	    /* a link between known nodes came up or went down: `link` */
	SM_EVENT_TRAP,	    /* a trap that was believed: `trap` */
	SM_EVENT_MANAGER,   /* another subnet manager is seen, changed or is gone: `manager` */
	SM_EVENT_SA_DUMPED, /* opensm-sa.dump, or the state file of the SA, was written */
	SM_EVENT_PORT_DOWN, /* our own port lost its link */
	SM_EVENT_SECURITY,  /* a port violates a rule: `security` */
	/* the fabric begins or ceases to differ from the expected topology: `drift` */
	SM_EVENT_DRIFT,
	SM_EVENT_HEALTH, /* a link is unhealthy, or healthy again: `health` */
	SM_EVENT_MARK,	 /* a link is taken out of service, or put back: `mark` */
	SM_EVENT_ALARM,	 /* something is wrong, or in order again: `alarm` */
	/* cables died, and what led into them goes another way, or waits: `patch` */
	SM_EVENT_PATCH,
	SM_EVENT_KINDS
};

/* All memory is the caller's and valid during the call. Descriptions are printable. */
struct sm_event {
	enum sm_event_kind kind;
	mono_t at;
	uint32_t more; /* number of NODE and LINK events that follow at once */
	union {
		struct {
			enum sm_state from, to;
		} state;
		struct {
			enum sweep_kind kind;
			const char *why;
			unsigned n_gets, n_sets, errors, ms; /* with SWEEP_DONE */
			bool through; /* with SWEEP_DONE: set if it went through to its end */
		} sweep;
		struct {
			const char *engine; /* "minhop" */
			bool reroute;	    /* set if routes were computed without a sweep before */
			unsigned ms, unreachable, lanes;
		} routes;
		struct {
			guid_t node_guid;
			bool top_changed;
			unsigned top, block; /* block: valid if the top did not change */
		} lft;
		struct {
			guid_t node_guid, port_guid;
			const char *desc;
			uint8_t type; /* NODE_TYPE_* */
			bool came;
			/*
			 * If it went: the LID of its port, and the port at the other end of its
			 * last cable; 0: not known.
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
			const char *text; /* the trap in words */
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
			guid_t port_guid; /* port that violates the rule; 0: not known */
			lid_t lid;
			const char *text; /* the violation in words, with the switch port */
		} security;
		struct {
			bool begins;
			const char *cause, *text; /* kind, as "swapped"; the finding in words */
		} drift;
		struct {
			/* sm_sick_state_name(): "isolated", "dry_run" ...; or "returned" */
			const char *what;
			guid_t guid[2];
			uint8_t port[2];
			const char *text; /* the finding in words, with the reasons */
		} health;
		struct {
			/*
			 * "drain" and "isolate": requested; "drained", "isolated" and "spared":
			 * reached; "restored"
			 */
			const char *what;
			guid_t guid;
			uint8_t port; /* port number, unless the mark is on the switch as a whole */
			bool whole_switch;
			const char *by, *text;
		} mark;
		struct {
			bool begins;
			const struct alarm *alarm; /* sm/alarms/alarms.h */
		} alarm;
		struct {
			guid_t guid[2]; /* one of the cables; 0: not known */
			uint8_t port[2];
			const struct patch_tally *tally; /* route/patch/patch_text.h */
			const char *text;		 /* the record in words */
		} patch;
	};
};

struct route_runner;

struct sm_hooks {
	/*
	 * Called from within sm_dispatch(), so only reading functions of the SM may be called. May
	 * be NULL.
	 */
	void (*event)(void *arg, const struct sm_event *event);
	/* Takes the job, and must end in its done(), even if it is an orphan. */
	void (*submit_job)(void *arg, struct sm_job *job);
	/* Called after each heavy sweep that went through as MASTER. */
	void (*subnet_up)(void *arg, const struct sm *sm);
	/* Routing engines of plugins, which outlive the SM and its jobs; NULL: none. */
	const struct route_engines *engines;
	/*
	 * Runs routing computations in a process that can be ended (route_runner.h); outlives the
	 * SM. NULL: the job computes.
	 */
	const struct route_runner *runner;
	/* Takes a GMP of class PerfMgt that arrived or returned unanswered. May be NULL. */
	void (*perf)(void *arg, struct transport_event *ev, mono_t now);
	/* Takes a GMP of congestion control in the same way. May be NULL. */
	void (*congestion)(void *arg, struct transport_event *ev, mono_t now);
	/*
	 * Random bytes (base/drawn_key.h); NULL: the kernel's. For tests, which are to send the
	 * same each time.
	 */
	void (*draw)(void *arg, void *ret, size_t len);
	/* The time in seconds since 1970, for what is stored; NULL: 0 is stored. */
	int64_t (*realtime)(void *arg);
	/*
	 * The present reading of the clock of sm_dispatch(), as the process may be stopped in the
	 * middle of a turn. NULL: turns take no time.
	 */
	mono_t (*clock)(void *arg);
	/* Takes one line on the activity of the SM, for `systemctl status`. */
	void (*status)(void *arg, const char *line);
	void *arg;
};

struct sm_paths {
	/* folder of guid2lid, guid2mkey, neighbors, partitions.good, opensm-sa.state; or NULL */
	const char *cache_dir;
	const char *dump_dir; /* folder of opensm-sa.dump, with sa_db_dump; NULL: none */
};

/* The tables that are audited: those of ports (enum port_table), and the forwarding table. */
enum { SM_TABLE_LFT = N_PORT_TABLES, SM_TABLES };

/* Results of the last complete sweep, and counts since the start. */
struct sm_stats {
	uint32_t heavy_sweeps, light_sweeps;
	/* Start of reading tables: in this sweep; in the last completed heavy sweep. */
	mono_t tables_began, tables_read_since;
	uint32_t dirty_sweeps; /* number of incremental sweeps that had something to do */
	/* SMPs of the last heavy or incremental sweep, retries included */
	unsigned last_sets, last_gets;
	unsigned last_errors;  /* timeouts and refusals in that sweep */
	bool up;	       /* set if that sweep ended without errors */
	uint32_t silent_nodes; /* number of nodes left out as they do not answer */
	uint32_t ports_active;
	/* number of links between answering nodes that are not ACTIVE, by ports */
	uint32_t ports_pending;
	uint32_t ports_stuck; /* number of these that are reported as stuck */
	uint32_t no_routes;   /* routings in a row that made no tables */
	/* Number of blocks that audits found changed by another writer, by table (read/audit.c). */
	uint64_t tables_changed[SM_TABLES];
};

/* Kinds of traps (traps.md 1). */
enum sm_trap_kind {
	SM_TRAP_SM,	/* 64 to 67 */
	SM_TRAP_LINK,	/* 128 */
	SM_TRAP_ERRORS, /* 129 to 131 */
	SM_TRAP_LOCAL,	/* 144 */
	SM_TRAP_IMAGE,	/* 145 */
	SM_TRAP_KEYS,	/* 256 to 259 */
	SM_TRAP_OTHER,	/* generic, of unknown number */
	SM_TRAP_VENDOR,
	SM_TRAP_KINDS
};

/* Counts since the start; traps that arrive in another state than MASTER are not counted. */
struct sm_trap_stats {
	uint64_t received[SM_TRAP_KINDS];
	uint64_t repressed;
	uint64_t taken;	     /* believed, forwarded, and acted upon */
	uint64_t repeats;    /* repetitions of a notice: nothing more was done */
	uint64_t suppressed; /* from a source that sends too many */
	uint64_t forged;     /* about another port than the sender */
	uint64_t strangers;  /* from LIDs that no known port has */
	unsigned sources;    /* sources heard of lately */
	unsigned storms;     /* sources that are suppressed now */
};

struct sm *sm_new(const struct conf *conf, struct transport *tr, const struct sm_paths *paths,
		  const struct sm_hooks *hooks);
/* Frees the manager; jobs handed out must have ended. */
struct sm *sm_free(struct sm *sm);

/*
 * Does the work that is due. Returns the number of MADs taken in; -ENODEV: the port is gone, and
 * the SM rests until a new one is made.
 */
int sm_dispatch(struct sm *sm, mono_t now);
/* Most MADs that one dispatch takes in: signals and control sockets are served in between. */
#define SM_MADS_PER_DISPATCH 256
mono_t sm_next(const struct sm *sm);

/*
 * Asks for a heavy sweep as soon as possible (console). Takes over one reference of `conf`, which
 * may be NULL.
 */
void sm_request_heavy(struct sm *sm, const struct conf *conf);

/*
 * Reloads on SIGHUP: `conf` and the files it names (a new reference each) apply from the next sweep
 * on, never from the middle of one. Differences are written then; nothing is read, and nothing is
 * sent if nothing changed.
 */
void sm_reload(struct sm *sm, const struct conf *conf, const struct conf_files *files);
/*
 * Called after a SIGHUP that found a fault: all files stay as they were read until sm_reload(),
 * also in heavy sweeps, so that no part of a faulty set comes into force.
 */
void sm_reload_refused(struct sm *sm);
/*
 * State that the next manager of this process inherits when the port of this one vanishes: a
 * missing or refused file must not have another effect because a cable was pulled. Zero: no state.
 */
struct sm_heritage {
	struct conf_files *files;
	struct partitions *partitions;
	bool partitions_good, partition_file_met, files_held;
	bool sweeping_off; /* set if an administrator stopped sweeps */
	/* the first applies as long as the second is unchanged */
	uint8_t priority, configured_priority;
};
/* Overwrites `ret`, which sm_heritage_clear() frees. */
void sm_bequeath(const struct sm *sm, struct sm_heritage *ret);
/* Called before the first dispatch. */
void sm_inherit(struct sm *sm, const struct sm_heritage *h);
void sm_heritage_clear(struct sm_heritage *h);
/* The files in force, or in force from the next sweep on; NULL before the first sweep. */
const struct conf_files *sm_files(const struct sm *sm);

/* ---- what an administrator may ask for while it runs ---- */

/* State of M_Keys that are made from a seed (m_key_per_port). */
struct sm_keys {
	bool per_port;
	bool changing;		   /* set while a new seed or epoch is coming into force */
	uint32_t epoch;		   /* number of rotations of the seed; 0: no seed */
	unsigned n_ports, n_right; /* end ports that were read; those of them with the right key */
	/* connected managers of ours; those of them that have the ring */
	unsigned n_standbys, n_informed;
	mono_t next_in; /* time until the rotation by periodic_key_update; -1: none */
};
void sm_keys(const struct sm *sm, struct sm_keys *ret);
/*
 * Gives all ports other M_Keys, from the next dispatch on. Returns 0; -EAGAIN: not MASTER, the
 * subnet is not up, or other managers may know of later keys; -ENOKEY: keys are not made from a
 * seed; -EBUSY: keys are being changed; -ERANGE: the seed has no further epoch.
 */
int sm_rotate_keys(struct sm *sm);
/*
 * Removes the M_Keys of all ports, which may have the keys that `before` asks for. Called before
 * the first sm_dispatch(), with options that ask for no M_Key.
 */
void sm_release_keys(struct sm *sm, const struct conf *before);
/*
 * Sets the priority, 0 to 15, as a change of sm_priority would, until this process ends or SIGHUP
 * finds another sm_priority in the file.
 */
void sm_set_priority(struct sm *sm, unsigned priority);
unsigned sm_priority(const struct sm *sm);
/* The priority in our SMInfo: while MASTER at least master_sm_priority. */
unsigned sm_told_priority(const struct sm *sm);
/*
 * Stops (false) and resumes sweeps of any kind, whatever asks for them (traps and SIGHUP, too). A
 * running sweep goes on to its end; what was asked for meanwhile is done when sweeps resume.
 */
void sm_set_sweeping(struct sm *sm, bool enabled);
bool sm_sweeping_enabled(const struct sm *sm);
/*
 * The key of trusted requests in force: sa_key, or the random one (0: none could be drawn). To be
 * shown to root alone.
 */
uint64_t sm_sa_key(const struct sm *sm);
/* Did our own port not answer when it was last asked? No sweep is possible then. */
bool sm_own_silent(const struct sm *sm);
/*
 * The oldest change that is not served: it was learnt of (a trap, PortStateChange, a request), and
 * no sweep that began after that has ended with nothing open.
 */
struct sm_unserved {
	mono_t age;
	bool is_late;	 /* set if the age is unusual for a fabric of this size */
	bool stuck;	 /* set if it is late, and nothing has moved for as long */
	char why[100];	 /* "trap 128: a link changed" */
	char cause[240]; /* "a heavy sweep has been at 'routing' for 70 s; ..." */
};
/* Fills in the oldest change that is not served. False: there is none. */
bool sm_unserved(const struct sm *sm, mono_t now, struct sm_unserved *ret);
/* Asks for a light sweep as soon as possible. */
void sm_request_light(struct sm *sm);
/*
 * Computes routes afresh, whatever they were, and writes them without reading the fabric before.
 * MASTER only, else no effect; during the first sweep, after it.
 */
void sm_request_reroute(struct sm *sm);
/* Has the NodeDescription of every known node read again. */
void sm_request_descriptions(struct sm *sm);

/*
 * One Get for an administrator. `port`: its M_Key is used; NULL: an unknown device, which is sent
 * no key. `done` is called once with the result, from within sm_dispatch().
 */
struct sm_smp {
	uint16_t attr;
	uint32_t mod;
	struct dr_path path;
	struct port *port; /* port of the fabric, valid in this call */
};
typedef void sm_smp_fn(void *arg, const struct mad_result *result);
/* Sends the Get. Returns 0; -EBUSY: too many at a time, or per second. */
int sm_smp_get(struct sm *sm, const struct sm_smp *q, mono_t now, sm_smp_fn *done, void *arg);
/* Called when `arg` is gone: its `done` is not called any more. */
void sm_smp_abandon(struct sm *sm, const void *arg);

/* Progress of the manager, for status lines. */
struct sm_flags {
	bool serving;	   /* set if requests of hosts are answered */
	bool first_sweep;  /* set if MASTER and the first sweep has not ended */
	bool from_standby; /* set on the way from STANDBY to MASTER */
	bool starting;	   /* set if a sweep runs and our own port has not answered yet */
	bool init_errors;  /* set if the last complete sweep had errors */
};
void sm_flags(const struct sm *sm, struct sm_flags *ret);

#define SM_WHERE_STRLEN 320

/* Another subnet manager, as far as it is known. */
struct sm_manager {
	guid_t guid;
	enum sm_state state;
	uint8_t priority;
	bool known;	   /* set if it answered the last question: state and priority are valid */
	bool heard;	   /* set if it has answered once: state and priority are of that answer */
	bool polled;	   /* set if we poll it */
	const char *trust; /* NULL: trusted; else the reason why not */
	bool shows_key;	   /* set if it is trusted but shows a secret SM_Key to every host */
	char where[SM_WHERE_STRLEN]; /* "'h3' port 1 (0x...), LID 7, behind 'leaf1' port 5" */
};
/*
 * The number of managers configured otherwise than we are; `ret`: in what ("partitions; routing").
 */
unsigned sm_configured_otherwise(const struct sm *sm, char *ret, size_t cap);
/* The n-th other manager (from 0); false: there are no more. */
bool sm_manager_at(const struct sm *sm, unsigned n, struct sm_manager *ret);
/* The differences between a manager's configuration and ours (sm/share/share.h). */
struct sm_manager_diff {
	guid_t guid;
	char where[SM_WHERE_STRLEN];
	const char *unknown; /* NULL: `text` is valid; else the reason why it is not known */
	/* Lines as of copied_diff() (conf/copied/copied.h); the caller frees. */
	char *text;
	/* set if the first of two values in a line is that of the other manager */
	bool theirs_first;
};
/* The differences of the n-th manager, in the order of sm_manager_at(). */
bool sm_manager_diff_at(const struct sm *sm, unsigned n, struct sm_manager_diff *ret);

/*
 * Orderly end: hands over to the greatest STANDBY, and writes the SA database to its file. Jobs
 * handed out end as usual; nothing else is waited for, and sm_dispatch() must not be called any
 * more.
 */
void sm_shutdown(struct sm *sm);

/*
 * Fills in one line of at most `cap` bytes with the ports left out of the subnet, and why; "":
 * none. Returns the number of things left out.
 */
unsigned sm_left_out(const struct sm *sm, char *ret, size_t cap);
/*
 * sm_left_out() by port: the reason why a port, the device behind it or its switch (port 0) is not
 * served as it should be, a constant text ("comes and goes, held down"); NULL: nothing is left out.
 * `r` is valid until the next dispatch, and after it as long as sm_reasons_hold().
 */
struct sm_reasons;
struct sm_reasons *sm_reasons_new(const struct sm *sm);
const char *sm_reason(const struct sm_reasons *r, const struct port *p);
/* The same as a kind of alarms; ALARM_NONE: nothing is left out. */
enum alarm_kind sm_reason_kind(const struct sm_reasons *r, const struct port *p);
struct sm_reasons *sm_reasons_free(struct sm_reasons *r); /* NULL is fine; returns NULL */
/* Is all that the reasons have in common unchanged? Ports that changed are to be asked again. */
bool sm_reasons_hold(const struct sm_reasons *r, const struct sm *sm);
/* The time for which a flapping port is still held if it stays quiet; 0: it is not held. */
mono_t sm_held_for(const struct port *p, mono_t now);
enum sm_state sm_state(const struct sm *sm);
const char *sm_state_name(enum sm_state s); /* "DISCOVERING" */
bool sm_sweeping(const struct sm *sm);
const struct sm_stats *sm_stats(const struct sm *sm);
/* The number of blocks of all tables that audits found changed by another writer. */
uint64_t sm_tables_changed(const struct sm *sm);
const char *sm_trap_kind_name(enum sm_trap_kind kind); /* "manager", "link" ... */
const struct sm_trap_stats *sm_trap_stats(const struct sm *sm);
const struct fabric *sm_fabric(const struct sm *sm);
uint32_t sm_aggregation_nodes(const struct sm *sm);  /* number in the fabric; O(nodes) */
const struct routes *sm_routes(const struct sm *sm); /* routes in force; or NULL */
/*
 * The requested engines whose tables did not hold at the last routing, and why: "updn: ...; lash:
 * ..."; "": none.
 */
const char *sm_routes_refused(const struct sm *sm);
/* The time of the next comparison of the tables with those of a fresh start; MONO_NEVER: none. */
mono_t sm_comparison_due(const struct sm *sm);
/* The rails of the fabric (topo/rails/rails.h), a line about them; NULL: not MASTER, or none. */
struct rails;
const struct rails *sm_rails(const struct sm *sm);
const char *sm_rails_text(const struct sm *sm);
/* The reason why the last routing made no tables, so that nothing was written; "": it made some. */
const char *sm_no_routes(const struct sm *sm);
/*
 * Fills in one line of at most `cap` bytes with what routing does without, and why: engines that
 * died and are excluded now, a process of its own. "": nothing.
 */
void sm_engines_out(const struct sm *sm, char *ret, size_t cap);
/* Had the last computation a process of its own, or need there be none? */
bool sm_routing_has_process(const struct sm *sm);
/* The number of deaths by engine and cause, since the start of this manager (route_memory.h). */
struct route_death_count;
const struct route_death_count *sm_route_deaths(const struct sm *sm, unsigned *ret_n);
const struct conf *sm_conf(const struct sm *sm);
/* The SL of what we send to a LID outside of a conversation: sm_sl, or that of its lane. */
uint8_t sm_path_sl(const struct sm *sm, lid_t lid);
const struct mad_engine *sm_mad(const struct sm *sm);
/* The engine for GMPs of another class than the SA's: for mad_send_gmp() only. */
struct mad_engine *sm_gmp_engine(struct sm *sm);
const struct sa *sm_sa(const struct sm *sm);
/* The view that the SA answers from; NULL before the first, and in another state than MASTER. */
const struct view *sm_view(const struct sm *sm);
/* sm_view(), as long as nothing that it shows has changed; else NULL. */
const struct view *sm_view_present(const struct sm *sm);
/*
 * A view of the fabric as it is now, in any state; the caller's reference. `routes` may be NULL,
 * `parts` is a set of enum view_parts. Without P_Keys and managers.
 */
struct view *sm_view_now(const struct sm *sm, const struct routes *routes, unsigned parts);
/* sm_view_now() in parts (view/view_copy.h), which may be made as long as this manager exists. */
struct view_beside;
struct view_copy *sm_view_copy(const struct sm *sm, const struct routes *routes, unsigned parts,
			       const struct view_beside *beside);
/* ---- partitions at run time (tenants/tenancy.h) ---- */

enum sm_tenancy_end {
	SM_TENANCY_DONE,       /* on the devices, and read back; or stored, for absent ports */
	SM_TENANCY_REFUSED,    /* refused, reason `fault`; nothing was changed */
	SM_TENANCY_NO_ROOM,    /* a P_Key table is full; nothing was changed */
	SM_TENANCY_NOT_MASTER, /* this manager is not MASTER, or not yet; nothing was changed */
	/* the store is unwritable, corrupt or behind; nothing was changed */
	SM_TENANCY_CLOSED,
	SM_TENANCY_NO_STANDBY, /* require_standby, and none has stored it; nothing was changed */
	SM_TENANCY_BUSY,       /* too many changes wait; nothing was changed */
	/* stored; a device has not confirmed in time, and is tried again */
	SM_TENANCY_UNCONFIRMED,
	SM_TENANCY_ENDS
};

/* A block of a P_Key table that a change would write, from a dry run. */
struct sm_tenancy_block {
	guid_t node_guid;
	uint8_t port;
	bool is_switch; /* set if it is the switch port that faces an end port */
	uint16_t block;
	uint16_t before[32], after[32];
	bool before_known;
};

/* A member that is stored, but not on its device now. */
struct sm_tenancy_pending {
	guid_t guid;
	const char *why; /* "no such port in the fabric", "its link is down" */
};

struct sm_tenancy_result {
	enum sm_tenancy_end end;
	enum tenant_fault fault;
	char text[300];	     /* a sentence that says why not, or what is not applied yet; or "" */
	uint64_t generation; /* generation of the table after this change */
	bool changed;	     /* false: everything was so before */
	bool replicated;     /* set if a standby of ours has stored it */
	/* connected standbys; those of them that have stored it */
	unsigned n_standbys, n_standbys_with;
	size_t n_members; /* members of the partition after the change */
	const struct sm_tenancy_pending *pending;
	size_t n_pending;
	const struct sm_tenancy_block *blocks; /* blocks of a dry run */
	size_t n_blocks;
};
typedef void sm_tenancy_done_fn(void *arg, const struct sm_tenancy_result *r);

/*
 * Changes a partition. `done` is called once, from sm_dispatch() or sm_free(), never from within;
 * with `wait` false, as soon as the change is stored. `dry_run`: nothing is changed, the result has
 * the blocks. `rq` is copied.
 */
void sm_tenancy_request(struct sm *sm, const struct tenant_request *rq, bool wait, bool dry_run,
			sm_tenancy_done_fn *done, void *arg);
/* Called when `arg` is gone: its `done` is not called any more; changes go on. */
void sm_tenancy_abandon(struct sm *sm, const void *arg);
/* The table of tenants; never NULL. */
const struct tenants *sm_tenants(const struct sm *sm);
/* The reason why nothing can be changed now; NULL: changes are possible. */
const char *sm_tenancy_closed(const struct sm *sm);
/*
 * The number of ports that may still hold a P_Key that they are to lose, as far as devices are
 * known. Ports not read since the start count, and are read then; keys that the switch port does
 * not let through do not count. `pkey` 0: the number of ports where any P_Key is being written, or
 * tried again.
 */
unsigned sm_tenancy_open(struct sm *sm, uint16_t pkey);
/* The number of standbys that have stored all that is stored here. */
unsigned sm_tenancy_standbys(const struct sm *sm);
/* The number of changes that ended so since the start of this manager. */
uint64_t sm_tenancy_ended(const struct sm *sm, enum sm_tenancy_end end);
/* Is a member's P_Key on its device? NULL: yes; else the reason why not, a constant text. */
const char *sm_tenancy_pending(const struct sm *sm, guid_t guid);
/*
 * sm_tenancy_pending() of all end ports of the fabric, in any order; the caller frees. `ret_other`:
 * the answer for all other GUIDs. O(ports), for callers with many members.
 */
struct sm_tenancy_pending *sm_tenancy_all_pending(const struct sm *sm, size_t *ret_n,
						  const char **ret_other);
/*
 * Reads the P_Key tables of all end ports, and of the switch ports that face them, from the
 * devices, and compares them with the plan. `done` is called once, from sm_dispatch() or sm_free().
 */
struct sm_tenancy_audit {
	size_t n_ports, n_blocks;	      /* ports and blocks that were read */
	size_t n_silent;		      /* ports that did not answer */
	const struct sm_tenancy_block *wrong; /* before: on the device; after: as planned */
	size_t n_wrong, n_wrong_told;	      /* blocks that differ; number of them in `wrong` */
};
typedef void sm_tenancy_audit_fn(void *arg, const struct sm_tenancy_audit *a);
/* Starts an audit. False: not MASTER, or an audit is under way. */
bool sm_tenancy_verify(struct sm *sm, sm_tenancy_audit_fn *done, void *arg);
/* Called when `arg` is gone: its `done` is not called any more. */
void sm_tenancy_verify_abandon(struct sm *sm, const void *arg);

/*
 * The P_Key plan in force; NULL before the first, and with partitions that keep tables as they are.
 */
const struct pkey_plan *sm_pkeys(const struct sm *sm);
/* NULL where sm_pkeys() is */
const struct partitions *sm_partitions(const struct sm *sm);
