// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between facts and Sets: LIDs are planned, routes computed and judged, state is kept on disk.
 *
 * What takes long (routing, files with fsync) leaves as a job on immutable input.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/snapshot.h"
#include "ib/words.h"
#include "plan/lid.h"
#include "route/check.h"
#include "sm/impl.h"
#include "sm/route_job.h"
#include "sm/say.h"
#include "util/mem.h"

/* Runs after the first in which unanswered Sets are repeated. */
#define SYNC_ROUNDS 2

/* ---- state on disk ------------------------------------------------------------------------- */

static void read_file(struct sm *sm, enum store_file which)
{
	struct store_findings findings = { 0 };

	store_read(sm->store, which, &findings);
	for (size_t i = 0; i < findings.n; i++)
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING), LOGB_ERROR, "%s", findings.text[i]);
	if (findings.more)
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING), LOGB_ERROR, "%s: %zu more lines make no sense",
		       store_file_name(which), findings.more);
	store_findings_clear(&findings);
}

void prepare_load(struct sm *sm, const struct sm_paths *paths)
{
	sm->port_by_lid = xcalloc(LID_MAX_UCAST + 1u, sizeof(*sm->port_by_lid));
	sm->keeps_state = paths && paths->cache_dir;
	sm->store = store_new(sm->keeps_state ? paths->cache_dir : "",
			      sm->conf->fsync_high_avail_files);
	if (!sm->keeps_state)
		return;
	if (!sm->conf->reassign_lids)
		read_file(sm, STORE_LIDS);
	read_file(sm, STORE_MKEYS);
	read_file(sm, STORE_NEIGHBORS);
}

static void distrust_port(struct sm *sm, struct port *p)
{
	p->ext_known = false;
	fabric_forget_cells(sm->fabric, p);
}

void prepare_distrust(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		node_forget_tables(n);
		n->lft_top_written = 0;
		for (unsigned i = 0; i <= n->n_ports; i++)
			distrust_port(sm, &n->ports[i]);
	}
	sm->routes = routes_unref(sm->routes);
}

void prepare_left_standby(struct sm *sm)
{
	standby_leave(sm);
	store_forget(sm->store, STORE_LIDS);
	if (sm->keeps_state && sm->conf->honor_guid2lid_file)
		read_file(sm, STORE_LIDS);
}

void prepare_unload(struct sm *sm)
{
	sm->store = store_free(sm->store);
	free(sm->port_by_lid);
}

struct save_job {
	struct sm_job base;
	struct sm *sm;
	struct store_image *image;
	int error;
};

static void save_run(struct sm_job *base)
{
	struct save_job *job = (struct save_job *)base;

	job->error = store_image_write(job->image);
}

static void save(struct sm *sm);

static void saved(const struct save_job *job)
{
	struct sm *sm = job->sm;

	sm->save_pending = false;
	if (job->error < 0) {
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .error = -job->error), LOGB_ERROR,
		       "LIDs and keys cannot be saved: %s; they are kept in memory and tried again",
		       strerror(-job->error));
		store_image_failed(sm->store, job->image);
	}
	if (sm->save_again)
		save(sm);
}

static void save_done(struct sm_job *base)
{
	struct save_job *job = (struct save_job *)base;

	if (!base->orphan)
		saved(job);
	store_image_free(job->image);
	free(job);
}

/* One image at a time: what changes meanwhile is in the next. */
static void save(struct sm *sm)
{
	struct store_image *image;
	struct save_job *job;

	sm->save_again = sm->save_pending;
	if (!sm->keeps_state || sm->save_pending)
		return;
	image = store_image_new(sm->store);
	if (!image)
		return;
	job = xcalloc(1, sizeof(*job));
	job->base = (struct sm_job){
		.run = save_run, .done = save_done, .what = "saving state", .disk = true
	};
	job->sm = sm;
	job->image = image;
	sm->save_pending = true;
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

static guid_t neighbor_guid(const struct port *p)
{
	return node_is_switch(p->node) ? p->node->guid : p->guid;
}

/* After a sweep: keys, and who hangs on whom, for finding M_Keys of what is not known yet. */
void prepare_save(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (!node_is_switch(n) && p->known && p->guid)
				store_set_mkey(sm->store, p->guid, p->m_key);
			if (p->peer && neighbor_guid(p) && neighbor_guid(p->peer))
				store_set_neighbor(sm->store, neighbor_guid(p), i,
						   neighbor_guid(p->peer), p->peer->num);
		}
	}
	save(sm);
}

/* ---- LIDs ---------------------------------------------------------------------------------- */

static bool has_lid(const struct port *p)
{
	return port_is_end(p) && p->guid && p->known;
}

