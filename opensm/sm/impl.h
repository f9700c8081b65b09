// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of struct sm, shared by the files of sm/ only. Each member names its one writer.
 */
#pragma once

#include "conf/lists.h"
#include "conf/partitions.h"
#include "fabric/store.h"
#include "plan/pkey.h"
#include "route/depend.h"
#include "route/mcast.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "sync/mft.h"
#include "sync/sync.h"
#include "util/log.h"

/* Questions in a row without an answer that make a node silent. */
#define SILENT_AFTER	 3

/* What another SM is to us. Only the first kind is ever obeyed, asked to take over, or yielded to. */
enum sm_trust { SM_TRUSTED, SM_OTHER_KEY, SM_NOT_ALLOWED };

/* Another SM, by the end port it sits on. Writer: remote_sm.c; `defiant`: elect.c */
struct remote_sm {
	guid_t guid;		  /* 0: no row */
	struct mad_target target; /* of its SMInfo alone */
	enum sm_trust trust;
	uint8_t priority, state; /* as told */
	bool known;		 /* its last question was answered: the three above count */
	bool asking;		 /* a question is out */
	bool counted;		 /* and a sweep waits for its end */
	uint8_t unanswered;	 /* questions in a row, at most SILENT_AFTER: then no sweep waits */
	bool defiant; /* did not do what its state demands: not waited for, or yielded to, until that changes */
	uint8_t vain; /* how often, since it was our master */
	uint64_t told; /* hash of what was said of it last */
	unsigned event_told; /* what the last event said; 0: nothing, or that it is gone. Writer: events.c */
};
#define MAX_REMOTE_SMS 64

/* Watching one SM, at intervals of sminfo_polling_timeout. Writer: elect_poll.c */
struct sm_poll {
	struct mad_target target; /* of the questions of this poll */
	mono_t chosen, since;	  /* when it was chosen; and when it was seen as MASTER last */
	mono_t started, at;	  /* the last poll; when something is to be done */
	bool open;		  /* the last poll has no answer yet */
	bool lid_sent;		  /* by LID, too */
	unsigned out;		  /* questions under way */
	unsigned misses;	  /* polls in a row without an answer */
	unsigned polls;		  /* since it was chosen */
	bool absent_told;	  /* it says MASTER, and rules nothing */
	bool tell;		  /* a trap 144 goes out when our own port has answered */
	bool own_pending;
	lid_t own_lid, master_lid; /* of our own port, as last read; 0 unknown */
	uint32_t own_caps;
	uint64_t trap_tid;
};

/* A HANDOVER that is looked into before it is obeyed. Writer: elect_set.c */
struct sm_offer {
	guid_t by; /* 0: none */
	mono_t until;
	unsigned asked;
};

/* Heavy sweeps in a row after which a port that is still in INIT or ARMED is said to be stuck there. */
#define PORT_STUCK_AFTER 3
/* The line for `systemctl status`, and what it says of things that are left out. */
#define STATUS_STRLEN	 1024
#define LEFT_OUT_STRLEN	 600

enum sweep_kind { SWEEP_NONE, SWEEP_LIGHT, SWEEP_DIRTY, SWEEP_HEAVY, SWEEP_WATCH, SWEEP_REROUTE };

struct sm {
	struct conf *conf;	  /* reload.c */
	struct conf_files *files; /* reload.c: NULL before the first heavy sweep */
	struct conf *next_conf;	  /* reload.c: for the time after the running sweep; NULL: none */
	struct conf_files *next_files;
	bool files_held;   /* reload.c: SIGHUP has found a fault; the disk is not looked at */
	bool routes_fresh; /* reload.c: an option of routing changed: tables are no model for the next ones */
	struct sm_hooks hooks;
	struct transport *tr;
	struct mad_engine *mad;
	struct fabric *fabric;
	struct sync *sync;
	struct store *store; /* prepare.c: guid2lid, guid2mkey, neighbors */
	bool keeps_state;    /* the store has a folder */
	mono_t now;

