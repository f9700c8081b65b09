// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading the files that opensm.conf names, each as often as it changes. One row of `kinds` is one
 * kind of file.
 */
#include "conf/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/lines.h"
#include "util/mem.h"

/* Tables of 3,000 switches and 30,000 LIDs take some 3 GB as text. */
#define TABLES_FILE_MAX ((size_t)4 << 30)

struct kind {
	enum conf_id id; /* the option that names it */
	bool needed;	 /* named, but not there: a fault */
	size_t limit;	 /* bytes; 0: LINES_FILE_MAX */
	/* `f` has path and kind; returns as the reader does. NULL: the text is kept as it is. */
	int (*parse)(struct conf_file *f, const char *text, size_t len, const struct conf *conf);
};

static int parse_partitions(struct conf_file *f, const char *text, size_t len,
			    const struct conf *conf)
{
	return partitions_parse(text, len, f->path, conf, &f->findings, &f->partitions);
}

static int parse_prefixes(struct conf_file *f, const char *text, size_t len,
			  const struct conf *conf)
{
	return conf_prefixes_read_text(f->path, text, len, &f->prefixes, &f->findings);
}

static int parse_guids(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	return conf_guids_read_text(f->path, text, len, &f->guids, &f->findings);
}

static int parse_ids(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	return conf_guid_ids_read_text(f->path, text, len, &f->ids, &f->findings);
}

static int parse_port_order(struct conf_file *f, const char *text, size_t len,
			    const struct conf *conf)
{
	return conf_port_orders_read_text(f->path, text, len, &f->port_orders, &f->findings);
}

static int parse_ports(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	enum conf_list list = f->kind == CONF_FILE_WEIGHTS ? CONF_LIST_WEIGHTS : CONF_LIST_PORTS;

	return conf_guid_ports_read_text(f->path, text, len, list, &f->ports, &f->findings);
}

static int parse_torus(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	return torus_conf_read_text(f->path, text, len, &f->torus, &f->findings);
}

static int parse_names(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	return conf_names_read_text(f->path, text, len, &f->names, &f->findings);
}

static int parse_modules(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	return conf_modules_read_text(f->path, text, len, &f->modules, &f->findings);
}

static const struct kind kinds[] = {
	[CONF_FILE_PARTITIONS] = { CONF_ID_partition_config_file, false, 0, parse_partitions },
	[CONF_FILE_PREFIXES] = { CONF_ID_prefix_routes_file, false, 0, parse_prefixes },
	[CONF_FILE_ORDER] = { CONF_ID_guid_routing_order_file, true, 0, parse_guids },
	[CONF_FILE_IGNORE] = { CONF_ID_port_prof_ignore_file, true, 0, parse_ports },
	[CONF_FILE_WEIGHTS] = { CONF_ID_hop_weights_file, true, 0, parse_ports },
	[CONF_FILE_ROOTS] = { CONF_ID_root_guid_file, true, 0, parse_guids },
	[CONF_FILE_CN] = { CONF_ID_cn_guid_file, true, 0, parse_guids },
	[CONF_FILE_IO] = { CONF_ID_io_guid_file, true, 0, parse_guids },
	[CONF_FILE_IDS] = { CONF_ID_ids_guid_file, true, 0, parse_ids },
	[CONF_FILE_PORT_ORDER] = { CONF_ID_port_search_ordering_file, true, 0, parse_port_order },
	[CONF_FILE_LFTS] = { CONF_ID_lfts_file, true, TABLES_FILE_MAX, NULL },
	[CONF_FILE_LID_MATRIX] = { CONF_ID_lid_matrix_dump_file, true, TABLES_FILE_MAX, NULL },
	[CONF_FILE_TORUS] = { CONF_ID_torus_config, false, 0, parse_torus },
	[CONF_FILE_MC_ROOTS] = { CONF_ID_mc_roots_file, true, 0, parse_guids },
	[CONF_FILE_NAMES] = { CONF_ID_node_name_map_name, true, 0, parse_names },
	[CONF_FILE_MODULES] = { CONF_ID_per_module_logging_file, false, 0, parse_modules },
};

/* NULL: there is none to be read. */
static const char *path_of(enum conf_file_kind kind, const struct conf *conf)
{
	const char *const *path =
		(const void *)((const char *)conf + conf_option(kinds[kind].id)->offset);

	if (kind == CONF_FILE_TORUS && !conf_engine_is_asked_for(conf, "torus-2QoS"))
		return NULL;
	return kind == CONF_FILE_NAMES ? conf_names_path(conf) : *path;
}

/* ---- one file ------------------------------------------------------------------------------ */

#define FNV_START 14695981039346656037ull

static uint64_t hash_more(uint64_t hash, const void *text, size_t len)
{
	const uint8_t *p = text;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 1099511628211ull;
	return hash;
}

/*
 * What may be gigabytes is not read in every sweep to find that it says nothing new: it is looked at from outside.
 * 0: it is not there.
 */
