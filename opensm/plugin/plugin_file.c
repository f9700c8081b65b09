// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finding a shared object as dlopen() would, without running any of it, and judging which users
 * could have written it.
 */
#include "plugin/plugin_file.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

/* Folders of ld.so.conf that distributions have, and dlinfo() does not tell of. */
static const char *const more_dirs[] = { "/usr/local/lib", "/usr/local/lib64", "/usr/lib64" };

char *plugin_file_next_name(const char *names, size_t *at)
{
	const char *ends = *at ? " \t\n" : " \t\n,", *name = names + *at;
	size_t len;

	name += strspn(name, ends);
	len = strcspn(name, ends);
	if (!len)
		return NULL;
	/* the separator is skipped, too */
	*at = (size_t)(name - names) + len + (name[len] != '\0');
	return xasprintf("%.*s", (int)len, name);
}

/* ---- where it is ---------------------------------------------------------------------------- */

static char *look_in(const char *dir, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/lib%s.so", dir, name);

	return realpath(path, NULL);
}

/* Folders of the dynamic linker, LD_LIBRARY_PATH first, to be freed; NULL: not known. */
static Dl_serinfo *linker_dirs(void)
{
	void *self = dlopen(NULL, RTLD_LAZY);
	Dl_serinfo size, *dirs;

	if (!self || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) < 0)
		return NULL;
	dirs = xcalloc(1, size.dls_size);
	memcpy(dirs, &size, sizeof(size));
	if (dlinfo(self, RTLD_DI_SERINFOSIZE, dirs) < 0 || dlinfo(self, RTLD_DI_SERINFO, dirs) < 0)
		dirs->dls_cnt = 0;
	dlclose(self);
	return dirs;
}

static char *find_anywhere(const char *name)
{
	_cleanup_free_ Dl_serinfo *dirs = linker_dirs();
	char *path = look_in(OPENSM_PLUGIN_DIR, name);

	for (unsigned i = 0; !path && dirs && i < dirs->dls_cnt; i++)
		path = look_in(dirs->dls_serpath[i].dls_name, name);
	for (unsigned i = 0; !path && i < ARRAY_SIZE(more_dirs); i++)
		path = look_in(more_dirs[i], name);
	return path;
}

char *plugin_file_find(const char *name, char *why, size_t why_len)
{
	char *path;

	assert(name && why && why_len);
	if (strchr(name, '/') || strlen(name) > NAME_MAX - 8) {
		snprintf(why, why_len,
			 "a name is expected, not a path: NAME stands for libNAME.so");
		return NULL;
	}
	path = find_anywhere(name);
	if (!path)
		snprintf(why, why_len, "lib%s.so is not in %s, nor where the dynamic linker looks",
			 name, OPENSM_PLUGIN_DIR);
	return path;
}

/* ---- rights to write it ------------------------------------------------------------------- */

static bool is_safe(const char *path, const struct stat *st, char *why, size_t why_len)
{
	bool sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX);

	if (st->st_uid != 0 && st->st_uid != geteuid()) {
		snprintf(why, why_len, "%s belongs to user %u, and neither to root nor to us", path,
			 (unsigned)st->st_uid);
		return false;
	}
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) && !sticky) {
		snprintf(why, why_len, "%s may be written to by others (mode %04o)", path,
			 (unsigned)st->st_mode & 07777);
		return false;
	}
	return true;
}

bool plugin_file_is_safe(const char *path, char *why, size_t why_len)
{
	_cleanup_free_ char *at = xstrdup(path);
	struct stat st;

	if (stat(at, &st) < 0 || !S_ISREG(st.st_mode)) {
		snprintf(why, why_len, "%s is no file", path);
		return false;
	}
	for (;;) {
		char *slash = strrchr(at, '/');

		if (!is_safe(at, &st, why, why_len))
			return false;
		if (!slash || !strcmp(at, "/"))
			return true;
		slash[slash == at] = '\0'; /* "/lib" is in "/" */
		if (stat(at, &st) < 0) {
			snprintf(why, why_len, "%s: %s", at, strerror(errno));
			return false;
		}
	}
}
