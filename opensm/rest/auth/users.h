// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of users, one a line:
 *
 *   NAME:HASH:RIGHT[:cert-san=VALUE[,cert-san=VALUE...]]
 *
 * HASH is of crypt(3), one of its methods that are not out of date, or `!`: no password. RIGHT is
 * read, tenant or admin. VALUE is a name in the certificate of the client (DNS name, e-mail address
 * or URI of its subjectAltName).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rest/auth/lines.h"
#include "rest/rest.h"
#include "util/mem.h"

#define USER_NAME_MAX  64
#define USERS_MAX      4096
#define USER_SANS_MAX  8
#define USERS_FILE_MAX (4u << 20)

struct user {
	char *name;
	char *hash; /* NULL: no password is accepted */
	enum rest_right right;
	char *sans[USER_SANS_MAX];
	size_t n_sans;
};

struct users;

/* NULL and a fault: the text is refused as a whole. `file` is for faults. */
struct users *users_parse(const char *file, const char *text, size_t len, struct fault *fault);
/* Loads a file, which must not be readable for others or writable for the group. */
struct users *users_load(const char *path, struct fault *fault);
struct users *users_free(struct users *u); /* NULL is fine; returns NULL */
FREEP(users_free, struct users)

size_t users_count(const struct users *u);
/* NULL: there is no such user */
const struct user *users_find(const struct users *u, const char *name);
/* NULL: there is no such user */
const struct user *users_by_san(const struct users *u, const char *san);
/* Number `i` from 0, or NULL: there are no more. */
const struct user *users_at(const struct users *u, size_t i);
/* Whether both have the user, with the same hash and right. */
bool users_agree(const struct users *a, const struct users *b, const char *name);
/*
 * The hash that an unknown user's password is compared with, so that it costs the same: that of the
 * first user that has one, else a fixed one. No password fits.
 */
const char *users_dummy_hash(const struct users *u);

bool user_name_is_valid(const char *name); /* 1 to 64 of A-Z a-z 0-9 . _ @ - */
const char *right_name(enum rest_right right);
bool right_from_name(const char *name, enum rest_right *ret);

/*
 * --add-user: puts the entry into the file at `path` (made with mode 0600 if it is not there) or
 * replaces the one of the same name. 0 or -errno with a fault.
 */
int users_add(const char *path, const struct user *user, struct fault *fault);
