// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tokens of /ufmRestV3: 32 random bytes each, of which only a hash is kept, in memory and in a file
 * of the state folder (one line each: ID:HASH:USER:ISSUED:EXPIRES_IN). A token is worth what its
 * user is worth at the time it is used. Times are seconds since 1970.
 *
 * Any thread may call these. What writes the file waits for the disk and belongs in a thread of its
 * own; the others never wait for that.
 */
#pragma once

#include <stdint.h>

#include "rest/auth/lines.h"
#include "rest/auth/secret.h"
#include "rest/auth/users.h"
#include "util/mem.h"

#define TOKENS_MAX	 4096
#define TOKENS_PER_USER	 64
#define TOKEN_LIFE	 315360000 /* s: ten years */
#define TOKEN_ID_TEXT	 9
#define TOKENS_FILE_MAX	 (1u << 20)

struct token {
	char id[TOKEN_ID_TEXT]; /* 8 hexadecimal digits: begin of the token */
	uint8_t hash[SECRET_BYTES];
	char user[USER_NAME_MAX + 1];
	int64_t issued, expires_in;
};

struct tokens;

/* ---- without the disk ---- */

/* `path` NULL: in memory only. A file that is not there is one without tokens. NULL and a fault. */
struct tokens *tokens_load(const char *path, struct fault *fault);
struct tokens *tokens_free(struct tokens *t); /* NULL is fine; returns NULL */
FREEP(tokens_free, struct tokens)

/* The user of a token that has not expired, into `ret`; false: there is none. */
bool tokens_user(struct tokens *t, const char *token, int64_t now, char ret[USER_NAME_MAX + 1]);
/* Number `i` from 0; false: there are no more. */
bool tokens_at(struct tokens *t, size_t i, struct token *ret);
/*
 * Drops tokens of users that are not in `users`. The number; if it is not 0, the file is to be
 * written.
 */
size_t tokens_drop_strangers(struct tokens *t, const struct users *users);

/* ---- with it ---- */

/* The file as the table is: 0 or -errno. */
int tokens_write(struct tokens *t);
/*
 * A new token, on disk when this returns 0. -ENOSPC: the user (or the table) has its share of
 * tokens that have not expired; other errors: the file cannot be written, and there is no token.
 */
int tokens_issue(struct tokens *t, const char *user, int64_t now, char ret[SECRET_TEXT]);
/*
 * Revokes it by its id. `user` NULL: any user's. 0, -ENOENT, or the file cannot be written: then
 * the token stays.
 */
int tokens_revoke(struct tokens *t, const char *id, const char *user);
