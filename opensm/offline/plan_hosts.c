// SPDX-License-Identifier: BSD-2-Clause
/* --hosts and host_order_file: which end ports of the fabric the lines of a list mean. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/text/lines.h"
#include "offline/plan.h"
#include "util/mem.h"
#include "util/str.h"

/* A host by one of its names. */
struct known {
	const char *name;
	size_t len;
	uint32_t node;
};

struct finder {
	const struct plan_world *w;
	struct known *whole, *word; /* by name, by its first word */
	struct known *guids;	    /* of nodes and ports, as bytes */
	uint32_t n, n_guids;
	const char *path;
	enum conf_severity severity;
	struct conf_report *report;
	uint32_t *ranks, n_ranks;
	bool *taken; /* per host of topo */
};

static int compare(const void *va, const void *vb)
{
	const struct known *a = va, *b = vb;
	int order = memcmp(a->name, b->name, MIN(a->len, b->len));

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static int compare_nodes(const void *va, const void *vb)
{
	const struct known *a = va, *b = vb;
	int order = compare(va, vb);

	return order ? order : (a->node > b->node) - (a->node < b->node);
}

static struct known guid_of(const guid_t *guid, uint32_t node)
{
	return (struct known){ (const char *)guid, sizeof(*guid), node };
}

static void add_node(struct finder *f, uint32_t i)
{
	const struct topofile *file = f->w->file;
	const struct topofile_node *n = &file->nodes[i];
	const char *name = plan_name(f->w, n->guid);

	f->whole[f->n] = (struct known){ name, strlen(name), i };
	f->word[f->n++] = (struct known){ name, strcspn(name, " \t"), i };
	f->guids[f->n_guids++] = guid_of(&n->guid, i);
	for (uint32_t k = 0; k < n->n_rows; k++)
		if (file->ports[n->first_port + k].guid != n->guid)
			f->guids[f->n_guids++] = guid_of(&file->ports[n->first_port + k].guid, i);
}

static void finder_begin(struct finder *f)
{
	const struct topofile *file = f->w->file;
	size_t room = (size_t)file->n_nodes + 1;

	f->whole = xcalloc(room, sizeof(*f->whole));
	f->word = xcalloc(room, sizeof(*f->word));
	f->guids = xcalloc(room + file->n_ports, sizeof(*f->guids));
	f->ranks = xcalloc((size_t)f->w->topo->n_hosts + 1, sizeof(*f->ranks));
	f->taken = xcalloc((size_t)f->w->topo->n_hosts + 1, sizeof(*f->taken));
	for (uint32_t i = 0; i < file->n_nodes; i++)
		if (file->nodes[i].type != TOPOFILE_SWITCH)
			add_node(f, i);
	if (!f->n)
		return;
	qsort(f->whole, f->n, sizeof(*f->whole), compare_nodes);
	qsort(f->word, f->n, sizeof(*f->word), compare_nodes);
	qsort(f->guids, f->n_guids, sizeof(*f->guids), compare_nodes);
}

static void finder_end(struct finder *f)
{
	free(f->whole);
	free(f->word);
	free(f->guids);
	free(f->taken);
}

static void refuse(struct finder *f, const struct conf_host *h, const char *fmt, const char *what)
{
	struct conf_place at = { .file = f->path, .line = h->line, .column = h->column };

	conf_report_at(f->report, f->severity, &at, fmt, what);
}

/* The first of `all` that is called so; `*ret_n`: how many. */
static const struct known *find_in(const struct known *all, uint32_t n, struct known key,
				   uint32_t *ret_n)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (compare(&all[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (high = low; high < n && !compare(&all[high], &key);)
		high++;
	*ret_n = high - low;
	return &all[low];
}

/* Those ports of the node that take part, or only the one with this GUID. False: there is none. */
static bool take_node(struct finder *f, uint32_t node, guid_t only)
{
	const struct topofile *file = f->w->file;
	const struct topofile_node *n = &file->nodes[node];
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

static bool is_port(const struct finder *f, uint32_t node, guid_t guid)
{
	const struct topofile_node *n = &f->w->file->nodes[node];

	for (uint32_t k = 0; k < n->n_rows && guid != n->guid; k++)
		if (f->w->file->ports[n->first_port + k].guid == guid)
			return true;
	return false;
}

static void take_host(struct finder *f, const struct conf_host *h)
{
	_cleanup_free_ char *name = xstrdup(h->name ? h->name : "");
	struct known key = { name, 0, 0 };
	const struct known *found;
	char quoted[CONF_QUOTE_MAX], guid[24];
	const char *called = quoted;
	uint32_t n, before = f->n_ranks;
	bool any = false;

	str_printable(name, strlen(name), name, strlen(name) + 1); /* as those of the fabric */
	key.len = strlen(name);
	if (!h->name) {
		snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)h->guid);
		called = guid;
		found = find_in(f->guids, f->n_guids, guid_of(&h->guid, 0), &n);
	} else {
		conf_quote(h->name, strlen(h->name), quoted);
		found = find_in(f->whole, f->n, key, &n);
		if (n > 1) {
			refuse(f, h, "%s is the name of several nodes; expected a GUID", called);
			return;
		}
		if (!n)
			found = find_in(f->word, f->n, key, &n);
	}
	for (uint32_t i = 0; i < n; i++)
		any |= take_node(f, found[i].node,
				 is_port(f, found[i].node, h->guid) ? h->guid : 0);
	if (!n)
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

uint32_t *plan_hosts_find(const struct plan_world *w, const char *path,
			  const struct conf_hosts *hosts, enum conf_severity severity,
			  struct conf_report *report, uint32_t *ret_n)
{
	struct finder f = { .w = w, .path = path, .severity = severity, .report = report };

	finder_begin(&f);
	for (size_t i = 0; i < hosts->n; i++)
		take_host(&f, &hosts->items[i]);
	finder_end(&f);
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
			conf_report_add(&r, CONF_ERROR, path, 0, 0,
					"%s; expected two at least",
					STR_COUNT(w->n_job, "end port", "end ports"));
	}
	errors = r.errors;
	conf_report_print(&r, stderr);
	conf_report_clear(&r);
	conf_hosts_clear(&hosts);
	return errors ? -EINVAL : 0;
}

/* Those of `hosts` that take part in `t`, which has the same hosts as the whole fabric. */
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
