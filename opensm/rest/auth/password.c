// SPDX-License-Identifier: BSD-2-Clause
/* The methods are libcrypt's to judge; the ones it calls legacy or weak are refused. */
#include "rest/auth/password.h"

#include <assert.h>
#include <crypt.h>
#include <string.h>

#include "rest/auth/secret.h"
#include "util/mem.h"

/* Its state is 32 KB, with the password in it: on the heap, and wiped. */
static char *hash_of(const char *password, const char *setting)
{
	struct crypt_data *state = xcalloc(1, sizeof(*state));
	const char *hash = crypt_r(password, setting, state);
	char *ret = hash && hash[0] != '*' ? xstrdup(hash) : NULL;

	explicit_bzero(state, sizeof(*state));
	free(state);
	return ret;
}

static bool has_valid_characters(const char *hash)
{
	for (; *hash; hash++)
		if (*hash <= ' ' || *hash > '~' || strchr(":;*!\\", *hash))
			return false;
	return true;
}

bool password_hash_is_valid(const char *hash)
{
	size_t len = strlen(hash);
	const char *last = strrchr(hash, '$');

	assert(hash);
	/* A setting without the hash behind it would fit no password, and look as if it did. */
	return len < CRYPT_OUTPUT_SIZE && hash[0] == '$' && strlen(last) > 20 &&
	       has_valid_characters(hash) && crypt_checksalt(hash) == CRYPT_SALT_OK;
}

bool password_fits(const char *password, const char *hash)
{
	char *found;
	bool fits;

	assert(password && hash);
	found = hash_of(password, hash);
	fits = found && strlen(found) == strlen(hash) && secret_equal(found, hash, strlen(hash));
	if (found)
		explicit_bzero(found, strlen(found));
	free(found);
	return fits;
}

char *password_new_hash(const char *password)
{
	char setting[CRYPT_GENSALT_OUTPUT_SIZE];

	assert(password);
	if (!crypt_gensalt_rn(NULL, 0, NULL, 0, setting, sizeof(setting)))
		return NULL;
	return hash_of(password, setting);
}
