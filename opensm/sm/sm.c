// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subnet manager as its owner sees it: made, dispatched, asked.
 */
#include "sm/sm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sm/events.h"
#include "sm/say.h"
#include "util/mem.h"

/* MADs taken in per dispatch: signals and control sockets get their turn in between. */
#define MADS_PER_DISPATCH 256

struct mad_params sm_mad_params(const struct conf *c)
{
	return (struct mad_params){
		.max_wire = c->max_wire_smps ? c->max_wire_smps : 0x7FFFFFFF,
		.max_wire2 = c->max_wire_smps2,
		.stall = c->max_smps_timeout,
		.timeout_ms = c->transaction_timeout,
		.long_timeout_ms = MAX(c->long_transaction_timeout, c->transaction_timeout),
		.retries = c->transaction_retries,
		.per_target = 8,
		.silent_after = SILENT_AFTER,
	};
}

static void on_sync_ended(void *owner, const struct sync_outcome *o)
{
	struct sm *sm = owner;

	prepare_judge(sm, o);
}

static void on_unsettled(void *owner)
{
	dirty_tables(owner, "a Set was not answered");
}

static void on_link_fell(void *owner, struct port *p, unsigned before)
{
	health_link_seen(owner, p, before);
}

struct sm *sm_new(const struct conf *conf, struct transport *tr, const struct sm_paths *paths,
		  const struct sm_hooks *hooks)
{
	struct sm *sm = xcalloc(1, sizeof(*sm));
	const struct mad_params params = sm_mad_params(conf);
	const struct sync_hooks sync_hooks = {
		.may_write = elect_may_write,
		.may_activate = multicast_may_activate,
		.ended = on_sync_ended,
		.link_fell = on_link_fell,
		.unsettled = on_unsettled,
		.table_written = hooks->event ? event_table : NULL,
		.arg = sm,
	};

	sm->conf = conf_ref(conf);
	sm->priority = conf->sm_priority;
	sm->hooks = *hooks;
	sm->tr = tr;
	sm->mad = mad_new(tr, &params);
	mad_set_inbox(sm->mad, inbox_receive, sm);
	mad_set_gmp(sm->mad, admin_receive, sm);
	sm->fabric = fabric_new();
	sm->reader = cell_reader_new(sm);
	sm->sync = sync_new(sm->fabric, sm->mad, &sync_hooks);
	sm->name_log = (struct log_limit){ .interval = MONO_S, .burst = 10 };
	sm->fault_log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
	prepare_load(sm, paths);
	partition_new(sm, paths);
	admin_new(sm, paths);
	multicast_new(sm);
	traps_new(sm);
	health_new(sm);
	replica_new(sm);
	elect_new(sm);
	sm->state = SM_NOT_ACTIVE;
	if (conf->sm_inactive) {
		log_sys_on(ABOUT(.id = LOG_ID_STATE_NOT_ACTIVE), "Entering %s state",
			   sm_state_name(SM_NOT_ACTIVE));
	} else {
		sm_enter(sm, SM_DISCOVERING);
		sweep_want(sm, SWEEP_HEAVY, "start");
	}
	sm->sweep_at = sm->retry_at = MONO_NEVER;
	return sm;
}

struct sm *sm_free(struct sm *sm)
{
	if (!sm)
		return NULL;
	sm->reader = cell_reader_free(sm->reader);
	elect_free(sm);
	replica_free(sm);
	health_free(sm);
	traps_free(sm);
	multicast_free(sm);
	admin_free(sm);
	sm->sync = sync_free(sm->sync);
	sm->mad = mad_free(sm->mad);
	routes_unref(sm->routes);
	routes_unref(sm->new_routes);
	transition_free(sm->transition);
	dependency_graph_free(sm->depends);
	sm->fabric = fabric_free(sm->fabric);
	prepare_unload(sm);
	partition_free(sm);
	conf_unref(sm->plan_conf);
	reload_free(sm);
	free(sm);
	return NULL;
}

/* Whoever has more to ask or to write than was queued so far. */
static void feed(struct sm *sm)
{
	if (sm->sweep != SWEEP_NONE && sm->partial)
		dirty_feed(sm);
	if (adopt_busy(sm))
		adopt_feed(sm);
	sync_feed(sm->sync);
	multicast_tick(sm);
}

static void go_on(struct sm *sm)
{
	feed(sm);
	sweep_run(sm);
	feed(sm);
}

