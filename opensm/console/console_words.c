// SPDX-License-Identifier: BSD-2-Clause
/* The words of a line. */
#include <string.h>

#include "console/console_internal.h"

#define SEPARATORS " \t\r\n"

char *console_word(struct console_words *w)
{
	char *word = w->at + strspn(w->at, SEPARATORS);

	w->at = word + strcspn(word, SEPARATORS);
	if (*w->at)
		*w->at++ = '\0';
	return *word ? word : NULL;
}

char *console_rest(struct console_words *w)
{
	char *rest = w->at + strspn(w->at, SEPARATORS);

	w->at = rest + strcspn(rest, "\t\r\n");
	*w->at = '\0';
	return *rest ? rest : NULL;
}
