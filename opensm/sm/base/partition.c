// SPDX-License-Identifier: BSD-2-Clause
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plan/pkey.h"
#include "sm/base/about.h"
#include "sm/base/job.h"
#include "util/file.h"
#include "util/mem.h"

/*
 * The rules of the file that are in force:
 *
 *   RULES_NONE --file good, or none at a start; the last good one--> RULES_GOOD <--file good--.
 *       |--file bad, partition_config_error default--> RULES_LIMITED ------------------------|
 *       '--the same, keep--> RULES_KEEP ------------------------------------------------------'
 */
enum rules {
	RULES_NONE,    /* before the first sweep, and with `refuse`: nothing is set up */
	RULES_KEEP,    /* P_Key tables stay as they are */
	RULES_LIMITED, /* `in_force` is made without the file, and not saved */
	RULES_GOOD,    /* `in_force` is of the last good file; saved */
};

/* State of the partition file for this process. */
enum file_seen {
	FILE_NEVER,
	FILE_MET,  /* good or bad */
	FILE_GONE, /* empty, or deleted, and logged */
};

#define N_FORMER 8 /* number of former partition files that are remembered */

struct partitioning {
	enum rules rules;
	struct partitions *in_force; /* valid with RULES_LIMITED and RULES_GOOD */
	enum file_seen file;
	bool file_new; /* set if the file was read again, and not looked at */
	bool save_pending;
	char *good_path;	    /* NULL: no cache folder */
	struct pkey_plan *pkeys;    /* plan of the last sweep that made one */
	struct pkey_rights *rights; /* rights of the partitions in the plan */
	struct tenants *tenants;
	enum tenants_held held, planned_held; /* the present state; that when `pkeys` was planned */
	partition_removed_fn *is_removed;     /* with TENANTS_TAKEN */
	/* set if P_Keys were frozen after `pkeys` was planned, which must not be written */
	bool is_stale;
	bool has_none;		   /* no P_Key of a tenant is in `pkeys` */
	struct partitions *joined; /* `in_force` joined with those of tenants; NULL: not joined */
	/* Files in force before, while P_Keys of tenants may not be written; the newest first. */
	struct partitions *former[N_FORMER];
	size_t dropped_told, small_told;
};
MACHINE_MEMORY(partitioning);

#define GOOD_FILE_MAX (16u << 20)

/* ---- the file ------------------------------------------------------------------------------ */

struct good_job {
	char *path;
	struct partitions *partitions; /* one reference */
};

static int good_run(void *data)
{
	const struct good_job *job = data;
	struct file_replace *f;
	size_t len;
	const char *text = partitions_text(job->partitions, &len);

	if (!text)
		return unlink(job->path) < 0 && errno != ENOENT ? -errno : 0;
	f = file_replace_open(job->path, true);
	if (!f)
		return -errno;
	fwrite(text, 1, len, file_replace_stream(f));
	return file_replace_commit(f, true);
}

static void save_good(struct sm *sm);

static void good_saved(struct sm *sm, void *data, int error)
{
	const struct good_job *job = data;

	if (error < 0)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = job->path, .error = -error),
		       LOGB_ERROR,
		       "%s cannot be written: %s; if the partition file breaks before the next "
		       "start, there is no good one to fall back on",
		       job->path, strerror(-error));
	if (!sm)
		return;
	sm->m.partitioning->save_pending = false;
	if (job->partitions != sm->m.partitioning->in_force && error == 0)
		save_good(sm);
}

static void good_free(void *data)
{
	struct good_job *job = data;

	partitions_unref(job->partitions);
	free(job->path);
	free(job);
}

/* Saves the partitions in force, one write at a time. */
static void save_good(struct sm *sm)
{
	struct partitioning *p = sm->m.partitioning;
	struct good_job *job;

	if (!p->good_path || p->save_pending || p->rules != RULES_GOOD)
		return;
	p->save_pending = true;
	job = xcalloc(1, sizeof(*job));
	job->path = xstrdup(p->good_path);
	job->partitions = partitions_ref(p->in_force);
	job_start(sm, LAST_JOB("saving partitions", good_run, good_saved, good_free), job);
}

