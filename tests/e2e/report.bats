#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensmctl report in a headless browser: what it shows of a fabric, what a click shows, and that a device whose
# description is a script runs nothing.
# shellcheck disable=SC2154 # what lib.bash sets
load lib
load umad

CTL=${CTL:-$abs_top_builddir/bin/opensmctl}
BROWSE=$abs_top_srcdir/tests/e2e/browse.py
HOSTILE='</script><img src=x onerror=boom()>'

setup() {
	command -v chromium >/dev/null || skip "no chromium"
	serve_start fat-tree2 36
	export OPENSM_RUN_DIR=$WORK/run
	up ours h0 -f "$WORK/ours.log" -e
}

teardown() {
	serve_stop
}

# browse ARGS...: results in `results`, a line each, the last one about errors.
browse() {
	mapfile -t results < <(python3 "$BROWSE" "$WORK/fabric.html" "$@")
	printf '# %s\n' "${results[@]}"
	jq -e '.errors == [] and .requests == [] and .ready_ms > 0' <<<"${results[-1]}"
}

# shown N: the result N as text.
shown() {
	jq -r . <<<"${results[$1]}"
}

@test "the page of 648 hosts: squares, a click, a port, a path, sections" {
	"$CTL" report -o fabric.html
	"$CTL" --json report | jq -e '.mixed | type == "boolean"'
	[ "$(stat -c %s fabric.html)" -lt 1000000 ]
	browse 'document.querySelectorAll(".cell.named").length' \
		'document.querySelectorAll(".cell.tiny").length' \
		'document.querySelector("[aria-label=leaf3]").click(); document.querySelector("#detail h2").textContent' \
		'document.querySelectorAll("tr.port")[2].click(); document.getElementById("port").textContent' \
		'document.getElementById("from").value = "h1"; document.getElementById("to").value = "h600";
			document.querySelector("#path button").click(); document.querySelectorAll("ol.hops li").length' \
		'document.querySelector("[data-mode=load]").click(); document.querySelectorAll(".cell.named.off").length' \
		'document.getElementById("drift").textContent' \
		'document.querySelectorAll("#security tbody tr").length > 5' \
		'document.getElementById("events").textContent' \
		'document.getElementById("health").textContent' \
		'document.querySelectorAll("#events tbody tr").length < 40 && document.querySelectorAll("#events details div").length > 300' \
		'document.querySelector("[aria-label=leaf3]").dispatchEvent(new MouseEvent("mouseenter")); document.getElementById("tip").textContent' \
		'document.querySelector("#hot tr.goes").click(); document.querySelector("#detail tr.port.sel").textContent' \
		'document.querySelectorAll("#hot tr.goes.sel").length > 0'
	[ "$(shown 0)" = 54 ]
	[ "$(shown 1)" = 648 ]
	[ "$(shown 2)" = leaf3 ]
	[[ $(shown 3) == *"Port 3"*"Other end"*"Pairs of hosts"* ]]
	[ "$(shown 4)" = 5 ]
	[ "$(shown 5)" = 0 ]
	[[ $(shown 6) == *"No cabling is expected: opensmctl topology save"* ]]
	[ "$(shown 7)" = true ]
	[[ $(shown 8) == *"SUBNET UP"* ]]
	[[ $(shown 8) == *"is up, and "*" more such events"* ]]
	[[ $(shown 9) == *"No link has a finding."*"0 of at most "*"isolated"* ]]
	[ "$(shown 10)" = true ]
	[[ $(shown 11) == leaf3*"LID "*"36 cabled ports"* ]]
	[[ $(shown 12) == *active* ]]
	[ "$(shown 13)" = true ]
	sed -i 's/"mixed": *[a-z]*/"mixed":true/' fabric.html
	browse 'document.getElementById("head").textContent'
	[[ $(shown 0) == *"parts of this page may be of different moments"* ]]
}

# The summary that the manager has of a link.
fell() {
	"$CTL" --json report | jq -e '[.history.facts[.history.cables[][1]]] | index("down")' >/dev/null
}

