// SPDX-License-Identifier: BSD-2-Clause
/*
 * The container of a routing result: rows of bytes and the topo they belong to. Knows no engine.
 *
 * Large tables are written into huge pages. Before something is derived from them they are moved
 * into a file without a name (memfd), at the same address: what is derived maps the same file
 * privately, so that pages that are written become its own and the others stay shared. The file
 * never changes. Where there are no such files, tables are copied. Not in a file from the
 * beginning, because a page of it costs fifteen times what it costs elsewhere.
 *
 * Where a switch left the topo, the tables without it borrow the rows of those with it.
 *
 * Derived tables keep a journal of their writes, so that differences need no search. They also
 * reuse the mapping of tables that have no reference left, if journals tell the differences: pages
 * already copied then cost nothing.
 */
#include "route/core/routes.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/bisect.h"
#include "util/raw.h"

#define FILE_MIN (1u << 20) /* smaller tables are copied faster */
#define FILE_PART (4u << 20)
#define PAGE 4096u
#define SHARED_MIN (32u << 20) /* smaller ones may have all pages for themselves */

#define ORIGINS 3

/* Identity of one state of tables; lives as long as a journal refers to it. */
struct mark {
	_Atomic unsigned refs;
};

struct routes_journal {
	struct mark *mark; /* of the tables themselves */
	struct origin {
		struct mark *mark;
		size_t first; /* entries from there on were written since */
	} origins[ORIGINS];
	unsigned n_origins;
	struct routes_entry *entries;
	size_t n, cap;
};

/* An unused mapping whose rows are those of its journal's mark. */
struct spare {
	uint8_t *lft;
	uint32_t gap; /* as in routes */
	uint64_t *written;
	struct routes_journal *journal;
};

struct routes_file {
	_Atomic unsigned refs;
	int fd;
	size_t size;
	struct spare *_Atomic spare;
};

static struct mark *mark_unref(struct mark *m)
{
	if (m && !--m->refs)
		free(m);
	return NULL;
}

static struct routes_journal *journal_new(void)
{
	struct routes_journal *j = xcalloc(1, sizeof(*j));

	j->mark = xcalloc(1, sizeof(*j->mark));
	j->mark->refs = 1;
	return j;
}

static struct routes_journal *journal_free(struct routes_journal *j)
{
	if (!j)
		return NULL;
	mark_unref(j->mark);
	for (unsigned i = 0; i < j->n_origins; i++)
		mark_unref(j->origins[i].mark);
	FREE_ALL(j->entries, j);
	return NULL;
}

/* That of `r`, made if there is none. Two threads may derive from the same. */
static struct routes_journal *journal_of(const struct routes *r)
{
	struct routes_journal *none = NULL, *new = r->cache->journal;

	if (new)
		return new;
	new = journal_new();
	if (atomic_compare_exchange_strong(&r->cache->journal, &none, new))
		return new;
	journal_free(new);
	return none;
}

/* Tables that are those of `before` so far, with what those came from but for the oldest. */
static struct routes_journal *journal_derive(const struct routes *before)
{
	const struct routes_journal *old = journal_of(before);
	struct routes_journal *j = journal_new();
	unsigned from = old->n_origins == ORIGINS;
	size_t skip = old->n_origins > from ? old->origins[from].first : old->n;

	for (unsigned i = from; i < old->n_origins; i++)
		j->origins[j->n_origins++] =
			(struct origin){ old->origins[i].mark, old->origins[i].first - skip };
	j->n = j->cap = old->n - skip;
	if (j->n)
		j->entries = xmemdup(old->entries + skip, j->n * sizeof(*j->entries));
	j->origins[j->n_origins++] = (struct origin){ old->mark, j->n };
	for (unsigned i = 0; i < j->n_origins; i++)
		j->origins[i].mark->refs++;
	return j;
}

