// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions: what the file said when it was read last (reload.c) is put in force, the last good one is
 * kept and saved, and P_Key tables are planned from it.
 *
 *   file good -> in force, saved as partitions.good
 *   file bad  -> what is in force stays; at a first start partitions.good; without one
 *                partition_config_error decides: default (everybody limited), keep (tables stay as
 *                they are), refuse (nothing is set up)
 *   no file   -> at a start: one open partition. Once there was a file, good or bad, things stay as
 *                they are, so that an editor that replaces the file does not open the fabric for a
 *                moment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plan/pkey.h"
#include "sm/say.h"
#include "util/file.h"
#include "util/mem.h"

#define GOOD_FILE_MAX (16u << 20)

/* ---- the file ------------------------------------------------------------------------------ */

struct good_job {
	struct sm_job base;
	struct sm *sm;
	char *path;
	struct partitions *partitions; /* one reference */
	int error;
};

static void good_run(struct sm_job *base)
{
	struct good_job *job = (struct good_job *)base;
	struct file_replace *f;
	size_t len;
	const char *text = partitions_text(job->partitions, &len);

	if (!text) {
		job->error = unlink(job->path) < 0 && errno != ENOENT ? -errno : 0;
		return;
	}
	f = file_replace_open(job->path, true);
	if (!f) {
		job->error = -errno;
		return;
	}
	fwrite(text, 1, len, file_replace_stream(f));
	job->error = file_replace_commit(f, true);
}

static void save_good(struct sm *sm);

static void good_saved(const struct good_job *job)
{
	struct sm *sm = job->sm;

	sm->good_pending = false;
	if (job->partitions != sm->partitions && job->error == 0)
		save_good(sm);
}

static void good_done(struct sm_job *base)
{
	struct good_job *job = (struct good_job *)base;

	if (job->error < 0)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = job->path, .error = -job->error), LOGB_ERROR,
		       "%s cannot be written: %s; if the partition file breaks before the next start, "
		       "there is no good one to fall back on",
		       job->path, strerror(-job->error));
	if (!base->orphan)
		good_saved(job);
	partitions_unref(job->partitions);
	free(job->path);
	free(job);
}

