// SPDX-License-Identifier: BSD-2-Clause
/* Input of --verify: the fabric, its tables, its VLs. Findings go to stderr. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/text/lines.h"
#include "offline/base/lanefile.h"
#include "offline/verify.h"
#include "util/mem.h"

#define TABLES_MAX ((size_t)4 << 30)

/* Prints and empties the report; -EINVAL if there was an error. */
static int print_findings(struct conf_report *r)
{
	unsigned errors = r->errors;

	conf_report_print(r, stderr);
	conf_report_clear(r);
	return errors ? -EINVAL : 0;
}

static int load_file(const char *path, struct conf_report *r, char **ret, size_t *ret_len)
{
	int e = lines_load_most(path, TABLES_MAX, r, ret, ret_len);

	return e == -ENOENT ? lines_missing(path, r) : e;
}

static int read_tables(struct verify *v, const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct conf_report r = { 0 };
	size_t len = 0;

	if (load_file(path, &r, &text, &len) >= 0)
		tablefile_read(v->tables, path, text, len, &r);
	return print_findings(&r);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int read_fabric(struct verify *v, const char *path)
{
	struct conf_report r = { 0 };

	v->file = topofile_read(path, &r);
	if (print_findings(&r) < 0 || !v->file)
		return -EINVAL;
	v->topo = topofile_topo(v->file, 0);
	return 0;
}

/* The first of two files of the folder that is there; else the first. The caller frees. */
static char *file_of(const char *folder, const char *first, const char *second)
{
	char *path = xasprintf("%s/%s", folder, first), *other;

	if (!second || is_there(path))
		return path;
	other = xasprintf("%s/%s", folder, second);
	if (!is_there(other)) {
		free(other);
		return path;
	}
	free(path);
	return other;
}

static int read_folder(struct verify *v, const char *folder)
{
	_cleanup_free_ char *subnet = file_of(folder, "opensm-subnet.lst", NULL);
	_cleanup_free_ char *tables = file_of(folder, "opensm-lfts.dump", "opensm.fdbs");
	_cleanup_free_ char *trees = file_of(folder, "opensm.mcfdbs", NULL);

	if (read_fabric(v, subnet) < 0)
		return -EINVAL;
	if (v->args->n_tables)
		return 0;
	if (read_tables(v, tables) < 0)
		return -EINVAL;
	return is_there(trees) ? read_tables(v, trees) : 0;
}

static int load_text(const char *path, struct lanefile_text *ret, char **ret_text)
{
	struct conf_report r = { 0 };
	size_t len = 0;

	load_file(path, &r, ret_text, &len);
	*ret = (struct lanefile_text){ .path = path, .text = *ret_text, .len = len };
	return print_findings(&r);
}

static int read_lanes(struct verify *v)
{
	_cleanup_free_ char *dump =
		file_of(v->args->what, "opensm-sl2vl.dump", "ibdmchk-sl2vl.txt");
	_cleanup_free_ char *sl_dump = file_of(v->args->what, "opensm-sl.dump", "ibdmchk-psl.txt");
	const char *sl2vl_path = v->args->sl2vl ? v->args->sl2vl : is_there(dump) ? dump : NULL;
	const char *sl_path = v->args->sls ? v->args->sls : is_there(sl_dump) ? sl_dump : NULL;
	_cleanup_free_ char *sl_text = NULL, *sl2vl_text = NULL;
	struct lanefile_text sls, sl2vl;
	struct conf_report r = { 0 };

	if ((sl_path && load_text(sl_path, &sls, &sl_text) < 0) ||
	    (sl2vl_path && load_text(sl2vl_path, &sl2vl, &sl2vl_text) < 0))
		return -EINVAL;
	v->sls = sl_path;
	v->sl2vl = sl2vl_path;
	if (v->sls || v->sl2vl)
		v->routes->lanes = lanefile_read(v->routes, v->sls ? &sls : NULL,
						   v->sl2vl ? &sl2vl : NULL, &r);
	return print_findings(&r);
}

/* The LID that dump_fts leaves out is not the tables' fault: its port takes no part. */
static void leave_out(struct verify *v)
{
	lid_t lid = tablefile_left_out(v->tables);
	struct topo_host *end = lid ? as_owner(verify_receiver(v, lid)) : NULL;

	if (!end)
		return;
	fprintf(stderr,
		"opensm: --verify: LID %u is in no table (dump_fts leaves out the last one); not "
		"judged\n",
		lid);
	end->lid = 0; /* the only reference to this topo */
}

/* Tables say LIDs: a port without one cannot be verified; without any nothing can. */
static int count_lids(struct verify *v)
{
	uint32_t n = v->topo->n_hosts;

	for (uint32_t h = 0; h < n; h++)
		if (!v->topo->hosts[h].lid)
			v->no_lid++;
	if (!v->no_lid || n - v->no_lid > 1)
		return 0;
	fprintf(stderr,
		"opensm: --verify %s: %u of %u end ports have no LID: no path can be judged\n",
		v->args->what, v->no_lid, n);
	return -EINVAL;
}

int verify_read(const struct verify_args *args, struct verify *ret)
{
	struct conf_report r = { 0 };

	*ret = (struct verify){ .args = args, .tables = tablefile_new() };
	if ((is_folder(args->what) ? read_folder(ret, args->what) : read_fabric(ret, args->what)) <
	    0)
		return -EINVAL;
	if (count_lids(ret) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < args->n_tables; i++)
		if (read_tables(ret, args->tables[i]) < 0)
			return -EINVAL;
	if (ret->topo->n_switches && !tablefile_has_tables(ret->tables)) {
		fprintf(stderr, "opensm: --verify: no forwarding table is given\n");
		return -EINVAL;
	}
	leave_out(ret);
	ret->routes = tablefile_routes(ret->tables, ret->topo, "file", &r);
	ret->n_trees = tablefile_trees(ret->tables, ret->topo, &ret->trees, &ret->mlids);
	return print_findings(&r) < 0 ? -EINVAL : read_lanes(ret);
}

void verify_clear(struct verify *v)
{
	for (uint32_t i = 0; i < v->n_trees; i++)
		mcast_tree_unref(v->trees[i]);
	free(v->trees);
	free(v->mlids);
	free(v->groups);
	route_cycle_done(&v->cycle);
	figures_clear(&v->figures);
	routes_unref(v->routes);
	tablefile_free(v->tables);
	topo_unref(v->topo);
	topofile_free(v->file);
	*v = (struct verify){ 0 };
}

char *verify_node_str(const struct verify *v, guid_t guid, char ret[VERIFY_NODE_STRLEN])
{
	const char *name = topofile_name(v->file, guid);

	if (name && *name)
		snprintf(ret, VERIFY_NODE_STRLEN, "\"%.70s\"", name);
	else
		snprintf(ret, VERIFY_NODE_STRLEN, "0x%016" PRIx64, guid);
	return ret;
}

uint32_t verify_sender(const struct verify *v, uint32_t sw, lid_t lid)
{
	const struct topo *t = v->topo;
	uint32_t found = TOPO_NONE;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw == sw && t->hosts[h].lid && t->hosts[h].lid != lid &&
		    (found == TOPO_NONE || t->hosts[h].lid < t->hosts[found].lid))
			found = h;
	return found;
}

static const struct topo_host *find_lid(const struct topo_host *ends, uint32_t n, lid_t lid)
{
	for (uint32_t i = 0; i < n; i++)
		if (ends[i].lid && ends[i].lid <= lid && lid < ends[i].lid + (1u << ends[i].lmc))
			return &ends[i];
	return NULL;
}

const struct topo_host *verify_receiver(const struct verify *v, lid_t lid)
{
	return find_lid(v->topo->hosts, v->topo->n_hosts, lid)
		       ?: find_lid(v->topo->asides, v->topo->n_asides, lid);
}
