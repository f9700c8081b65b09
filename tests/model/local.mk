# SPDX-License-Identifier: BSD-2-Clause
# Four tests of 12 to 25 seconds of a processor each; without spin they are skipped.
CHECK_TESTS += tests/model/three.sh tests/model/two.sh tests/model/faults.sh tests/model/lives.sh
EXTRA_DIST += tests/model/check tests/model/ledger.pml tests/model/merge.pml tests/model/pan.bash tests/model/replay \
	tests/model/trace.awk tests/model/traces/acknowledged-too-early.not tests/model/traces/handed-too-early.not \
	tests/model/traces/merged-wrongly.not tests/model/traces/newcomer-unasked.not \
	tests/model/traces/wakes-and-gives.not tests/model/traces/wiped-clears.not \
	tests/model/traces/freeze.walk tests/model/traces/silent.walk tests/model/traces/split.walk \
	tests/model/traces/wipe.walk
# What managers do in the simulator, as a trace.
CHECK_TOOLS += tests/model/trace-ledger
tests_model_trace_ledger_SOURCES = tests/model/trace-ledger.c tests/model/trace-watch.c tests/model/trace-ledger.h
tests_model_trace_ledger_LDADD = $(RIG_LIBS)
