// SPDX-License-Identifier: BSD-2-Clause
/* The daemon has a log of its own; this one is for systemd, or for who runs the launcher by hand. */
#include "launch/say.h"

#define SD_JOURNAL_SUPPRESS_LOCATION /* ours is always the same */

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
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

/* Fields that are empty are left out. */
static size_t add_field(struct iovec *list, size_t n, const char *name, const char *value)
{
	char *text;

	if (!value || !value[0])
		return n;
	text = xasprintf("%s=%s", name, value);
	list[n] = (struct iovec){ text, strlen(text) };
	return n + 1;
}

static void send_record(enum log_id id, const char *name, int level, const char *text)
{
	const char digit[] = { (char)('0' + level), '\0' };
	struct iovec list[6];
	size_t n = 0;

	n = add_field(list, n, "MESSAGE", text);
	n = add_field(list, n, "PRIORITY", digit);
	n = add_field(list, n, "SYSLOG_IDENTIFIER", "opensm-launch");
	n = add_field(list, n, "OPENSM_INSTANCE", name);
	n = add_field(list, n, "MESSAGE_ID", log_id_hex(id));
	n = add_field(list, n, "OPENSM_EVENT", log_id_name(id));
	sd_journal_sendv(list, (int)n);
	while (n-- > 0)
		free(list[n].iov_base);
}

static void vsay(enum log_id id, const char *name, int level, const char *fmt, va_list ap)
{
	_cleanup_free_ char *body = NULL, *text = NULL;

	if (vasprintf(&body, fmt, ap) < 0) {
		body = NULL;
		return;
	}
	text = xasprintf("%s%s%s%s", name ? "instance " : "", name ? name : "", name ? " " : "", body);
	if (is_journal())
		send_record(id, name, level, text);
	else
		fprintf(stderr, "opensm-launch: %s\n", text);
}

void say(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(LOG_ID_NONE, NULL, level, fmt, ap);
	va_end(ap);
}

void say_of(enum log_id id, const char *name, int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(id, name, level, fmt, ap);
	va_end(ap);
}
