#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensm-rest.service: off until asked for, a user that exists only while it runs, secrets as credentials.
# needs: root
# shellcheck disable=SC2154 # what unit.bash sets
bats_require_minimum_version 1.5.0
load unit

setup_file() {
	unit_install
}

setup() {
	fabric_start -f "$here/two.net"
	host_start H1
	inside systemd-sysusers
}

teardown() {
	if [ -z "${BATS_TEST_COMPLETED:-}" ] && [ -n "${WORK:-}" ]; then
		inside journalctl --no-pager -u opensm-rest -n 40 || true
	fi
	unit_cleanup
}

# One manager, and what opensm-rest needs.
prepare() {
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001'
	start
	wait_for 20 status_says '1: MASTER'
	printf '%s\n' 'listen = 127.0.0.1:443' 'certificate = opensm-rest.crt' 'key = opensm-rest.key' | put /etc/rdma/opensm-rest.conf
	inside opensm-rest --make-certificate
	inside sh -c 'echo pw | opensm-rest --add-user cloud --right tenant'
	inside opensm-rest --check
}

# ask [CURL OPTIONS] PATH: the status line's number.
ask() {
	inside curl -sk --max-time 30 -o /tmp/body -w '%{http_code}' "${@:1:$#-1}" "https://127.0.0.1${*: -1}"
}

serves() {
	[ "$(ask -u cloud:pw /ufmRest/app/ufm_version)" = 200 ]
}

# What the journal has of the last start, and then no more starts.
refuses() {
	run ! inside systemctl start opensm-rest
	[ "$(inside systemctl show -P ExecMainStatus opensm-rest)" = 78 ]
	[ "$(inside systemctl show -P NRestarts opensm-rest)" = 0 ]
	inside systemctl status --no-pager -l opensm-rest >status.out || true
	grep -qF "$1" status.out || { tail -n 20 status.out; return 1; }
}

@test "off until asked for; without its files it says which is missing and what makes it, and is not started again" {
	run ! inside systemctl is-enabled opensm-rest
	run ! inside systemctl is-active opensm-rest
	example=$(inside find /usr/share/doc/opensm /usr/local/share/doc/opensm -name opensm-rest.conf 2>/dev/null || true)
	refuses "/etc/rdma/opensm-rest.conf: no such file; begin with the example: cp $example /etc/rdma/opensm-rest.conf"
	inside mkdir -p /etc/rdma
	inside cp "$example" /etc/rdma/opensm-rest.conf
	refuses "/etc/rdma/opensm-rest.users: no such file; make the first user: opensm-rest --add-user NAME --right tenant"
	grep -qF "/etc/rdma/opensm-rest.crt: no such file; copy the certificate of this host there, or make one that the host signs itself: opensm-rest --make-certificate" status.out
	grep -qF "/etc/rdma/opensm-rest.key: no such file" status.out
	inside sh -c 'echo pw | opensm-rest --add-user NAME --right tenant'
	inside opensm-rest --make-certificate
	run -78 inside opensm-rest --make-certificate
	[[ $output == "/etc/rdma/opensm-rest.crt is there already, nothing is overwritten"* ]]
	inside systemctl start opensm-rest
	[ "$(inside stat -c %a /etc/rdma/opensm-rest.key)" = 600 ]
	# a client that trusts this certificate, and no other
	name=$(inside hostname)
	inside curl -s --cacert /etc/rdma/opensm-rest.crt --connect-to "$name:443:127.0.0.1:443" -o /dev/null -w '%{http_code}' \
		"https://$name/ufmRest/app/ufm_version" | grep -qx 401
	# the key is gone: the others are fine
	inside rm /etc/rdma/opensm-rest.key
	inside systemctl stop opensm-rest
	refuses "/etc/rdma/opensm-rest.key: no such file; copy the key of the certificate there (mode 0600), or make both: opensm-rest --make-certificate"
}

@test "enabled: it serves, as a user of its own without devices, and its secrets stay root's" {
	prepare
	inside systemctl enable --now opensm-rest
	wait_for 10 serves
	pid=$(inside systemctl show -P MainPID opensm-rest)
	uid=$(inside stat -c %u "/proc/$pid")
	[ "$uid" -ge 61184 ] && [ "$uid" -le 65519 ]
	[ "$(inside stat -c '%U %a' /etc/rdma/opensm-rest.users)" = 'root 600' ]
	inside grep -q '^CapEff:[[:space:]]*0000000000000400$' "/proc/$pid/status"
	run ! inside nsenter -t "$pid" -m sh -c 'ls /dev/infiniband/umad0'
	[ "$(ask -u cloud:pw /ufmRest/resources/pkeys)" = 200 ]
	inside cat /tmp/body | grep -q 0x7fff
	# The group is the right to change something.
	[ "$(ask -u cloud:pw -X DELETE /ufmRest/resources/pkeys/0x7ffe)" = 404 ] || { inside cat /tmp/body; false; }
	[ "$(ask -u cloud:pw -d '{"pkey":"0x5","guids":["0000000000100001"]}' /ufmRest/resources/pkeys)" = 200 ] ||
		{ inside cat /tmp/body; false; }
	[ "$(ask -u cloud:pw '/ufmRest/resources/pkeys/0x5?guids_data=true')" = 200 ]
	inside cat /tmp/body | grep -q '"guid":"0000000000100001"'
}

@test "tokens outlive the service; the journal has fields; new users come with a restart" {
	prepare
	inside systemctl start opensm-rest
	wait_for 10 serves
	[ "$(ask -u cloud:pw -X POST /ufmRest/app/tokens)" = 200 ]
	token=$(inside cat /tmp/body | sed 's/.*"access_token":"\([0-9a-f]*\)".*/\1/')
	inside journalctl --sync
	inside journalctl -q -o cat REST_USER=cloud REST_METHOD=POST REST_STATUS=200 | grep -q /app/tokens
	inside sh -c 'echo pw2 | opensm-rest --add-user second'
	[ "$(ask -u second:pw2 /ufmRest/app/ufm_version)" = 401 ]
	inside systemctl restart opensm-rest
	wait_for 10 serves
	[ "$(ask -u second:pw2 /ufmRest/app/ufm_version)" = 200 ]
	[ "$(ask -H "Authorization: Basic $token" /ufmRestV3/app/ufm_version)" = 200 ]
}

@test "the manager is away: 503, and served again once it is back" {
	prepare
	inside systemctl start opensm-rest
	wait_for 10 serves
	inside systemctl stop opensm
	[ "$(ask -u cloud:pw /ufmRest/app/ufm_version)" = 503 ]
	start
	wait_for 30 serves
}
