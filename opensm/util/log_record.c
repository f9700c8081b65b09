// SPDX-License-Identifier: BSD-2-Clause
/* What a record is about: its fields in the journal, and what makes two records alike. */
#define SD_JOURNAL_SUPPRESS_LOCATION /* ours is always the same */
#include "util/log_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "util/hash.h"
#include "util/mem.h"

static const struct {
	const char *name, *hex;
} ids[LOG_N_IDS] = {
#define ID(name, hex) [LOG_ID_##name] = { #name, hex },
	LOG_IDS(ID)
#undef ID
};

const char *log_id_hex(enum log_id id)
{
	assert(id < LOG_N_IDS);
	return ids[id].hex;
}

const char *log_id_name(enum log_id id)
{
	assert(id < LOG_N_IDS);
	return ids[id].name;
}

/* ---- alike --------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t h, const char *text)
{
	return text ? hash_bytes(h, text, strlen(text) + 1) : h * 31;
}

/*
 * Without a subject, records with the same text are alike. With one: those of the same place in the
 * code, whatever the numbers in the text.
 */
uint64_t log_record_hash(const struct log_record *record, const char *fmt)
{
	const struct log_about *a = record->about;
	uint64_t h = hash_bytes(HASH_START, &fmt, sizeof(fmt));

	if (!a || (!a->node_guid && !a->port_guid && !a->lid && !a->mgid))
		return hash_text(h, record->text) | 1;
	h = hash_bytes(h, &a->id, sizeof(a->id));
	h = hash_bytes(h, &a->node_guid, sizeof(a->node_guid));
	h = hash_bytes(h, &a->port_guid, sizeof(a->port_guid));
	h = hash_bytes(h, &a->port, sizeof(a->port));
	h = hash_bytes(h, &a->lid, sizeof(a->lid));
	h = hash_bytes(h, &a->error, sizeof(a->error));
	h = hash_text(hash_text(hash_text(h, a->attr), a->method), a->status);
	return hash_text(hash_text(h, a->mgid), a->hint) | 1;
}

uint64_t log_record_source(const struct log_record *record)
{
	const struct log_about *a = record->about;

	if (!a || a->local)
		return 0;
	if (a->node_guid)
		return a->node_guid;
	return a->port_guid ? a->port_guid : a->lid;
}

/* ---- the journal ---------------------------------------------------------------------------- */

#define MAX_FIELDS 25
#define FIELD_MAX  160

struct fields {
	struct iovec list[MAX_FIELDS];
	char text[MAX_FIELDS][FIELD_MAX];
	int n;
};

static void add_field(struct fields *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_field(struct fields *f, const char *fmt, ...)
{
	char *text = f->text[f->n];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, FIELD_MAX, fmt, args);
	va_end(args);
	f->list[f->n++] = (struct iovec){ text, (size_t)MIN(len, FIELD_MAX - 1) };
}

static void add_text(struct fields *f, const char *name, const char *text)
{
	if (text && *text)
		add_field(f, "%s=%s", name, text);
}

static void add_guid(struct fields *f, const char *name, guid_t guid)
{
	if (guid)
		add_field(f, "%s=0x%016llx", name, (unsigned long long)guid);
}

static void add_number(struct fields *f, const char *name, uint64_t number)
{
	if (number)
		add_field(f, "%s=%llu", name, (unsigned long long)number);
}

static void add_about(struct fields *f, const struct log_about *a)
{
	add_text(f, "MESSAGE_ID", log_id_hex(a->id));
	add_text(f, "OPENSM_EVENT", log_id_name(a->id));
	add_guid(f, "NODE_GUID", a->node_guid);
	add_text(f, "NODE_DESC", a->name);
	add_guid(f, "PORT_GUID", a->port_guid);
	add_number(f, "PORT", a->port);
	add_number(f, "LID", a->lid);
	add_text(f, "ATTR", a->attr);
	add_text(f, "METHOD", a->method);
	add_text(f, "STATUS", a->status);
	add_text(f, "MGID", a->mgid);
	add_text(f, "FILE", a->file);
	if (a->pkey)
		add_field(f, "PKEY=0x%04x", a->pkey);
	add_number(f, "GENERATION", a->generation);
	add_text(f, "CLIENT", a->client);
	add_number(f, "ERRNO", (uint64_t)a->error);
}

static int priority(unsigned bits)
{
	if (bits & LOGB_ERROR)
		return LOG_ERR;
	if (bits & LOGB_SYS)
		return LOG_NOTICE;
	return bits & LOGB_INFO ? LOG_INFO : LOG_DEBUG;
}

/* OPENSM_LEVEL is the mask of log_bits as hexadecimal number, as in the file. */
void log_write_journal(const struct log_record *record, const char *instance)
{
	char message[TEXT_MAX + 8];
	struct fields f;
	int len = snprintf(message, sizeof(message), "MESSAGE=%s", record->body);

	f.list[0] = (struct iovec){ message, (size_t)MIN(len, (int)sizeof(message) - 1) };
	f.n = 1;
	add_field(&f, "PRIORITY=%d", priority(record->bits));
	add_field(&f, "OPENSM_LEVEL=0x%02x", record->bits);
	/* like records that systemd writes about us */
	add_field(&f, "SYSLOG_IDENTIFIER=opensm");
	add_text(&f, "OPENSM_INSTANCE", instance);
	add_text(&f, "CODE_FUNC", record->func);
	add_number(&f, "REPEATED", record->repeated);
	if (record->about)
		add_about(&f, record->about);
	sd_journal_sendv(f.list, f.n);
}
