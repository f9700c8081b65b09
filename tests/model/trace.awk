# SPDX-License-Identifier: BSD-2-Clause
# A trace (README.md) as a table in C: { line, manager or device, what is with it }, and zeros at its end. The first file
# is ledger.pml, which numbers the kinds of lines. A line of no kind ends it with status 2.
BEGIN { print "#include \"trace.h\"" }
NR == FNR {
	if ($1 == "#define" && $2 ~ /^LINE_/)
		print "#define", $2, $3
	next
}
FNR == 1 { print "const struct line trace[] = {" }
/^#/ || /^[(]/ || NF == 0 { next }

# $n as a number of 1..max.
function number(n, max) {
	if ($n !~ /^[1-9][0-9]*:?$/ || $n + 0 > max)
		bad()
	return $n + 0
}
function bad() {
	printf "line %d is of no kind: %s\n", FNR, $0 >"/dev/stderr"
	failed = 1
	exit 2
}
function row(kind, of, with) {
	printf "\t{ LINE_%s, %d, %d }, /* %d: %s */\n", kind, of, with, FNR, $0
	matched = 1
}
# "manager 1 knows 1 3: given"
function known(	n, bits, force) {
	for (n = 4; n < NF; n++)
		bits += 2 ^ (number(n, 6) - 1)
	force = index("nothing given   removed ", sprintf("%-8s", $NF))
	if (force % 8 != 1 || (NF > 4) != ($(NF - 1) ~ /:$/) || (NF == 4 && $3 != "knows:"))
		bad()
	row("KNOWS", $2 - 1, bits + (force - 1) * 8)
}
# "subnet splits: 2 3": these are in the other half.
function splits(	n, bits) {
	for (n = 3; n <= NF; n++)
		bits += 2 ^ (number(n, 3) - 1)
	row("SPLITS", 0, bits)
}

{ matched = 0 }
$1 == "manager" { me = number(2, 3) - 1 }
/^manager [1-3] starts$/		{ row("STARTS", me, 0) }
/^manager [1-3] starts empty$/		{ row("STARTS_EMPTY", me, 0) }
/^manager [1-3] starts with the copy$/	{ row("STARTS_OLD", me, 0) }
/^manager [1-3] (dies|freezes|wakes|forgets)$/ { row(toupper($3), me, 0) }
/^manager [1-3] (sees|loses) [1-3]$/	{ row(toupper($3), me, $4 - 1) }
/^manager [1-3] becomes (DISCOVERING|STANDBY|MASTER)$/		{ row($4, me, 0) }
/^manager [1-3] enters (FOREIGN|ASKING|TAKING|WRITING|KEEPING)$/	{ row($4, me, 0) }
/^manager [1-3] hands over to [1-3]$/	{ row("HANDS_OVER", me, $6 - 1) }
/^manager [1-3] settles with [1-3]$/	{ row("SETTLES", me, $5 - 1) }
/^manager [1-3] knows( [1-6])*: (nothing|given|removed)$/	{ known() }
/^manager [1-3] changes [1-6]: give$/	{ row("CHANGES_GIVE", me, $4 - 1) }
/^manager [1-3] changes [1-6]: remove$/	{ row("CHANGES_REMOVE", me, $4 - 1) }
/^manager [1-3] adopts as [1-6]$/	{ row("ADOPTS", me, $5 - 1) }
/^manager [1-3] gives on device [12]$/	{ row("GIVES", me, $6 - 1) }
/^manager [1-3] takes on device [12]$/	{ row("TAKES", me, $6 - 1) }
/^manager [1-3] acknowledges [1-6]$/	{ row("ACKNOWLEDGES", me, $4 - 1) }
/^manager [1-3] acknowledges [1-6], not by all$/	{ sub(/,/, "", $4); row("NOT_BY_ALL", me, $4 - 1) }
/^manager [1-3] gives up [1-6]$/	{ row("GIVES_UP", me, $5 - 1) }
/^manager [1-3] refuses [1-6]$/		{ row("REFUSES", me, $4 - 1) }
/^disk of [1-3] is copied$/		{ row("COPIED", $3 - 1, 0) }
/^cable of [1-3] out$/			{ row("CABLE_OUT", $3 - 1, 0) }
/^cable of [1-3] in$/			{ row("CABLE_IN", $3 - 1, 0) }
/^subnet splits:( [1-3])+$/		{ splits() }
/^subnet merges$/			{ row("MERGES", 0, 0) }
/^device [12] reboots$/			{ row("REBOOTS", $2 - 1, 0) }
/^time passes$/				{ row("TIME_PASSES", 0, 0) }
!matched { bad() }
END {
	if (!failed)
		print "\t{ 0, 0, 0 },\n};"
}
