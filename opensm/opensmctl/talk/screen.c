// SPDX-License-Identifier: BSD-2-Clause
/*
 * The terminal: how wide it is, text that is folded at its edge, and the output of a command as a
 * text instead.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define WIDTH_DEFAULT 80
#define WIDTH_LEAST   40
#define WIDTH_MOST    10000

/* ---- how large it is ------------------------------------------------------------------------- */

static unsigned from_environment(const char *name)
{
	const char *text = getenv(name);
	uint64_t n = 0;

	return text && str_to_u64(text, 10, WIDTH_MOST, &n) == 0 ? (unsigned)n : 0;
}

void ctl_measure(struct ctl *c)
{
	struct winsize size = { 0 };

	c->width = c->height = 0;
	c->is_terminal = isatty(STDOUT_FILENO);
	if (!c->is_terminal)
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){ 0 };
	c->height = from_environment("LINES");
	if (!c->height)
		c->height = size.ws_row;
	c->width = from_environment("COLUMNS");
	if (!c->width)
		c->width = size.ws_col ? size.ws_col : WIDTH_DEFAULT;
	c->width = c->wide ? 0 : MAX(c->width, (unsigned)WIDTH_LEAST);
}

/* ---- characters ------------------------------------------------------------------------------ */

/* Length of the escape sequence at `at`; 0: there is none. */
static size_t escape_len(const char *at)
{
	size_t len;

	if (at[0] != '\033' || at[1] != '[')
		return 0;
	len = 2 + strspn(at + 2, "0123456789;");
	return at[len] ? len + 1 : len;
}

size_t ctl_columns(const char *text)
{
	size_t n = 0;

	while (*text) {
		size_t skip = escape_len(text);

		/* Bytes of UTF-8 characters behind the first take no column. */
		if (!skip && ((unsigned char)*text & 0xC0) != 0x80)
			n++;
		text += skip ? skip : 1;
	}
	return n;
}

/* Number of bytes of the first `columns` characters, of all if there are fewer. */
size_t ctl_bytes(const char *text, size_t columns)
{
	size_t at = 0;

	for (size_t n = 0; text[at]; at++) {
		size_t skip = escape_len(text + at);

		if (skip) {
			at += skip - 1;
			continue;
		}
		if (((unsigned char)text[at] & 0xC0) != 0x80 && n++ == columns)
			break;
	}
	return at;
}

/* ---- folding --------------------------------------------------------------------------------- */

size_t ctl_fold(const char *text, size_t columns)
{
	size_t all = ctl_bytes(text, columns), at = all;

	assert(columns);
	if (!text[all])
		return all;
	while (at && text[at] != ' ')
		at--;
	return at ? at : all;
}

/* Prints a line; the rest of it stands `indent` columns to the right. */
static void print_line(const char *line, size_t width, size_t indent)
{
	size_t room = width;

	for (;;) {
		size_t n = ctl_fold(line, room);

		printf("%.*s\n", (int)n, line);
		line += n + strspn(line + n, " ");
		if (!*line)
			return;
		printf("%*s", (int)indent, "");
		room = width - indent;
	}
}

void ctl_print_folded(const struct ctl *c, char *text, size_t indent)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		bool is_last = !text;

		if (is_last && !*line)
			return;
		if (c->width > 2 * indent && ctl_columns(line) > c->width)
			print_line(line, c->width, indent);
		else
			printf("%s%s", line, is_last ? "" : "\n");
	}
}

/* ---- output as a text ------------------------------------------------------------------------ */

static char *whole_of(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = xcalloc((size_t)MAX(len, 0) + 1, 1);

	if (len > 0 && pread(fd, text, (size_t)len, 0) != len)
		text[0] = '\0';
	return text;
}

bool ctl_capture(struct ctl_captured *ret)
{
	fflush(stdout);
	ret->stdout_fd = dup(STDOUT_FILENO);
	ret->fd = memfd_create("opensmctl", MFD_CLOEXEC);
	if (ret->stdout_fd >= 0 && ret->fd >= 0 && dup2(ret->fd, STDOUT_FILENO) >= 0)
		return true;
	if (ret->fd >= 0)
		close(ret->fd);
	if (ret->stdout_fd >= 0)
		close(ret->stdout_fd);
	return false;
}

char *ctl_captured(struct ctl_captured *from)
{
	char *text;

	fflush(stdout);
	text = whole_of(from->fd);
	dup2(from->stdout_fd, STDOUT_FILENO);
	close(from->stdout_fd);
	close(from->fd);
	return text;
}
