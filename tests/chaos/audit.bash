# SPDX-License-Identifier: BSD-2-Clause
# What a fabric holds after everything was mended, read from its devices by tools that are not ours. Each finding is a
# problem(). Needs rig.bash; $watch, the host to look from.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # what the parts of scripts/chaos share

# whole: every cable is up, both ends Active, every LID is set, no LID twice, all know one SM: by what the simulator itself
# holds, which costs no MAD. The first that is not so in the file `unlike`.
whole() {
	if [ "$simulator" != ibsim ]; then
		"$IBFAB" check | awk '/^(ports_not_active|lids_missing|lids_duplicate|sm_lid_wrong|unreachable|looping) / {
				n++
				if ($2 != 0) print }
			END { exit n != 6 }' >unlike && [ ! -s unlike ]
		return
	fi
	: >ibsim.out
	sim_console Dump
	wait_for "$(bound 60)" grep -q 'dumped .* nodes' ibsim.out || return 1
	tr -d '\0' <ibsim.out | awk -v cables="$(grep -c '^\[' "$heard")" '
		/^(Ca|Hca|Switch)/ { at = $3; is_switch = /^Switch/ }
		!/^[0-9a-f]+\t\[/ { next }
		{ lid = -1; smlid = -1; split($2, a, /[][]/); port = a[2] }
		{ for (i = 3; i < NF; i++) { if ($i == "lid") lid = $(i + 1); if ($i == "smlid") smlid = $(i + 1) } }
		(is_switch && port == 0) || (!is_switch && lid >= 0) {
			if (lid == 0) print at, "has no LID"
			else if (lid in of) print at, "and", of[lid], "have LID", lid
			of[lid] = at
			if (sm == "") sm = smlid
			if (smlid != sm) print at, "knows SM LID", smlid, "not", sm }
		port > 0 && /Active\/LinkUp/ { up++ }
		port > 0 && /(Init|Armed)\/LinkUp/ { print at, "port", port, $0 }
		END { if (up != cables) print up + 0, "of", cables, "ends of cables are Active" }' >unlike
	[ ! -s unlike ]
}

# audit: everything. Some tools give a question no second chance: what they find must be found twice.
audit() {
	local what

	for what in cables states lids routes partitions groups paths diagnosis; do
		"audit_$what" >"$folder/audit-$what" 2>&1 && continue
		sleep 3
		"audit_$what" >"$folder/audit-$what" 2>&1 ||
			problem "audit of $what: $(grep -v '^$' "$folder/audit-$what" | head -n 3 | tr '\n' ';')"
	done
}

# ibnetdiscover sees the cables that there are.
audit_cables() {
	at "$watch" ibnetdiscover -p 2>/dev/null | sed -nE \
		"s/^(SW|CA|RT) +[0-9]+ +([0-9]+) .* - (SW|CA|RT) +[0-9]+ +([0-9]+) .*\( '(.*)' - '(.*)' \)\$/\5 \2 \6 \4/p" |
		awk '$1 != $3' | sort >links.seen
	links_of_net "$heard" >links.net
	diff links.net links.seen
}