	enum sm_state state; /* elect.c: sm_enter() */
	struct remote_sm remote[MAX_REMOTE_SMS]; /* remote_sm.c */
	unsigned n_remote;
	struct conf_guids allowed_sms; /* allowed_sm_guids, sorted; none: all */
	bool remote_full_told;
	/*
	 * Whom we watch: in STANDBY the master, or who is about to be it; in MASTER another master, lower
	 * than us, who is to hand over before we touch its half (0: none).
	 */
	guid_t polled;
	struct sm_poll poll;
	struct sm_offer offer;
	bool others_ruled;   /* since the start of this process */
	bool handed_over;    /* at its end */
	bool on_probation;   /* STANDBY by order of somebody not known yet */
	bool rival_seen;     /* another master was, or is, at work beside us */
	bool decide_pending; /* SMInfo arrived that elect_tick() has not looked at */
	uint32_t act_count;  /* SMPs answered */
	struct log_limit rogue_log, set_log, set_limit, look_limit;

	/* actions.c */
	uint8_t priority; /* sm_priority, or what an administrator made of it; reload.c: SIGHUP */
	bool sweeping_off;

	/* sweep.c */
	enum sweep_kind sweep;
	unsigned step; /* row of the running list */
	bool step_pending;
	uint32_t sweep_no;
	bool heavy_wanted, light_wanted, dirty_wanted, reroute_wanted;
	bool first_sweep_done; /* as master */
	bool timer_heavy;      /* the timer asks for a heavy sweep */
	bool audit_wanted;     /* the first sweep cleared change bits it had not seen set */
	bool port_down_told;
	bool met_by_m_key; /* a node is being met that answered to m_key. Writer: discover.c */
	bool own_silent; /* our own port did not answer when it was last asked. Writer: discover.c */
	unsigned failed_sweeps; /* in a row */
	unsigned fruitless;	/* heavy sweeps in a row that had nothing to write */
	bool errors_told;
	mono_t retry_at;   /* heavy sweep because of errors; MONO_NEVER */
	mono_t sweep_at;   /* timer */
	mono_t hold_until; /* no sweep on demand before this time */
	mono_t sweep_started, step_started;
	uint64_t sweep_gets, sweep_sets; /* counters at the start */
	unsigned errors;		 /* of this sweep: nodes that took part and failed */
	unsigned soft_faults;		 /* of this sweep: somebody silent, tables that had to wait */
	struct routes *routes;		 /* installed, or being installed */
	struct routes *new_routes;	 /* prepare.c: what the routing job made */
	struct dependency_graph *depends;  /* prepare.c: of new_routes; NULL: none, or multicast.c has it */
	const struct routes *depends_of;   /* prepare.c: whose it is; only compared */
	struct transition *transition;	 /* prepare.c: from routes to new_routes */
	struct plan plan;
	unsigned unmapped_told;		 /* prepare.c */
	struct qos_plan qos;		 /* sweep.c: of `routes`, as programmed last */
	unsigned sync_rounds;	       /* of this sweep */
	unsigned ports_held;	       /* wait for multicast tables */
	bool ports_released;	       /* which are as right as they will be in this sweep */
	struct conf *plan_conf;	       /* the reference behind plan.conf */
	bool route_pending;	       /* prepare.c: the routing job is out */
	mono_t routing_started;	       /* prepare.c */
	char refused_told[600];	       /* prepare.c: what was said of engines that had their turn */
	char no_routes_why[160];       /* prepare.c: of the last routing; "" it made tables */
	uint64_t unreachable;	       /* prepare.c: pairs without a path in new_routes */
	bool save_pending, save_again; /* prepare.c: an image is being written; a newer one waits */
	struct port **
		port_by_lid; /* prepare.c: LID_MAX_UCAST + 1 rows, valid between sweeps' removals */
	char why[160];	     /* why the next sweep */
	char sweep_why[160]; /* why this one */
	char status[STATUS_STRLEN];
	struct sm_stats stats;

