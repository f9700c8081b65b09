// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes records: one write() each, so nothing is lost in a crash and threads cannot mix lines.
 *
 * The log is the one thing every layer shares, hence the statics below. A record may come from the
 * worker thread while the main thread reopens: the descriptor number stays (dup2 over it), the
 * settings are exchanged by pointer and the old ones kept until log_close().
 *
 * It decides nothing: callers choose records and levels.
 */
#include "util/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "util/log_flood.h"
#include "util/log_internal.h"
#include "util/mem.h"

#define HEAD_MAX 64     /* date, thread, level */
#define COMPLAINTS_MAX 3 /* about a log that cannot be written, in a row */
#define MB (1024ll * 1024)
/* Number of records alike that are written before they are counted: caused by others, and by us. */
#define ALIKE_OUTSIDE 3
#define ALIKE_OURS    10

struct settings {
	struct settings *older;
	char *path; /* NULL: standard stream */
	char *prefix, *instance;
	unsigned flags;
	int64_t max_size; /* bytes, 0: no limit */
	bool append, quiet;
};

static struct settings first = { .flags = LOGB_ERROR | LOGB_INFO | LOGB_SYS };
static struct settings *current = &first; /* atomic */
static int log_fd = STDERR_FILENO; /* atomic */
static int64_t log_size; /* atomic; bytes in the file */
static int complaints; /* atomic; write errors in a row */
static void (*log_sink)(void *arg, unsigned bits, const char *text);
static void *log_sink_arg;

struct modules {
	struct modules *older;
	unsigned any; /* all masks together */
	size_t n;
	struct log_module list[];
};
static struct modules *modules; /* atomic; NULL: none */
static struct log_flood *flood; /* used by the thread that holds flood_taken */
static char flood_taken;	/* atomic */
static bool time_is_set;	/* log_set_now() */
static mono_t set_time;

static void log_flush_counts(void);
static int log_head(char body[TEXT_MAX], const char *prefix, const char *func);

static const struct settings *settings(void)
{
	return __atomic_load_n(&current, __ATOMIC_ACQUIRE);
}

static void adopt(struct settings *s)
{
	s->older = current;
	__atomic_store_n(&current, s, __ATOMIC_RELEASE);
}

/* The descriptor of the standard stream `path` names, -1 if it names a file. */
static int stream_fd(const char *path)
{
	if (!path || !strcmp(path, "-") || !strcmp(path, "stdout"))
		return STDOUT_FILENO;
	return strcmp(path, "stderr") ? -1 : STDERR_FILENO;
}

static struct settings *settings_new(const struct log_config *config)
{
	struct settings *s = xcalloc(1, sizeof(*s));

	s->path = stream_fd(config->path) >= 0 ? NULL : xstrdup(config->path);
	s->prefix = config->prefix ? xstrdup(config->prefix) : NULL;
	s->instance = config->instance ? xstrdup(config->instance) : NULL;
	s->flags = config->flags | LOGB_SYS;
	s->max_size = config->max_size_mb * MB;
	s->append = config->append;
	s->quiet = config->quiet;
	return s;
}

/* Others can put names into the folder of `path`: then a symlink there may be a trap. */
static bool folder_is_shared(const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);
	struct stat st;

	return stat(dirname(copy), &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH));
}

static int check_target(int fd, bool shared)
{
	struct stat st, null;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return shared && st.st_nlink > 1 ? -EMLINK : 0;
	if (isatty(fd))
		return 0;
	if (S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && null.st_rdev == st.st_rdev)
		return 0;
	return -EINVAL;
}

/* A descriptor on the file, emptied unless it is to be appended to, or -errno. */
static int open_file(const char *path, bool append, int64_t *ret_size)
{
	bool shared = folder_is_shared(path);
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = open(path, flags | (shared ? O_NOFOLLOW : 0), 0644);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	if (fd <= STDERR_FILENO) { /* started without standard streams: keep off their places */
		int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

		close(fd);
		if (high < 0)
			return -EMFILE;
		fd = high;
	}
	r = check_target(fd, shared);
	if (r == 0 && fcntl(fd, F_SETFL, O_APPEND) < 0)
		r = -errno;
	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r == 0 && S_ISREG(st.st_mode) && !append && ftruncate(fd, 0) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret_size = append && S_ISREG(st.st_mode) ? st.st_size : 0;
	return fd;
}

