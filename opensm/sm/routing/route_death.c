// SPDX-License-Identifier: BSD-2-Clause
/* Writes the files of an engine's death first, then logs the line that names them. */
#include "sm/routing/route_death.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "route/io/routes_pack.h"
#include "topo/topofile.h"
#include "util/file.h"
#include "util/log.h"
#include "route/select/engines.h"
#include "sm/base/job.h"
#include "util/mem.h"

struct death_job {
	struct route_death death;
	struct topo *topo;
	struct routes *before; /* NULL: the engine got no former tables */
	struct conf *conf;
	bool is_ours; /* set if the engine is of this program, not of a plugin */
	/* stem: path of the files without their suffixes; NULL: none are kept */
	char *folder, *stem;
};

static char *name_of(const char *stem, const char *end)
{
	return xasprintf("%s.%s", stem, end);
}

static char *stem_of(const char *folder, unsigned n)
{
	return xasprintf("%s/routing-died-%u", folder, n);
}

/* The path for new files: a free one, or that of the oldest files. */
static char *find_stem(const char *folder)
{
	char *best = NULL, *best_fabric = NULL;

	for (unsigned i = 1; i <= ROUTE_DEATHS_KEPT; i++) {
		char *stem = stem_of(folder, i), *fabric = name_of(stem, "fabric");
		/* a file that does not exist counts as oldest */
		bool older = !best || file_is_newer(best_fabric, fabric);

		free(older ? best : stem);
		free(older ? best_fabric : fabric);
		best = older ? stem : best;
		best_fabric = older ? fabric : best_fabric;
	}
	free(best_fabric);
	return best;
}

static int write_fabric(const struct death_job *j, FILE *out)
{
	struct topofile *f = topofile_from_topo(j->topo);

	topofile_write(f, out);
	topofile_free(f);
	return ferror(out) ? -EIO : 0;
}

static int write_tables(const struct death_job *j, FILE *out)
{
	return routes_save(j->before, out);
}

static int write_conf(const struct death_job *j, FILE *out)
{
	struct conf_report r = { 0 };
	int e = conf_write(j->conf, out, &r);

	conf_report_clear(&r);
	return e;
}

/* Writes a file that only root can read, as it contains keys. */
static int keep_file(const struct death_job *j, const char *end,
		     int (*write)(const struct death_job *j, FILE *out))
{
	_cleanup_free_ char *path = name_of(j->stem, end);
	struct file_replace *f = file_replace_open(path, true);
	int r;

	if (!f)
		return -errno;
	r = write(j, file_replace_stream(f));
	if (r < 0) {
		file_replace_abort(f);
		return r;
	}
	return file_replace_commit(f, true);
}

static int death_run(void *data)
{
	struct death_job *j = data;
	int error;

	if (!j->folder)
		return 0;
	j->stem = find_stem(j->folder);
	error = keep_file(j, "conf", write_conf);
	if (!error && j->before)
		error = keep_file(j, "tables", write_tables);
	return error ?: keep_file(j, "fabric", write_fabric);
}

static void write_command(const struct death_job *j, int error, char *ret, size_t cap)
{
	ret[0] = '\0';
	if (!j->folder)
		return;
	if (error < 0)
		snprintf(ret, cap, "; the fabric cannot be kept in %s: %s", j->folder,
			 strerror(-error));
	else if (!j->death.engine[0])
		snprintf(ret, cap, "; to replay it: opensm --plan %s.fabric -F %s.conf", j->stem,
			 j->stem);
	else if (!j->is_ours)
		snprintf(ret, cap,
			 "; the fabric is kept: opensm --plan %s.fabric (without engines of "
			 "plugins)",
			 j->stem);
	else
		snprintf(ret, cap,
			 "; to replay it: opensm --plan %s.fabric -F %s.conf -R "
			 "%s,no_fallback%s%s%s",
			 j->stem, j->stem, j->death.engine, j->before ? " --before " : "",
			 j->before ? j->stem : "", j->before ? ".tables" : "");
}

static void tell_death(struct sm *sm, void *data, int error)
{
	const struct death_job *j = data;
	const struct route_death *d = &j->death;
	const char *then = d->last	   ? "the tables in force stay"
			   : !d->engine[0] ? "it is begun once more"
			   : d->had_tables ? "it is asked once more, without the former tables"
					   : "the next engine has its turn";
	char command[800];

	write_command(j, error, command, sizeof(command));
	log_on(ABOUT(.id = LOG_ID_ENGINE_DIED), LOGB_ERROR, "%s%s%s%s%s: %s; %s%s",
	       d->engine[0] ? "routing engine " : "routing, before an engine began", d->engine,
	       d->inner[0] ? " (trying " : "", d->inner, d->inner[0] ? ")" : "", d->how, then,
	       command);
}

static void death_free(void *data)
{
	struct death_job *j = data;

	topo_unref(j->topo);
	routes_unref(j->before);
	conf_unref(j->conf);
	free(j->folder);
	free(j->stem);
	free(j);
}

void route_death_keep(struct sm *sm, const char *folder, const struct route_death *death,
		      const struct route_report *report)
{
	struct death_job *j = xcalloc(1, sizeof(*j));

	assert(death && report->topo && report->conf);
	j->death = *death;
	j->topo = topo_ref(report->topo);
	j->before = death->had_tables ? routes_ref(report->previous) : NULL;
	j->conf = conf_ref(report->conf);
	j->is_ours = route_engine_find(death->engine) != NULL;
	j->folder = folder ? xstrdup(folder) : NULL;
	job_start(sm, LAST_JOB("keeping what an engine died of", death_run, tell_death, death_free),
		  j);
}
