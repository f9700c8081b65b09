// SPDX-License-Identifier: BSD-2-Clause
/* The daemon has a log of its own; this one is for systemd, or for who runs the launcher by hand. */
#include "launch/say.h"

#define SD_JOURNAL_SUPPRESS_LOCATION /* ours is always the same */

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/str.h"

/* JOURNAL_STREAM is "DEVICE:INODE" of the stream that systemd gave us (systemd.exec(5)). */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	_cleanup_free_ char *ours = NULL;
	struct stat st;

	if (!stream || fstat(STDERR_FILENO, &st) < 0)
		return false;
	ours = xasprintf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return str_equal(stream, ours);
}

static void say_text(int level, const char *name, const char *text)
{
	if (!is_journal())
		fprintf(stderr, "opensm-launch: %s%s%s%s\n", name ? "instance " : "",
			name ? name : "", name ? " " : "", text);
	else if (name)
		sd_journal_send("MESSAGE=instance %s %s", name, text, "PRIORITY=%d", level,
				"SYSLOG_IDENTIFIER=opensm-launch", "OPENSM_INSTANCE=%s", name,
				NULL);
	else
		sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", level,
				"SYSLOG_IDENTIFIER=opensm-launch", NULL);
}

void say(int level, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		say_text(level, NULL, text);
}

void say_of(const char *name, int level, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		say_text(level, name, text);
}