/* Calls `fn` for every port that owns a LID. */
static void each_end_port(struct fabric *f, void (*fn)(struct port *p, void *arg), void *arg)
{
	FABRIC_EACH_NODE(f, n) {
		unsigned first = node_is_switch(n) ? 0 : 1,
			 last = node_is_switch(n) ? 0 : n->n_ports;

		for (unsigned i = first; i <= last; i++) {
			if (has_lid(&n->ports[i]))
				fn(&n->ports[i], arg);
		}
	}
}

struct end_ports {
	const struct port *own;
	struct port **ports; /* parallel to rows */
	struct lid_port *rows;
	size_t n, cap_ports, cap_rows;
};

static void collect_port(struct port *p, void *arg)
{
	struct end_ports *e = arg;

	GROW(e->ports, e->n + 1, e->cap_ports);
	GROW(e->rows, e->n + 1, e->cap_rows);
	e->ports[e->n] = p;
	e->rows[e->n++] = (struct lid_port){
		.guid = p->guid,
		.current = ib_get(p->info, PI_LID),
		.is_sm = p == e->own,
		.switch0 = node_is_switch(p->node),
		.enhanced0 = port_is_enhanced0(p),
	};
}

static unsigned table_cap(const struct node *n)
{
	return node_is_switch(n) && n->switch_known ? ib_get(n->switch_info, SI_LINEAR_FDB_CAP) : 0;
}

/* LIDs that the fabric needs at least, and the highest that is in use already. */
static unsigned lids_needed(const struct sm *sm, const struct end_ports *e)
{
	unsigned needed = 1;

	for (size_t i = 0; i < e->n; i++) {
		unsigned last =
			e->ports[i]->lid ? e->ports[i]->lid + (1u << e->ports[i]->lmc) - 1 : 0;

		needed = MAX(needed, last);
	}
	return MAX(needed, (unsigned)MIN(e->n << sm->conf->lmc, (size_t)LID_MAX_UCAST));
}

/* A switch whose table is too small for this fabric is left out, unless all of them are. */
static void judge_table(struct node *n, unsigned needed, unsigned largest)
{
	unsigned cap = table_cap(n);
	bool small = cap && cap <= needed && largest > needed;
	char where[NODE_STRLEN];

	if (small && !n->small_table)
		log_on(about_node(LOG_ID_TABLE_FULL, n), LOGB_ERROR,
		       "%s holds LIDs up to %u, the fabric needs %u: nothing is routed through it",
		       fabric_node_str(n, where), cap - 1, needed);
	n->small_table = small;
}

/* The least LinearFDBCap decides how far LIDs may go. */
static lid_t top_lid(struct sm *sm, const struct end_ports *e)
{
	unsigned top = LID_MAX_UCAST, largest = 0, needed = lids_needed(sm, e);

	FABRIC_EACH_NODE(sm->fabric, n)
		largest = MAX(largest, table_cap(n));
	FABRIC_EACH_NODE(sm->fabric, n) {
		judge_table(n, needed, largest);
		if (!n->small_table && table_cap(n))
			top = MIN(top, table_cap(n) - 1);
	}
	return top;
}

static struct lid_range *remembered(const struct store *s, size_t *ret_n)
{
	struct lid_range *rows = xcalloc(store_count(s, STORE_LIDS) + 1, sizeof(*rows));
	size_t pos = 0, n = 0;

	while (store_next_lids(s, &pos, &rows[n].guid, &rows[n].min, &rows[n].max))
		n++;
	*ret_n = n;
	return rows;
}

void prepare_forget_ports(struct sm *sm)
{
	memset(sm->port_by_lid, 0, (LID_MAX_UCAST + 1u) * sizeof(*sm->port_by_lid));
}

struct port *prepare_port_at(const struct sm *sm, lid_t lid)
{
	return lid_is_unicast(lid) ? sm->port_by_lid[lid] : NULL;
}

static void take_lids(struct sm *sm, const struct end_ports *e, const struct lid_plan *plan)
{
	for (size_t i = 0; i < plan->n_dropped; i++)
		store_drop_lids(sm->store, plan->dropped[i]);
	for (size_t i = 0; i < e->n; i++) {
		const struct lid_assigned *a = &plan->ports[i];
		char where[PORT_STRLEN];

		e->ports[i]->lid = a->base;
		e->ports[i]->lmc = a->lmc;
		for (unsigned lid = a->base; a->base && lid < a->base + (1u << a->lmc); lid++)
			sm->port_by_lid[lid] = e->ports[i];
		if (a->base)
			store_set_lids(sm->store, e->rows[i].guid, a->min, a->max);
		if (a->reason >= LID_MOVED_INVALID && a->reason < LID_UNSERVED)
			log_on(about_port(LOG_ID_LID_FAULT, e->ports[i]), LOGB_INFO,
			       "%s: LID %u is %s, it gets LID %u", fabric_port_str(e->ports[i], where),
			       e->rows[i].current, lid_reason_name(a->reason), a->base);
	}
}