/* What is in force goes to the disk, one at a time. */
static void save_good(struct sm *sm)
{
	struct good_job *job;

	if (!sm->good_path || sm->good_pending || !sm->partitions_good)
		return;
	sm->good_pending = true;
	job = xcalloc(1, sizeof(*job));
	job->base = (struct sm_job){
		.run = good_run, .done = good_done, .what = "saving partitions", .disk = true
	};
	job->sm = sm;
	job->path = xstrdup(sm->good_path);
	job->partitions = partitions_ref(sm->partitions);
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

static void put_in_force(struct sm *sm, struct partitions *p, bool good)
{
	bool changed = !sm->partitions || !partitions_equal(sm->partitions, p);
	bool newly_good = good && !sm->partitions_good;

	if (changed) {
		partitions_unref(sm->partitions);
		sm->partitions = partitions_ref(p);
		log_info("partitions: %zu in force, %zu multicast groups stand", p->n, p->n_groups);
	}
	sm->partitions_keep = false;
	sm->partitions_good = good;
	if (changed || newly_good)
		save_good(sm);
}

/* What the last run of ours had accepted. */
static struct partitions *last_good(struct sm *sm)
{
	struct conf_report report = { 0 };
	struct partitions *p = NULL;
	char *text;
	size_t len;

	if (!sm->good_path || file_read(sm->good_path, GOOD_FILE_MAX, &text, &len) < 0)
		return NULL;
	partitions_parse(text, len, sm->good_path, sm->conf, &report, &p);
	free(text);
	conf_report_clear(&report);
	return p;
}

/* Called in every heavy sweep; `is_new`: it was read since the last one. */
static int fall_back(struct sm *sm, bool is_new)
{
	const char *file = sm->conf->partition_config_file,
		   *policy = sm->conf->partition_config_error;
	const struct log_about about = { .id = LOG_ID_PARTITION_FAULT, .file = file };
	_cleanup_(partitions_unrefp) struct partitions *p = NULL;

	if (sm->partitions || sm->partitions_keep) {
		if (is_new)
			log_on(about, LOGB_ERROR, "%s has errors: the partitions in force stay as they are",
			       file);
		return 0;
	}
	p = last_good(sm);
	if (p) {
		log_on(about, LOGB_ERROR, "%s has errors: the last good one (%s) is in force", file,
		       sm->good_path);
		put_in_force(sm, p, true);
		return 0;
	}
	if (strcmp(policy, "refuse") == 0) {
		log_on(about, LOGB_ERROR,
		       "%s has errors and there is no last good one: nothing is set up until it is "
		       "mended (partition_config_error refuse)",
		       file);
		return -EINVAL;
	}
	if (strcmp(policy, "keep") == 0) {
		log_on(about, LOGB_ERROR,
		       "%s has errors and there is no last good one: P_Key tables stay as they are "
		       "(partition_config_error keep)",
		       file);
		sm->partitions_keep = true;
		return 0;
	}
	log_on(about, LOGB_ERROR,
	       "%s has errors and there is no last good one: every port is a limited member of the "
	       "default partition, only this one is full (partition_config_error default)",
	       file);
	p = partitions_limited(sm->conf);
	put_in_force(sm, p, false);
	return 0;
}

/* False: partition_config_error refuse. */
static bool has_rules(const struct sm *sm)
{
	return sm->partitions || sm->partitions_keep;
}

static int without_file(struct sm *sm)
{
	_cleanup_(partitions_unrefp) struct partitions *p = NULL;

	if (sm->partition_file_met) {
		if (!sm->partition_gone_told)
			log_on(ABOUT(.id = LOG_ID_PARTITION_FAULT, .file = sm->conf->partition_config_file),
			       LOGB_ERROR, "%s is gone: %s until it is back, or until the next start",
			       sm->conf->partition_config_file,
			       has_rules(sm) ? "the partitions in force stay" : "nothing is set up");
		sm->partition_gone_told = true;
		return has_rules(sm) ? 0 : -ENOENT;
	}
	p = partitions_builtin(sm->conf);
	put_in_force(sm, p, true);
	return 0;
}

int partition_load(struct sm *sm)
{
	const struct conf_file *f = sm->files->of[CONF_FILE_PARTITIONS];
	bool is_new = sm->partition_file_new;

	sm->partition_file_new = false;
	if (f->error == -ENOENT)
		return without_file(sm);
	sm->partition_gone_told = false;
	sm->partition_file_met = true;
	if (f->error < 0)
		return fall_back(sm, is_new);
	put_in_force(sm, f->partitions, true);
	return 0;
}

void partition_bequeath(const struct sm *sm, struct sm_heritage *ret)
{
	ret->partitions = partitions_ref(sm->partitions);
	ret->partitions_good = sm->partitions_good;
	ret->partition_file_met = sm->partition_file_met;
}

void partition_inherit(struct sm *sm, const struct sm_heritage *h)
{
	sm->partitions = partitions_ref(h->partitions);
	sm->partitions_good = h->partitions_good;
	sm->partition_file_met = h->partition_file_met;
}

/* ---- P_Key tables -------------------------------------------------------------------------- */

static bool has_table(const struct port *p)
{
	return port_is_end(p) && p->guid && p->known;
}

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
};