	/* dirty.c */
	mono_t dirty_at, dirty_hold; /* when the next dirty sweep is due; and may be due at the soonest */
	bool dirty_repair;	     /* tables must be compared, whether links changed or not */
	bool dirty_changed;	     /* in this sweep: something is not as it was */
	bool dirty_cut;		     /* in this sweep: directed routes must be looked at */
	bool dirty_reading;	     /* in this sweep: there may be more to read */
	bool dirty_failed;	     /* in this sweep: the next switch does not answer */
	bool partial;		     /* this sweep reads what is dirty; the rest is hearsay */
	uint32_t reach_no;

	/* standby.c */
	bool picture_whole; /* all of the fabric was read once */
	bool tables_stale;  /* LFTs and P_Keys may not be what was read: to be read before they count */
	bool watch_whole;   /* the next watch reads everything */
	bool believe_bits;  /* in this sweep: no PortStateChange means no change since we looked */
	bool takeover;	    /* the next heavy sweep starts from the picture */
	bool read_tables;   /* in this sweep */
	bool prove_tables;  /* the next heavy sweep but one reads all tables */
	uint32_t told, told_at_look; /* Notices of the master */
	unsigned subscription_waits;
	mono_t watch_at, round_at, tables_at;
	lid_t former_sm_lid; /* of the master that we watch, or watched */

	/* partition.c */
	struct partitions *partitions; /* in force; NULL before the first sweep, and with partitions_keep */
	bool partitions_keep;	       /* tables stay as they are, whatever they are */
	bool partitions_good;	       /* what is in force may be saved */
	bool partition_file_met;       /* by this process, good or bad */
	bool good_pending, partition_gone_told;
	bool partition_file_new; /* reload.c sets it: what the file says was not looked at yet */
	char *good_path;	 /* NULL: no cache folder */
	struct pkey_plan *pkeys; /* of the last sweep that got so far */
	size_t pkeys_dropped_told, pkeys_small_told;

	/* admin.c */
	struct sa *sa;
	struct view *view; /* published last */
	struct held *held, **held_end; /* requests that wait for the first view */
	unsigned n_held;
	char *state_path;  /* opensm-sa.state; NULL: no cache folder */
	char *dump_path;   /* opensm-sa.dump, with sa_db_dump; NULL: no folder */
	bool admin_busy; /* sm.c: a long answer is being made */
	uint32_t registry; /* the SA's, as hosts know it: a new one each time we become master */
	bool db_tried, db_pending, db_error_told;
	uint64_t db_saved; /* version on disk */
	mono_t db_at;
	bool view_stale;      /* admin_publish_soon() */
	mono_t view_since;    /* published then */

	struct multicast *multicast; /* multicast.c */
	struct health *health;	     /* health.c */
	struct replica *replica;     /* replica.c */
	struct traps *traps;	     /* traps.c */

	/* adopt.c */
	uint32_t adopt_node, adopt_block; /* place of the reader */
	uint32_t adopt_end;		  /* nodes it goes through */
	unsigned adopt_pending;
	bool adopt_asked;   /* in this reading: some block was not known */
	bool adopt_differs; /* in this reading: some block was not what was known */

	struct cell_reader *reader; /* read_cell.c */

	/* discover.c */
	unsigned discover_pending;
	unsigned descs_pending;
	unsigned duplicates;
	bool cables_changed; /* in this sweep */
	bool cables_moved;   /* in this sweep: one between switches was out, and may have led elsewhere */
	unsigned own_tries;  /* of asking our own port */
	bool light_found_change, light_missed; /* light.c: in this sweep */
	uint32_t name_turn;		       /* light.c: nodes asked for their names so far */

