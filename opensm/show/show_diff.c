// SPDX-License-Identifier: BSD-2-Clause
/* In what other managers of ours are configured otherwise. */
#include <stdlib.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/mem.h"
#include "util/str.h"

#define PARTS	  4
#define FIELD_MAX 256
#define LINES_MAX 2000

/* "option NAME\tA\tB" in its fields; what another manager sent is printable afterwards. */
static unsigned split_line(char *line, char fields[PARTS][FIELD_MAX])
{
	unsigned n = 0;
	char *field;

	while (n < PARTS && (field = strsep(&line, "\t")))
		str_printable(field, strlen(field), fields[n++], FIELD_MAX);
	return n;
}

struct lists {
	struct json_object *options, *files, *keys;
	bool theirs_first;
};

#define SIDE_FIELDS(F)                                                                             \
	F("here", STR, l->theirs_first ? b : a)                                                    \
	F("there", STR, l->theirs_first ? a : b)
#define OPTION_FIELDS(F)                                                                           \
	F("name", STR, name)                                                                       \
	SIDE_FIELDS(F)
#define LINE_FIELDS(F)                                                                             \
	F("option", STR, name)                                                                     \
	F("line", INT, number)                                                                     \
	SIDE_FIELDS(F)

static const struct json_field option_fields[] = FIELDS_TABLE(OPTION_FIELDS);
static const struct json_field line_fields[] = FIELDS_TABLE(LINE_FIELDS);

static void put_line(const struct lists *l, char *line)
{
	char f[PARTS][FIELD_MAX];
	unsigned n = split_line(line, f);
	const char *name = strchr(f[0], ' '), *a = f[MAX(n, 2u) - 2], *b = f[n - 1];
	uint64_t number;

	if (!name)
		return;
	name++;
	if (n == 3 && str_starts(f[0], "option "))
		json_object_array_add(l->options, FIELDS_NEW(OPTION_FIELDS));
	else if (n == 4 && str_starts(f[0], "file ") &&
		 str_to_u64(f[1], 10, INT32_MAX, &number) == 0)
		json_object_array_add(l->files, FIELDS_NEW(LINE_FIELDS));
	else if (n == 1 && str_starts(f[0], "key "))
		json_append_str(l->keys, name);
}

#define MANAGER_FIELDS(F)                                                                          \
	F("port_guid", GUID, d->guid)                                                              \
	F("where", STR, d->where)                                                                  \
	F("compared", BOOL, is_compared)                                                           \
	F("why_not", OPT(STR), d->unknown)                                                         \
	F("options", LIST(option_fields), lists.options)                                           \
	F("files", LIST(line_fields), lists.files)                                                 \
	F("keys", OF("[]string"), lists.keys)

static const struct json_field manager_fields[] = FIELDS_TABLE(MANAGER_FIELDS);

static struct json_object *manager_of(const struct sm_manager_diff *d)
{
	char *rest = d->text, *line;
	bool is_compared = d->text != NULL;
	const struct lists lists = {
		.options = json_object_new_array(),
		.files = json_object_new_array(),
		.keys = json_object_new_array(),
		.theirs_first = d->theirs_first,
	};

	for (unsigned n = 0; n < LINES_MAX && (line = strsep(&rest, "\n")); n++)
		put_line(&lists, line);
	free(d->text);
	return FIELDS_NEW(MANAGER_FIELDS);
}

#define DIFF_FIELDS(F)                                                                             \
	F("managers", LIST(manager_fields),                                                        \
	  JSON_LIST_OF(struct sm_manager_diff d, sm_manager_diff_at(api->sm, i, &d),               \
		       manager_of(&d)))

const struct json_field show_managers_diff_fields[] = FIELDS_TABLE(DIFF_FIELDS);

struct json_object *show_managers_diff(const struct daemon_api *api, struct json_object *parameters,
				       struct control_error *err)
{
	if (!api->sm)
		return control_fail(err, "NotReady", "no port is open: %.250s", api->status);
	return FIELDS_NEW(DIFF_FIELDS);
}
