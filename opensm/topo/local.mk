# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libtopo.a
libtopo_a_SOURCES = opensm/topo/topo.c opensm/topo/topo.h
TOPO_LIBS = libtopo.a $(IB_LIBS)
