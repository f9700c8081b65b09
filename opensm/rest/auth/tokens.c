// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every change writes the file anew: there are few, and a half line is impossible. Two locks:
 * `order` makes one change at a time, from the table to the disk; `lock` guards the table, and is
 * never held while the disk works. A thread that has both took `order` first.
 */
#include "rest/auth/tokens.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"
#include "util/str.h"

struct tokens {
	char *path;
	pthread_mutex_t order, lock;
	struct token *all;
	size_t n, cap;
};

/* ---- the file ------------------------------------------------------------------------------ */

static bool read_number(const char *text, int64_t *ret)
{
	uint64_t value;

	if (!text || str_to_u64(text, 10, INT64_MAX / 2, &value) < 0)
		return false;
	*ret = (int64_t)value;
	return true;
}

static char *cut_at_colon(char *text)
{
	char *colon = text ? strchr(text, ':') : NULL;

	if (colon)
		*colon++ = '\0';
	return colon;
}

static int read_token(struct lines *l, struct token *ret, struct fault *fault)
{
	char *hash = cut_at_colon(l->line), *user = cut_at_colon(hash);
	char *issued = cut_at_colon(user), *life = cut_at_colon(issued);
	uint8_t id[(TOKEN_ID_TEXT - 1) / 2];

	if (!life || secret_from_hex(l->line, id, sizeof(id)) < 0 ||
	    secret_from_hex(hash, ret->hash, sizeof(ret->hash)) < 0 || !user_name_is_valid(user) ||
	    !read_number(issued, &ret->issued) || !read_number(life, &ret->expires_in))
		return lines_fault(l, NULL, fault, "ID:HASH:USER:ISSUED:EXPIRES_IN is expected");
	secret_to_hex(id, sizeof(id), ret->id);
	memcpy(ret->user, user, strlen(user) + 1);
	return 0;
}

static int parse_tokens(struct tokens *t, const char *text, size_t len, struct fault *fault)
{
	struct lines l;
	int r;

	lines_open(&l, t->path, text, len);
	while ((r = lines_next(&l, fault)) > 0) {
		struct token token = { 0 };

		if (t->n == TOKENS_MAX)
			r = lines_fault(&l, NULL, fault, "there are more than %d tokens",
					TOKENS_MAX);
		else
			r = read_token(&l, &token, fault);
		if (r < 0)
			return r;
		GROW(t->all, t->n + 1, t->cap);
		t->all[t->n++] = token;
	}
	return r;
}

static struct tokens *tokens_new(void)
{
	struct tokens *t = xcalloc(1, sizeof(*t));

	pthread_mutex_init(&t->order, NULL);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

struct tokens *tokens_load(const char *path, struct fault *fault)
{
	_cleanup_(tokens_freep) struct tokens *t = tokens_new();
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	assert(fault);
	if (!path)
		return take(t);
	t->path = xstrdup(path);
	r = file_read(path, TOKENS_FILE_MAX, &text, &len);
	if (r == -ENOENT)
		return take(t);
	if (r < 0) {
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(-r));
		return NULL;
	}
	return parse_tokens(t, text, len, fault) < 0 ? NULL : take(t);
}

struct tokens *tokens_free(struct tokens *t)
{
	if (!t)
		return NULL;
	pthread_mutex_destroy(&t->order);
	pthread_mutex_destroy(&t->lock);
	free(t->path);
	free(t->all);
	free(t);
	return NULL;
}

static void print_tokens(const struct tokens *t, FILE *out)
{
	char hash[SECRET_TEXT];

	for (size_t i = 0; i < t->n; i++) {
		const struct token *at = &t->all[i];

		secret_to_hex(at->hash, sizeof(at->hash), hash);
		fprintf(out, "%s:%s:%s:%" PRId64 ":%" PRId64 "\n", at->id, hash, at->user,
			at->issued, at->expires_in);
	}
}

/* With `order`, without `lock`. */
static int write_tokens(struct tokens *t)
{
	_cleanup_(file_replace_abortp) struct file_replace *f = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *out;

	if (!t->path)
		return 0;
	out = open_memstream(&text, &len);
	if (!out)
		return -errno;
	pthread_mutex_lock(&t->lock);
	print_tokens(t, out);
	pthread_mutex_unlock(&t->lock);
	fclose(out);
	f = file_replace_open(t->path, true);
	if (!f)
		return -errno;
	fputs(text, file_replace_stream(f));
	return file_replace_commit(take(f), true);
}

int tokens_write(struct tokens *t)
{
	int r;

	assert(t);
	pthread_mutex_lock(&t->order);
	r = write_tokens(t);
	pthread_mutex_unlock(&t->order);
	return r;
}

