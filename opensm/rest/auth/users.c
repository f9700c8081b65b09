// SPDX-License-Identifier: BSD-2-Clause
/* A list, sought from its begin: thousands of users at most, and few look-ups (auth/verified.h). */
#include "rest/auth/users.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rest/auth/password.h"
#include "util/file.h"
#include "util/str.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-"
#define SAN_OPTION	"cert-san="

struct users {
	struct user *all;
	size_t n, cap;
};

static const char *const rights[] = {
	[REST_READ] = "read",
	[REST_TENANT] = "tenant",
	[REST_ADMIN] = "admin",
};

const char *right_name(enum rest_right right)
{
	return rights[right];
}

bool right_from_name(const char *name, enum rest_right *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		if (strcmp(rights[i], name))
			continue;
		*ret = (enum rest_right)i;
		return true;
	}
	return false;
}

bool user_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len && len <= USER_NAME_MAX && strspn(name, NAME_CHARACTERS) == len;
}

/* ---- one line ------------------------------------------------------------------------------ */

static void user_clear(struct user *user)
{
	free(user->name);
	free(user->hash);
	for (size_t i = 0; i < user->n_sans; i++)
		free(user->sans[i]);
	*user = (struct user){ 0 };
}

static int read_name(const struct lines *l, const struct users *u, const char *word,
		     struct user *user, struct fault *fault)
{
	if (!user_name_is_valid(word))
		return lines_fault(l, word, fault,
				   "a name of 1 to %d letters, digits and . _ @ - is expected",
				   USER_NAME_MAX);
	if (users_find(u, word))
		return lines_fault(l, word, fault, "the user '%s' is set twice", word);
	user->name = xstrdup(word);
	return 0;
}

static int read_hash(const struct lines *l, const char *word, struct user *user,
		     struct fault *fault)
{
	if (!strcmp(word, "!") || !strcmp(word, "*"))
		return 0;
	if (!password_hash_is_valid(word))
		return lines_fault(l, word, fault,
				   "a hash of crypt(3) is expected, such as $y$... or $6$..., or "
				   "'!' for none: opensm-rest --add-user makes one");
	user->hash = xstrdup(word);
	return 0;
}

static int read_san(const struct lines *l, const struct users *u, const char *word,
		    struct user *user, struct fault *fault)
{
	const char *value = word + strlen(SAN_OPTION);

	if (!str_starts(word, SAN_OPTION) || !*value)
		return lines_fault(l, word, fault, "found '%s', expected " SAN_OPTION "NAME", word);
	if (user->n_sans == USER_SANS_MAX)
		return lines_fault(l, word, fault, "a user has at most %d names in certificates",
				   USER_SANS_MAX);
	if (users_by_san(u, value))
		return lines_fault(l, word, fault, "'%s' is set twice", value);
	user->sans[user->n_sans++] = xstrdup(value);
	return 0;
}

static int read_sans(const struct lines *l, const struct users *u, char *words, struct user *user,
		     struct fault *fault)
{
	char *comma;
	int r = 0;

	for (; words && r >= 0; words = comma) {
		comma = strchr(words, ',');
		if (comma)
			*comma++ = '\0';
		r = read_san(l, u, words, user, fault);
	}
	return r;
}

static char *cut_at_colon(char *text)
{
	char *colon = text ? strchr(text, ':') : NULL;

	if (colon)
		*colon++ = '\0';
	return colon;
}

static int read_user(struct lines *l, struct users *u, struct user *user, struct fault *fault)
{
	char *hash = cut_at_colon(l->line), *right = cut_at_colon(hash);
	char *sans = cut_at_colon(right);
	int r = read_name(l, u, l->line, user, fault);

	if (r < 0)
		return r;
	if (!right)
		return lines_fault(l, NULL, fault, "NAME:HASH:RIGHT is expected");
	r = read_hash(l, hash, user, fault);
	if (r < 0)
		return r;
	if (!right_from_name(right, &user->right))
		return lines_fault(l, right, fault, "found '%s', expected read, tenant or admin",
				   right);
	return read_sans(l, u, sans, user, fault);
}

/* ---- the file ------------------------------------------------------------------------------ */

struct users *users_parse(const char *file, const char *text, size_t len, struct fault *fault)
{
	_cleanup_(users_freep) struct users *u = xcalloc(1, sizeof(*u));
	struct lines l;
	int r;

