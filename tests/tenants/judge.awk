# SPDX-License-Identifier: BSD-2-Clause
# Are the P_Keys on the devices those that a journal of tests/tools/tenant-storm allows? Prints what is not so, a line each.
#
#   awk -v settled=yes -v room=yes -v others=1 -v out=NEW -f judge.awk STATE JOURNAL DEVICES
#
# STATE, of the round before (may be empty):
#   P P_KEY GUID STATE[,STATE]   what the port may be in the partition: absent, full, limited; absent where there is no line
#   G GENERATION                 the highest that was acknowledged
# JOURNAL, of this round: as tenant-storm writes it; an identifier begins with the name of the manager that is asked, and a
# dot. And what befell managers:
#   X NAME                       it may be away from now on: what it alone has is not in force meanwhile
#   Y NAME                       it is back, and has what the others have, or rules itself
#   W NAME                       what it has stored so far may be lost; of all of them: nothing is demanded any more
#   O NAME GUID[,GUID...]        these ports are out of its sight from now on: what it acknowledges of them is pending. What
#                                is out of sight of all of them is not judged before all is settled.
#   I NAME                       all ports are in its sight
#   B                            all managers have all that any of them has
# DEVICES, read by other people's tools:
#   D GUID host|switch           the table of the port, or of the switch port that faces it, was read
#   K GUID host|switch 0xKEY     and has this entry
#
# `others`: how many managers there are beside the one that is asked; without it, none.
#
# With settled the manager has no work left: port and switch port must agree, and NEW is the STATE of the next round. With
# room, too, no table is too short: what was acknowledged as pending is on the devices by then.
#
# A change counts from the line where it is sent to the line where its answer is. What a port may be is what those changes
# left that no acknowledged change of the same port and partition follows: one that was sent after their end. A change of
# which nothing is known may have been made or not. So may one that only managers have that are away, or whose managers have
# all lost it. And where one manager may not have known what another one did, the safer of both may be in force. A change that
# takes index 0 of a port writes the row of the partition that had it, too.

function say(text) {
	print text
	problems++
}

function members(text,    i, n, part, pair) {
	n = split(text, part, ",")
	for (i = 1; i <= n; i++) {
		split(part[i], pair, "=")
		if (sub(/@0$/, "", pair[2]) && action[id] != "remove")
			movers[pair[1]] = movers[pair[1]] " " id
		effect[id, pair[1]] = action[id] == "remove" ? "absent" : pair[2]
		named[key_of[id], pair[1]]
	}
}

function is_late(op, guid) {
	pending[op, guid]
	named[key_of[op], guid]
}

# What a change makes of a port; "": nothing.
function effect_of(op, guid) {
	if ((op, guid) in effect)
		return effect[op, guid]
	return action[op] == "set" || action[op] == "delete" ? "absent" : ""
}

# A manager that rules need not have it.
function is_out_of_sight(op) {
	return by[op] in away && with[op] <= n_away - 1
}

# All that had it may have lost it.
function is_wiped(op) {
	return op in lost || n_wiped - wiped_before[op] > with[op]
}

function is_sure(op, guid) {
	if (ended[op] != "A" || is_out_of_sight(op) || is_wiped(op))
		return 0
	return !((op, guid) in pending) || (settled && room)
}

# ---- the round before ----

$1 == "P" && FILENAME == ARGV[1] { before[$2, $3] = $4; keys[$2]; had_members[$2]; next }
$1 == "G" && FILENAME == ARGV[1] { generation = $2 + 0; next }

# ---- the journal ----

