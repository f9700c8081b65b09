# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsm.a
libsm_a_SOURCES = opensm/sm/sm.h
SM_LIBS = libsm.a $(SYNC_LIBS)
