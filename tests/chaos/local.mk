# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += tests/guard/README.md tests/guard/record tests/guard/check tests/guard/compare tests/guard/sums \
	tests/cost/README.md tests/cost/check tests/cost/figures tests/cost/heap.c \
	tests/wear/README.md tests/wear/run tests/wear/fabric
EXTRA_DIST += tests/chaos/README.md tests/chaos/rig.bash tests/chaos/faults.bash tests/chaos/audit.bash \
	tests/chaos/judge.bash tests/chaos/plan.awk tests/chaos/walk.awk tests/chaos/trees.awk