static void note_lid(struct port *p, void *arg)
{
	struct sm *sm = arg;
	unsigned lid = ib_get(p->info, PI_LID);

	p->lid = lid_is_unicast(lid) ? lid : 0;
	p->lmc = ib_get(p->info, PI_LMC);
	for (unsigned i = 0; p->lid && i < 1u << p->lmc && lid_is_unicast(lid + i); i++)
		sm->port_by_lid[lid + i] = p;
}

void prepare_note_lids(struct sm *sm)
{
	prepare_forget_ports(sm);
	each_end_port(sm->fabric, note_lid, sm);
}

int prepare_lids(struct sm *sm)
{
	struct end_ports e = { .own = sm->fabric->own_port };
	_cleanup_(lid_plan_freep) struct lid_plan *plan = NULL;
	_cleanup_free_ struct lid_range *rows = NULL;
	struct lid_job job = {
		.lmc = sm->conf->lmc,
		.lmc_esp0 = sm->conf->lmc_esp0,
		.reassign = sm->conf->reassign_lids && !sm->first_sweep_done,
	};
	char text[LID_PLAN_STRLEN];

	rows = remembered(sm->store, &job.n_remembered);
	each_end_port(sm->fabric, collect_port, &e);
	job.remembered = rows;
	job.ports = e.rows;
	job.n_ports = e.n;
	job.top = top_lid(sm, &e);
	plan = lid_plan(&job);
	take_lids(sm, &e, plan);
	if (plan->n_unserved) {
		log_on(ABOUT(.id = LOG_ID_LID_FAULT), LOGB_ERROR, "%s",
		       lid_plan_error(&job, plan, text));
		sm->errors++;
	}
	log_verbose("LIDs: %zu end ports, %zu change, highest %u", e.n, plan->n_changed, plan->top);
	free(e.rows);
	free(e.ports);
	save(sm);
	if (sm->fabric->own_port->lid)
		return 0;
	log_on(ABOUT(.id = LOG_ID_LID_FAULT), LOGB_ERROR,
	       "our own port has no LID: nothing can be set up");
	sm->errors++;
	return -ENOSPC;
}

/* ---- routes -------------------------------------------------------------------------------- */

/*
 * What stays of it without figures (GUIDs have letters, too), plurals and what is in brackets: two sweeps may find other
 * loads, and mean the same. Only to be compared.
 */
static size_t without_figures(const char *text, char *ret, size_t cap)
{
	unsigned depth = 0;
	size_t n = 0;

	for (; *text && n + 1 < cap; text++) {
		depth += *text == '(';
		if (!depth && !isxdigit((unsigned char)*text) && *text != 's')
			ret[n++] = *text;
		depth -= depth && *text == ')';
	}
	ret[n] = '\0';
	return n;
}

/* Once for every engine and reason, until there are others. */
static void tell_refusal(struct sm *sm, const char *refused)
{
	char before[sizeof(sm->refused_told)], now[sizeof(sm->refused_told)];
	bool same = without_figures(refused, now, sizeof(now)) ==
			    without_figures(sm->refused_told, before, sizeof(before)) &&
		    !refused[0] == !sm->refused_told[0] && !strcmp(now, before);

	snprintf(sm->refused_told, sizeof(sm->refused_told), "%s", refused);
	if (same)
		return;
	if (refused[0])
		log_on(ABOUT(.id = LOG_ID_NO_ROUTES), LOGB_ERROR, "routing engine %s", refused);
	else
		log_info("every routing engine that is asked for gives good tables again");
}