/* Warns of members made by requests: they hold beside those of the file. */
static void warn_of_tenants(const struct sm *sm, const struct partitions *p)
{
	const struct tenant_partition *t;

	for (size_t i = 0; (t = tenants_at(sm->m.partitioning->tenants, i)); i++) {
		const struct partition *filed = partitions_find(p, t->pkey);

		if (filed && !filed->api && t->n_members)
			log_on(ABOUT(.id = LOG_ID_PARTITION_FAULT,
				     .file = sm->conf->partition_config_file),
			       LOGB_INFO,
			       "%s:%u defines partition 0x%04x without flag \"api\"; %zu members "
			       "of it were made at run time: they stay until they are removed",
			       sm->conf->partition_config_file, filed->line, t->pkey, t->n_members);
	}
}

static void forget_former(struct partitioning *p, size_t from)
{
	for (size_t i = from; i < N_FORMER; i++) {
		partitions_unref(p->former[i]);
		p->former[i] = NULL;
	}
}

/* Remembers a file: P_Keys that devices keep may be of it. */
static void note_former(struct partitioning *p, struct partitions *file)
{
	forget_former(p, N_FORMER - 1);
	memmove(p->former + 1, p->former, (N_FORMER - 1) * sizeof(p->former[0]));
	p->former[0] = file;
}

static void put_in_force(struct sm *sm, struct partitions *p, enum rules rules)
{
	struct partitioning *pt = sm->m.partitioning;
	bool changed = !pt->in_force || !partitions_equal(pt->in_force, p);
	bool newly_good = rules == RULES_GOOD && pt->rules != RULES_GOOD;

	if (changed) {
		if (pt->in_force && pt->held != TENANTS_FREE)
			note_former(pt, pt->in_force);
		else
			partitions_unref(pt->in_force);
		pt->in_force = partitions_ref(p);
		pt->rights = pkey_rights_free(pt->rights);
		partition_join(sm);
		warn_of_tenants(sm, p);
		log_at(sm->first_sweep_done ? LOGB_INFO : LOGB_VERBOSE,
		       "partitions in force: %zu, with multicast groups: %zu", p->n, p->n_groups);
	}
	pt->rules = rules;
	if (changed || newly_good)
		save_good(sm);
}

/* The partitions that the last run of this program accepted. */
static struct partitions *last_good(struct sm *sm)
{
	struct conf_report report = { 0 };
	struct partitions *p = NULL;
	char *text;
	size_t len;

	if (!sm->m.partitioning->good_path ||
	    file_read(sm->m.partitioning->good_path, GOOD_FILE_MAX, &text, &len) < 0)
		return NULL;
	partitions_parse(text, len, sm->m.partitioning->good_path, sm->conf, &report, &p);
	free(text);
	conf_report_clear(&report);
	return p;
}

/*
 * Applies partition_config_error in a heavy sweep; `is_new`: the file was read since the last one;
 * `why`: its fault. False: refuse.
 */
static bool fall_back(struct sm *sm, bool is_new, const char *why)
{
	struct partitioning *pt = sm->m.partitioning;
	const char *file = sm->conf->partition_config_file;
	const char *policy = sm->conf->partition_config_error;
	bool refuse = !strcmp(policy, "refuse"), keep = !strcmp(policy, "keep");
	const struct log_about about = { .id = LOG_ID_PARTITION_FAULT, .file = file };
	_cleanup_(partitions_unrefp) struct partitions *p = NULL;

	if (pt->rules != RULES_NONE) {
		if (is_new)
			log_on(about, LOGB_ERROR, "%s %s: the partitions in force stay as they are",
			       file, why);
		return true;
	}
	p = last_good(sm);
	if (p) {
		log_on(about, LOGB_ERROR, "%s %s: the last good one (%s) is in force", file, why,
		       pt->good_path);
		put_in_force(sm, p, RULES_GOOD);
		return true;
	}
	log_on(about, LOGB_ERROR,
	       "%s %s and there is no last good one: %s (partition_config_error %s)", file, why,
	       refuse ? "nothing is set up until it is mended"
	       : keep ? "P_Key tables stay as they are"
		      : "every port is a limited member of the default partition, only this one is "
			"full",
	       policy);
	if (refuse)
		return false;
	if (keep) {
		pt->rules = RULES_KEEP;
		return true;
	}
	p = partitions_limited(sm->conf);
	put_in_force(sm, p, RULES_LIMITED);
	return true;
}

