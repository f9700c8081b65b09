// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration of a running manager, and the files it names.
 *
 * A sweep has one configuration from its first step to its last: what SIGHUP brings waits for the
 * end of the running one. It costs what it changes:
 *
 *   nothing changed, or a fault was found         no SMP
 *   options that say what is answered, or told    no SMP
 *   partitions, options that stand in ports       Sets of what differs: a dirty sweep that reads
 *                                                 nothing
 *   routing, its files                            the same, after routes were computed afresh
 *   fdr10                                         a heavy sweep: ports were not asked for it before
 *
 * Files are looked at once in every heavy sweep, as the peer does, so that a new partitions.conf
 * needs no signal; only what says something else than before is parsed. After a SIGHUP that found a
 * fault the disk is not looked at until one finds none: all of it counts, or nothing.
 */
#include "sm/base/about.h"

#include <assert.h>
#include <errno.h>
#include "sm/routing/route_memory.h"
#include "sm/base/news.h"
#include "util/mem.h"

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

struct reload {
	struct conf *next_conf; /* configuration for the time after the running sweep; NULL: none */
	bool held;		       /* set if SIGHUP found a fault: files are not read */
	struct conf *own;	       /* own configuration, without options of a master */
	reload_layered_fn *layered;
};
MACHINE_MEMORY(reload);

void reload_new(struct sm *sm, const struct conf *own, reload_layered_fn *layered)
{
	sm->m.reload->own = conf_ref(own);
	sm->m.reload->layered = layered;
	sm->quirks = conf_files_read_one(own, CONF_FILE_QUIRKS);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/*
 * Asks for the writing of a new configuration to an unchanged fabric (`unread`: of a property that
 * was not read before). Without a picture of the fabric the next sweep reads everything anyway, and
 * has the new configuration; it comes at once, as it may have waited for that. A standby writes
 * nothing.
 */
static void want_written(struct sm *sm, bool unread, const char *why)
{
	if (sm->state == SM_STANDBY || sm->state == SM_NOT_ACTIVE)
		return;
	if (sm->state == SM_MASTER && sm->first_sweep_done && !unread) {
		tell_news(sm, NEWS_TABLES, .text = why);
		return;
	}
	want_sweep_now(sm, SWEEP_HEAVY, why);
	own_port_ask_now(sm->m.own_port, sm->now);
}

/* Logs which QoS policy is in force, once per reading: it may be the last good one. */
static void policy_came(struct sm *sm, const struct conf_file *f)
{
	const struct qos_policy *p = f ? f->policy : NULL;

	if (f && f->error && (f->error != -ENOENT || conf_file_is_needed(f->kind, sm->conf)))
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING, .file = f->path), LOGB_ERROR,
		       "%s cannot be used: %s", f->path,
		       p ? "the QoS policy that was read before stays in force"
			 : "no QoS policy is in force, and paths have the SLs of their partitions");
	else if (p)
		log_info("QoS policy %s: %u rules, %u levels, %u port groups in force", f->path,
			 p->n_rules, p->n_levels, p->n_groups);
	else if (f)
		log_verbose("there is no QoS policy file %s: paths have the SLs of their "
			    "partitions",
			    f->path);
	tell_news(sm, NEWS_POLICY);
}

static void prefixes_came(struct sm *sm, const struct conf_file *f)
{
	static const struct conf_prefixes none;

	sa_set_prefixes(sm->sa, f ? &f->prefixes : &none);
}

static void modules_came(struct sm *sm, const struct conf_file *f)
{
	log_set_modules(f ? f->modules.items : NULL, f ? f->modules.n : 0);
}

static void partitions_came(struct sm *sm, const struct conf_file *f)
{
	partition_file_came(sm);
}

static void expected_came(struct sm *sm, const struct conf_file *f)
{
	expected_file_came(sm);
}

static void names_came(struct sm *sm, const struct conf_file *f)
{
	name_all_nodes(sm);
}

