# SPDX-License-Identifier: BSD-2-Clause
# The endpoints: what is asked of the subnet manager, and how it is told.
noinst_LIBRARIES += librestapi.a
librestapi_a_SOURCES = opensm/rest/rest.h opensm/rest/api_table.c opensm/rest/api_internal.h opensm/rest/api_app.c opensm/rest/api_marks.c opensm/rest/api_alarms.c opensm/rest/api_jobs.c opensm/rest/api_topology.c \
	opensm/rest/api_change.c opensm/rest/api_fabric.c opensm/rest/api_fabric.h opensm/rest/api_hosts.c \
	opensm/rest/api_members.c opensm/rest/api_page.c opensm/rest/api_partitions.c opensm/rest/api_ports.c opensm/rest/api_systems.c \
	opensm/rest/api_text.c opensm/rest/api_text.h \
	opensm/rest/api_values.c opensm/rest/api_values.h opensm/rest/openapi.c opensm/rest/openapi.h

# Connections, users, rights and limits.
noinst_LIBRARIES += libresthttp.a
libresthttp_a_SOURCES = opensm/rest/http/answer.c opensm/rest/http/audit.c opensm/rest/http/audit.h \
	opensm/rest/http/exchange.c opensm/rest/http/conns.c opensm/rest/http/http.c opensm/rest/http/http.h \
	opensm/rest/http/http_internal.h opensm/rest/http/login.c opensm/rest/http/login.h opensm/rest/http/own.c opensm/rest/http/own.h \
	opensm/rest/http/request.c opensm/rest/http/request.h opensm/rest/http/router.c opensm/rest/http/router.h \
	opensm/rest/http/send.c opensm/rest/http/streams.c opensm/rest/http/tls.c opensm/rest/http/tls.h opensm/rest/http/turn.c opensm/rest/http/turn.h opensm/rest/http/workers.c \
	opensm/rest/http/workers.h
noinst_LIBRARIES += librestwatch.a
librestwatch_a_SOURCES = opensm/rest/living/watch.c opensm/rest/living/watch.h
noinst_LIBRARIES += librestauth.a
librestauth_a_SOURCES = opensm/rest/auth/lines.c opensm/rest/auth/lines.h opensm/rest/auth/password.c \
	opensm/rest/auth/password.h opensm/rest/auth/penalty.c opensm/rest/auth/penalty.h opensm/rest/auth/secret.c \
	opensm/rest/auth/secret.h opensm/rest/auth/sessions.c opensm/rest/auth/sessions.h opensm/rest/auth/tokens.c \
	opensm/rest/auth/tokens.h opensm/rest/auth/users.c opensm/rest/auth/users.h opensm/rest/auth/verified.c \
	opensm/rest/auth/verified.h
REST_LIBS = librestwatch.a librestapi.a libresthttp.a librestauth.a libpage.a libclient.a libapi.a $(INI_LIBS) libib.a $(UTIL_LIBS) $(JSON_LIBS) $(MHD_LIBS) \
	$(GNUTLS_LIBS) $(CRYPT_LIBS) -lpthread

sbin_PROGRAMS += sbin/opensm-rest
sbin_opensm_rest_SOURCES = opensm/rest/main.c opensm/rest/setup/add_user.c opensm/rest/setup/add_user.h opensm/rest/backend.c \
	opensm/rest/backend.h opensm/rest/setup/conf.c opensm/rest/setup/conf.h opensm/rest/living/living.c opensm/rest/living/living.h \
	opensm/rest/setup/certificate.c opensm/rest/setup/certificate.h \
	opensm/rest/setup/missing.c opensm/rest/setup/missing.h
sbin_opensm_rest_CPPFLAGS = $(AM_CPPFLAGS) -DOPENSM_EXAMPLES_DIR='"$(docdir)/examples"'
sbin_opensm_rest_LDADD = $(REST_LIBS)

UNIT_TESTS += tests/unit/test-rest-values
tests_unit_test_rest_values_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rest-replay tests/unit/test-rest-api tests/unit/test-rest-marks
tests_unit_test_rest_marks_SOURCES = tests/unit/test-rest-marks.c $(REST_FAKE)
tests_unit_test_rest_marks_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rest_replay_SOURCES = tests/unit/test-rest-replay.c $(REST_FAKE)
tests_unit_test_rest_replay_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rest_api_SOURCES = tests/unit/test-rest-api.c $(REST_FAKE)
tests_unit_test_rest_api_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-rest-pages
tests_unit_test_rest_pages_SOURCES = tests/unit/test-rest-pages.c $(REST_FAKE)
tests_unit_test_rest_pages_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-rest-openapi
tests_unit_test_rest_openapi_SOURCES = tests/unit/test-rest-openapi.c $(REST_FAKE)
tests_unit_test_rest_openapi_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-rest-turn
tests_unit_test_rest_turn_SOURCES = tests/unit/test-rest-turn.c $(REST_FAKE)
tests_unit_test_rest_turn_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-rest-auth tests/unit/test-rest-request tests/unit/test-rest-workers
tests_unit_test_rest_auth_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rest_request_SOURCES = tests/unit/test-rest-request.c opensm/rest/setup/conf.c
tests_unit_test_rest_request_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rest_workers_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rest-backend
tests_unit_test_rest_backend_SOURCES = tests/unit/test-rest-backend.c opensm/rest/backend.c
tests_unit_test_rest_backend_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rest-login
tests_unit_test_rest_login_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rest-http
tests_unit_test_rest_http_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rest-setup
tests_unit_test_rest_setup_SOURCES = tests/unit/test-rest-setup.c opensm/rest/setup/conf.c opensm/rest/setup/certificate.c opensm/rest/setup/missing.c
tests_unit_test_rest_setup_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rest-streams
tests_unit_test_rest_streams_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rest-watch
tests_unit_test_rest_watch_LDADD = $(REST_LIBS) $(CMOCKA_LIBS)
