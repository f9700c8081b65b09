// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/host_check.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/control.h"
#include "daemon/listen_metrics_http.h"
#include "fabric/store.h"
#include "plugin/plugin_file.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define PLUGIN_MAX   ((size_t)256 << 20)
#define STATE_MAX    ((size_t)64 << 20)

struct check {
	const struct conf *conf;
	struct conf_report *report;
};

__attribute__((format(printf, 3, 4))) static void add_fault(const struct check *k, enum conf_id id,
							    const char *fmt, ...)
{
	struct conf_place at = conf_place(k->conf, id);
	char text[700];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	conf_report_at(k->report, CONF_ERROR, &at, "%s: %s", conf_option(id)->name, text);
}

/* ---- files and folders ----------------------------------------------------------------------- */

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xasprintf("%.*s", (int)(slash - path), path);
}

/* The rights of another user say nothing of those of root, as which the daemon runs. */
static int rights(const char *path, int mode)
{
	if (faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 || (errno == EACCES && geteuid() != 0))
		return 0;
	return -errno;
}

/* 0, or -errno of why we could not make files there. */
static int folder_fault(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return rights(path, W_OK | X_OK);
}

static int file_fault(const char *path)
{
	_cleanup_free_ char *folder = NULL;
	struct stat st;

	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		return rights(path, W_OK);
	}
	folder = folder_of(path);
	return folder_fault(folder);
}

static void check_folder(const struct check *k, enum conf_id id, const char *path)
{
	int r = path ? folder_fault(path) : 0;

	if (r < 0)
		add_fault(k, id,
			  "'%s': %s; expected a folder that can be written to; nothing is written "
			  "there",
			  path, strerror(-r));
}

static void check_file(const struct check *k, enum conf_id id, const char *path,
		       const char *otherwise)
{
	int r = path ? file_fault(path) : 0;

	if (r < 0)
		add_fault(
			k, id,
			"'%s' cannot be written: %s; expected a file in a folder that is there; %s",
			path, strerror(-r), otherwise);
}

static bool is_stream(const char *path)
{
	return !path || str_equal(path, "-") || str_equal(path, "stdout") ||
	       str_equal(path, "stderr");
}

static void check_files(const struct check *k, const char *cache_dir)
{
	const struct conf *c = k->conf;
	int r;

	if (!is_stream(c->log_file))
		check_file(k, CONF_ID_log_file, c->log_file,
			   "opensm ends with status 42 without it");
	check_folder(k, CONF_ID_dump_files_dir, c->dump_files_dir);
	check_file(k, CONF_ID_event_db_dump_file, c->event_db_dump_file, "counters are not dumped");
	check_file(k, CONF_ID_metrics_file, c->metrics_file, "no metrics are written");
	if (c->sa_db_file && access(c->sa_db_file, R_OK) < 0)
		add_fault(k, CONF_ID_sa_db_file,
			  "'%s' cannot be read: %s; expected a database; subnet administration "
			  "begins "
			  "empty, and hosts are "
			  "asked to register again",
			  c->sa_db_file, strerror(errno));
	r = folder_fault(cache_dir);
	if (r < 0 && r != -ENOENT) /* it is created at a start */
		conf_report_add(k->report, CONF_ERROR, cache_dir, 0, 0,
				"%s; expected a folder that can be written to; LIDs are not kept "
				"over a restart",
				strerror(-r));
}

/* ---- groups, sockets, plugins --------------------------------------------------------------- */

/* Checks a group. A group that only the defaults name need not exist. */
static void check_group(const struct check *k, enum conf_id id, const char *name, const char *what)
{
	gid_t gid;

	if (name && name[0] && !conf_value_is_default(k->conf, id) && !control_group_id(name, &gid))
		add_fault(k, id,
			  "there is no group '%.100s'; expected a name or number; only root and "
			  "the user of opensm may %s",
			  name, what);
}

static void check_socket(const struct check *k)
{
	const char *path = k->conf->control_socket;
	struct sockaddr_un at;

	if (!path || !path[0] || str_equal(path, "off"))
		return;
	if (path[0] != '/' || strlen(path) >= sizeof(at.sun_path))
		add_fault(k, CONF_ID_control_socket,
			  "'%.200s'; expected 'off' or a path from '/' of at most %zu characters; "
			  "opensmctl finds no socket",
			  path, sizeof(at.sun_path) - 1);
}

static void check_metrics(const struct check *k)
{
	char why[300] = "";

	if (k->conf->metrics_listen &&
	    !metrics_http_check(k->conf->metrics_listen, why, sizeof(why)))
		add_fault(k, CONF_ID_metrics_listen, "'%.200s': %s; there are no metrics over HTTP",
			  k->conf->metrics_listen, why);
}

static bool is_elf(const char *path, char *why, size_t why_len)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len = 0;
	int r = file_read(path, PLUGIN_MAX, &bytes, &len);

	if (r < 0)
		snprintf(why, why_len, "%s cannot be read: %s", path, strerror(-r));
	else if (len < 4 || memcmp(bytes, "\177ELF", 4) != 0)
		snprintf(why, why_len, "%s is no shared object", path);
	else if (!memmem(bytes, len, "osm_event_plugin", strlen("osm_event_plugin")))
		snprintf(why, why_len, "%s has no symbol osm_event_plugin", path);
	else
		return true;
	return false;
}

/* Loading one would run its code: it is looked at from outside. */
static void check_plugin(const struct check *k, const char *name)
{
	char why[600] = "";
	_cleanup_free_ char *path = plugin_file_find(name, why, sizeof(why));

	if (!path || !plugin_file_is_safe(path, why, sizeof(why)) ||
	    !is_elf(path, why, sizeof(why)))
		add_fault(k, CONF_ID_event_plugin_name,
			  "plugin '%.60s': %s; the start goes on without it", name, why);
}

static void check_plugins(const struct check *k)
{
	const char *names = k->conf->event_plugin_name;
	size_t at = 0;

	for (char *name; names && (name = plugin_file_next_name(names, &at)); free(name))
		check_plugin(k, name);
}

void check_surroundings(const struct conf *c, const char *cache_dir, struct conf_report *r)
{
	const struct check k = { .conf = c, .report = r };

	assert(c && cache_dir && r);
	check_files(&k, cache_dir);
	check_group(&k, CONF_ID_control_group, c->control_group, "look");
	check_group(&k, CONF_ID_control_tenant_group, c->control_tenant_group,
		    "change partitions at run time");
	check_group(&k, CONF_ID_control_links_group, c->control_links_group,
		    "take links out of service");
	check_socket(&k);
	check_metrics(&k);
	check_plugins(&k);
}

/* ---- state ----------------------------------------------------------------------------------- */

char *check_state_files(const struct conf *c, const char *cache_dir)
{
	static const char *const names[STORE_FILES] = {
		[STORE_LIDS] = "Guid-to-Lid persistent",
		[STORE_MKEYS] = "Guid-to-Mkey persistent",
		[STORE_NEIGHBORS] = "neighbor link",
	};

	for (unsigned i = 0; i < STORE_FILES; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", cache_dir, store_file_name(i)),
				    *text = NULL;
		size_t len;
		int r = i == STORE_LIDS && c->reassign_lids
				? 0
				: file_read(path, STATE_MAX, &text, &len);

		if (r < 0 && r != -ENOENT)
			return xasprintf("Error restoring %s database: %s: %s", names[i], path,
					 strerror(-r));
	}
	return NULL;
}