	assert(file && fault);
	lines_open(&l, file, text, len);
	while ((r = lines_next(&l, fault)) > 0) {
		struct user user = { 0 };

		if (u->n == USERS_MAX)
			r = lines_fault(&l, NULL, fault, "there are more than %d users", USERS_MAX);
		else
			r = read_user(&l, u, &user, fault);
		if (r < 0) {
			user_clear(&user);
			return NULL;
		}
		GROW(u->all, u->n + 1, u->cap);
		u->all[u->n++] = user;
	}
	return r < 0 ? NULL : take(u);
}

static bool is_private(const char *path, struct fault *fault)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(errno));
		return false;
	}
	if (!(st.st_mode & 0027))
		return true;
	snprintf(fault->text, sizeof(fault->text),
		 "%.200s: mode %04o lets others read it or the group write it; chmod 0600 is "
		 "expected",
		 path, st.st_mode & 07777u);
	return false;
}

struct users *users_load(const char *path, struct fault *fault)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	assert(path && fault);
	if (!is_private(path, fault))
		return NULL;
	r = file_read(path, USERS_FILE_MAX, &text, &len);
	if (r < 0) {
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(-r));
		return NULL;
	}
	return users_parse(path, text, len, fault);
}

struct users *users_free(struct users *u)
{
	if (!u)
		return NULL;
	for (size_t i = 0; i < u->n; i++)
		user_clear(&u->all[i]);
	free(u->all);
	free(u);
	return NULL;
}

/* ---- looking up ---------------------------------------------------------------------------- */

size_t users_count(const struct users *u)
{
	return u->n;
}

const struct user *users_find(const struct users *u, const char *name)
{
	assert(u && name);
	for (size_t i = 0; i < u->n; i++)
		if (!strcmp(u->all[i].name, name))
			return &u->all[i];
	return NULL;
}

const struct user *users_at(const struct users *u, size_t i)
{
	assert(u);
	return i < u->n ? &u->all[i] : NULL;
}

bool users_agree(const struct users *a, const struct users *b, const char *name)
{
	const struct user *one = users_find(a, name), *other = users_find(b, name);

	return one && other && one->right == other->right && str_equal(one->hash, other->hash);
}

const struct user *users_by_san(const struct users *u, const char *san)
{
	assert(u && san);
	for (size_t i = 0; i < u->n; i++)
		for (size_t k = 0; k < u->all[i].n_sans; k++)
			if (!strcmp(u->all[i].sans[k], san))
				return &u->all[i];
	return NULL;
}

const char *users_dummy_hash(const struct users *u)
{
	assert(u);
	for (size_t i = 0; i < u->n; i++)
		if (u->all[i].hash)
			return u->all[i].hash;
	return PASSWORD_DUMMY;
}

/* ---- adding -------------------------------------------------------------------------------- */

static void write_user(FILE *out, const struct user *user)
{
	fprintf(out, "%s:%s:%s", user->name, user->hash ? user->hash : "!",
		right_name(user->right));
	for (size_t i = 0; i < user->n_sans; i++)
		fprintf(out, "%c" SAN_OPTION "%s", i ? ',' : ':', user->sans[i]);
	fputc('\n', out);
}

/* Everything but the line of this user, comments too. */
static void copy_others(FILE *out, const char *text, const char *name)
{
	size_t len = strlen(name);

	while (*text) {
		size_t line = strcspn(text, "\n");

		if (strncmp(text, name, len) || text[len] != ':')
			fprintf(out, "%.*s\n", (int)line, text);
		text += line + (text[line] == '\n');
	}
}

/* The whole new file, once it was read as one. */
static int render_users(const char *path, const struct user *user, char **ret, struct fault *fault)
{
	_cleanup_free_ char *old = NULL, *text = NULL;
	struct users *check;
	size_t len;
	FILE *out;
	int r = file_read(path, USERS_FILE_MAX, &old, &len);

	if (r < 0 && r != -ENOENT) {
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(-r));
		return r;
	}
	out = open_memstream(&text, &len);
	copy_others(out, old ? old : "", user->name);
	write_user(out, user);
	fclose(out);
	check = users_parse(path, text, len, fault);
	if (!check)
		return -EINVAL;
	users_free(check);
	*ret = take(text);
	return 0;
}

int users_add(const char *path, const struct user *user, struct fault *fault)
{
	_cleanup_free_ char *text = NULL;
	struct file_replace *f;
	int r;

	assert(path && user && user->name && fault);
	r = render_users(path, user, &text, fault);
	if (r < 0)
		return r;
	f = file_replace_open(path, true);
	r = f ? 0 : -errno;
	if (f) {
		fputs(text, file_replace_stream(f));
		r = file_replace_commit(f, true);
	}
	if (r < 0)
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(-r));
	return r;
}
