// SPDX-License-Identifier: BSD-2-Clause
/* Texts of clients are printable when they come here, but for the path, which is made so. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "rest/http/audit.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/str.h"

#define REFUSED_INTERVAL (1 * MONO_S)
#define REFUSED_BURST	 10

void audit_open(struct audit *a)
{
	*a = (struct audit){ .refused = { .interval = REFUSED_INTERVAL, .burst = REFUSED_BURST } };
}

/* stderr is what systemd connected to the journal ($JOURNAL_STREAM, systemd.exec(5)). */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static void send_fields(const struct audit_record *r, int priority, const char *text,
			const char *path)
{
	sd_journal_send("MESSAGE=%s", text, "PRIORITY=%i", priority, "REST_USER=%s",
			r->user ? r->user : "", "REST_ADDRESS=%s", r->address, "REST_REQUEST=%s",
			r->request, "REST_METHOD=%s", r->method, "REST_PATH=%s", path,
			"REST_STATUS=%u", r->status, "REST_GENERATION=%" PRIu64, r->generation,
			NULL);
}

static void write_record(const struct audit_record *r, int priority, unsigned suppressed)
{
	char path[200], rest[64] = "", left_out[64] = "";
	_cleanup_free_ char *text = NULL;

	str_printable(r->path, strlen(r->path), path, sizeof(path));
	/* The quotes around it are the only ones. */
	for (char *c = path; *c; c++)
		if (*c == '"')
			*c = '?';
	if (r->generation)
		snprintf(rest, sizeof(rest), ", generation %" PRIu64, r->generation);
	if (suppressed)
		snprintf(left_out, sizeof(left_out), " (%u refused requests left out)", suppressed);
	text = xasprintf("user %s at %s: %u%s (request %s)%s: \"%s %s\"",
			 r->user && *r->user ? r->user : "-", r->address, r->status, rest,
			 r->request, left_out, r->method, path);
	if (is_journal())
		send_fields(r, priority, text, path);
	else if (priority == LOG_DEBUG)
		log_debug("%s", text);
	else
		log_info("%s", text);
}

void audit_write(struct audit *a, const struct audit_record *r, mono_t now)
{
	bool refused = r->status >= 400;
	unsigned suppressed = 0;

	assert(a && r && r->address && r->request && r->method && r->path);
	/* 504: the manager has taken the change, or may have. */
	if (r->changed || (r->is_change && (!refused || r->status == 504))) {
		write_record(r, LOG_NOTICE, 0);
		return;
	}
	if (!r->is_change && r->status != 401 && r->status != 403 && r->status != 429) {
		if (log_wants(LOGB_DEBUG))
			write_record(r, LOG_DEBUG, 0);
		return;
	}
	if (log_allow(&a->refused, now, &suppressed))
		write_record(r, LOG_WARNING, suppressed);
}