static size_t rows_size(const struct routes *r)
{
	return ((size_t)r->topo->n_switches + (r->gap != ROUTES_NO_GAP)) * r->row_size;
}

static void spare_free(struct spare *spare, size_t size)
{
	if (!spare)
		return;
	munmap(spare->lft, size);
	journal_free(spare->journal);
	FREE_ALL(spare->written, spare);
}

static struct routes_file *file_unref(struct routes_file *f)
{
	if (!f || --f->refs)
		return NULL;
	spare_free(f->spare, f->size);
	raw_close(f->fd);
	free(f);
	return NULL;
}

/* Keeps the mapping of `r`, which is about to be freed, for the next routes_derive(). */
static void leave_mapping(struct routes *r)
{
	const struct spare spare = { take(r->lft), r->gap, take(r->written),
				     atomic_exchange(&r->cache->journal, NULL) };

	spare_free(atomic_exchange(&r->cache->file->spare, xmemdup(&spare, sizeof(spare))),
		   r->cache->file->size);
}

/* Room for large rows, in pages of their own. */
static bool map_rows(struct routes *r)
{
	size_t size = rows_size(r);
	void *p;

	if (size < FILE_MIN)
		return false;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	madvise(p, size, MADV_HUGEPAGE);
	r->lft = p;
	r->mapped = true;
	return true;
}

/* Moves `n` bytes of `rows` from `at` on to `file`, and maps them from there at their place. */
static bool move_rows(int fd, uint8_t *rows, size_t at, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = pwrite(fd, rows + at + done, n - done, (off_t)(at + done));

		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return mmap(rows + at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)at) !=
	       MAP_FAILED;
}

/* Part after part, so that few bytes exist twice. Other threads may read the rows all the while. */
static struct routes_file *move_to_file(const struct routes *r)
{
	size_t size = rows_size(r);
	int fd = memfd_create("routes", MFD_CLOEXEC);
	bool moved = fd >= 0;

	for (size_t at = 0; moved && at < size; at += FILE_PART)
		moved = move_rows(fd, r->lft, at, MIN(FILE_PART, size - at));
	if (!moved) {
		if (fd >= 0)
			raw_close(fd);
		return NULL;
	}
	return xmemdup(&(struct routes_file){ .refs = 1, .fd = fd, .size = size },
		       sizeof(struct routes_file));
}

void routes_settle(const struct routes *r)
{
	if (!r->mapped || r->cache->file)
		return;
	/* Two threads may derive from the same. */
#pragma omp critical(routes_settle)
	if (!r->cache->file)
		r->cache->file = move_to_file(r); /* invisible to readers */
}

/* Without rows. */
static struct routes *make_routes(const struct topo *topo, const char *engine, lid_t top,
				  uint32_t gap)
{
	struct routes *r = xcalloc(1, sizeof(*r));

	assert(topo && engine);
	r->refs = 1;
	r->cache = xcalloc(1, sizeof(*r->cache));
	r->topo = topo_ref(topo);
	snprintf(r->engine, sizeof(r->engine), "%s", engine);
	r->top = top;
	r->row_size = ((uint32_t)top + LFT_BLOCK_LIDS) / LFT_BLOCK_LIDS * LFT_BLOCK_LIDS;
	r->gap = gap;
	return r;
}

struct routes *routes_new_unset(const struct topo *topo, const char *engine, lid_t top)
{
	struct routes *r = make_routes(topo, engine, top, ROUTES_NO_GAP);
	size_t size = rows_size(r);

	if (size && !map_rows(r))
		r->lft = xmalloc_aligned64(size);
	return r;
}

struct routes *routes_new(const struct topo *topo, const char *engine, lid_t top)
{
	struct routes *r = routes_new_unset(topo, engine, top);

	if (r->lft)
		memset(r->lft, LFT_NO_PORT, rows_size(r));
	return r;
}

/* The last page may be in part. */
static size_t count_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE;
}

static size_t page_words(size_t size)
{
	return (count_pages(size) + 63) / 64;
}

