# SPDX-License-Identifier: BSD-2-Clause
# Waiting for something to become so. Sourced by tests of all kinds.
# shellcheck shell=bash

# wait_for SECONDS COMMAND...: runs it until it succeeds; its failure is the test's. SECONDS is what an idle machine needs at
# most: three times as long is waited, for busy ones.
wait_for() {
	local limit=$(($1 * 3)) end
	shift
	end=$((SECONDS + limit))
	until "$@"; do
		if [ "$SECONDS" -gt "$end" ]; then
			echo "not within ${limit} s: $*" >&2
			return 1
		fi
		sleep 0.03
	done
}

not() {
	! "$@"
}
