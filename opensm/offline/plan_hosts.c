// SPDX-License-Identifier: BSD-2-Clause
/* --hosts and host_order_file: which end ports of the fabric the lines of a list mean. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/text/lines.h"
#include "offline/plan.h"
#include "topo/names.h"
#include "util/guidmap.h"
#include "util/mem.h"
#include "util/str.h"

static const struct name_ranks ranks = { { NAME_MAPPED | NAME_DESC, NAME_DESC_WORD } };

struct finder {
	const struct plan_world *w;
	struct names *names;   /* names of nodes that are no switches */
	struct guidmap *nodes; /* these nodes, by GUIDs of nodes and ports */
	const char *path;
	enum conf_severity severity;
	struct conf_report *report;
	uint32_t *ranks, n_ranks;
	bool *taken; /* per host of topo */
};

static void add_guid(struct finder *f, guid_t guid, const struct topofile_node *n)
{
	if (guid && !guidmap_get(f->nodes, guid))
		guidmap_put(f->nodes, guid, (void *)n);
}

static void add_node(struct finder *f, const struct topofile_node *n)
{
	names_add(f->names, n, NULL, plan_name(f->w, n->guid));
	add_guid(f, n->guid, n);
	for (uint32_t k = 0; k < n->n_rows; k++)
		add_guid(f, f->w->file->ports[n->first_port + k].guid, n);
}

/* `words`: a name for each line, or "". */
static void finder_begin(struct finder *f, const char *const *words, size_t n_words)
{
	const struct topofile *file = f->w->file;

	f->names = names_new(&ranks, words, n_words);
	f->nodes = guidmap_new();
	f->ranks = xcalloc((size_t)f->w->topo->n_hosts + 1, sizeof(*f->ranks));
	f->taken = xcalloc((size_t)f->w->topo->n_hosts + 1, sizeof(*f->taken));
	for (uint32_t i = 0; i < file->n_nodes; i++)
		if (file->nodes[i].type != TOPOFILE_SWITCH)
			add_node(f, &file->nodes[i]);
}

static void finder_end(struct finder *f)
{
	names_free(f->names);
	guidmap_free(f->nodes);
	free(f->taken);
}

static void refuse(struct finder *f, const struct conf_host *h, const char *fmt, const char *what)
{
	struct conf_place at = { .file = f->path, .line = h->line, .column = h->column };

	conf_report_at(f->report, f->severity, &at, fmt, what);
}

/*
 * Takes the ports of the node that take part, or only the one with this GUID. False: there is none.
 */
static bool take_node(struct finder *f, const struct topofile_node *n, guid_t only)
{
	const struct topofile *file = f->w->file;
	const struct topo *t = f->w->topo;
	bool any = false;

	for (uint32_t k = 0; k < n->n_rows; k++) {
		guid_t guid = file->ports[n->first_port + k].guid;
		uint32_t host = topo_find_host(t, guid);

		if (host == TOPO_NONE || t->hosts[host].sw == TOPO_NONE || !t->hosts[host].lid ||
		    (only && only != guid))
			continue;
		any = true;
		if (!f->taken[host])
			f->ranks[f->n_ranks++] = host;
		f->taken[host] = true;
	}
	return any;
}

static void take_host(struct finder *f, const struct conf_host *h, const char *word)
{
	const struct name *name = h->name ? names_find(f->names, word) : NULL;
	const struct topofile_node *one = h->name ? NULL : guidmap_get(f->nodes, h->guid);
	uint32_t before = f->n_ranks;
	char called[CONF_QUOTE_MAX];
	bool any;

	if (h->name)
		conf_quote(h->name, strlen(h->name), called);
	else
		snprintf(called, sizeof(called), "0x%016llx", (unsigned long long)h->guid);
	if (name && name->n > 1 && !name->rank) {
		refuse(f, h, "%s is the name of several nodes; expected a GUID", called);
		return;
	}
	any = one && take_node(f, one, h->guid == one->guid ? 0 : h->guid);
	for (size_t i = 0; name && i < name->n; i++)
		any |= take_node(f, name->nodes[i], 0);
	if (!name && !one)
		refuse(f, h,
		       "%s is no host of the fabric; expected the GUID or the name of a host, or "
		       "the first word of the name",
		       called);
	else if (!any)
		refuse(f, h, "%s has no port with a cable to a switch; expected one that has",
		       called);
	else if (f->n_ranks == before)
		refuse(f, h, "%s stands on an earlier line, by another name; expected each once",
		       called);
}

