// SPDX-License-Identifier: BSD-2-Clause
/* Copies into a folder beside, then renames that. */
#include "launch/seed.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/mem.h"

/* A GUID costs a line of some 30 bytes; a fabric has 49151 LIDs. */
#define LIMIT (64U << 20)

static const struct {
	const char *name;
	bool secret;
} files[] = { { "guid2lid", false }, { "guid2mkey", true }, { "neighbors", false } };

static int copy_file(const char *from, const char *to, bool secret)
{
	_cleanup_free_ char *text = NULL;
	struct file_replace *f;
	size_t len;
	int r = file_read(from, LIMIT, &text, &len);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	f = file_replace_open(to, secret);
	if (!f)
		return -errno;
	fwrite(text, 1, len, file_replace_stream(f));
	return file_replace_commit(f, true);
}

static int copy_files(const char *cache_dir, const char *folder)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *from = xasprintf("%s/%s", cache_dir, files[i].name);
		_cleanup_free_ char *to = xasprintf("%s/%s", folder, files[i].name);
		int r = copy_file(from, to, files[i].secret);

		if (r < 0)
			return r;
	}
	return 0;
}

int seed_cache(const char *cache_dir, const char *name)
{
	_cleanup_free_ char *final = xasprintf("%s/%s", cache_dir, name);
	_cleanup_free_ char *folder = xasprintf("%s/.%s.new", cache_dir, name);
	struct stat st;
	int r;

	assert(name[0] && !strchr(name, '/'));
	if (stat(final, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	/* Files of a killed predecessor are overwritten. */
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return -errno;
	r = copy_files(cache_dir, folder);
	if (r < 0)
		return r;
	return rename(folder, final) < 0 ? -errno : 0;
}
