# SPDX-License-Identifier: BSD-2-Clause
# Common ground of check and replay: a verifier is made of a model, and run. Sourced, never run.
# shellcheck shell=bash

# Flags of pan.c that make it faster: no fairness, another hash; and, where no cycle is looked for, states stored as they are.
pan_flags=(-DNOFAIR -DSFH)

# pan_compile FOLDER MODEL -On WHAT FLAGS...: pan.o in the folder. WHAT it looks for: -DSAFETY assertions, -DCYCLES assertions and cycles.
# The flags go to the model, of which the folder has a copy: `spin -t` finds both beside each other.
pan_compile() {
	local folder=$1 model=$2 optimize=$3 what=$4

	shift 4
	[ "$what" != -DSAFETY ] || what+=' -DNOCOMP'
	cp "$model" "$folder/model.pml" || return 1
	# shellcheck disable=SC2086 # $what is one word or two
	if ! (cd "$folder" && spin -a "$@" model.pml &&
		gcc "$optimize" -w $what -DNOREDUCE -DMEMLIM=4000 "${pan_flags[@]}" -I . -c pan.c) >"$folder/built" 2>&1; then
		cat "$folder/built" >&2
		return 1
	fi
}

# The same, and a verifier of it.
pan_build() {
	pan_compile "$@" && gcc -o "$1/pan" "$1/pan.o"
}

# pan_run FOLDER DEPTH ARGUMENTS...: what the verifier says is in FOLDER/out. Fails if it did not see everything.
pan_run() {
	local folder=$1 depth=$2

	shift 2
	(cd "$folder" && ./pan "-m$depth" "$@") >"$folder/out" 2>&1
	if ! grep -q 'errors:' "$folder/out" || grep -qE '^error:|out of memory' "$folder/out"; then
		tail -n 20 "$folder/out" >&2
		return 1
	fi
}
