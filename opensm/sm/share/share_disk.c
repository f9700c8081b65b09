// SPDX-License-Identifier: BSD-2-Clause
/*
 * CACHE/from-master/: `configuration` is the text as it came, with its digest; beside it are the
 * files of which options name the path. They are written before the text, and again at each start,
 * so that they are those of the text whatever was interrupted.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sm/share/share_internal.h"
#include "util/file.h"
#include "util/mem.h"

#define TEXT_NAME "configuration"

static int replace_file(const char *path, const char *text, size_t len)
{
	struct file_replace *f = file_replace_open(path, true);

	if (!f)
		return -errno;
	if (len)
		fwrite(text, 1, len, file_replace_stream(f));
	return file_replace_commit(f, true);
}

static bool is_there(const char *path, const char *text, size_t len)
{
	_cleanup_free_ char *old = NULL;
	size_t old_len;

	return file_read(path, COPIED_MAX, &old, &old_len) == 0 && old_len == len &&
	       memcmp(old, text, len) == 0;
}

static int write_files(const char *folder, const struct copied *c)
{
	int r = 0;

	for (size_t i = 0; i < c->n_files && r == 0; i++) {
		const struct copied_file *f = &c->files[i];
		_cleanup_free_ char *path = copied_file_name(folder, f->id);

		if (!f->exists)
			unlink(path);
		else if (!is_there(path, f->text, f->len))
			r = replace_file(path, f->text, f->len);
	}
	return r;
}

static int64_t time_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_mtim.tv_sec : 1;
}

int share_store(const char *folder, const struct copied *c, const char *text, size_t len,
		int64_t *ret_at)
{
	_cleanup_free_ char *path = xasprintf("%s/" TEXT_NAME, folder);
	int r = file_mkdirs(folder, 0700);

	if (r == 0)
		r = write_files(folder, c);
	if (r == 0)
		r = replace_file(path, text, len);
	*ret_at = time_of(path);
	return r;
}

static void tell_fault(const char *path, const char *why)
{
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = path), LOGB_ERROR,
	       "%s: the configuration that was copied from a master is not used: %s; the own "
	       "configuration counts alone until a master sends another copy",
	       path, why);
}

struct copied *share_load(const char *folder)
{
	_cleanup_free_ char *path = xasprintf("%s/" TEXT_NAME, folder), *text = NULL;
	_cleanup_(copied_unrefp) struct copied *c = NULL;
	size_t len;
	int r = file_read(path, COPIED_MAX, &text, &len);

	if (r == -ENOENT)
		return NULL;
	if (r < 0 || copied_read(text, len, &c) < 0) {
		tell_fault(path, r < 0 ? strerror(-r) : "it is damaged");
		return NULL;
	}
	copied_filter(c, share_holds_option, share_holds_file);
	r = write_files(folder, c);
	if (r < 0) {
		tell_fault(path, strerror(-r));
		return NULL;
	}
	c->at = time_of(path);
	return take(c);
}