FILENAME == ARGV[2] && $1 == "S" {
	id = $2
	by[id] = substr(id, 1, index(id, ".") - 1)
	action[id] = $3
	start[id] = FNR
	behind[id] = generation
	key_of[id] = $4
	keys[$4]
	ops[$4] = ops[$4] " " id
	if ($5 != "-")
		members($5)
	next
}
FILENAME == ARGV[2] && $1 == "X" { n_away += !($2 in away); away[$2]; next }
FILENAME == ARGV[2] && $1 == "Y" { n_away -= $2 in away; delete away[$2]; next }
FILENAME == ARGV[2] && $1 == "W" {
	if (++n_wiped > others) {
		generation = 0
		is_anything = 1
	}
	next
}
FILENAME == ARGV[2] && $1 == "B" {
	for (op in with) {
		if (is_wiped(op))
			lost[op]
		if (with[op] < others + 0)
			everywhere[op] = FNR
		with[op] = others + 0
		wiped_before[op] = 0
	}
	n_wiped = n_away = 0
	split("", away)
	next
}
FILENAME == ARGV[2] && $1 == "O" {
	n = split($3, hidden, ",")
	for (i = 1; i <= n; i++) {
		n_blind[hidden[i]] += !(($2, hidden[i]) in unseen)
		unseen[$2, hidden[i]]
	}
	next
}
FILENAME == ARGV[2] && $1 == "I" {
	for (i in unseen)
		if (index(i, $2 SUBSEP) == 1) {
			n_blind[substr(i, length($2) + 2)]--
			delete unseen[i]
		}
	next
}
FILENAME == ARGV[2] {
	if (!($2 in start) || $2 in ended)
		say("the journal has an answer without a request: " $0)
	ended[$2] = $1
	end[$2] = FNR
	counts[$1]++
}
FILENAME == ARGV[2] && $1 == "A" {
	if ($3 + 0 < behind[$2] || ($4 == "yes" && $3 + 0 == behind[$2]))
		say("change " $2 " was given generation " $3 ", behind it was " behind[$2])
	with[$2] = $6 + 0
	wiped_before[$2] = n_wiped + 0
	if ($3 + 0 > generation && with[$2] >= others + 0)
		generation = $3 + 0
	n = split($5, late, ",")
	for (i = 1; i <= n && $5 != "-"; i++)
		is_late($2, late[i])
	for (i in unseen)
		if (index(i, by[$2] SUBSEP) == 1)
			is_late($2, substr(i, length(by[$2]) + 2))
}
FILENAME == ARGV[2] { next }

# ---- the devices ----

$1 == "D" { devices[$2, $3]; ports[$2]; next }
$1 == "K" {
	full = substr($4, 3, 1) ~ /[89a-fA-F]/
	base = sprintf("0x%s%s", full ? substr("01234567", index("89abcdef", tolower(substr($4, 3, 1))), 1) : substr($4, 3, 1),
		tolower(substr($4, 4)))
	if (base == "0x7fff")
		next
	if (($2, $3, base) in seen)
		say($3 " port of " $2 " has " base " twice")
	seen[$2, $3, base] = full ? "full" : "limited"
	keys[base]
}

function state_of(guid, side, key) {
	return (guid, side, key) in seen ? seen[guid, side, key] : "absent"
}

# Of two states, does the first give less access?
function is_safer(one, other) {
	return index("absent limited full", one) < index("absent limited full", other)
}

# Had the manager of `op` the change `other` when it made that?
function knew(op, other) {
	return by[op] == by[other] || (with[other] >= others + 0 && start[op] > everywhere[other])
}

# The change that made the port what `final` says it shall be: where it was so already, an earlier one that its manager knew.
# "": none, it was so all the time.
function made_by(final, guid, was, n, list,    i, op, ret) {
	ret = index("," was ",", "," effect_of(final, guid) ",") ? "" : final
	for (i = 1; i <= n; i++) {
		op = list[i]
		if (!knew(final, op) || start[op] > start[final])
			continue
		if (effect_of(op, guid) != effect_of(final, guid))
			ret = final
		else if (ret == final)
			ret = op
	}
	return ret
}

# What managers did that need not know the last change, `final`, or that its manager need not have known: each one's last
# sure change, and those of its changes behind that of which nothing is sure. In force only where it is the safer one, or
# where `final` changed nothing: what was so already is stored nowhere.
function allowed_apart(final, guid, was, n, list,    i, op, m, of, made, ret) {
	for (i = 1; i <= n; i++)
		if (is_sure(list[i], guid))
			of[by[list[i]]] = i
	made = made_by(final, guid, was, n, list)
	for (i = 1; i <= n; i++) {
		op = list[i]
		m = by[op]
		if (m == by[final] || i < of[m] + 0 || knew(final, op))
			continue
		if (made == "" || knew(op, made) || is_safer(effect_of(op, guid), effect_of(final, guid)))
			ret = ret effect_of(op, guid) "|"
	}
	return ret
}

