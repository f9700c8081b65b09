// SPDX-License-Identifier: BSD-2-Clause
/* An array that is searched whole: 256 comparisons are nothing beside one crypt(3). */
#include "rest/auth/verified.h"

#include <assert.h>
#include <string.h>

#include "rest/auth/secret.h"

struct entry {
	uint8_t mac[SECRET_BYTES];
	bool is_taken;
	mono_t since; /* crypt(3) said so */
	mono_t used;
};

struct verified {
	uint8_t key[SECRET_BYTES];
	struct entry entries[VERIFIED_MAX];
};

struct verified *verified_new(void)
{
	struct verified *v = xcalloc(1, sizeof(*v));

	secret_random(v->key, sizeof(v->key));
	return v;
}

struct verified *verified_free(struct verified *v)
{
	if (v)
		explicit_bzero(v, sizeof(*v));
	free(v);
	return NULL;
}

/* Name and password with the NUL between them, which is in neither. */
static void mac_of(const struct verified *v, const char *user, const char *password,
		   uint8_t ret[SECRET_BYTES])
{
	size_t n = strlen(user) + 1, m = strlen(password);
	char *both = xmalloc(n + m);

	memcpy(both, user, n);
	memcpy(both + n, password, m);
	secret_mac(v->key, both, n + m, ret);
	explicit_bzero(both, n + m);
	free(both);
}

/* Compares all entries, so that the time does not depend on the place. */
static struct entry *find_entry(struct verified *v, const uint8_t mac[SECRET_BYTES])
{
	struct entry *found = NULL;

	for (size_t i = 0; i < VERIFIED_MAX; i++)
		if (v->entries[i].is_taken && secret_equal(v->entries[i].mac, mac, SECRET_BYTES))
			found = &v->entries[i];
	return found;
}

static struct entry *find_password(struct verified *v, const char *user, const char *password)
{
	uint8_t mac[SECRET_BYTES];

	mac_of(v, user, password, mac);
	return find_entry(v, mac);
}

bool verified_has(struct verified *v, const char *user, const char *password, mono_t now)
{
	struct entry *found;

	assert(v && user && password);
	found = find_password(v, user, password);
	if (!found || now - found->used >= VERIFIED_LIFE || now - found->since >= VERIFIED_MOST)
		return false;
	found->used = now;
	return true;
}

bool verified_had(struct verified *v, const char *user, const char *password, mono_t now)
{
	const struct entry *found;

	assert(v && user && password);
	found = find_password(v, user, password);
	return found && now - found->used < VERIFIED_RECENT;
}

/* A free one, or the one that was used longest ago. */
static struct entry *place_for(struct verified *v)
{
	struct entry *best = &v->entries[0];

	for (size_t i = 1; i < VERIFIED_MAX && best->is_taken; i++)
		if (!v->entries[i].is_taken || v->entries[i].used < best->used)
			best = &v->entries[i];
	return best;
}

void verified_add(struct verified *v, const char *user, const char *password, mono_t now)
{
	struct entry new = { .is_taken = true, .since = now, .used = now }, *at;

	assert(v && user && password && now >= 0);
	mac_of(v, user, password, new.mac);
	at = find_entry(v, new.mac);
	if (!at)
		at = place_for(v);
	*at = new;
}

void verified_drop_all(struct verified *v)
{
	assert(v);
	explicit_bzero(v->entries, sizeof(v->entries));
}
