// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration of a standby: defaults, then options copied from the master, then its own file
 * and command line. An option that is set here to another value is a pin, and so is a file with
 * other content.
 */
#include <string.h>
#include <unistd.h>

#include "conf/copied/copied.h"
#include "util/file.h"
#include "util/mem.h"

static const struct conf_place nowhere;

static bool is_set_here(const struct conf *own, enum conf_id id)
{
	return own->file_line[id] || own->given[id] || !conf_value_is_default(own, id);
}

static void add_pin(struct copied_pins *pins, enum conf_id id)
{
	pins->ids[pins->n++] = id;
}

/* Sets an option of values per SL from text as "1 5, 3 7". */
static int set_per_sl(struct conf *c, enum conf_id id, const char *text, struct conf_report *r)
{
	_cleanup_free_ char *pairs = xstrdup(text);
	char *rest = pairs, *pair;
	int e = conf_set(c, id, "0 0", &nowhere, r);

	while (e == 0 && (pair = strsep(&rest, ",")))
		e = conf_set(c, id, pair + strspn(pair, " "), &nowhere, r);
	return e;
}

static int set_value(struct conf *c, enum conf_id id, const char *text, struct conf_report *r)
{
	enum conf_type type = conf_option(id)->type;

	if (type == CONF_SL_U16 || type == CONF_SL_U8)
		return set_per_sl(c, id, text, r);
	return conf_set(c, id, text, &nowhere, r);
}

static void layer_option(struct conf *to, const struct conf *own, const struct copied_option *o,
			 struct copied_pins *pins, struct conf_report *r)
{
	_cleanup_free_ char *text = conf_value_text(own, o->id);
	bool same = strcmp(text, o->text) == 0;

	if (is_set_here(own, o->id)) {
		if (!same)
			add_pin(pins, o->id);
		return;
	}
	if (!same && set_value(to, o->id, o->text, r) == 0)
		to->copied[o->id] = true;
}

const char *copied_path(const struct conf *c, enum conf_id id)
{
	return *(const conf_string *)((const char *)c + conf_option(id)->offset);
}

char *copied_file_name(const char *folder, enum conf_id id)
{
	return xasprintf("%s/%s.conf", folder, conf_option(id)->name);
}

static bool is_same_file(const char *path, const struct copied_file *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	return f->exists && file_read(path, COPIED_MAX, &text, &len) == 0 && len == f->len &&
	       memcmp(text, f->text, len) == 0;
}

static void layer_file(struct conf *to, const struct conf *own, const struct copied_file *f,
		       const char *folder, struct copied_pins *pins)
{
	_cleanup_free_ char *name = copied_file_name(folder, f->id);
	const char *path = copied_path(own, f->id);
	conf_string *value = (conf_string *)((char *)to + conf_option(f->id)->offset);

	if (path && access(path, F_OK) == 0) {
		if (!is_same_file(path, f))
			add_pin(pins, f->id);
		return;
	}
	if (!f->exists)
		return;
	free(*value);
	*value = take(name);
	to->copied[f->id] = true;
}

struct conf *copied_layer(const struct conf *own, const struct copied *c, guid_t self,
			  const char *folder, struct copied_pins *pins, struct conf_report *r)
{
	struct conf *to = conf_copy(own);

	pins->n = 0;
	to->copied_from = c->from;
	to->copied_at = c->at;
	for (size_t i = 0; i < c->n_options; i++) {
		if (c->options[i].source != self)
			layer_option(to, own, &c->options[i], pins, r);
	}
	for (size_t i = 0; i < c->n_files; i++) {
		if (c->files[i].source != self)
			layer_file(to, own, &c->files[i], folder, pins);
	}
	conf_verify(to, r);
	return to;
}
