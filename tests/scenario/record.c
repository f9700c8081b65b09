// SPDX-License-Identifier: BSD-2-Clause
/*
 * A transport between each manager and its port writes down what passes; the log and the dumps go
 * beside it.
 */
#include "tests/scenario/record.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "dump/dump.h"
#include "ib/mad.h"
#include "ledger/store.h"
#include "tests/scenario/scenario.h"
#include "util/file.h"
#include "util/mem.h"

#define GMP_HEAD 24 /* bytes of the common header */

struct record {
	FILE *mads, *log, *end, *docs;
	struct recorded *taps;
};

/* One manager's port. */
struct recorded {
	struct transport transport;
	struct transport *port; /* of the simulator; not ours */
	struct record *record;
	const char *node;
	struct recorded *next;
};

static FILE *create(const char *prefix, const char *ending)
{
	_cleanup_free_ char *path = xasprintf("%s.%s", prefix, ending);

	return fopen(path, "w");
}

struct record *record_new(const char *prefix)
{
	struct record *r = xcalloc(1, sizeof(*r));

	r->mads = prefix ? create(prefix, "mads") : NULL;
	r->log = prefix ? create(prefix, "log") : NULL;
	r->end = prefix ? create(prefix, "end") : NULL;
	r->docs = prefix ? create(prefix, "docs") : NULL;
	return r->mads && r->log && r->end && r->docs ? r : record_free(r);
}

struct record *record_free(struct record *r)
{
	struct recorded *t;

	if (!r)
		return NULL;
	while ((t = r->taps)) {
		r->taps = t->next;
		free(t);
	}
	if (r->mads)
		fclose(r->mads);
	if (r->log)
		fclose(r->log);
	if (r->end)
		fclose(r->end);
	if (r->docs)
		fclose(r->docs);
	free(r);
	return NULL;
}

/* ---- MADs ---------------------------------------------------------------------------------- */

