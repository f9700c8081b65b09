// SPDX-License-Identifier: BSD-2-Clause
/* Files that opensm-rest lacks before its first start, and the certificate that it makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rest/http/tls.h"
#include "rest/setup/certificate.h"
#include "rest/setup/missing.h"
#include "util/mem.h"

static char folder[32], path[64], said[2048];

static void say(const char *sentence)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s\n", sentence);
}

static int set_up(void **state)
{
	said[0] = '\0';
	snprintf(folder, sizeof(folder), "/tmp/test-rest-setup.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/rest.conf", folder);
	unsetenv("CREDENTIALS_DIRECTORY");
	return 0;
}

static void put(const char *name, const char *text)
{
	_cleanup_free_ char *at = xasprintf("%s/%s", folder, name);
	FILE *out = fopen(at, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static int tear_down(void **state)
{
	static const char *const names[] = { "rest.conf", "a.crt", "a.key", "opensm-rest.users" };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *at = xasprintf("%s/%s", folder, names[i]);

		unlink(at);
	}
	return rmdir(folder);
}

static struct rest_conf *configure(const char *listen)
{
	_cleanup_free_ char *text = xasprintf("%s\ncertificate = a.crt\nkey = a.key\n", listen);
	struct fault fault;
	struct rest_conf *c;

	put("rest.conf", text);
	c = rest_conf_load(path, &fault);
	if (!c)
		fail_msg("%s", fault.text);
	return c;
}

static void each_missing_file_has_its_command(void **state)
{
	struct rest_conf *c;

	assert_int_equal(missing_files(path, NULL, say), 1);
	assert_non_null(strstr(said, "/rest.conf: no such file; begin with the example: cp "));
	c = configure("listen = 127.0.0.1:443");
	said[0] = '\0';
	assert_int_equal(missing_files(path, NULL, say), 0);
	assert_int_equal(missing_files(path, c, say), 3);
	assert_non_null(strstr(said, "/a.crt: no such file; copy the certificate of this host"));
	assert_non_null(strstr(said, "/a.key: no such file; copy the key of the certificate"));
	assert_non_null(strstr(said, "/rest.conf --make-certificate\n"));
	assert_non_null(strstr(said, "/rest.conf --add-user NAME --right tenant\n"));
	rest_conf_free(c);
}

static void without_https_no_certificate_is_missing(void **state)
{
	struct rest_conf *c = configure("listen_http = 127.0.0.1:8080");

	put("opensm-rest.users", "");
	assert_int_equal(missing_files(path, c, say), 0);
	assert_string_equal(said, "");
	rest_conf_free(c);
}

/* The unit gives an empty line for a file that is missing. */
static void an_empty_credential_is_none(void **state)
{
	struct rest_conf *c;

	put("a.crt", "\n");
	setenv("CREDENTIALS_DIRECTORY", folder, 1);
	c = configure("listen = 127.0.0.1:443");
	unlink(c->certificate);
	assert_int_equal(missing_files(path, c, say), 3);
	rest_conf_free(c);
	unsetenv("CREDENTIALS_DIRECTORY");
}

static void a_certificate_is_made_once(void **state)
{
	struct rest_conf *c = configure("listen = 127.0.0.1:443");
	struct tls_files *files;
	struct fault fault;
	struct stat st;

	if (!make_certificate(c, &fault))
		fail_msg("%s", fault.text);
	assert_int_equal(stat(c->key, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* the two belong together */
	files = tls_files_load(c->certificate, c->key, NULL, &fault);
	assert_non_null(files);
	tls_files_free(files);
	/* neither is overwritten, nor is the other one made alone */
	assert_false(make_certificate(c, &fault));
	assert_non_null(strstr(fault.text, "a.crt is there already, nothing is overwritten"));
	unlink(c->certificate);
	assert_false(make_certificate(c, &fault));
	assert_non_null(strstr(fault.text, "a.key is there already"));
	assert_int_equal(access(c->certificate, F_OK), -1);
	rest_conf_free(c);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_missing_file_has_its_command),
		T(without_https_no_certificate_is_missing),
		T(an_empty_credential_is_none),
		T(a_certificate_is_made_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
