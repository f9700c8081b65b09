// SPDX-License-Identifier: BSD-2-Clause
/*
 * report: asks the daemon with the methods that there are, one call after the other, and writes the
 * page. A section that this daemon does not serve says so in the page.
 *
 * Documents are rendered by the daemon's worker. Paths need the tables of all switches, a call for
 * each: above PATHS_SWITCHES the page has none, and names `opensmctl path A B` instead.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "opensmctl/commands.h"
#include "opensmctl/report/report.h"
#include "opensmctl/show.h"
#include "util/mem.h"
#include "util/str.h"

#define PATHS_SWITCHES 128u
#define PATHS_ENTRIES  1000000u

/* ---- the daemon's documents ------------------------------------------------------------------ */

/* Sections that the page can do without: the member of the page, and the method. */
static const struct section {
	const char *member, *method;
} sections[] = {
	{ "marks", "Marks" },	{ "security", "Security" },	{ "events", "Events" },
	{ "managers", "Managers" }, { "health", "Health" }, { "drift", "Drift" },
};

/* A section that is not served is {"absent": why}, which the page says. */
static void add_sections(struct ctl *c, struct json_object *page)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		json_object_object_add(page, sections[i].member,
				       ctl_call_if_there(c, sections[i].method));
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Of one switch: the ports that packets leave by, as hexadecimal digits in the order of `lids`. */
static void add_table(struct json_object *ports, struct json_object *loads, const char *guid,
		      struct json_object *routes)
{
	struct json_object *rows = js_get(routes, "routes"), *load = js_get(routes, "ports");
	struct json_object *per_port = json_object_new_object();
	size_t n = js_len(rows);
	_cleanup_free_ char *text = xcalloc(n * 2 + 1, 1);

	for (size_t i = 0; i < n; i++) {
		struct json_object *row = js_at(rows, i);
		unsigned out = js_has(row, "out_port") ? (unsigned)js_int(row, "out_port") : 0xFF;

		snprintf(text + 2 * i, 3, "%02x", out & 0xFF);
	}
	json_object_object_add(ports, guid, json_object_new_string(text));
	for (size_t i = 0; i < js_len(load); i++) {
		char key[24];

		snprintf(key, sizeof(key), "%" PRId64, js_int(js_at(load, i), "port"));
		json_object_object_add(per_port, key,
				       json_object_new_int64(js_int(js_at(load, i), "lids")));
	}
	json_object_object_add(loads, guid, per_port);
}

static struct json_object *lids_of(struct json_object *routes)
{
	struct json_object *ret = json_object_new_array(), *rows = js_get(routes, "routes");

	for (size_t i = 0; i < js_len(rows); i++)
		json_object_array_add(ret,
				      json_object_new_int64(js_int(js_at(rows, i), "lid")));
	return ret;
}

static bool is_switch(struct json_object *node)
{
	return !strcmp(js_str(node, "type"), "switch");
}

/* The tables of all switches; a switch that has none now is left out. */
static struct json_object *tables_of(struct ctl *c, struct json_object *nodes)
{
	struct json_object *ret = json_object_new_object();
	struct json_object *ports = json_object_new_object(), *loads = json_object_new_object();

	json_object_object_add(ret, "ports", ports);
	json_object_object_add(ret, "loads", loads);
	for (size_t i = 0; i < js_len(nodes); i++) {
		const char *guid = js_str(js_at(nodes, i), "node_guid");
		struct json_object *routes;

		if (!is_switch(js_at(nodes, i)))
			continue;
		routes = ctl_call(c, "Routes", show_words("switch", guid, NULL, NULL));
		if (!routes)
			return ret; /* why was told on stderr: no master, for example */
		if (!js_has(ret, "lids"))
			json_object_object_add(ret, "lids", lids_of(routes));
		if (js_len(js_get(routes, "routes")) == js_len(js_get(ret, "lids")))
			add_table(ports, loads, guid, routes);
		json_object_put(routes);
	}
	return ret;
}

static bool has_room_for_paths(struct json_object *nodes)
{
	size_t switches = 0;

	for (size_t i = 0; i < js_len(nodes); i++)
		switches += is_switch(js_at(nodes, i));
	return switches <= PATHS_SWITCHES && switches * js_len(nodes) <= PATHS_ENTRIES;
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Drawn for each page: no script but ours has it. */
static void draw_nonce(char ret[static 33])
{
	uint8_t bytes[16];

	/* Up to 256 bytes come whole: getrandom(2). A page with a known nonce is not written. */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static void write_page(FILE *out, struct json_object *page)
{
	char nonce[33];

	draw_nonce(nonce);
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'nonce-%s'; script-src 'nonce-%s'; base-uri 'none'; "
		"form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<title>Fabric report</title>\n<style nonce=\"%s\">\n%s</style>\n</head>\n%s",
		nonce, nonce, nonce, report_css, report_html);
	fputs("<script type=\"application/json\" id=\"data\">", out);
	report_write_json(out, page);
	fprintf(out, "</script>\n<script nonce=\"%s\">\n%s</script>\n</body>\n</html>\n", nonce,
		report_js);
}

/* Replaces the file at once. 0, or -errno. */
static int write_file(const char *path, struct json_object *page)
{
	_cleanup_free_ char *new_path = xasprintf("%s.new", path);
	int fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int r = 0;

	if (!out)
		return -errno;
	write_page(out, page);
	if (fflush(out) || ferror(out) || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	if (fclose(out) && !r)
		r = -errno;
	if (!r && rename(new_path, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(new_path);
	return r;
}

static struct json_object *page_of(struct ctl *c, bool with_paths)
{
	struct json_object *page = json_object_new_object(), *status = ctl_call(c, "Status", NULL);
	struct json_object *topology = status ? ctl_call(c, "Topology", NULL) : NULL;
	struct json_object *nodes = js_get(topology, "nodes");

	json_object_object_add(page, "made", json_object_new_int64(time(NULL)));
	json_object_object_add(page, "status", status);
	if (!topology) {
		json_object_put(page);
		return NULL;
	}
	json_object_object_add(page, "fabric", report_compact(topology));
	if (with_paths && has_room_for_paths(nodes))
		json_object_object_add(page, "tables", tables_of(c, nodes));
	json_object_put(topology);
	add_sections(c, page);
	return page;
}

int cmd_report(struct ctl *c, int argc, char **argv)
{
	const char *path = NULL;
	struct json_object *page;
	bool with_paths = true;
	int r;

	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "-o") && i + 1 < argc)
			path = argv[++i];
		else if (!strcmp(argv[i], "--no-paths"))
			with_paths = false;
		else
			return ctl_usage(ctl_row("report"), "'%s' is not understood", argv[i]);
	}
	if (!path && !c->json)
		return ctl_usage(ctl_row("report"), "-o FILE is missing: the page to write");
	page = page_of(c, with_paths);
	if (!page)
		return c->exit_code;
	r = path ? write_file(path, page) : 0;
	if (c->json)
		ctl_print_json(c, page);
	json_object_put(page);
	return r < 0 ? ctl_refuse("%s cannot be written: %s", path, strerror(-r)) : CTL_OK;
}
