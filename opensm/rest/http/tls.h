// SPDX-License-Identifier: BSD-2-Clause
/* Files of TLS, and the certificate of a client. */
#pragma once

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>

#include "rest/auth/lines.h"
#include "util/mem.h"

struct tls_files {
	char *certificate, *key, *client_ca; /* PEM texts; client_ca may be NULL */
};

/*
 * Reads them, and checks that the key belongs to the certificate. `client_ca` may be NULL. NULL and
 * a fault.
 */
struct tls_files *tls_files_load(const char *certificate, const char *key, const char *client_ca,
				 struct fault *fault);
struct tls_files *tls_files_free(struct tls_files *f); /* NULL is fine; returns NULL; wipes */
FREEP(tls_files_free, struct tls_files)

#define TLS_NAME_MAX 256
#define TLS_NAMES_MAX 16
/*
 * Name number `i` (DNS name, e-mail address or URI) in the certificate of the client: false if the
 * client gave none that the client CAs vouch for, for this purpose and time, or it has no more.
 * `skip`: the name is of another kind, or has characters that no name has.
 */
bool tls_client_name(gnutls_session_t session, unsigned i, char ret[TLS_NAME_MAX], bool *skip);
/* A certificate was given, and may be used. */
bool tls_client_is_verified(gnutls_session_t session);