/* Those of word `i` of the bits that stand for pages of `size` bytes. */
static uint64_t real_pages(size_t size, size_t i)
{
	size_t pages = count_pages(size), first = 64 * i;

	if (first >= pages)
		return 0;
	return pages - first < 64 ? (UINT64_C(1) << (pages - first)) - 1 : UINT64_MAX;
}

/* What was written in `j` since the tables of `mark`; SIZE_MAX: it does not come from there. */
static size_t written_since(const struct routes_journal *j, const struct mark *mark)
{
	for (unsigned i = 0; i < j->n_origins; i++)
		if (j->origins[i].mark == mark)
			return j->origins[i].first;
	return SIZE_MAX;
}

/* Brings a spare mapping up to date. False: there is none that has to do with `before`. */
static bool reuse_mapping(struct routes *r, const struct routes *before)
{
	struct spare *spare = atomic_exchange(&before->cache->file->spare, NULL);
	const struct routes_journal *j = before->cache->journal;
	size_t from = SIZE_MAX;

	if (spare && j && spare->gap == r->gap) {
		from = written_since(j, spare->journal->mark);
		if (from == SIZE_MAX) {
			j = spare->journal;
			from = written_since(j, before->cache->journal->mark);
		}
	}
	if (from == SIZE_MAX) {
		spare_free(spare, before->cache->file->size);
		return false;
	}
	r->lft = spare->lft;
	r->written = spare->written;
	for (size_t i = from; i < j->n; i++)
		routes_write(r, j->entries[i].sw, j->entries[i].lid,
			     routes_port(before, j->entries[i].sw, j->entries[i].lid));
	journal_free(spare->journal);
	free(spare);
	return true;
}

static size_t count_written(const uint64_t *written, size_t words)
{
	size_t n = 0;

	for (size_t i = 0; written && i < words; i++)
		n += (size_t)__builtin_popcountll(written[i]);
	return n;
}

static bool map_file(struct routes *r, const struct routes *before, size_t words)
{
	size_t size = rows_size(r);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, before->cache->file->fd, 0);

	if (p == MAP_FAILED)
		return false;
	r->lft = p;
	r->written = xcalloc(words, sizeof(*r->written));
	for (size_t i = 0; before->written && i < words; i++) {
		assert(!(before->written[i] & ~real_pages(size, i)));
		r->written[i] = before->written[i] & real_pages(size, i);
		for (uint64_t left = r->written[i]; left; left &= left - 1) {
			size_t at = (64 * i + (size_t)__builtin_ctzll(left)) * PAGE;

			/* at < size: it is a real page */
			memcpy(r->lft + at, before->lft + at, MIN(PAGE, size - at));
		}
	}
	return true;
}

/* Maps the file of `before`, copies the pages of its own. False: impossible, or not worth it. */
static bool derive_file(struct routes *r, const struct routes *before)
{
	size_t size = rows_size(r), words = page_words(size);

	if (before->cache->brief && size <= SHARED_MIN)
		return false;
	routes_settle(before);
	if (!before->cache->file ||
	    (size > SHARED_MIN && count_written(before->written, words) * 2 * PAGE > size))
		return false;
	if (!reuse_mapping(r, before) && !map_file(r, before, words))
		return false;
	r->mapped = true;
	r->cache->file = before->cache->file;
	r->cache->file->refs++;
	return true;
}

struct routes *routes_derive(const struct topo *topo, const struct routes *before)
{
	struct routes *r = make_routes(topo, before->engine, before->top, before->gap);

	assert(topo->n_switches == before->topo->n_switches && r->row_size == before->row_size);
	if (rows_size(r) && !derive_file(r, before)) {
		routes_unref(r);
		r = routes_new_unset(topo, before->engine, before->top);
		for (uint32_t s = 0; s < topo->n_switches; s++)
			memcpy(routes_row(r, s), routes_row(before, s), r->row_size);
	}
	r->cache->journal = journal_derive(before);
	return r;
}

