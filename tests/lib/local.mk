# SPDX-License-Identifier: BSD-2-Clause
# The rig: a simulated fabric with managers on it.
noinst_LIBRARIES += librig.a
librig_a_SOURCES = tests/lib/rig.c tests/lib/rig.h tests/lib/client.c tests/lib/client.h
RIG_LIBS = librig.a $(SM_LIBS) $(SIM_LIBS)