/* Makes `fd` the log; the number of a file already open stays the same. */
static int install(int fd, int64_t size)
{
	int old = log_fd;

	if (old > STDERR_FILENO && fd > STDERR_FILENO) {
		int r = dup2(fd, old) < 0 || fcntl(old, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;

		close(fd);
		if (r < 0)
			return r;
	} else {
		__atomic_store_n(&log_fd, fd, __ATOMIC_RELEASE);
		if (old > STDERR_FILENO)
			close(old);
	}
	__atomic_store_n(&log_size, size, __ATOMIC_RELAXED);
	__atomic_store_n(&complaints, 0, __ATOMIC_RELAXED);
	return 0;
}

/* True if `fd` is the stream systemd connected to the journal (systemd.exec(5), JOURNAL_STREAM). */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	if (!stream || sscanf(stream, "%llu:%llu", &device, &inode) != 2 || fstat(fd, &st) < 0)
		return false;
	return st.st_dev == device && st.st_ino == inode;
}

int log_open(const struct log_config *config)
{
	int fd = stream_fd(config->path);
	bool file = fd < 0;
	int64_t size = 0;
	int r;

	if (file)
		fd = open_file(config->path, config->append, &size);
	if (fd < 0)
		return fd;
	r = install(fd, size);
	if (r < 0)
		return r;
	adopt(settings_new(config));
	/*
	 * The journal knows us by one name (log_record.c); without it syslog has the one that
	 * scripts look for.
	 */
	openlog(is_journal(STDERR_FILENO) ? "opensm" : LOG_IDENT, LOG_CONS | LOG_PID, LOG_USER);
	if (file)
		syslog(LOG_NOTICE, "%s log file opened", config->path);
	return 0;
}

int log_reopen(void)
{
	const struct settings *s = settings();
	int64_t size;
	int fd;

	if (!s->path)
		return 0;
	fd = open_file(s->path, s->append, &size);
	return fd < 0 ? fd : install(fd, size);
}

void log_configure(const struct log_config *config)
{
	struct settings *s = settings_new(config);

	free(s->path);
	s->path = current->path ? xstrdup(current->path) : NULL;
	s->append = config->append;
	if (!s->instance && current->instance)
		s->instance = xstrdup(current->instance);
	s->quiet = current->quiet;
	adopt(s);
}

unsigned log_flags(void)
{
	return settings()->flags;
}

void log_set_flags(unsigned flags)
{
	struct settings *s = xmemdup(current, sizeof(*s));

	s->path = current->path ? xstrdup(current->path) : NULL;
	s->prefix = current->prefix ? xstrdup(current->prefix) : NULL;
	s->instance = current->instance ? xstrdup(current->instance) : NULL;
	s->flags = (flags & 0xFF) | LOGB_SYS;
	adopt(s);
}

void log_set_modules(const struct log_module *list, size_t n)
{
	struct modules *m = xcalloc(1, sizeof(*m) + n * sizeof(*list));

	assert(list || !n);
	for (m->n = 0; m->n < n; m->n++) {
		m->list[m->n] = (struct log_module){ xstrdup(list[m->n].name), list[m->n].mask };
		m->any |= list[m->n].mask;
	}
	m->older = modules;
	__atomic_store_n(&modules, m, __ATOMIC_RELEASE);
}

static void free_modules(void)
{
	while (modules) {
		struct modules *m = modules;

		modules = m->older;
		for (size_t i = 0; i < m->n; i++)
			free(as_owner(m->list[i].name));
		free(m);
	}
}

void log_close(void)
{
	log_flush_counts();
	install(STDERR_FILENO, 0);
	free_modules();
	flood = log_flood_free(flood);
	while (current != &first) {
		struct settings *s = current;

		current = s->older;
		free(s->path);
		free(s->prefix);
		free(s->instance);
		free(s);
	}
}

int log_fileno(void)
{
	return __atomic_load_n(&log_fd, __ATOMIC_ACQUIRE);
}

void log_set_sink(void (*sink)(void *arg, unsigned bits, const char *text), void *arg)
{
	log_sink = sink;
	log_sink_arg = arg;
	time_is_set = false;
	flood = log_flood_free(flood);
}

void log_set_now(mono_t now)
{
	time_is_set = true;
	set_time = now;
}

bool log_wants_in(const char *file, unsigned bits)
{
	const struct modules *m;

	if (settings()->flags & bits)
		return true;
	m = __atomic_load_n(&modules, __ATOMIC_ACQUIRE);
	return m && m->any & bits && log_modules_mask(m->list, m->n, file) & bits;
}

/* "Nov 20 17:15:04 463241 [A9FDC6C0] 0x02 -> " */
static int format_head(char *head, unsigned bits)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	return snprintf(head, HEAD_MAX, "%.3s %02d %02d:%02d:%02d %06ld [%04X] 0x%02x -> ",
			months + 3 * tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
			now.tv_nsec / 1000, (unsigned)(uintptr_t)pthread_self(), bits);
}

