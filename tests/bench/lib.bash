# SPDX-License-Identifier: BSD-2-Clause
# What the benches share: fabrics by name, medians, names of attributes, a process's CPU time.
# shellcheck shell=bash

# make_net FOLDER FABRIC: $net becomes its net file (made in FOLDER when it has a name of netgen's, with arguments joined
# by dashes), $room ibsim's capacities for it; $nodes, $switches and $ports are counts, $first is its first host.
make_net() {
	net=$(readlink -f "$2")
	if [ ! -f "$net" ]; then
		net=$1/$2.net
		local words=${2%@*} missing=0
		[ "$words" = "$2" ] || missing=${2##*@}
		# shellcheck disable=SC2046 # arguments
		"$NETGEN" -d "$missing" "${words%%-[0-9]*}" $(tr - ' ' <<<"${words#"${words%%-[0-9]*}"}") >"$net" || return 1
	fi
	read -r nodes switches ports < <(awk '/^(Switch|Hca|Ca|Rt)/ { n++; p += $2 + 1 } /^Switch/ { s++ }
		END { print n, s, p }' "$net")
	# shellcheck disable=SC2034 # for the bench
	room=(-N $((nodes + 1)) -S $((switches + 1)) -P $((ports + 1)))
	[ "$nodes" -lt 30000 ] || room+=(-L 49151)
	# shellcheck disable=SC2034
	first=$(awk -F'"' '/^(Hca|Ca)/ { print $2; exit }' "$net")
}

# median FILE COLUMN
median() {
	awk -v c="$2" '{ print $c }' "$1" | sort -n | awk '{ v[NR] = $1 } END {
		print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# CPU seconds of a process, all its threads, those that ended included, to the microsecond.
cpu_of() {
	perl -Minteger -MTime::HiRes=clock_gettime -e 'printf "%.6f\n", clock_gettime((~(0 + $ARGV[0]) << 3) | 2)' "$1"
}

# name_of "METHOD ATTRIBUTE": "0x02 0x0019" is "Set LFT".
name_of() {
	local method=${1% *} attr=${1#* }

	case $method in
	0x01) method=Get ;;
	0x02) method=Set ;;
	0x07) method=TrapRepress ;;
	esac
	case $attr in
	0x0002) attr=Notice ;;
	0x0010) attr=NodeDescription ;;
	0x0011) attr=NodeInfo ;;
	0x0012) attr=SwitchInfo ;;
	0x0014) attr=GUIDInfo ;;
	0x0015) attr=PortInfo ;;
	0x0016) attr=P_KeyTable ;;
	0x0017) attr=SLtoVL ;;
	0x0018) attr=VLArb ;;
	0x0019) attr=LFT ;;
	0x001b) attr=MFT ;;
	0x0020) attr=SMInfo ;;
	esac
	echo "$method $attr"
}