/* Continues without a file; `why`: the reason. False: nothing can be set up. */
static bool go_on_without_file(struct sm *sm, const char *why)
{
	struct partitioning *pt = sm->m.partitioning;
	const char *file = sm->conf->partition_config_file;
	_cleanup_(partitions_unrefp) struct partitions *p = NULL;

	if (pt->file == FILE_NEVER) {
		p = partitions_builtin(sm->conf);
		put_in_force(sm, p, RULES_GOOD);
		return true;
	}
	if (pt->file == FILE_MET)
		log_on(ABOUT(.id = LOG_ID_PARTITION_FAULT, .file = file), LOGB_ERROR,
		       "%s %s: %s until it defines partitions again, or until the next start", file,
		       why,
		       pt->rules != RULES_NONE ? "the partitions in force stay"
					       : "nothing is set up");
	pt->file = FILE_GONE;
	return pt->rules != RULES_NONE;
}

bool partition_load(struct sm *sm)
{
	struct partitioning *p = sm->m.partitioning;
	const struct conf_file *f = sm->files->of[CONF_FILE_PARTITIONS];
	bool is_new = p->file_new, is_needed = conf_file_is_needed(CONF_FILE_PARTITIONS, sm->conf);

	assert(sm->files);
	p->file_new = false;
	if (f->error == -ENOENT && (p->file != FILE_NEVER || !is_needed))
		return go_on_without_file(sm, "is gone");
	if (f->error == -ENOENT)
		return fall_back(sm, is_new, "is not there");
	if (f->error == 0 && f->partitions->origin == PARTITIONS_BUILTIN)
		return go_on_without_file(sm, "defines no partition any more");
	p->file = FILE_MET;
	if (f->error < 0)
		return fall_back(sm, is_new, "has errors");
	put_in_force(sm, f->partitions, RULES_GOOD);
	return true;
}

void partition_file_came(struct sm *sm)
{
	sm->m.partitioning->file_new = true;
}

bool partition_has_news(const struct sm *sm)
{
	return sm->m.partitioning->file_new;
}

const struct pkey_plan *partition_wanted(const struct sm *sm)
{
	const struct partitioning *p = sm->m.partitioning;

	if (p->rules == RULES_KEEP || p->is_stale || p->planned_held != p->held)
		return NULL;
	return p->pkeys;
}

const struct pkey_plan *sm_pkeys(const struct sm *sm)
{
	return sm->m.partitioning->pkeys;
}

const struct partitions *sm_partitions(const struct sm *sm)
{
	const struct partitioning *p = sm->m.partitioning;

	return p->joined ? p->joined : p->in_force;
}

void partition_bequeath(const struct sm *sm, struct sm_heritage *ret)
{
	const struct partitioning *p = sm->m.partitioning;

	ret->partitions = partitions_ref(p->in_force);
	ret->partitions_good = p->rules == RULES_GOOD;
	ret->partition_file_met = p->file != FILE_NEVER;
}

void partition_inherit(struct sm *sm, const struct sm_heritage *h)
{
	struct partitioning *p = sm->m.partitioning;

	p->in_force = partitions_ref(h->partitions);
	partition_join(sm);
	if (h->partitions)
		p->rules = h->partitions_good ? RULES_GOOD : RULES_LIMITED;
	p->file = h->partition_file_met ? FILE_MET : FILE_NEVER;
}