/* 0 or -errno; a short write is continued, so a full disk shows. */
static int write_whole(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
		__atomic_add_fetch(&log_size, n, __ATOMIC_RELAXED);
	}
	return 0;
}

static void empty_file(int fd)
{
	if (ftruncate(fd, 0) == 0)
		__atomic_store_n(&log_size, 0, __ATOMIC_RELAXED);
}

static void complain(int error)
{
	if (__atomic_fetch_add(&complaints, 1, __ATOMIC_RELAXED) < COMPLAINTS_MAX)
		fprintf(stderr, "opensm: cannot write the log: %s\n", strerror(error));
}

static void write_line(const struct settings *s, const char *line, size_t len)
{
	int fd = log_fileno();
	int r;

	if (s->path && s->max_size && __atomic_load_n(&log_size, __ATOMIC_RELAXED) > s->max_size) {
		fprintf(stderr, "opensm: log file exceeds the limit %lld. Truncating.\n",
			(long long)s->max_size);
		empty_file(fd);
	}
	if (fd == STDOUT_FILENO)
		fflush(stdout); /* text that printf() still holds is older */
	r = write_whole(fd, line, len);
	if (r == -ENOSPC && s->path && s->max_size) {
		empty_file(fd);
		r = write_whole(fd, line, len);
	}
	if (r < 0)
		complain(-r);
	else
		__atomic_store_n(&complaints, 0, __ATOMIC_RELAXED);
}

/* State changes go to terminal and syslog, too. */
static void write_sys(const struct settings *s, const struct log_record *record)
{
	if (!is_journal(STDERR_FILENO))
		syslog(LOG_INFO, "%s", record->body);
	if (s->quiet || log_fileno() == STDOUT_FILENO || is_journal(STDOUT_FILENO))
		return;
	printf("%s\n\n", record->text);
	fflush(stdout);
}

static void deliver(const struct settings *s, const struct log_record *record)
{
	int fd = log_fileno();
	bool to_stream = fd == STDOUT_FILENO || fd == STDERR_FILENO;
	char line[HEAD_MAX + TEXT_MAX + 1];
	int len;

	/* A stream that is the journal gets fields instead of a second date. */
	if (is_journal(STDERR_FILENO) &&
	    (to_stream || record->bits & (LOGB_ERROR | LOGB_INFO | LOGB_SYS)))
		log_write_journal(record, s->instance);
	if (!to_stream || !is_journal(fd)) {
		len = format_head(line, record->bits);
		len += snprintf(line + len, sizeof(line) - (size_t)len, "%s\n", record->body);
		write_line(s, line, (size_t)len);
	}
	if (record->bits & LOGB_SYS)
		write_sys(s, record);
}

/* ---- what repeats --------------------------------------------------------------------------- */

/*
 * One thread at a time; a thread that does not get it writes without counting: none waits for a
 * record of another.
 */
static bool flood_take(void)
{
	if (__atomic_test_and_set(&flood_taken, __ATOMIC_ACQUIRE))
		return false;
	if (!flood)
		flood = log_flood_new();
	return true;
}

static void flood_release(void)
{
	__atomic_clear(&flood_taken, __ATOMIC_RELEASE);
}

static mono_t log_now(void)
{
	struct timespec now;

	if (time_is_set)
		return set_time;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * MONO_S + now.tv_nsec / 1000;
}

static void emit(const struct settings *s, const struct log_record *record)
{
	if (log_sink)
		log_sink(log_sink_arg, record->bits, record->text);
	else
		deliver(s, record);
}

static void write_count(const struct settings *s, const struct log_count *c)
{
	const struct log_about about = { .id = c->kind == LOG_COUNT_ALL ? LOG_ID_TOO_MANY : c->id };
	unsigned bits = c->bits ? c->bits : LOGB_ERROR;
	char body[TEXT_MAX], times[32], span[LOG_SPAN_STRLEN];
	int head = log_head(body, s->prefix, c->func);

	log_span_str(c->seconds, span);
	snprintf(times, sizeof(times), c->n == 1 ? "once" : "%" PRIu64 " times", c->n);
	if (c->kind == LOG_COUNT_ALIKE)
		snprintf(body + head, sizeof(body) - head, "%s (repeated %s in the last %s)",
			 c->text, times, span);
	else
		snprintf(body + head, sizeof(body) - head,
			 "%s: %" PRIu64 " left out in the last %s, the last was: %s",
			 c->kind == LOG_COUNT_SOURCE ? "too many records about one node"
						     : "too many records",
			 c->n, span, c->text);
	emit(s, &(struct log_record){ .bits = bits, .func = c->func, .text = body + head,
				      .body = body, .about = &about, .repeated = c->n });
}

