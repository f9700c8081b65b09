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

UNIT_TESTS += tests/unit/test-sim-agent tests/unit/test-sim-fabric
tests_unit_test_sim_agent_SOURCES = tests/unit/test-sim-agent.c tests/unit/sim-probe.h
tests_unit_test_sim_agent_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sim_fabric_SOURCES = tests/unit/test-sim-fabric.c tests/unit/sim-probe.h
tests_unit_test_sim_fabric_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-netfile
tests_unit_test_netfile_SOURCES = tests/unit/test-netfile.c
tests_unit_test_netfile_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-wear
tests_unit_test_wear_SOURCES = tests/unit/test-wear.c
tests_unit_test_wear_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-rmpp tests/unit/test-gmp
tests_unit_test_gmp_SOURCES = tests/unit/test-gmp.c tests/unit/sim-probe.h
tests_unit_test_gmp_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rmpp_SOURCES = tests/unit/test-rmpp.c tests/unit/sim-probe.h
tests_unit_test_rmpp_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sim-pkeys
tests_unit_test_sim_pkeys_SOURCES = tests/unit/test-sim-pkeys.c tests/unit/sim-probe.h
tests_unit_test_sim_pkeys_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sim-keys
tests_unit_test_sim_keys_SOURCES = tests/unit/test-sim-keys.c tests/unit/sim-probe.h
tests_unit_test_sim_keys_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sim-mcast
tests_unit_test_sim_mcast_SOURCES = tests/unit/test-sim-mcast.c tests/unit/sim-probe.h
tests_unit_test_sim_mcast_LDADD = $(SIM_LIBS) $(CMOCKA_LIBS)