/* Zeroes at the end are left out. */
static void put_hex(FILE *out, const uint8_t *bytes, size_t length)
{
	while (length && !bytes[length - 1])
		length--;
	for (size_t i = 0; i < length; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc('\n', out);
}

static void put_smp(FILE *out, const uint8_t *mad)
{
	struct dr_path path = { .length = (uint8_t)ib_get(mad, SMP_HOP_COUNT) };
	char route[DR_PATH_STRLEN];

	if (ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR && path.length <= IB_MAX_HOPS) {
		memcpy(path.hop + 1, mad + SMP_INITIAL_PATH + 1, path.length);
		fprintf(out, " -D %s", dr_path_str(&path, route));
	}
	fprintf(out, " key %" PRIx64 " status %x ", ib_get(mad, SMP_M_KEY),
		(unsigned)ib_get(mad, SMP_STATUS));
	put_hex(out, mad + SMP_DATA, SMP_DATA_SIZE);
}

static void put_mad(struct recorded *t, const struct transport_addr *to, const uint8_t *mad,
		    size_t length)
{
	FILE *out = t->record->mads;
	uint8_t class = (uint8_t)ib_get(mad, SMP_CLASS);
	uint16_t attr = (uint16_t)ib_get(mad, SMP_ATTR_ID);

	fprintf(out, "%s class %02x method %02x attr %04x mod %x to %u", t->node, class,
		(unsigned)ib_get(mad, SMP_METHOD), attr, (unsigned)ib_get(mad, SMP_ATTR_MOD),
		to->lid);
	if (class == MAD_CLASS_SMI_DR || class == MAD_CLASS_SMI_LID) {
		put_smp(out, mad);
	} else {
		fputc(' ', out);
		put_hex(out, mad + GMP_HEAD, length - GMP_HEAD);
	}
}

static struct recorded *port_of(struct transport *transport)
{
	return (struct recorded *)transport; /* first member */
}

static int port_fd(struct transport *t)
{
	return transport_fd(port_of(t)->port);
}

static int port_send(struct transport *transport, const struct transport_addr *to,
		    const uint8_t *mad, size_t length, unsigned timeout_ms)
{
	struct recorded *t = port_of(transport);

	put_mad(t, to, mad, length);
	return transport_send(t->port, to, mad, length, timeout_ms);
}

static int port_receive(struct transport *t, struct transport_event *ret)
{
	return transport_receive(port_of(t)->port, ret);
}

static int port_set_issm(struct transport *t, bool on)
{
	return transport_set_issm(port_of(t)->port, on);
}

/* The rig closes the port itself. */
static struct transport *port_close(struct transport *t)
{
	return NULL;
}

static int port_look(struct transport *t, struct transport_port *ret)
{
	return transport_look(port_of(t)->port, ret);
}

static const struct transport_ops port_ops = {
	.fd = port_fd,
	.send = port_send,
	.receive = port_receive,
	.set_issm = port_set_issm,
	.close = port_close,
	.look = port_look,
};

struct transport *record_port(struct record *r, const char *node, struct transport *port)
{
	struct recorded *t = xcalloc(1, sizeof(*t));

	t->transport = (struct transport){ .ops = &port_ops, .port_guid = port->port_guid };
	t->port = port;
	t->record = r;
	t->node = node;
	t->next = r->taps;
	r->taps = t;
	return &t->transport;
}

void record_run(struct record *r, uint64_t seed)
{
	fprintf(r->mads, "seed %" PRIu64 "\n", seed);
	fprintf(r->log, "seed %" PRIu64 "\n", seed);
	fprintf(r->end, "seed %" PRIu64 "\n", seed);
}

void record_text(struct record *r, const char *before, const char *text)
{
	if (!r)
		return;
	fprintf(r->docs, "%s%s\n", before, text);
}

/* ---- the log, and the end ------------------------------------------------------------------- */

void record_log(void *record, unsigned bits, const char *text)
{
	struct record *r = record;

	fprintf(r->log, "%02x %s\n", bits, text);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void copy_and_remove(FILE *out, const char *dir, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name), *text = NULL;
	size_t length;

	fprintf(out, "---- %s\n", name);
	if (file_read(path, 64 << 20, &text, &length) == 0)
		fwrite(text, 1, length, out);
	unlink(path);
}

static void on_dumped(void *arg, const char *error)
{
}

static void put_dumps(FILE *out, const struct sm *sm, const struct conf *conf)
{
	char dir[] = "/tmp/record.XXXXXX";
	const struct dump_config dump = { .dir = mkdtemp(dir), .routing = true, .engine = true };
	struct dirent **names = NULL;
	struct sm_job *job;
	int n;

	if (!dump.dir)
		return;
	job = dump_job_new(sm_view_now(sm, sm_routes(sm), VIEW_TREES), &dump, on_dumped, NULL);
	job->run(job);
	job->done(job);
	n = scandir(dir, &names, is_visible, by_name);
	for (int i = 0; i < n; i++) {
		copy_and_remove(out, dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	rmdir(dir);
}

void record_end(struct record *r, struct rig *rig)
{
	struct sm *master = rig_master(rig);

	fprintf(r->end, "tables %016" PRIx64 "\n", sim_fingerprint(rig->sim));
	if (master)
		put_dumps(r->end, master, sm_conf(master));
}

/* ---- ledgers --------------------------------------------------------------------------------- */

static int put_row(void *out, int n, char **values, char **names)
{
	for (int i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? " " : "", values[i] ? values[i] : "-");
	fputc('\n', out);
	return 0;
}

static void put_ledger(FILE *out, const char *folder, const char *name)
{
	static const char sql[] =
		"SELECT tbl, hex(key), hex(state), removed, number FROM row ORDER BY tbl, key";
	_cleanup_free_ char *path = xasprintf("%s/%s/" LEDGER_FILE, folder, name);
	sqlite3 *db = NULL;

	if (access(path, F_OK) != 0)
		return;
	fprintf(out, "---- ledger of %s: table, key, state, removed, number\n", name);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, sql, put_row, out, NULL) != SQLITE_OK)
		fprintf(out, "it cannot be read: %s\n", sqlite3_errmsg(db));
	sqlite3_close(db);
}

void record_ledgers(struct record *r, const char *folder)
{
	struct dirent **names = NULL;
	int n = r && *folder ? scandir(folder, &names, is_visible, by_name) : 0;

	for (int i = 0; i < n; i++) {
		put_ledger(r->docs, folder, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}
