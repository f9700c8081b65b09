# SPDX-License-Identifier: BSD-2-Clause
sbin_PROGRAMS += sbin/opensm
sbin_opensm_SOURCES = opensm/main.c opensm/daemon/conf_reload.c opensm/daemon/conf_reload.h \
	opensm/daemon/counters.c opensm/daemon/counters.h opensm/daemon/daemon.c opensm/daemon/daemon.h \
	opensm/daemon/host_check.c opensm/daemon/host_check.h opensm/daemon/listen.c opensm/daemon/listen.h \
	opensm/daemon/listen_console.c opensm/daemon/listen_control.c opensm/daemon/listen_metrics.c \
	opensm/daemon/listen_metrics_http.c opensm/daemon/listen_metrics_http.h opensm/daemon/notify.c \
	opensm/daemon/notify.h opensm/daemon/release.c opensm/daemon/release.h opensm/daemon/route_child.c \
	opensm/daemon/route_child.h opensm/daemon/stream.c opensm/daemon/stream.h opensm/daemon/stream_internal.h \
	opensm/daemon/stream_listen.c opensm/daemon/tcp_peer.c opensm/daemon/tcp_peer.h opensm/daemon/timer.h \
	opensm/daemon/worker.c opensm/daemon/worker.h
sbin_opensm_LDADD = $(OFFLINE_LIBS) $(UMAD_LIBS) $(IBUMAD_LIBS) $(SYSTEMD_LIBS) $(MHD_LIBS) $(ZLIB_LIBS) -ldl -lm

UNIT_TESTS += tests/unit/test-timer
tests_unit_test_timer_LDADD = $(SYSTEMD_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-tcp-peer
tests_unit_test_tcp_peer_SOURCES = tests/unit/test-tcp-peer.c opensm/daemon/tcp_peer.c
UNIT_TESTS += tests/unit/test-route-child tests/unit/test-route-process
tests_unit_test_route_child_SOURCES = tests/unit/test-route-child.c tests/unit/child-desk.h tests/unit/route-desk.h opensm/daemon/route_child.c $(TOPOCUT)
tests_unit_test_route_process_SOURCES = tests/unit/test-route-process.c tests/unit/child-desk.h tests/unit/route-desk.h opensm/daemon/route_child.c $(TOPOCUT)

# What the process of its own costs: `make bench-child && ./bench-child fat-tree3 56`.
EXTRA_PROGRAMS += bench-child
bench_child_SOURCES = tests/bench/bench-child.c opensm/daemon/route_child.c $(TOPOCUT)
bench_child_LDADD = $(SM_LIBS)
UNIT_TESTS += tests/unit/test-worker tests/unit/test-conf-reload tests/unit/test-stream
tests_unit_test_worker_SOURCES = tests/unit/test-worker.c opensm/daemon/worker.c
tests_unit_test_worker_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
tests_unit_test_conf_reload_SOURCES = tests/unit/test-conf-reload.c opensm/daemon/conf_reload.c
tests_unit_test_stream_SOURCES = tests/unit/test-stream.c opensm/daemon/stream.c opensm/daemon/stream_listen.c
tests_unit_test_stream_LDADD = $(UTIL_LIBS) $(SYSTEMD_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-control
tests_unit_test_control_SOURCES = tests/unit/test-control.c tests/lib/control-world.h tests/unit/control-talk.h opensm/daemon/listen_control.c opensm/daemon/stream.c \
	opensm/daemon/stream_listen.c
tests_unit_test_control_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-control-smp
tests_unit_test_control_smp_SOURCES = tests/unit/test-control-smp.c tests/lib/control-world.h tests/unit/control-talk.h \
	opensm/daemon/listen_control.c opensm/daemon/stream.c opensm/daemon/stream_listen.c
tests_unit_test_control_smp_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-control-history
tests_unit_test_control_history_SOURCES = tests/unit/test-control-history.c tests/lib/control-world.h tests/unit/control-talk.h \
	opensm/daemon/listen_control.c opensm/daemon/stream.c opensm/daemon/stream_listen.c
tests_unit_test_control_history_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
# The manager's part of partitions at run time is the test's.
UNIT_TESTS += tests/unit/test-control-partitions
tests_unit_test_control_partitions_SOURCES = tests/unit/test-control-partitions.c tests/unit/control-talk.h \
	tests/unit/tenancy-fake.h \
	opensm/daemon/listen_control.c opensm/daemon/stream.c opensm/daemon/stream_listen.c
tests_unit_test_control_partitions_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sm_tenancy_request -Wl,--wrap=sm_tenancy_abandon \
	-Wl,--wrap=sm_tenants -Wl,--wrap=sm_tenancy_closed -Wl,--wrap=sm_tenancy_open \
	-Wl,--wrap=sm_tenancy_pending -Wl,--wrap=sm_tenancy_verify -Wl,--wrap=sm_tenancy_all_pending -Wl,--wrap=sm_state
tests_unit_test_control_partitions_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-listen-metrics
tests_unit_test_listen_metrics_SOURCES = tests/unit/test-listen-metrics.c opensm/daemon/listen_metrics.c opensm/daemon/listen_metrics_http.c \
	opensm/daemon/stream.c opensm/daemon/stream_listen.c
tests_unit_test_listen_metrics_LDADD = $(FRONT_LIBS) $(SYSTEMD_LIBS) $(MHD_LIBS) $(ZLIB_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-control-topology
tests_unit_test_control_topology_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-control-turns
tests_unit_test_control_turns_SOURCES = tests/unit/test-control-turns.c tests/lib/control-world.h tests/unit/control-talk.h \
	opensm/daemon/listen_control.c opensm/daemon/stream.c opensm/daemon/stream_listen.c
tests_unit_test_control_turns_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
