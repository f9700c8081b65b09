#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensm-rest among clients that mean no good: floods, guesses, malformed requests. The manager is rest_peer.py, which
# writes down what it is called for.
# shellcheck disable=SC2154
: "${abs_top_srcdir:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
: "${abs_top_builddir:=$abs_top_srcdir/build/release}"
REST=${REST:-$abs_top_builddir/sbin/opensm-rest}
PEER_PY=$abs_top_srcdir/tests/e2e/rest_peer.py
# shellcheck source=tests/lib/wait.bash
. "$abs_top_srcdir/tests/lib/wait.bash"

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	certificates >certificates.log 2>&1 || { cat certificates.log; return 1; }
	: >users
	printf 'users = users\nlisten_http = 127.0.0.1:1\n' >make.conf
	local user
	for user in read tenant admin; do
		echo "pw-$user" | "$REST" -c make.conf --add-user "$user" --right "$user" || return 1
	done
	"$REST" -c make.conf --add-user robot --right tenant --no-password --cert-san robot.example </dev/null
}

# A server's certificate, a CA for clients with a client, and one of another CA.
certificates() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.crt \
		-subj /CN=server -addext subjectAltName=IP:127.0.0.1
	local ca
	for ca in ca other; do
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $ca.key -out $ca.crt -subj /CN=$ca
	done
	client_certificate robot ca robot.example
	client_certificate stranger ca stranger.example
	client_certificate forged other robot.example
}

client_certificate() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1"
	printf 'subjectAltName=DNS:%s\nextendedKeyUsage=clientAuth\n' "$3" >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -CAcreateserial -extfile "$1.ext" -out "$1.crt"
}

setup() {
	command -v python3 >/dev/null || skip "python3 is not installed"
	command -v openssl >/dev/null || skip "openssl is not installed"
	WORK=$(mktemp -d "$BATS_TEST_TMPDIR/rest.XXXXXX")
	cd "$WORK" || return 1
	cp -p "$BATS_FILE_TMPDIR"/{users,*.crt,*.key} .
	OTHERS=()
	PORT=$(python3 "$PEER_PY" port)
	TLS_PORT=$(python3 "$PEER_PY" port)
	mkdir state
	cat >rest.conf <<-END
		listen_http = 127.0.0.1:$PORT
		listen = 127.0.0.1:$TLS_PORT
		certificate = server.crt
		key = server.key
		client_ca = ca.crt
		users = users
		state_dir = $WORK/state
		control_socket = $WORK/opensm.sock
	END
}

teardown() {
	local pid
	for pid in "${OTHERS[@]}" ${REST_PID:-}; do
		kill "$pid" 2>/dev/null
		kill -CONT "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	[ -n "$BATS_TEST_COMPLETED" ] || { [ ! -e rest.log ] || tail -n 40 rest.log; }
}

# beside FILE COMMAND...: runs until the test is over, with its output in FILE.
beside() {
	local out=$1
	shift
	"$@" >"$out" 2>&1 3>&- </dev/null &
	OTHERS+=($!)
}

# rest_start [MEMBERS]: opensm-rest and its manager, whose one partition has so many members.
rest_start() {
	beside manager.log python3 "$PEER_PY" manager "$WORK/opensm.sock" "$WORK/calls" "${1:-3}"
	wait_for 10 test -S opensm.sock
	rest_run
}

rest_run() {
	: >rest.log
	"$REST" -c rest.conf >>rest.log 2>&1 3>&- </dev/null &
	REST_PID=$!
	wait_for 10 grep -q serves rest.log
}

# status [CURL OPTIONS] PATH: the number of the answer's status line; its body is in `body`.
status() {
	local path=${*: -1}
	curl -sS --max-time 60 -o body -w '%{http_code}' "${@:1:$#-1}" "http://127.0.0.1:$PORT$path"
}

