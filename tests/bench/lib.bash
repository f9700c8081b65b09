# SPDX-License-Identifier: BSD-2-Clause
# What the benches share: fabrics by name, medians, names of attributes, a process's CPU time.
# shellcheck shell=bash

# make_net FOLDER FABRIC: $net becomes its net file (made in FOLDER when it has a name of netgen's, with arguments joined
# by dashes, @N without N % of the cables between switches, +SEED worn), $room ibsim's capacities for it; $nodes, $switches
# and $ports are counts, $first is its first host. Managers of worn fabrics are on one of the first three or in the middle.
make_net() {
	net=$(readlink -f "$2")
	if [ ! -f "$net" ]; then
		net=$1/$2.net
		local words=${2%%[@+]*} missing=0 wear=0 spare=()
		[ "${2%@*}" = "$2" ] || missing=${2##*@} missing=${missing%+*}
		[ "${2%+*}" = "$2" ] || wear=${2##*+}
		# shellcheck disable=SC2046 # arguments
		set -- "${words%%-[0-9]*}" $(tr - ' ' <<<"${words#"${words%%-[0-9]*}"}")
		"$NETGEN" -d "$missing" "$@" >"$net" || return 1
		if [ "$wear" != 0 ]; then
			while read -r host; do
				spare+=(--spare "$host")
			done < <(awk -F'"' '/^(Hca|Ca)/ { h[++n] = $2 }
				END { for (i = 1; i < 6 && i <= n; i++) print h[i]; print h[int(n / 2) + 1] }' "$net")
			"$NETGEN" -d "$missing" --wear "$wear" "${spare[@]}" --ids "$@" >"$net" || return 1
		fi
	fi
	read -r nodes switches ports < <(awk '/^(Switch|Hca|Ca|Rt)/ { n++; p += $2 + 1 } /^Switch/ { s++ }
		END { print n, s, p }' "$net")
	# shellcheck disable=SC2034 # for the bench
	room=(-N $((nodes + 1)) -S $((switches + 1)) -P $((ports + 1)))
	[ "$nodes" -lt 30000 ] || room+=(-L 49151)
	# shellcheck disable=SC2034
	first=$(awk -F'"' '/^(Hca|Ca)/ { print $2; exit }' "$net")
}

# heard_net NETFILE: the same without what does not answer, and without cables of a switch to itself.
heard_net() {
	awk -F'"' 'NR == FNR { if (/^(Hca|Ca|Rt|Switch)/ && / silent$/) silent[$2] = 1; next }
		/^(Switch|Hca|Ca|Rt)/ { at = $2 }
		/^\[/ && (at in silent || $2 in silent || $2 == at || / silent$/) { next }
		/^(Hca|Ca|Rt|Switch)/ && at in silent { next }
		{ print }' "$1" "$1"
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
