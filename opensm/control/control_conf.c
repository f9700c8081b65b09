// SPDX-License-Identifier: BSD-2-Clause
/* The configuration and the log level: seen, judged, set. Secret keys are never shown. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define LOG_FLAGS_MAX 0xFF
#define GROUP_BUFFER  (64 * 1024)

bool control_group_id(const char *name, gid_t *ret)
{
	_cleanup_free_ char *buffer = xmalloc(GROUP_BUFFER);
	struct group group, *found = NULL;
	uint64_t gid;

	if (str_to_u64(name, 10, UINT32_MAX - 1, &gid) < 0) {
		getgrnam_r(name, &group, buffer, GROUP_BUFFER, &found);
		if (!found)
			return false;
		gid = found->gr_gid;
	}
	*ret = (gid_t)gid;
	return true;
}

char *control_user_name(uid_t uid, char ret[static 64])
{
	_cleanup_free_ char *buffer = xmalloc(GROUP_BUFFER);
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd row, *found = NULL;

	ret[0] = '\0';
	while (file && fgetpwent_r(file, &row, buffer, GROUP_BUFFER, &found) == 0)
		if (row.pw_uid == uid) {
			str_printable(row.pw_name, strlen(row.pw_name), ret, 64);
			break;
		}
	if (file)
		fclose(file);
	return ret;
}

void control_name_caller(const struct control_ticket *t, struct json_object *parameters,
			 const char *between, char ret[static CONTROL_CALLER_STRLEN])
{
	const char *user = json_str(parameters, "user");
	char name[64];

	control_user_name(t->uid, name);
	if (!name[0])
		snprintf(name, sizeof(name), "uid%u", t->uid);
	snprintf(ret, CONTROL_CALLER_STRLEN, "%s%s%.64s", name, user ? between : "",
		 user ? user : "");
}

/* ---- findings -------------------------------------------------------------------------------- */

#define FINDING_FIELDS(F)                                                                          \
	F("severity", STR, severities[f->severity])                                                \
	F("file", OPT(STR), f->file)                                                               \
	F("line", INT, f->line)                                                                    \
	F("column", INT, f->column)                                                                \
	F("text", STR, f->text)

const struct json_field control_finding_fields[] = FIELDS_TABLE(FINDING_FIELDS);

struct json_object *control_findings(const struct conf_report *r)
{
	static const char *const severities[] = {
		[CONF_NOTE] = "note",
		[CONF_WARNING] = "warning",
		[CONF_ERROR] = "error",
	};

	return JSON_LIST_OF(const struct conf_finding *f, i < r->n && (f = &r->findings[i]),
			    FIELDS_ITEM(FINDING_FIELDS));
}

#define CHECK_FIELDS(F)                                                                            \
	F("file", OPT(STR), api->conf_path)                                                        \
	F("errors", INT, found.errors)                                                             \
	F("warnings", INT, found.warnings)                                                         \
	F("would_change", OPT(STR), news)                                                          \
	F("findings", LIST(control_finding_fields), control_findings(&found))

const struct json_field control_check_fields[] = FIELDS_TABLE(CHECK_FIELDS);

struct json_object *control_check(const struct daemon_api *api, struct json_object *parameters,
				  struct control_error *err)
{
	struct conf_report found = { 0 };
	_cleanup_free_ char *news = NULL;
	struct json_object *ret;