status_tls() {
	local path=${*: -1}
	curl -sSk --max-time 60 -o body -w '%{http_code}' "${@:1:$#-1}" "https://127.0.0.1:$TLS_PORT$path"
}

# expect STATUS [CURL OPTIONS] PATH
expect() {
	local want=$1 got
	shift
	got=$(status "$@")
	[ "$got" = "$want" ] || { echo "$*: $got instead of $want: $(cat body)"; return 1; }
}

expect_tls() {
	local want=$1 got
	shift
	got=$(status_tls "$@")
	[ "$got" = "$want" ] || { echo "$*: $got instead of $want: $(cat body)"; return 1; }
}

raw() {
	python3 "$PEER_PY" raw 127.0.0.1 "$PORT"
}

# rss_below MB: what the process has in memory.
rss_below() {
	local kb
	kb=$(awk '/^VmRSS/ { print $2 }' "/proc/$REST_PID/status")
	[ "$kb" -lt $(($1 * 1024)) ] || { echo "VmRSS is $kb kB"; return 1; }
}

# peak_below MB: the most that it had.
peak_below() {
	local kb
	kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$REST_PID/status")
	[ "$kb" -lt $(($1 * 1024)) ] || { echo "VmHWM is $kb kB"; return 1; }
}

is_asan() {
	grep -q __asan_init "$REST"
}

changes() {
	grep -c ChangePartition calls || true
}

KEYS=/ufmRest/resources/pkeys
BODY='{"pkey":"0x5","guids":["0200000000000001"]}'

@test "1,000 connections that send a byte a second: another user is served, memory stays small" {
	rest_start
	beside slow.log python3 "$PEER_PY" slow 127.0.0.1 "$PORT" 1000
	wait_for 60 grep -q open slow.log
	local i
	for i in {1..20}; do
		expect 200 -u read:pw-read "$KEYS"
	done
	is_asan || rss_below 96
}

@test "readers that read nothing: others are served, memory is bounded" {
	rest_start 20000
	expect 200 -u read:pw-read "$KEYS?guids_data=true"
	[ "$(wc -c <body)" -gt 1000000 ]
	AUTH="Basic $(printf read:pw-read | base64)" beside readers.log \
		python3 "$PEER_PY" readers 127.0.0.1 "$PORT" 200 "$KEYS?guids_data=true"
	wait_for 60 grep -q open readers.log
	local i
	for i in {1..10}; do
		expect 200 -u tenant:pw-tenant "$KEYS"
	done
	is_asan || rss_below 512
}

# listed N: curl number N got the members, or was told to come again.
listed() {
	local code
	code=$(cat "code$1")
	[ "$code" = 200 ] || [ "$code" = 503 ]
}

@test "lists of 120,000 members, several at once: never two in memory" {
	rest_start 120000
	local i pids=()
	for i in {1..4}; do
		status -u "$([ $((i % 2)) = 0 ] && echo read:pw-read || echo tenant:pw-tenant)" \
			"$KEYS?guids_data=true" >"code$i" 3>&- &
		pids+=($!)
	done
	wait "${pids[@]}"
	for i in {1..4}; do
		listed "$i"
	done
	grep -q 200 code1 code2 code3 code4
	is_asan || peak_below 512
}

@test "wrong passwords: refused, then slowed down; a user that is known, and other addresses, are not" {
	rest_start
	expect 200 -u read:pw-read "$KEYS"
	local i seen=
	for i in {1..30}; do
		seen+=" $(status -u admin:wrong "$KEYS")"
	done
	[[ $seen == " 401"* && $seen == *" 429"* ]]
	grep -q failed body
	expect 200 -u read:pw-read "$KEYS"
	expect 200 --interface 127.0.0.7 -u admin:pw-admin "$KEYS"
}

