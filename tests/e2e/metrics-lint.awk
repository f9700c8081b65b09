# SPDX-License-Identifier: BSD-2-Clause
# Reads metrics in the text format of Prometheus (or of OpenMetrics, with -v om=1) and complains about whatever
# a scraper would stumble over. Strict where both formats are; exits 1 if there was anything. promtool, which
# says the same and more, is a hundred megabytes: it was asked by hand.

function complain(what) { printf "line %d: %s: %s\n", NR, what, $0; bad = 1 }

# The family that a sample of this name belongs to.
function family_of(name,   base) {
	if (name in type) return name
	base = name; sub(/_(bucket|sum|count)$/, "", base)
	if (base in type && type[base] == "histogram") return base
	base = name; sub(/_total$/, "", base)
	if (om && base in type && type[base] == "counter") return base
	return ""
}

ended { complain("something behind # EOF") }
/^$/ { complain("an empty line"); next }
/[^ -~]/ { complain("no printable ASCII") }

/^# HELP / {
	if ($3 in help) complain("a second HELP")
	help[$3] = 1
	if (NF < 4) complain("HELP without words")
	next
}
/^# TYPE / {
	if ($3 in type) complain("a second TYPE")
	if (!($3 in help)) complain("TYPE without HELP before it")
	if ($3 !~ /^[a-zA-Z_][a-zA-Z0-9_]*$/) complain("no name of a family")
	if ($4 !~ /^(counter|gauge|histogram)$/ || NF != 4) complain("no type")
	if ($4 == "counter" && (om ? $3 ~ /_total$/ : $3 !~ /_total$/)) complain("name of a counter")
	if ($4 != "counter" && $3 ~ /_total$/) complain("_total is for counters")
	type[$3] = $4
	current = $3
	next
}
om && /^# EOF$/ { ended = 1; next }
/^#/ { complain("no comment of either format"); next }

{
	line = $0
	if (!match(line, /^[a-zA-Z_][a-zA-Z0-9_]*/)) { complain("no name"); next }
	name = substr(line, 1, RLENGTH)
	line = substr(line, RLENGTH + 1)
	family = family_of(name)
	if (family == "") complain("a sample without a family")
	else if (family != current) complain("a sample away from its family")
	labels = ""
	delete seen
	le = ""
	if (line ~ /^[{]/) {
		line = substr(line, 2)
		while (match(line, /^[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*"/)) {
			one = substr(line, 1, RLENGTH)
			line = substr(line, RLENGTH + 1)
			key = one; sub(/=.*/, "", key)
			if (key in seen) complain("a label twice")
			seen[key] = 1
			labels = labels one ","
			if (key == "le") { le = one; gsub(/^le="|"$/, "", le) }
			if (line ~ /^,/) line = substr(line, 2)
		}
		if (line !~ /^[}]/) complain("labels")
		line = substr(line, 2)
	}
	if (line !~ /^ -?([0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)$/) complain("no value")
	if ((name labels) in samples) complain("a sample twice")
	samples[name labels] = 1
	n_samples++
	value = line + 0
	if (family in type && type[family] != "gauge" && value < 0) complain("a counter below 0")
	if (name ~ /_bucket$/ && family in type && type[family] == "histogram") {
		if (le == "") complain("a bucket without le")
		if (last_bucket == family && value < last_value && le != first_le) complain("buckets that fall")
		if (last_bucket != family) first_le = le
		last_bucket = family
		last_value = value
		if (le == "+Inf") inf = value
	}
	if (name ~ /_count$/ && type[family] == "histogram" && value != inf) complain("_count is not the last bucket")
}

END {
	if (!n_samples) { print "no samples"; bad = 1 }
	if (om && !ended) { print "no # EOF"; bad = 1 }
	exit bad
}
