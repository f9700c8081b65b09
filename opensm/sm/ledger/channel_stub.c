#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "ledger/store.h"
#include "util/file.h"
#include "util/mem.h"
#include "sm/channel/channel.h"
bool channel_is_secret(const struct sm *sm) { return false; }
bool channel_has_answered(const struct sm *sm, guid_t guid) { return channel_is_connected(sm, guid); }
struct ledger_store { char *path; };
int ledger_store_open(const char *path, struct ledger_store **ret, bool *fresh, char aside[LEDGER_ASIDE_MAX])
{
	FILE *f = fopen(path, "r");
	*fresh = !f;
	if (!f) f = fopen(path, "w");
	if (!f) return -errno;
	fclose(f);
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->path = xstrdup(path);
	return 0;
}
struct ledger_store *ledger_store_close(struct ledger_store *s) { if (s) free(s->path); free(s); return NULL; }
int ledger_store_load(struct ledger_store *s, struct ledger *l, struct ledger_meta *m)
{
	char *text; size_t len, at = 0; struct ledger_row *row; char p[4096]; FILE *f;
	if (file_read(s->path, 1u << 30, &text, &len) < 0) return -EIO;
	while (at < len) { ssize_t n = ledger_row_unpack((uint8_t *)text + at, len - at, &row); if (n < 0) return -EBADMSG; ledger_merge(l, row); ledger_row_free(row); at += (size_t)n; }
	free(text);
	snprintf(p, sizeof(p), "%s.meta", s->path);
	f = fopen(p, "r");
	if (f) { if (fread(m, sizeof(*m), 1, f) != 1) memset(m, 0, sizeof(*m)); fclose(f); }
	return 0;
}
int ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len, const struct ledger_meta *m)
{
	FILE *f = fopen(s->path, "a"); char p[4096];
	if (!f) return -errno;
	fwrite(rows, 1, len, f);
	if (fclose(f)) return -errno;
	if (m) { snprintf(p, sizeof(p), "%s.meta", s->path); f = fopen(p, "w"); fwrite(m, sizeof(*m), 1, f); fclose(f); }
	return 0;
}
