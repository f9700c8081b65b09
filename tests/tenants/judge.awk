# SPDX-License-Identifier: BSD-2-Clause
# Are the P_Keys on the devices those that a journal of tests/tools/tenant-storm allows? Prints what
# is not so, a line each.
#
#   awk -v settled=yes -v room=yes -v others=1 -v out=NEW -f judge.awk STATE JOURNAL DEVICES
#
# STATE, of the round before (may be empty):
#   P P_KEY GUID STATE[,STATE]   what the port may be in the partition: absent, full, limited;
#                                absent where there is no line
#   G GENERATION                 the highest that was acknowledged
# JOURNAL, of this round: as tenant-storm writes it; an identifier begins with the name of the
# manager that is asked, and a dot. And what befell managers:
#   X NAME                       it may be away from now on: what it alone has is not in force
#                                meanwhile
#   Y NAME                       it is back, and has what the others have, or rules itself
#   W NAME                       what it has stored so far may be lost; of all of them: nothing is
#                                demanded any more
#   O NAME GUID[,GUID...]        these ports are out of its sight from now on: what it acknowledges
#                                of them is pending. What is out of sight of all of them is not
#                                judged before all is settled.
#   I NAME                       all ports are in its sight
#   B                            all managers have all that any of them has
# DEVICES, read by other people's tools:
#   D GUID host|switch           the table of the port, or of the switch port that faces it, was
#                                read
#   K GUID host|switch 0xKEY     and has this entry
#
# `others`: how many managers there are beside the one that is asked; without it, none.
#
# With settled the manager has no work left: port and switch port must agree, and NEW is the STATE
# of the next round. With room, too, no table is too short: what was acknowledged as pending is on
# the devices by then.
#
# A change counts from the line where it is sent to the line where its answer is. What a port may be
# is what those changes left that no acknowledged change of the same port and partition follows: one
# that was sent after their end. A change of which nothing is known may have been made or not. So
# may one that only managers have that are away, or whose managers have all lost it. And where one
# manager may not have known what another one did, the safer of both may be in force. A change that
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
		if (!((id, pair[1]) in effect))
			named_by[id] = named_by[id] "," pair[1]
		effect[id, pair[1]] = action[id] == "remove" ? "absent" : pair[2]
		named[key_of[id], pair[1]]
	}
}

function is_late(op, guid) {
	pending[op, guid]
	has_pending[op]
	named[key_of[op], guid]
}

# What its manager does not see when it acknowledges a change is pending, too. Said once for all of
# them: the spell in which the manager does not see them, and the line; `hidden_since` has the
# ports.
function is_veiled(op,    i, spell) {
	spell = by[op] SUBSEP n_spells[by[op]]
	if (op in veil) {
		for (i in unseen)
			if (index(i, by[op] SUBSEP) == 1)
				is_late(op, substr(i, length(by[op]) + 2))
	} else if (spell in spells) {
		veil[op] = spell
		veiled_at[op] = FNR
		if (!((key_of[op], spell) in veiled_until))
			veils[key_of[op]] = veils[key_of[op]] " " spell
		veiled_until[key_of[op], spell] = FNR
	}
}

# Does a change name the port, or is one pending there?
function is_named(key, guid,    i, n, spell) {
	if ((key, guid) in named)
		return 1
	n = key in veils ? split(veils[key], spell, " ") : 0
	for (i = 1; i <= n; i++)
		if ((spell[i], guid) in hidden_since &&
		    hidden_since[spell[i], guid] < veiled_until[key, spell[i]])
			return 1
	return 0
}

# Does a change say something of ports that it does not name?
function is_sweeping(op) {
	return action[op] == "set" || action[op] == "delete"
}

# What a change makes of a port; "": nothing.
function effect_of(op, guid) {
	if ((op, guid) in effect)
		return effect[op, guid]
	return is_sweeping(op) ? "absent" : ""
}

# A manager that rules need not have it.
function is_out_of_sight(op) {
	return by[op] in away && with[op] <= n_away - 1
}

# All that had it may have lost it.
function is_wiped(op) {
	return op in lost || n_wiped - wiped_before[op] > with[op]
}

# ---- the round before ----

$1 == "P" && FILENAME == ARGV[1] { before[$2, $3] = $4; keys[$2]; had_members[$2]; next }
$1 == "G" && FILENAME == ARGV[1] { generation = $2 + 0; next }

# ---- the journal ----

FILENAME == ARGV[2] && $1 == "S" {
	id = $2
	if (id in start)
		is_repeated = 1
	by[id] = substr(id, 1, index(id, ".") - 1)
	n_managers += !(by[id] in managers)
	managers[by[id]]
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
# Managers are apart from here on, for the rest of the journal: it tells of one fault.
FILENAME == ARGV[2] && $1 ~ /^[XO]$/ && !($2 in apart_from) { apart_from[$2] = FNR }
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
		spell = $2 SUBSEP n_spells[$2]
		spells[spell]
		if (!((spell, hidden[i]) in hidden_since))
			hidden_since[spell, hidden[i]] = FNR
	}
	next
}
FILENAME == ARGV[2] && $1 == "I" {
	n_spells[$2]++
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
	is_veiled($2)
}
FILENAME == ARGV[2] { next }

