// SPDX-License-Identifier: BSD-2-Clause
/*
 * State that survives a restart, in memory: three maps, and writing them. Reading is store_read.c.
 *
 * A file differs from its map (`dirty`) from the first change until an image of it is made: a sweep
 * that changes nothing writes nothing.
 */
#include "fabric/store.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/store_internal.h"
#include "util/file.h"
#include "util/mem.h"

#define MAX_PORTS 256

/* Keys are secrets, hence the mode; the other files are as readable as OpenSM's. */
static const struct file_type {
	const char *name;
	bool secret;
	void (*write)(const struct store *s, guid_t guid, const void *value, FILE *out);
} types[STORE_FILES];

const char *store_file_name(enum store_file which)
{
	return types[which].name;
}

struct store *store_new(const char *dir, bool durable)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->dir = xstrdup(dir);
	s->durable = durable;
	for (unsigned i = 0; i < STORE_FILES; i++)
		s->map[i] = guidmap_new();
	return s;
}

struct store *store_free(struct store *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < STORE_FILES; i++) {
		store_forget(s, i);
		guidmap_free(s->map[i]);
	}
	free(s->dir);
	free(s);
	return NULL;
}

void store_forget(struct store *s, enum store_file which)
{
	size_t pos = 0;
	void *value;
	guid_t guid;

	if (guidmap_count(s->map[which]) == 0)
		return;
	while (guidmap_next(s->map[which], &pos, &guid, &value)) {
		if (which == STORE_MKEYS)
			explicit_bzero(value, sizeof(struct store_key));
		free(value);
	}
	guidmap_free(s->map[which]);
	s->map[which] = guidmap_new();
	s->dirty[which] = true;
}

static size_t count_cables(const struct store *s)
{
	size_t pos = 0, n = 0;
	void *value;
	guid_t guid;

	while (guidmap_next(s->map[STORE_NEIGHBORS], &pos, &guid, &value))
		n += ((struct store_cables *)value)->n;
	return n;
}

size_t store_count(const struct store *s, enum store_file which)
{
	return which == STORE_NEIGHBORS ? count_cables(s) : guidmap_count(s->map[which]);
}

/* guid2lid */

bool store_lids(const struct store *s, guid_t guid, lid_t *ret_min, lid_t *ret_max)
{
	const struct store_range *r = guidmap_get(s->map[STORE_LIDS], guid);

	if (!r)
		return false;
	*ret_min = r->min;
	*ret_max = r->max;
	return true;
}

void store_set_lids(struct store *s, guid_t guid, lid_t min, lid_t max)
{
	struct store_range *r = guidmap_get(s->map[STORE_LIDS], guid);

	if (r && r->min == min && r->max == max)
		return;
	if (!r) {
		r = xcalloc(1, sizeof(*r));
		guidmap_put(s->map[STORE_LIDS], guid, r);
	}
	*r = (struct store_range){ .min = min, .max = max };
	s->dirty[STORE_LIDS] = true;
}

void store_drop_lids(struct store *s, guid_t guid)
{
	struct store_range *r = guidmap_remove(s->map[STORE_LIDS], guid);

	if (r)
		s->dirty[STORE_LIDS] = true;
	free(r);
}

bool store_next_lids(const struct store *s, size_t *pos, guid_t *ret_guid, lid_t *ret_min,
		     lid_t *ret_max)
{
	const struct store_range *r;
	void *value;

	if (!guidmap_next(s->map[STORE_LIDS], pos, ret_guid, &value))
		return false;
	r = value;
	*ret_min = r->min;
	*ret_max = r->max;
	return true;
}

static void write_range(const struct store *s, guid_t guid, const void *value, FILE *out)
{
	const struct store_range *r = value;

	fprintf(out, "0x%016" PRIx64 " 0x%04x 0x%04x\n\n", guid, r->min, r->max);
}

/* guid2mkey */