struct routes *routes_borrow(const struct topo *topo, const struct routes *lender, uint32_t gap)
{
	struct routes *r;

	if (!lender->cache->file || lender->gap != ROUTES_NO_GAP)
		return NULL;
	assert(topo->n_switches + 1 == lender->topo->n_switches);
	r = make_routes(topo, lender->engine, lender->top, gap);
	r->lft = lender->lft;
	r->lender = routes_ref(lender);
	r->cache->file = lender->cache->file;
	r->cache->file->refs++;
	if (lender->written)
		r->written = xmemdup(lender->written,
				     page_words(rows_size(r)) * sizeof(*r->written));
	return r;
}

bool routes_are_by(const struct routes *r, const char *engine)
{
	return r && (!strcmp(r->engine, engine) || !strcmp(r->by, engine));
}

static void write_entry(struct routes *r, size_t at, uint8_t port)
{
	r->lft[at] = port;
	if (r->written)
		r->written[at / PAGE / 64] |= UINT64_C(1) << at / PAGE % 64;
}

void routes_write(struct routes *r, uint32_t sw, lid_t lid, uint8_t port)
{
	size_t at = (size_t)(routes_row(r, sw) - r->lft) + lid;
	struct routes_journal *j = r->cache->journal;

	assert(sw < r->topo->n_switches && lid < r->row_size);
	if (r->lft[at] == port)
		return;
	if (j)
		APPEND(j->entries, j->n, j->cap) =
			(struct routes_entry){ sw, lid, .port = r->lft[at], .now = port };
	write_entry(r, at, port);
}

size_t routes_mark(struct routes *r)
{
	return journal_of(r)->n;
}

void routes_rewind(struct routes *r, size_t mark)
{
	struct routes_journal *j = r->cache->journal;

	assert(j && mark <= j->n);
	while (j->n > mark) {
		const struct routes_entry *last = &j->entries[--j->n];

		write_entry(r, (size_t)(routes_row(r, last->sw) - r->lft) + last->lid, last->port);
	}
}

void routes_touch(struct routes *r)
{
	size_t size = rows_size(r);

	for (size_t i = 0; r->written && i < page_words(size); i++)
		r->written[i] = real_pages(size, i);
	r->cache->journal = journal_free(r->cache->journal);
}

/* Of `n` entries, of `keys` LIDs or switches: those with the same stay in order. */
static void sort_entries(const struct routes_entry *from, struct routes_entry *to, size_t n,
			 bool by_switch, uint32_t keys)
{
	_cleanup_free_ size_t *first = xcalloc(keys + 2u, sizeof(*first));

	SORT_BY_KEY(from, to, n, by_switch ? from[i].sw : from[i].lid, keys, first);
}

/* The first of several for an entry says what it was, the last what it is. */
struct routes_entry *routes_changes_since(const struct routes *r, size_t mark, size_t *ret_n)
{
	const struct routes_journal *j = r->cache->journal;
	_cleanup_free_ struct routes_entry *by_lid = NULL;
	struct routes_entry *all;
	size_t n, left = 0;

	assert(j && mark <= j->n);
	n = j->n - mark;
	by_lid = xmalloc((n + 1) * sizeof(*by_lid));
	all = xmalloc((n + 1) * sizeof(*all));
	sort_entries(j->entries + mark, by_lid, n, false, r->row_size);
	sort_entries(by_lid, all, n, true, r->topo->n_switches);
	for (size_t i = 0, next; i < n; i = next) {
		struct routes_entry e = all[i];

		for (next = i + 1; next < n && all[next].sw == e.sw && all[next].lid == e.lid;)
			e.now = all[next++].now;
		if (e.now != e.port)
			all[left++] = e;
	}
	*ret_n = left;
	return all;
}