/*
 * By kind of file: the function that takes a new one, and whether it takes effect without any Set.
 */
static const struct taking {
	void (*came)(struct sm *sm, const struct conf_file *f); /* `f` NULL: there is no file */
	bool writes_nothing;
} takings[CONF_N_FILES] = {
	[CONF_FILE_PARTITIONS] = { .came = partitions_came },
	[CONF_FILE_PREFIXES] = { .came = prefixes_came, .writes_nothing = true },
	[CONF_FILE_NAMES] = { .came = names_came, .writes_nothing = true },
	[CONF_FILE_MODULES] = { .came = modules_came, .writes_nothing = true },
	[CONF_FILE_QUIRKS] = { .came = names_came, .writes_nothing = true },
	[CONF_FILE_EXPECTED] = { .came = expected_came },
	[CONF_FILE_QOS] = { .came = policy_came, .writes_nothing = true },
	[CONF_FILE_HOST_ORDER] = { .writes_nothing = true },
};

static void route_afresh(struct sm *sm)
{
	routing_afresh(sm);
	route_memory_forgive(sm->m.route_memory);
}

/*
 * Puts files into force; takes over one reference. `tell`: a sweep has read them and continues with
 * them, and no other machine has been informed.
 */
static void use_files(struct sm *sm, struct conf_files *files, bool tell)
{
	_cleanup_(conf_files_unrefp) struct conf_files *before = sm->files;

	sm->files = files;
	if (files == before)
		return;
	for (unsigned i = 0; i < CONF_N_FILES; i++) {
		const struct conf_file *f = files->of[i];

		if (before && f == before->of[i])
			continue;
		if (f && tell)
			log_findings(&f->findings);
		if (takings[i].came)
			takings[i].came(sm, f);
		if (before && conf_file_is_of_routing(i))
			route_afresh(sm);
		if (before && !tell && !takings[i].writes_nothing)
			want_written(sm, false, "a file of the configuration changed");
	}
}

void reload_files(struct sm *sm)
{
	_cleanup_(conf_files_unrefp) struct conf_files *files = NULL;
	_cleanup_free_ char *news = NULL;

	if (sm->files && (sm->m.reload->held || sm->next_files))
		return;
	files = conf_files_read(sm->conf, sm->files);
	if (sm->files)
		news = conf_files_news(sm->files, files);
	if (news)
		log_on(ABOUT(.id = LOG_ID_CONF_TAKEN), LOGB_INFO,
		       "files of the configuration changed on the disk, and were read again: %s",
		       news);
	use_files(sm, take(files), true);
}

/* ---- options ------------------------------------------------------------------------------- */

static void judge_change(struct sm *sm, enum conf_id id)
{
	const struct conf_option *o = conf_option(id);
	bool has_effect = o->state == CONF_STATE_EFFECTIVE || o->state == CONF_STATE_OWN;

	if (has_effect && o->cost == CONF_COST_ROUTE)
		route_afresh(sm);
	if (has_effect && (o->cost == CONF_COST_ROUTE || o->cost == CONF_COST_SWEEP))
		want_written(sm, id == CONF_ID_fdr10, "the configuration changed");
	/* The timer was set by the last sweep, perhaps to never; a new sweep is not needed. */
	if (sm->first_sweep_done &&
	    (id == CONF_ID_sweep_interval || id == CONF_ID_force_heavy_sweep))
		tell_news(sm, NEWS_TIMER);
}

/* Puts `conf` into force; takes over one reference. */
static void use_conf(struct sm *sm, struct conf *conf)
{
	_cleanup_(conf_unrefp) struct conf *before = sm->conf;
	const struct mad_params params = sm_mad_params(conf);
	struct conf_changes changes;

	sm->conf = conf;
	conf_diff(before, conf, &changes);
	for (size_t i = 0; i < changes.n; i++)
		judge_change(sm, changes.ids[i]);
	sa_set_conf(sm->sa, conf);
	mad_set_params(sm->mad, &params);
	tell_news(sm, NEWS_RECONFIGURED, .conf = before);
}