@test "a flood of wrong passwords from many addresses: a new user gets in" {
	rest_start
	local i
	for i in {1..40}; do
		beside "/dev/null" curl -sS --max-time 60 --interface "127.8.$i.1" -u "stranger$i:x" "http://127.0.0.1:$PORT$KEYS"
	done
	served() { [ "$(status -u tenant:pw-tenant "$KEYS")" = 200 ]; }
	wait_for 20 served
}

@test "a request without the right changes nothing" {
	rest_start
	local credentials
	for credentials in read:pw-read read:wrong stranger:pw-read admin: :pw-admin robot: robot:! 'admin:pw-admin '; do
		for what in "POST $KEYS" "PUT $KEYS" "POST $KEYS/add" "DELETE $KEYS/0x5" "DELETE $KEYS/0x5/guids/0200000000000001" \
			"POST /ufmRest/actions/remove_guids_from_pkey" "PUT $KEYS/qos_conf" "POST $KEYS/hosts"; do
			got=$(status -u "$credentials" -X "${what% *}" -d "$BODY" "${what#* }")
			[[ $got == 40[13] || $got == 429 ]] || { echo "$credentials $what: $got"; return 1; }
		done
	done
	expect 401 -X POST -d "$BODY" "$KEYS"
	expect 401 -X POST -d "$BODY" -H "Authorization: Basic $(printf '0%.0s' {1..64})" "${KEYS/ufmRest/ufmRestV3}"
	expect 401 -X POST -d "$BODY" -H "Authorization: Bearer x" "${KEYS/ufmRest/ufmRestV3}"
	expect 401 -X POST -d "$BODY" -H "Cookie: session=$(printf '0%.0s' {1..64})" "${KEYS/ufmRest/ufmRestV2}"
	[ "$(changes)" = 0 ]
	expect 200 --interface 127.0.0.7 -u tenant:pw-tenant -X POST -d "$BODY" "$KEYS"
	[ "$(changes)" = 1 ]
}

@test "malformed requests end with a number, and the next request is served" {
	rest_start
	local deep
	deep=$(printf '[%.0s' {1..5000})
	local auth=(-u tenant:pw-tenant)
	expect 400 "${auth[@]}" -d '{"pkey":' "$KEYS"
	expect 400 "${auth[@]}" -d "$deep" "$KEYS"
	expect 400 "${auth[@]}" -d '{"pkey":"0x5"} x' "$KEYS"
	expect 400 "${auth[@]}" -d "httpd_username=x" "$KEYS"
	printf '{"pkey":"0x5\000"}' >nul
	expect 400 "${auth[@]}" --data-binary @nul "$KEYS"
	printf '{"pkey":"\xff\xfe"}' >bytes
	expect 400 "${auth[@]}" --data-binary @bytes "$KEYS"
	expect 400 "${auth[@]}" "$KEYS/%2f"
	expect 400 "${auth[@]}" "$KEYS/%00"
	expect 400 "${auth[@]}" "$KEYS/%zz"
	expect 400 "${auth[@]}" "$KEYS?$(printf 'a=b&%.0s' {1..100})"
	expect 404 "${auth[@]}" /nothing
	expect 404 "${auth[@]}" /ufmRestX/resources/pkeys
	expect 404 "${auth[@]}" /ufmRest/nothing
	expect 405 "${auth[@]}" -X DELETE /ufmRest/app/ufm_version
	expect 405 "${auth[@]}" -X TRACE "$KEYS"
	expect 414 "${auth[@]}" "/ufmRest/$(printf 'x%.0s' {1..9000})"
	# libmicrohttpd answers or just hangs up, by where its memory ends.
	[[ $(status "${auth[@]}" -H "X-Big: $(printf 'x%.0s' {1..60000})" "$KEYS" || true) != 2* ]]
	[ "$(changes)" = 0 ]
	expect 200 "${auth[@]}" "$KEYS"
}