struct routes_entry *routes_changes(const struct routes *before, const struct routes *now,
				    size_t *ret_n)
{
	const struct routes_journal *was = before->cache->journal, *j = now->cache->journal;
	size_t mark = was && j ? written_since(j, was->mark) : SIZE_MAX;

	return mark == SIZE_MAX ? NULL : routes_changes_since(now, mark, ret_n);
}

struct routes_entry *routes_sort_by_lid(struct routes_entry *entries, size_t n, unsigned top,
					size_t *first)
{
	struct routes_entry *sorted = xmalloc((n + 1) * sizeof(*sorted));

	SORT_BY_KEY(entries, sorted, n, entries[i].lid, top + 1u, first);
	free(entries);
	return sorted;
}

void routes_stand_for(struct routes *now, const struct routes *r, const struct routes *same)
{
	struct routes_journal *j = now->cache->journal;
	size_t first = j ? written_since(j, journal_of(r)->mark) : SIZE_MAX;

	if (first == SIZE_MAX)
		return;
	if (j->n_origins == ORIGINS) {
		mark_unref(j->origins[0].mark);
		memmove(j->origins, j->origins + 1, --j->n_origins * sizeof(*j->origins));
	}
	j->origins[j->n_origins++] = (struct origin){ journal_of(same)->mark, first };
	journal_of(same)->mark->refs++;
}

bool routes_are_alike(const struct routes *a, const struct routes *b)
{
	if (!a || !b || a->topo->n_switches != b->topo->n_switches || a->row_size != b->row_size)
		return false;
	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		if (a->topo->switches[s].guid != b->topo->switches[s].guid)
			return false;
	return true;
}

bool routes_are_same(const struct routes *before, const struct routes *now)
{
	_cleanup_free_ struct routes_entry *changes = NULL;
	size_t n = 0;

	if (!routes_are_alike(before, now))
		return false;
	changes = routes_changes(before, now, &n);
	for (uint32_t s = 0; !changes && !n && s < now->topo->n_switches; s++)
		n = memcmp(routes_row(before, s), routes_row(now, s), now->row_size) != 0;
	return !n;
}

uint32_t routes_add_load(const struct routes *r, uint32_t sw, lid_t lid, uint32_t by,
			 uint32_t *load)
{
	uint32_t most = 0, channel = routes_channel(r, sw, lid);

	for (uint32_t hops = 0; channel != TOPO_NONE && hops < r->topo->n_switches; hops++) {
		load[channel] += by;
		most = MAX(most, load[channel]);
		channel = routes_channel(r, r->topo->ports[channel].sw, lid);
	}
	return most;
}

void routes_guard(const struct routes *r)
{
	if (r && r->mapped && r->cache->file && !r->written)
		mprotect(r->lft, rows_size(r), PROT_READ);
}

int routes_fd(const struct routes *r)
{
	return r && r->cache->file ? r->cache->file->fd : -1;
}

struct routes *routes_ref(const struct routes *r)
{
	struct routes *shared = as_owner(r);

	if (shared)
		shared->refs++;
	return shared;
}

struct routes *routes_unref(const struct routes *shared)
{
	struct routes *r = as_owner(shared);

	if (!r || --r->refs)
		return NULL;
	if (r->mapped && r->written && r->cache->journal)
		leave_mapping(r);
	if (r->mapped && r->lft)
		munmap(r->lft, rows_size(r));
	else if (!r->lender)
		free(r->lft);
	routes_unref(r->lender);
	file_unref(r->cache->file);
	topo_unref(r->topo);
	FREE_ALL(r->written, r->hops, r->places, r->downs, r->judged, r->master_tree);
	sl2vl_free(r->lanes);
	journal_free(r->cache->journal);
	routes_unref(r->cache->alike);
	if (r->cache->proof)
		r->cache->proof_free(r->cache->proof);
	if (r->cache->graph)
		r->cache->graph_free(r->cache->graph);
	FREE_ALL(r->cache, r);
	return NULL;
}