bool store_mkey(const struct store *s, guid_t port_guid, uint64_t *ret_key)
{
	const struct store_key *have = guidmap_get(s->map[STORE_MKEYS], port_guid);

	if (have)
		*ret_key = have->key;
	return have;
}

void store_set_mkey(struct store *s, guid_t port_guid, uint64_t key)
{
	struct store_key *have = guidmap_get(s->map[STORE_MKEYS], port_guid);

	if (have)
		have->is_former = false;
	if (have && have->key == key)
		return;
	if (!have) {
		have = xcalloc(1, sizeof(*have));
		guidmap_put(s->map[STORE_MKEYS], port_guid, have);
	}
	have->key = key;
	s->dirty[STORE_MKEYS] = true;
}

void store_set_mkey_former(struct store *s, guid_t port_guid)
{
	struct store_key *have = guidmap_get(s->map[STORE_MKEYS], port_guid);

	if (have)
		have->is_former = true;
}

bool store_mkey_is_former(const struct store *s, guid_t port_guid)
{
	const struct store_key *have = guidmap_get(s->map[STORE_MKEYS], port_guid);

	return have && have->is_former;
}

bool store_next_mkey(const struct store *s, size_t *pos, guid_t *ret_guid, uint64_t *ret_key)
{
	void *value;

	if (!guidmap_next(s->map[STORE_MKEYS], pos, ret_guid, &value))
		return false;
	*ret_key = ((const struct store_key *)value)->key;
	return true;
}

static void write_mkey(const struct store *s, guid_t guid, const void *value, FILE *out)
{
	const struct store_key *k = value;

	fprintf(out, "0x%016" PRIx64 " 0x%016" PRIx64 "\n\n", guid, k->key);
}

/* neighbors */

struct store_end *store_end_at(const struct store *s, guid_t guid, uint8_t port)
{
	struct store_cables *c = guidmap_get(s->map[STORE_NEIGHBORS], guid);

	return c && port < c->cap && c->ends[port].guid ? &c->ends[port] : NULL;
}

static void put_at(struct store_cables *c, uint8_t port, const struct store_end *end)
{
	struct store_end *at = &c->ends[port], now = *end;

	memcpy(now.former, at->former, sizeof(now.former));
	if (at->guid && at->guid != end->guid && at->guid != at->former[0]) {
		now.former[1] = at->former[0];
		now.former[0] = at->guid;
	}
	c->n += (end->guid != 0) - (at->guid != 0);
	*at = now;
}

void store_put_end(struct store *s, guid_t guid, uint8_t port, const struct store_end *end)
{
	struct store_cables *c = guidmap_get(s->map[STORE_NEIGHBORS], guid);

	if (!c) {
		c = xcalloc(1, sizeof(*c) + (port + 1u) * sizeof(c->ends[0]));
		c->cap = port + 1u;
		guidmap_put(s->map[STORE_NEIGHBORS], guid, c);
	} else if (port >= c->cap) {
		unsigned old = c->cap, cap = MIN(MAX(port + 1u, 2 * old), MAX_PORTS);

		c = xrealloc(c, 1, sizeof(*c) + cap * sizeof(c->ends[0]));
		memset(&c->ends[old], 0, (cap - old) * sizeof(c->ends[0]));
		c->cap = cap;
		guidmap_put(s->map[STORE_NEIGHBORS], guid, c);
	}
	put_at(c, port, end);
}

guid_t store_former_neighbor(const struct store *s, guid_t guid, uint8_t port, unsigned nth)
{
	const struct store_cables *c = guid ? guidmap_get(s->map[STORE_NEIGHBORS], guid) : NULL;

	assert(nth < STORE_FORMER);
	return c && port < c->cap ? c->ends[port].former[nth] : 0;
}

bool store_neighbor(const struct store *s, guid_t guid, uint8_t port, guid_t *ret_guid,
		    uint8_t *ret_port)
{
	const struct store_end *end = guid ? store_end_at(s, guid, port) : NULL;

	if (!end)
		return false;
	*ret_guid = end->guid;
	*ret_port = end->port;
	return true;
}