@test "bodies: too large is refused, chunked is read, an absent one is fine" {
	rest_start
	head -c 2000000 /dev/zero | tr '\0' ' ' >blanks
	expect 413 -u tenant:pw-tenant --data-binary @blanks "$KEYS"
	[[ $(status -u tenant:pw-tenant -H 'Transfer-Encoding: chunked' --data-binary @blanks "$KEYS" || true) != 2* ]]
	expect 413 -d "httpd_username=$(printf 'x%.0s' {1..5000})" /dologin
	expect 401 --data-binary @blanks "$KEYS"
	[ "$(changes)" = 0 ]
	expect 200 -u tenant:pw-tenant -H 'Transfer-Encoding: chunked' -d "$BODY" "$KEYS"
	expect 200 -u tenant:pw-tenant -H 'Content-Type: application/json; charset=utf-8' -d "$BODY" "$KEYS/"
	[ "$(changes)" = 2 ]
}

@test "pipelined requests are answered in their order; what is no HTTP is refused" {
	rest_start
	local auth
	auth=$(printf tenant:pw-tenant | base64)
	{
		printf 'GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\n\r\n' "$KEYS" "$auth"
		printf 'GET /ufmRest/nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\n\r\n' "$auth"
		printf 'GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$KEYS"
	} | raw >statuses
	[ "$(paste -sd' ' statuses)" = "200 404 401" ]
	printf 'nonsense\r\n\r\n' | raw >statuses
	grep -qE '^(400|closed)$' statuses
	printf 'POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\nContent-Length: -5\r\nConnection: close\r\n\r\n' "$KEYS" "$auth" | raw >statuses
	grep -qE '^(400|413|closed)$' statuses
	head -c 100000 /dev/urandom | raw >statuses
	[ "$(changes)" = 0 ]
	expect 200 -u tenant:pw-tenant "$KEYS"
}

@test "certificates: the user of the name, no other name, no other CA" {
	rest_start
	expect_tls 200 --cert robot.crt --key robot.key -X POST -d "$BODY" "$KEYS"
	[ "$(changes)" = 1 ]
	expect_tls 401 --cert stranger.crt --key stranger.key -X POST -d "$BODY" "$KEYS"
	expect_tls 401 --cert forged.crt --key forged.key -X POST -d "$BODY" "$KEYS"
	expect_tls 401 --cert server.crt --key server.key -X POST -d "$BODY" "$KEYS"
	expect_tls 401 -X POST -d "$BODY" "$KEYS"
	# A password that is wrong is not mended by a certificate.
	expect_tls 401 --cert robot.crt --key robot.key -u robot:x -X POST -d "$BODY" "$KEYS"
	[ "$(changes)" = 1 ]
}

@test "tokens live over a restart, and not longer than they should" {
	rest_start
	expect 200 -u tenant:pw-tenant -X POST /ufmRest/app/tokens
	token=$(sed 's/.*"access_token":"\([0-9a-f]*\)".*/\1/' body)
	expect 200 -H "Authorization: Basic $token" "${KEYS/ufmRest/ufmRestV3}"
	expect 401 -H "Authorization: Basic $token" "$KEYS"
	not grep -q "$token" state/tokens
	[ "$(stat -c %a state/tokens)" = 600 ]
	kill "$REST_PID"
	wait "$REST_PID"
	rest_run
	expect 200 -H "Authorization: Basic $token" "${KEYS/ufmRest/ufmRestV3}"
	expect 403 -H "Authorization: Basic $token" -X POST /ufmRestV3/app/tokens
	expect 403 -u read:pw-read -X POST /ufmRest/app/tokens
	[ "$(wc -l <state/tokens)" = 1 ]
	expect 404 -u read:pw-read -X DELETE "/ufmRest/app/tokens/${token:0:8}"
	expect 200 -u tenant:pw-tenant -X DELETE "/ufmRest/app/tokens/${token:0:8}"
	expect 401 -H "Authorization: Basic $token" "${KEYS/ufmRest/ufmRestV3}"
}

