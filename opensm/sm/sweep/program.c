// SPDX-License-Identifier: BSD-2-Clause
#include "sm/sweep/program.h"
#include "sm/sweep/stale.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "plan/link.h"
#include "sm/sm_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/read/discover.h"
#include "util/mem.h"

/* Number of runs after the first in which unanswered Sets are repeated. */
#define ROUNDS 2

struct program {
	struct plan plan;
	/* references that plan.conf, plan.keys and plan.keys_later use */
	struct conf *conf;
	struct key_ring *keys, *keys_later;
	struct qos_plan qos;	/* QoS plan of the routes, as last programmed */
	unsigned rounds;	/* number of rounds in this sweep */
	unsigned ports_held;	/* number of ports that wait for multicast tables */
	bool is_ahead;		/* set if the running run is without routes */
	/* set if multicast tables are as complete as they will be in this sweep */
	bool released;
	unsigned unmapped_told; /* number of switches in the last record */
};
MACHINE_MEMORY(program);

void program_free(struct sm *sm)
{
	conf_unref(sm->m.program->conf);
	key_ring_unref(sm->m.program->keys);
	key_ring_unref(sm->m.program->keys_later);
}

void program_feed(struct sm *sm)
{
	sync_feed(sm->sync);
}

void program_node_goes(struct sm *sm, struct node *n)
{
	sync_forget(sm->sync, n);
}

void program_patched(struct sm *sm)
{
	struct program *pr = sm->m.program;
	const struct routes *now = sm_routes(sm);

	if (pr->plan.routes)
		pr->plan.routes = now;
	if (pr->qos.lanes) {
		pr->qos.lanes = now->lanes;
		pr->qos.topo = now->topo;
	}
}

/* A partition with an SL that routes decide, and that chooses no level; NULL: none. */
static const struct partition *overruled_partition(const struct sm *sm, const struct sl2vl *l)
{
	const struct partitions *ps = sm_partitions(sm);

	if (l && l->n_levels > 1)
		return NULL;
	for (size_t i = 0; l && l->by != SL2VL_BY_NOTHING && ps && i < ps->n; i++) {
		if (ps->list[i].sl & l->sl_mask)
			return &ps->list[i];
	}
	return NULL;
}

/* Logs options without effect, once until they are others. */
static void plan_lanes(struct sm *sm)
{
	struct program *pr = sm->m.program;
	const struct partition *part;
	struct qos_plan plan;

	qos_plan_make(pr->conf, sm_routes(sm), &plan);
	part = overruled_partition(sm, plan.lanes);
	if (part && !plan.note[0])
		snprintf(plan.note, sizeof(plan.note),
			 "%s decides the SL of every path: sl=%u of partition '%.64s' is without "
			 "effect",
			 sm_routes(sm)->engine, part->sl, part->name);
	if (plan.note[0] && strcmp(plan.note, pr->qos.note))
		log_info("%s", plan.note);
	pr->qos = plan;
}

/* Makes a plan without routes: partitions, M_Keys and options of the files. */
static struct plan plan_of_files(struct sm *sm)
{
	struct program *pr = sm->m.program;

	tenancy_plan_stored(sm);
	conf_unref(pr->conf);
	pr->conf = conf_ref(sm->conf);
	key_ring_unref(pr->keys);
	pr->keys = key_ring_ref(keys_to_write(sm));
	key_ring_unref(pr->keys_later);
	pr->keys_later = key_ring_ref(keys_later(sm));
	return (struct plan){ .conf = pr->conf,
			      .pkeys = partition_wanted(sm),
			      .keys = pr->keys,
			      .keys_later = pr->keys_later,
			      .sm_lid = sm->fabric->own_port->lid,
			      .registry = admin_registry(sm) };
}

/*
 * Is any port ACTIVE? A packet that arrives at an ARMED port makes it ACTIVE (7.2.7), and only
 * ACTIVE ports send packets.
 */
static bool is_any_active(const struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			if (n->ports[i].known && port_state(&n->ports[i]) > IB_PORT_ARMED)
				return true;
		}
	}
	return false;
}

/*
 * May ports be armed ahead of routes? Nothing is forwarded before ports are ACTIVE, so tables do
 * not matter then. With QoS, limits of VLs would be written twice.
 */
static bool may_arm_ahead(const struct sm *sm)
{
	return discover_is_cold(sm) && !is_any_active(sm) && !sm->conf->qos;
}

/*
 * Starts a run without routes; Sets that fail are sent again, and reported, by the run with routes.
 */
void program_start_ahead(struct sm *sm)
{
	struct program *pr = sm->m.program;

	assert(sm->fabric->own_port);
	pr->plan = plan_of_files(sm);
	pr->plan.arms_ahead = may_arm_ahead(sm);
	pr->is_ahead = true;
	pr->released = false;
	sync_start_ahead(sm->sync, &pr->plan);
}

