// SPDX-License-Identifier: BSD-2-Clause
/* The living page: its files for the server, and news of the manager to the streams of it. */
#pragma once

#include "rest/http/http.h"

struct living;

/* Fills in what the server needs of it. NULL: errno. */
struct living *living_new(sd_event *event, struct rest_backend *b, struct http_source *ret);
/* News go to this server from now on. */
void living_start(struct living *l, struct http *http);
/* After http_free(). NULL is fine; returns NULL. */
struct living *living_free(struct living *l);
