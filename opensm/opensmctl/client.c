// SPDX-License-Identifier: BSD-2-Clause
/* Blocking, with limits in time where the caller wants some: there is nothing else to do meanwhile. */
#include "opensmctl/client.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/str.h"

#define READ_PIECE (64 * 1024)
/* A full-size subnet's longest answer is some 100 MB. */
#define ANSWER_MAX (1024ull * 1024 * 1024)
/* For a socket of somebody else, who does not know our language; in ms. */
#define PROBE_PATIENCE 2000

struct client {
	int fd;
	char *in;
	size_t len, cap;
	size_t scanned;
};

struct client *client_open(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct client *cl;
	int fd, error;

	if (strlen(path) >= sizeof(at.sun_path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		error = errno;
		close(fd);
		errno = error;
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

static int send_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* It may have said why before it hung up: who reads next will see. */
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
	struct json_object *call = json_object_new_object();
	const char *text;
	int r;

	json_object_object_add(call, "method", json_object_new_string(method));
	if (parameters)
		json_object_object_add(call, "parameters", json_object_get(parameters));
	if (more)
		json_object_object_add(call, "more", json_object_new_boolean(true));
	text = json_object_to_json_string_ext(call, JSON_C_TO_STRING_NOSLASHESCAPE);
	r = send_all(cl->fd, text, strlen(text) + 1);
	json_object_put(call);
	return r;
}

static int read_more(struct client *cl, int ms)
{
	/* Whoever waits for ever does not wait for a reader that is gone. */
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
	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return -EPIPE;
	cl->len += (size_t)n;
	return 0;
}

static struct json_object *parse(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o = json_tokener_parse_ex(tok, text, (int)len + 1);

	json_tokener_free(tok);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return NULL;
}

int client_receive(struct client *cl, int ms, struct json_object **ret)
{
	struct json_object *o;
	char *end;

	for (;;) {
		int r;

		end = cl->len > cl->scanned ?
			      memchr(cl->in + cl->scanned, '\0', cl->len - cl->scanned) :
			      NULL;
		if (end)
			break;
		cl->scanned = cl->len;
		r = read_more(cl, ms);
		if (r < 0)
			return r;
	}
	o = parse(cl->in, (size_t)(end - cl->in));
	cl->len -= (size_t)(end + 1 - cl->in);
	memmove(cl->in, end + 1, cl->len);
	cl->scanned = 0;
	if (!o)
		return -EBADMSG;
	*ret = o;
	return 0;
}

/* ---- instances ----------------------------------------------------------------------------- */

/* Also one that refuses to talk to us: whoever calls it will be told why. */
static bool is_opensm(struct client *cl)
{
	struct json_object *answer, *parameters, *product, *error;
	bool is;

	if (client_send(cl, "org.varlink.service.GetInfo", NULL, false) < 0 ||
	    client_receive(cl, PROBE_PATIENCE, &answer) < 0)
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

static bool is_alive(const char *path)
{
	struct client *cl = client_open(path);
	bool is = cl && is_opensm(cl);

	client_close(cl);
	return is;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct instance *)a)->name, ((const struct instance *)b)->name);
}

int instances_find(const char *run_dir, struct instances *ret)
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
		if (!is_alive(path)) {
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

void instances_clear(struct instances *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->all[i].name);
		free(all->all[i].path);
	}
	free(all->all);
	*all = (struct instances){ 0 };
}
