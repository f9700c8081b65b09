// SPDX-License-Identifier: BSD-2-Clause
/* The configuration of a master: its parts, and its text. */
#include "conf/copied/copied.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "util/hash.h"
#include "util/mem.h"
#include "util/str.h"

#define HEAD	 "opensm-copied 1 "
#define ENTRY_LINE_MAX 120
#define WORDS	 4

struct copied *copied_new(guid_t from)
{
	struct copied *c = xcalloc(1, sizeof(*c));

	c->refs = 1;
	c->from = from;
	return c;
}

struct copied *copied_unref(struct copied *c)
{
	if (!c || --c->refs)
		return NULL;
	for (size_t i = 0; i < c->n_options; i++)
		free(c->options[i].text);
	for (size_t i = 0; i < c->n_files; i++)
		free(c->files[i].text);
	free(c->options);
	free(c->files);
	free(c->keys);
	free(c);
	return NULL;
}

static char *copy_text(const char *text, size_t len)
{
	char *copy = xmalloc(len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

void copied_add_option(struct copied *c, enum conf_id id, guid_t source, const char *text)
{
	GROW(c->options, c->n_options + 1, c->cap_options);
	c->options[c->n_options++] =
		(struct copied_option){ .id = id, .source = source, .text = xstrdup(text) };
}

void copied_add_file(struct copied *c, enum conf_id id, guid_t source, const char *text, size_t len)
{
	GROW(c->files, c->n_files + 1, c->cap_files);
	c->files[c->n_files++] = (struct copied_file){ .id = id,
						       .source = source,
						       .exists = text != NULL,
						       .text = text ? copy_text(text, len) : NULL,
						       .len = text ? len : 0 };
}

void copied_add_key(struct copied *c, enum conf_id id, uint16_t mark)
{
	GROW(c->keys, c->n_keys + 1, c->cap_keys);
	c->keys[c->n_keys++] = (struct copied_key){ .id = id, .mark = mark };
}

const struct copied_option *copied_option(const struct copied *c, enum conf_id id)
{
	for (size_t i = 0; i < c->n_options; i++) {
		if (c->options[i].id == id)
			return &c->options[i];
	}
	return NULL;
}

const struct copied_file *copied_file(const struct copied *c, enum conf_id id)
{
	for (size_t i = 0; i < c->n_files; i++) {
		if (c->files[i].id == id)
			return &c->files[i];
	}
	return NULL;
}

void copied_filter(struct copied *c, bool (*option)(enum conf_id id),
		   bool (*file)(enum conf_id id))
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_options; i++) {
		if (option(c->options[i].id))
			c->options[n++] = c->options[i];
		else
			free(c->options[i].text);
	}
	c->n_options = n;
	n = 0;
	for (size_t i = 0; i < c->n_files; i++) {
		if (file(c->files[i].id))
			c->files[n++] = c->files[i];
		else
			free(c->files[i].text);
	}
	c->n_files = n;
}

/* ---- writing ------------------------------------------------------------------------------- */

char *copied_text(struct copied *c, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	fprintf(out, HEAD "0x%016" PRIx64 "\n", c->from);
	for (size_t i = 0; i < c->n_options; i++) {
		const struct copied_option *o = &c->options[i];

		fprintf(out, "option %s 0x%016" PRIx64 " %zu\n%s\n", conf_option(o->id)->name,
			o->source, strlen(o->text), o->text);
	}
	for (size_t i = 0; i < c->n_files; i++) {
		const struct copied_file *f = &c->files[i];

		fprintf(out, "%s %s 0x%016" PRIx64, f->exists ? "file" : "nofile",
			conf_option(f->id)->name, f->source);
		if (f->exists) {
			fprintf(out, " %zu\n", f->len);
			fwrite(f->text, 1, f->len, out);
		}
		fputc('\n', out);
	}
	for (size_t i = 0; i < c->n_keys; i++)
		fprintf(out, "key %s 0x%04x\n", conf_option(c->keys[i].id)->name, c->keys[i].mark);
	fflush(out);
	c->hash = hash_bytes(HASH_START, text, *ret_len);
	fprintf(out, "end 0x%016" PRIx64 "\n", c->hash);
	fclose(out);
	return text;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct cursor {
	const char *start, *at;
	size_t left;
};

/*
 * Splits a line into words with one blank between them. Returns their number; 0: faulty or no line.
 */
static unsigned read_words(struct cursor *cur, char line[static ENTRY_LINE_MAX], char *words[WORDS])
{
	size_t most = MIN(cur->left, (size_t)ENTRY_LINE_MAX - 1);
	const char *end = most ? memchr(cur->at, '\n', most) : NULL;
	size_t len = end ? (size_t)(end - cur->at) : 0;
	unsigned n = 0;

	if (!len || memchr(cur->at, '\0', len))
		return 0;
	memcpy(line, cur->at, len);
	line[len] = '\0';
	cur->at += len + 1;
	cur->left -= len + 1;
	while (line && n < WORDS) {
		words[n++] = line;
		line = strchr(line, ' ');
		if (line)
			*line++ = '\0';
	}
	return line ? 0 : n;
}

/* Takes `len` bytes and the newline after them; NULL: the text is too short. */
static const char *read_block(struct cursor *cur, const char *length, size_t *ret_len)
{
	const char *block = cur->at;
	uint64_t len;

	if (str_to_u64(length, 10, COPIED_MAX, &len) < 0 || len >= cur->left ||
	    block[len] != '\n')
		return NULL;
	cur->at += len + 1;
	cur->left -= len + 1;
	*ret_len = len;
	return block;
}

static int read_option(struct cursor *cur, struct copied *c, enum conf_id id, guid_t source,
		       const char *length)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	const char *block = read_block(cur, length, &len);

	if (!block || memchr(block, '\0', len))
		return -EINVAL;
	text = copy_text(block, len);
	if (id < CONF_N_OPTIONS && !conf_is_secret(id) && !copied_option(c, id))
		copied_add_option(c, id, source, text);
	return 0;
}