audit_states() {
	local n

	n=$(at "$watch" iblinkinfo -l 2>/dev/null | awk -F'"' '{ gsub(/ /, "", $2); gsub(/ /, "", $4) }
		/Active\// && $2 != $4 { n++ } END { print n + 0 }')
	[ "$n" -eq "$(wc -l <links.net)" ] || echo "iblinkinfo: $n of $(wc -l <links.net) ends are Active"
	[ "$n" -eq "$(wc -l <links.net)" ]
}

# ends_of NETFILE: what has a LID: switches, and ports of adapters with a cable.
ends_of() {
	awk '/^Switch/ { n++; host = 0 } /^(Hca|Ca|Rt)/ { host = 1 } /^\[/ { n += host } END { print n + 0 }' "$1"
}

# ibnetdiscover's LIDs; file `lids`: "NODE LID".
audit_lids() {
	at "$watch" ibnetdiscover 2>/dev/null | awk '
		/^Switch/ { split($0, a, "\""); for (i = 1; i < NF; i++) if ($i == "lid") print a[4], $(i + 1) }
		/^Ca/ { split($0, a, "\""); name = a[4] }
		/^\[[0-9]+\]\([0-9a-f]+\)/ { for (i = 1; i < NF; i++) if ($i == "lid") { print name, $(i + 1); break } }' >lids
	awk '$2 == 0 { print $1, "has no LID" } seen[$2]++ { print $1, "has LID", $2, "of another" } END { print NR, "LIDs" }' lids
	[ "$(awk '$2 == 0 || seen[$2]++ { bad++ } END { print bad + 0 }' lids)" -eq 0 ] && [ "$(wc -l <lids)" -eq "$(ends_of "$heard")" ]
}

# dump_fts reads every forwarding table; walk.awk follows them from every switch to every LID.
audit_routes() {
	at "$watch" dump_fts -n >fts 2>fts.err
	awk -f "$abs_top_srcdir/tests/chaos/walk.awk" links.net lids fts
}

# smpquery reads the P_Key tables of a few hosts: those of partition A and others.
audit_partitions() {
	local host bad=0

	while read -r host <&4; do
		at "$host" smpquery -D pkeys 0 1 2>/dev/null | grep -oE '0x[0-9a-f]{4}' | grep -v 0x0000 | sort | tr '\n' ' ' >keys
		if [ "$(cat keys)" != "$(expected_keys "$host")" ]; then
			echo "$host has P_Keys $(cat keys), expected $(expected_keys "$host")"
			bad=1
		fi
	done 4< <(sed -n '1,12p' hosts)
	return "$bad"
}

# Hosts join their groups; dump_mfts reads the tables, trees.awk floods them from every member.
audit_groups() {
	local host

	: >members
	for host in $(members); do
		at "$host" "$SAHOST" ipoib 0xffff >joined 2>&1 || { cat joined; return 1; }
		sed -nE "s/^(broadcast|all-hosts).* mlid (0x[0-9a-f]+) .*/\2 $host/p" joined >>members
	done
	sleep 2
	at "$watch" dump_mfts >mfts 2>/dev/null
	awk -f "$abs_top_srcdir/tests/chaos/trees.awk" links.net members mfts
}

# Some ten hosts of the net, spread over it; none is a manager's or the load's.
members() {
	awk 'NR > 3 { h[n++] = $1 } END { for (i = 0; i < 8 && i < n; i++) print h[int((2 * i + 1) * n / 16)] }' hosts |
		grep -vx -e "$first" -e "$second" | sort -u
}

# A path record names the LID that the device has.
audit_paths() {
	local guid lid node bad=0

	# shellcheck disable=SC2046 # words
	at "$watch" "$SAHOST" $(awk -v n="$(wc -l <guids)" '(NR * 7) % n < 10 { print "path", $2, "0xffff" }' guids) >paths.said 2>&1
	while read -r node guid; do
		lid=$(awk -v node="$node" '$1 == node { print $2 }' lids)
		grep -q "path $guid:.*dlid $lid " paths.said || { echo "$node has LID $lid; $(grep "$guid" paths.said)"; bad=1; }
	done < <(awk -v n="$(wc -l <guids)" '(NR * 7) % n < 10' guids)
	return "$bad"
}

# ibdiagnet, the whole of it, and ibdmchk on what it has read; they take a minute at 700 nodes.
audit_diagnosis() {
	[ "$thorough" = yes ] || return 0
	rm -rf diagnosis && mkdir diagnosis
	if [ "$simulator" = ibsim ]; then
		timeout 900 env SIM_HOST="$watch" LD_PRELOAD="$PRELOAD_DIR/reg81.so $UMAD2SIM" ibdiagnet -o diagnosis >report 2>&1
	else
		timeout 900 "$IBFAB" run "$watch" -- ibdiagnet -o diagnosis >report 2>&1
	fi
	# ibdiagnet asks for Mellanox's own attributes, which a simulator need not have.
	! grep -e '-E-' report | grep -v 'Could not get General Info' || return 1
	(cd diagnosis && ibdmchk -s ibdiagnet.lst -f ibdiagnet.fdbs -m ibdiagnet.mcfdbs >ibdmchk.out 2>&1) 2>/dev/null
	! grep -e '^-E-' diagnosis/ibdmchk.out
}
