// SPDX-License-Identifier: BSD-2-Clause
/* The table has hashes of the secrets; all of them are compared. */
#include "rest/auth/sessions.h"

#include <assert.h>
#include <string.h>

#include "rest/auth/users.h"

struct session {
	uint8_t hash[SECRET_BYTES];
	char user[USER_NAME_MAX + 1]; /* "": free */
	mono_t since, used;
};

struct sessions {
	struct session all[SESSIONS_MAX];
};

struct sessions *sessions_new(void)
{
	return xcalloc(1, sizeof(struct sessions));
}

struct sessions *sessions_free(struct sessions *s)
{
	free(s);
	return NULL;
}

static bool is_over(const struct session *s, mono_t now)
{
	return !*s->user || now - s->used > SESSION_IDLE || now - s->since > SESSION_LIFE;
}

/* A free place; else the one used longest ago, of this user if it has its share. */
static struct session *place_for(struct sessions *s, const char *user, mono_t now)
{
	struct session *oldest = &s->all[0], *own = NULL, *free_place = NULL;
	size_t n = 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *at = &s->all[i];

		if (is_over(at, now)) {
			free_place = at;
			continue;
		}
		if (at->used < oldest->used)
			oldest = at;
		if (strcmp(at->user, user))
			continue;
		n++;
		if (!own || at->used < own->used)
			own = at;
	}
	if (n >= SESSIONS_PER_USER)
		return own;
	return free_place ? free_place : oldest;
}

void sessions_start(struct sessions *s, const char *user, mono_t now, char ret[SECRET_TEXT])
{
	uint8_t secret[SECRET_BYTES];
	struct session *at;

	assert(s && user && *user && strlen(user) <= USER_NAME_MAX && ret);
	at = place_for(s, user, now);
	secret_random(secret, sizeof(secret));
	*at = (struct session){ .since = now, .used = now };
	memcpy(at->user, user, strlen(user) + 1);
	secret_hash(secret, sizeof(secret), at->hash);
	secret_to_hex(secret, sizeof(secret), ret);
	explicit_bzero(secret, sizeof(secret));
}

static struct session *find_session(struct sessions *s, const char *cookie)
{
	uint8_t secret[SECRET_BYTES], hash[SECRET_BYTES];
	struct session *found = NULL;

	if (secret_from_hex(cookie, secret, sizeof(secret)) < 0)
		return NULL;
	secret_hash(secret, sizeof(secret), hash);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (*s->all[i].user && secret_equal(s->all[i].hash, hash, sizeof(hash)))
			found = &s->all[i];
	return found;
}

const char *sessions_use(struct sessions *s, const char *cookie, mono_t now)
{
	struct session *found;

	assert(s && cookie);
	found = find_session(s, cookie);
	if (!found || is_over(found, now))
		return NULL;
	found->used = now;
	return found->user;
}

void sessions_end(struct sessions *s, const char *cookie)
{
	struct session *found;

	assert(s && cookie);
	found = find_session(s, cookie);
	if (found)
		explicit_bzero(found, sizeof(*found));
}

void sessions_end_user(struct sessions *s, const char *user)
{
	assert(s && user && *user);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (!strcmp(s->all[i].user, user))
			explicit_bzero(&s->all[i], sizeof(s->all[i]));
}
