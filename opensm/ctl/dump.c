// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which dump files there are and when they are written; what stands in them is in dump_ports.c,
 * dump_tables.c, dump_mcast.c, dump_lanes.c and dump_engine.c.
 */
#include "ctl/dump.h"

#include <errno.h>
#include <string.h>

#include "ctl/dump_files.h"
#include "ctl/dump_paths.h"
#include "util/file.h"
#include "util/mem.h"

struct dump_file {
	const char *name;
	void (*write)(const struct dump_source *s, struct dump_out *o);
	bool is_routing; /* written only with log flag ROUTING */
	bool is_lanes;	 /* and only if SL2VL tables are wanted */
	const char *engine; /* and only if this one made the routes */
};

/* files.md 1 */
static const struct dump_file files[] = {
	{ .name = "opensm-subnet.lst", .write = dump_subnet },
	{ .name = "opensm-lid-matrix.dump", .write = dump_matrix, .is_routing = true },
	{ .name = "opensm-lfts.dump", .write = dump_lfts, .is_routing = true },
	{ .name = "opensm.fdbs", .write = dump_fdbs, .is_routing = true },
	{ .name = "opensm.mcfdbs", .write = dump_mcfdbs, .is_routing = true },
	{ .name = "opensm-sl2vl.dump", .write = dump_sl2vl, .is_routing = true, .is_lanes = true },
	{ .name = "opensm-updn-roots.dump", .write = dump_updn_roots, .is_routing = true, .engine = "updn" },
	{ .name = "opensm-ftree-ca-order.dump", .write = dump_ftree_order, .engine = "ftree" },
	{ .name = "opensm-torus.dump", .write = dump_torus, .is_routing = true, .engine = "torus-2QoS" },
};

static bool is_asked_for(const struct dump_file *file, const struct dump_view *v, const struct dump_config *c)
{
	if ((file->is_routing && !c->routing) || (file->is_lanes && !v->qos.wanted))
		return false;
	return !file->engine || (v->conf && v->routes && !strcmp(v->routes->engine, file->engine));
}

static void write_text(const struct dump_source *s, const struct dump_file *file, FILE *stream)
{
	_cleanup_(out_freep) struct dump_out *o = out_new(stream);

	file->write(s, o);
}

static int write_file(const struct dump_source *s, const struct dump_file *file, const char *path)
{
	_cleanup_(file_replace_abortp) struct file_replace *f = file_replace_open(path, false);

	if (!f)
		return -errno;
	write_text(s, file, file_replace_stream(f));
	return file_replace_commit(take(f), false);
}

int dump_write_all(const struct dump_view *v, const struct dump_config *c, char *err,
		   size_t err_len)
{
	_cleanup_free_ uint32_t *order = dump_view_order(v);
	_cleanup_(dump_paths_freep) struct dump_paths *paths =
		c->routing ? dump_paths_new(v, order) : NULL;
	const struct dump_source s = { .view = v, .order = order, .paths = paths };
	int first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = NULL;
		int r;

		if (!is_asked_for(&files[i], v, c))
			continue;
		path = xasprintf("%s/%s", c->dir, files[i].name);
		r = write_file(&s, &files[i], path);
		if (r < 0 && first == 0) {
			snprintf(err, err_len, "cannot create file '%s': %s", path, strerror(-r));
			first = r;
		}
	}
	return first;
}

void dump_port_table(const struct dump_view *v, FILE *stream)
{
	_cleanup_free_ uint32_t *order = dump_view_order(v);
	const struct dump_source s = { .view = v, .order = order };
	struct dump_out *o = out_new(stream);

	dump_table(&s, o);
	out_free(o);
	fflush(stream);
}

/* ---- as a job ------------------------------------------------------------------------------ */

struct dump_job {
	struct sm_job base;
	struct dump_view *view;
	struct dump_config config;
	char *dir;
	dump_done_fn done;
	void *arg;
	int error;
	char why[512];
};

static void job_run(struct sm_job *base)
{
	struct dump_job *job = (struct dump_job *)base;

	job->error = dump_write_all(job->view, &job->config, job->why, sizeof(job->why));
	if (job->config.port_table)
		dump_port_table(job->view, stdout);
}

static void job_done(struct sm_job *base)
{
	struct dump_job *job = (struct dump_job *)base;

	if (job->done)
		job->done(job->arg, job->error < 0 ? job->why : NULL);
	dump_view_free(job->view);
	free(job->dir);
	free(job);
}

struct sm_job *dump_job_new(const struct fabric *f, const struct routes *routes,
			    const struct dump_config *c, dump_done_fn done, void *arg)
{
	struct dump_job *job = xcalloc(1, sizeof(*job));

	job->base = (struct sm_job){ .run = job_run, .done = job_done, .what = "dumping tables" };
	job->view = dump_view_new(f, routes, c->names);
	if (c->routing)
		dump_view_add_mfts(job->view, f);
	if (c->conf) {
		dump_view_add_qos(job->view, c->conf);
		dump_view_add_engine(job->view, c->conf, c->files);
	}
	job->dir = xstrdup(c->dir);
	job->config = *c;
	job->config.dir = job->dir;
	job->config.names = NULL;
	job->config.conf = NULL;
	job->config.files = NULL;
	job->done = done;
	job->arg = arg;
	return &job->base;
}
