// SPDX-License-Identifier: BSD-2-Clause
/* What --plan works on: the fabric, with LIDs for all; the configuration and its lists. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/cli.h"
#include "conf/text/lines.h"
#include "offline/plan.h"
#include "plan/lid.h"
#include "plan/route_lists.h"
#include "route/io/routes_pack.h"
#include "util/file.h"
#include "route/select/engines.h"
#include "util/mem.h"

/* Most bytes of the file, as for lfts_file. */
#define RUNNING_MAX ((size_t)4 << 30)

/* The fields of a port to which a planned LID is written. */
struct place {
	lid_t *lid;
	uint8_t *lmc;
};

static size_t lid_ports(const struct topofile *f, struct lid_port *ports, struct place *places,
			uint8_t *ret_lmc)
{
	size_t n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct topofile_node *node = &f->nodes[i];

		if (node->type != TOPOFILE_SWITCH)
			continue;
		ports[n] = (struct lid_port){ .guid = node->port_guid,
					      .current = node->lid,
					      .switch0 = true,
					      .enhanced0 = node->enhanced0 };
		places[n++] = (struct place){ &node->lid, &node->lmc };
	}
	for (uint32_t i = 0; i < f->n_ports; i++) {
		struct topofile_port *p = &f->ports[i];

		if (f->nodes[p->node].type == TOPOFILE_SWITCH)
			continue;
		ports[n] = (struct lid_port){ .guid = p->guid, .current = p->lid };
		places[n++] = (struct place){ &p->lid, &p->lmc };
		*ret_lmc = MAX(*ret_lmc, p->lmc);
	}
	return n;
}

/* LIDs of the file stay where they can; the others are given as the daemon would. */
static int give_lids(struct plan_world *w, const char *path)
{
	struct topofile *f = w->file;
	size_t room = (size_t)f->n_nodes + f->n_ports + 1;
	_cleanup_free_ struct lid_port *ports = xcalloc(room, sizeof(*ports));
	_cleanup_free_ struct place *places = xcalloc(room, sizeof(*places));
	_cleanup_(lid_plan_freep) struct lid_plan *plan = NULL;
	struct lid_job job = { .ports = ports, .top = LID_MAX_UCAST };
	char why[LID_PLAN_STRLEN];

	job.n_ports = lid_ports(f, ports, places, &job.lmc);
	if (w->args->conf) {
		job.lmc = w->conf->lmc;
		job.lmc_esp0 = w->conf->lmc_esp0;
	}
	plan = lid_plan(&job);
	if (plan->n_unserved) {
		fprintf(stderr, "opensm: %s: %s\n", path,
			lid_plan_error(&job, plan, why));
		return -EINVAL;
	}
	w->new_lids = (uint32_t)plan->n_changed;
	for (size_t i = 0; i < plan->n_ports; i++) {
		*places[i].lid = plan->ports[i].base;
		*places[i].lmc = plan->ports[i].lmc;
	}
	return 0;
}

static int read_fabric(struct plan_world *w, const char *path, const struct topofile *was)
{
	struct conf_report r = { 0 };
	int e;

	w->file = topofile_read(path, &r);
	conf_report_print(&r, stderr);
	conf_report_clear(&r);
	if (!w->file)
		return -EINVAL;
	for (uint32_t i = 0; i < w->file->n_ports; i++)
		w->vls_known |= w->file->ports[i].vls > 0;
	if (was)
		plan_keep_lids(was, w->file);
	e = give_lids(w, path);
	if (e < 0)
		return e;
	w->topo = topofile_topo(w->file, w->args->vls);
	return 0;
}

/* Returns the errors among them. */
static unsigned print_file_findings(const struct conf_files *files)
{
	unsigned errors = 0;

	for (unsigned i = 0; i < CONF_N_FILES; i++) {
		if (!files->of[i])
			continue;
		errors += files->of[i]->findings.errors;
		conf_report_print(&files->of[i]->findings, stderr);
	}
	return errors;
}

static int read_conf(struct plan_world *w)
{
	const struct cli_env env = { .version = "", .out = stderr, .err = stderr };
	const struct conf_place nowhere = { 0 };
	struct conf_report r = { 0 };
	unsigned errors, in_files;

	if (!w->args->conf)
		w->conf = conf_new();
	else if (cli_read_config(w->args->conf, &env, &w->conf, &r) == -ENOENT)
		conf_report_add(&r, CONF_ERROR, w->args->conf, 0, 0, "no such file");
	if (w->args->engine)
		conf_set(w->conf, CONF_ID_routing_engine, w->args->engine, &nowhere, &r);
	conf_verify(w->conf, &r);
	conf_advise(w->conf, NULL, &r);
	errors = r.errors;
	conf_report_print(&r, stderr);
	conf_report_clear(&r);
	w->files = conf_files_read(w->conf, NULL);
	in_files = print_file_findings(w->files);
	return errors || (w->args->strict && in_files) ? -EINVAL : 0;
}

int plan_read(const struct plan_args *args, struct plan_world *ret)
{
	int e;

	*ret = (struct plan_world){ .args = args };
	e = read_conf(ret);
	return e < 0 ? e : read_fabric(ret, args->fabric, NULL);
}

int plan_read_later(const struct plan_world *w, struct plan_world *ret)
{
	*ret = (struct plan_world){ .args = w->args,
				    .conf = conf_ref(w->conf),
				    .files = conf_files_ref(w->files) };
	return read_fabric(ret, w->args->then, w->file);
}

void plan_world_clear(struct plan_world *w)
{
	free(w->job);
	free(w->order);
	topo_unref(w->topo);
	topofile_free(w->file);
	conf_files_unref(w->files);
	conf_unref(w->conf);
	*w = (struct plan_world){ 0 };
}

const char *plan_name(const struct plan_world *w, guid_t guid)
{
	const char *name = conf_names_find(conf_files_names(w->files), guid);

	if (!name)
		name = topofile_name(w->file, guid);
	return name ? name : "";
}

char *plan_switch_str(const struct plan_world *w, guid_t guid, char ret[PLAN_NODE_STRLEN])
{
	const char *name = plan_name(w, guid);

	if (*name)
		snprintf(ret, PLAN_NODE_STRLEN, "\"%.60s\"", name);
	else
		snprintf(ret, PLAN_NODE_STRLEN, "0x%016" PRIx64, guid);
	return ret;
}

struct routes *plan_read_running(const struct plan_world *w, char *why, size_t why_len)
{
	struct conf_report r = { 0 };
	_cleanup_free_ char *text = NULL;
	struct route_job job = { .topo = w->topo, .threads = w->args->threads,
		.options = route_lists_options(w->conf, w->files) };
	size_t len = 0;

	int e = lines_load_most(w->args->running, RUNNING_MAX, &r, &text, &len);

	conf_report_clear(&r);
	if (e < 0) {
		snprintf(why, why_len, "cannot be read: %s",
			 e == -EFBIG ? "too large" : strerror(-e));
		return NULL;
	}
	job.options.lfts =
		(struct route_text){ .name = w->args->running, .text = text, .len = len };
	job.options.lid_matrix = (struct route_text){ 0 };
	return route_engine_run(route_engine_find("file"), &job, why, why_len);
}

struct routes *plan_read_before(const char *path, char *why, size_t why_len)
{
	_cleanup_free_ char *bytes = NULL;
	size_t n = 0;
	int e = file_read(path, ROUTES_SAVED_MAX, &bytes, &n);

	if (e < 0) {
		snprintf(why, why_len, "cannot be read: %s", strerror(-e));
		return NULL;
	}
	return routes_restore(bytes, n, why, why_len);
}
