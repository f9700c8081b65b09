# SPDX-License-Identifier: BSD-2-Clause
# The parts of scripts/tenants-storm: tables of devices, the stream of changes, the judgement. Needs tests/e2e/lib.bash,
# tests/chaos/rig.bash; $folder, $net, $STORM, $simulator, $managers.
# shellcheck shell=bash disable=SC2034,SC2154 # what the parts of scripts/tenants-storm share

# ports_of_net: "HOST PORT SWITCH" of every host: the port of its switch.
ports_of_net() {
	awk -F'"' '/^(Hca|Ca)[ \t]/ { host = $2 } /^Switch/ { host = "" }
		host && /^\[1\]/ { split($3, a, /[][]/); print host, a[2], $2; host = "" }' "$net"
}

# guids_of_net: "HOST GUID" of every host: of its port 1. Where the file has none, as netgen's, both simulators give them in
# the order of hosts: a node 2 more than the one before it, its port one more.
guids_of_net() {
	awk -F'"' '/^(Hca|Ca)[ \t]/ { flush(); host = $2; guid = sprintf("0x%016x", 1048577 + 2 * n++) }
		/^Switch/ { flush() }
		host && /^\[1\]\([0-9a-f]+\)/ { split($1, a, /[()]/); guid = "0x" substr("0000000000000000", length(a[2]) + 1) a[2] }
		function flush() { if (host) print host, guid; host = "" }
		END { flush() }' "$net"
}

# uplinks_of HOST: "SWITCH PORT" of the cables from the switch of a host to other switches.
uplinks_of() {
	awk -F'"' -v leaf="$(awk -v h="$1" '$1 == h { print $4 }' ports)" '
		/^(Switch|Hca|Ca|Rt)/ { is_switch[$2] = /^Switch/; on = $2 }
		/^\[/ && on == leaf { split($1, a, /[][]/); peer[a[2]] = $2 }
		END { for (p in peer) if (is_switch[peer[p]]) print leaf, p }' "$net" | sort
}

# keys_of GUID SIDE: what smpquery prints of a table, as lines for judge.awk.
keys_of() {
	awk -v guid="$1" -v side="$2" '/^ *[0-9]+: / { for (i = 2; i <= NF; i++) if ($i != "0x0000") print "K", guid, side, $i }
		/pkeys capacity/ { print "D", guid, side }'
}

# read_table GUID SIDE HOST SMPQUERY-WORDS...: a tool gives a question no second chance, so it is asked for again, also on
# a busy machine.
read_table() {
	local guid=$1 side=$2 host=$3 found=
	shift 3

	for _ in {1..10}; do
		found=$(sim_run "$host" timeout 20 smpquery -D pkeys "$@" 2>/dev/null </dev/null | keys_of "$guid" "$side")
		[[ $found != *"D $guid"* ]] || break
		sleep 0.3
	done
	echo "$found"
}

# of_dump FILE: what `ibfab pkeys` said, as lines for judge.awk.
of_dump() {
	awk 'NR == FNR { guid[$1, 1] = $2 " host"; guid[$4, $3] = $2 " switch"; next }
		($1, $2) in guid {
			print "D", guid[$1, $2]
			for (i = 3; i <= NF; i++)
				print "K", guid[$1, $2], $i
		}' ports "$1"
}

# read_devices FILE: the tables of all hosts and of the switch ports that face them: as ibfab has them, or read by smpquery on
# the hosts; eight at a time, since most of the time of one is waiting.
read_devices() {
	local part host guid port pids=()

	if [ "$simulator" = ibfab ]; then
		"$IBFAB" pkeys 3>&- >"$1.dump" && of_dump "$1.dump" >"$1"
		return
	fi

	for part in 0 1 2 3 4 5 6 7; do
		awk -v part="$part" 'NR % 8 == part' ports | while read -r host guid port _; do
			read_table "$guid" host "$host" 0 1
			read_table "$guid" switch "$host" 0,1 "$port"
		done >"$1.$part" &
		pids+=($!)
	done
	wait "${pids[@]}"
	cat "$1".[0-7] >"$1"
	rm -f "$1".[0-7]
}

socket_of() {
	if [ "$simulator" = ibsim ]; then echo "$WORK/$1/run/opensm.sock"; else echo "$WORK/run/$1.sock"; fi
}

cache_of() {
	if [ "$simulator" = ibsim ]; then echo "$WORK/$1/cache"; else echo "$WORK/$1.d"; fi
}

# storm NAME MS WORD CONNECTIONS [TURN]: changes at a manager, for so long; other ones in each turn. In a shell of its own.
storm() {
	exec "$STORM" -s "$(socket_of "$1")" -g guids -j journal -r "$(((seed * 100003 + round + ${5:-0} * 7919) % 4294967296))" \
		-c "$4" -k "$keys" -t "$2" -w "$1.$3"
}

# serves NAME: it acknowledges changes. They are in the journal like any other.
serves() {
	asked=$((asked + 1))
	runs "$1" && (storm "$1" 60 "r$round.probe$asked" 1 "$asked" 2>/dev/null)
}

# settled NAME: the manager itself finds nothing to do, so what devices hold now will stay. It must have seen all ports that
# a manager ever saw: one that was silent is back in the fabric.
settled() {
	local n

	ctl_of "$1" partitions verify >verified 2>&1 || return 1
	n=$(grep -om1 '^[0-9]* ports' verified)
	[ "${n% ports}" -ge "${most_ports:-0}" ] || return 1
	most_ports=${n% ports}
}

# judged WORD [settled]: are the devices as the journal allows? Findings are problems; with `settled` they are the
# beginning of the next round.
judged() {
	local line out=(-v others="$others")

	read_devices "devices.$1"
	[ "$simulator" = ibsim ] || out+=(-v room=yes)
	[ -z "${2:-}" ] || out+=(-v settled=yes -v out=state.new -v tally="$folder/tally")
	if awk "${out[@]}" -f "$abs_top_srcdir/tests/tenants/judge.awk" state journal "devices.$1" >"found.$1"; then
		return 0
	fi
	while read -r line; do
		problem "round $round, $1: $line"
	done < <(head -n 12 "found.$1")
	[ -s "found.$1" ] || problem "round $round, $1: the judge ended without a word"
	keep_round
	return 1
}

# keep_round: what a finding was made from, also when later rounds go on.
keep_round() {
	local to=$folder/round-$round name

	mkdir -p "$to"
	cp -rf state journal devices.* found.* looks verified "$to" 2>/dev/null
	for name in $(names); do
		tail -n 400 "$(log_of "$name")" >"$to/log-$name" 2>/dev/null
		mkdir -p "$to/ledger-$name"
		cp "$(cache_of "$name")"/ledger.db* "$to/ledger-$name" 2>/dev/null
	done
}
