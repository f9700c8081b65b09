// SPDX-License-Identifier: BSD-2-Clause
/*
 * report: asks the daemon with the methods that there are, one call after the other, and writes the
 * page. A section that this daemon does not serve says so in the page.
 *
 * Documents are rendered by the daemon's worker. Paths need the tables of all switches, which the
 * daemon packs (Tables); of tables that it cannot pack the page has none, and names
 * `opensmctl path A B` instead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "opensmctl/talk/ctl.h"
#include "page/page.h"
#include "util/file.h"
#include "util/mem.h"

/* ---- the daemon's documents ------------------------------------------------------------------ */

/* A part that is not served is {"absent": why}, which the page says. */
static void add_parts(struct ctl *c, struct json_object *page)
{
	struct json_object *history;

	for (const struct page_part *p = page_parts; p->member; p++)
		json_object_object_add(page, p->member, ctl_call_if_there(c, p->method));
	history = ctl_call_if_there(c, "CableHistory");
	json_object_object_add(page, "history", page_compact_history(history));
	json_object_put(history);
}

/* Each document is of one moment; those of a page are if the fabric did not change in between. */
static void add_mixed(struct ctl *c, struct json_object *page, struct json_object *before)
{
	struct json_object *after = ctl_call_if_there(c, "Status");

	json_object_object_add(page, "mixed",
			       json_object_new_boolean(page_is_mixed(before, after)));
	json_object_put(after);
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
		nonce, nonce, nonce, page_css, page_html);
	fputs("<script type=\"application/json\" id=\"data\">", out);
	page_write_json(out, page);
	fprintf(out, "</script>\n<script nonce=\"%s\">\n%s</script>\n</body>\n</html>\n", nonce,
		page_js);
}

/* 0, or -errno. */
static int write_file(const char *path, struct json_object *page)
{
	/* not readable for all, as it has the security checklist */
	struct file_replace *f = file_output_open(path, 0640);

	if (!f)
		return -errno;
	write_page(file_replace_stream(f), page);
	return file_replace_commit(f, true);
}

static struct json_object *page_of(struct ctl *c, bool with_paths)
{
	struct json_object *page = json_object_new_object(), *status = ctl_call(c, "Status", NULL);
	struct json_object *topology = status ? ctl_call(c, "Topology", NULL) : NULL;
	char made[CTL_TIME_STRLEN];

	ctl_time_utc(time(NULL), made);
	json_object_object_add(page, "made", json_object_new_string(made));
	json_object_object_add(page, "status", status);
	if (!topology) {
		json_object_put(page);
		return NULL;
	}
	json_object_object_add(page, "fabric", page_compact(topology));
	if (with_paths)
		json_object_object_add(page, "tables", ctl_call_if_there(c, "Tables"));
	json_object_put(topology);
	add_parts(c, page);
	add_mixed(c, page, status);
	return page;
}

static int report(struct ctl *c)
{
	const char *path = js_has(c->words, "path") ? js_str(c->words, "path") : NULL;
	struct json_object *page;
	int r;

	if (!path && !c->json)
		return ctl_usage(c, &ctl_report, "-o FILE is missing: the page to write");
	page = page_of(c, !js_bool(c->words, "no_paths"));
	if (!page)
		return c->exit_code;
	r = path ? write_file(path, page) : 0;
	if (c->json)
		ctl_print_json(c, page);
	json_object_put(page);
	return r < 0 ? ctl_refuse(c, "%s cannot be written: %s", path, strerror(-r)) : CTL_OK;
}

const struct ctl_command ctl_report = {
	.name = "report",
	.arguments = "-o FILE [--no-paths]",
	.help = "writes a page for a browser: the fabric, its health, events, security",
	.words = "--no-paths",
	.scope = CTL_ACTS,
	.takes =
		(const struct ctl_word[]){
			{ CTL_TEXT, .option = "-o", .parameter = "path", .offers = OFFER_FILES },
			{ CTL_FLAG, .option = "--no-paths", .parameter = "no_paths" },
			{ 0 },
		},
	.with = report,
};
