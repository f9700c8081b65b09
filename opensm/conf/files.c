// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the files that opensm.conf names, and parses a file again only if it changed. Each row of
 * `kinds` is one kind of file.
 */
#include "conf/files.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/text/lines.h"
#include "util/hash.h"
#include "util/mem.h"

/* The tables of 3,000 switches and 30,000 LIDs have some 3 GB as text. */
#define TABLES_FILE_MAX ((size_t)4 << 30)
/* opensm-subnet.lst of 43,904 hosts has 120 MB. */
#define EXPECTED_FILE_MAX ((size_t)1 << 30)

struct kind {
	enum conf_id id; /* the option with the path */
	size_t limit;	 /* bytes; 0: LINES_FILE_MAX */
	/*
	 * Parses the text into `f`, whose path and kind are set; returns as the reader does. NULL:
	 * other modules parse the text.
	 */
	int (*parse)(struct conf_file *f, const char *text, size_t len, const struct conf *conf);
	/* clause for the log: the behaviour if the file is needed and does not exist */
	const char *without;
};

static int parse_partitions(struct conf_file *f, const char *text, size_t len,
			    const struct conf *conf)
{
	return partitions_parse(text, len, f->path, conf, &f->findings, &f->partitions);
}

static int parse_policy(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	assert(conf->qos);
	return qos_policy_parse(text, len, f->path, &f->findings, &f->policy);
}

static int parse_ports(struct conf_file *f, const char *text, size_t len, const struct conf *conf)
{
	enum conf_list list = f->kind == CONF_FILE_WEIGHTS ? CONF_LIST_WEIGHTS : CONF_LIST_PORTS;

	return conf_guid_ports_read_text(f->path, text, len, list, &f->ports, &f->findings);
}

/* A parser for lists: calls a reader of text, which fills a member of struct conf_file. */
#define PARSER(name, reader, member)                                                               \
	static int parse_##name(struct conf_file *f, const char *text, size_t len,                 \
				const struct conf *conf)                                           \
	{                                                                                          \
		return reader(f->path, text, len, &f->member, &f->findings);                       \
	}
PARSER(prefixes, conf_prefixes_read_text, prefixes)
PARSER(guids, conf_guids_read_text, guids)
PARSER(ids, conf_guid_ids_read_text, ids)
PARSER(port_order, conf_port_orders_read_text, port_orders)
PARSER(torus, torus_conf_read_text, torus)
PARSER(names, conf_names_read_text, names)
PARSER(modules, conf_modules_read_text, modules)
PARSER(quirks, conf_quirks_read_text, quirks)
PARSER(health, conf_health_ports_read_text, health)
PARSER(hosts, conf_hosts_read_text, hosts)

static const struct kind kinds[] = {
	[CONF_FILE_PARTITIONS] = { CONF_ID_partition_config_file, 0, parse_partitions,
				   "the last good partitions hold, or at a first start what "
				   "partition_config_error says" },
	[CONF_FILE_PREFIXES] = { CONF_ID_prefix_routes_file, 0, parse_prefixes,
				 "no path leads to another subnet" },
	[CONF_FILE_ORDER] = { CONF_ID_guid_routing_order_file, 0, parse_guids,
			      "no port is routed before the others" },
	[CONF_FILE_IGNORE] = { CONF_ID_port_prof_ignore_file, 0, parse_ports,
			       "the load of every port counts" },
	[CONF_FILE_WEIGHTS] = { CONF_ID_hop_weights_file, 0, parse_ports,
				"every link costs one hop" },
	[CONF_FILE_ROOTS] = { CONF_ID_root_guid_file, 0, parse_guids,
			      "engines find the root switches by themselves" },
	[CONF_FILE_CN] = { CONF_ID_cn_guid_file, 0, parse_guids,
			   "every host counts as a compute node" },
	[CONF_FILE_IO] = { CONF_ID_io_guid_file, 0, parse_guids, "no host counts as an I/O node" },
	[CONF_FILE_IDS] = { CONF_ID_ids_guid_file, 0, parse_ids,
			    "updn goes by the GUIDs of switches" },
	[CONF_FILE_PORT_ORDER] = { CONF_ID_port_search_ordering_file, 0, parse_port_order,
				   "ports are tried in the order of their numbers" },
	[CONF_FILE_LFTS] = { CONF_ID_lfts_file, TABLES_FILE_MAX, NULL,
			     "the engine file has no forwarding tables, and the next engine has "
			     "its turn" },
	[CONF_FILE_LID_MATRIX] = { CONF_ID_lid_matrix_dump_file, TABLES_FILE_MAX, NULL,
				   "the engine file has no hop tables" },
	[CONF_FILE_TORUS] = { CONF_ID_torus_config, 0, parse_torus,
			      "torus-2QoS does not route, and the next engine has its turn" },
	[CONF_FILE_MC_ROOTS] = { CONF_ID_mc_roots_file, 0, parse_guids,
				 "multicast trees begin where they are shortest" },
	[CONF_FILE_NAMES] = { CONF_ID_node_name_map_name, 0, parse_names,
			      "nodes are called by their descriptions" },
	[CONF_FILE_MODULES] = { CONF_ID_per_module_logging_file, 0, parse_modules,
				"log_flags alone decide what is logged" },
	[CONF_FILE_QUIRKS] = { CONF_ID_quirks_file, 0, parse_quirks,
			       "devices are known by what is built in" },
	[CONF_FILE_EXPECTED] = { CONF_ID_expected_topology_file, EXPECTED_FILE_MAX, NULL,
				 "the last good one, kept in the cache folder, counts on" },
	[CONF_FILE_QOS] = { CONF_ID_qos_policy_file, 0, parse_policy,
			    "the last good policy holds, or at a start none: paths have the SL of "
			    "their partition" },
	[CONF_FILE_HEALTH] = { CONF_ID_hm_ports_health_policy_file, 0, parse_health,
			       "what was read of it last counts on, and after a start no port is "
			       "exempt or called sick" },
	[CONF_FILE_HOST_ORDER] = { CONF_ID_host_order_file, 0, parse_hosts,
				   "opensm --plan orders hosts by switch and port" },
};