static int read_file(struct cursor *cur, struct copied *c, enum conf_id id, guid_t source,
		     const char *length)
{
	size_t len = 0;
	const char *block = length ? read_block(cur, length, &len) : NULL;

	if (length && !block)
		return -EINVAL;
	if (id < CONF_N_OPTIONS && conf_option(id)->type == CONF_STRING && !copied_file(c, id))
		copied_add_file(c, id, source, block, len);
	return 0;
}

static int read_key(struct copied *c, enum conf_id id, const char *word)
{
	uint64_t mark;

	if (str_to_u64(word, 0, UINT16_MAX, &mark) < 0)
		return -EINVAL;
	if (id < CONF_N_OPTIONS && conf_is_secret(id) && c->n_keys < CONF_N_OPTIONS)
		copied_add_key(c, id, (uint16_t)mark);
	return 0;
}

static int read_entry(struct cursor *cur, struct copied *c, char *words[WORDS], unsigned n)
{
	enum conf_id id = conf_option_find(words[1]);
	uint64_t source = 0;

	if (n == 3 && !strcmp(words[0], "key"))
		return read_key(c, id, words[2]);
	if (n < 3 || str_to_u64(words[2], 0, UINT64_MAX, &source) < 0)
		return -EINVAL;
	if (n == 4 && !strcmp(words[0], "option"))
		return read_option(cur, c, id, source, words[3]);
	if (n == 4 && !strcmp(words[0], "file"))
		return read_file(cur, c, id, source, words[3]);
	if (n == 3 && !strcmp(words[0], "nofile"))
		return read_file(cur, c, id, source, NULL);
	return -EINVAL;
}

/* Reads all entries, and the end line, after which nothing may follow. */
static int read_entries(struct cursor *cur, struct copied *c)
{
	char line[ENTRY_LINE_MAX], *words[WORDS];

	while (cur->left) {
		const char *before = cur->at;
		unsigned n = read_words(cur, line, words);
		uint64_t hash;

		if (n < 2)
			return -EINVAL;
		if (n == 2 && !strcmp(words[0], "end")) {
			c->hash = hash_bytes(HASH_START, cur->start, (size_t)(before - cur->start));
			return str_to_u64(words[1], 0, UINT64_MAX, &hash) < 0 || hash != c->hash ||
					       cur->left
				       ? -EINVAL
				       : 0;
		}
		if (read_entry(cur, c, words, n) < 0)
			return -EINVAL;
	}
	return -EINVAL;
}

int copied_read(const char *text, size_t len, struct copied **ret)
{
	_cleanup_(copied_unrefp) struct copied *c = copied_new(0);
	struct cursor cur = { .start = text, .at = text, .left = len };
	char line[ENTRY_LINE_MAX], *words[WORDS];

	assert((text || !len) && ret);
	if (len > COPIED_MAX || read_words(&cur, line, words) != 3 ||
	    strcmp(words[0], "opensm-copied") || strcmp(words[1], "1") ||
	    str_to_u64(words[2], 0, UINT64_MAX, &c->from) < 0 || read_entries(&cur, c) < 0)
		return -EINVAL;
	*ret = take(c);
	return 0;
}