/* The name in the spelling of names of the fabric. To be freed. */
static char *word_of(const struct conf_host *h)
{
	char *word = xstrdup(h->name ? h->name : "");

	str_printable(word, strlen(word), word, strlen(word) + 1);
	return word;
}

uint32_t *plan_hosts_find(const struct plan_world *w, const char *path,
			  const struct conf_hosts *hosts, enum conf_severity severity,
			  struct conf_report *report, uint32_t *ret_n)
{
	struct finder f = { .w = w, .path = path, .severity = severity, .report = report };

	char **words = xcalloc(hosts->n + 1, sizeof(*words));

	for (size_t i = 0; i < hosts->n; i++)
		words[i] = word_of(&hosts->items[i]);
	finder_begin(&f, (const char *const *)words, hosts->n);
	for (size_t i = 0; i < hosts->n; i++)
		take_host(&f, &hosts->items[i], words[i]);
	finder_end(&f);
	for (size_t i = 0; i < hosts->n; i++)
		free(words[i]);
	free(words);
	*ret_n = f.n_ranks;
	return f.ranks;
}

int plan_hosts_read(struct plan_world *w)
{
	const char *path = w->args->hosts;
	struct conf_report r = { 0 };
	struct conf_hosts hosts = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int e = lines_load(path, &r, &text, &len);
	unsigned errors;

	if (e == -ENOENT)
		lines_missing(path, &r);
	if (e >= 0 && conf_hosts_read_text(path, text, len, &hosts, &r) >= 0) {
		w->job = plan_hosts_find(w, path, &hosts, CONF_ERROR, &r, &w->n_job);
		if (!r.errors && w->n_job < 2)
			conf_report_add(&r, CONF_ERROR, path, 0, 0, "%s; expected two at least",
					STR_COUNT(w->n_job, "end port", "end ports"));
	}
	errors = r.errors;
	conf_report_print(&r, stderr);
	conf_report_clear(&r);
	conf_hosts_clear(&hosts);
	return errors ? -EINVAL : 0;
}

/* Keeps those of `hosts` that take part in `t`, which has the same hosts as the whole fabric. */
static uint32_t keep_present(const struct topo *t, uint32_t *hosts, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (t->hosts[hosts[i]].sw != TOPO_NONE && t->hosts[hosts[i]].lid)
			hosts[kept++] = hosts[i];
	return kept;
}

/* ---- host_order_file ------------------------------------------------------------------------ */

/* End ports that are not listed follow, by switch and port. */
static void add_others(struct plan_world *w)
{
	_cleanup_free_ bool *listed = xcalloc((size_t)w->topo->n_hosts + 1, sizeof(*listed));
	uint32_t n;
	_cleanup_free_ uint32_t *all = routes_ranks(w->topo, &n);

	for (uint32_t i = 0; i < w->n_listed; i++)
		listed[w->order[i]] = true;
	w->n_order = w->n_listed;
	for (uint32_t i = 0; i < n; i++)
		if (!listed[all[i]])
			w->order[w->n_order++] = all[i];
}

int plan_order_read(struct plan_world *w)
{
	const struct conf_file *file = w->files->of[CONF_FILE_HOST_ORDER];
	enum conf_severity severity = w->args->strict ? CONF_ERROR : CONF_WARNING;
	struct conf_report r = { 0 };
	unsigned errors;

	if (!file)
		return 0;
	w->order = plan_hosts_find(w, file->path, &file->hosts, severity, &r, &w->n_listed);
	if (w->n_listed) {
		add_others(w);
	} else {
		free(w->order);
		w->order = NULL;
	}
	errors = r.errors;
	conf_report_print(&r, stderr);
	conf_report_clear(&r);
	return errors ? -EINVAL : 0;
}

uint32_t *plan_order(const struct plan_world *w, const struct topo *t, uint32_t *ret_n)
{
	uint32_t *ret;

	if (!w->order)
		return routes_ranks(t, ret_n);
	ret = xmemdup(w->order, ((size_t)w->n_order + 1) * sizeof(*ret));
	*ret_n = keep_present(t, ret, w->n_order);
	return ret;
}

uint32_t *plan_job(const struct plan_world *w, const struct topo *t, uint32_t *ret_n)
{
	uint32_t *ret = xmemdup(w->job, ((size_t)w->n_job + 1) * sizeof(*ret));

	*ret_n = keep_present(t, ret, w->n_job);
	return ret;
}
