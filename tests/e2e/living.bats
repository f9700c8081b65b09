#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The page that opensm-rest serves: in a headless browser, which logs in and then sees what happens without loading anything again;
# and its stream of events, as a program reads it.
# shellcheck disable=SC2154 # what lib.bash sets
load lib
load umad
load rest

CTL=${CTL:-$abs_top_builddir/bin/opensmctl}
BROWSE=$abs_top_srcdir/tests/e2e/browse.py

setup() {
	serve_start tree 2 6 2
	export OPENSM_RUN_DIR=$WORK/run
	printf 'perfmgr TRUE\nperfmgr_sweep_time_s 1\n' >ours.conf
	up ours h0 -f "$WORK/ours.log" -e
	rest_start
}

teardown() {
	[ -z "${READER:-}" ] || kill "$READER" 2>/dev/null || true
	rest_stop
	serve_stop
}

# shown N: the result N as text.
shown() {
	jq -r . <<<"${results[$1]}"
}

# stream FILE ARGS...: a reader of events in the background, its answer in FILE and its headers in FILE.head.
stream() {
	curl -sN --max-time 60 -u admin:secret -D "$1.head" -o "$1" "${@:2}" "$REST_URL/ufmRest/events" 3>&- &
	READER=$!
}
heard() {
	grep -q -- "$2" "$1" 2>/dev/null
}

@test "the living page: a login, a cable that is pulled, a switch that is drained, without loading it again" {
	command -v chromium >/dev/null || skip "no chromium"
	mapfile -t results < <(python3 "$BROWSE" "$REST_URL/" 'until !document.getElementById("login").hidden' \
		'document.getElementById("user").value = "admin"; document.getElementById("password").value = "wrong";
			document.querySelector("#login-form button").click(); window.mark = "same page"; 1' \
		'until document.getElementById("login-note").textContent.includes("do not fit")' \
		'document.getElementById("password").value = "secret"; document.querySelector("#login-form button").click(); 1' \
		'until document.documentElement.dataset.ready === "yes" && document.getElementById("live").textContent === "living"' \
		'document.querySelectorAll(".cell.tiny").length' \
		"run \"$IBFAB\" ctl link leaf1 7 down" \
		'until document.querySelectorAll("#levels path.down").length === 1' \
		'until /leaf1.7.*spine|spine.*leaf1.7/.test(document.getElementById("history").textContent)' \
		'until document.getElementById("events").textContent.includes("is down")' \
		'until document.querySelector("#alarms tbody").textContent.includes("leaf1/7")' \
		"run \"$IBFAB\" ctl link leaf1 7 up" \
		'until document.querySelectorAll("#levels path.down").length === 0' \
		"run '$CTL' drain spine1 --why 'ticket 4711'" \
		'until document.getElementById("planned").textContent.includes("ticket 4711")' \
		"run \"$IBFAB\" ctl rate leaf2 8 xmit_data 30000000" \
		'until document.getElementById("hot").textContent.includes("By traffic: what was sent") && /^leaf2.8/.test([...document.querySelectorAll("#hot h3")].find((h) => h.textContent.startsWith("By traffic")).parentElement.querySelector("tbody tr").textContent)' \
		'document.getElementById("security").hidden' \
		'window.mark' \
		'document.getElementById("logout").click(); 1' \
		'until window.mark === undefined && !document.getElementById("login").hidden && document.getElementById("whole").hidden')
	printf '# %s\n' "${results[@]}"
	[ "$(shown 0)" = true ]
	[ "$(shown 2)" = true ]
	[ "$(shown 4)" = true ]
	[ "$(shown 5)" = 12 ]
	[ "$(shown 7)" = true ]
	[ "$(shown 8)" = true ]
	[ "$(shown 9)" = true ]
	[ "$(shown 10)" = true ]
	[ "$(shown 12)" = true ]
	[ "$(shown 14)" = true ]
	[ "$(shown 16)" = true ]
	[ "$(shown 17)" = false ]
	[ "$(shown 18)" = "same page" ]
	[ "$(shown 20)" = true ]
	# What the browser complains of are the answers 401, before the login, to the wrong password, and after the logout.
	jq -e --arg url "$REST_URL" '[.errors[] | select(test("401") | not)] == [] and (.requests | all(startswith($url)))' <<<"${results[-1]}"
}

@test "the stream of events: what lasts, what happens, from where it ended, for each user a number" {
	local i last pids=()
	stream one
	wait_for 20 heard one '^event: status'
	wait_for 20 heard one '"reachable":true'
	grep -qi '^content-type: text/event-stream' one.head
	fabric link leaf1 7 down
	wait_for 20 heard one '"kind":"link".* is down'
	wait_for 20 heard one '^event: history'
	kill "$READER"
	last=$(grep '^id: ' one | tail -1 | cut -c5-)
	"$CTL" drain spine1
	stream two -H "Last-Event-ID: $last"
	wait_for 20 heard two '"kind":"mark"'
	# It goes on where the first one ended: the cable is not told again.
	not grep -q '"kind":"link"' two
	for i in 1 2 3 4 5 6 7 8; do
		curl -sN --max-time 60 -o "s$i" -w '%{http_code}\n' -u reader:secret "$REST_URL/ufmRest/events" >"s$i.code" 3>&- &
		pids+=($!)
		# One after the other, as few passwords of a user are checked at a time.
		wait_for 20 heard "s$i" '^event: '
	done
	REST_USER=reader gets 503 GET /events
	gets 405 POST /events
	kill "${pids[@]}"
	kill "$READER"
}

@test "the page's files have no data and need no user; its data do, and security is for administrators" {
	curl -sD head -o answer "$REST_URL/"
	grep -qi "^content-security-policy: default-src 'none'; script-src 'self'" head
	not grep -q spine answer
	[ "$(curl -so page.js -w '%{http_code}' "$REST_URL/page.js")" = 200 ]
	[ "$(curl -so page.css -w '%{http_code}' "$REST_URL/page.css")" = 200 ]
	[ "$(curl -so answer -w '%{http_code}' "$REST_URL/ufmRestV2/page")" = 401 ]
	[ "$(curl -so answer -w '%{http_code}' "$REST_URL/ufmRestV2/events")" = 401 ]
	gets 200 GET /page
	jq -e '.fabric.nodes | length == 16' answer
	jq -e '.security.checks | length > 5' answer
	REST_USER=reader gets 200 GET /page
	jq -e 'has("security") | not' answer
}