static uint64_t hash_stamp(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	const uint64_t stamp[] = {
		st.st_dev,	    st.st_ino,	       (uint64_t)st.st_size,	    (uint64_t)st.st_mtim.tv_sec,
		(uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_ctim.tv_sec, (uint64_t)st.st_ctim.tv_nsec,
	};
	return hash_more(FNV_START, stamp, sizeof(stamp));
}

/* What partitions come to depends on these too (conf/partitions.h). */
static uint64_t hash_options(enum conf_file_kind kind, const struct conf *c)
{
	const uint8_t options[] = { c->qos, c->subnet_timeout,
				    c->ipoib_mcgroup_creation_validation };

	return kind == CONF_FILE_PARTITIONS ? hash_more(FNV_START, options, sizeof(options)) : FNV_START;
}

static struct conf_file *file_unref(struct conf_file *f)
{
	if (!f || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) > 1)
		return NULL;
	partitions_unref(f->partitions);
	conf_prefixes_clear(&f->prefixes);
	conf_guids_clear(&f->guids);
	conf_guid_ids_clear(&f->ids);
	conf_port_orders_clear(&f->port_orders);
	torus_conf_free(f->torus);
	free(f->text);
	conf_guid_ports_clear(&f->ports);
	conf_names_free(f->names);
	conf_modules_clear(&f->modules);
	conf_report_clear(&f->findings);
	free(f->path);
	free(f);
	return NULL;
}

static struct conf_file *file_ref(struct conf_file *f)
{
	atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
	return f;
}

static bool says_the_same(const struct conf_file *a, const struct conf_file *b)
{
	return b && a->hash == b->hash && a->len == b->len && a->loaded == b->loaded &&
	       strcmp(a->path, b->path) == 0;
}

/* The file that everybody has by default may be missing; one that is named may not. */
static bool is_needed(enum conf_file_kind kind, const struct conf *conf)
{
	return kinds[kind].needed ||
	       (kind == CONF_FILE_TORUS && strcmp(conf->torus_config, OPENSM_CONF_DIR "/torus-2QoS.conf"));
}

static struct conf_file *read_one(enum conf_file_kind kind, const struct conf *conf,
				  struct conf_file *before)
{
	const char *path = path_of(kind, conf);
	_cleanup_free_ char *text = NULL;
	size_t limit = kinds[kind].limit;
	uint64_t stamp = 0;
	struct conf_file *f;

	if (!path)
		return NULL;
	if (limit)
		stamp = hash_stamp(path);
	if (stamp && before && !before->loaded && before->hash == stamp && !strcmp(before->path, path))
		return file_ref(before);
	f = xcalloc(1, sizeof(*f));
	atomic_init(&f->refs, 1);
	f->kind = kind;
	f->path = xstrdup(path);
	f->error = f->loaded = lines_load_most(path, limit ? limit : LINES_FILE_MAX, &f->findings, &text, &f->len);
	f->hash = limit ? stamp : hash_more(hash_options(kind, conf), text, f->loaded ? 0 : f->len);
	if (f->loaded == -ENOENT && is_needed(kind, conf))
		lines_missing(path, &f->findings);
	else if (f->loaded == -ENOENT && kind == CONF_FILE_PARTITIONS)
		partitions_missing(conf, &f->findings);
	if (says_the_same(f, before)) {
		file_unref(f);
		return file_ref(before);
	}
	if (f->loaded == 0 && !kinds[kind].parse)
		f->text = take(text);
	else if (f->loaded == 0)
		f->error = kinds[kind].parse(f, text, f->len, conf);
	return f;
}

/* ---- all of them --------------------------------------------------------------------------- */

struct conf_files *conf_files_ref(const struct conf_files *f)
{
	struct conf_files *shared = (struct conf_files *)f; /* only the count changes */

	if (shared)
		atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
	return shared;
}

struct conf_files *conf_files_unref(struct conf_files *f)
{
	if (!f || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) > 1)
		return NULL;
	for (unsigned i = 0; i < CONF_N_FILES; i++)
		file_unref(f->of[i]);
	free(f);
	return NULL;
}

void conf_files_unrefp(struct conf_files **f)
{
	*f = conf_files_unref(*f);
}

struct conf_files *conf_files_read(const struct conf *conf, const struct conf_files *before)
{
	struct conf_files *f = xcalloc(1, sizeof(*f));
	bool same = before != NULL;

	atomic_init(&f->refs, 1);
	for (unsigned i = 0; i < CONF_N_FILES; i++) {
		f->of[i] = read_one(i, conf, before ? before->of[i] : NULL);
		same = same && f->of[i] == before->of[i];
	}
	if (!same)
		return f;
	conf_files_unref(f);
	return conf_files_ref(before);
}

bool conf_file_is_of_routing(enum conf_file_kind kind)
{
	return kind >= CONF_FILE_ORDER && kind <= CONF_FILE_TORUS;
}

/* Read and forgotten: the same readers, the same findings. */
void conf_lists_check(const struct conf *c, struct conf_report *r)
{
	_cleanup_(conf_files_unrefp) struct conf_files *f = conf_files_read(c, NULL);

	for (unsigned i = 0; i < CONF_N_FILES; i++)
		if (f->of[i])
			conf_report_append(r, &f->of[i]->findings);
}

const char *conf_file_key(enum conf_file_kind kind)
{
	return conf_option(kinds[kind].id)->name;
}

size_t conf_files_faults(const struct conf_files *f)
{
	size_t n = 0;

	for (unsigned i = 0; i < CONF_N_FILES; i++)
		n += f->of[i] ? f->of[i]->findings.errors : 0;
	return n;
}

const struct conf_names *conf_files_names(const struct conf_files *f)
{
	return f && f->of[CONF_FILE_NAMES] ? f->of[CONF_FILE_NAMES]->names : NULL;
}
