// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of tenants as bytes on the disk: read whole, replaced whole, and written on at its end.
 * Every function blocks until the disk has it.
 */
#include "conf/tenants/tenants_file.h"

#include <errno.h>

#include "conf/text/lines.h"
#include "util/file.h"
#include "util/mem.h"

int tenants_read(const char *path, struct conf_report *r, struct tenants **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int e = lines_load_most(path, TENANTS_FILE_MAX, r, &text, &len);

	return e < 0 ? e : tenants_parse(text, len, path, r, ret, ret_len);
}

int tenants_append(const char *path, size_t at, const char *text, size_t len)
{
	return file_write_at(path, at, text, len);
}

int tenants_replace(const char *path, const char *text, size_t len)
{
	struct file_replace *f = file_replace_open(path, true);

	if (!f)
		return -errno;
	if (fwrite(text, 1, len, file_replace_stream(f)) != len) {
		file_replace_abort(f);
		return -EIO;
	}
	return file_replace_commit(f, true);
}
