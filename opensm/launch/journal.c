// SPDX-License-Identifier: BSD-2-Clause
/* The daemon has a log of its own; these records are of opensm.service, about its instances. */
#include "launch/journal.h"

#define SD_JOURNAL_SUPPRESS_LOCATION /* always the same */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-journal.h>

#include "util/mem.h"

#define IDENTIFIER "opensm-launch"

void journal_about(enum log_id id, const char *name, int level, const char *fmt, ...)
{
	_cleanup_free_ char *body = NULL, *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	body = xvasprintf(fmt, ap);
	va_end(ap);
	text = xasprintf("%s%s%s%s", name ? "instance " : "", name ? name : "", name ? " " : "",
			 body);
	if (!getenv("JOURNAL_STREAM"))
		fprintf(stderr, IDENTIFIER ": %s\n", text);
	else if (id == LOG_ID_NONE)
		sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", level,
				"SYSLOG_IDENTIFIER=" IDENTIFIER, name ? "OPENSM_INSTANCE=%s" : NULL,
				name, NULL);
	else
		sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", level,
				"SYSLOG_IDENTIFIER=" IDENTIFIER, "MESSAGE_ID=%s", log_id_hex(id),
				"OPENSM_EVENT=%s", log_id_name(id),
				name ? "OPENSM_INSTANCE=%s" : NULL, name, NULL);
}

void journal_findings(const struct conf_report *r)
{
	for (size_t n = 0; n < r->n; n++) {
		const struct conf_finding *f = &r->findings[n];
		_cleanup_free_ char *text = conf_finding_text(f);

		journal_text(f->severity == CONF_ERROR ? LOG_ERR : LOG_WARNING, "%s", text);
	}
}