bool store_neighbor_of(const struct store *s, guid_t guid, guid_t *ret_guid, uint8_t *ret_port)
{
	const struct store_cables *c = guid ? guidmap_get(s->map[STORE_NEIGHBORS], guid) : NULL;

	for (unsigned port = 0; c && port < c->cap; port++)
		if (c->ends[port].guid)
			return store_neighbor(s, guid, (uint8_t)port, ret_guid, ret_port);
	return false;
}

unsigned store_n_neighbors(const struct store *s, guid_t guid)
{
	const struct store_cables *c = guid ? guidmap_get(s->map[STORE_NEIGHBORS], guid) : NULL;

	return c ? c->n : 0;
}

bool store_only_neighbor(const struct store *s, guid_t guid, guid_t *ret_guid, uint8_t *ret_port)
{
	const struct store_cables *c = guid ? guidmap_get(s->map[STORE_NEIGHBORS], guid) : NULL;

	for (unsigned port = 1; c && c->n == 1 && port < c->cap; port++) {
		if (store_neighbor(s, guid, (uint8_t)port, ret_guid, ret_port))
			return true;
	}
	return false;
}

/* Takes the cable out that is known at this port, both directions. */
static void unplug(struct store *s, guid_t guid, uint8_t port)
{
	const struct store_end none = { 0 }, *end = store_end_at(s, guid, port);
	struct store_end far;

	if (!end)
		return;
	far = *end;
	store_put_end(s, far.guid, far.port, &none);
	store_put_end(s, guid, port, &none);
}

void store_set_neighbor(struct store *s, guid_t a, uint8_t a_port, guid_t b, uint8_t b_port)
{
	const struct store_end *end = store_end_at(s, a, a_port);

	if (end && end->guid == b && end->port == b_port)
		return;
	unplug(s, a, a_port);
	unplug(s, b, b_port);
	store_put_end(s, a, a_port, &(struct store_end){ .guid = b, .port = b_port });
	store_put_end(s, b, b_port, &(struct store_end){ .guid = a, .port = a_port });
	s->dirty[STORE_NEIGHBORS] = true;
}

void store_set_only_neighbor(struct store *s, guid_t a, uint8_t a_port, guid_t b, uint8_t b_port)
{
	const struct store_cables *c;

	store_set_neighbor(s, a, a_port, b, b_port);
	c = guidmap_get(s->map[STORE_NEIGHBORS], a);
	for (unsigned port = 0; c->n > 1 && port < c->cap; port++) {
		if (port == a_port || !c->ends[port].guid)
			continue;
		unplug(s, a, (uint8_t)port);
		s->dirty[STORE_NEIGHBORS] = true;
	}
}

static void write_cables(const struct store *s, guid_t guid, const void *value, FILE *out)
{
	const struct store_cables *c = value;

	for (unsigned port = 1; port < c->cap; port++)
		if (c->ends[port].guid)
			fprintf(out, "0x%016" PRIx64 ":%u 0x%016" PRIx64 ":%u\n\n", guid, port,
				c->ends[port].guid, c->ends[port].port);
}

/* Files */

static const struct file_type types[STORE_FILES] = {
	[STORE_LIDS] = { "guid2lid", .write = write_range },
	[STORE_MKEYS] = { "guid2mkey", .secret = true, .write = write_mkey },
	[STORE_NEIGHBORS] = { "neighbors", .write = write_cables },
};

char *store_path(const struct store *s, enum store_file which)
{
	return xasprintf("%s/%s", s->dir, types[which].name);
}

bool store_is_secret(enum store_file which)
{
	return types[which].secret;
}