@test "a drained spine is empty in the map of loads, one row of planned work; a cable that fell has a day" {
	"$CTL" drain spine9 --why "ticket 4711"
	fabric link leaf3 20 down
	wait_for 30 fell
	"$CTL" report -o fabric.html
	browse 'document.querySelector("[data-mode=load]").click(); [...document.querySelectorAll(".cell.named.off")].map((c) => c.textContent).join()' \
		'[...document.querySelectorAll(".cell.named.h0")].length' \
		'[...document.querySelectorAll("#planned tbody tr")].map((r) => r.textContent).join("|")' \
		'const row = [...document.querySelectorAll("#history tr.goes")].find((r) => r.textContent.includes("leaf3/20")); row.click(); row.textContent' \
		'document.getElementById("port").textContent' \
		'document.querySelectorAll("#levels path.down").length' \
		'[...document.querySelectorAll("#alarms tbody tr")].map((r) => r.textContent).join("|")' \
		'document.querySelector("#alarms tbody tr").click(); document.querySelector("#detail .alarm.fault").textContent' \
		'close(); document.querySelector("[data-mode=state]").click(); document.querySelector("[aria-label=spine9]").className'
	[ "$(shown 0)" = spine9 ]
	[ "$(shown 1)" = 0 ]
	[[ $(shown 2) == *spine9*"35 of 36 cables out"*"ticket 4711"* && $(shown 2) != *"|"* ]]
	[[ $(shown 3) == *"the link is down"* || $(shown 3) == *"spine2/3 lost: "*"destinations moved"* ]] # its last fact, the patch comes 50 ms later
	[[ $(shown 4) == *"Other end"*"the link is down"* ]]
	[ "$(shown 5)" -ge 1 ]
	[[ $(shown 6) == *"link down"*leaf3/20*spine2/3* && $(shown 6) != *"|"* ]]
	[[ $(shown 7) == *"the link is down"* ]]
	[[ $(shown 8) == *planned* ]]
}

# The cable of port 19 of leaf3, as if it had trained at a tenth of the rate of the others.
slow_cable() {
	python3 - <<-'PY'
	import json, re
	page = open("fabric.html").read()
	data = re.search(r'(<script[^>]*id="?data"?[^>]*>)(.*?)(</script>)', page, re.S)
	doc = json.loads(data.group(2))
	fabric = doc["fabric"]
	leaf = next(i for i, n in enumerate(fabric["nodes"]) if n[0] == "leaf3")
	link = next(l for l in fabric["links"] if [leaf, 19] in (l[0:2], l[2:4]))
	words = fabric["kinds"][link[4]].split("|")[0].split(" ")
	fabric["kinds"].append("1x SDR %g|SDR" % (float(words[2]) / 10))
	link[4] = len(fabric["kinds"]) - 1
	open("fabric.html", "w").write(page[:data.start(2)] + json.dumps(doc).replace("<", "\\u003c") + page[data.end(2):])
	PY
}

@test "the map of loads goes by rates, and names the slowest cable" {
	"$CTL" report -o fabric.html
	browse 'document.querySelector("[data-mode=load]").click(); document.getElementById("legend").textContent'
	[[ $(shown 0) != *"slowest cable"* ]]
	slow_cable
	browse 'document.querySelector("[data-mode=load]").click(); document.getElementById("legend").textContent'
	[[ $(shown 0) == *"slowest cable: x "*"(leaf3 port 19)"* || $(shown 0) == *"slowest cable: x "*"(spine"* ]]
}

@test "a description that is a script is shown, and does not run" {
	fabric desc h5 "$HOSTILE"
	"$CTL" sweep heavy
	"$CTL" topology --format json | grep -q onerror
	"$CTL" report -o fabric.html
	not grep -qE '<(img|/script><img) ' fabric.html
	browse 'document.querySelectorAll("img, iframe, object").length' \
		'document.querySelectorAll("script").length' \
		'document.getElementById("find").value = "onerror"; document.getElementById("find").dispatchEvent(new Event("change"));
			document.querySelector("#detail h2").textContent'
	[ "$(shown 0)" = 0 ]
	[ "$(shown 1)" = 2 ]
	[ "$(shown 2)" = "$HOSTILE" ]
}

@test "rails are named by what the adapters at their leaves have in common" {
	local i
	serve_stop
	serve_start tree 4 4 2
	export OPENSM_RUN_DIR=$WORK/run
	for i in $(seq 0 15); do
		fabric desc "h$i" "node$((i % 8)) mlx5_$((i / 8))"
	done
	up ours h0 -f "$WORK/ours.log" -e
	"$CTL" report -o fabric.html
	browse '[...document.querySelectorAll(".group > small")].map((e) => e.textContent).filter((t) => t.startsWith("rail")).join()' \
		'document.querySelector("[aria-label=leaf4]").closest(".group").querySelector("small").textContent' \
		'document.querySelector("[aria-label=spine1]").closest(".group").querySelector("small")'
	[ "$(shown 0)" = "rail mlx5_0,rail mlx5_1" ]
	[ "$(shown 1)" = "rail mlx5_1" ]
	[ "$(shown 2)" = null ]
}

@test "report: what it does not understand, and where it cannot write" {
	run -2 "$CTL" report
	[[ $output == *"-o FILE is missing"* ]]
	run -1 "$CTL" report -o /nowhere/fabric.html
	[[ $output == *"cannot be written"* ]]
}