/* ---- P_Key tables -------------------------------------------------------------------------- */

static unsigned peer_capacity(const struct port *p)
{
	const struct port *peer = p->peer;

	if (node_is_switch(p->node) || !peer || !node_is_switch(peer->node))
		return 0;
	return fabric_pkey_cap(peer);
}

struct tables {
	struct pkey_port *rows;
	uint16_t **have; /* parallel to rows */
	size_t n, cap_rows, cap_have;
	size_t n_left_alone;
};

static struct pkey_port row_of(const struct sm *sm, const struct port *p, uint16_t **ret_have)
{
	unsigned capacity = fabric_pkey_cap(p);
	uint16_t *have = xcalloc(capacity + 1u, sizeof(*have));
	unsigned n_have = fabric_pkeys(sm->fabric, p, have);

	if (!n_have) {
		free(have);
		have = NULL;
	}
	*ret_have = have;
	return (struct pkey_port){
		.guid = p->guid,
		.node_type = p->node->type,
		.is_sm = p == sm->fabric->own_port,
		.capacity = capacity,
		.have = have,
		.n_have = n_have,
		.peer_capacity = peer_capacity(p),
	};
}

static void add_port(struct tables *t, const struct sm *sm, const struct port *p)
{
	GROW(t->rows, t->n + 1, t->cap_rows);
	GROW(t->have, t->n + 1, t->cap_have);
	t->rows[t->n] = row_of(sm, p, &t->have[t->n]);
	t->n++;
}

/* Is the table of a live port left alone, as its keys are unknown while P_Keys are held? */
static bool is_left_alone(const struct sm *sm, const struct tables *t, const struct port *p)
{
	enum tenants_held held = sm->m.partitioning->held;

	return (held == TENANTS_HELD || held == TENANTS_TAKEN) && !t->have[t->n - 1] &&
	       port_is_live(p);
}

static void collect_tables(const struct sm *sm, struct tables *ret)
{
	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (!p->guid || !p->known)
			continue;
		add_port(ret, sm, p);
		if (!is_left_alone(sm, ret, p))
			continue;
		/* A port without a plan is not written, nor is its switch port. */
		ret->n--;
		ret->n_left_alone++;
	}
}

static void tell_plan(struct sm *sm, const struct tables *t, const struct pkey_plan *plan)
{
	struct partitioning *pt = sm->m.partitioning;

	if (plan->n_dropped == pt->dropped_told && plan->n_peer_too_small == pt->small_told)
		return;
	pt->dropped_told = plan->n_dropped;
	pt->small_told = plan->n_peer_too_small;
	for (size_t i = 0, told = 0; i < plan->n_ports && told < 20; i++) {
		const struct pkey_port_plan *p = &plan->ports[i];
		const struct port *port = fabric_find_port(sm->fabric, t->rows[i].guid);

		if (!p->n_dropped && !p->peer_too_small)
			continue;
		told++;
		if (p->n_dropped)
			log_port(port, LOG_ID_TABLE_FULL, LOGB_ERROR,
				 "its P_Key table of %u entries is full, %u keys are left out, "
				 "first 0x%04x",
				 t->rows[i].capacity, p->n_dropped, pkey_plan_dropped(plan, i)[0]);
		if (p->peer_too_small)
			log_port(port, LOG_ID_TABLE_FULL, LOGB_ERROR,
				 "the switch port before it holds %u P_Keys, too few: it does not "
				 "check partitions",
				 t->rows[i].peer_capacity);
	}
}

/* ---- partition_config_error keep: tables as found are wanted --------------------------------- */

struct seen_key {
	uint16_t order, pkey, at;
	guid_t guid;
};

