// SPDX-License-Identifier: BSD-2-Clause
/*
 * For programs: the findings of --check, and errors of --plan, --verify and --diff with --json, in
 * the form of those of opensmctl.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "api/json.h"
#include "offline/offline.h"
#include "util/mem.h"
#include "util/str.h"

#define EXPECTED "expected "
#define MEANT	 "did you mean "

/* End of the part of a sentence that begins at `text`: its "; " outside quotes, or the end. */
static size_t part_len(const char *text)
{
	bool quoted = false;
	size_t i;

	for (i = 0; text[i] && (quoted || strncmp(text + i, "; ", 2)); i++)
		quoted ^= text[i] == '"';
	return i;
}

/*
 * "what was found; expected what; what happens now": a sentence without one of the last two has
 * null there. A name that may have been meant is what was expected.
 */
static void add_parts(struct json_object *o, const char *text)
{
	_cleanup_free_ char *found = xasprintf("%.*s", (int)part_len(text), text);
	_cleanup_free_ char *expected = NULL, *effect = NULL;

	text += part_len(text);
	while (*text) {
		const char *part = text + strlen("; ");
		size_t len = part_len(part);
		bool is_expected = str_starts(part, EXPECTED), is_meant = str_starts(part, MEANT);
		char **at = is_expected || is_meant ? &expected : &effect;
		size_t skip = is_expected ? strlen(EXPECTED) : is_meant ? strlen(MEANT) : 0;
		char *more = xasprintf("%s%s%.*s", *at ? *at : "", *at ? "; " : "",
				       (int)(len - skip - (is_meant && part[len - 1] == '?')),
				       part + skip);

		free(*at);
		*at = more;
		text = part + len;
	}
	json_add_str(o, "found", found);
	json_add_str(o, "expected", expected);
	json_add_str(o, "effect", effect);
}

static struct json_object *finding_of(const struct conf_finding *f)
{
	static const char *const severities[] = {
		[CONF_NOTE] = "note",
		[CONF_WARNING] = "warning",
		[CONF_ERROR] = "error",
	};
	struct json_object *o = json_object_new_object();

	json_add_str(o, "severity", severities[f->severity]);
	json_add_str(o, "file", f->file);
	json_add_known(o, "line", f->file && f->line, f->line);
	json_add_known(o, "column", f->file && f->column, f->column);
	json_add_str(o, "text", f->text);
	add_parts(o, f->text);
	return o;
}

void findings_print_json(const struct conf_report *report, FILE *out)
{
	struct json_object *o = json_object_new_object(), *all = json_object_new_array();

	for (size_t i = 0; i < report->n; i++)
		json_object_array_add(all, finding_of(&report->findings[i]));
	json_add_int(o, "errors", report->errors);
	json_add_int(o, "warnings", report->warnings);
	json_add_int(o, "not_listed", (int64_t)report->dropped);
	json_object_object_add(o, "findings", all);
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* A line without the name of the program in front, ours or getopt's. */
static const char *bare(const char *line, const char *program)
{
	if (str_starts(line, "opensm: "))
		return line + strlen("opensm: ");
	if (str_starts(line, program) && str_starts(line + strlen(program), ": "))
		return line + strlen(program) + strlen(": ");
	return line;
}

/* The first line is the error, further ones are in "more", "see COMMAND" is "usage". */
static struct json_object *error_of(char *text, const char *program, int status)
{
	struct json_object *o = json_object_new_object(), *more = json_object_new_array();
	char *line;

	json_add_str(o, "name", strstr(text, "opensm: see ") ? "Usage" : "Failed");
	while ((line = strsep(&text, "\n"))) {
		const char *said = bare(line, program);

		if (str_starts(said, "see "))
			json_add_str(o, "usage", said + strlen("see "));
		else if (*said && !json_object_object_get(o, "text"))
			json_add_str(o, "text", said);
		else if (*said)
			json_append_str(more, said);
	}
	if (json_object_array_length(more))
		json_object_object_add(o, "more", json_object_get(more));
	json_object_put(more);
	json_add_int(o, "exit_status", status);
	return o;
}

int offline_with_json_errors(int (*command)(int argc, char **argv), int argc, char **argv)
{
	FILE *const terminal = stderr;
	struct json_object *o;
	char *text = NULL;
	size_t len;
	int status;
	FILE *held = open_memstream(&text, &len);

	if (!held)
		return command(argc, argv);
	/* getopt writes there, too. */
	stderr = held;
	status = command(argc, argv);
	stderr = terminal;
	if (fclose(held) == 0 && len) {
		o = json_object_new_object();
		json_object_object_add(o, status > 1 ? "error" : "warning",
				       error_of(text, argv[0], status));
		fprintf(stderr, "%s\n",
			json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(o);
	}
	free(text);
	return status;
}