	struct log_limit name_log; /* nodes that are called otherwise now */
	struct log_limit fault_log;
};

/* elect.c */
void sm_enter(struct sm *sm, enum sm_state next);
void elect_new(struct sm *sm);
void elect_free(struct sm *sm);
/* Our priority is, or may be, another one than `before`, as elect_priority() told it. */
void elect_priority_changed(struct sm *sm, unsigned before);
/* sm->conf was replaced; `before`: elect_priority() with the old one. */
void elect_reconfigured(struct sm *sm, unsigned before);
bool elect_may_write(void *sm);
/* The priority we tell: master_sm_priority counts while MASTER. */
unsigned elect_priority(const struct sm *sm);
/* After discovery: true if this sweep goes on, as MASTER. */
bool elect_decide(struct sm *sm);
/*
 * Something was heard of the SM on this end port (trap 144 with IsSM set, or with ChangeFlags 0x0008: its
 * priority changed, handover.md 8): its SMInfo is asked for now, and what it says is acted upon. Only a
 * MASTER cares; at most one question per port is out, so a storm of traps costs nothing.
 */
void elect_look_at(struct sm *sm, struct port *p);
/* The end: the greatest STANDBY gets what we were master of. Sends one SMP, waits for nothing. */
void elect_good_bye(struct sm *sm);
void elect_tick(struct sm *sm);
mono_t elect_next(const struct sm *sm);

/* elect_set.c: Get and Set of SMInfo, from anybody. */
void elect_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *mad);

/* remote_sm.c */
/* Get SMInfo from a port that says IsSM; discovery waits for it (discover_pending), unless it never answers. */
void elect_ask(struct sm *sm, struct port *p);
/* The same for all ports that say so. */
void elect_ask_all(struct sm *sm);
/* There is a subnet manager, known to be what its row says, and it is to be obeyed. */
bool remote_counts(const struct sm *sm, const struct remote_sm *r);

/* inbox.c */
void inbox_receive(void *sm, const struct transport_addr *from, const uint8_t *mad, mono_t now);

/* discover.c: both return with discover_pending > 0 while something is outstanding. */
void discover_start(struct sm *sm);
/* Get of `attr` from a switch, `n` as argument of `fn`; the caller counts what is pending. */
void discover_get(struct sm *sm, struct node *n, uint16_t attr, uint32_t mod, mad_done_fn fn);
/* SwitchInfo, and whatever follows from it; PortInfo of one port, and who is behind it. */
void discover_read_switch(struct sm *sm, struct node *n);
void discover_read_port(struct sm *sm, struct port *p);
void discover_ask_desc(struct sm *sm, struct port *p, const struct dr_path *path);
/* The same through any port of the node that can be asked. */
void discover_ask_desc_again(struct sm *sm, struct node *n);
/* The node of end port `p` says that it has another description: read once more, whatever is under way. */
void discover_desc_changed(struct sm *sm, struct port *p);
/* The key for whoever is behind `p`: known neighbours first. */
uint64_t discover_probe_mkey(const struct sm *sm, const struct port *p);

/* read_cell.c */
struct cell_reader *cell_reader_new(struct sm *sm);
/* What is under way ends now, with NULL. */
struct cell_reader *cell_reader_free(struct cell_reader *r);
void cell_reader_forget(struct cell_reader *r, struct node *n);
/*
 * Reads a table from the device behind `p`. False: it cannot be asked now (out of reach, silent, too
 * many questions). Else done(arg, payload) is called once, later; the payload (SMP_DATA_SIZE bytes,
 * valid during the call) is NULL if there was no good answer.
 */
typedef void (*cell_done_fn)(void *arg, const uint8_t *payload);
bool discover_read_cell(struct sm *sm, struct port *p, uint16_t attr, uint32_t mod,
			cell_done_fn done, void *arg);

