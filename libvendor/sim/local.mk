# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = libvendor/sim/sim.h libvendor/sim/impl.h libvendor/sim/gen.h libvendor/sim/draft.h \
	libvendor/sim/agent.h libvendor/sim/agent-impl.h libvendor/sim/rmpp.h libvendor/sim/pma.h \
	libvendor/sim/agent.c libvendor/sim/rmpp.c libvendor/sim/gmp.c libvendor/sim/pma.c \
	libvendor/sim/sim.c libvendor/sim/queue.c libvendor/sim/intern.c libvendor/sim/build.c \
	libvendor/sim/transport.c libvendor/sim/forward.c libvendor/sim/sma.c libvendor/sim/sma-port.c \
	libvendor/sim/sma-tables.c libvendor/sim/link.c libvendor/sim/fault.c libvendor/sim/setup.c \
	libvendor/sim/trap.c libvendor/sim/oracle.c libvendor/sim/mcast.c libvendor/sim/check.c \
	libvendor/sim/draft.c libvendor/sim/gen.c libvendor/sim/gen-odd.c libvendor/sim/gen-words.c
SIM_LIBS = libsim.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-sim-agent tests/unit/test-sim-fabric
tests_unit_test_sim_agent_SOURCES = tests/unit/test-sim-agent.c tests/unit/sim-probe.h
tests_unit_test_sim_agent_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sim_fabric_SOURCES = tests/unit/test-sim-fabric.c tests/unit/sim-probe.h
tests_unit_test_sim_fabric_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rmpp tests/unit/test-gmp
tests_unit_test_gmp_SOURCES = tests/unit/test-gmp.c tests/unit/sim-probe.h
tests_unit_test_gmp_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rmpp_SOURCES = tests/unit/test-rmpp.c tests/unit/sim-probe.h
tests_unit_test_rmpp_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sim-mcast
tests_unit_test_sim_mcast_SOURCES = tests/unit/test-sim-mcast.c tests/unit/sim-probe.h
tests_unit_test_sim_mcast_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
