// SPDX-License-Identifier: BSD-2-Clause
#include "sim/serve/key_files.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keys/key_ring.h"
#include "ledger/store.h"
#include "util/file.h"
#include "util/str.h"

#define FOUND_MAX   8
#define FILE_MAX    (16 << 20)

/* Which file it was that was read: one that is renamed to its place is another. */
struct version {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

struct stored_key {
	guid_t guid;
	uint64_t key;
};

struct folder {
	char *path, *ring_path, *stored_path;
	struct version ring_version, stored_version;
	struct key_ring *ring; /* NULL: there is none that can be read */
	struct stored_key *stored; /* sorted by GUID */
	size_t n_stored;
};

/*
 * The last verdict on an end port, and the files it is based on; in the order of nodes and ports.
 */
struct judged {
	uint64_t key;
	uint32_t reading; /* 0: never */
	bool is_locked_out;
};

struct found {
	int node;
	unsigned port;
	mono_t at;
	struct sim_m_key has;
	char *folder;
};

struct key_files {
	struct sim *sim;
	struct folder folders[KEY_FOLDERS_MAX];
	unsigned n_folders;
	uint32_t reading; /* number of changes of the folders' contents */
	size_t *first;	  /* by node: index into `judged` */
	struct judged *judged;
	unsigned long long looks, locked_out;
	struct found found[FOUND_MAX];
};

/* ---- files ----------------------------------------------------------------------------------- */

static struct version version_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct version){ 0 };
	return (struct version){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
}

