// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which dump files there are and when they are written; their contents are in dump_ports.c,
 * dump_tables.c, dump_mcast.c, dump_lanes.c and dump_engine.c.
 */
#include "dump/dump.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump/dump_internal.h"
#include "util/file.h"
#include "util/mem.h"
#include "view/lid_hops.h"

struct dump_file {
	const char *name;
	void (*write)(const struct dump_source *s, struct dump_out *o);
	bool is_routing; /* written only with log flag ROUTING */
	bool is_lanes;	 /* written only if SL2VL tables are wanted */
	/* written only if paths have SLs of their own; otherwise an old file is removed */
	bool is_levels;
	const char *engine; /* written only if this engine made the routes */
};

/* files.md 1 */
static const struct dump_file files[] = {
	{ .name = "opensm-subnet.lst", .write = dump_subnet },
	{ .name = "opensm-lid-matrix.dump", .write = dump_matrix, .is_routing = true },
	{ .name = "opensm-lfts.dump", .write = dump_lfts, .is_routing = true },
	{ .name = "opensm.fdbs", .write = dump_fdbs, .is_routing = true },
	{ .name = "opensm.mcfdbs", .write = dump_mcfdbs, .is_routing = true },
	{ .name = "opensm-sl2vl.dump", .write = dump_sl2vl, .is_routing = true, .is_lanes = true },
	{ .name = "opensm-sl.dump", .write = dump_sls, .is_routing = true, .is_levels = true },
	{ .name = "opensm-updn-roots.dump", .write = dump_updn_roots, .is_routing = true,
	  .engine = "updn" },
	{ .name = "opensm-ftree-ca-order.dump", .write = dump_ftree_order, .engine = "ftree" },
	{ .name = "opensm-torus.dump", .write = dump_torus, .is_routing = true,
	  .engine = "torus-2QoS" },
};

static bool has_levels(const struct view *v)
{
	return v->routes && v->routes->lanes && v->routes->lanes->by != SL2VL_BY_NOTHING;
}

static bool is_asked_for(const struct dump_file *file, const struct view *v,
			 const struct dump_config *c)
{
	if (file->is_levels && !has_levels(v))
		return false;
	if ((file->is_routing && !c->routing) || (file->is_lanes && !v->qos.wanted))
		return false;
	return !file->engine ||
	       (c->engine && v->routes && !strcmp(v->routes->engine, file->engine));
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

static int by_node_guid(const void *a, const void *b, void *arg)
{
	const struct view *v = arg;

	return dump_compare(v->nodes[*(const uint32_t *)a].guid,
			    v->nodes[*(const uint32_t *)b].guid);
}

static int by_switch_guid(const void *a, const void *b, void *arg)
{
	const struct topo *t = arg;

	return dump_compare(t->switches[*(const uint32_t *)a].guid,
			    t->switches[*(const uint32_t *)b].guid);
}

/* 0 .. n - 1, sorted; the caller frees. */
static uint32_t *ordered(uint32_t n, int (*compare)(const void *a, const void *b, void *arg),
			 const void *arg)
{
	uint32_t *order = xcalloc(MAX(n, 1u), sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare, (void *)arg);
	return order;
}

static uint32_t *order_nodes(const struct view *v)
{
	return ordered(v->n_nodes, by_node_guid, v);
}

static uint32_t *order_switches(const struct routes *r)
{
	return r ? ordered(r->topo->n_switches, by_switch_guid, r->topo) : NULL;
}

int dump_write_all(const struct view *v, const struct dump_config *c, char *err,
		   size_t err_len)
{
	_cleanup_free_ uint32_t *order = order_nodes(v);
	_cleanup_free_ uint32_t *switches = order_switches(v->routes);
	_cleanup_(lid_hops_freep) struct lid_hops *paths = c->routing ? lid_hops_new(v) : NULL;
	const struct dump_source s = {
		.view = v, .order = order, .paths = paths, .switches = switches
	};
	int first = 0;

	assert(c->dir && err && err_len > 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = NULL;
		int r;

		if (!is_asked_for(&files[i], v, c) && !(files[i].is_levels && c->routing))
			continue;
		path = xasprintf("%s/%s", c->dir, files[i].name);
		if (!is_asked_for(&files[i], v, c)) {
			/* an old file would be read together with other tables */
			unlink(path);
			continue;
		}
		r = write_file(&s, &files[i], path);
		if (r < 0 && first == 0) {
			snprintf(err, err_len, "cannot create file '%s': %s", path, strerror(-r));
			first = r;
		}
	}
	return first;
}

void dump_port_table(const struct view *v, FILE *stream)
{
	_cleanup_free_ uint32_t *order = order_nodes(v);
	const struct dump_source s = { .view = v, .order = order };
	struct dump_out *o = out_new(stream);

	assert(v && stream);
	dump_table(&s, o);
	out_free(o);
	fflush(stream);
}

/* ---- as a job ------------------------------------------------------------------------------ */

struct dump_job {
	struct sm_job base;
	struct view *view;
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
	view_unref(job->view);
	free(job->dir);
	free(job);
}

struct sm_job *dump_job_new(struct view *v, const struct dump_config *c, dump_done_fn done,
			    void *arg)
{
	struct dump_job *job = xcalloc(1, sizeof(*job));

	assert(v && c->dir);
	job->base = (struct sm_job){ .run = job_run, .done = job_done, .what = "dumping tables" };
	job->view = v;
	job->dir = xstrdup(c->dir);
	job->config = *c;
	job->config.dir = job->dir;
	job->done = done;
	job->arg = arg;
	return &job->base;
}