static int by_order(const void *a, const void *b)
{
	const struct seen_key *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static struct seen_key *seen_keys(const struct tables *t, size_t *ret_n)
{
	struct seen_key *keys = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < t->n; i++) {
		for (unsigned k = 0; t->have[i] && k < t->rows[i].n_have; k++) {
			uint16_t pkey = t->have[i][k];

			if (!(pkey & PKEY_BASE))
				continue;
			GROW(keys, n + 1, cap);
			keys[n++] = (struct seen_key){ partition_order(pkey), pkey, (uint16_t)k,
						       t->rows[i].guid };
		}
	}
	if (n)
		qsort(keys, n, sizeof(*keys), by_order);
	*ret_n = n;
	return keys;
}

/* Makes partitions of the P_Key tables of devices, for SA answers; nothing is written. */
static struct partitions *observed_partitions(const struct tables *t)
{
	size_t n;
	_cleanup_free_ struct seen_key *keys = seen_keys(t, &n);
	struct partitions *p = xcalloc(1, sizeof(*p));
	size_t cap = 0, cap_items = 0;

	p->refs = 1;
	for (size_t i = 0; i < n; i++) {
		struct partition *last = p->n ? &p->list[p->n - 1] : NULL;

		if (!last || last->pkey != (keys[i].pkey & PKEY_BASE)) {
			GROW(p->list, p->n + 1, cap);
			last = &p->list[p->n++];
			*last = (struct partition){ .pkey = keys[i].pkey & PKEY_BASE };
			cap_items = 0;
		}
		GROW(last->items, last->n_items + 1, cap_items);
		last->items[last->n_items++] = (struct partition_item){
			.guid = keys[i].guid,
			.ports = PARTITION_GUID,
			.member = keys[i].pkey & PKEY_FULL ? PARTITION_FULL : PARTITION_LIMITED,
		};
	}
	return p;
}

/* ---- tenants ------------------------------------------------------------------------------- */

/* May tenants have members of the partition? */
static bool is_of_tenants(const struct sm *sm, uint16_t base)
{
	const struct partition *filed = partitions_find(sm->m.partitioning->in_force, base);

	return base != PKEY_DEFAULT && (!filed || filed->api);
}

/* Finds the P_Keys that the switch port of a host lets through; false: unknown. */
static bool checked_keys(const struct sm *sm, guid_t guid, uint16_t **ret, unsigned *ret_n)
{
	const struct port *p = fabric_find_port(sm->fabric, guid);
	const struct port *at = p && !node_is_switch(p->node) ? p->peer : NULL;
	unsigned n_all;

	*ret_n = 0;
	*ret = NULL;
	if (!at || !at->known || port_is_end(at) || !ib_get(at->info, PI_PART_ENF_IN) ||
	    !ib_get(at->info, PI_PART_ENF_OUT))
		return false;
	*ret = xcalloc(fabric_pkey_cap(at) + 1u, sizeof(**ret));
	n_all = fabric_pkeys(sm->fabric, at, *ret);
	for (unsigned i = 0; i < n_all; i++) {
		if ((*ret)[i] & PKEY_BASE)
			(*ret)[(*ret_n)++] = (*ret)[i];
	}
	return n_all > 0;
}

/* The key, or its limited form, if the switch port lets it through; else 0. */
static uint16_t let_through(const uint16_t *checked, unsigned n, uint16_t pkey)
{
	uint16_t left = 0;

	for (unsigned i = 0; i < n; i++) {
		if (checked[i] == pkey)
			return pkey;
		if ((checked[i] & PKEY_BASE) == (pkey & PKEY_BASE))
			left = pkey & PKEY_BASE;
	}
	return left;
}

/*
 * Removes keys that a host, silent when they were taken, still has, but whose packets its switch
 * port drops.
 */
static void leave_out_cut_keys(const struct sm *sm, guid_t guid, uint16_t *have, unsigned n)
{
	_cleanup_free_ uint16_t *checked = NULL;
	unsigned n_checked;

	if (!checked_keys(sm, guid, &checked, &n_checked))
		return;
	for (unsigned i = 0; i < n; i++) {
		if (is_of_tenants(sm, have[i] & PKEY_BASE))
			have[i] = let_through(checked, n_checked, have[i]);
	}
}