void log_tick(void)
{
	struct log_count count;
	bool more;

	if (!flood || (log_sink && !time_is_set))
		return;
	do {
		if (!flood_take())
			return;
		more = log_flood_next(flood, log_now(), &count);
		flood_release();
		if (more)
			write_count(settings(), &count);
	} while (more);
}

/* Writes the counts of suppressed records at the end. */
static void log_flush_counts(void)
{
	struct log_count count;

	if (flood && (!log_sink || time_is_set))
		while (log_flood_last(flood, log_now(), &count))
			write_count(settings(), &count);
}

/* About a host that breaks rules; those that write them do it once an hour and kind. */
static bool is_alarm(enum log_id id)
{
	static const enum log_id ids[] = {
		LOG_ID_SILENT,	       LOG_ID_IDENTITY, LOG_ID_TRAP_FORGED,    LOG_ID_TRAP_KEY,
		LOG_ID_ANSWERS_FORGED, LOG_ID_SA_KEY_GUESSED, LOG_ID_SA_REFUSED,
		LOG_ID_MANAGER_REFUSED,
	};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* False: it was counted instead. Records that only a debug level asks for are all written. */
static bool passes(const struct log_record *record, const char *fmt)
{
	struct log_case c = {
		.what = log_record_hash(record, fmt),
		.source = log_record_source(record),
		.important = record->bits & LOGB_ERROR,
		.alarm = record->about && is_alarm(record->about->id),
		.state = record->bits & LOGB_SYS,
		.text = record->text,
		.func = record->func,
		.bits = record->bits,
		.id = record->about ? record->about->id : LOG_ID_NONE,
	};
	bool pass;

	if (!(record->bits & (LOGB_ERROR | LOGB_INFO | LOGB_VERBOSE | LOGB_SYS)) ||
	    (log_sink && !time_is_set))
		return true;
	if (record->func)
		c.often = record->about && record->about->often ? record->about->often
			  : c.source				? ALIKE_OUTSIDE
								: ALIKE_OURS;
	log_tick();
	if (!flood_take())
		return true;
	pass = log_flood_pass(flood, &c, log_now());
	flood_release();
	return pass;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Names of functions are written on request only (0x10 in log_flags). */
static int log_head(char body[TEXT_MAX], const char *prefix, const char *func)
{
	int len;

	if (!(log_flags() & LOGB_FUNCS))
		func = NULL;
	len = snprintf(body, TEXT_MAX, "%s%s%s%s", prefix ? prefix : "", prefix ? ": " : "",
			   func ? func : "", func ? ": " : "");

	return MIN(len, TEXT_MAX / 2);
}

static void write_record(struct log_record *record, const char *fmt, va_list args)
{
	const struct settings *s = settings();
	char body[TEXT_MAX];
	int head = log_head(body, s->prefix, record->func);
	int len = vsnprintf(body + head, sizeof(body) - (size_t)head, fmt, args);

	len = len < 0 ? head : MIN(head + len, TEXT_MAX - 1);
	if (len > head && body[len - 1] == '\n')
		len--;
	body[len] = '\0';
	record->text = body + head;
	record->body = body;
	if (passes(record, fmt))
		emit(s, record);
}

void log_write(unsigned bits, const char *func, const char *fmt, ...)
{
	struct log_record record = { .bits = bits, .func = func };
	va_list args;

	va_start(args, fmt);
	write_record(&record, fmt, args);
	va_end(args);
}

void log_write_on(const struct log_about *about, unsigned bits, const char *func, const char *fmt,
		  ...)
{
	struct log_record record = { .bits = bits, .func = func, .about = about };
	va_list args;

	va_start(args, fmt);
	write_record(&record, fmt, args);
	va_end(args);
}

bool log_allow(struct log_limit *limit, mono_t now, unsigned *ret_suppressed)
{
	/* Every whole interval gives one record back. */
	if (limit->interval > 0 && now > limit->since) {
		mono_t earned = (now - limit->since) / limit->interval;

		limit->used = earned >= (mono_t)limit->used ? 0 : limit->used - (unsigned)earned;
		limit->since = limit->used ? limit->since + earned * limit->interval : now;
	}
	if (limit->used >= limit->burst) {
		limit->suppressed++;
		return false;
	}
	limit->used++;
	*ret_suppressed = limit->suppressed;
	limit->suppressed = 0;
	return true;
}

const char *log_others(unsigned suppressed, char ret[LOG_OTHERS_STRLEN])
{
	ret[0] = '\0';
	if (suppressed)
		snprintf(ret, LOG_OTHERS_STRLEN, "; %u %s", suppressed,
			 suppressed == 1 ? "other was not said" : "others were not said");
	return ret;
}
