// SPDX-License-Identifier: BSD-2-Clause
#include "sm/ledger/former_file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "util/file.h"
#include "util/mem.h"

char *former_path(const struct sm_paths *paths, const char *name)
{
	return paths && paths->cache_dir ? xasprintf("%s/%s", paths->cache_dir, name) : NULL;
}

int former_read(const char *path, size_t limit, char **ret, size_t *ret_len)
{
	return path ? file_read(path, limit, ret, ret_len) : -ENOENT;
}

void former_taken(const char *path, const char *what)
{
	_cleanup_free_ char *aside = xasprintf("%s.taken", path);

	assert(what);
	if (rename(path, aside) == 0)
		log_info("%s: %s; it is kept as %s", path, what, aside);
	else if (errno != ENOENT)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = path, .error = errno), LOGB_ERROR,
		       "%s: %s, and it cannot be renamed: %s; delete it", path, what,
		       strerror(errno));
}

void former_is_bad(const char *path, int error, const char *what)
{
	_cleanup_free_ char *aside = xasprintf("%s.bad", path);
	bool moved = rename(path, aside) == 0;

	assert(error < 0 && what);
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = path, .error = -error), LOGB_ERROR,
	       "%s: %s: %s%s%s", path, error == -EBADMSG ? "damaged" : strerror(-error), what,
	       moved ? "; it was renamed to " : "", moved ? aside : "");
}