/*
 * Of a table that is held: members as devices have them, so that their keys stay; but of keys that
 * are taken where that is known.
 */
static struct tenants *observed_tenants(const struct sm *sm, const struct tables *t)
{
	size_t n, cap = 0;
	_cleanup_free_ struct seen_key *keys = seen_keys(t, &n);
	struct tenants *ret = tenants_new();
	struct tenant_entry e = { .generation = 1 };
	uint16_t last = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t base = keys[i].pkey & PKEY_BASE;
		struct tenant_row row = { .kind = TENANT_ROW_MEMBER, .pkey = base };

		if (!is_of_tenants(sm, base) ||
		    (sm->m.partitioning->held == TENANTS_TAKEN &&
		     sm->m.partitioning->is_removed(sm, base, keys[i].guid)))
			continue;
		GROW(e.rows, e.n_rows + 2, cap);
		if (base != last)
			e.rows[e.n_rows++] =
				(struct tenant_row){ .kind = TENANT_ROW_PARTITION, .pkey = base };
		last = base;
		row.member = (struct tenant_member){ .guid = keys[i].guid,
						     .full = keys[i].pkey & PKEY_FULL,
						     .index0 = keys[i].at == 0 };
		e.rows[e.n_rows++] = row;
	}
	tenants_play(ret, &e);
	tenant_entry_clear(&e);
	return ret;
}

const struct partitions *partition_of_file(const struct sm *sm)
{
	return sm->m.partitioning->in_force;
}

const struct partitions *partition_of_former_file(const struct sm *sm, size_t i)
{
	return i < N_FORMER ? sm->m.partitioning->former[i] : NULL;
}

struct tenants *partition_tenants(const struct sm *sm)
{
	return sm->m.partitioning->tenants;
}

void partition_join(struct sm *sm)
{
	struct partitioning *p = sm->m.partitioning;

	partitions_unref(p->joined);
	p->joined = NULL;
	if (p->in_force && tenants_at(p->tenants, 0))
		p->joined = tenants_join(p->tenants, p->in_force, sm->conf);
}

void partition_hold_tenants(struct sm *sm, enum tenants_held held, partition_removed_fn *is_removed)
{
	assert(is_removed);
	struct partitioning *p = sm->m.partitioning;

	p->held = held;
	p->is_removed = is_removed;
	p->is_stale |= held == TENANTS_FROZEN;
	if (held == TENANTS_FREE)
		forget_former(p, 0);
	/* Without tenants, here and on devices, the plan would be the same. */
	if (held == TENANTS_FREE && p->has_none && !p->is_stale && !tenants_at(p->tenants, 0))
		p->planned_held = TENANTS_FREE;
	sync_use_pkeys(sm->sync, partition_wanted(sm));
}

bool partition_is_unwritten(const struct sm *sm)
{
	return partition_is_planned(sm) && !partition_wanted(sm);
}

bool partition_is_held(const struct sm *sm)
{
	const struct partitioning *p = sm->m.partitioning;

	return p->held != TENANTS_FREE || p->planned_held != TENANTS_FREE || p->is_stale;
}

bool partition_is_planned(const struct sm *sm)
{
	const struct partitioning *p = sm->m.partitioning;

	return p->pkeys && (p->rules == RULES_GOOD || p->rules == RULES_LIMITED);
}

/* ---- planning ------------------------------------------------------------------------------ */

static struct pkey_job job_of(const struct sm *sm)
{
	struct partitioning *p = sm->m.partitioning;
	struct pkey_job job = {
		.partitions = p->in_force,
		.tenants = p->tenants,
		.previous = p->pkeys,
	};

	/* made once for all ports, as a file may have many items */
	if (!p->rights && p->in_force)
		p->rights = pkey_rights_new(p->in_force);
	job.rights = p->rights;
	pkey_job_options(&job, sm->conf);
	return job;
}

