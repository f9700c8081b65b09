// SPDX-License-Identifier: BSD-2-Clause
#include "sm/base/lids.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/lid.h"
#include "sm/base/job.h"
#include "sm/sm_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"

struct lids {
	struct port **port_by_lid; /* LID_MAX_UCAST + 1 entries, valid until a node is removed */
	bool keeps_state;	   /* set if the store has a folder */
	bool ours;		   /* result of lids_are_ours() */
	bool save_pending, save_again; /* an image is being written; a newer one is to be written */
};
MACHINE_MEMORY(lids);

/* ---- state on disk ------------------------------------------------------------------------- */

static void read_file(struct sm *sm, enum store_file which)
{
	struct store_findings findings = { 0 };

	store_read(sm->store, which, &findings);
	for (size_t i = 0; i < findings.n; i++)
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING), LOGB_ERROR, "%s", findings.text[i]);
	if (findings.more)
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING), LOGB_ERROR,
		       "%s: %zu more lines make no sense", store_file_name(which), findings.more);
	store_findings_clear(&findings);
}

void lids_new(struct sm *sm, const struct sm_paths *paths)
{
	struct lids *l = sm->m.lids;

	l->port_by_lid = xcalloc(LID_MAX_UCAST + 1u, sizeof(*l->port_by_lid));
	l->keeps_state = paths && paths->cache_dir;
	sm->store =
		store_new(l->keeps_state ? paths->cache_dir : "", sm->conf->fsync_high_avail_files);
	if (!l->keeps_state)
		return;
	if (!sm->conf->reassign_lids)
		read_file(sm, STORE_LIDS);
	l->ours = store_count(sm->store, STORE_LIDS) > 0;
	read_file(sm, STORE_MKEYS);
	read_file(sm, STORE_NEIGHBORS);
}

bool lids_are_ours(const struct sm *sm)
{
	return sm->m.lids->ours;
}

void lids_left_by_ours(struct sm *sm)
{
	sm->m.lids->ours = true;
}

void lids_left_standby(struct sm *sm)
{
	sm->m.lids->ours = false;
	store_forget(sm->store, STORE_LIDS);
	if (sm->m.lids->keeps_state && sm->conf->honor_guid2lid_file)
		read_file(sm, STORE_LIDS);
}

void lids_free(struct sm *sm)
{
	sm->store = store_free(sm->store);
	free(sm->m.lids->port_by_lid);
}

static int save_run(void *data)
{
	return store_image_write(data);
}

static void save_image(struct sm *sm);

static void image_saved(struct sm *sm, void *data, int error)
{
	sm->m.lids->save_pending = false;
	if (error < 0) {
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .error = -error), LOGB_ERROR,
		       "LIDs and keys cannot be saved: %s; they are kept in memory and tried again",
		       strerror(-error));
		store_image_failed(sm->store, data);
	}
	if (sm->m.lids->save_again)
		save_image(sm);
}

static void image_free(void *data)
{
	store_image_free(data);
}

/* Writes an image of the store; one at a time, changes in the meantime are in the next. */
static void save_image(struct sm *sm)
{
	struct lids *l = sm->m.lids;
	struct store_image *image;

	l->save_again = l->save_pending;
	if (!l->keeps_state || l->save_pending)
		return;
	image = store_image_new(sm->store);
	if (!image)
		return;
	l->save_pending = true;
	job_start(sm, DISK_JOB("saving state", save_run, image_saved, image_free), image);
}

void lids_write(struct sm *sm)
{
	save_image(sm);
}

bool lids_are_being_saved(const struct sm *sm)
{
	return sm->m.lids->save_pending;
}

static guid_t neighbor_guid(const struct port *p)
{
	return node_is_switch(p->node) ? p->node->guid : p->guid;
}

void lids_note_cable(struct sm *sm, const struct port *a, const struct port *b)
{
	guid_t far = neighbor_guid(b);

	if (!neighbor_guid(a) || !far)
		return;
	/*
	 * A port of a host with several planes has a number in each, and a cable in one at a time.
	 */
	if (!node_is_switch(a->node))
		store_set_only_neighbor(sm->store, a->guid, a->num, far, b->num);
	else if (!node_is_switch(b->node))
		store_set_only_neighbor(sm->store, far, b->num, a->node->guid, a->num);
	else
		store_set_neighbor(sm->store, a->node->guid, a->num, far, b->num);
}

void lids_save(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (port_is_end(p) && p->guid && fabric_knows_mkey(p))
				store_set_mkey(sm->store, p->guid, p->m_key);
			if (p->peer)
				lids_note_cable(sm, p, p->peer);
		}
	}
	save_image(sm);
}

/* ---- LIDs ---------------------------------------------------------------------------------- */

static bool has_lid(const struct port *p)
{
	return p->guid && p->known;
}

struct end_ports {
	struct port **ports; /* port of each row */
	struct lid_port *rows;
	size_t n, cap_ports, cap_rows;
};

static void collect_port(const struct sm *sm, struct port *p, struct end_ports *e)
{
	GROW(e->ports, e->n + 1, e->cap_ports);
	GROW(e->rows, e->n + 1, e->cap_rows);
	e->ports[e->n] = p;
	e->rows[e->n++] = (struct lid_port){
		.guid = p->guid,
		.current = ib_get(p->info, PI_LID),
		.is_sm = p == sm->fabric->own_port,
		.switch0 = node_is_switch(p->node),
		.enhanced0 = port_is_enhanced0(p),
	};
}

static unsigned table_cap(const struct node *n)
{
	return node_is_switch(n) && n->switch_known ? ib_get(n->switch_info, SI_LINEAR_FDB_CAP) : 0;
}

