# SPDX-License-Identifier: BSD-2-Clause
# Three tests of 25 to 45 seconds of a processor each; without spin they are skipped.
CHECK_TESTS += tests/model/three.sh tests/model/two.sh tests/model/faults.sh
EXTRA_DIST += tests/model/check tests/model/ledger.pml tests/model/merge.pml tests/model/pan.bash tests/model/replay \
	tests/model/trace.awk tests/model/traces/acknowledged-too-early.not tests/model/traces/handed-too-early.not \
	tests/model/traces/merged-wrongly.not tests/model/traces/newcomer-unasked.not \
	tests/model/traces/wakes-and-gives.not tests/model/traces/wiped-clears.not \
	tests/model/traces/freeze.walk tests/model/traces/silent.walk tests/model/traces/split.walk \
	tests/model/traces/wipe.walk
