// SPDX-License-Identifier: BSD-2-Clause
/* Reads everything, then judges. */
#include "daemon/conf_reload.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/log.h"
#include "util/mem.h"

/* Options named in the line of news; a file that was replaced by another may change all. */
#define NEWS_MAX 24

/* ---- reading ------------------------------------------------------------------------------- */

static bool sets_options(const struct conf *file_conf)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (file_conf->file_line[id])
			return true;
	return false;
}

/* opensm.conf anew; `ret` gets the options then in force, `changes` those that differ. */
static void read_options(const struct reload_from *from, struct reload *ret,
			 struct conf_changes *changes)
{
	_cleanup_(conf_unrefp) struct conf *now = NULL;

	changes->n = 0;
	if (!from->path || !from->file_conf) {
		ret->conf = conf_ref(from->live);
		return;
	}
	now = conf_copy(from->file_conf);
	if (conf_read(now, from->path, &ret->report) == -ENOENT && sets_options(from->file_conf))
		conf_report_add(&ret->report, CONF_ERROR, from->path, 0, 0,
				"no such file any more");
	ret->conf = conf_reload(from->live, from->file_conf, now, changes, &ret->report);
	ret->file_conf = take(now);
}

/* An editor that replaces or truncates the file does not ask for a subnet without partitions. */
static void judge_gone(const struct conf_file *before, const struct conf_file *now,
		       struct conf_report *report)
{
	bool had_some =
		before && before->partitions && before->partitions->origin == PARTITIONS_FILE;

	if (before && before->error != -ENOENT && now->error == -ENOENT && !now->findings.errors)
		conf_report_add(report, CONF_ERROR, now->path, 0, 0,
				"gone; it takes a restart to go on without it");
	if (had_some && now->partitions && now->partitions->origin == PARTITIONS_BUILTIN)
		conf_report_add(report, CONF_ERROR, now->path, 1, 1,
				"no partition is defined any more; expected NAME=PKEY, FLAGS : "
				"PORTS ; it takes a "
				"restart to go on without partitions");
}

static void read_files(const struct reload_from *from, struct reload *ret)
{
	ret->files = conf_files_read(ret->conf, from->files);
	for (unsigned i = 0; i < CONF_N_FILES; i++) {
		const struct conf_file *f = ret->files->of[i];
		bool is_told = from->files && f == from->files->of[i];

		/*
		 * Findings of unchanged files are reported again only with errors, as nothing is
		 * taken over then.
		 */
		if (f && (!is_told || from->again || f->findings.errors))
			conf_report_append(&ret->report, &f->findings);
	}
	judge_gone(from->files ? from->files->of[CONF_FILE_PARTITIONS] : NULL,
		   ret->files->of[CONF_FILE_PARTITIONS], &ret->report);
}

/* ---- news ---------------------------------------------------------------------------------- */

static void write_option(FILE *out, const struct conf *before, const struct conf *now,
			 enum conf_id id)
{
	_cleanup_free_ char *old = conf_value_shown(before, id), *new = conf_value_shown(now, id);

	fprintf(out, "%s %s -> %s", conf_option(id)->name, old, new);
}

/* The changed options; NULL: none. */
static char *options_news(const struct conf *before, const struct conf *now,
			  const struct conf_changes *changes)
{
	char *text = NULL;
	size_t len;
	FILE *out;

	if (!changes->n)
		return NULL;
	out = open_memstream(&text, &len);
	for (size_t i = 0; i < changes->n && i < NEWS_MAX; i++) {
		fputs(i ? ", " : "", out);
		write_option(out, before, now, changes->ids[i]);
	}
	if (changes->n > NEWS_MAX)
		fprintf(out, ", and %zu more options", changes->n - NEWS_MAX);
	fclose(out);
	return text;
}

static char *all_news(const struct reload_from *from, const struct reload *r,
		      const struct conf_changes *changes)
{
	_cleanup_free_ char *options = options_news(from->live, r->conf, changes);
	_cleanup_free_ char *files = conf_files_news(from->files, r->files);

	if (options && files)
		return xasprintf("%s; %s", options, files);
	return options ? take(options) : take(files);
}

/* ---- the verdict --------------------------------------------------------------------------- */

static char *place_str(const struct conf_finding *f)
{
	const char *file = f->file ? f->file : "opensm.conf";

	return f->line ? xasprintf("%s:%u:%u", file, f->line, f->column) : xstrdup(file);
}

static void refuse_reload(struct reload *ret)
{
	for (size_t i = 0; i < ret->report.n && !ret->first; i++)
		if (ret->report.findings[i].severity == CONF_ERROR)
			ret->first = place_str(&ret->report.findings[i]);
	ret->refused = true;
	ret->conf = conf_unref(ret->conf);
	ret->file_conf = conf_unref(ret->file_conf);
	ret->files = conf_files_unref(ret->files);
}

void reload_read(const struct reload_from *from, struct reload *ret)
{
	struct conf_changes changes;

	assert(from && from->live && ret);
	*ret = (struct reload){ 0 };
	read_options(from, ret, &changes);
	read_files(from, ret);
	if (ret->report.errors)
		refuse_reload(ret);
	else
		ret->news = all_news(from, ret, &changes);
}

void reload_clear(struct reload *r)
{
	conf_unref(r->conf);
	conf_unref(r->file_conf);
	conf_files_unref(r->files);
	conf_report_clear(&r->report);
	free(r->news);
	free(r->first);
	*r = (struct reload){ 0 };
}

void reload_tell(const struct reload *r)
{
	for (size_t i = 0; i < r->report.n; i++) {
		const struct conf_finding *f = &r->report.findings[i];
		_cleanup_free_ char *place = place_str(f);
		const struct log_about about = { .id = LOG_ID_CONF_FINDING, .file = f->file };

		if (f->severity == CONF_ERROR)
			log_on(about, LOGB_ERROR, "%s: %s", place, f->text);
		else if (f->severity == CONF_WARNING)
			log_on(about, LOGB_INFO, "%s: %s", place, f->text);
	}
	if (r->report.dropped)
		log_error("%zu more findings", r->report.dropped);
	if (r->refused)
		log_on(ABOUT(.id = LOG_ID_CONF_REFUSED), LOGB_ERROR,
		       "SIGHUP: %u error%s: nothing is taken over, the running configuration stays "
		       "as it "
		       "is until SIGHUP finds none",
		       r->report.errors, r->report.errors == 1 ? "" : "s");
	else
		log_on(ABOUT(.id = LOG_ID_CONF_TAKEN), LOGB_INFO,
		       "SIGHUP: configuration read again: %s",
		       r->news ? r->news : "nothing changed");
}