# What managers wrote apart from `final` when they gave index 0 of the port to another partition: what the port was, for them.
function allowed_aside(key, final, guid, was, n, list,    i, j, k, m, op, view, views, aside, ret) {
	m = split(movers[guid], aside, " ")
	for (i = 1; i <= m; i++) {
		op = aside[i]
		if (ended[op] == "R" || key_of[op] == key || by[op] == by[final] || knew(final, op))
			continue
		view = was
		for (j = 1; j <= n && start[list[j]] < start[op]; j++)
			if (knew(op, list[j]))
				view = effect_of(list[j], guid)
		k = split(view, views, ",")
		for (j = 1; j <= k; j++)
			if (is_safer(views[j], effect_of(final, guid)))
				ret = ret views[j] "|"
	}
	return ret
}

# A change that may have made the partition anew apart from `final`: ports that it does not name have no right then.
function is_made_anew_apart(key, final, n, all,    i, op, may_be_gone) {
	may_be_gone = !(key in had_members)
	for (i = 1; i <= n; i++) {
		op = all[i]
		if (ended[op] == "R")
			continue
		if (action[op] == "delete")
			may_be_gone = 1
		if (may_be_gone && (action[op] == "add" || action[op] == "create") && by[op] != by[final] && !knew(final, op))
			return 1
	}
	return 0
}

# The states that the port may have, as "|absent|full|", where it had `was`.
function allowed_by(key, guid, was,    n, m, i, all, list, last, final, ret) {
	m = split(ops[key], all, " ")
	n = last = 0
	for (i = 1; i <= m; i++)
		if (effect_of(all[i], guid) != "" && ended[all[i]] != "R")
			list[++n] = all[i]
	for (i = 1; i <= n; i++)
		if (is_sure(list[i], guid))
			last = start[final = list[i]]
	ret = last ? "|" : "|" was "|"
	gsub(",", "|", ret)
	for (i = 1; i <= n; i++)
		if (!(list[i] in end) || end[list[i]] > last)
			ret = ret effect_of(list[i], guid) "|"
	if (!last || !others)
		return ret
	if (is_made_anew_apart(key, final, m, all))
		ret = ret "absent|"
	for (i = 1; i <= n; i++)
		if (list[i] == final || !(list[i] in end) || end[list[i]] > last)
			ret = ret allowed_apart(list[i], guid, was, n, list) allowed_aside(key, list[i], guid, was, n, list)
	return ret
}

# Most ports are named by no change of a partition: all that had the same before may have the same.
function allowed_of(key, guid,    was) {
	was = (key, guid) in before ? before[key, guid] : "absent"
	if ((key, guid) in named)
		return allowed_by(key, guid, was)
	if (!((key, was) in unnamed))
		unnamed[key, was] = allowed_by(key, "", was)
	return unnamed[key, was]
}

function judge(key, guid,    may, host, sw) {
	may = is_anything ? "|absent|limited|full|" : allowed_of(key, guid)
	host = state_of(guid, "host", key)
	sw = state_of(guid, "switch", key)
	if (!index(may, "|" host "|"))
		say("port " guid ": " key " is " host ", may be " may ":" ops[key])
	if (!index(may, "|" sw "|"))
		say("switch port of " guid ": " key " is " sw ", may be " may ":" ops[key])
	if (settled && host != sw)
		say("port " guid ": " key " is " host ", at its switch port " sw)
	if (out && host != "absent")
		print "P", key, guid, host > out
}

END {
	for (guid in ports) {
		if (!((guid, "host") in devices) || !((guid, "switch") in devices))
			say("not both tables of " guid " were read")
		n_ports++
		if (!settled && n_blind[guid] > others)
			continue
		for (key in keys)
			judge(key, guid)
	}
	if (!n_ports)
		say("no device was read")
	if (out)
		print "G", generation + 0 > out
	if (tally)
		print counts["A"] + 0, counts["R"] + 0, counts["U"] + 0 >> tally
	exit problems > 0
}