int sm_dispatch(struct sm *sm, mono_t now)
{
	uint64_t ended;
	int r;

	sm->now = now;
	elect_tick(sm);
	traps_tick(sm);
	health_tick(sm);
	replica_tick(sm);
	go_on(sm);
	r = mad_dispatch(sm->mad, now, MADS_PER_DISPATCH);
	sm->admin_busy = admin_tick(sm);
	go_on(sm);
	/*
	 * What was just queued goes out now, not at the next MAD. Some of it may end at once (a target
	 * that rests): then nothing else would wake us.
	 */
	do {
		ended = mad_ended(sm->mad);
		if (r < 0 || mad_dispatch(sm->mad, now, 0) < 0)
			break;
		go_on(sm);
	} while (mad_ended(sm->mad) != ended);
	return r;
}

mono_t sm_next(const struct sm *sm)
{
	mono_t next = mono_min(mad_next(sm->mad), mono_min(sweep_next(sm), elect_next(sm)));

	if (sm->admin_busy)
		return 0;
	next = mono_min(next, mono_min(health_next(sm), replica_next(sm)));
	next = mono_min(next, traps_next(sm));
	return mono_min(next, mono_min(admin_next(sm), multicast_next(sm)));
}

void sm_shutdown(struct sm *sm)
{
	elect_good_bye(sm); /* decides whether these are last words */
	if (sm->first_sweep_done)
		admin_save(sm, true);
}

const char *sm_status_line(struct sm *sm)
{
	const struct sm_stats *st = &sm->stats;
	char left_out[LEFT_OUT_STRLEN];
	unsigned n = sm->state == SM_MASTER ? health_left_out(sm, left_out, sizeof(left_out)) : 0;
	char differs[160];
	unsigned others = replica_differs(sm, differs, sizeof(differs));

	snprintf(sm->status, sizeof(sm->status),
		 "%s%s: %u nodes (%u switches), %u ports active, heavy sweep %u: %u Sets%s%s%s%s%s%s%s",
		 sm_state_name(sm->state),
		 sm->state == SM_MASTER ? (st->up ? ", subnet up" : ", errors") : "",
		 sm->fabric->n_nodes, sm->fabric->n_switches, st->ports_active, st->heavy_sweeps,
		 st->last_sets, sm->port_down_told ? ", SM port is down" : "",
		 sm->own_silent ? ", our own port does not answer (firmware, or an M_Key not known here)" : "",
		 sm->sweeping_off ? ", sweeping is switched off" : "", n ? "; " : "",
		 n ? left_out : "", others ? "; another manager is configured otherwise: " : "",
		 others ? differs : "");
	return sm->status;
}

bool sm_own_silent(const struct sm *sm)
{
	return sm->own_silent;
}

unsigned sm_left_out(const struct sm *sm, char *ret, size_t cap)
{
	return health_left_out(sm, ret, cap);
}

const struct view *sm_view(const struct sm *sm)
{
	return sm->state == SM_MASTER ? sm->view : NULL;
}

const struct pkey_plan *sm_pkeys(const struct sm *sm)
{
	return sm->pkeys;
}

const struct partitions *sm_partitions(const struct sm *sm)
{
	return sm->partitions;
}

enum sm_state sm_state(const struct sm *sm)
{
	return sm->state;
}

bool sm_sweeping(const struct sm *sm)
{
	return sm->sweep != SWEEP_NONE;
}

const struct sm_stats *sm_stats(const struct sm *sm)
{
	return &sm->stats;
}

const struct fabric *sm_fabric(const struct sm *sm)
{
	return sm->fabric;
}

const char *sm_routes_refused(const struct sm *sm)
{
	return sm->refused_told;
}

const char *sm_no_routes(const struct sm *sm)
{
	return sm->no_routes_why;
}

const struct routes *sm_routes(const struct sm *sm)
{
	return sm->routes;
}

uint8_t sm_path_sl(const struct sm *sm, lid_t lid)
{
	uint8_t wish = sm->conf->sm_sl;

	return sm->view ? view_path_sl(sm->view, sm->view->sm_port, view_port_at(sm->view, lid), lid, wish) : wish;
}

const struct conf *sm_conf(const struct sm *sm)
{
	return sm->conf;
}

const struct mad_engine *sm_mad(const struct sm *sm)
{
	return sm->mad;
}

struct mad_engine *sm_gmp_engine(struct sm *sm)
{
	return sm->mad;
}

const struct sa *sm_sa(const struct sm *sm)
{
	return sm->sa;
}