# ---- the devices ----

$1 == "D" { devices[$2, $3]; ports[$2]; next }
$1 == "K" {
	full = substr($4, 3, 1) ~ /[89a-fA-F]/
	base = substr($4, 3, 1)
	if (full)
		base = substr("01234567", index("89abcdef", tolower(base)), 1)
	base = "0x" base tolower(substr($4, 4))
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

# ---- the changes of one partition ----
#
# Partitions are gone through one by one, and of each what does not depend on the port is found
# once: `all` has its changes in their order, `sweeping` which of them say something of every port,
# and `naming[GUID]` which name the port (some are in both). The changes of a port are then walked
# from the last one backwards, no further than needed.

# What does not depend on the port or the partition. Other managers than its own know a change
# behind line `known[op]`.
function weigh(op) {
	sure[op] = ended[op] == "A" && !is_out_of_sight(op) && !is_wiped(op)
	known[op] = with[op] >= others + 0 ? everywhere[op] + 0 : NR
}

# `reach[I]`: the last line that one of the first I changes that count touches.
function begin_partition(key,    i, m, op, far) {
	split("", naming)
	split("", made_until)
	n_sweeping = far = 0
	m = split(ops[key], all, " ")
	for (i = 1; i <= m; i++) {
		op = all[i]
		if (ended[op] != "R") {
			far = later(far, later(start[op], op in end ? end[op] : NR))
			note_ports(op, i)
		}
		reach[i] = far
	}
	note_makers(key, m)
}

function later(one, other) {
	return one > other ? one : other
}

function note_ports(op, i,    j, n, part) {
	if (is_sweeping(op))
		sweeping[++n_sweeping] = i
	n = split(named_by[op], part, ",")
	for (j = 2; j <= n; j++)
		naming[part[j]] = naming[part[j]] " " i
}

# Changes that may have made the partition anew: up to which line may a manager other than theirs
# not know of it?
function note_makers(key, m,    i, op, may_be_gone) {
	may_be_gone = !(key in had_members)
	for (i = 1; i <= m; i++) {
		op = all[i]
		if (ended[op] == "R")
			continue
		if (action[op] == "delete")
			may_be_gone = 1
		if (may_be_gone && (action[op] == "add" || action[op] == "create"))
			made_until[by[op]] = later(known[op], made_until[by[op]] + 0)
	}
}

# ---- the changes of one port in it ----
#
# list[1] is the last one, makes[1] what it makes of the port, at[1] its place in `all`.

function begin_port(guid,    i) {
	port = guid
	n_list = 0
	left_sweeping = n_sweeping
	left_naming = guid in naming ? split(naming[guid], names_port, " ") : 0
	split("", hidden_from)
	for (i in spells)
		if ((i, guid) in hidden_since)
			hidden_from[i] = hidden_since[i, guid]
}

# Is there a change I? Those before it are looked for as they are needed.
function has(i,    place, what) {
	while (n_list < i) {
		if (!left_sweeping && !left_naming)
			return 0
		if (!left_naming ||
		    (left_sweeping && sweeping[left_sweeping] > names_port[left_naming])) {
			place = sweeping[left_sweeping--]
			what = "absent"
		} else {
			place = names_port[left_naming--]
			what = effect_of(all[place], port)
			left_sweeping -= left_sweeping && sweeping[left_sweeping] == place
		}
		if (what != "") {
			list[++n_list] = all[place]
			makes[n_list] = what
			at[n_list] = place
		}
	}
	return 1
}

function is_pending(op) {
	if (op in veil && veil[op] in hidden_from && hidden_from[veil[op]] < veiled_at[op])
		return 1
	return op in has_pending && (op, port) in pending
}

function is_sure(op) {
	return sure[op] && ((settled && room) || !is_pending(op))
}

# Had the manager of `op` the change `other` when it made that?
function knew(op, other) {
	return by[op] == by[other] || start[op] > known[other]
}

# It was sent before both managers were apart: the other one may have stored it, even if no answer says so.
function may_be_known(op) {
	return by[op] in apart_from && start[op] < apart_from[by[op]]
}

# The change that made the port what change F says it shall be: where it was so already, an earlier
# one that its manager knew. "": none, it was so all the time, or may have been.
function made_by(f, was,    i, op, final, ret) {
	final = ret = list[f]
	for (i = 1; has(i); i++) {
		op = list[i]
		if (start[op] > start[final])
			continue
		if (!knew(final, op)) {
			if (makes[i] == makes[f] && may_be_known(op))
				return ""
			continue
		}
		if (makes[i] != makes[f])
			return ret
		if (op != final)
			ret = op
	}
	return index("," was ",", "," makes[f] ",") ? "" : ret
}

# What managers did that need not know the last change, F, or that its manager need not have known:
# each one's last sure change, those that it may have made behind that, and those behind it of which
# nothing is sure. In force only where it is the safer one, or where F changed nothing, as what was
# so already is stored nowhere, or where F is of a partition that is gone.
function allowed_apart(f, was,    i, m, n, op, final, oldest, made, is_gone, since, some, ret) {
	final = list[f]
	oldest = NR
	n = 0
	for (i = m = 1; has(i) && (m < n_managers || reach[at[i]] >= oldest); i++) {
		op = list[i]
		if (by[op] == by[final] || (by[op] in since && !is_open(op, since[by[op]])))
			continue
		if (!knew(final, op))
			some[++n] = i
		if (is_sure(op) && !(by[op] in since)) {
			since[by[op]] = start[op]
			oldest = start[op] < oldest ? start[op] : oldest
			m++
		}
	}
	if (n) {
		made = made_by(f, was)
		is_gone = is_made_anew_apart(final)
	}
	for (; n; n--) {
		i = some[n]
		if (is_gone || made == "" || knew(list[i], made) || is_safer(makes[i], makes[f]))
			ret = ret makes[i] "|"
	}
	return ret
}

# What the port was for the manager of `op` when it made that.
function view_of(op, was,    i, ret) {
	for (i = 1; has(i); i++) {
		if (start[list[i]] >= start[op])
			ret = ""
		else if (ret == "" && knew(op, list[i]))
			ret = makes[i]
		if (ret != "" && !is_repeated)
			break
	}
	return ret == "" ? was : ret
}

# What managers wrote apart from change F when they gave index 0 of the port to another partition:
# what the port was, for them.
function allowed_aside(key, f, was,    i, j, k, m, op, final, views, aside, ret) {
	final = list[f]
	m = port in movers ? split(movers[port], aside, " ") : 0
	for (i = 1; i <= m; i++) {
		op = aside[i]
		if (ended[op] == "R" || key_of[op] == key || knew(final, op))
			continue
		k = split(view_of(op, was), views, ",")
		for (j = 1; j <= k; j++)
			if (is_safer(views[j], makes[f]))
				ret = ret views[j] "|"
	}
	return ret
}

# A change that may have made the partition anew apart from `final`: ports that it does not name
# have no right then.
function is_made_anew_apart(final,    m, ret) {
	ret = 0
	for (m in made_until)
		if (m != by[final] && start[final] <= made_until[m])
			ret = 1
	return ret
}

# May the change have been made behind line `last`?
function is_open(op, last) {
	return !(op in end) || end[op] > last
}

# Are both among them, those of the port and of the switch port?
function has_both(may, host, sw) {
	return host && index(may, "|" host "|") && index(may, "|" sw "|")
}

# The states that the port may have, as "|absent|full|", where it had `was`. Where what it has is
# among the first of them, what managers did apart is not looked at: it only adds to them.
function allowed_by(key, guid, was, host, sw,    n, i, last, final, ret) {
	begin_port(guid)
	for (i = 1; has(i) && !is_sure(list[i]); i++)
		;
	final = i <= n_list ? list[i] : ""
	last = i <= n_list ? start[final] : 0
	ret = last ? "|" : "|" was "|"
	gsub(",", "|", ret)
	for (n = 0; has(n + 1) && reach[at[n + 1]] >= last; n++)
		;
	for (i = n; i; i--)
		if (is_open(list[i], last))
			ret = ret makes[i] "|"
	if (!last || !others || has_both(ret, host, sw))
		return ret
	if (is_made_anew_apart(final))
		ret = ret "absent|"
	for (i = n; i; i--)
		if (list[i] == final || is_open(list[i], last))
			ret = ret allowed_apart(i, was) allowed_aside(key, i, was)
	return ret
}

# Most ports are named by no change of a partition: all that had the same before may have the same.
function allowed_of(key, guid, host, sw,    was) {
	was = (key, guid) in before ? before[key, guid] : "absent"
	if (is_named(key, guid))
		return allowed_by(key, guid, was, host, sw)
	if (!((key, was) in unnamed))
		unnamed[key, was] = allowed_by(key, "", was)
	return unnamed[key, was]
}

function is_judged(guid) {
	return settled || n_blind[guid] <= others
}

function allow(    op, key, guid) {
	for (op in start)
		weigh(op)
	for (key in keys) {
		begin_partition(key)
		for (guid in ports)
			if (is_judged(guid))
				allowed[key, guid] = allowed_of(key, guid,
					state_of(guid, "host", key), state_of(guid, "switch", key))
	}
}

function judge(key, guid,    may, host, sw) {
	may = is_anything ? "|absent|limited|full|" : allowed[key, guid]
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
	if (!is_anything)
		allow()
	for (guid in ports) {
		if (!((guid, "host") in devices) || !((guid, "switch") in devices))
			say("not both tables of " guid " were read")
		n_ports++
		if (!is_judged(guid))
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