const char *conf_expected_path(const struct conf *c)
{
	if (c->expected_topology_file)
		return c->expected_topology_file;
	return c->topo_config_enabled ? c->topo_config_file : NULL;
}

/* The path of the file; NULL: none is to be read. */
static const char *path_of(enum conf_file_kind kind, const struct conf *conf)
{
	const char *const *path =
		(const void *)((const char *)conf + conf_option(kinds[kind].id)->offset);

	if (kind == CONF_FILE_EXPECTED)
		return conf_expected_path(conf);
	if (kind == CONF_FILE_QOS && !conf->qos)
		return NULL;
	if (kind == CONF_FILE_TORUS && !conf_engine_is_asked_for(conf, "torus-2QoS"))
		return NULL;
	return kind == CONF_FILE_NAMES ? conf_names_path(conf) : *path;
}

/* ---- one file ------------------------------------------------------------------------------ */

/*
 * A hash of inode, size and times of a file: in sweeps, large files are read only if it changed. 0:
 * there is no such file.
 */
static uint64_t hash_stamp(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	const uint64_t stamp[] = {
		st.st_dev,
		st.st_ino,
		(uint64_t)st.st_size,
		(uint64_t)st.st_mtim.tv_sec,
		(uint64_t)st.st_mtim.tv_nsec,
		(uint64_t)st.st_ctim.tv_sec,
		(uint64_t)st.st_ctim.tv_nsec,
	};
	return hash_bytes(HASH_START, stamp, sizeof(stamp));
}

/* A hash of the options that the partitions depend on (conf/partitions/partitions.h). */
static uint64_t hash_options(enum conf_file_kind kind, const struct conf *c)
{
	const uint8_t options[] = { c->qos, c->subnet_timeout,
				    c->ipoib_mcgroup_creation_validation };

	return kind == CONF_FILE_PARTITIONS ? hash_bytes(HASH_START, options, sizeof(options))
					    : HASH_START;
}

static struct conf_file *file_unref(struct conf_file *f)
{
	if (!f || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) > 1)
		return NULL;
	partitions_unref(f->partitions);
	conf_prefixes_clear(&f->prefixes);
	conf_guids_clear(&f->guids);
	conf_hosts_clear(&f->hosts);
	conf_guid_ids_clear(&f->ids);
	conf_port_orders_clear(&f->port_orders);
	torus_conf_free(f->torus);
	free(f->text);
	conf_guid_ports_clear(&f->ports);
	conf_names_free(f->names);
	conf_modules_clear(&f->modules);
	qos_policy_unref(f->policy);
	conf_quirks_clear(&f->quirks);
	conf_health_ports_clear(&f->health);
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

bool conf_file_is_needed(enum conf_file_kind kind, const struct conf *conf)
{
	assert(kind < CONF_N_FILES);
	return path_of(kind, conf) && (kind == CONF_FILE_EXPECTED ||
				       !conf_value_is_default_path(conf, kinds[kind].id));
}

/* Adds an error for a missing file, at the place of the option that names it. */
static void report_missing(enum conf_file_kind kind, const struct conf *conf, struct conf_report *r)
{
	const char *path = path_of(kind, conf);
	enum conf_id id = kinds[kind].id;
	char quoted[CONF_QUOTE_MAX];

	if (kind == CONF_FILE_EXPECTED && !conf->expected_topology_file)
		id = CONF_ID_topo_config_file;
	conf_report_option(r, CONF_ERROR, conf, id,
			   "there is no file %s; expected a file that can be read; %s",
			   conf_quote(path, strlen(path), quoted), kinds[kind].without);
}

