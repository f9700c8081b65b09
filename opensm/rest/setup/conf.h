// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm-rest.conf: lines of `KEY = VALUE` (ini/ini.h), opensm-rest(8). File names without a `/`
 * are looked for in $CREDENTIALS_DIRECTORY, then beside the configuration.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rest/auth/lines.h"
#include "util/mem.h"

#define CONF_LISTEN_MAX 8
#define CONF_FILE_MAX	(64u << 10)

struct rest_listen {
	char host[64]; /* numeric, without brackets */
	uint16_t port;
	bool tls;
};

struct rest_conf {
	struct rest_listen listen[CONF_LISTEN_MAX];
	unsigned n_listen;
	char *certificate, *key, *client_ca; /* PEM; NULL: none */
	char *users;
	char *control_socket; /* NULL: the only one there is in /run/opensm */
	char *state_dir; /* "": tokens are in memory only */
	char *release, *site;
	bool known_only, plain_http;
	unsigned max_connections;	      /* 16 to 4096 */
	unsigned max_connections_per_address; /* 1 to max_connections */
};

/*
 * Parses the text; file names stay as written. NULL with `fault`: the text is refused as a whole.
 */
struct rest_conf *rest_conf_parse(const char *file, const char *text, size_t len,
				  struct fault *fault);
/* Reads and parses the file, and replaces file names by paths. */
struct rest_conf *rest_conf_load(const char *path, struct fault *fault);
struct rest_conf *rest_conf_free(struct rest_conf *c); /* NULL is fine; returns NULL */
FREEP(rest_conf_free, struct rest_conf)