static void on_routes(void *owner, struct routes *routes, struct route_report *report)
{
	struct sm *sm = owner;

	sm->route_pending = false;
	/* Where the same routes stay, no engine was asked. */
	if ((!routes || routes != sm->routes) && strcmp(report->refused, sm->refused_told))
		tell_refusal(sm, report->refused);
	snprintf(sm->no_routes_why, sizeof(sm->no_routes_why), "%s", routes ? "" : report->why);
	sm->stats.no_routes = routes ? 0 : sm->stats.no_routes + 1;
	dependency_graph_free(sm->depends);
	sm->depends = take(report->depends);
	sm->depends_of = routes ? routes : sm->routes;
	if (!routes) {
		log_on(ABOUT(.id = LOG_ID_NO_ROUTES), LOGB_ERROR, "no routes: %s; %s", report->why,
		       sm->routes ? "the old tables stay, who is new gets no path"
				  : "nothing is written: switches keep what they hold and no port comes up");
		return;
	}
	sm->new_routes = routes;
	sm->unreachable = report->unreachable;
	sm->routes_fresh = false;
	sm->transition = take(report->transition);
	if (sm->transition)
		log_verbose("%u LIDs are drained while their routes change",
			    sm->transition->n_lids);
	if (report->note[0])
		log_info("%s", report->note);
	log_info("%s tables: %s%s%s", routes->engine, report->verdict, routes->note[0] ? "; " : "",
		 routes->note);
	if (report->fault)
		log_on(ABOUT(.id = LOG_ID_ROUTE_CHECK), LOGB_ERROR,
		       "%s tables %s, and allow_unsafe_routes lets them count", routes->engine,
		       report->fault);
	if (report->bad)
		log_on(ABOUT(.id = LOG_ID_ROUTE_CHECK), LOGB_ERROR,
		       "%s tables leave pairs without a path: %s", routes->engine, report->verdict);
}

static struct topo *picture(struct sm *sm)
{
	health_settle(sm);
	return fabric_snapshot(sm->fabric);
}

void prepare_routes(struct sm *sm)
{
	_cleanup_(topo_unrefp) struct topo *topo = picture(sm);
	_cleanup_(routes_unrefp) struct routes *adopted =
		sm->routes && !sm->adopt_asked && adopt_holds(sm, topo) ? NULL : adopt_routes(sm, topo);
	const struct route_order order = {
		.topo = topo,
		.previous = sm->routes ? sm->routes : adopted,
		.held = adopted,
		.weigh = !sm->routes && adopted,
		.fresh = sm->routes_fresh && sm->routes,
		.conf = sm->conf,
		.files = sm->files,
		.engines = sm->hooks.engines,
		.done = on_routes,
		.owner = sm,
	};

	sm->new_routes = routes_unref(sm->new_routes);
	sm->transition = transition_free(sm->transition);
	sm->route_pending = true;
	sm->routing_started = sm->now;
	sm->hooks.submit_job(sm->hooks.arg, route_job_new(&order));
}

/* ---- what programming came to -------------------------------------------------------------- */

void prepare_judge(struct sm *sm, const struct sync_outcome *o)
{
	char where[PLACE_STRLEN], fields[LINK_FIELDS_STRLEN], status[IB_WORD_STRLEN];

	sm->ports_held = o->ports_held;
	sm->soft_faults += o->tables_kept > 0;
	if (o->recovered)
		sweep_want(sm, SWEEP_HEAVY, "a switch takes forwarding tables again");
	/* What was lost on the way is sent again at once, a few times; only what stays open is an error. */
	if (o->timeouts && sm->sync_rounds++ < SYNC_ROUNDS) {
		sync_start(sm->sync, &sm->plan);
		return;
	}
	if (o->unstored_ports)
		log_on(about_port(LOG_ID_REFUSED_SET, o->unstored_example), LOGB_INFO,
		       "%u ports do not keep what was written (%s), first %s; it is not written again "
		       "until it changes",
		       o->unstored_ports, link_fields_str(o->unstored, fields),
		       fabric_place_str(o->unstored_example, where));
	if (o->unkept_tables)
		log_on(about_port(LOG_ID_REFUSED_SET, o->unkept_example), LOGB_ERROR,
		       "%u tables of ports are not kept or refused, last %s at %s; they are not written "
		       "again until they change",
		       o->unkept_tables, ib_attr_name(o->unkept_attr),
		       fabric_place_str(o->unkept_example, where));
	if (o->unmapped && o->unmapped != sm->unmapped_told)
		log_on(about_node(LOG_ID_REFUSED_SET, o->unmapped_example), LOGB_ERROR,
		       "%u switches say that they cannot map service levels to lanes, last %s: paths of %s can "
		       "block each other there",
		       o->unmapped, fabric_node_str(o->unmapped_example, where), sm->routes->engine);
	sm->unmapped_told = o->unmapped;
	sm->errors += o->timeouts + o->refused;
	if (o->timeouts + o->refused)
		log_on(about_node(LOG_ID_REFUSED_SET, o->failed_example), LOGB_ERROR,
		       "%u Sets were not answered and %u refused, last %s at %s%s%s", o->timeouts,
		       o->refused, ib_attr_name(o->failed_attr),
		       fabric_node_str(o->failed_example, where), o->failed_status ? ": " : "",
		       o->failed_status ? mad_status_words(o->failed_status, status) : "");
	if (!o->timeouts && !o->refused && sm->fabric->n_switches && !sm->no_routes_why[0])
		log_info("%s tables configured on all switches", sm->routes->engine);
}
