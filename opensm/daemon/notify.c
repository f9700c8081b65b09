// SPDX-License-Identifier: BSD-2-Clause
/* Messages to the service manager, if there is one. */
#include "daemon/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "util/mem.h"
#include "util/str.h"

/* `first` is a line of its own, such as "READY=1\n". */
static void send_status(struct notify *n, const char *first)
{
	char text[sizeof(n->line) + sizeof(n->refused) + sizeof(n->hung) + 8];
	_cleanup_free_ char *shown = NULL;

	snprintf(text, sizeof(text), "%s%s%s%s%s", n->line, n->refused[0] ? "; " : "", n->refused,
		 n->hung[0] ? "; " : "", n->hung);
	sd_notifyf(0, "%sSTATUS=%s", first, text);
	shown = xasprintf("%s: %s", n->name ? n->name : "opensm", text);
	title_set(&n->title, shown);
}

void notify_status(struct notify *n, const char *line)
{
	snprintf(n->line, sizeof(n->line), "%s", line);
	send_status(n, n->ready ? "" : "READY=1\n");
	n->ready = true;
}

void notify_reloading(mono_t now)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, now);
}

void notify_reloaded(struct notify *n, const char *fault)
{
	n->refused[0] = '\0';
	if (fault)
		snprintf(n->refused, sizeof(n->refused),
			 "SIGHUP took nothing over (%s), the former configuration is in force",
			 fault);
	send_status(n, "READY=1\n");
}

void notify_hung(struct notify *n, const char *what, unsigned seconds)
{
	n->hung[0] = '\0';
	if (what)
		snprintf(n->hung, sizeof(n->hung), "%s has not ended for %u s", what, seconds);
	send_status(n, "");
}

void notify_watchdog(void)
{
	sd_notify(0, "WATCHDOG=1");
}

void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1\nSTATUS=Ending");
}

void notify_fault(const char *what)
{
	char line[400];

	str_printable(what, strlen(what), line, sizeof(line));
	sd_notifyf(0, "STATUS=%s\nERRNO=%d", line, EINVAL);
}
