// SPDX-License-Identifier: BSD-2-Clause
/* The configuration and the log level: seen, judged, set. Keys that prove something are never shown. */
#include "ctl/control_call.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define LOG_FLAGS_MAX 0xFF

/* ---- findings -------------------------------------------------------------------------------- */

struct json_object *control_findings(const struct conf_report *r)
{
	static const char *const severities[] = {
		[CONF_NOTE] = "note",
		[CONF_WARNING] = "warning",
		[CONF_ERROR] = "error",
	};
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < r->n; i++) {
		const struct conf_finding *f = &r->findings[i];
		struct json_object *o = json_object_new_object();

		json_add_str(o, "severity", severities[f->severity]);
		json_add_str(o, "file", f->file);
		json_add_int(o, "line", f->line);
		json_add_int(o, "column", f->column);
		json_add_str(o, "text", f->text);
		json_object_array_add(all, o);
	}
	return all;
}

struct json_object *control_check(const struct scene *scene, struct json_object *parameters,
				  struct control_error *err)
{
	struct json_object *o = json_object_new_object();
	struct conf_report found = { 0 };
	_cleanup_free_ char *news = NULL;

	scene->check(scene->arg, &found, &news);
	json_add_str(o, "file", scene->conf_path);
	json_add_int(o, "errors", found.errors);
	json_add_int(o, "warnings", found.warnings);
	json_add_str(o, "would_change", news);
	json_object_object_add(o, "findings", control_findings(&found));
	conf_report_clear(&found);
	return o;
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *source_of(const struct conf *c, enum conf_id id)
{
	if (c->file_line[id])
		return "file";
	return conf_value_is_default(c, id) ? "default" : "command_line";
}

static const char *effect_of(const struct conf_option *row)
{
	switch (row->state) {
	case CONF_STATE_LATER:
	case CONF_STATE_DEPRECATED:
		return "none";
	case CONF_STATE_ALWAYS:
		return "always";
	case CONF_STATE_EFFECTIVE:
	case CONF_STATE_OWN:
		break;
	}
	return "yes";
}

static struct json_object *option_object(const struct conf *c, enum conf_id id)
{
	const struct conf_option *row = conf_option(id);
	_cleanup_free_ char *value = conf_value_shown(c, id);
	struct json_object *o = json_object_new_object();

	json_add_str(o, "name", row->name);
	json_add_str(o, "value", value);
	json_add_str(o, "default", row->default_text);
	json_add_bool(o, "is_default", conf_value_is_default(c, id));
	json_add_str(o, "source", source_of(c, id));
	json_add_str(o, "file", c->file_line[id] ? c->file : NULL);
	json_add_int(o, "line", c->file_line[id]);
	json_add_str(o, "effect", effect_of(row));
	json_add_str(o, "change_costs", conf_cost_name(row->cost));
	json_add_str(o, "range", row->range);
	json_add_str(o, "help", row->help);
	return o;
}

struct json_object *control_options(const struct scene *scene, struct json_object *parameters,
				    struct control_error *err)
{
	const char *name = json_object_get_string(json_object_object_get(parameters, "name"));
	struct json_object *o, *all;
	enum conf_id only = CONF_N_OPTIONS;

	if (name) {
		char shown[60];

		only = conf_option_find(name);
		if (only == CONF_N_OPTIONS) {
			const char *near = conf_option_nearest(name);

			str_printable(name, sizeof(shown), shown, sizeof(shown));
			control_fail(err, "NotFound", "there is no option '%s'%s%s%s", shown,
				     near ? "; did you mean '" : "", near ? near : "",
				     near ? "'?" : "");
			return NULL;
		}
	}
	o = json_object_new_object();
	all = json_object_new_array();
	for (enum conf_id id = 0; id < CONF_N_OPTIONS; id++)
		if (!name || id == only)
			json_object_array_add(all, option_object(scene->conf, id));
	json_object_object_add(o, "options", all);
	return o;
}

/* ---- the log level --------------------------------------------------------------------------- */

struct json_object *control_log_level(const struct scene *scene, struct json_object *parameters,
				      struct control_error *err)
{
	static const char *const names[] = { "error", "info",	"verbose", "debug",
					     "funcs", "frames", "routing", "sys" };
	struct json_object *o = json_object_new_object(), *on = json_object_new_array();

	json_add_int(o, "flags", log_flags());
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (log_flags() & 1u << i)
			json_object_array_add(on, json_object_new_string(names[i]));
	json_object_object_add(o, "names", on);
	return o;
}

struct json_object *control_set_log_level(const struct scene *scene, struct json_object *parameters,
					  struct control_error *err)
{
	int64_t flags = json_object_get_int64(json_object_object_get(parameters, "flags"));

	if (flags < 0 || flags > LOG_FLAGS_MAX) {
		control_fail(err, "InvalidParameter", "flags must be from 0 to 0x%x",
			     LOG_FLAGS_MAX);
		return NULL;
	}
	log_set_flags((unsigned)flags);
	return control_log_level(scene, parameters, err);
}
