# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libkeys.a
libkeys_a_SOURCES = opensm/keys/key_ring.c opensm/keys/key_ring.h opensm/keys/key_lines.c opensm/keys/key_lines.h \
	opensm/keys/key_shares.c opensm/keys/key_shares.h opensm/keys/channel_proof.c opensm/keys/channel_proof.h \
	opensm/keys/key_proof.c opensm/keys/key_proof.h
KEYS_LIBS = libkeys.a $(UTIL_LIBS) $(NETTLE_LIBS)

UNIT_TESTS += tests/unit/test-key-ring
tests_unit_test_key_ring_SOURCES = tests/unit/test-key-ring.c
tests_unit_test_key_ring_LDADD = $(KEYS_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-key-lines
tests_unit_test_key_lines_SOURCES = tests/unit/test-key-lines.c
tests_unit_test_key_lines_LDADD = $(KEYS_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-key-shares
tests_unit_test_key_shares_SOURCES = tests/unit/test-key-shares.c
tests_unit_test_key_shares_LDADD = $(KEYS_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-channel-proof
tests_unit_test_channel_proof_SOURCES = tests/unit/test-channel-proof.c
tests_unit_test_channel_proof_LDADD = $(KEYS_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-key-proof
tests_unit_test_key_proof_SOURCES = tests/unit/test-key-proof.c
tests_unit_test_key_proof_LDADD = $(KEYS_LIBS) $(CMOCKA_LIBS)