/*
 * Starts a run. Without new routes (logged by routing.c) the former ones stay in force, wherever
 * they still lead: a host that comes back, a switch that lost power and partitions do not wait for
 * an engine.
 */
bool program_start(struct sm *sm)
{
	struct program *pr = sm->m.program;

	assert(sm->fabric->own_port);
	if (!routing_has_new(sm)) {
		tell_faults(sm, 1);
		if (!sm_routes(sm))
			return false;
	}
	pr->plan = plan_of_files(sm);
	pr->is_ahead = false;
	routing_install(sm);
	plan_lanes(sm);
	pr->plan.routes = sm_routes(sm);
	pr->plan.transition = routing_transition(sm);
	pr->plan.qos = &pr->qos;
	pr->rounds = 0;
	pr->released = false;
	stale_renew(sm);
	sync_start(sm->sync, &pr->plan);
	return true;
}

bool program_busy(const struct sm *sm)
{
	return sync_running(sm->sync);
}

bool program_released(const struct sm *sm)
{
	return sm->m.program->released;
}

/* Releases ports that waited for multicast tables; the run finds nothing else to write. */
void program_release(struct sm *sm)
{
	assert(sm->m.program->conf);
	sm->m.program->released = true;
	sm->m.program->plan.pkeys = partition_wanted(sm);
	if (sm->m.program->ports_held)
		sync_start(sm->sync, &sm->m.program->plan);
}

static void tell_unstored(const struct sync_outcome *o)
{
	char where[PLACE_STRLEN], fields[LINK_FIELDS_STRLEN];

	if (o->unstored_ports)
		log_on(about_port(LOG_ID_REFUSED_SET, o->unstored_example), LOGB_INFO,
		       "%s does not keep all that is written to its PortInfo (%s); ports that do "
		       "so: %u. It is not written again until something else is wanted",
		       fabric_place_str(o->unstored_example, where),
		       link_fields_str(o->unstored, fields), o->unstored_ports);
}

static void tell_unkept(const struct sync_outcome *o)
{
	char where[PLACE_STRLEN];

	if (o->unkept_tables)
		log_on(about_port(LOG_ID_REFUSED_SET, o->unkept_example), LOGB_ERROR,
		       "%s refuses its %s, or does not keep it; such tables of ports: %u. They are "
		       "not written again until something else is wanted",
		       fabric_place_str(o->unkept_example, where), ib_attr_name(o->unkept_attr),
		       o->unkept_tables);
}

void program_judge(struct sm *sm, const struct sync_outcome *o)
{
	struct program *pr = sm->m.program;
	char where[PLACE_STRLEN], status[IB_WORD_STRLEN];

	/*
	 * The run with routes follows and reports everything else. It does not write again what
	 * devices refused or did not keep, so that is logged here.
	 */
	if (pr->is_ahead) {
		tell_unstored(o);
		tell_unkept(o);
		return;
	}
	pr->ports_held = o->ports_held;
	if (o->tables_kept)
		tell_news(sm, NEWS_SOFT_FAULT);
	if (o->recovered)
		want_sweep(sm, SWEEP_HEAVY, "a switch takes forwarding tables again");
	/*
	 * Lost Sets are repeated at once a few times; only those that remain unanswered are errors.
	 */
	if (o->timeouts && pr->rounds++ < ROUNDS) {
		pr->plan.pkeys = partition_wanted(sm);
		sync_start(sm->sync, &pr->plan);
		return;
	}
	tell_unstored(o);
	tell_unkept(o);
	if (o->unmapped && o->unmapped != pr->unmapped_told)
		log_on(about_node(LOG_ID_REFUSED_SET, o->unmapped_example), LOGB_ERROR,
		       "%s cannot map SLs to VLs (such switches: %u): paths of %s can block each "
		       "other there",
		       fabric_node_str(o->unmapped_example, where), o->unmapped,
		       sm_routes(sm)->engine);
	pr->unmapped_told = o->unmapped;
	tell_faults(sm, o->timeouts + o->refused);
	if (o->timeouts + o->refused)
		log_on(about_node(LOG_ID_REFUSED_SET, o->failed_example), LOGB_ERROR,
		       "%s did not take what was written to it: %s%s%s (Sets that were not "
		       "answered: %u, refused: %u); the next sweep tries again",
		       fabric_node_str(o->failed_example, where), ib_attr_name(o->failed_attr),
		       o->failed_status ? ", " : "",
		       o->failed_status ? mad_status_words(o->failed_status, status) : "",
		       o->timeouts, o->refused);
	if (!o->timeouts && !o->refused && sm->fabric->n_switches && !sm_no_routes(sm)[0])
		log_at(sm->conf->log_compat || !sweep_said_up(sm) ? LOGB_INFO : LOGB_VERBOSE,
		       "%s tables configured on all switches", sm_routes(sm)->engine);
}
