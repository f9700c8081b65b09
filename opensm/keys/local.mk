# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libkeys.a
libkeys_a_SOURCES = opensm/keys/key_ring.c opensm/keys/key_ring.h \
	opensm/keys/channel_proof.c opensm/keys/channel_proof.h \
	opensm/keys/key_proof.c opensm/keys/key_proof.h
KEYS_LIBS = libkeys.a $(UTIL_LIBS) $(NETTLE_LIBS)

UNIT_TESTS += tests/unit/test-key-ring tests/unit/test-channel-proof tests/unit/test-key-proof