static int compare_guids(const void *va, const void *vb)
{
	const guid_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

/* By GUID, so that equal content is equal bytes. */
static void write_records(const struct store *s, enum store_file which, FILE *out)
{
	size_t n = 0, pos = 0, count = guidmap_count(s->map[which]);
	_cleanup_free_ guid_t *guids = xcalloc(MAX(count, 1u), sizeof(*guids));
	void *value;

	while (n < count && guidmap_next(s->map[which], &pos, &guids[n], &value))
		n++;
	qsort(guids, n, sizeof(*guids), compare_guids);
	for (size_t i = 0; i < n; i++)
		types[which].write(s, guids[i], guidmap_get(s->map[which], guids[i]), out);
}

/* A text that grows; whatever of it is given back to the heap is overwritten: it may be of keys. */
struct growing {
	char *text;
	size_t len, cap;
};

static ssize_t grow(void *cookie, const char *bytes, size_t n)
{
	struct growing *g = cookie;

	if (n > g->cap - g->len) {
		size_t cap = 2 * g->cap + n;
		char *text = xmalloc(cap);

		if (g->len)
			memcpy(text, g->text, g->len);
		free_wiped(g->text, g->len);
		g->text = text;
		g->cap = cap;
	}
	memcpy(g->text + g->len, bytes, n);
	g->len += n;
	return (ssize_t)n;
}

static char *render(const struct store *s, enum store_file which, size_t *ret_len)
{
	char buffer[BUFSIZ];
	struct growing g = { .text = xmalloc(1), .cap = 1 };
	FILE *out = fopencookie(&g, "w", (cookie_io_functions_t){ .write = grow });
	bool whole = false;

	if (out) {
		setvbuf(out, buffer, _IOFBF, sizeof(buffer));
		write_records(s, which, out);
		whole = fclose(out) == 0;
	}
	explicit_bzero(buffer, sizeof(buffer));
	*ret_len = g.len;
	if (whole)
		return g.text;
	free_wiped(g.text, g.len);
	return NULL;
}

/* Images: content on its way to the disk, of which another thread may take care. */

struct store_image {
	char *dir;
	bool durable;
	struct store_page {
		char *path; /* NULL: this file has not changed */
		char *text;
		size_t len;
		int error;
	} page[STORE_FILES];
};

struct store_image *store_image_new(struct store *s)
{
	struct store_image *image;

	if (!s->dirty[STORE_LIDS] && !s->dirty[STORE_MKEYS] && !s->dirty[STORE_NEIGHBORS])
		return NULL;
	image = xcalloc(1, sizeof(*image));
	image->dir = xstrdup(s->dir);
	image->durable = s->durable;
	for (unsigned i = 0; i < STORE_FILES; i++) {
		struct store_page *page = &image->page[i];

		if (!s->dirty[i])
			continue;
		page->path = store_path(s, i);
		page->text = render(s, i, &page->len);
		s->dirty[i] = false;
	}
	return image;
}

static int write_page(const struct store_page *page, bool secret, bool durable)
{
	struct file_replace *f;

	if (!page->text)
		return -ENOMEM;
	f = file_replace_open(page->path, secret);
	if (!f)
		return -errno;
	/* Without a buffer, which would keep a copy of keys. */
	setvbuf(file_replace_stream(f), NULL, _IONBF, 0);
	fwrite(page->text, 1, page->len, file_replace_stream(f));
	return file_replace_commit(f, durable);
}

int store_image_write(struct store_image *image)
{
	int first = 0, r = file_mkdirs(image->dir, 0755);

	for (unsigned i = 0; i < STORE_FILES; i++) {
		struct store_page *page = &image->page[i];

		if (!page->path)
			continue;
		page->error = r < 0 ? r : write_page(page, types[i].secret, image->durable);
		if (!first)
			first = page->error;
	}
	return first;
}

void store_image_failed(struct store *s, const struct store_image *image)
{
	for (unsigned i = 0; i < STORE_FILES; i++)
		if (image->page[i].error < 0)
			s->dirty[i] = true;
}

struct store_image *store_image_free(struct store_image *image)
{
	if (!image)
		return NULL;
	for (unsigned i = 0; i < STORE_FILES; i++) {
		free(image->page[i].path);
		free_wiped(image->page[i].text, image->page[i].len);
	}
	free(image->dir);
	free(image);
	return NULL;
}
