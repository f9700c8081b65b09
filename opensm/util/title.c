// SPDX-License-Identifier: BSD-2-Clause
/*
 * Text in brackets. What is left of its place holds blanks when it is handed over, so that the
 * whole of it is one argument, and zeros from then on, which `systemctl status` leaves out.
 */
#include "util/title.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

#define CUT "..."

void title_set(const struct title *t, const char *text)
{
	size_t room = t->width < 2 ? 0 : t->width - 2, len;
	_cleanup_free_ char *line = NULL;

	if (!t->at || !room)
		return;
	line = xmalloc(strlen(text) + 1);
	str_printable(text, strlen(text), line, strlen(text) + 1);
	len = strlen(line);
	if (len > room) {
		len = room;
		memcpy(line + len - strlen(CUT), CUT, strlen(CUT));
	}
	t->at[0] = '[';
	memcpy(t->at + 1, line, len);
	t->at[len + 1] = ']';
	memset(t->at + len + 2, '\0', t->width - len - 2);
}

char *title_new(size_t width, const char *text)
{
	char *word = xmalloc(width + 1);
	const struct title t = { .at = word, .width = width };

	assert(width > 2 && text);
	title_set(&t, text);
	for (size_t i = 0; i < width; i++)
		if (!word[i])
			word[i] = ' ';
	word[width] = '\0';
	return word;
}

struct title title_find(int argc, char *const argv[])
{
	if (argc < 2 || argv[argc - 1][0] != '[')
		return (struct title){ 0 };
	return (struct title){ .at = argv[argc - 1], .width = strlen(argv[argc - 1]) };
}
