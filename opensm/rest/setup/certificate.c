// SPDX-License-Identifier: BSD-2-Clause
/*
 * For hosts without a CA: clients take this certificate itself as the one to trust
 * (curl --cacert opensm-rest.crt).
 */
#include "rest/setup/certificate.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "util/file.h"

#define DAY	      (24 * 3600)
#define DAYS	      825 /* the most that common clients take */
#define CLOCK_OFF     DAY /* a client's clock may be that much behind */
#define SERIAL_BYTES  16
#define HOST_NAME_LEN 256

struct names {
	char host[HOST_NAME_LEN];
	char full[HOST_NAME_LEN]; /* with the domain, as the resolver knows it; "": the same */
};

static void find_names(struct names *n)
{
	const struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;

	*n = (struct names){ .host = "localhost" };
	if (gethostname(n->host, sizeof(n->host) - 1) < 0 || !n->host[0])
		snprintf(n->host, sizeof(n->host), "localhost");
	if (getaddrinfo(n->host, NULL, &hints, &found) == 0) {
		if (found->ai_canonname && strcmp(found->ai_canonname, n->host) != 0)
			snprintf(n->full, sizeof(n->full), "%s", found->ai_canonname);
		freeaddrinfo(found);
	}
}

static int add_name(gnutls_x509_crt_t crt, const char *name, unsigned flags)
{
	if (!name[0])
		return 0;
	return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
						    (unsigned)strlen(name), flags);
}

static int set_serial(gnutls_x509_crt_t crt)
{
	unsigned char serial[SERIAL_BYTES];
	int r = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] &= 0x7f; /* a positive number */
	serial[0] |= 0x40;
	return r < 0 ? r : gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
}

/* Fills and signs; 0, or the number of an error of GnuTLS. */
static int fill(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key)
{
	const char *oid = GNUTLS_OID_X520_COMMON_NAME;
	const time_t now = time(NULL);
	struct names names;
	int r;

	find_names(&names);
	r = gnutls_x509_crt_set_version(crt, 3);
	if (r >= 0)
		r = set_serial(crt);
	if (r >= 0)
		r = gnutls_x509_crt_set_activation_time(crt, now - CLOCK_OFF);
	if (r >= 0)
		r = gnutls_x509_crt_set_expiration_time(crt, now + (time_t)DAYS * DAY);
	if (r >= 0) /* a common name has 64 characters at most */
		r = gnutls_x509_crt_set_dn_by_oid(crt, oid, 0, names.host,
						  (unsigned)strnlen(names.host, 64));
	if (r >= 0)
		r = add_name(crt, names.host, GNUTLS_FSAN_SET);
	if (r >= 0)
		r = add_name(crt, names.full, GNUTLS_FSAN_APPEND);
	if (r >= 0)
		r = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	if (r >= 0)
		r = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (r >= 0)
		r = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (r >= 0)
		r = gnutls_x509_crt_set_key(crt, key);
	if (r >= 0)
		r = gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
	return r;
}

static int store(const char *path, const gnutls_datum_t *pem, bool is_private)
{
	struct file_replace *f = file_replace_open(path, is_private);

	if (!f)
		return -errno;
	fwrite(pem->data, 1, pem->size, file_replace_stream(f));
	return file_replace_commit(f, true);
}

static bool store_both(const struct rest_conf *conf, const gnutls_datum_t *crt,
		       const gnutls_datum_t *key, struct fault *fault)
{
	const char *path = conf->key;
	int r = store(path, key, true);

	if (r >= 0) {
		path = conf->certificate;
		r = store(path, crt, false);
		if (r < 0)
			unlink(conf->key);
	}
	if (r < 0)
		snprintf(fault->text, sizeof(fault->text), "%.200s: %s", path, strerror(-r));
	return r >= 0;
}

static bool make_pair(const struct rest_conf *conf, struct fault *fault)
{
	gnutls_datum_t crt_text = { 0 }, key_text = { 0 };
	gnutls_x509_privkey_t key = NULL;
	gnutls_x509_crt_t crt = NULL;
	bool done = false;
	int r = gnutls_x509_privkey_init(&key);

	if (r >= 0)
		r = gnutls_x509_crt_init(&crt);
	if (r >= 0)
		r = gnutls_x509_privkey_generate(
			key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (r >= 0)
		r = fill(crt, key);
	if (r >= 0)
		r = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &crt_text);
	if (r >= 0)
		r = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &key_text);
	if (r < 0)
		snprintf(fault->text, sizeof(fault->text), "no certificate can be made: %s",
			 gnutls_strerror(r));
	else
		done = store_both(conf, &crt_text, &key_text, fault);
	if (key_text.data)
		explicit_bzero(key_text.data, key_text.size);
	gnutls_free(key_text.data);
	gnutls_free(crt_text.data);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
	return done;
}

bool make_certificate(const struct rest_conf *conf, struct fault *fault)
{
	assert(conf && fault);
	if (!conf->certificate || !conf->key) {
		snprintf(fault->text, sizeof(fault->text),
			 "the configuration names no certificate and key; expected are lines like "
			 "certificate = opensm-rest.crt and key = opensm-rest.key");
		return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		const char *path = i ? conf->key : conf->certificate;

		if (access(path, F_OK) == 0) {
			snprintf(fault->text, sizeof(fault->text),
				 "%.200s is there already, nothing is overwritten; move it away to "
				 "have certificate and key made",
				 path);
			return false;
		}
	}
	return make_pair(conf, fault);
}
