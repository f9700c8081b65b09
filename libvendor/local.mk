# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libumadtransport.a
libumadtransport_a_SOURCES = include/opensm/transport.h libvendor/umad.c libvendor/umad_ports.c libvendor/umad.h \
	libvendor/umad_receive.c libvendor/umad_receive.h libvendor/umad_files.c libvendor/umad_files.h \
	libvendor/ring.c libvendor/ring.h libvendor/sender.c libvendor/sender.h libvendor/out.c libvendor/out.h \
	libvendor/window.c libvendor/window.h \
	libvendor/stop_guard.c libvendor/stop_guard.h
UMAD_LIBS = libumadtransport.a $(IB_LIBS) $(IBUMAD_LIBS)

UNIT_TESTS += tests/unit/test-stop-guard
tests_unit_test_stop_guard_LDADD = libumadtransport.a $(UTIL_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sender
tests_unit_test_sender_LDADD = $(UMAD_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-window
tests_unit_test_window_LDADD = $(UMAD_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-umad tests/unit/test-umad-big tests/unit/test-ring
tests_unit_test_umad_big_LDADD = $(UMAD_LIBS) $(CMOCKA_LIBS)
tests_unit_test_umad_LDADD = $(UMAD_LIBS) $(CMOCKA_LIBS)
tests_unit_test_ring_LDADD = $(UMAD_LIBS) $(CMOCKA_LIBS)
