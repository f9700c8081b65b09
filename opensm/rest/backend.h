// SPDX-License-Identifier: BSD-2-Clause
/* The manager behind the endpoints: one connection to its control socket per call. */
#pragma once

#include "rest/rest.h"

/* `socket` NULL: the only one in /run/opensm. The string stays the caller's. */
void backend_open(struct rest_backend *b, const char *socket);
