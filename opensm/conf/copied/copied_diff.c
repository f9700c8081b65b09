// SPDX-License-Identifier: BSD-2-Clause
/* Differences between the configuration of a manager and that of a master, as text. */
#include <errno.h>
#include <string.h>

#include "conf/copied/copied.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define SHOWN_MAX 201

/* Prints the line of `text` at `at` in printable form. */
static void show_line(FILE *out, const char *text, size_t at, size_t len)
{
	const char *end = at < len ? memchr(text + at, '\n', len - at) : NULL;
	size_t n = (end ? (size_t)(end - text) : len) - MIN(at, len);
	char shown[SHOWN_MAX];

	str_printable(at < len ? text + at : "", n, shown, sizeof(shown));
	fputs(shown, out);
}

static void diff_option(FILE *out, const struct conf *conf, const struct copied_option *o)
{
	_cleanup_free_ char *text = conf_value_text(conf, o->id);

	if (strcmp(text, o->text) == 0)
		return;
	fprintf(out, "option %s\t", conf_option(o->id)->name);
	show_line(out, text, 0, strlen(text));
	fputc('\t', out);
	show_line(out, o->text, 0, strlen(o->text));
	fputc('\n', out);
}

/* The number of the first line that differs, and its offset. */
static unsigned first_difference(const char *a, size_t a_len, const char *b, size_t b_len,
				 size_t *ret_at)
{
	unsigned line = 1;

	*ret_at = 0;
	for (size_t i = 0; i < a_len && i < b_len && a[i] == b[i]; i++) {
		if (a[i] == '\n') {
			line++;
			*ret_at = i + 1;
		}
	}
	return line;
}

static void diff_file(FILE *out, const struct conf *conf, const struct copied_file *f)
{
	const char *path = copied_path(conf, f->id), *name = conf_option(f->id)->name;
	_cleanup_free_ char *text = NULL;
	size_t len = 0, at;
	bool exists = path && file_read(path, COPIED_MAX, &text, &len) == 0;
	unsigned line;

	if (!exists || !f->exists) {
		if (exists != f->exists)
			fprintf(out, "file %s\t0\t%s\t%s\n", name, exists ? path : "no such file",
				f->exists ? "a file" : "no such file");
		return;
	}
	if (len == f->len && memcmp(text, f->text, len) == 0)
		return;
	line = first_difference(text, len, f->text, f->len, &at);
	fprintf(out, "file %s\t%u\t", name, line);
	show_line(out, text, at, len);
	fputc('\t', out);
	show_line(out, f->text, at, f->len);
	fputc('\n', out);
}

char *copied_diff(const struct conf *conf, const struct copied *c, copied_mark_fn *mark)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < c->n_options; i++)
		diff_option(out, conf, &c->options[i]);
	for (size_t i = 0; i < c->n_files; i++)
		diff_file(out, conf, &c->files[i]);
	for (size_t i = 0; i < c->n_keys; i++) {
		if (mark(conf, c->keys[i].id) != c->keys[i].mark)
			fprintf(out, "key %s\n", conf_option(c->keys[i].id)->name);
	}
	fclose(out);
	return text;
}
