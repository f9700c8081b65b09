// SPDX-License-Identifier: BSD-2-Clause
/*
 * Passwords that were right: a keyed hash of user and password each, with a key that exists in this
 * process only. One counts for ten minutes from its last use, and for twelve hours in all; then it
 * is to be checked again, which for a day nothing delays. Bounded: the entry that was used longest
 * ago makes room.
 */
#pragma once

#include <stdbool.h>

#include "util/mem.h"
#include "util/mono.h"

#define VERIFIED_MAX	256
#define VERIFIED_LIFE	(600 * MONO_S)
#define VERIFIED_MOST	(43200 * MONO_S)
#define VERIFIED_RECENT (86400 * MONO_S)

struct verified;

struct verified *verified_new(void);
struct verified *verified_free(struct verified *v); /* NULL is fine; returns NULL */
FREEP(verified_free, struct verified)

/* Whether it counts; this is a use of it. */
bool verified_has(struct verified *v, const char *user, const char *password, mono_t now);
/* Whether it counted within VERIFIED_RECENT: it is checked, but is no guess. */
bool verified_had(struct verified *v, const char *user, const char *password, mono_t now);
void verified_add(struct verified *v, const char *user, const char *password, mono_t now);
void verified_drop_all(struct verified *v);