@test "sessions: a cookie from the form, ended by logout, not taken from pages of other sites" {
	rest_start
	expect 401 -d 'httpd_username=tenant&httpd_password=x' /dologin
	expect 200 -c jar -d 'httpd_username=tenant&httpd_password=pw-tenant' /dologin
	grep -q HttpOnly jar
	expect 200 -b jar "${KEYS/ufmRest/ufmRestV2}"
	expect 401 -b jar "$KEYS"
	expect 403 -b jar -H 'Origin: http://elsewhere.example' -X POST -d "$BODY" "${KEYS/ufmRest/ufmRestV2}"
	[ "$(changes)" = 0 ]
	expect 200 -b jar -X POST -d "$BODY" "${KEYS/ufmRest/ufmRestV2}"
	expect 200 -b jar /logout
	expect 401 -b jar "${KEYS/ufmRest/ufmRestV2}"
}

@test "a file of users that is wrong: no start, and no reload" {
	rest_start
	echo 'eve:plain:admin' >>users
	kill -HUP "$REST_PID"
	wait_for 10 grep -q 'users:5:5: ' rest.log
	expect 200 -u read:pw-read "$KEYS"
	run "$REST" -c rest.conf --check
	[ "$status" = 78 ]
	[[ $output == *"users:5:5: "* ]]
	sed -i '/^eve\|^tenant/d' users
	kill -HUP "$REST_PID"
	wait_for 10 grep -q 'read again' rest.log
	expect 401 -u tenant:pw-tenant "$KEYS"
	chmod 644 users
	run "$REST" -c rest.conf
	[ "$status" = 78 ]
	[[ $output == *0644* ]]
}

@test "users that are gone or changed: no token, no session, over a reload and a restart" {
	rest_start
	local user
	for user in tenant admin; do
		expect 200 -u $user:pw-$user -X POST /ufmRest/app/tokens
		sed 's/.*"access_token":"\([0-9a-f]*\)".*/\1/' body >token.$user
	done
	for user in read tenant admin; do
		expect 200 -c jar.$user -d "httpd_username=$user&httpd_password=pw-$user" /dologin
	done
	sed -i -e '/^tenant:/d' -e 's/^read:\(.*\):read/read:\1:tenant/' users
	kill -HUP "$REST_PID"
	wait_for 10 grep -q 'read again' rest.log
	only_admin() { [ "$(cut -d: -f3 state/tokens)" = admin ]; }
	wait_for 10 only_admin
	expect 401 -H "Authorization: Basic $(cat token.tenant)" "${KEYS/ufmRest/ufmRestV3}"
	expect 200 -H "Authorization: Basic $(cat token.admin)" "${KEYS/ufmRest/ufmRestV3}"
	expect 401 -b jar.tenant "${KEYS/ufmRest/ufmRestV2}"
	expect 401 -b jar.read "${KEYS/ufmRest/ufmRestV2}"
	expect 200 -b jar.admin "${KEYS/ufmRest/ufmRestV2}"
	# At the start too; --check changes nothing.
	kill "$REST_PID"
	wait "$REST_PID"
	sed -i '/^admin:/d' users
	"$REST" -c rest.conf --check
	only_admin
	rest_run
	[ ! -s state/tokens ]
}

@test "a change is in the audit with user, address, request and generation" {
	rest_start
	expect 200 -u tenant:pw-tenant -X POST -d "$BODY" "$KEYS"
	wait_for 5 grep -q "user tenant at 127.0.0.1: 200, generation 8 (request .*): \"POST $KEYS\"" rest.log
	request=$(sed -n 's/.*generation 8 (request \([0-9a-f]*\)).*/\1/p' rest.log)
	grep -q "\"request\": \"$request\"" calls
	not grep -q pw-tenant rest.log
	# A path cannot look like a record.
	printf 'POST %s of user admin at 127.0.0.1: 200 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$KEYS" | raw >statuses
	grep -qE '^(400|closed)$' statuses
	expect 401 -X POST "$KEYS/x%22%20user%20admin"
	not grep -q 'user admin' rest.log
}