/* forget.c */
/* Takes a node out, its requests with it. */
void forget_node(struct sm *sm, struct node *n);
void discover_finish(struct sm *sm); /* takes out what is gone */

/* light.c */
void light_start(struct sm *sm);
/* Asks some nodes for their descriptions, in turn: what a light sweep does, and a heavy one where all are. */
void light_audit_names(struct sm *sm);
/* After a light sweep in which everybody answered and nothing had changed. */
void light_prove(struct sm *sm);

/* sweep.c */
void sweep_want(struct sm *sm, enum sweep_kind kind, const char *why);
void sweep_run(struct sm *sm);
mono_t sweep_next(const struct sm *sm);
/* There are no light sweeps. */
bool sweep_all_heavy(const struct sm *sm);

/* adopt.c: tables that a former master left */
void adopt_start(struct sm *sm);
/* All that was asked was answered, or given up. What is known may be judged now. */
void adopt_done(struct sm *sm);
void adopt_feed(struct sm *sm);
bool adopt_busy(const struct sm *sm);
/* What the switches hold, as routes of `topo`; NULL if nothing is known. One reference. */
struct routes *adopt_routes(const struct sm *sm, const struct topo *topo);
/* Do switches hold what sm->routes say? */
bool adopt_holds(const struct sm *sm, const struct topo *topo);

/* The end port that owns a LID; NULL. */
struct port *prepare_port_at(const struct sm *sm, lid_t lid);
/* Nodes are about to be removed. */
void prepare_forget_ports(struct sm *sm);

/* prepare.c: the steps between discovery and programming, and the state that outlives us. */
void prepare_load(struct sm *sm, const struct sm_paths *paths);
void prepare_unload(struct sm *sm);
/* Somebody else may have written: tables and speeds are unknown again. Not while sync runs. */
void prepare_distrust(struct sm *sm);
/* Another SM was at work: LIDs count only with honor_guid2lid_file. */
void prepare_left_standby(struct sm *sm);
/* As a standby: LIDs are what ports say. */
void prepare_note_lids(struct sm *sm);
int prepare_lids(struct sm *sm); /* < 0: this sweep cannot go on */
void prepare_routes(struct sm *sm);
void prepare_judge(struct sm *sm, const struct sync_outcome *outcome);
void prepare_save(struct sm *sm);

/* partition.c */
void partition_new(struct sm *sm, const struct sm_paths *paths);
void partition_free(struct sm *sm);
/* What sm->files say of partitions is put in force, if it can be. < 0: this sweep cannot go on. */
int partition_load(struct sm *sm);
void partition_bequeath(const struct sm *sm, struct sm_heritage *ret);
void partition_inherit(struct sm *sm, const struct sm_heritage *h);
/* P_Key tables for the ports as known now, into sm->pkeys. */
void partition_plan(struct sm *sm);

/* admin.c: subnet administration */
void admin_new(struct sm *sm, const struct sm_paths *paths);
void admin_free(struct sm *sm);
void admin_receive(void *sm, struct transport_event *ev, mono_t now);
/* Before the first view: takes in what was registered with the process before this one. */
void admin_restore(struct sm *sm);
/* A new view, made from the fabric as it is now. */
void admin_publish(struct sm *sm);
/*
 * We are about to hand over: what came into service, or went, since the last view is reported now. One
 * report per subscriber leaves at once; a master after us tells of every port in its first view anyway.
 */
void admin_last_words(struct sm *sm);
/* The same before long, between sweeps: names changed, and nothing that sweeps look at. */
void admin_publish_soon(struct sm *sm);
/* Not master any more: nothing is answered. */
void admin_withdraw(struct sm *sm);
/* The database goes to its file, if it changed; `final`: nothing will be registered after this. */
void admin_save(struct sm *sm, bool final);
bool admin_tick(struct sm *sm); /* true: there is more to do at once */
mono_t admin_next(const struct sm *sm);

