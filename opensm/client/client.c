// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits for everything, with a limit in time: there is nothing else to do meanwhile. The socket
 * itself never blocks: connect() and send() of one that does know no limit.
 */
#include "client/client.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/str.h"

#define READ_PIECE (64 * 1024)
/* A full-size subnet's longest answer is some 100 MB. */
#define ANSWER_MAX (1024ull * 1024 * 1024)
/* For a socket of another program, which does not speak the protocol; in ms. */
#define PROBE_PATIENCE 2000
/* Between attempts to connect where the backlog is full, which nothing announces the end of. */
#define CONNECT_PAUSE 10

struct client {
	int fd;
	char *in;
	size_t len, cap;
	size_t scanned;
};

static int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Time left until `until`, in ms; 0 if it has passed. */
static int left_until(int64_t until)
{
	int64_t left = until - clock_ms();

	return left > 0 ? (int)MIN(left, (int64_t)INT_MAX) : 0;
}

/* 0 or -errno. */
static int connect_until(int fd, const struct sockaddr_un *at, int64_t until)
{
	while (connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (!left_until(until))
			return -ETIMEDOUT;
		poll(NULL, 0, MIN(left_until(until), CONNECT_PAUSE));
	}
	return 0;
}

struct client *client_open(const char *path)
{
	return client_open_within(path, CLIENT_PATIENCE);
}

struct client *client_open_within(const char *path, int ms)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int64_t until = clock_ms() + ms;
	struct client *cl;
	int fd, r;

	assert(path && ms >= 0);

	if (strlen(path) >= sizeof(at.sun_path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return NULL;
	r = connect_until(fd, &at, until);
	if (r < 0) {
		close(fd);
		errno = -r;
		return NULL;
	}
	cl = xcalloc(1, sizeof(*cl));
	cl->fd = fd;
	return cl;
}

struct client *client_close(struct client *cl)
{
	if (!cl)
		return NULL;
	close(cl->fd);
	free(cl->in);
	free(cl);
	return NULL;
}

int client_fd(const struct client *cl)
{
	return cl->fd;
}

/* 0: there is room, or an error that send() names; -ETIMEDOUT, -errno. */
static int wait_for_room(int fd, int64_t until)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	int r = poll(&pfd, 1, left_until(until));

	if (r < 0 && errno != EINTR)
		return -errno;
	return r ? 0 : -ETIMEDOUT;
}

static int send_all(int fd, const char *bytes, size_t len, int64_t until)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			r = wait_for_room(fd, until);
			if (r < 0)
				return r;
			continue;
		}
		/* The next read shows the reason, if the daemon wrote one before it hung up. */
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (n < 0)
			return -errno;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

int client_send(struct client *cl, const char *method, struct json_object *parameters, bool more)
{
	return client_send_within(cl, method, parameters, more, CLIENT_PATIENCE);
}

int client_send_within(struct client *cl, const char *method, struct json_object *parameters,
		       bool more, int ms)
{
	struct json_object *call = json_object_new_object();
	int64_t until = clock_ms() + ms;
	const char *text;
	int r;

	assert(cl && method && ms >= 0);
	json_object_object_add(call, "method", json_object_new_string(method));
	if (parameters)
		json_object_object_add(call, "parameters", json_object_get(parameters));
	if (more)
		json_object_object_add(call, "more", json_object_new_boolean(true));
	text = json_object_to_json_string_ext(call, JSON_C_TO_STRING_NOSLASHESCAPE);
	r = send_all(cl->fd, text, strlen(text) + 1, until);
	json_object_put(call);
	return r;
}

