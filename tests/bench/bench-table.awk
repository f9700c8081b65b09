# SPDX-License-Identifier: BSD-2-Clause
# For bench-table: rows of bench-engines into tables for people. -v mode=print|behind -v fabrics="..." -v engines="...".
# Columns: fabric nodes switches threads date commit who engine lost cut loop lanes sls detours load eBB perm shift RP worst A2A
# CPU wall MB used note.

BEGIN {
	n_fabrics = split(fabrics, fabric, " ")
	n_engines = split(engines, known, " ")
	# what is compared: column, name, and whether more is better
	n_metrics = split("16 17 15 18 19 21", column, " ")
	split("bandwidth, bisections|bandwidth, permutations|most pairs on a channel|shift|RP|A2A", title, "|")
	better[1] = better[2] = 1
}

{
	key = $1 SUBSEP $7 SUBSEP $8
	for (i = 1; i <= NF; i++)
		cell[key, i] = i == 26 && $i == "-" ? "" : $i
	there[key] = 1
	nodes[$1] = $2
	switches[$1] = $3
	if (!($8 in listed)) {
		listed[$8] = 1
		order[++n_order] = $8
	}
	date[$7] = $5
	if ($7 == "ours" && !($6 in commit)) {
		commit[$6] = 1
		commits = commits (commits == "" ? "" : ", ") $6
	}
}

function get(f, who, engine, i) {
	return (f SUBSEP who SUBSEP engine SUBSEP i) in cell ? cell[f, who, engine, i] : ""
}

# Rows that say what the engine asked for does, with every pair and without a loop that we know of.
function safe(f, who, engine) {
	return get(f, who, engine, 9) == "0" && get(f, who, engine, 11) != "LOOP"
}

function is_better(m, a, b) {
	return (m in better) ? a > b : a < b
}

# The peer's best by a metric: its value; best_engine is whose.
function best(f, m,    i, v, found) {
	found = ""
	for (i = 1; i <= n_order; i++) {
		if (!safe(f, "peer", order[i]))
			continue
		v = get(f, "peer", order[i], column[m])
		if (v == "-" || v == "" || (found != "" && !is_better(m, v + 0, found + 0)))
			continue
		found = v
		best_engine = order[i]
	}
	return found
}

# Lanes that the routes need; of ours the note says it where they are spread over more.
function lanes(f, who, engine,    note) {
	note = get(f, who, engine, 26)
	if (match(note, /of which [0-9]+/))
		return substr(note, RSTART + 9, RLENGTH - 9)
	if (match(note, /\([0-9]+ needed/))
		return substr(note, RSTART + 1, RLENGTH - 8)
	return get(f, who, engine, 12)
}

function summary(f,    m, ours, theirs, line, any) {
	line = "| " f " | " lanes(f, "ours", "auto")
	for (m = 1; m <= n_metrics; m++) {
		ours = get(f, "ours", "auto", column[m])
		theirs = best(f, m)
		if (theirs == "" || ours == "-") {
			line = line " | " ours
			continue
		}
		any = 1
		line = line " | " (is_better(m, theirs + 0, ours + 0) ? "**" ours "**" : ours) " / " theirs " " best_engine
	}
	if (any)
		print line " |"
	return any
}

function behind(f,    m, ours, theirs) {
	for (m = 1; m <= n_metrics; m++) {
		ours = get(f, "ours", "auto", column[m])
		theirs = best(f, m)
		if (ours != "" && ours != "-" && theirs != "" && is_better(m, theirs + 0, ours + 0))
			printf "%s auto (%s): %s: ours %s, peer %s %s\n", f, get(f, "ours", "auto", 26), title[m], ours, theirs, best_engine
	}
}

function row(f, who, engine,    i, line) {
	if (!there[f, who, engine])
		return
	line = "| " engine " | " who
	for (i = 9; i <= 24; i++) {
		if (i == 10 || i == 13 || i == 20)
			continue
		line = line " | " (i == 12 ? lanes(f, who, engine) : get(f, who, engine, i))
	}
	print line " | " get(f, who, engine, 26) " |"
}

function section(f,    i) {
	printf "\n## %s\n\n%d switches, %d hosts.\n\n", f, switches[f], nodes[f] - switches[f]
	print "| engine | whose | lost | loop | lanes | detours | load | bisections | permutations | shift | RP | A2A | CPU s | wall s | MB | what it says |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= n_order; i++) {
		row(f, "ours", order[i])
		row(f, "peer", order[i])
	}
}

# CPU seconds of ours, the peer's, and how many times: where the peer's own engine had any to speak of.
function speed(f,    i, a, b) {
	for (i = 1; i <= n_order; i++) {
		a = get(f, "ours", order[i], 22)
		b = get(f, "peer", order[i], 22)
		if (a == "" || a == "-" || b == "" || b == "-" || b + 0 < 0.5 || get(f, "peer", order[i], 25) != order[i] || get(f, "ours", order[i], 9) == "-")
			continue
		printf "| %s | %s | %s | %s | %.0f | %s | %s |\n", f, order[i], a, b, b / (a + 0 > 0.001 ? a : 0.001),
		       get(f, "ours", order[i], 24), get(f, "peer", order[i], 24)
	}
}

function head() {
	print "# Every engine beside the peer's\n"
	print "Written by `tests/bench/bench-table print`; the rows are in `engines.tsv`, the columns in `bench-engines`. Do not edit."
	print "Ours at " commits ", " date["ours"] " (which row is of which stands in `engines.tsv`); the peer is Debian's opensm through ibsim, " date["peer"] ". Quality is exact"
	print "and can be had again; seconds are those of a machine with two cores that was not idle (many rows of the peer beside eight other users): the"
	print "peer's wall clock means nothing, and ratios of CPU seconds say tens from hundreds, no more.\n"
	print "\n## auto beside the best of the peer's, metric by metric\n"
	print "`ours / peer's best, engine`: of the peer's engines that have every pair and no credit loop that is known (of those with"
	print "lanes that is not known, and they count). Bold: the peer has better.\n"
	print "| fabric | lanes | bisections | permutations | load | shift | RP | A2A |"
	print "|---|---|---|---|---|---|---|---|"
}

END {
	if (mode == "behind") {
		for (i = 1; i <= n_fabrics; i++)
			behind(fabric[i])
		exit
	}
	head()
	for (i = 1; i <= n_fabrics; i++)
		summary(fabric[i])
	print "\n## CPU seconds of the computation\n\nWhere the peer needs half a second or more, and does not fall back.\n"
	print "| fabric | engine | ours | peer | times | MB ours | MB peer, all of it |"
	print "|---|---|---|---|---|---|---|"
	for (i = 1; i <= n_fabrics; i++)
		speed(fabric[i])
	for (i = 1; i <= n_fabrics; i++)
		if (fabric[i] in nodes)
			section(fabric[i])
}
