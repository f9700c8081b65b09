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
#include "fabric/fabric.h"
#include "mad/mad.h"
#include "opensm/transport.h"
#include "route/engine.h"
#include "route/routes.h"
#include "util/mono.h"

struct sm;

enum sm_state { SM_NOT_ACTIVE = 0, SM_DISCOVERING = 1, SM_STANDBY = 2, SM_MASTER = 3 };

/*
 * Long work on immutable input. run() may be called on another thread, once; then done() on the
 * thread of the SM. Jobs run one at a time and in order, those for the disk apart from the others.
 */
struct sm_job {
	void (*run)(struct sm_job *job);
	void (*done)(struct sm_job *job); /* frees the job */
	const char *what;		  /* "routing", "saving state" */
	bool disk;			  /* waits for a disk: never in the way of the others */
	/* Set by whoever runs jobs when the SM goes: done() only frees, run() may end early. */
	atomic_bool orphan;
	struct sm_job *next; /* of whoever runs jobs */
};

/*
 * What happened, for whoever wants to know: plugins, monitors, metrics. In a heavy sweep: SWEEP_START, LINK
 * and NODE, DISCOVERED, ROUTES, LFT for each block, SUBNET_UP, SWEEP_DONE (events.c).
 */
enum sm_event_kind {
	SM_EVENT_STATE,	       /* entered another state: `from`, `to` */
	SM_EVENT_SWEEP_START,  /* `sweep` begins: `why` */
	SM_EVENT_DISCOVERED,   /* what is there has been read, and it goes on: `sweep` so far */
	SM_EVENT_SWEEP_DONE,   /* the sweep ended: numbers in `sweep` */
	SM_EVENT_ROUTES,       /* routes were computed and checked, and are written now: `routes` */
	SM_EVENT_LFT,	       /* a block of a forwarding table, or its top, was written: `lft` */
	SM_EVENT_SUBNET_UP,    /* as the log line; also after a sweep with errors (`sweep.errors`) */
	SM_EVENT_NODE,	       /* a node came or went: `node` */
	SM_EVENT_LINK,	       /* a link between known nodes came up or went down: `link` */
	SM_EVENT_TRAP,	       /* a trap that was believed: `trap` */
	SM_EVENT_MANAGER,      /* another subnet manager is seen, changed or is gone: `manager` */
	SM_EVENT_SA_DUMPED,    /* opensm-sa.dump, or what is kept of the SA, was written */
	SM_EVENT_PORT_DOWN,    /* our own port lost its link */
	SM_EVENT_KINDS
};

/* Everything is the caller's and ends with the call. Descriptions are printable. */
struct sm_event {
	enum sm_event_kind kind;
	mono_t at;
	union {
		struct {
			enum sm_state from, to;
		} state;
		struct {
			const char *kind; /* "heavy", "dirty", "light", "watch", "rerouting" */
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
			/* If it went: the LID of its port, and what that was cabled to last; 0 unknown. */
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
	};
};

struct sm_hooks {
	/* May be NULL. Called from within sm_dispatch(): nothing of the SM may be called but what reads. */
	void (*event)(void *arg, const struct sm_event *event);
	/* Takes the job; must end in done(), also of an orphan. */
	void (*submit_job)(void *arg, struct sm_job *job);
	/* The first heavy sweep that went through as MASTER, and every later one: subnet is up. */
	void (*subnet_up)(void *arg, const struct sm *sm);
	/* Routing engines from outside; NULL: none. They outlive the SM, and the jobs it handed out. */
	const struct route_engines *engines;
	/* A GMP of class PerfMgt came, or came back unanswered. May be NULL. */
	void (*perf)(void *arg, struct transport_event *ev, mono_t now);
	/* One line on what the SM is doing, for `systemctl status`. */
	void (*status)(void *arg, const char *line);
	void *arg;
};

struct sm_paths {
	const char *cache_dir; /* guid2lid, guid2mkey, neighbors, partitions.good, opensm-sa.state; NULL: keep nothing */
	const char *dump_dir;  /* opensm-sa.dump, with sa_db_dump; NULL: none is kept */
};

/* What the last complete sweep did; also counts since the start. */
struct sm_stats {
	uint32_t heavy_sweeps, light_sweeps;
	uint32_t dirty_sweeps; /* that had something to do */
	unsigned last_sets, last_gets; /* SMPs of the last heavy or dirty sweep, retries included */
	unsigned last_errors;	       /* timeouts and refusals of it */
	bool up;		       /* it ended without errors */
	uint32_t silent_nodes;	       /* left out for not answering */
	uint32_t ports_active;
	uint32_t ports_pending; /* between two nodes that answer, and not ACTIVE */
	uint32_t no_routes;	/* routings in a row that made no tables */
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
	uint64_t forged;     /* about somebody else than the sender */
	uint64_t strangers;  /* from LIDs that nobody is known to have */
	unsigned sources;    /* heard of lately */
	unsigned storms;     /* of these: suppressed now */
};

struct sm *sm_new(const struct conf *conf, struct transport *tr, const struct sm_paths *paths,
		  const struct sm_hooks *hooks);
/* Jobs handed out must have ended. */
struct sm *sm_free(struct sm *sm);

/* -ENODEV: the port is gone; the SM holds still until a new one is made. Else the number of MADs taken in. */
int sm_dispatch(struct sm *sm, mono_t now);
mono_t sm_next(const struct sm *sm);

/* A heavy sweep as soon as possible (console). Takes over `conf` (one more reference) if not NULL. */
void sm_request_heavy(struct sm *sm, const struct conf *conf);

/*
 * SIGHUP: `conf` and the files it names (one more reference each) count from the next sweep on, never
 * from the middle of one; then a heavy sweep.
 */
void sm_reload(struct sm *sm, const struct conf *conf, const struct conf_files *files);
/*
 * SIGHUP that found a fault: a heavy sweep all the same, but the files stay as they were read too, until
 * sm_reload(): nothing of what was found beside the fault comes into force.
 */
void sm_reload_refused(struct sm *sm);
/*
 * What outlives a manager whose port vanishes: the next one of this process goes on with it. A file that is
 * gone, or was refused, must not come to something else because a cable was pulled. Zero: nothing.
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
/* What was read last and counts, or will from the next sweep on; NULL before the first sweep. */
const struct conf_files *sm_files(const struct sm *sm);

/* ---- what an administrator may ask for while it runs ---- */

/*
 * 0 to 15; told to other managers as a change of sm_priority is. It counts until this process ends, or
 * SIGHUP finds another sm_priority in the file.
 */
void sm_set_priority(struct sm *sm, unsigned priority);
unsigned sm_priority(const struct sm *sm);
/* What others are told, and compare: while MASTER at least master_sm_priority. */
unsigned sm_told_priority(const struct sm *sm);
/*
 * False: no sweep of any kind begins, whoever asks for one (traps and SIGHUP, too), until it is true again;
 * then what was asked for meanwhile is done at once. One that runs goes on to its end.
 */
void sm_set_sweeping(struct sm *sm, bool enabled);
bool sm_sweeping_enabled(const struct sm *sm);
/* Our own port did not answer when it was last asked: no sweep is possible. */
bool sm_own_silent(const struct sm *sm);
/* A light sweep as soon as possible. */
void sm_request_light(struct sm *sm);
/*
 * Routes are computed afresh, whatever they were, and written, without reading the fabric before. MASTER
 * only, else nothing; while the first sweep runs, after it.
 */
void sm_request_reroute(struct sm *sm);
/* The description of every node that is known is read again. */
void sm_request_descriptions(struct sm *sm);

/* How far it is, for who looks in. */
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
	char where[SM_WHERE_STRLEN]; /* "'h3' port 1 (0x...), LID 7, behind 'leaf1' port 5" */
};
/* The n-th of them (from 0); false: there are no more. */
bool sm_manager_at(const struct sm *sm, unsigned n, struct sm_manager *ret);

