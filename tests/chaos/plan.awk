# SPDX-License-Identifier: BSD-2-Clause
# The faults of one run, from a net file and a seed: "MILLISECONDS WORDS...", to be sorted by the first column. The same
# arguments give the same plan. scripts/chaos carries it out.
#
#   awk -v seed=7 -v seconds=600 -v simulator=ibsim -v managers=two -v slow=1 -f plan.awk NETFILE | sort -s -n -k1,1
#
# WORDS: console LINE (of ibsim), ctl COMMAND (of ibfab), kill NAME SIGNAL, start NAME, stop NAME, cont NAME, hup NAME,
# conf N (partitions of variant N, read at the next SIGHUP), sweep NAME KIND. `first` and `second` are the hosts of the
# managers a and b. Gaps between faults are `slow` times as long. Whatever is broken is mended by its own line in the end.

/^(Switch|Hca|Ca|Rt)/ {
	split($0, part, "\"")
	at = part[2]
	n_nodes++
	if (/^Switch/)
		switch_of[++n_switches] = at
	else
		host[++n_hosts] = at
}

/^\[/ {
	split($1, part, /[][]/)
	port = part[2]
	n_cables++
	cable_node[n_cables] = at
	cable_port[n_cables] = port
	cable_peer[n_cables] = part_of($0, 2)
	cable_of[at, ++degree[at]] = n_cables
	if (!(at in first_port))
		first_port[at] = port
}

END {
	state = (seed * 7919 + 12345) % 2147483647
	if (state < 1)
		state = 1
	for (i = 0; i < 20; i++)
		roll(2)
	last = seconds * 1000
	guard()
	weigh()
	for (now = 0; now < last; now += gap()) {
		if (now >= next_mood) {
			calm = now > 0 && roll(2)
			next_mood = now + slow * between(15000, 40000)
		}
		happen(calm ? calm_kind() : kind())
	}
}

# Word i of those in quotes.
function part_of(line, i,   word) {
	split(line, word, "\"")
	return word[i]
}

# ibsim forgets that a port is a subnet manager's when its cable is pulled, and two would rule: beside another manager
# the cables of managers stay, and their switches.
function guard(   c) {
	if (simulator != "ibsim" || managers == "alone")
		return
	guarded[first] = guarded[second] = 1
	for (c = 1; c <= n_cables; c++)
		if (cable_node[c] == first || cable_node[c] == second)
			guarded[cable_peer[c]] = 1
}

function any_host(   name, tries) {
	for (tries = 0; tries < 1000; tries++) {
		name = host[1 + roll(n_hosts)]
		if (!(name in guarded))
			break
	}
	return name
}

function any_switch(   name, tries) {
	for (tries = 0; tries < 1000; tries++) {
		name = switch_of[1 + roll(n_switches)]
		if (!(name in guarded))
			break
	}
	return name
}

function any_node() {
	return roll(n_nodes) < n_switches ? any_switch() : any_host()
}

function any_cable(   c, tries) {
	for (tries = 0; tries < 1000; tries++) {
		c = 1 + roll(n_cables)
		if (!(cable_node[c] in guarded && cable_peer[c] in guarded))
			break
	}
	return c
}

# A whole number from 0 to n - 1. Park and Miller's generator: exact in the doubles of every awk.
function roll(n) {
	state = (state * 16807) % 2147483647
	return int(state / 2147483647 * n)
}

function between(low, high) {
	return low + roll(high - low + 1)
}

# Bursts, then time to breathe, sometimes time enough for everything to end. While it is calm, one fault at a time.
function gap(   dice) {
	if (calm)
		return slow * between(700, 2500)
	dice = roll(100)
	if (dice < 60)
		return slow * between(20, 300)
	return slow * (dice < 93 ? between(300, 1500) : between(4000, 10000))
}

# How long something stays broken: mostly shorter than a sweep, sometimes much longer.
function hold(   dice) {
	if (calm)
		return slow * between(100, 2000)
	dice = roll(100)
	if (dice < 40)
		return slow * between(30, 400)
	return slow * (dice < 75 ? between(400, 3000) : dice < 92 ? between(3000, 12000) : between(12000, 40000))
}

function emit(at, words) {
	printf("%d %s\n", (at > last ? last : at), words)
}

function may(name, weight) {
	for (; weight > 0; weight--)
		kinds[n_kinds++] = name
}

function weigh() {
	may("cable", 24)
	may("host", 8)
	may("switch", 5)
	may("reboot", 5)
	may("flap", 4)
	may("burst", 3)
	may("card", 5)
	may("row", 2)
	may("slowly", 4)
	may("deaf", 4)
	if (simulator != "ibsim" || managers == "alone")
		may("own", 1)
	may("sweep", 3)
	may("same", 2)
	may("change", 2)
	if (simulator == "ibsim") {
		may("lid", 3)
		may("pause", 1)
	} else {
		may("loss", 3)
		may("twice", 2)
		may("late", 2)
		may("noise", 3)
		may("silent", 3)
		may("rename", 1)
	}
	if (managers != "alone") {
		may("kill", 3)
		may("term", 2)
		may("freeze", 2)
	}
}

function calm_kind(   dice) {
	dice = roll(10)
	return dice < 7 ? "cable" : dice < 9 ? "host" : kind()
}

function kind() {
	return kinds[roll(n_kinds)]
}

# ---- what each simulator calls it ----

function cable_down(at, node, port) {
	emit(at, simulator == "ibsim" ? "console Unlink \"" node "\"[" port "]" : "ctl link " node " " port " down")
}

function cable_up(at, node, port) {
	emit(at, simulator == "ibsim" ? "console ReLink \"" node "\"[" port "]" : "ctl link " node " " port " up")
}

function off(at, node) {
	emit(at, simulator == "ibsim" ? "console Unlink \"" node "\"" : "ctl power " node " off")
}

function on(at, node) {
	emit(at, simulator == "ibsim" ? "console ReLink \"" node "\"" : "ctl power " node " on")
}

function reboot(at, node, time) {
	if (simulator == "ibsim") {
		emit(at, "console Clear \"" node "\"")
		on(at + time, node)
	} else {
		emit(at, "ctl reboot " node " " time)
		on(at + time, node) # so that no run ends before it is back
	}
}

function deaf(at, node, percent) {
	emit(at, simulator == "ibsim" ? "console Error \"" node "\" " percent : "ctl node-loss " node " " percent)
}

# ---- the faults: a burst is many cables anywhere, a card several of one switch, a row several switches,
# slowly a switch whose cables come back one after the other ----

function happen(what,   c, k, i, time, name) {
	c = any_cable()
	time = hold()
	if (what == "cable") {
		cable_down(now, cable_node[c], cable_port[c])
		cable_up(now + time, cable_node[c], cable_port[c])
	} else if (what == "host" || what == "switch") {
		name = what == "host" ? any_host() : any_switch()
		off(now, name)
		on(now + time, name)
	} else if (what == "reboot") {
		reboot(now, any_node(), time)
	} else if (what == "flap") {
		k = between(3, 7)
		for (i = 0; i < k; i++) {
			cable_down(now + i * 400, cable_node[c], cable_port[c])
			cable_up(now + i * 400 + between(50, 350), cable_node[c], cable_port[c])
		}
	} else if (what == "burst") {
		for (k = between(4, 20); k > 0; k--) {
			c = any_cable()
			cable_down(now + roll(60), cable_node[c], cable_port[c])
			cable_up(now + 60 + time + roll(800), cable_node[c], cable_port[c])
		}
	} else if (what == "card") {
		name = any_switch()
		for (k = between(2, 6); k > 0; k--) {
			c = cable_of[name, 1 + roll(degree[name])]
			cable_down(now + roll(1500), cable_node[c], cable_port[c])
			cable_up(now + 1500 + time + roll(1500), cable_node[c], cable_port[c])
		}
	} else if (what == "row") {
		for (k = between(2, 5); k > 0; k--) {
			name = any_switch()
			off(now + roll(800), name)
			on(now + 800 + time + roll(800), name)
		}
	} else if (what == "slowly") {
		name = any_switch()
		k = between(20, 300)
		for (i = 1; i <= degree[name]; i++) {
			c = cable_of[name, i]
			cable_down(now, cable_node[c], cable_port[c])
			cable_up(now + time + k * roll(degree[name]), cable_node[c], cable_port[c])
		}
	} else if (what == "own") {
		name = managers != "alone" && roll(2) ? second : first
		cable_down(now, name, first_port[name])
		cable_up(now + time, name, first_port[name])
	} else if (what == "deaf") {
		name = any_node()
		deaf(now, name, roll(3) ? between(5, 60) : 100)
		deaf(now + time, name, 0)
	} else if (what == "lid") {
		name = any_host()
		emit(now, "console Baselid \"" name "\"[" first_port[name] "] " between(1, n_nodes + 20))
		emit(now + between(200, 2000), "sweep a heavy")
		if (managers != "alone")
			emit(now + between(200, 2000), "sweep b heavy")
	} else if (what == "pause") {
		emit(now, "console Wait 1")
	} else {
		happen_served(what, time)
	}
}

# What ibfab can do besides, and what happens to the managers.
function happen_served(what, time,   name) {
	if (what == "loss") {
		emit(now, "ctl loss " between(1, 15))
		emit(now + time, "ctl loss 0")
	} else if (what == "twice") {
		emit(now, "ctl duplicates " between(1, 30))
		emit(now + time, "ctl duplicates 0")
	} else if (what == "late") {
		emit(now, "ctl reorder " between(1, 30) " " between(1, 80))
		emit(now + time, "ctl reorder 0 0")
	} else if (what == "noise") {
		name = any_host()
		emit(now, "ctl trap " name " " first_port[name] " " between(129, 131) " 1")
	} else if (what == "silent") {
		name = any_node()
		emit(now, "ctl silent " name " on")
		emit(now + time, "ctl silent " name " off")
	} else if (what == "rename") {
		name = any_node()
		emit(now, "ctl desc " name " other-" name)
		emit(now + time, "ctl desc " name " " name)
	} else {
		happen_to_manager(what, managers != "alone" && roll(2) ? "b" : "a", time)
	}
}

function happen_to_manager(what, name, time) {
	if (what == "sweep") {
		emit(now, "sweep " name " " (roll(3) ? "heavy" : "light"))
	} else if (what == "same") {
		emit(now, "hup " name)
	} else if (what == "change") {
		emit(now, "conf " roll(3))
		emit(now, "hup a")
		if (managers != "alone")
			emit(now, "hup b")
	} else if (now >= free_at[name]) {
		if (what == "freeze") {
			emit(now, "stop " name)
			time = between(300, 7000)
			emit(now + time, "cont " name)
		} else {
			emit(now, "kill " name " " (what == "kill" ? "KILL" : "TERM"))
			emit(now + time, "start " name)
		}
		free_at[name] = now + time + 1
	}
}
