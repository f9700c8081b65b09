// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files that are either the old one or the new one, never half of each.
 *
 * file_replace_*: writes to a temporary file of the same directory (O_EXCL | O_NOFOLLOW), flushes,
 * optionally fsyncs file and directory, then renames. A reader never sees half a file; a crash
 * leaves the old one. Stale temporary files of a killed process are reused by name and truncated.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/mem.h"

struct file_replace;

/*
 * Opens a temporary file beside `path`, mode 0644 & ~umask (0600 when `private_mode`). NULL +
 * errno: EISDIR, EINVAL (a device, FIFO or socket is never replaced by a file), or an errno of
 * open().
 */
struct file_replace *file_replace_open(const char *path, bool private_mode);
/*
 * Opens the output file of a command: `-` is the standard output; devices, FIFOs and targets of
 * symbolic links are written to; any other file is replaced by one with `mode` & ~umask. NULL +
 * errno.
 */
struct file_replace *file_output_open(const char *path, unsigned mode);
/* The stream to write to; owned by `f`. */
FILE *file_replace_stream(struct file_replace *f);
/* Renames into place and frees `f`. 0 or -errno (the old file is then untouched). */
int file_replace_commit(struct file_replace *f, bool durable);
/* Removes the temporary file and frees `f`; accepts NULL; returns NULL. */
struct file_replace *file_replace_abort(struct file_replace *f);
FREEP(file_replace_abort, struct file_replace)

/*
 * Reads a whole regular file of at most `limit` bytes; `*ret` is NUL-terminated, the caller frees.
 * 0 or -errno: -EISDIR, -EFBIG, -ENOENT, -EINVAL (FIFO, device) ...
 */
int file_read(const char *path, size_t limit, char **ret, size_t *ret_len);

/*
 * For journals: truncates the file at `at`, writes `bytes` there, calls fsync. 0, or -errno after
 * truncating the file at `at` again, if possible: -ENOENT: there is no such file; -EIO: it is
 * shorter than `at`; -EISDIR, -EINVAL, -ELOOP, -ENXIO: it is no regular file.
 */
int file_write_at(const char *path, size_t at, const void *bytes, size_t len);

/* Was `a` written later than `b`, or is there no `b`? */
bool file_is_newer(const char *a, const char *b);

/* mkdir -p; existing directories are fine. 0 or -errno. */
int file_mkdirs(const char *path, unsigned mode);
