// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables and entries of tenants as the file of former builds had them
 * (conf/tenants/tenants_import.h), with chain values and digests of 0, which nothing reads any
 * more.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf/tenants/tenants.h"
#include "util/mem.h"

static inline void put_fields(FILE *out, const struct tenant_fields *f)
{
	fprintf(out, " ipoib %s mtu %u rate %u sl %u name \"", f->ipoib ? "true" : "false", f->mtu,
		f->rate, f->sl);
	for (const char *s = f->name; *s; s++)
		fprintf(out, "%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
	fputc('"', out);
}

static inline void put_member(FILE *out, const struct tenant_member *m)
{
	fprintf(out, "+0x%016" PRIx64 "=%s%s", m->guid, m->full ? "full" : "limited",
		m->index0 ? ",index0" : "");
}

/* To be freed. */
static inline char *table_text(const struct tenants *t)
{
	const struct tenant_partition *p;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "opensm-tenants 1 lineage 0x%016x generation %" PRIu64 " time %" PRId64
		     " chain 0x%016x\n",
		7, tenants_generation(t), tenants_changed_at(t), 0);
	for (size_t i = 0; (p = tenants_at(t, i)); i++) {
		fprintf(out, "0x%04x generation %" PRIu64, p->pkey, p->generation);
		put_fields(out, &p->fields);
		fputc('\n', out);
		for (size_t k = 0; k < p->n_members; k++) {
			put_member(out, &p->members[k]);
			fputc('\n', out);
		}
	}
	fprintf(out, "end 0x%016x\n", 0);
	fclose(out);
	return text;
}

static inline void put_row(FILE *out, const struct tenant_row *row)
{
	switch (row->kind) {
	case TENANT_ROW_PARTITION:
		put_fields(out, &row->fields);
		break;
	case TENANT_ROW_GONE:
		fputs(" gone", out);
		break;
	case TENANT_ROW_MEMBER:
		fputc(' ', out);
		put_member(out, &row->member);
		break;
	case TENANT_ROW_LEFT:
		fprintf(out, " -0x%016" PRIx64, row->member.guid);
		break;
	}
}

/* A line behind a table; to be freed. */
static inline char *entry_line(const struct tenant_entry *e)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "%" PRIu64 " %" PRId64, e->generation, e->at);
	for (size_t i = 0; i < e->n_rows; i++) {
		if (!i || e->rows[i].pkey != e->rows[i - 1].pkey)
			fprintf(out, " 0x%04x", e->rows[i].pkey);
		put_row(out, &e->rows[i]);
	}
	fprintf(out, " chain 0x%016x\n", 0);
	fclose(out);
	return text;
}