/* multicast.c: trees and tables of groups */
void multicast_new(struct sm *sm);
void multicast_free(struct sm *sm);
void multicast_changed(struct sm *sm, lid_t mlid);
void multicast_sweep(struct sm *sm); /* after admin_publish(): all trees, on the new picture */
void multicast_tick(struct sm *sm);
mono_t multicast_next(const struct sm *sm);
bool multicast_busy(const struct sm *sm);
void multicast_stop(struct sm *sm);
/* No stale multicast row leads into this cable, from either end. */
bool multicast_may_activate(void *sm, const struct port *p);
struct mft_sync *multicast_tables(const struct sm *sm);

/*
 * dirty.c (issue 4): changes whose place is known. Each call asks for a dirty sweep: it reads what is
 * named here, discovers what is behind whatever changed, and leaves all else as it is known.
 */
/* Links at this switch may have changed (trap 128, PortStateChange, a reset table). */
void dirty_switch(struct sm *sm, struct node *n, const char *why);
/* An end port says that it changed (trap 144), or who is behind a switch port must be asked. */
void dirty_port(struct sm *sm, struct port *p, const char *why);

/* Somebody is gone: who was left out because of its GUID is asked again. */
void dirty_left_out(struct sm *sm);
/* Nothing is dirty: a table does not hold what it should, and is known to. */
void dirty_tables(struct sm *sm, const char *why);
/* The sweep itself; dirty_settle() is false if nothing had happened. */
void dirty_start(struct sm *sm);
void dirty_feed(struct sm *sm);
bool dirty_busy(const struct sm *sm);
bool dirty_settle(struct sm *sm);
void dirty_ended(struct sm *sm);
/* A heavy sweep begins, which reads everything. */
void dirty_clear(struct sm *sm);
/* What discovery finds. A link was out: called before the cable is disconnected. */
void dirty_link_out(struct sm *sm, struct port *p);
/* Somebody answered from behind cable end `p`: if that was known to be down, its switch has news. */
void dirty_met(struct port *p);
/* Behind `p` is nobody any more: directed routes through it end at the wrong place. */
void dirty_cable_gone(struct sm *sm, struct port *p);
/* PortInfo `payload` arrived for `p`, which still holds the one before. */
void dirty_observed(struct sm *sm, const struct port *p, const uint8_t *payload);
/* A switch that had to be read does not answer. */
void dirty_lost(struct sm *sm, const struct node *n);
/* What was read cannot be: a dirty sweep ends here, unapplied. The caller wants a heavy one. */
void dirty_contradicted(struct sm *sm);
/* In a dirty sweep: this SwitchInfo says that nothing happened since its ports were read. */
bool dirty_is_unchanged(const struct sm *sm, const struct node *n, const uint8_t *switch_info);
/*
 * `end` answered behind `claimant`. True: it is known elsewhere by hearsay; the old place is read first,
 * then the claimant is asked again.
 */
bool dirty_question_hearsay(struct sm *sm, struct port *claimant, struct port *end);

/*
 * health.c, hold.c (issue 4): links that come and go, ports that complain too much or do not come up. Sets
 * port->avoided, which leaves a cable out of routing, and port->held, out of ARM and ACTIVE as well; what
 * is held is said once, and when it is let go. left_out.c: the line on what is left out.
 */
void health_new(struct sm *sm);
void health_free(struct sm *sm);
/*
 * PortInfo of a port was read, its link was `before`, enum ib_port_state. Called before the cable is
 * forgotten that has come out. Counts; what comes of it is decided by health_settle().
 */
void health_link_seen(struct sm *sm, struct port *p, unsigned before);
/* A trap 129..131 that the port's own node sent about it. */
void health_complaint(struct sm *sm, struct port *p, unsigned trap);
/* A sweep ended, and the port was left in INIT or ARMED by PORT_STUCK_AFTER heavy ones or more. */
void health_stuck(struct sm *sm, struct port *p);
/*
 * After discovery of any kind and before the snapshot that is routed on: which cables are held and
 * avoided from now on. True: something changed, routes have to be computed anew. Does nothing when
 * called again; prepare_routes() calls it in any case.
 */
