# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = sim/sim.h sim/sim_internal.h sim/gen/gen.h sim/gen/draft.h sim/gen/slim_fly.h \
	sim/agent.h sim/agent_internal.h sim/rmpp.h sim/pma.h sim/cca.h \
	sim/agent.c sim/rmpp.c sim/gmp.c sim/pma.c sim/cca.c \
	sim/sim.c sim/queue.c sim/intern.c sim/build.c \
	sim/transport.c sim/forward.c sim/sma.c sim/sma_port.c \
	sim/sma_tables.c sim/link.c sim/fault.c sim/setup.c \
	sim/trap.c sim/oracle.c sim/key_watch.c sim/secret_watch.c sim/mcast.c sim/check.c \
	sim/netfile/netfile.c sim/netfile/netfile.h sim/netfile/netfile_parse.c \
	sim/netfile/netfile_scan.c sim/netfile/netfile_scan.h \
	sim/gen/draft.c sim/gen/gen.c sim/gen/gen_odd.c sim/gen/gen_words.c sim/gen/wear.c
SIM_LIBS = libsim.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-sim-agent tests/unit/test-sim-fabric tests/unit/test-netfile \
	tests/unit/test-wear tests/unit/test-rmpp tests/unit/test-gmp tests/unit/test-sim-pkeys \
	tests/unit/test-sim-keys tests/unit/test-sim-mcast