static void add_port(struct tables *t, const struct sm *sm, const struct port *p)
{
	unsigned capacity = fabric_pkey_cap(p);
	uint16_t *have = xcalloc(capacity + 1u, sizeof(*have));
	unsigned n_have = fabric_pkeys(sm->fabric, p, have);

	if (!n_have) {
		free(have);
		have = NULL;
	}
	GROW(t->rows, t->n + 1, t->cap_rows);
	GROW(t->have, t->n + 1, t->cap_have);
	t->have[t->n] = have;
	t->rows[t->n++] = (struct pkey_port){
		.guid = p->guid,
		.node_type = p->node->type,
		.is_sm = p == sm->fabric->own_port,
		.capacity = capacity,
		.have = have,
		.n_have = n_have,
		.peer_capacity = peer_capacity(p),
	};
}

static void collect(const struct sm *sm, struct tables *ret)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		unsigned last = node_is_switch(n) ? 0 : n->n_ports;

		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= last; i++) {
			if (has_table(&n->ports[i]))
				add_port(ret, sm, &n->ports[i]);
		}
	}
}

static void tell_plan(struct sm *sm, const struct tables *t, const struct pkey_plan *plan)
{
	if (plan->n_dropped == sm->pkeys_dropped_told &&
	    plan->n_peer_too_small == sm->pkeys_small_told)
		return;
	sm->pkeys_dropped_told = plan->n_dropped;
	sm->pkeys_small_told = plan->n_peer_too_small;
	for (size_t i = 0, told = 0; i < plan->n_ports && told < 20; i++) {
		const struct pkey_port_plan *p = &plan->ports[i];
		const struct port *port = fabric_find_port(sm->fabric, t->rows[i].guid);

		if (!p->n_dropped && !p->peer_too_small)
			continue;
		told++;
		if (p->n_dropped)
			log_port(port, LOG_ID_TABLE_FULL, LOGB_ERROR,
				 "its P_Key table of %u entries is full, %u keys are left out, first "
				 "0x%04x",
				 t->rows[i].capacity, p->n_dropped, pkey_plan_dropped(plan, i)[0]);
		if (p->peer_too_small)
			log_port(port, LOG_ID_TABLE_FULL, LOGB_ERROR,
				 "the switch port before it holds %u P_Keys, too few: it does not check "
				 "partitions",
				 t->rows[i].peer_capacity);
	}
}

/* ---- partition_config_error keep: what the tables say is what is wanted --------------------- */

struct seen_key {
	uint16_t order, pkey;
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
			keys[n++] =
				(struct seen_key){ partition_order(pkey), pkey, t->rows[i].guid };
		}
	}
	if (n)
		qsort(keys, n, sizeof(*keys), by_order);
	*ret_n = n;
	return keys;
}

/* Partitions of which every port is a member as its table says. For SA answers; nothing is written. */
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
			.who = PARTITION_GUID,
			.member = keys[i].pkey & PKEY_FULL ? PARTITION_FULL : PARTITION_LIMITED,
		};
	}
	return p;
}

void partition_plan(struct sm *sm)
{
	_cleanup_(partitions_unrefp) struct partitions *observed = NULL;
	struct tables t = { 0 };
	struct pkey_plan *plan;
	struct pkey_job job = { .previous = sm->pkeys };

	collect(sm, &t);
	job.ports = t.rows;
	job.n_ports = t.n;
	if (sm->partitions_keep)
		observed = observed_partitions(&t);
	job.partitions = sm->partitions_keep ? observed : sm->partitions;
	pkey_job_options(&job, sm->conf);
	plan = pkey_plan(&job);
	tell_plan(sm, &t, plan);
	pkey_plan_free(sm->pkeys);
	sm->pkeys = plan;
	for (size_t i = 0; i < t.n; i++)
		free(t.have[i]);
	free(t.have);
	free(t.rows);
}

void partition_new(struct sm *sm, const struct sm_paths *paths)
{
	if (paths && paths->cache_dir)
		sm->good_path = xasprintf("%s/%s", paths->cache_dir, PARTITIONS_GOOD_FILE);
}

void partition_free(struct sm *sm)
{
	pkey_plan_free(sm->pkeys);
	sm->partitions = partitions_unref(sm->partitions);
	free(sm->good_path);
}