bool health_settle(struct sm *sm);
void health_forget(struct sm *sm, struct node *n); /* before it is freed */
void health_tick(struct sm *sm);
mono_t health_next(const struct sm *sm);
/*
 * What is left out of the subnet, and why, in one line of at most `cap` bytes ("2 left out: 'x' port 3 flaps (held 8 s), ...");
 * "" if nothing. Returns the number of things left out. For the log (when it changes) and the status.
 */
unsigned health_left_out(const struct sm *sm, char *ret, size_t cap);
/* A sweep ended: the line is logged if it has changed, ports that babble are switched off. */
void health_sweep_ended(struct sm *sm);

/* traps.c (issue 4): SMPs with method Trap, in any state; answers, filters, forwards, reacts. */
void traps_new(struct sm *sm);
void traps_free(struct sm *sm);
void traps_tick(struct sm *sm);
mono_t traps_next(const struct sm *sm);
void traps_receive(struct sm *sm, const struct transport_addr *from, const uint8_t *mad);

/*
 * replica.c (issue 4): a standby as a client of the master's SA: what is registered there, and how the
 * master is configured. Reports that the master forwards reach standby_notice().
 */
void replica_new(struct sm *sm);
void replica_free(struct sm *sm);
/* After every change of state. In STANDBY sm->polled is the master; it may change while we stand by. */
void replica_state_changed(struct sm *sm);
/* A GMP of class SA arrived that is no request to us. True: it was for the replica, and is done with. */
bool replica_receive(struct sm *sm, struct transport_event *ev);
void replica_tick(struct sm *sm);
mono_t replica_next(const struct sm *sm);
/* Taking over, before the first view: what the master knew becomes ours. False: nothing (whole) was known. */
bool replica_restore(struct sm *sm);
/* In STANDBY: the master tells us of every change (its Notices reach standby_notice()). */
bool replica_is_subscribed(const struct sm *sm);
/* Managers of ours that are configured otherwise: how many, and in what ("partitions; routing"). */
unsigned replica_differs(const struct sm *sm, char *ret, size_t cap);
/*
 * As MASTER: may this greater one have the fabric now? One of ours that stands by gets a moment to copy what
 * is registered here; elect_tick() decides again when that is over.
 */
bool replica_may_succeed(const struct sm *sm, guid_t guid);
/* One of them has registered with our SA: struct sa_hooks. */
void replica_manager_seen(void *sm, guid_t port_guid, const uint8_t *record);

/*
 * standby.c (issue 4): the picture that a standby keeps warm.
 *
 * The master's SA reported a Notice (80 bytes, 13.4.8.2).
 */
void standby_notice(struct sm *sm, const uint8_t *notice);
/* From now on it reports all of them. */
void standby_subscribed(struct sm *sm);
void standby_enter(struct sm *sm);
void standby_leave(struct sm *sm);
bool standby_due(const struct sm *sm);
mono_t standby_next(const struct sm *sm);
/* The steps of a watch; standby_settle() is false if there is nothing more to do. */
void standby_look(struct sm *sm);
bool standby_settle(struct sm *sm);
void standby_seen(struct sm *sm);
void standby_watched(struct sm *sm, bool through);
void standby_start_takeover(struct sm *sm);

/* reload.c: the configuration and its files */
/* Between two sweeps: what SIGHUP left for now comes into force. */
void reload_take(struct sm *sm);
/* At the start of a heavy sweep: files that changed on the disk are read again, and told. */
void reload_files(struct sm *sm);
void reload_free(struct sm *sm);

/* sm.c */
struct mad_params sm_mad_params(const struct conf *c);
const char *sm_status_line(struct sm *sm);