static int read_more(struct client *cl, int ms)
{
	/* A wait without limit ends when the reader of our stdout is gone. */
	struct pollfd pfd[] = { { .fd = cl->fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	int r = poll(pfd, ms < 0 ? 2 : 1, ms);
	ssize_t n;

	if (r < 0 && errno == EINTR)
		return 0;
	if (r <= 0)
		return r < 0 ? -errno : -ETIMEDOUT;
	if (!pfd[0].revents)
		return -ECANCELED;
	if (cl->len > ANSWER_MAX)
		return -EBADMSG;
	GROW(cl->in, cl->len + READ_PIECE, cl->cap);
	n = recv(cl->fd, cl->in + cl->len, READ_PIECE, 0);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return -EPIPE;
	cl->len += (size_t)n;
	return 0;
}

static struct json_object *parse_answer(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o = json_tokener_parse_ex(tok, text, (int)len + 1);

	json_tokener_free(tok);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return NULL;
}

/* The NUL behind the first answer, or NULL: it is not whole. */
static char *find_end(struct client *cl)
{
	char *end = cl->len > cl->scanned ?
			    memchr(cl->in + cl->scanned, '\0', cl->len - cl->scanned) :
			    NULL;

	if (!end)
		cl->scanned = cl->len;
	return end;
}

static int cut_answer(struct client *cl, const char *end, struct json_object **ret)
{
	struct json_object *o = parse_answer(cl->in, (size_t)(end - cl->in));

	cl->len -= (size_t)(end + 1 - cl->in);
	memmove(cl->in, end + 1, cl->len);
	cl->scanned = 0;
	if (!o)
		return -EBADMSG;
	*ret = o;
	return 0;
}

int client_receive(struct client *cl, int ms, struct json_object **ret)
{
	char *end;

	assert(cl && ret);
	while (!(end = find_end(cl))) {
		int r = read_more(cl, ms);

		if (r < 0)
			return r;
	}
	return cut_answer(cl, end, ret);
}

int client_receive_until(struct client *cl, int ms, struct json_object **ret)
{
	int64_t until = clock_ms() + ms;
	char *end;

	assert(cl && ms >= 0 && ret);
	while (!(end = find_end(cl))) {
		int r = read_more(cl, left_until(until));

		if (r < 0)
			return r;
	}
	return cut_answer(cl, end, ret);
}

/* ---- instances ----------------------------------------------------------------------------- */

/* Is there an opensm? Also true if it refuses the connection: the call will report the reason. */
static bool is_opensm(struct client *cl, int64_t until)
{
	struct json_object *answer, *parameters, *product, *error;
	bool is;

	if (client_send_within(cl, "org.varlink.service.GetInfo", NULL, false, left_until(until)) <
		    0 ||
	    client_receive_until(cl, left_until(until), &answer) < 0)
		return false;
	if (json_object_object_get_ex(answer, "error", &error))
		is = json_object_is_type(error, json_type_string) &&
		     str_starts(json_object_get_string(error), "org.opensm.");
	else
		is = json_object_object_get_ex(answer, "parameters", &parameters) &&
		     json_object_object_get_ex(parameters, "product", &product) &&
		     str_equal(json_object_get_string(product), "opensm");
	json_object_put(answer);
	return is;
}

static bool is_alive(const char *path, int64_t until)
{
	int64_t own = MIN(until, clock_ms() + PROBE_PATIENCE);
	struct client *cl = client_open_within(path, left_until(own));
	bool is = cl && is_opensm(cl, own);

	client_close(cl);
	return is;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct instance *)a)->name, ((const struct instance *)b)->name);
}

static int find_until(const char *run_dir, int64_t until, struct instances *ret)
{
	DIR *dir = opendir(run_dir);
	struct dirent *e;

	*ret = (struct instances){ 0 };
	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		size_t len = strlen(e->d_name);
		char *path;

		if (len <= 5 || strcmp(e->d_name + len - 5, ".sock"))
			continue;
		path = xasprintf("%s/%s", run_dir, e->d_name);
		if (!is_alive(path, until)) {
			free(path);
			continue;
		}
		GROW(ret->all, ret->n + 1, ret->cap);
		ret->all[ret->n++] = (struct instance){
			.name = xasprintf("%.*s", (int)len - 5, e->d_name),
			.path = path,
		};
	}
	closedir(dir);
	if (ret->n)
		qsort(ret->all, ret->n, sizeof(*ret->all), by_name);
	return 0;
}

int instances_find(const char *run_dir, struct instances *ret)
{
	return find_until(run_dir, INT64_MAX, ret);
}

int instances_find_within(const char *run_dir, int ms, struct instances *ret)
{
	return find_until(run_dir, clock_ms() + ms, ret);
}

void instances_clear(struct instances *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->all[i].name);
		free(all->all[i].path);
	}
	free(all->all);
	*all = (struct instances){ 0 };
}
