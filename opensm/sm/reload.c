// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration of a running manager, and the files it names.
 *
 * A sweep has one configuration from its first step to its last: what SIGHUP brings waits for the end
 * of the running one. Files are looked at once in every heavy sweep, as the peer does, so that a new
 * partitions.conf needs no signal; only what says something else than before is parsed. After a SIGHUP
 * that found a fault the disk is not looked at until one finds none: all of it counts, or nothing.
 */
#include "sm/say.h"
#include "util/mem.h"

/* ---- files --------------------------------------------------------------------------------- */

static void tell_findings(const struct conf_report *report)
{
	struct log_about about = { .id = LOG_ID_CONF_FINDING };

	for (size_t i = 0; i < report->n; i++) {
		const struct conf_finding *f = &report->findings[i];
		unsigned level = f->severity == CONF_ERROR     ? LOGB_ERROR
				 : f->severity == CONF_WARNING ? LOGB_INFO
							       : LOGB_VERBOSE;

		if (!log_wants(level))
			continue;
		about.file = f->file;
		if (f->line)
			log_write_on(&about, level, NULL, "%s:%u:%u: %s", f->file, f->line,
				     f->column, f->text);
		else
			log_write_on(&about, level, NULL, "%s: %s", f->file, f->text);
	}
	if (report->dropped)
		log_error("%zu more findings", report->dropped);
}

/* Takes over one reference of `files`. `tell`: their findings were not told yet. */
static void use_files(struct sm *sm, struct conf_files *files, bool tell)
{
	static const struct conf_prefixes none;
	_cleanup_(conf_files_unrefp) struct conf_files *before = sm->files;

	sm->files = files;
	if (files == before)
		return;
	for (unsigned i = 0; i < CONF_N_FILES; i++) {
		const struct conf_file *f = files->of[i];

		if (before && f == before->of[i])
			continue;
		if (f && tell)
			tell_findings(&f->findings);
		sm->partition_file_new |= i == CONF_FILE_PARTITIONS;
		if (i == CONF_FILE_PREFIXES)
			sa_set_prefixes(sm->sa, f ? &f->prefixes : &none);
		if (i == CONF_FILE_MODULES)
			log_set_modules(f ? f->modules.items : NULL, f ? f->modules.n : 0);
		if (i == CONF_FILE_NAMES)
			say_name_all(sm);
		if (before && conf_file_is_of_routing(i))
			sm->routes_fresh = true;
	}
}

void reload_files(struct sm *sm)
{
	_cleanup_(conf_files_unrefp) struct conf_files *files = NULL;
	_cleanup_free_ char *news = NULL;

	if (sm->files && (sm->files_held || sm->next_files))
		return;
	files = conf_files_read(sm->conf, sm->files);
	if (sm->files)
		news = conf_files_news(sm->files, files);
	if (news)
		log_on(ABOUT(.id = LOG_ID_CONF_TAKEN), LOGB_INFO, "changed on the disk: %s", news);
	use_files(sm, take(files), true);
}

const struct conf_files *sm_files(const struct sm *sm)
{
	return sm->next_files ? sm->next_files : sm->files;
}

/* ---- options ------------------------------------------------------------------------------- */

static bool changes_routes(const struct conf *before, const struct conf *now)
{
	struct conf_changes changes;

	conf_diff(before, now, &changes);
	for (size_t i = 0; i < changes.n; i++) {
		const struct conf_option *o = conf_option(changes.ids[i]);

		if (o->cost == CONF_COST_ROUTE && o->state == CONF_STATE_EFFECTIVE)
			return true;
	}
	return false;
}

/* Takes over one reference of `conf`. */
static void use_conf(struct sm *sm, struct conf *conf)
{
	const struct mad_params params = sm_mad_params(conf);
	unsigned priority = elect_priority(sm);

	if (conf->sm_priority != sm->conf->sm_priority)
		sm->priority = conf->sm_priority;
	sm->routes_fresh = sm->routes_fresh || changes_routes(sm->conf, conf);
	conf_unref(sm->conf);
	sm->conf = conf;
	sa_set_conf(sm->sa, conf);
	mad_set_params(sm->mad, &params);
	elect_reconfigured(sm, priority);
}

void reload_take(struct sm *sm)
{
	if (sm->next_conf)
		use_conf(sm, take(sm->next_conf));
	if (sm->next_files)
		use_files(sm, take(sm->next_files), false);
}

static void ask_for_sweep(struct sm *sm)
{
	if (sm->sweep == SWEEP_NONE)
		reload_take(sm);
	sweep_want(sm, SWEEP_HEAVY, "asked for");
	sm->hold_until = 0;
}

void sm_request_heavy(struct sm *sm, const struct conf *conf)
{
	if (conf) {
		conf_unref(sm->next_conf);
		sm->next_conf = conf_ref(conf);
	}
	ask_for_sweep(sm);
}

void sm_reload(struct sm *sm, const struct conf *conf, const struct conf_files *files)
{
	conf_unref(sm->next_conf);
	sm->next_conf = conf_ref(conf);
	conf_files_unref(sm->next_files);
	sm->next_files = conf_files_ref(files);
	sm->files_held = false;
	ask_for_sweep(sm);
}

void sm_reload_refused(struct sm *sm)
{
	sm->files_held = true;
	ask_for_sweep(sm);
}

/* ---- from one manager to the next ---------------------------------------------------------- */

void sm_bequeath(const struct sm *sm, struct sm_heritage *ret)
{
	*ret = (struct sm_heritage){
		.files = conf_files_ref(sm_files(sm)),
		.files_held = sm->files_held,
		.sweeping_off = sm->sweeping_off,
		.priority = sm->priority,
		.configured_priority = sm->conf->sm_priority,
	};
	partition_bequeath(sm, ret);
}

void sm_inherit(struct sm *sm, const struct sm_heritage *h)
{
	if (h->files)
		use_files(sm, conf_files_ref(h->files), false);
	sm->files_held = h->files_held;
	sm->sweeping_off = h->sweeping_off;
	if (h->configured_priority == sm->conf->sm_priority)
		sm->priority = h->priority;
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
	conf_files_unref(sm->next_files);
	conf_unref(sm->next_conf);
	conf_unref(sm->conf);
}
