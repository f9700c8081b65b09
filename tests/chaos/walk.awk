# SPDX-License-Identifier: BSD-2-Clause
# Follows forwarding tables, as dump_fts -n prints them, from every switch to every LID: awk -f walk.awk LINKS LIDS TABLES.
# LINKS: "NODE PORT NODE PORT", both ways; LIDS: "NODE LID". Says what is lost or goes round; false then.
# dump_fts and ibroute do not print the last entry where it is the first of its block: that LID is left out here.
#
# Nodes are numbers, and the table of a switch is a string with a character per LID, for awk's sake: 720 switches have 3
# million entries.

BEGIN {
	for (i = 1; i < 256; i++)
		code[sprintf("%c", i)] = i
}

FILENAME == ARGV[1] { peer[number($1) * 256 + $2] = number($3); next }

FILENAME == ARGV[2] { home[$2] = number($1); lids[++n_lids] = $2; next }

/^Unicast lids/ {
	split($0, part, /[()]/)
	at = number(part[2])
	switches[++n_switches] = at
	table[at] = ""
	next
}

# Port p of LID l is the character p + 1 at place l + 1; 1 where there is none.
/^0x/ {
	if (!($1 in value))
		value[$1] = hex($1)
	while (length(table[at]) < value[$1])
		table[at] = table[at] "\001"
	table[at] = table[at] sprintf("%c", $2 + 1)
}

END {
	for (l = 1; l <= n_lids; l++)
		if (lids[l] > top)
			top = lids[l]
	for (l = 1; l <= n_lids; l++)
		for (s = 1; s <= n_switches; s++)
			if ((lids[l] < top || top % 64) && !reaches(switches[s], lids[l] + 0))
				bad++
	print n_switches + 0, "switches,", n_lids + 0, "LIDs,", bad + 0, "ways lost"
	exit bad > 0 || n_switches == 0 || n_lids == 0
}

function number(node) {
	if (!(node in numbers)) {
		numbers[node] = ++n_numbers
		name[n_numbers] = node
	}
	return numbers[node]
}

function hex(text,   i, n) {
	n = 0
	for (i = 3; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}

# A switch known to reach a LID has it in `good`, until the next LID.
function reaches(sw, lid,   at, way, n, i, port) {
	n = 0
	for (at = sw; good[at] != lid && at != home[lid]; at = peer[at * 256 + port]) {
		port = code[substr(table[at], lid + 1, 1)] - 1
		if (!(at * 256 + port in peer))
			return wrong(sw, lid, "ends at " name[at] " port " port)
		if (n > 64)
			return wrong(sw, lid, "goes round at " name[at])
		way[n++] = at
	}
	for (i = 0; i < n; i++)
		good[way[i]] = lid
	return 1
}

function wrong(sw, lid, text) {
	if (lost++ < 20)
		print name[sw], "to", name[home[lid]], "LID", lid ":", text
	return 0
}
