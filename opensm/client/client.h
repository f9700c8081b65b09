// SPDX-License-Identifier: BSD-2-Clause
/* A client of the control sockets in the run directory: JSON objects that end with a NUL byte. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct client;

/* Timeout in ms of functions without `ms`; longer than any healthy daemon needs. */
#define CLIENT_PATIENCE 60000

/*
 * NULL: not connected, errno says why; ETIMEDOUT: the daemon takes no connections, its backlog was
 * full for `ms` (0 or more).
 */
struct client *client_open_within(const char *path, int ms);
/* Opens with CLIENT_PATIENCE. */
struct client *client_open(const char *path);
struct client *client_close(struct client *cl); /* NULL is fine; returns NULL */

int client_fd(const struct client *cl);

/*
 * Sends a call. `parameters` may be NULL and stays the caller's. 0 or -errno; -ETIMEDOUT: the
 * daemon did not read the whole call within `ms` (0 or more); it never acts on a part of one.
 */
int client_send_within(struct client *cl, const char *method, struct json_object *parameters,
		       bool more, int ms);
/* Sends a call with CLIENT_PATIENCE. */
int client_send(struct client *cl, const char *method, struct json_object *parameters, bool more);
/*
 * Waits for the next whole answer: 0. -ETIMEDOUT: none within `ms` (-1: for ever). -EPIPE: the
 * daemon is gone. -EBADMSG: this is no JSON object. -ECANCELED: our stdout has no reader any more,
 * and there is no time limit.
 */
int client_receive(struct client *cl, int ms, struct json_object **ret);
/* Waits for the next answer; `ms` (0 or more) is the limit for all its pieces together. */
int client_receive_until(struct client *cl, int ms, struct json_object **ret);

/* A daemon with a control socket: its name, and the path of the socket. */
struct instance {
	char *name, *path;
};
struct instances {
	struct instance *all; /* by name */
	size_t n, cap;
};
/*
 * Finds the sockets NAME.sock in `run_dir` with a running opensm. Returns 0, or -errno: the folder
 * cannot be read (-ENOENT: there is none). Each may take 2 s to answer, all together `ms`.
 */
int instances_find_within(const char *run_dir, int ms, struct instances *ret);
/* Finds instances without a time limit for all together. */
int instances_find(const char *run_dir, struct instances *ret);
void instances_clear(struct instances *all);