void reload_take(struct sm *sm)
{
	struct reload *r = sm->m.reload;

	if (r->next_conf)
		use_conf(sm, take(r->next_conf));
	if (sm->next_files)
		use_files(sm, take(sm->next_files), false);
}

static void ask_for_sweep(struct sm *sm)
{
	if (sm->sweep == SWEEP_NONE)
		reload_take(sm);
	want_sweep_now(sm, SWEEP_HEAVY, "asked for");
}

/* Makes `own`, completed by the master's options, the configuration; returns one reference. */
static struct conf *layered_conf(struct sm *sm, const struct conf *own)
{
	struct reload *r = sm->m.reload;
	struct conf *before = r->own;

	r->own = conf_ref(own);
	conf_unref(before);
	return r->layered(sm, r->own);
}

void sm_request_heavy(struct sm *sm, const struct conf *conf)
{
	if (conf) {
		conf_unref(sm->m.reload->next_conf);
		sm->m.reload->next_conf = layered_conf(sm, conf);
	}
	ask_for_sweep(sm);
}

/*
 * Puts `own`, completed by the master's options, into force after the running sweep, with files as
 * they are now.
 */
static void plan_layered(struct sm *sm, const struct conf *own, const struct conf_files *files)
{
	struct reload *r = sm->m.reload;
	struct conf *conf = layered_conf(sm, own);
	struct conf_files *read = files ? conf_files_read(conf, files) : NULL;

	conf_unref(r->next_conf);
	r->next_conf = conf;
	conf_files_unref(sm->next_files);
	sm->next_files = read;
}

/*
 * Takes options of a master. After a fault of SIGHUP files are not read: this waits for a SIGHUP
 * without faults.
 */
void reload_copied(struct sm *sm)
{
	if (sm->m.reload->held)
		return;
	plan_layered(sm, sm->m.reload->own, sm_files(sm));
	if (sm->sweep == SWEEP_NONE)
		reload_take(sm);
}

void sm_reload(struct sm *sm, const struct conf *conf, const struct conf_files *files)
{
	struct reload *r = sm->m.reload;

	assert(conf && files);
	plan_layered(sm, conf, files);
	r->held = false;
	if (sm->sweep == SWEEP_NONE)
		reload_take(sm);
}

bool reload_is_held(const struct sm *sm)
{
	return sm->m.reload->held;
}

void sm_reload_refused(struct sm *sm)
{
	sm->m.reload->held = true;
}

/* ---- from one manager to the next ---------------------------------------------------------- */

void sm_bequeath(const struct sm *sm, struct sm_heritage *ret)
{
	*ret = (struct sm_heritage){
		.files = conf_files_ref(sm_files(sm)),
		.files_held = sm->m.reload->held,
		.sweeping_off = sm->sweeping_off,
		.priority = sm_priority(sm),
		.configured_priority = sm->conf->sm_priority,
	};
	partition_bequeath(sm, ret);
}

void sm_inherit(struct sm *sm, const struct sm_heritage *h)
{
	assert(!sm->now);
	if (h->files)
		use_files(sm, conf_files_ref(h->files), false);
	sm->m.reload->held = h->files_held;
	sm->sweeping_off = h->sweeping_off;
	if (h->configured_priority == sm->conf->sm_priority)
		elect_inherit(sm, h->priority);
	partition_inherit(sm, h);
}

void sm_heritage_clear(struct sm_heritage *h)
{
	conf_files_unref(h->files);
	partitions_unref(h->partitions);
	*h = (struct sm_heritage){ 0 };
}

void reload_free(struct sm *sm)
{
	conf_files_unref(sm->files);
	conf_files_unref(sm->quirks);
	conf_files_unref(sm->next_files);
	conf_unref(sm->m.reload->next_conf);
	conf_unref(sm->m.reload->own);
	conf_unref(sm->conf);
}
