// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whole files: read in one piece, replaced in one piece; and journals, which are written on at
 * their end. Not for the log.
 */
#include "util/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

struct file_replace {
	char *path, *temporary; /* NULL: `stream` is the file itself, or the standard output */
	FILE *stream;
};

static void close_fdp(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static struct file_replace *replace_free(struct file_replace *f)
{
	if (f->stream)
		fclose(f->stream);
	free(f->temporary);
	free(f->path);
	free(f);
	return NULL;
}

/* A leftover is removed first: a program that holds it open notices at commit. */
static int open_fresh(const char *path, mode_t mode)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

/* A device, a FIFO, a socket: rename() would put a file in its place. 0, or -errno. */
static int refuse_no_file(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		return 0;
	return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

static struct file_replace *open_with_mode(const char *path, mode_t mode)
{
	struct file_replace *f;
	int fd, saved, r = refuse_no_file(path);

	if (r < 0) {
		errno = -r;
		return NULL;
	}
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->temporary = xasprintf("%s.new", path);
	fd = open_fresh(f->temporary, mode);
	if (fd < 0) {
		replace_free(f);
		errno = -fd;
		return NULL;
	}
	f->stream = fdopen(fd, "w");
	if (f->stream)
		return f;
	saved = errno;
	close(fd);
	file_replace_abort(f);
	errno = saved;
	return NULL;
}

struct file_replace *file_replace_open(const char *path, bool private_mode)
{
	return open_with_mode(path, private_mode ? 0600 : 0644);
}

/* Is it a device, FIFO, socket or symbolic link, which is kept and written to? */
static bool is_written_to(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int open_as_it_is(const char *path)
{
	if (!strcmp(path, "-"))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
}

struct file_replace *file_output_open(const char *path, unsigned mode)
{
	struct file_replace *f;
	int fd;

	if (strcmp(path, "-") != 0 && !is_written_to(path))
		return open_with_mode(path, mode);
	fd = open_as_it_is(path);
	if (fd < 0)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->stream = fdopen(fd, "w");
	if (f->stream)
		return f;
	close(fd);
	free(f);
	errno = ENOMEM;
	return NULL;
}

FILE *file_replace_stream(struct file_replace *f)
{
	return f->stream;
}

static int sync_parent(const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);
	_cleanup_(close_fdp) int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

/* True if the temporary's name still leads to the file we wrote. */
static bool still_ours(struct file_replace *f)
{
	struct stat open_file, named;

	return fstat(fileno(f->stream), &open_file) == 0 && lstat(f->temporary, &named) == 0 &&
	       open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* stdio does not keep why an earlier write failed: one more byte tells, while the cause lasts. */
static int fault_of(FILE *stream)
{
	return write(fileno(stream), "", 1) < 0 ? -errno : -EIO;
}

static int finish(struct file_replace *f, bool durable)
{
	if (fflush(f->stream) != 0)
		return -errno;
	if (ferror(f->stream))
		return fault_of(f->stream);
	if (!f->temporary)
		return 0;
	if (durable && fsync(fileno(f->stream)) < 0)
		return -errno;
	if (!still_ours(f))
		return -ESTALE;
	return rename(f->temporary, f->path) < 0 ? -errno : 0;
}

int file_replace_commit(struct file_replace *f, bool durable)
{
	int r = finish(f, durable);

	assert(f);
	if (r < 0) {
		file_replace_abort(f);
		return r;
	}
	if (durable && f->path)
		r = sync_parent(f->path);
	replace_free(f);
	return r;
}

struct file_replace *file_replace_abort(struct file_replace *f)
{
	if (!f)
		return NULL;
	if (f->temporary && (!f->stream || still_ours(f)))
		unlink(f->temporary);
	return replace_free(f);
}

static int check_readable(int fd, size_t limit, size_t *ret_size)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > limit)
		return -EFBIG;
	*ret_size = (size_t)st.st_size;
	return 0;
}

/* Reads to the end; the size is a guess only, files in /proc say 0. */
static int read_all(int fd, size_t limit, char **text, size_t *len)
{
	size_t cap = *len + 2;

	*text = xmalloc(cap);
	*len = 0;
	for (;;) {
		ssize_t n = read(fd, *text + *len, cap - *len - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		*len += (size_t)n;
		if (*len > limit)
			return -EFBIG;
		if (n == 0)
			break;
		GROW(*text, *len + 2, cap);
	}
	(*text)[*len] = '\0';
	return 0;
}

int file_read(const char *path, size_t limit, char **ret, size_t *ret_len)
{
	_cleanup_(close_fdp) int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r;

	assert(ret);
	if (fd < 0)
		return -errno;
	r = check_readable(fd, limit, &len);
	if (r < 0)
		return r;
	r = read_all(fd, limit, &text, &len);
	if (r < 0)
		return r;
	*ret = take(text);
	if (ret_len)
		*ret_len = len;
	return 0;
}

static int write_all(int fd, off_t at, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = pwrite(fd, bytes, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_durably(int fd, off_t at, const void *bytes, size_t len)
{
	int r = write_all(fd, at, bytes, len);

	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

/* Removes data of a failed write, so that no reader finds it, even if every byte was written. */
static int cut_off(int fd, off_t at, int error)
{
	if (ftruncate(fd, at) < 0 || fsync(fd) < 0)
		return error; /* also if this failed */
	return error;
}

int file_write_at(const char *path, size_t at, const void *bytes, size_t len)
{
	_cleanup_(close_fdp) int fd =
		open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t size;
	int r;

	assert(path && (bytes || !len));
	if (fd < 0)
		return -errno;
	r = check_readable(fd, SIZE_MAX, &size);
	if (r < 0)
		return r;
	if (size < at)
		return -EIO;
	if (size > at && ftruncate(fd, (off_t)at) < 0)
		return -errno;
	r = write_durably(fd, (off_t)at, bytes, len);
	return r < 0 ? cut_off(fd, (off_t)at, r) : 0;
}

bool file_is_newer(const char *a, const char *b)
{
	struct stat of_a, of_b;

	if (stat(a, &of_a) < 0)
		return false;
	if (stat(b, &of_b) < 0)
		return true;
	if (of_a.st_mtim.tv_sec != of_b.st_mtim.tv_sec)
		return of_a.st_mtim.tv_sec > of_b.st_mtim.tv_sec;
	return of_a.st_mtim.tv_nsec > of_b.st_mtim.tv_nsec;
}

static int make_one(const char *path, unsigned mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int file_mkdirs(const char *path, unsigned mode)
{
	_cleanup_free_ char *copy = xstrdup(path);

	assert(path);
	for (char *slash = copy; (slash = strchr(slash + 1, '/'));) {
		int r;

		*slash = '\0';
		r = make_one(copy, mode);
		*slash = '/';
		if (r < 0)
			return r;
	}
	return make_one(copy, mode);
}
