// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared by the readers of text files: refuses binary files, splits text into lines, and removes a
 * byte order mark and the CR of DOS with a note.
 */
#include "conf/text/lines.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"

struct cutter {
	struct conf_report *report;
	const char *path;
	unsigned line;
	bool saw_cr;
};

static unsigned count_lines(const char *text, const char *end)
{
	unsigned n = 1;

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		text++;
		n++;
	}
	return n;
}

static int refuse_file(const char *path, int error, size_t limit, struct conf_report *r)
{
	const char *why = strerror(-error);
	char large[40];

	if (error == -EISDIR)
		why = "a folder; expected a file";
	else if (error == -EINVAL)
		why = "a FIFO, socket or device; expected a regular file";
	else if (error == -EFBIG)
		why = large;
	snprintf(large, sizeof(large), "larger than %zu MB", limit >> 20);
	conf_report_add(r, CONF_ERROR, path, 0, 0, "cannot be read: %s; it is not used", why);
	return error;
}

/* Copies one line, passes it to `on_line`, and frees it. */
static void deliver_line(struct cutter *c, const char *text, size_t len, lines_on_line on_line,
			 void *arg)
{
	_cleanup_free_ char *copy = xmalloc(len + 1);
	struct line line = { .text = copy, .len = len, .at = { c->path, c->line, 1 } };

	memcpy(copy, text, len);
	if (len && copy[len - 1] == '\r') {
		line.len--;
		if (!c->saw_cr)
			conf_report_add(c->report, CONF_NOTE, c->path, c->line, 0,
					"line ends are those of DOS (CR LF); the CR is ignored");
		c->saw_cr = true;
	}
	copy[line.len] = '\0';
	on_line(arg, &line);
}

int lines_split(const char *path, const char *text, size_t len, struct conf_report *r,
		lines_on_line on_line, void *arg)
{
	struct cutter c = { .report = r, .path = path };
	const char *end = text + len, *nul = len ? memchr(text, '\0', len) : NULL;

	assert((text || !len) && on_line);
	if (nul) {
		conf_report_add(r, CONF_ERROR, path, count_lines(text, nul), 0,
				"NUL byte: not a text file; nothing of it is used");
		return -EINVAL;
	}
	if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		conf_report_add(r, CONF_NOTE, path, 1, 0, "byte order mark ignored");
		text += 3;
	}
	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		const char *stop = eol ? eol : end;

		c.line++;
		deliver_line(&c, text, (size_t)(stop - text), on_line, arg);
		text = eol ? eol + 1 : end;
	}
	return 0;
}

int lines_load(const char *path, struct conf_report *r, char **ret, size_t *ret_len)
{
	return lines_load_most(path, LINES_FILE_MAX, r, ret, ret_len);
}

int lines_load_most(const char *path, size_t limit, struct conf_report *r, char **ret,
		    size_t *ret_len)
{
	int e = file_read(path, limit, ret, ret_len);

	return e < 0 && e != -ENOENT ? refuse_file(path, e, limit, r) : e;
}

int lines_read(const char *path, struct conf_report *r, lines_on_line on_line, void *arg)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int e = lines_load(path, r, &text, &len);

	return e < 0 ? e : lines_split(path, text, len, r, on_line, arg);
}

int lines_missing(const char *path, struct conf_report *r)
{
	return refuse_file(path, -ENOENT, 0, r);
}

struct conf_place line_place(const struct line *line, const char *p)
{
	struct conf_place at = line->at;

	at.column += (unsigned)(p - line->text);
	return at;
}

bool line_has_room(struct line_room *room, size_t n, const struct line *line,
		   struct conf_report *r)
{
	if (n < room->most)
		return true;
	if (!room->full)
		conf_report_at(r, CONF_ERROR, &line->at,
			       "more than %u %s; this line and those that follow are ignored",
			       room->most, room->what);
	room->full = true;
	return false;
}