/*
 * Orderly end: what we were master of goes to the greatest subnet manager that stands by, and the SA
 * database to its file. Jobs it hands out end as usual; nothing else is waited for, and nothing may be
 * dispatched any more.
 */
void sm_shutdown(struct sm *sm);

/*
 * What is left out of the subnet, and why, as one line of at most `cap` bytes, "" if nothing is. Returns the
 * number of things left out.
 */
unsigned sm_left_out(const struct sm *sm, char *ret, size_t cap);
/*
 * The same port by port: why a port, what is behind it or its switch (port 0) is not served as it should be,
 * in words that stay ("comes and goes, held down"); NULL: nothing is left out. `r` is good until the next
 * dispatch.
 */
struct sm_reasons;
struct sm_reasons *sm_reasons_new(const struct sm *sm);
const char *sm_reason(const struct sm_reasons *r, const struct port *p);
struct sm_reasons *sm_reasons_free(struct sm_reasons *r); /* NULL is fine; returns NULL */
enum sm_state sm_state(const struct sm *sm);
const char *sm_state_name(enum sm_state s); /* "DISCOVERING" */
bool sm_sweeping(const struct sm *sm);
const struct sm_stats *sm_stats(const struct sm *sm);
const char *sm_trap_kind_name(enum sm_trap_kind kind); /* "manager", "link" ... */
const struct sm_trap_stats *sm_trap_stats(const struct sm *sm);
const struct fabric *sm_fabric(const struct sm *sm);
const struct routes *sm_routes(const struct sm *sm); /* installed ones; NULL before the first */
/* Engines that were asked for and had no tables that hold, last time, and why: "updn: ...; lash: ..."; "" none. */
const char *sm_routes_refused(const struct sm *sm);
/* Why the last routing made no tables at all, so that nothing was written; "" it made some. */
const char *sm_no_routes(const struct sm *sm);
const struct conf *sm_conf(const struct sm *sm);
/* The SL of what we send to a LID that is not in a conversation with us: sm_sl, or its lane's. */
uint8_t sm_path_sl(const struct sm *sm, lid_t lid);
const struct mad_engine *sm_mad(const struct sm *sm);
/* For GMPs of another class than the SA's: mad_send_gmp() and nothing else. */
struct mad_engine *sm_gmp_engine(struct sm *sm);
const struct sa *sm_sa(const struct sm *sm);
/* What hosts are answered from; NULL before the first, and while not MASTER. */
const struct view *sm_view(const struct sm *sm);
/* Who holds which P_Keys, as planned last; NULL before the first, and with partitions that stay as they are. */
const struct pkey_plan *sm_pkeys(const struct sm *sm);
const struct partitions *sm_partitions(const struct sm *sm); /* in force; NULL as above */
