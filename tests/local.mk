# SPDX-License-Identifier: BSD-2-Clause
# Tests. Everything speaks TAP: unit tests through cmocka, the rest by itself.
#
#   UNIT_TESTS      programs of tests/unit, declared by the folder they test
#   FUZZ_TESTS, SCENARIO_TESTS, CHECK_TESTS   run by `make check`
#   E2E_TESTS       with ibsim and others' clients: `make check-e2e` (never with sanitizers)
#   CHECK_TOOLS     programs for tests, not installed
# A program of UNIT_TESTS is made of its file of that name, and linked with the libraries of the subnet manager that it
# needs; a rule stands in local.mk where it has more sources or other libraries.
LDADD = $(CAMPAIGN_LIBS) $(CMOCKA_LIBS)
FUZZ_TESTS =
SCENARIO_TESTS =
CHECK_TESTS =
E2E_TESTS =

# A test's own code is run for moments and compiled each time: optimizing it, above all with sanitizers, takes ten times
# as long as it saves. What it tests is in libraries, which are built as CFLAGS say.
tests/unit/%.$(OBJEXT) tests/fuzz/%.$(OBJEXT): CFLAGS += -O0

include tests/lib/local.mk
include tests/tools/local.mk
include tests/fuzz/local.mk
include tests/scenario/local.mk
include tests/chaos/local.mk
include tests/keys/local.mk
include tests/tenants/local.mk
include tests/check/local.mk
include tests/model/local.mk
include tests/e2e/local.mk
include tests/packages/local.mk
include tests/plugins/local.mk
include tests/systemd/local.mk

check_PROGRAMS += $(CHECK_TOOLS)
TESTS += $(CHECK_TESTS) $(SCENARIO_TESTS) $(FUZZ_TESTS)
if HAVE_CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif

# A test that hangs is a failed test; the limit is for that alone.
TEST_LIMIT = timeout --kill-after=5 300
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/config/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
LOG_COMPILER = $(TEST_LIMIT)
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(TEST_LIMIT) bash
BATS_LOG_DRIVER = $(TAP_DRIVER)
BATS_LOG_COMPILER = $(top_srcdir)/tests/e2e/run-bats
AM_BATS_LOG_FLAGS = --formatter tap

# Up to twice the time of a processor is what stack frames on the heap cost: tests that run a manager for hours of virtual time,
# and the twelve scenarios that compute most, do without. All other scenarios, the fuzz corpus and the tests of parts have them.
USE_AFTER_RETURN = 1
tests/unit/test-sm-%.log tests/unit/test-attacks.log tests/unit/test-mutations.log tests/unit/test-health-judge.log: USE_AFTER_RETURN = 0
$(patsubst %,tests/scenario/%.log,day silence-many audit-cost audit-forged large-fat-tree large-torus large-dragonfly \
	keys-managers keys-absent keys-shared alarms-many marks-clean): USE_AFTER_RETURN = 0

# Archer, which clang loads with its OpenMP, tells TSan how threads of OpenMP wait for each other; the inside of that library is
# not compiled for TSan, and not looked at. A sender whose device hangs leaves its thread behind, as it is meant to.
# A report names the ten innermost callers of an allocation: each one more costs all allocations.
# OpenMP's threads spin while they wait for each other; where as many tests run as there are processors, one spins for
# what another would compute.
AM_TESTS_ENVIRONMENT = \
	OMP_WAIT_POLICY=passive; export OMP_WAIT_POLICY; \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	ASAN_OPTIONS='abort_on_error=0:handle_sigill=1:malloc_context_size=10:detect_stack_use_after_return=$(USE_AFTER_RETURN)'; export ASAN_OPTIONS; \
	UBSAN_OPTIONS='print_stacktrace=1'; export UBSAN_OPTIONS; \
	TSAN_OPTIONS='ignore_noninstrumented_modules=1:report_thread_leaks=0'; export TSAN_OPTIONS; \
	abs_top_srcdir='$(abs_top_srcdir)'; export abs_top_srcdir; \
	abs_top_builddir='$(abs_top_builddir)'; export abs_top_builddir; \
	CHECK_CPPFLAGS='$(IBUMAD_CFLAGS) $(SYSTEMD_CFLAGS) $(JSON_CFLAGS) $(MHD_CFLAGS) $(CMOCKA_CFLAGS)'; export CHECK_CPPFLAGS;

# Tests of all that runs in threads, for a build with --enable-sanitizers=thread by clang (that of gcc has no Archer): engines and
# proofs in OpenMP, the worker of the daemon, the threads of a port, those of opensm-rest.
THREAD_TESTS = tests/unit/test-threads tests/unit/test-worker tests/unit/test-ring tests/unit/test-sender tests/unit/test-stop-guard \
	tests/unit/test-umad tests/unit/test-umad-big tests/unit/test-rest-workers tests/unit/test-rest-turn tests/unit/test-rest-auth \
	tests/unit/test-rest-backend

# Of the programs, those that other tests use: the unit tests are not built for these.
CHECK_TOOLS_ONLY = check_PROGRAMS='$(CHECK_TOOLS)'

check-e2e: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(E2E_TESTS)' $(CHECK_TOOLS_ONLY)
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(UNIT_TESTS)'
# The same by another compiler shows where it computes otherwise: in the parts below the subnet manager. Lives of managers in virtual
# time, documents and programs are made of these, take most of the time, and run with sanitizers. These here do all that is drawn
# at random, of which a build with sanitizers does a third (lib/rounds.h).
COMPILER_TESTS = $(filter-out $(addprefix tests/unit/test-,sm-% sa-% tenants-% rest-% show-% show% control% opensmctl% console% dump% \
	launch% ledger-% metrics% perf% replica% attacks mutations route-child route-process threads),$(UNIT_TESTS))
check-compiler:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(COMPILER_TESTS)'
compiler-programs: $(COMPILER_TESTS)
# Not `check`, which would build all.
check-threads: $(THREAD_TESTS)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(THREAD_TESTS)' check_PROGRAMS='$(THREAD_TESTS)'
thread-programs: $(THREAD_TESTS)
check-programs: $(check_PROGRAMS)
check-tools: $(CHECK_TOOLS) $(check_DATA)
.PHONY: check-e2e check-unit check-compiler compiler-programs check-threads thread-programs check-programs check-tools
-include $(top_srcdir)/tests/one.mk

EXTRA_DIST += $(E2E_TESTS) $(CHECK_TESTS) $(SCENARIO_TESTS) tests/one.mk
EXTRA_DIST += $(wildcard $(srcdir)/tests/golden $(srcdir)/tests/unit/*.h $(srcdir)/tests/unit/*.txt)
