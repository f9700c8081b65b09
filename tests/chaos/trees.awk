# SPDX-License-Identifier: BSD-2-Clause
# Floods multicast tables, as dump_mfts prints them, from every member: awk -f trees.awk LINKS MEMBERS TABLES.
# LINKS: "NODE PORT NODE PORT"; MEMBERS: "MLID NODE", a host on one port. Says what is not reached, or reached twice; false then.

FILENAME == ARGV[1] { peer[$1, $2] = $3; back[$1, $2] = $4; next }

FILENAME == ARGV[2] { mlid[++n] = $1; member[n] = $2; is_member[$1, $2] = 1; count[$1]++; next }

/^Multicast mlids/ {
	split($0, part, /[()]/)
	at = part[2]
	next
}

# Port p of a row stands in column 12 + 2 p, from 0.
/^0x/ {
	for (i = 13; i <= length($0); i += 2)
		if (substr($0, i, 1) == "x")
			ports[at, $1] = ports[at, $1] " " ((i - 13) / 2)
}

END {
	for (i = 1; i <= n; i++)
		flood(mlid[i], member[i])
	print n + 0, "members,", bad + 0, "wrong"
	exit bad > 0 || n == 0
}

function wrong(text) {
	if (bad++ < 20)
		print text
}

# Every switch on the way passes it on by all its ports but the one it came by.
function flood(group, from,   queue, enter, head, tail, sw, list, k, j, next_node, got, seen, reached) {
	head = tail = 0
	queue[tail] = peer[from, 1]
	enter[tail++] = back[from, 1]
	while (head < tail && tail < 100000) {
		sw = queue[head]
		if (seen[sw]++)
			return wrong(group " from " from ": comes to " sw " twice")
		k = split(ports[sw, group], list, " ")
		for (j = 1; j <= k; j++) {
			if (list[j] == enter[head] || list[j] == 0 || !((sw, list[j]) in peer))
				continue
			next_node = peer[sw, list[j]]
			if ((next_node, 2) in peer || (next_node, group) in ports || !is_host(next_node)) {
				queue[tail] = next_node
				enter[tail++] = back[sw, list[j]]
			} else if ((group, next_node) in is_member) {
				got += !reached[next_node]++
			}
		}
		head++
	}
	if (got != count[group] - 1)
		wrong(group " from " from ": reaches " got + 0 " of " count[group] - 1)
}

function is_host(node) {
	return (node, 1) in peer && !((node, 2) in peer)
}
