# SPDX-License-Identifier: BSD-2-Clause
CHECK_TESTS += tests/check/layers.sh tests/check/links.sh tests/check/headers.sh tests/check/sizes.sh tests/check/calls.sh \
	tests/check/files.sh tests/check/options.sh tests/check/manual.sh tests/check/units.sh tests/check/catalog.sh \
	tests/check/engines.sh tests/check/words.sh tests/check/writers.sh tests/check/wires.sh tests/check/runs.sh
EXTRA_DIST += tests/check/tap.bash tests/check/bare.awk tests/check/functions.awk tests/check/links.awk
