// SPDX-License-Identifier: BSD-2-Clause
/* Endpoints of the HTTP half, which are about users alone, as rows for the document of OpenAPI. */
#pragma once

#include "rest/rest.h"

/*
 * Endpoint number `i`; it has no function. `*ret_is_login`: it is about the cookies of sessions
 * alone, and for users that are not known yet. NULL: there are no more.
 */
const struct rest_endpoint *own_endpoint(size_t i, bool *ret_is_login);
