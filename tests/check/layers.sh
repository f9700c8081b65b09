#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# An include may only point down, and the graph of includes has no cycle.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

# What each layer may include besides itself, include/opensm and the system. The two towers,
# conf topo route plan and vendor mad fabric, do not know each other; sync/ is where they meet.
declare -A may=(
	[util]=""
	[ib]="util"
	[keys]="util"
	[ledger]="util"
	[conf]="util ib"
	[topo]="util ib conf"
	[route]="util ib conf topo"
	[plan]="util ib conf topo route"
	[vendor]="util ib"
	[mad]="util ib vendor"
	[fabric]="util ib vendor mad"
	[sync]="util ib keys conf topo route plan vendor mad fabric"
	[view]="util ib conf topo route plan vendor mad fabric"
	[health]="util ib conf"
	[sm]="util ib keys ledger conf health topo route plan vendor mad fabric sync view sa"
	[sa]="util ib conf topo route plan vendor mad fabric sync view"
	[congestion]="util ib keys conf topo route plan vendor mad fabric sync"
	[perf]="util ib conf topo route plan vendor mad fabric sync"
	[api]="util ini ib conf topo route plan vendor mad fabric sync view sm sa perf congestion"
	[dump]="util ib conf topo route plan vendor mad fabric sync view sm"
	[plugin]="util ib conf topo route plan vendor mad fabric sync view sm sa perf congestion api"
	[metrics]="util ib conf topo route plan vendor mad fabric sync view sm sa perf congestion api"
	[show]="util ib conf topo route plan vendor mad fabric sync view sm sa perf congestion api"
	[control]="util ib conf topo route plan vendor mad fabric sync view sm sa perf congestion api show"
	[console]="util ib conf topo route plan vendor mad fabric sync view sm sa perf congestion api plugin"
	[offline]="util ib conf topo route plan vendor mad fabric sync view api dump"
	[daemon]="util ib conf topo route plan vendor mad fabric sync view sm sa perf congestion api dump plugin metrics control console"
	[main]="util ib conf topo route plan vendor mad fabric sync view daemon offline"
	[ini]="util"
	[launch]="util ini conf"
	[client]="util"
	[page]="util client"
	[opensmctl]="util ib client page"
	[rest]="util ini ib client api page"
	[sim]="util ib"
	[include]=""
)

# FILE INCLUDED: accepted against the table, each with its reason.
# - the snapshot is the bridge from facts to the picture routes are computed on
# - opensmctl reads a topology that it is to import as the manager will, before anything is changed
# - the judge of served fabrics finds the keys that a manager would find in its own files
accepted='
sim/serve/key_files.c keys/key_ring.h
sim/serve/key_files.c ledger/store.h
opensm/fabric/snapshot.h topo/topo.h
opensm/opensmctl/topology_meant.c topo/expect_file.h
'

layer_of() {
	case $1 in
	include/*) echo include ;;
	libvendor/*) echo vendor ;;
	sim/*) echo sim ;;
	opensm/*/*) f=${1#opensm/}; echo "${f%%/*}" ;;
	opensm/*) echo main ;;
	*) echo outside ;;
	esac
}

# "FROM TO AS-WRITTEN" for every quoted include of our own code; TO is "?" if there is no such file.
edges() {
	own_code | tr '\n' '\0' | xargs -0 -r grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		sed -E 's/^([^:]*):[^"]*"([^"]*)".*/\1 \2/' |
		while read -r from name; do
			to='?'
			for try in "opensm/$name" "include/$name" "libvendor/$name" "$name" "${from%/*}/$name"; do
				[ -f "$try" ] && { to=$try; break; }
			done
			[ "$name" = config.h ] || echo "$from $to $name"
		done
}

all_edges=$(edges)

printf '%s\n' "$all_edges" | awk '$2 == "?" { print $1 " includes \"" $3 "\", which does not exist" }' |
	tap_none "every quoted include is a file of ours"

upward() {
	while read -r from to name; do
		case $to in '' | '?') continue ;; esac
		a=$(layer_of "$from")
		b=$(layer_of "$to")
		[ "$a" = "$b" ] || [ "$b" = include ] && continue
		case "$accepted" in *"
$from $name
"*) continue ;; esac
		case " ${may[$a]-} " in *" $b "*) continue ;; esac
		echo "$from ($a) includes $to ($b)"
	done <<<"$all_edges"
}
upward | tap_none "includes point down"

unknown() {
	own_code | while read -r f; do
		layer=$(layer_of "$f")
		[ -n "${may[$layer]+x}" ] || echo "$f: no layer \"$layer\" in the table"
	done
}
unknown | tap_none "every file belongs to a layer"

stale() {
	printf '%s' "$accepted" | while read -r from name; do
		[ -z "$from" ] || [ ! -f "$from" ] || grep -q "include \"$name\"" "$from" ||
			echo "$from no longer includes $name"
	done
}
stale | tap_none "the list of accepted includes is in use"

printf '%s\n' "$all_edges" | awk '$2 != "?" && NF { print $1, $2 }' | tsort 2>&1 >/dev/null |
	tap_none "no include cycle"

tap_done