/* After a fault the last good policy stays in force, but not if the default file was removed. */
static void keep_policy(struct conf_file *f, const struct conf_file *before,
			const struct conf *conf)
{
	bool is_faulty = f->error && (f->error != -ENOENT || conf_file_is_needed(f->kind, conf));

	if (is_faulty && before && !f->policy)
		f->policy = qos_policy_ref(before->policy);
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
	if (stamp && before && !before->loaded && before->hash == stamp &&
	    !strcmp(before->path, path))
		return file_ref(before);
	f = xcalloc(1, sizeof(*f));
	atomic_init(&f->refs, 1);
	f->kind = kind;
	f->path = xstrdup(path);
	f->error = f->loaded =
		lines_load_most(path, limit ? limit : LINES_FILE_MAX, &f->findings, &text, &f->len);
	f->hash =
		limit ? stamp : hash_bytes(hash_options(kind, conf), text, f->loaded ? 0 : f->len);
	if (f->loaded == -ENOENT && conf_file_is_needed(kind, conf))
		report_missing(kind, conf, &f->findings);
	if (says_the_same(f, before)) {
		file_unref(f);
		return file_ref(before);
	}
	if (f->loaded == 0 && kinds[kind].parse)
		f->error = kinds[kind].parse(f, text, f->len, conf);
	if (f->loaded == 0)
		f->text = take(text);
	keep_policy(f, before, conf);
	return f;
}

/* ---- all of them --------------------------------------------------------------------------- */

struct conf_files *conf_files_ref(const struct conf_files *f)
{
	struct conf_files *shared = as_owner(f);

	if (shared)
		atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
	return shared;
}

struct conf_files *conf_files_unref(const struct conf_files *shared)
{
	struct conf_files *f = as_owner(shared);

	if (!f || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) > 1)
		return NULL;
	for (unsigned i = 0; i < CONF_N_FILES; i++)
		file_unref(f->of[i]);
	free(f);
	return NULL;
}

struct conf_files *conf_files_read(const struct conf *conf, const struct conf_files *before)
{
	struct conf_files *f = xcalloc(1, sizeof(*f));
	bool same = before != NULL;

	assert(conf);
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

void conf_files_check_there(const struct conf *c, struct conf_report *r)
{
	for (unsigned i = 0; i < CONF_N_FILES; i++)
		if (conf_file_is_needed(i, c) && access(path_of(i, c), F_OK) < 0 && errno == ENOENT)
			report_missing(i, c, r);
}

/* Reads all files for their findings only, with the readers of a start. */
void conf_lists_check(const struct conf *c, struct conf_report *r)
{
	_cleanup_(conf_files_unrefp) struct conf_files *f = conf_files_read(c, NULL);

	for (unsigned i = 0; i < CONF_N_FILES; i++)
		if (f->of[i])
			conf_report_append(r, &f->of[i]->findings);
}

const char *conf_file_key(enum conf_file_kind kind)
{
	assert(kind < CONF_N_FILES);
	return conf_option(kinds[kind].id)->name;
}

enum conf_id conf_file_option(enum conf_file_kind kind)
{
	assert(kind < CONF_N_FILES);
	return kinds[kind].id;
}

const char *conf_file_without(enum conf_id id)
{
	for (unsigned i = 0; i < CONF_N_FILES; i++)
		if (kinds[i].id == id)
			return kinds[i].without;
	return NULL;
}

const struct qos_policy *conf_files_policy(const struct conf_files *f)
{
	return f && f->of[CONF_FILE_QOS] ? f->of[CONF_FILE_QOS]->policy : NULL;
}

const struct conf_names *conf_files_names(const struct conf_files *f)
{
	return f && f->of[CONF_FILE_NAMES] ? f->of[CONF_FILE_NAMES]->names : NULL;
}

struct conf_files *conf_files_read_one(const struct conf *conf, enum conf_file_kind kind)
{
	struct conf_files *f = xcalloc(1, sizeof(*f));

	assert(kind < CONF_N_FILES);
	atomic_init(&f->refs, 1);
	f->of[kind] = read_one(kind, conf, NULL);
	return f;
}

bool conf_files_quirk(const struct conf_files *f, enum quirk quirk, uint32_t vendor,
		      uint16_t device)
{
	const struct conf_file *file = f ? f->of[CONF_FILE_QUIRKS] : NULL;

	return conf_quirk_holds(file ? &file->quirks : NULL, quirk, vendor, device);
}