/* The number of LIDs that the fabric needs, or the highest in use if that is greater. */
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

/* Leaves out a switch whose table is too small for this fabric, unless all are too small. */
static void judge_table(struct node *n, unsigned needed, unsigned largest)
{
	unsigned cap = table_cap(n);
	bool small = cap && cap <= needed && largest > needed;
	char where[NODE_STRLEN];

	if (small && !n->small_table)
		log_on(about_node(LOG_ID_TABLE_FULL, n), LOGB_ERROR,
		       "%s holds LIDs up to %u, the fabric needs %u: nothing is routed through it",
		       fabric_node_str(n, where), cap - 1, needed);
	if (small != n->small_table)
		observe_shown(n);
	n->small_table = small;
}

/* The highest LID that may be assigned, by the smallest LinearFDBCap. */
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

static struct lid_range *remembered_lids(const struct store *s, size_t *ret_n)
{
	struct lid_range *rows = xcalloc(store_count(s, STORE_LIDS) + 1, sizeof(*rows));
	size_t pos = 0, n = 0;

	while (store_next_lids(s, &pos, &rows[n].guid, &rows[n].min, &rows[n].max))
		n++;
	*ret_n = n;
	return rows;
}

static void forget_port(struct sm *sm, const struct port *p)
{
	struct port **at = sm->m.lids->port_by_lid;

	for (unsigned lid = p->lid; lid_is_unicast(lid) && lid < p->lid + (1u << p->lmc); lid++) {
		if (at[lid] == p)
			at[lid] = NULL;
	}
}

/*
 * Forgets the LIDs of a node: it may be removed during discovery, and a trap from its LID may
 * follow.
 */
void lids_node_goes(struct sm *sm, struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++)
		forget_port(sm, &n->ports[i]);
}

void lids_forget_ports(struct sm *sm)
{
	memset(sm->m.lids->port_by_lid, 0, (LID_MAX_UCAST + 1u) * sizeof(*sm->m.lids->port_by_lid));
}

struct port *lids_port_at(const struct sm *sm, lid_t lid)
{
	return lid_is_unicast(lid) ? sm->m.lids->port_by_lid[lid] : NULL;
}

static void give_lid(struct port *p, lid_t lid, uint8_t lmc)
{
	if (p->lid != lid || p->lmc != lmc)
		observe_shown(p->node);
	p->lid = lid;
	p->lmc = lmc;
}

static void take_lids(struct sm *sm, const struct end_ports *e, const struct lid_plan *plan)
{
	for (size_t i = 0; i < plan->n_dropped; i++)
		store_drop_lids(sm->store, plan->dropped[i]);
	for (size_t i = 0; i < e->n; i++) {
		const struct lid_assigned *a = &plan->ports[i];
		char where[PORT_STRLEN];

		give_lid(e->ports[i], a->base, a->lmc);
		for (unsigned lid = a->base; a->base && lid < a->base + (1u << a->lmc); lid++)
			sm->m.lids->port_by_lid[lid] = e->ports[i];
		if (a->base)
			store_set_lids(sm->store, e->rows[i].guid, a->min, a->max);
		if (a->reason >= LID_MOVED_INVALID && a->reason < LID_UNSERVED)
			log_on(about_port(LOG_ID_LID_FAULT, e->ports[i]), LOGB_INFO,
			       "%s: LID %u is %s, it gets LID %u",
			       fabric_port_str(e->ports[i], where), e->rows[i].current,
			       lid_reason_name(a->reason), a->base);
	}
}

static void note_lid(struct sm *sm, struct port *p)
{
	unsigned lid = ib_get(p->info, PI_LID);

	give_lid(p, lid_is_unicast(lid) ? (lid_t)lid : 0, (uint8_t)ib_get(p->info, PI_LMC));
	for (unsigned i = 0; p->lid && i < 1u << p->lmc && lid_is_unicast(lid + i); i++)
		sm->m.lids->port_by_lid[lid + i] = p;
}

void lids_note(struct sm *sm)
{
	lids_forget_ports(sm);
	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (has_lid(p))
			note_lid(sm, p);
	}
}

bool lids_assign(struct sm *sm)
{
	struct end_ports e = { 0 };
	_cleanup_(lid_plan_freep) struct lid_plan *plan = NULL;
	_cleanup_free_ struct lid_range *rows = NULL;
	struct lid_job job = {
		.lmc = sm->conf->lmc,
		.lmc_esp0 = sm->conf->lmc_esp0,
		.reassign = sm->conf->reassign_lids && !sm->first_sweep_done,
	};
	char text[LID_PLAN_STRLEN];

	assert(sm->fabric->own_port);
	rows = remembered_lids(sm->store, &job.n_remembered);
	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (has_lid(p))
			collect_port(sm, p, &e);
	}
	job.remembered = rows;
	job.ports = e.rows;
	job.n_ports = e.n;
	job.top = top_lid(sm, &e);
	plan = lid_plan(&job);
	take_lids(sm, &e, plan);
	if (plan->n_unserved) {
		log_on(ABOUT(.id = LOG_ID_LID_FAULT), LOGB_ERROR, "%s",
		       lid_plan_error(&job, plan, text));
		tell_faults(sm, 1);
	}
	log_verbose("LIDs: %zu end ports, %zu change, highest %u", e.n, plan->n_changed, plan->top);
	free(e.rows);
	free(e.ports);
	save_image(sm);
	if (sm->fabric->own_port->lid)
		return true;
	log_on(ABOUT(.id = LOG_ID_LID_FAULT), LOGB_ERROR,
	       "our own port has no LID: nothing can be set up");
	tell_faults(sm, 1);
	return false;
}
