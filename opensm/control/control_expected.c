// SPDX-License-Identifier: BSD-2-Clause
/*
 * ExpectedTopology and SetExpectedTopology: the file of the expected topology for programs that do
 * not write files here. It is the one that opensm.conf names, which has to be in a folder that the
 * manager may write to. The fabric is copied in turns; the worker reads and writes; then the
 * configuration is read again, and the file is judged as any other (sm/expected/): only then it is
 * in force. A manager that is not the master any more writes nothing: standbys take the file of
 * theirs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "sm/expected/expected.h"
#include "topo/expect_file.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "view/view_copy.h"
#include "view/view_facts.h"

#define NAME "sm_topology_file" /* name of a text without a file */

struct expected_text {
	const struct daemon_api *api;
	struct sm_expected shown;
	char *path, *refused, *text;
	/* copy of the fabric in progress, if there is no text; `found` when complete */
	struct view_copy *copy;
	struct view *found;
	unsigned term; /* term of the master that was asked */
	char by[65];
	uint32_t cables;
	bool is_written;
};

void control_expected_drop(void *snapshot)
{
	struct expected_text *t = snapshot;

	if (t->is_written) {
		log_info("expected topology: %s was written for user '%s' (cables: %u)", t->path,
			 t->by, t->cables);
		t->api->reload(t->api->arg);
	}
	view_copy_free(t->copy);
	view_unref(t->found);
	free(t->path);
	free(t->refused);
	free(t->text);
	free(t);
}

/* Begins a text. NULL with `err`. */
static struct expected_text *text_new(const struct daemon_api *api, struct control_error *err)
{
	struct expected_text *t;
	struct sm_expected shown;

	if (!control_manager(api, err))
		return NULL;
	sm_expected(api->sm, &shown);
	if (!shown.path)
		return control_fail(err, "NotFound",
				    "no topology is expected: expected_topology_file is not set in "
				    "opensm.conf");
	t = xcalloc(1, sizeof(*t));
	t->api = api;
	t->shown = shown;
	t->path = xstrdup(shown.path);
	t->refused = shown.refused ? xstrdup(shown.refused) : NULL;
	return t;
}

/* ---- read ------------------------------------------------------------------------------------ */

void *control_expected_new(const struct control_method *m, const struct daemon_api *api,
			   struct json_object *parameters, struct control_error *err)
{
	struct expected_text *t = text_new(api, err);

	if (t)
		t->text = t->shown.text ? xstrdup(t->shown.text) : NULL;
	return t;
}

#define EXPECTED_FIELDS(F)                                                                         \
	F("file", STR, t->path)                                                                    \
	F("in_force", BOOL, t->shown.in_force)                                                     \
	F("refused", OPT(STR), t->refused)                                                         \
	F("cables", INT, t->shown.cables)                                                          \
	F("text", OPT(STR), t->text)

const struct json_field control_expected_fields[] = FIELDS_TABLE(EXPECTED_FIELDS);

struct json_object *control_expected(void *snapshot, struct control_error *err)
{
	const struct expected_text *t = snapshot;

	return FIELDS_NEW(EXPECTED_FIELDS);
}

/* ---- written --------------------------------------------------------------------------------- */

void *control_set_expected_new(const struct control_method *m, const struct daemon_api *api,
			       struct json_object *parameters, struct control_error *err)
{
	const char *text = json_str(parameters, "text"), *user = json_str(parameters, "user");
	struct expected_text *t;

	if (api->sm && (sm_state(api->sm) != SM_MASTER || !sm_stats(api->sm)->heavy_sweeps))
		return control_fail(err, "NotMaster",
				    "the manager is %s; the master takes a topology, after its "
				    "first sweep, and sends it to standbys",
				    sm_state_name(sm_state(api->sm)));
	t = text_new(api, err);
	if (!t)
		return NULL;
	t->term = api->terms;
	snprintf(t->by, sizeof(t->by), "%s", user ? user : "");
	if (text)
		t->text = xstrdup(text);
	else
		t->copy = sm_view_copy(api->sm, NULL, 0, NULL);
	return t;
}

enum control_collected control_set_expected_collect(void *snapshot, const struct daemon_api *api,
						    struct control_error *err)
{
	struct expected_text *t = snapshot;

	if (!control_same_term(api, t->term, err))
		return CONTROL_FAILED;
	return !t->copy || view_copy_turn(&t->copy, &t->found) ? CONTROL_COLLECTED : CONTROL_MORE;
}

/* The text is all right. False: `err` has its first fault. */
static bool check_text(struct expected_text *t, int *ret_warnings, struct control_error *err)
{
	struct conf_report r = { 0 };
	struct expect *x = expect_read_text(NAME, t->text, strlen(t->text), &r);
	const struct conf_finding *first = NULL;

	for (size_t i = 0; i < r.n && !x && !first; i++)
		if (r.findings[i].severity == CONF_ERROR)
			first = &r.findings[i];
	*ret_warnings = (int)r.warnings;
	if (first) {
		_cleanup_free_ char *said = conf_finding_text(first);

		control_fail(err, "InvalidParameter", "%s", said);
	}
	if (x)
		t->cables = expect_count_cables(x);
	conf_report_clear(&r);
	expect_free(x);
	return x;
}

static void write_found(struct expected_text *t)
{
	struct expect *x = expect_build(view_facts(t->found));
	size_t len;
	FILE *out = open_memstream(&t->text, &len);

	expect_write(x, EXPECT_CSV, 0, out);
	fclose(out);
	expect_free(x);
}

static bool store(const struct expected_text *t, struct control_error *err)
{
	struct file_replace *f = file_replace_open(t->path, false);
	int r = f ? 0 : -errno;

	if (f) {
		fputs(t->text, file_replace_stream(f));
		r = file_replace_commit(f, true);
	}
	if (r < 0)
		control_fail(err, "ReadOnly",
			     "%s: %s; it was not changed. expected_topology_file has to be in a "
			     "folder that the manager may write to, as its cache folder is",
			     t->path, strerror(-r));
	return r >= 0;
}

#define WRITTEN_FIELDS(F)                                                                          \
	F("file", STR, t->path)                                                                    \
	F("cables", INT, t->cables)                                                                \
	F("warnings", INT, warnings)

const struct json_field control_written_fields[] = FIELDS_TABLE(WRITTEN_FIELDS);

struct json_object *control_set_expected(void *snapshot, struct control_error *err)
{
	struct expected_text *t = snapshot;
	int warnings;

	if (t->found)
		write_found(t);
	if (!check_text(t, &warnings, err) || !control_same_term(t->api, t->term, err) ||
	    !store(t, err))
		return NULL;
	t->is_written = true;
	return FIELDS_NEW(WRITTEN_FIELDS);
}