void partition_plan_port(struct sm *sm, const struct port *port)
{
	struct pkey_job job = job_of(sm);
	_cleanup_free_ uint16_t *have = NULL;
	struct pkey_port row = row_of(sm, port, &have);

	assert(partition_is_planned(sm) && !partition_is_held(sm));
	pkey_plan_port(sm->m.partitioning->pkeys, &job, &row);
	sync_pkeys_replanned(sm->sync, port->guid);
}

void partition_try_port(const struct sm *sm, const struct port *port, struct pkey_trial *ret)
{
	const struct pkey_job job = job_of(sm);
	_cleanup_free_ uint16_t *have = NULL;
	struct pkey_port row = row_of(sm, port, &have);

	assert(partition_is_planned(sm) && !partition_is_held(sm));
	pkey_plan_try(sm->m.partitioning->pkeys, &job, &row, ret);
}

void partition_try_guid(const struct sm *sm, guid_t guid, struct pkey_trial *ret)
{
	const struct pkey_job job = job_of(sm);
	const struct pkey_port row = { .guid = guid,
				       .node_type = IB_NODE_CA,
				       .capacity = PKEY_CAP_MAX };

	assert(partition_is_planned(sm) && !partition_is_held(sm));
	pkey_plan_try(sm->m.partitioning->pkeys, &job, &row, ret);
}

static void plan_tables(struct sm *sm, const struct tables *t)
{
	struct partitioning *p = sm->m.partitioning;
	_cleanup_(partitions_unrefp) struct partitions *observed = NULL;
	_cleanup_(tenants_freep) struct tenants *held = NULL;
	struct pkey_job job;
	struct pkey_plan *plan;

	if (p->rules == RULES_KEEP)
		observed = observed_partitions(t);
	p->planned_held = p->held;
	p->is_stale = p->held == TENANTS_FROZEN;
	if ((p->held == TENANTS_HELD || p->held == TENANTS_TAKEN) && !observed) {
		for (size_t i = 0; i < t->n; i++)
			leave_out_cut_keys(sm, t->rows[i].guid, t->have[i], t->rows[i].n_have);
		held = observed_tenants(sm, t);
	}
	p->has_none = !tenants_at(held ? held : p->tenants, 0) && !t->n_left_alone;
	job = job_of(sm);
	job.ports = t->rows;
	job.n_ports = t->n;
	if (held)
		job.tenants = held;
	if (observed) {
		job.partitions = observed;
		job.rights = NULL;
		job.tenants = NULL;
	}
	plan = pkey_plan(&job);
	tell_plan(sm, t, plan);
	pkey_plan_free(p->pkeys);
	p->pkeys = plan;
}

void partition_plan(struct sm *sm)
{
	struct tables t = { 0 };

	collect_tables(sm, &t);
	plan_tables(sm, &t);
	sync_use_pkeys(sm->sync, partition_wanted(sm));
	for (size_t i = 0; i < t.n; i++)
		free(t.have[i]);
	free(t.have);
	free(t.rows);
}

void partition_tidy(struct sm *sm)
{
	/* a running sweep uses the plan that it began with */
	if (sm->sweep == SWEEP_NONE && partition_is_planned(sm) &&
	    pkey_plan_is_bloated(sm->m.partitioning->pkeys))
		partition_plan(sm);
}

void partition_new(struct sm *sm, const struct sm_paths *paths)
{
	struct partitioning *p = sm->m.partitioning;

	if (paths && paths->cache_dir)
		p->good_path = xasprintf("%s/%s", paths->cache_dir, PARTITIONS_GOOD_FILE);
	p->tenants = tenants_new();
}

void partition_free(struct sm *sm)
{
	struct partitioning *p = sm->m.partitioning;

	pkey_plan_free(p->pkeys);
	pkey_rights_free(p->rights);
	tenants_free(p->tenants);
	forget_former(p, 0);
	partitions_unref(p->joined);
	partitions_unref(p->in_force);
	free(p->good_path);
}
