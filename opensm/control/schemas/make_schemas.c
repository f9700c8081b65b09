// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program of the build: writes the schemas of all JSON documents of opensmctl as a text of C, for
 * opensmctl --schema. Answers of methods are described by their rows; documents that opensmctl
 * makes itself have their rows here (tests/e2e/opensmctl-show.bats compares).
 */
#include <stdio.h>
#include <string.h>

#include "api/schema.h"
#include "control/control_internal.h"
#include "show/show.h"

/* ---- documents of opensmctl ------------------------------------------------------------------ */

/* What opensm-launch writes (opensm/launch/report.c), and what an instance answers. */
#define LAUNCHED_ROWS(F)                                                                           \
	F("failing", BOOL)                                                                         \
	F("guid", OPT(STR))                                                                        \
	F("restarts", OPT(INT))                                                                    \
	F("last_exit", OPT(STR))                                                                   \
	F("exit_status", OPT(INT))                                                                 \
	F("exit_signal", OPT(INT))                                                                 \
	F("unit", OPT(STR))                                                                        \
	F("since", SECONDS)                                                                        \
	F("log", OPT(STR))                                                                         \
	F("cache_dir", OPT(STR))                                                                   \
	F("dump_dir", OPT(STR))                                                                    \
	F("pid", OPT(INT))                                                                         \
	F("conf", OPT(STR))                                                                        \
	F("priority", OPT(INT))                                                                    \
	F("status", OPT(STR))

static const struct json_field instance_fields[] = {
	FIELD_ROW("name", STR)
	FIELD_ROW("state", STR)
	FIELD_MAYBE("socket", STR)
	FIELD_MAYBE("answers", BOOL)
	FIELD_MAYBE("manager_state", OPT(STR))
	FIELD_MAYBE("port", OPT(STR))
	LAUNCHED_ROWS(FIELD_MAYBE)
	{ 0 },
};

/* An instance that does not answer, among the answers of Status. */
static const struct json_field absent_fields[] = {
	FIELD_ROW("instance", STR)
	FIELD_ROW("state", STR)
	FIELD_ROW("answers", BOOL)
	LAUNCHED_ROWS(FIELD_MAYBE)
	{ 0 },
};

/* On stderr: member "error", or "warning". */
static const struct json_field error_fields[] = {
	FIELD_ROW("name", STR)
	FIELD_ROW("text", STR)
	FIELD_ROW("exit_status", INT)
	FIELD_MAYBE("usage", STR)
	{ .key = "more", .type = "[]string", .optional = true },
	{ 0 },
};
static const struct json_field errors_fields[] = {
	{ .key = "error", .optional = true, FIELD_TYPE_OBJECT(error_fields) },
	{ .key = "warning", .optional = true, FIELD_TYPE_OBJECT(error_fields) },
	{ 0 },
};

static const struct {
	const char *name, *type;
	const struct json_field *of;
} documents[] = {
	{ "Instances", "[]", instance_fields },
	{ "Absent", "", absent_fields },
	{ "Smps", "[]", control_smp_fields },
	{ "Event", "", control_event_fields },
	{ "Error", "", errors_fields },
};

/* ---- written --------------------------------------------------------------------------------- */

static void add_methods(struct json_object *all, const struct control_method *m)
{
	/* An answer without rows is an empty object. */
	for (; m->name; m++)
		json_object_object_add(all, m->name, schema_of("object", m->gives, SCHEMA_JSON));
}

/* opensmctl status: instances that answer, and those that do not. */
static struct json_object *statuses(void)
{
	struct json_object *o = json_object_new_object(), *any;

	json_add_str(o, "type", "array");
	any = json_add_array(json_add_object(o, "items"), "anyOf");
	json_object_array_add(any, schema_of("", control_status_fields, SCHEMA_JSON));
	json_object_array_add(any, schema_of("", absent_fields, SCHEMA_JSON));
	return o;
}

/* As strings of C, which end where the text may be cut without cutting an escape. */
static void write_text(const char *text)
{
	fputs("const char ctl_schemas[] =\n", stdout);
	for (size_t at = 0; text[at];) {
		fputs("\t\"", stdout);
		for (size_t n = 0; n < 80 && text[at]; n++, at++) {
			if (strchr("\"\\", text[at]))
				putchar('\\');
			putchar(text[at]);
		}
		fputs("\"\n", stdout);
	}
	fputs("\t;\n", stdout);
}

int main(void)
{
	struct json_object *all = json_object_new_object();

	add_methods(all, control_methods);
	add_methods(all, show_methods);
	json_object_object_add(all, "Statuses", statuses());
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
		json_object_object_add(all, documents[i].name,
				       schema_of(documents[i].type, documents[i].of, SCHEMA_JSON));
	puts("/* made by make_schemas */\n#include \"opensmctl/talk/ctl.h\"");
	write_text(json_object_to_json_string_ext(all, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
	return fflush(stdout) == 0 ? 0 : 1;
}
