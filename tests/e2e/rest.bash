# SPDX-License-Identifier: BSD-2-Clause
# opensm-rest beside the manager of a rig: started, asked, ended. Loaded behind lib.bash.
#
#   rest_start [KEY VALUE LINE...]     opensm-rest at $REST_URL, with user admin (right admin) and reader (read)
#   ask METHOD PATH [BODY]             sends it below /ufmRest as admin; $status, and the body in the file answer
#   rest_stop                          before rig_stop
# shellcheck shell=bash disable=SC2154 # what lib.bash sets

REST_BIN=${REST_BIN:-$abs_top_builddir/sbin/opensm-rest}
REPLAY=${REPLAY:-$abs_top_srcdir/tests/tools/rest-replay}
ROWS=$abs_top_srcdir/tests/lib/rest-replay.rows

# A port of this host that nothing has at the moment.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# control_is_there: the manager listens to calls.
control_is_there() {
	[ -S "$(control_path)" ]
}
control_path() {
	local path
	for path in "$WORK"/run/*.sock; do
		echo "$path"
		return
	done
}

rest_add_user() {
	echo "$3" | "$REST_BIN" -c "$WORK/rest/opensm-rest.conf" --add-user "$1" --right "$2" >>"$WORK/rest/out" 2>&1
}

rest_conf() {
	mkdir -p "$WORK/rest"
	REST_PORT=$(free_port)
	REST_URL=http://127.0.0.1:$REST_PORT
	{
		printf 'listen_http = 127.0.0.1:%s\n' "$REST_PORT"
		printf 'control_socket = %s\n' "$(control_path)"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >"$WORK/rest/opensm-rest.conf"
	: >"$WORK/rest/opensm-rest.users"
	chmod 600 "$WORK/rest/opensm-rest.users"
	rest_add_user admin admin secret
	rest_add_user reader read secret
}

rest_start() {
	wait_for 20 control_is_there
	rest_conf "$@"
	"$REST_BIN" -c "$WORK/rest/opensm-rest.conf" >>"$WORK/rest/out" 2>&1 3>&- &
	REST_PID=$!
	wait_for 20 rest_answers
}

# rest_start_tls: the same by HTTPS, with a certificate of its own; clients do not check it, as theirs do not by default.
rest_start_tls() {
	mkdir -p "$WORK/rest"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$WORK/rest/server.key" \
		-out "$WORK/rest/server.crt" -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 >>"$WORK/rest/out" 2>&1
	TLS_PORT=$(free_port)
	rest_start "listen = 127.0.0.1:$TLS_PORT" 'certificate = server.crt' 'key = server.key'
	REST_URL=https://127.0.0.1:$TLS_PORT
}

rest_answers() {
	curl -s --max-time 10 -o /dev/null "$REST_URL/"
}

rest_stop() {
	if [ -z "${BATS_TEST_COMPLETED:-}" ] && [ -s "${WORK:-/nonexistent}/rest/out" ]; then
		tail -n 15 "$WORK/rest/out" | sed 's/^/# /'
	fi
	if [ -n "${REST_PID:-}" ]; then
		kill -9 "$REST_PID" 2>/dev/null || true
		wait "$REST_PID" 2>/dev/null || true
	fi
	REST_PID=
}

# ask METHOD PATH [BODY]: REST_USER has it sent by another user, REST_PREFIX below another prefix.
ask() {
	local body=()
	[ $# -lt 3 ] || body=(-H 'Content-Type: application/json' --data-binary "$3")
	status=$(curl -s --max-time 60 -g -o answer -D head -w '%{http_code}' -u "${REST_USER:-admin}:secret" -X "$1" \
		"${body[@]}" "$REST_URL${REST_PREFIX:-/ufmRest}$2")
}

# gets STATUS METHOD PATH [BODY]: it is answered so.
gets() {
	local want=$1
	shift
	ask "$@"
	[ "$status" = "$want" ] || {
		echo "$*: $status, not $want: $(cat answer)" >&2
		return 1
	}
}

# replay CLIENT [NAME=VALUE...]: the rows of one client.
replay() {
	"$REPLAY" --only "$1" "$ROWS" "$REST_URL" admin:secret "${@:2}"
}