@test "bodies that count for nothing, and bodies of too many values" {
	rest_start
	local auth=(-u tenant:pw-tenant) i
	expect 200 "${auth[@]}" -X GET -d '{"pkey":' "$KEYS"
	expect 200 "${auth[@]}" -X GET -d '{}' "$KEYS"
	[ "$(curl -sS --max-time 60 -o body -w '%{http_code}' "${auth[@]}" -I "http://127.0.0.1:$PORT$KEYS")" = 200 ]
	[[ $(status "${auth[@]}" -X DELETE -d '{}' "$KEYS/0x5") == 200 ]]
	[ "$(changes)" = 1 ]
	head -c 8000 /dev/zero | tr '\0' ' ' >blanks
	expect 413 "${auth[@]}" -X DELETE --data-binary @blanks "$KEYS/0x5"
	python3 -c 'print("[" + "{}," * 340000 + "{}]")' >objects
	python3 -c 'print("[" + "1," * 500000 + "1]")' >numbers
	for i in {1..4}; do
		expect 400 "${auth[@]}" --data-binary @objects "$KEYS"
		expect 400 "${auth[@]}" --data-binary @numbers "$KEYS"
	done
	is_asan || rss_below 64
	[ "$(changes)" = 1 ]
}

@test "pages of other sites change nothing, with a password either, and start no session" {
	rest_start
	local auth=(-u tenant:pw-tenant)
	expect 403 "${auth[@]}" -H 'Origin: http://elsewhere.example' -X POST -d "$BODY" "$KEYS"
	expect 403 "${auth[@]}" -H 'Origin: null' -X POST -d "$BODY" "$KEYS"
	expect 403 "${auth[@]}" -H 'Sec-Fetch-Site: cross-site' -X POST -d "$BODY" "$KEYS"
	expect 403 "${auth[@]}" -H 'Sec-Fetch-Site: cross-site' -X POST /ufmRest/app/tokens
	expect 403 -H 'Origin: http://elsewhere.example' -d 'httpd_username=tenant&httpd_password=pw-tenant' /dologin
	expect 403 -H 'Sec-Fetch-Site: cross-site' /logout
	[ "$(changes)" = 0 ]
	expect 200 "${auth[@]}" -H 'Sec-Fetch-Site: cross-site' "$KEYS"
	expect 200 "${auth[@]}" -H "Origin: http://127.0.0.1:$PORT" -H 'Sec-Fetch-Site: same-origin' -X POST -d "$BODY" "$KEYS"
	[ "$(changes)" = 1 ]
}

# calls_wait N: so many connections are open at the manager's socket, beside the one that listens.
calls_wait() {
	[ "$(grep -cF " $WORK/opensm.sock" /proc/net/unix)" -gt "$1" ]
}

@test "a change whose client hung up before it was begun is not made" {
	rest_start
	local i
	kill -STOP "${OTHERS[0]}"
	for i in 1 2 3 4; do
		beside /dev/null curl -sS --max-time 30 -u tenant:pw-tenant -d "$BODY" "http://127.0.0.1:$PORT$KEYS"
	done
	# The share of this user of the threads is in use: the next one waits, and its client does not.
	wait_for 20 calls_wait 4
	run curl -sS --max-time 2 -u tenant:pw-tenant -d "${BODY/0x5/0x6}" "http://127.0.0.1:$PORT$KEYS"
	[ "$status" = 28 ]
	kill -CONT "${OTHERS[0]}"
	is_over() { [ "$(changes)" -ge 1 ] && expect 200 -u tenant:pw-tenant -X POST -d "${BODY/0x5/0x7}" "$KEYS"; }
	wait_for 20 is_over
	grep ChangePartition calls >made
	grep -qE '"(0x0*)7"' made
	not grep -qE '"(0x0*)6"' made
}
