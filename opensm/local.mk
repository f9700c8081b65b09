# SPDX-License-Identifier: BSD-2-Clause
sbin_PROGRAMS += sbin/opensm
sbin_opensm_SOURCES = opensm/main.c opensm/daemon.c opensm/daemon.h opensm/worker.c opensm/worker.h \
	opensm/reload.c opensm/reload.h opensm/notify.c opensm/notify.h \
	opensm/streams.c opensm/streams.h opensm/streams_listen.c opensm/streams_private.h opensm/counters.c opensm/counters.h opensm/windows.c opensm/windows.h opensm/window_console.c opensm/tcp_peer.c opensm/tcp_peer.h opensm/window_control.c opensm/window_metrics.c opensm/window_metrics_http.c opensm/window_metrics_http.h
sbin_opensm_LDADD = $(OFFLINE_LIBS) $(UMAD_LIBS) $(IBUMAD_LIBS) $(SYSTEMD_LIBS) $(MHD_LIBS) -ldl -lm

UNIT_TESTS += tests/unit/test-tcp-peer
tests_unit_test_tcp_peer_SOURCES = tests/unit/test-tcp-peer.c opensm/tcp_peer.c
tests_unit_test_tcp_peer_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-worker tests/unit/test-reload tests/unit/test-streams
tests_unit_test_worker_SOURCES = tests/unit/test-worker.c opensm/worker.c
tests_unit_test_worker_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
tests_unit_test_reload_SOURCES = tests/unit/test-reload.c opensm/reload.c
tests_unit_test_reload_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_streams_SOURCES = tests/unit/test-streams.c opensm/streams.c opensm/streams_listen.c
tests_unit_test_streams_LDADD = $(UTIL_LIBS) $(SYSTEMD_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-control
tests_unit_test_control_SOURCES = tests/unit/test-control.c tests/lib/control-world.h opensm/window_control.c opensm/streams.c \
	opensm/streams_listen.c
tests_unit_test_control_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_control_LDADD = librig.a $(CTL_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-window-metrics
tests_unit_test_window_metrics_SOURCES = tests/unit/test-window-metrics.c opensm/window_metrics.c opensm/window_metrics_http.c \
	opensm/streams.c opensm/streams_listen.c
tests_unit_test_window_metrics_LDADD = $(CTL_LIBS) $(SYSTEMD_LIBS) $(MHD_LIBS) $(CMOCKA_LIBS)