static bool is_same(const struct version *a, const struct version *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static void read_ring(struct folder *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	f->ring = key_ring_unref(f->ring);
	if (file_read(f->ring_path, KEY_RING_TEXT, &text, &len) == 0 &&
	    key_ring_read(text, len, &f->ring) < 0)
		f->ring = NULL;
}

static int by_guid(const void *a, const void *b)
{
	const struct stored_key *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* A line is "0xGUID 0xKEY"; empty ones stand between. */
static void read_stored(struct folder *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len, cap = 0;
	uint64_t guid;
	char *end;

	f->n_stored = 0;
	if (file_read(f->stored_path, FILE_MAX, &text, &len) < 0)
		return;
	for (char *at = text; (guid = strtoull(at, &end, 16)) && end != at; at = end) {
		GROW(f->stored, f->n_stored + 1, cap);
		f->stored[f->n_stored++] = (struct stored_key){ guid, strtoull(end, &end, 16) };
	}
	qsort(f->stored, f->n_stored, sizeof(f->stored[0]), by_guid);
}

/* True: a file is another one than before. */
static bool refresh_folder(struct folder *f)
{
	struct version ring = version_of(f->ring_path), stored = version_of(f->stored_path);
	bool has_ring = is_same(&ring, &f->ring_version);
	bool has_stored = is_same(&stored, &f->stored_version);

	f->ring_version = ring;
	f->stored_version = stored;
	if (!has_ring)
		read_ring(f);
	if (!has_stored)
		read_stored(f);
	return !has_ring || !has_stored;
}

static bool refresh(struct key_files *k)
{
	bool changed = false;

	for (unsigned i = 0; i < k->n_folders; i++) {
		if (refresh_folder(&k->folders[i]))
			changed = true;
	}
	if (changed)
		k->reading++;
	return changed;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static bool ring_opens(const struct key_ring *ring, guid_t guid, uint64_t key)
{
	uint64_t former[KEY_RING_FORMER];
	unsigned n;

	if (!ring || key_ring_is_empty(ring))
		return false;
	if (key_ring_key(ring, guid) == key)
		return true;
	n = key_ring_former(ring, guid, former, KEY_RING_FORMER);
	for (unsigned i = 0; i < n; i++) {
		if (former[i] == key)
			return true;
	}
	return false;
}

static bool folder_opens(const struct folder *f, guid_t guid, uint64_t key)
{
	const struct stored_key asked = { guid, 0 }, *stored = NULL;

	if (ring_opens(f->ring, guid, key))
		return true;
	if (f->n_stored)
		stored = bsearch(&asked, f->stored, f->n_stored, sizeof(asked), by_guid);
	/* Or the one behind it: its manager may have died when that was written. */
	return stored && (stored->key == key ||
			  (f->ring && key_ring_after(f->ring, guid, stored->key) == key));
}

/* ---- the ledger: rows count before the files have what they say ------------------------------ */

static bool copy_file(const char *from, const char *to, const char *name)
{
	_cleanup_free_ char *source = xasprintf("%s/%s", from, name), *text = NULL;
	_cleanup_free_ char *copy = xasprintf("%s/%s", to, name);
	size_t len;
	FILE *out;

	unlink(copy);
	if (file_read(source, FILE_MAX, &text, &len) < 0)
		return false;
	out = fopen(copy, "w");
	if (!out)
		return false;
	fwrite(text, 1, len, out);
	return fclose(out) == 0;
}

/* Each by itself: which one is in force makes no difference. */
static bool seeds_open(const struct ledger *l, guid_t guid, uint64_t key)
{
	const struct ledger_row *row;

	for (size_t pos = 0; (row = ledger_next(l, LEDGER_SEED, &pos));) {
		_cleanup_(key_ring_unrefp) struct key_ring *ring = key_ring_new();
		struct ledger_value v = ledger_row_value(row);

		if (!v.removed && v.len >= KEY_SEED_SENT && key_ring_take(ring, v.bytes) &&
		    ring_opens(ring, guid, key))
			return true;
	}
	return false;
}

static bool copied_ledger_opens(const char *dir, guid_t guid, uint64_t key)
{
	_cleanup_free_ char *path = xasprintf("%s/" LEDGER_FILE, dir);
	_cleanup_(ledger_freep) struct ledger *l = ledger_new();
	_cleanup_(ledger_store_closep) struct ledger_store *store = NULL;
	char aside[LEDGER_ASIDE_MAX];
	struct ledger_meta meta;
	bool fresh;

	return ledger_store_open(path, &store, &fresh, aside) == 0 &&
	       ledger_store_load(store, l, &meta) == 0 && seeds_open(l, guid, key);
}

static void remove_copy(const char *dir)
{
	static const char *const names[] = { LEDGER_FILE, LEDGER_FILE "-wal" };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, names[i]);

		unlink(path);
	}
	rmdir(dir);
}

/* Its manager keeps the file locked. A copy is as good as what a kill would leave. */
static bool ledger_opens(const struct folder *f, guid_t guid, uint64_t key)
{
	char dir[] = "/tmp/opensm-judge.XXXXXX";
	bool opens;

	if (!mkdtemp(dir))
		return false;
	copy_file(f->path, dir, LEDGER_FILE "-wal");
	opens = copy_file(f->path, dir, LEDGER_FILE) && copied_ledger_opens(dir, guid, key);
	remove_copy(dir);
	return opens;
}

static const struct folder *closed_folder(const struct key_files *k, const struct sim_m_key *has)
{
	for (unsigned i = 0; i < k->n_folders; i++) {
		if (!folder_opens(&k->folders[i], has->guid, has->key) &&
		    !ledger_opens(&k->folders[i], has->guid, has->key))
			return &k->folders[i];
	}
	return NULL;
}

static void look(struct key_files *k, int node, unsigned port, struct judged *j)
{
	const struct folder *closed = NULL;
	struct sim_m_key has;

	if (!sim_port_m_key(k->sim, node, port, &has))
		return;
	if (!has.protect) /* anyone may read the key */
		has.key = 0;
	if (j->reading == k->reading && j->key == has.key)
		return;
	k->looks++;
	if (has.key)
		closed = closed_folder(k, &has);
	if (closed && !j->is_locked_out) {
		if (k->locked_out < FOUND_MAX)
			k->found[k->locked_out] = (struct found){
				node, port, sim_now(k->sim), has, xstrdup(closed->path)
			};
		k->locked_out++;
	}
	*j = (struct judged){ has.key, k->reading, closed };
}

static void look_at_node(struct key_files *k, int node)
{
	for (unsigned p = 0; p <= sim_node_ports(k->sim, node); p++)
		look(k, node, p, &k->judged[k->first[node] + p]);
}

static void look_at_all(struct key_files *k)
{
	for (int i = 0; i < (int)sim_n_nodes(k->sim); i++)
		look_at_node(k, i);
}

static void on_set(void *arg, int node)
{
	struct key_files *k = arg;

	if (refresh(k))
		look_at_all(k);
	else
		look_at_node(k, node);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void free_folder(struct folder *f)
{
	key_ring_unref(f->ring);
	free(f->stored);
	free(f->path);
	free(f->ring_path);
	free(f->stored_path);
	*f = (struct folder){ 0 };
}

static void set_folders(struct key_files *k, char *const *folders, unsigned n)
{
	assert(n <= KEY_FOLDERS_MAX);
	for (unsigned i = 0; i < k->n_folders; i++)
		free_folder(&k->folders[i]);
	k->n_folders = n;
	for (unsigned i = 0; i < n; i++) {
		k->folders[i].path = xstrdup(folders[i]);
		k->folders[i].ring_path = xasprintf("%s/m_key_ring", folders[i]);
		k->folders[i].stored_path = xasprintf("%s/guid2mkey", folders[i]);
	}
}

struct key_files *key_files_new(struct sim *sim, char *const *folders, unsigned n)
{
	struct key_files *k = xcalloc(1, sizeof(*k));
	unsigned n_nodes = sim_n_nodes(sim);
	size_t n_ports = 0;

	k->sim = sim;
	k->first = xcalloc(n_nodes + 1, sizeof(k->first[0]));
	for (unsigned i = 0; i < n_nodes; i++) {
		k->first[i] = n_ports;
		n_ports += sim_node_ports(sim, (int)i) + 1;
	}
	k->judged = xcalloc(n_ports + 1, sizeof(k->judged[0]));
	sim_on_set(sim, on_set, k);
	key_files_follow(k, folders, n);
	return k;
}

struct key_files *key_files_free(struct key_files *k)
{
	if (!k)
		return NULL;
	sim_on_set(k->sim, NULL, NULL);
	set_folders(k, NULL, 0);
	for (unsigned i = 0; i < FOUND_MAX; i++)
		free(k->found[i].folder);
	free(k->first);
	free(k->judged);
	free(k);
	return NULL;
}

void key_files_follow(struct key_files *k, char *const *folders, unsigned n)
{
	set_folders(k, folders, n);
	refresh(k);
	k->reading++;
	look_at_all(k);
}

/* ---- what was found -------------------------------------------------------------------------- */

unsigned long long key_files_locked_out(const struct key_files *k)
{
	return k->locked_out;
}

void key_files_show(const struct key_files *k, FILE *out)
{
	fprintf(out, "key_files %u\njudged %llu\nlocked_out %llu\n", k->n_folders, k->looks,
		k->locked_out);
	for (unsigned i = 0; i < FOUND_MAX && k->found[i].folder; i++) {
		const struct found *f = &k->found[i];

		fprintf(out, "locked_out %s port %u at %.6f: key 0x%016llx level %u: not in %s\n",
			sim_node_id(k->sim, f->node), f->port, (double)f->at / (double)MONO_S,
			(unsigned long long)f->has.key, f->has.protect, f->folder);
	}
}
