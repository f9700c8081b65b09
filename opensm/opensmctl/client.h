// SPDX-License-Identifier: BSD-2-Clause
/* The wire: sockets of daemons in the run directory, JSON objects that end with a NUL byte. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct client;

/* NULL: not connected, errno says why. */
struct client *client_open(const char *path);
struct client *client_close(struct client *cl); /* NULL is fine; returns NULL */

/* Asks. `parameters` may be NULL and stays the caller's. 0 or -errno. */
int client_send(struct client *cl, const char *method, struct json_object *parameters, bool more);
/*
 * The next answer, whole: 0. -ETIMEDOUT: none within `ms` (-1: for ever). -EPIPE: the daemon is gone.
 * -EBADMSG: this is no JSON object. -ECANCELED: nobody reads our stdout any more, and there is no limit.
 */
int client_receive(struct client *cl, int ms, struct json_object **ret);

/* A daemon that may be talked to. */
struct instance {
	char *name, *path;
};
struct instances {
	struct instance *all; /* by name */
	size_t n, cap;
};
/*
 * Living sockets NAME.sock in `run_dir` behind which there is an opensm. Returns 0, or -errno: the folder
 * cannot be read (-ENOENT: there is none).
 */
int instances_find(const char *run_dir, struct instances *ret);
void instances_clear(struct instances *all);
