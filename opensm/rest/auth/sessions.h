// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sessions of /ufmRestV2: a random secret in a cookie stands for a user. In memory only. A session
 * ends after 30 minutes without a request, and after 12 hours. Bounded: the one that was used
 * longest ago makes room, first among those of the same user.
 */
#pragma once

#include "rest/auth/secret.h"
#include "util/mem.h"
#include "util/mono.h"

#define SESSIONS_MAX	  256
#define SESSIONS_PER_USER 32
#define SESSION_IDLE	  (1800 * MONO_S)
#define SESSION_LIFE	  (43200 * MONO_S)

struct sessions;

struct sessions *sessions_new(void);
struct sessions *sessions_free(struct sessions *s); /* NULL is fine; returns NULL */
FREEP(sessions_free, struct sessions)

/* `ret` is the cookie's value: hexadecimal digits. */
void sessions_start(struct sessions *s, const char *user, mono_t now, char ret[SECRET_TEXT]);
/* Notes a use of the session and returns its user; NULL: there is no such session, or no more. */
const char *sessions_use(struct sessions *s, const char *cookie, mono_t now);
void sessions_end(struct sessions *s, const char *cookie);
/* Ends all sessions of one user. */
void sessions_end_user(struct sessions *s, const char *user);