	api->check(api->arg, &found, &news);
	ret = FIELDS_NEW(CHECK_FIELDS);
	conf_report_clear(&found);
	return ret;
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *source_name(enum conf_source source)
{
	switch (source) {
	case CONF_SOURCE_FILE:
		return "file";
	case CONF_SOURCE_COMMAND_LINE:
		return "command_line";
	case CONF_SOURCE_COPIED:
		return "copied";
	case CONF_SOURCE_PROFILE:
		return "profile";
	case CONF_SOURCE_DEFAULT:
		break;
	}
	return "default";
}

static const char *effect_of(const struct conf_option *row)
{
	switch (row->state) {
	case CONF_STATE_LATER:
	case CONF_STATE_NONE:
		return "none";
	case CONF_STATE_ALWAYS:
		return "always";
	case CONF_STATE_EFFECTIVE:
	case CONF_STATE_OWN:
		break;
	}
	return "yes";
}

#define OPTION_FIELDS(F)                                                                           \
	F("name", STR, row->name)                                                                  \
	F("value", OPT(STR), conf_is_secret(id) ? is_default ? "(not set)" : "(set)" : value)      \
	F("default", OPT(STR), row->default_text)                                                  \
	F("is_default", BOOL, is_default)                                                          \
	F("source", STR, source_name(conf_source(c, id)))                                          \
	F("file", OPT(STR), c->file_line[id] ? c->file : NULL)                                     \
	F("line", INT, c->file_line[id])                                                           \
	F("copied_from", IF(c->copied[id], OPT(GUID)), c->copied_from)                             \
	F("copied_at", IF(c->copied[id], SECONDS), c->copied_at)                                   \
	F("profile", IF(conf_source(c, id) == CONF_SOURCE_PROFILE, STR), c->security_profile)      \
	F("effect", STR, effect_of(row))                                                           \
	F("change_costs", STR, conf_cost_name(row->cost))                                          \
	F("range", OPT(STR), row->range)                                                           \
	F("help", OPT(STR), row->help)

static const struct json_field option_fields[] = FIELDS_TABLE(OPTION_FIELDS);

static struct json_object *option_of(const struct conf *c, enum conf_id id)
{
	const struct conf_option *row = conf_option(id);
	_cleanup_free_ char *value = conf_value_shown(c, id);
	bool is_default = conf_value_is_default(c, id);

	return FIELDS_NEW(OPTION_FIELDS);
}

const struct json_field control_options_fields[] = {
	{ .key = "options", FIELD_TYPE_LIST(option_fields) },
	{ 0 },
};

static void *option_not_found(const char *name, struct control_error *err)
{
	const char *near = conf_option_nearest(name);
	char shown[60];

	str_printable(name, sizeof(shown), shown, sizeof(shown));
	return control_fail(err, "NotFound", "there is no option '%s'%s%s%s", shown,
			    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

struct json_object *control_options(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	const char *name = json_str(parameters, "name");
	enum conf_id only = name ? conf_option_find(name) : CONF_N_OPTIONS;
	const struct conf *conf = api->sm ? sm_conf(api->sm) : api->conf;
	struct json_object *o, *all;

	if (name && only == CONF_N_OPTIONS)
		return option_not_found(name, err);
	o = json_object_new_object();
	all = json_add_array(o, "options");
	for (enum conf_id id = 0; id < CONF_N_OPTIONS; id++)
		if (!name || id == only)
			json_object_array_add(all, option_of(conf, id));
	return o;
}

/* ---- the log level --------------------------------------------------------------------------- */

static struct json_object *log_names(unsigned flags)
{
	static const char *const names[] = { "error", "info",	"verbose", "debug",
					     "funcs", "frames", "routing", "sys" };
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & 1u << i)
			json_append_str(list, names[i]);
	return list;
}

#define LOG_LEVEL_FIELDS(F)                                                                        \
	F("flags", INT, log_flags())                                                               \
	F("names", OF("[]string"), log_names(log_flags()))

const struct json_field control_log_level_fields[] = FIELDS_TABLE(LOG_LEVEL_FIELDS);

struct json_object *control_log_level(const struct daemon_api *api, struct json_object *parameters,
				      struct control_error *err)
{
	return FIELDS_NEW(LOG_LEVEL_FIELDS);
}

struct json_object *control_set_log_level(const struct daemon_api *api,
					  struct json_object *parameters, struct control_error *err)
{
	int64_t flags = json_object_get_int64(json_object_object_get(parameters, "flags"));

	if (flags < 0 || flags > LOG_FLAGS_MAX)
		return control_fail(err, "InvalidParameter", "flags must be from 0 to 0x%x",
				    LOG_FLAGS_MAX);
	log_set_flags((unsigned)flags);
	return control_log_level(api, parameters, err);
}
