// SPDX-License-Identifier: BSD-2-Clause
/* The handshake is libmicrohttpd's and GnuTLS's; what the certificate means is decided here. */
#include "rest/http/tls.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"

#define PEM_MAX (1u << 20)

static char *read_pem(const char *path, struct fault *fault)
{
	char *text = NULL;
	size_t len;
	int r = file_read(path, PEM_MAX, &text, &len);

	if (r < 0)
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(-r));
	return r < 0 ? NULL : text;
}

static gnutls_datum_t datum_of(char *text)
{
	return (gnutls_datum_t){ .data = (unsigned char *)text, .size = (unsigned)strlen(text) };
}

static bool check_pair(const char *certificate, const char *key, const struct tls_files *f,
		       struct fault *fault)
{
	gnutls_datum_t cert_text = datum_of(f->certificate), key_text = datum_of(f->key);
	gnutls_certificate_credentials_t pair;
	int r = gnutls_certificate_allocate_credentials(&pair);

	if (r < 0)
		return false;
	r = gnutls_certificate_set_x509_key_mem(pair, &cert_text, &key_text, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(pair);
	if (r < 0)
		snprintf(fault->text, sizeof(fault->text), "%.120s, %.120s: %s", certificate, key,
			 gnutls_strerror(r));
	return r >= 0;
}

static bool check_ca(const char *path, const struct tls_files *f, struct fault *fault)
{
	gnutls_datum_t text = datum_of(f->client_ca);
	gnutls_x509_crt_t *list;
	unsigned n = 0;
	int r = gnutls_x509_crt_list_import2(&list, &n, &text, GNUTLS_X509_FMT_PEM, 0);

	if (r < 0) {
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, gnutls_strerror(r));
		return false;
	}
	for (unsigned i = 0; i < n; i++)
		gnutls_x509_crt_deinit(list[i]);
	gnutls_free(list);
	return true;
}

struct tls_files *tls_files_load(const char *certificate, const char *key, const char *client_ca,
				 struct fault *fault)
{
	_cleanup_(tls_files_freep) struct tls_files *f = xcalloc(1, sizeof(*f));

	assert(certificate && key && fault);
	f->certificate = read_pem(certificate, fault);
	f->key = f->certificate ? read_pem(key, fault) : NULL;
	if (!f->key || !check_pair(certificate, key, f, fault))
		return NULL;
	if (client_ca) {
		f->client_ca = read_pem(client_ca, fault);
		if (!f->client_ca || !check_ca(client_ca, f, fault))
			return NULL;
	}
	return take(f);
}

struct tls_files *tls_files_free(struct tls_files *f)
{
	if (!f)
		return NULL;
	if (f->key)
		explicit_bzero(f->key, strlen(f->key));
	free(f->certificate);
	free(f->key);
	free(f->client_ca);
	free(f);
	return NULL;
}

/* ---- clients ------------------------------------------------------------------------------- */

bool tls_client_is_verified(gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID,
					  .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT };
	unsigned status = 1;

	assert(session);
	return gnutls_certificate_type_get2(session, GNUTLS_CTYPE_PEERS) == GNUTLS_CRT_X509 &&
	       gnutls_certificate_verify_peers(session, &purpose, 1, &status) == 0 && status == 0;
}

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~' || text[i] == ',')
			return false;
	return len > 0;
}

bool tls_client_name(gnutls_session_t session, unsigned i, char ret[TLS_NAME_MAX], bool *skip)
{
	unsigned n = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &n);
	gnutls_x509_crt_t crt;
	size_t len = TLS_NAME_MAX - 1;
	int kind = -1;

	assert(ret && skip);
	if (!chain || !n || i >= TLS_NAMES_MAX || gnutls_x509_crt_init(&crt) < 0)
		return false;
	if (gnutls_x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER) >= 0)
		kind = gnutls_x509_crt_get_subject_alt_name(crt, i, ret, &len, NULL);
	gnutls_x509_crt_deinit(crt);
	if (kind == GNUTLS_E_SHORT_MEMORY_BUFFER)
		*skip = true;
	else if (kind < 0)
		return false;
	else
		*skip = (kind != GNUTLS_SAN_DNSNAME && kind != GNUTLS_SAN_RFC822NAME &&
			 kind != GNUTLS_SAN_URI) ||
			!is_name(ret, len);
	ret[*skip ? 0 : len] = '\0';
	return true;
}