/* ---- changes ------------------------------------------------------------------------------- */

static bool has_expired(const struct token *at, int64_t now)
{
	return now - at->issued > at->expires_in;
}

static void drop_expired(struct tokens *t, int64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!has_expired(&t->all[i], now))
			t->all[n++] = t->all[i];
	t->n = n;
}

static size_t count_of(const struct tokens *t, const char *user)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->all[i].user, user))
			n++;
	return n;
}

static int add_token(struct tokens *t, const struct token *new)
{
	int r = -ENOSPC;

	pthread_mutex_lock(&t->lock);
	drop_expired(t, new->issued);
	if (t->n < TOKENS_MAX && count_of(t, new->user) < TOKENS_PER_USER) {
		GROW(t->all, t->n + 1, t->cap);
		t->all[t->n++] = *new;
		r = 0;
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

/*
 * Removes a token by its hash, or by id and user (NULL: any), and copies it to `ret`. 0 or -ENOENT.
 */
static int remove_token(struct tokens *t, const uint8_t *hash, const char *id, const char *user,
			struct token *ret)
{
	int r = -ENOENT;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; r && i < t->n; i++) {
		const struct token *at = &t->all[i];

		if (hash ? !secret_equal(at->hash, hash, sizeof(at->hash)) :
			   strcmp(at->id, id) || (user && strcmp(at->user, user)))
			continue;
		*ret = *at;
		t->all[i] = t->all[--t->n];
		r = 0;
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

/* Stores a token; until it is on disk only the caller has its text. */
static int store_token(struct tokens *t, const struct token *new)
{
	struct token old;
	int r;

	pthread_mutex_lock(&t->order);
	r = add_token(t, new);
	if (!r) {
		r = write_tokens(t);
		if (r < 0)
			remove_token(t, new->hash, NULL, NULL, &old);
	}
	pthread_mutex_unlock(&t->order);
	return r;
}

int tokens_issue(struct tokens *t, const char *user, int64_t now, char ret[SECRET_TEXT])
{
	struct token new = { .issued = now, .expires_in = TOKEN_LIFE };
	uint8_t secret[SECRET_BYTES];

	assert(t && user && user_name_is_valid(user) && now >= 0 && ret);
	secret_random(secret, sizeof(secret));
	secret_hash(secret, sizeof(secret), new.hash);
	secret_to_hex(secret, sizeof(secret), ret);
	explicit_bzero(secret, sizeof(secret));
	memcpy(new.id, ret, TOKEN_ID_TEXT - 1);
	memcpy(new.user, user, strlen(user) + 1);
	return store_token(t, &new);
}

int tokens_revoke(struct tokens *t, const char *id, const char *user)
{
	struct token old;
	int r;

	assert(t && id);
	pthread_mutex_lock(&t->order);
	r = remove_token(t, NULL, id, user, &old);
	if (!r) {
		r = write_tokens(t);
		if (r < 0)
			add_token(t, &old);
	}
	pthread_mutex_unlock(&t->order);
	return r;
}

size_t tokens_drop_strangers(struct tokens *t, const struct users *users)
{
	size_t n = 0, dropped;

	assert(t && users);
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->n; i++)
		if (users_find(users, t->all[i].user))
			t->all[n++] = t->all[i];
	dropped = t->n - n;
	t->n = n;
	pthread_mutex_unlock(&t->lock);
	return dropped;
}

/* ---- looking up ---------------------------------------------------------------------------- */

bool tokens_user(struct tokens *t, const char *token, int64_t now, char ret[USER_NAME_MAX + 1])
{
	uint8_t secret[SECRET_BYTES], hash[SECRET_BYTES];
	const struct token *found = NULL;

	assert(t && token && ret);
	if (secret_from_hex(token, secret, sizeof(secret)) < 0)
		return false;
	secret_hash(secret, sizeof(secret), hash);
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->n; i++)
		if (secret_equal(t->all[i].hash, hash, sizeof(hash)))
			found = &t->all[i];
	if (found && has_expired(found, now))
		found = NULL;
	if (found)
		memcpy(ret, found->user, sizeof(found->user));
	pthread_mutex_unlock(&t->lock);
	return found;
}

bool tokens_at(struct tokens *t, size_t i, struct token *ret)
{
	bool is;

	assert(t && ret);
	pthread_mutex_lock(&t->lock);
	is = i < t->n;
	if (is)
		*ret = t->all[i];
	pthread_mutex_unlock(&t->lock);
	return is;
}
