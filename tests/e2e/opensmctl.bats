#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensmctl and the control socket of the real daemon: every command, its rights, several instances, callers that
# mean no good, and a daemon that goes away.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets; each test is a subshell
load lib
load umad

setup_file() {
	small_tree
}

setup() {
	OPEN=
	case $BATS_TEST_DESCRIPTION in
	served:*) serve_start tree 2 3 2 ;;
	*)
		mapfile -t SWITCHES < <(awk -F'"' '/^Switch/ { print $2 }' "$NET")
		tree_start
		echo "partition_config_file $WORK/partitions.conf" >>opensm.conf
		echo 'Default=0x7fff, ipoib : ALL=full;' >partitions.conf
		;;
	esac
	export OPENSM_RUN_DIR=$WORK/run
}

teardown() {
	[ -z "$OPEN" ] || rm -rf "$OPEN"
	case $BATS_TEST_DESCRIPTION in
	served:*) serve_stop ;;
	*) rig_stop ;;
	esac
}

start_up() {
	sm_start "${HOSTS[0]}" "$@"
	wait_for 20 sm_up
}

# json FILTER ARGS...: what jq makes of its answer; -j of everything must be JSON.
json() {
	local filter=$1
	shift
	"$CTL" -j "$@" 2>err.txt 3>&- </dev/null | jq -er "$filter"
}

# A folder that other users can reach, with the client in it.
open_folder() {
	OPEN=$(mktemp -d /tmp/opensmctl-e2e.XXXXXX)
	chmod 755 "$OPEN"
	cp "$CTL" "$OPEN/opensmctl"
	echo "control_socket $OPEN/s.sock" >>opensm.conf
}

# as_nobody GROUP STATUS ARGS...: another user, in this group; exits so.
as_nobody() {
	local group=$1 want=$2 got=0
	shift 2
	out=$(as_other 65534 "$group" "$OPEN/opensmctl" -i "$OPEN/s.sock" "$@" 2>&1) || got=$?
	[ "$got" -eq "$want" ] || {
		echo "as nobody: $*: $got, not $want: $out" >&2
		return 1
	}
}

@test "status tells state, master, subnet, sweeps and configuration" {
	start_up -p 3
	ctl status
	grep -qE '^opensm: MASTER for .*, priority 3, port .* LID ' <<<"$out"
	grep -qE '^  subnet +up, 6 hosts and 4 switches, [0-9]+ ports ACTIVE' <<<"$out"
	grep -qE '^  last heavy .*Gets.*Sets.* 0 errors \(start\)' <<<"$out"
	grep -qE '^  routing +auto' <<<"$out"
	grep -qE "^  configuration  $PWD/opensm.conf" <<<"$out"
	[ "$("$CTL" -o | wc -l)" -eq 1 ]
	[ "$("$CTL" sta | head -n 1 | cut -d: -f1)" = opensm ]
	ctl -s -s status
	grep -qE '^  SA +' <<<"$out"
	grep -qE '^Set +PortInfo +[0-9]+' <<<"$out"
	[ "$(json '.[0].state' status)" = MASTER ]
	[ "$(json '.[0].subnet.nodes' status)" = 10 ]
	[ "$(json '.[0].master.is_self' status)" = true ]
	[ "$(json '.[0].pid' status)" = "$SM_PID" ]
	[ "$(json '.[0].configuration.errors == 0' status)" = true ]
	"$CTL" -j -p status | python3 -m json.tool >/dev/null
}

@test "every command answers, and its JSON is JSON" {
	start_up
	local words
	for words in status instances priority keys sa-key loglevel sweeping options 'options all' 'options sm_key' check \
		'sweep heavy' 'sweep light' reroute reload topology 'topology --format json' nodes "nodes ${HOSTS[1]}" ports \
		'ports --not-active' "ports ${HOSTS[1]}" "routes ${SWITCHES[0]}" "path ${HOSTS[0]} ${HOSTS[1]}" partitions \
		groups sa 'sa services' managers 'managers --diff' ledger qos marks health "health ports ${HOSTS[0]}" \
		"drain ${SWITCHES[-1]} --plan" "smp get nodeinfo ${HOSTS[1]}" "smp show portinfo ${HOSTS[1]}" \
		'partitions create 5 --dry-run' 'instances failing' alarms history 'history state node'; do
		# shellcheck disable=SC2086
		gives 0 $words
		[ -n "$out" ]
		# shellcheck disable=SC2086
		{ "$CTL" $words --schema && "$CTL" $words --json; } >>documents 2>err.txt || {
			echo "$words --json: $(cat err.txt)"
			return 1
		}
	done
	"$CTL" nodes -p | python3 -m json.tool >/dev/null
	# What is printed is what the schemas say.
	"$abs_top_builddir/tests/tools/schema-fits" <documents
	"$CTL" --schema | jq -e 'length > 40' >/dev/null
	"$CTL" alarms --schema | jq -e '.properties.alarms.items.properties.class.enum == ["fault", "degraded", "planned"]' >/dev/null
	local command
	for command in $("$CTL" complete); do
		gives 0 "$command" help
		grep -q "^Usage: opensmctl .*$command" <<<"$out"
	done
	# Nothing was forgotten above.
	for command in $("$CTL" complete); do
		grep -qw "$command" <<<'status instances sweep reroute reload priority keys sa-key smp loglevel sweeping monitor ledger options security congestion check report
			topology nodes ports routes path partitions alarms history groups sa managers qos drain isolate restore marks health'
	done
}

@test "keys: one for all ports cannot be rotated" {
	start_up
	ctl keys
	grep -qE '^one M_Key for all ports \(m_key_per_port is FALSE\); [0-9]+ of [0-9]+ ports have it; 0 of 0 standbys were sent it$' <<<"$out"
	[ "$(json .per_port keys)" = false ]
	gives 1 keys rotate
	grep -q 'm_key_per_port is FALSE' <<<"$out"
	gives 2 keys turn
}

@test "orders to the manager are carried out, and stand in the log with the user" {
	start_up
	local ups
	ups=$(ups)
	ctl sweep
	grep -qE '^heavy sweep done: [0-9]+ Gets, 0 Sets, 0 errors in [0-9]+ ms$' <<<"$out"
	[ "$(ups)" -gt "$ups" ]
	ctl sweep light
	grep -q '^light sweep done' <<<"$out"
	ctl priority 7
	[ "$(json .priority priority)" = 7 ]
	grep -q "pid [0-9]* (uid $(id -u)) asks for SetPriority" opensm.log
	ctl loglevel error,info,routing
	[ "$(json .flags loglevel)" = $((0x43 | 0x80)) ]
	[ ! -e dumps/opensm-lfts.dump ]
	ctl sweep
	wait_for 10 test -s dumps/opensm-lfts.dump
	ctl loglevel 0x83
	[ "$(json '.names | join(",")' loglevel)" = error,info,sys ]
	ctl sweeping off
	gives 1 sweep
	grep -q 'switched off' <<<"$out"
	[ "$(json .enabled sweeping)" = false ]
	ctl sweeping on
	gives 0 sweep
	ctl reroute
	wait_for 10 grep -q 'rerouting\|asked for' opensm.log
}

@test "check and reload tell what they find, where, and take over all or nothing" {
	printf 'Default=0x7fff: ALL=full;\n' >partitions.conf
	start_up
	gives 0 check
	printf 'Default=0x7fff: ALL=full;\nA=0xzz: ALL;\n' >partitions.conf
	gives 1 check
	grep -qE "^$PWD/partitions.conf:2:[0-9]+: error: " <<<"$out"
	[ "$(json '.findings[0].line' check)" = 2 ]
	gives 1 reload
	wait_for 10 grep -q 'SIGHUP: 1 error: nothing is taken over' opensm.log
	wait_for 10 refused_is true
	grep -q 'took nothing over' <<<"$("$CTL" status)"
	printf 'Default=0x7fff: ALL=full;\nA=0x10: ALL;\n' >partitions.conf
	echo 'sweep_interval 33' >>opensm.conf
	gives 0 check
	grep -q 'a reload would change: .*sweep_interval 10 -> 33' <<<"$out"
	gives 0 reload
	wait_for 10 refused_is false
	[ "$(json '.[0].value' options sweep_interval)" = 33 ]
	[ "$(json '.[0].source' options sweep_interval)" = file ]
	ctl options
	grep -qE "^sweep_interval +33 +10 +$PWD/opensm.conf:[0-9]+$" <<<"$out"
	# A finding of a file as a whole has no line.
	sed -i '/sweep_interval/d' opensm.conf
	gives 0 reload
	wait_for 10 says_gone
}

says_gone() {
	ctl -s status && grep -qF "$PWD/opensm.conf: warning: sweep_interval: its line is gone; 33 stays" <<<"$out"
}

refused_is() {
	[ "$("$CTL" -j status | jq -r '.[0].configuration.refused')" = "$1" ]
}

@test "keys are never shown" {
	printf 'sm_key 0x5ec4e75ec4e75ec4\nm_key 0x5ec4e75ec4e75ec4\nsa_key 0x5ec4e75ec4e75ec4\n' >>opensm.conf
	start_up
	ctl -j options all
	not grep -qi 5ec4e7 <<<"$out"
	[ "$(json '.[0].value' options sm_key)" = '(set)' ]
	ctl -j status
	not grep -qi 5ec4e7 <<<"$out"
}

@test "security: a line of the checklist fails, and passes with its setting" {
	start_up
	gives 1 security
	grep -qE '^ +3 +fail +sm_key +sm_key is the default, 1' <<<"$out"
	grep -qE '^ +8 +unknown +class_keys ' <<<"$out"
	grep -qE '^Profile open: [0-9]+ pass, [0-9]+ fail, [0-9]+ unknown$' <<<"$out"
	printf 'sm_key 0x5ec4e75ec4e75ec4\nsa_key 0x5ec4e75ec4e75ec4\n' >>opensm.conf
	gives 0 reload
	wait_for 10 passes sm_key
	passes sa_key
	gives 1 security
	not grep -qi 5ec4e7 <<<"$out"
	[ "$("$CTL" -o security | wc -l)" -eq 13 ]
	gives 2 security all
}

# The line of the checklist with this name does.
passes() {
	{ "$CTL" -j security || true; } | jq -e --arg name "$1" '.checks[] | select(.name == $name) | .verdict == "pass"'
}

@test "what is not understood exits with 2 and says what there is; what is not there with 1 or 3" {
	gives 3 status
	grep -q 'systemctl status opensm;.* opensm --check' <<<"$out"
	gives 3 priority
	start_up
	gives 2 statsu
	# As JSON where JSON is asked for, wherever that stands; never on stdout.
	[ "$("$CTL" path "${HOSTS[0]}" nowhere --json 2>&1 >out.txt | jq -c '.error | [.name, .exit_status]')" = '["NotFound",1]' ]
	[ ! -s out.txt ]
	[ "$("$CTL" -j partitions ad 0x5 "${HOSTS[0]}" 2>&1 | jq -r '.error.text')" = "there is no 'partitions ad'; did you mean 'partitions add'?" ]
	gives 2 statsu
	grep -q "did you mean 'status'" <<<"$out"
	gives 2 re
	grep -q 'may be: reroute, reload' <<<"$out"
	gives 2 sweep sideways
	gives 2 priority 16
	gives 2 loglevel nonsense
	gives 2 sweeping maybe
	gives 2 -x status
	gives 2 status more
	gives 1 options sweep_intervall
	grep -q "did you mean 'sweep_interval'" <<<"$out"
	gives 1 monitor weather
	grep -q 'there are: state, ' <<<"$out"
	gives 1 nodes nowhere
	gives 3 -i nobody status
	grep -q 'there is: opensm' <<<"$out"
	gives 0 -i "$WORK/run/opensm.sock" status
	gives 0 -V
	grep -q '^opensmctl [0-9]' <<<"$out"
	"$CTL" help >help.txt
	[ "$(wc -l <help.txt)" -gt 20 ]
}

@test "monitor tells events, one per line; a reader that goes ends it" {
	start_up
	"$CTL" -j monitor >events.json 3>&- &
	BESIDE[monitor]=$!
	"$CTL" -ts monitor node link >some.txt 3>&- &
	BESIDE[some]=$!
	wait_for 10 followed 2
	# The connections may be there before they have asked for events: these begin behind the first change then.
	both_are_told Unlink gone || { both_are_told ReLink there && both_are_told Unlink gone; }
	not grep -q 'sweep' some.txt
	wait_for 10 grep -q '"kind":"sweep_done"' events.json
	jq -es 'all(.[]; .kind and .time and .text)' events.json >/dev/null
	[ "$(jq -r 'select(.kind == "node") | .name' events.json | sort -u)" = "${HOSTS[1]}" ]
	# A reader that has gone ends it before anything else happens.
	timeout 60 bash -c "'$CTL' monitor sweep | head -n 1 >first.txt" 3>&- &
	BESIDE[first]=$!
	wait_for 10 followed 3
	# The connection may be there before it has asked for events: they begin in the middle of this sweep then, or with the next.
	for _ in 1 2 3 4 5; do
		ctl sweep
		! wait_for 5 has_ended "${BESIDE[first]}" || break
	done
	wait "${BESIDE[first]}"
	unset 'BESIDE[first]'
	grep -q '^sweep_' first.txt
	# What was told is also remembered, the latest first.
	ctl history node
	grep -qE "^20.* node +host '${HOSTS[1]}' .* is (gone|there)" <<<"$out"
	not grep -q ' sweep_done ' <<<"$out"
	[ "$(json '.events | map(.kind) | unique | join(",")' history node link)" = link,node ]
	[ "$(json '.events | .[0].time > .[-1].time and .[-1].kind == "state"' history)" = true ]
	gives 0 history patch
	[ "$out" = 'no such event' ]
	gives 1 history weather
}

# both_are_told COMMAND WORD: the cable of a host is pulled or put back, and both monitors say of the host that it is WORD.
both_are_told() {
	sim_console "$1 \"${HOSTS[1]}\"[1]"
	ctl sweep && wait_for 10 grep -qE "^\[20..-..-..T..:..:..\.[0-9]{6}\] .*node: host '${HOSTS[1]}' .* is $2" some.txt &&
		wait_for 10 grep -q "host '${HOSTS[1]}' .* is $2" events.json
}

# has_ended PID
has_ended() {
	[[ "$(cat "/proc/$1/stat" 2>/dev/null)" != *") "[!ZX]" "* ]]
}

# followed N: so many connections are open at the socket (beside the one that listens).
followed() {
	[ "$(ss -xH state connected src "$WORK/run/opensm.sock" 2>/dev/null | wc -l)" -ge "$1" ]
}

@test "a daemon that dies in the middle is told, with exit code 3" {
	start_up
	local pid status=0
	"$CTL" monitor >events.txt 2>err.txt 3>&- &
	pid=$!
	wait_for 10 followed 1
	sm_kill
	wait "$pid" || status=$?
	[ "$status" -eq 3 ]
	# On a busy machine it ended before it was asked for events: the first connection only asks which instances there are.
	grep -qE 'hung up|no opensm answers' err.txt
	# The socket of the dead is no obstacle, and no instance.
	[ -S run/opensm.sock ]
	gives 3 status
	sm_start "${HOSTS[0]}"
	wait_for 20 gives 0 status
	# One that is stopped is waited for: here until it goes on.
	kill -STOP "$SM_PID"
	"$CTL" -i run/opensm.sock status >status.txt 3>&- &
	pid=$!
	kill -CONT "$SM_PID"
	wait "$pid"
	grep -q '^opensm: ' status.txt
	sm_stop
	[ ! -e run/opensm.sock ]
}

@test "two instances: each is shown, and -i chooses one" {
	start_up
	mkdir two && cp opensm.conf two.conf
	echo "control_socket $WORK/run/two.sock" >>opensm.conf
	sm_beside two "${HOSTS[3]}"
	wait_for 20 test -S run/two.sock
	wait_for 20 state_is two STANDBY
	[ "$(json 'length' status)" = 2 ]
	ctl status
	grep -q 'STANDBY' <<<"$out"
	# What acts wants to be told which one is meant, and names them.
	for words in sweep reroute reload 'priority 3' 'loglevel error' 'sweeping off'; do
		# shellcheck disable=SC2086 # words
		gives 2 $words
		grep -q 'say which one with --instance NAME (opensm, two)' <<<"$out"
	done
	# What shows something shows it of each.
	for words in topology nodes ports managers priority loglevel sweeping options check; do
		# shellcheck disable=SC2086 # words
		gives 0 $words
		grep -q '^Instance opensm:$' <<<"$out"
		grep -q '^Instance two:$' <<<"$out"
		# shellcheck disable=SC2086 # words
		[ "$(json 'map(.instance) | join(",")' $words)" = opensm,two ]
	done
	[ "$(json '.[1].answer.priority' priority)" = 0 ]
	[ "$("$CTL" -o nodes | cut -f1 | sort -u | paste -sd,)" = opensm,two ]
	gives 0 topology --format slurm-conf
	grep -qE '^# instance two \(.*\) is another fabric and not in here' <<<"$out"
	[ "$(grep -c '^SwitchName=.* Switches=' <<<"$out")" -eq 1 ]
	gives 0 --instance all sweep light
	[ "$(grep -cE '^(light|watch) sweep done' <<<"$out")" -eq 2 ]
	"$CTL" -j monitor sweep_start >told 3>&- &
	BESIDE+=($!)
	wait_for 20 sweep_is_told two
	wait_for 20 sweep_is_told opensm
	gives 0 -i two priority
	OPENSM_INSTANCE=two gives 0 priority
	ctl -i two status
	grep -qE "^  master +'${HOSTS[0]}' port 1" <<<"$out"
	[ "$(json '.[0].master.is_self' -i two status)" = false ]
	[ "$(json '.[0].alarms.faults' -i two status)" = 0 ]
	[ "$(json '.[0].lid > 0' -i two status)" = true ]
	ctl -i two sweep
	grep -q '^watch sweep done' <<<"$out"
	wait_for 20 sees_other opensm
	ctl -i opensm status
	grep -qE "^  other manager +'${HOSTS[3]}' port 1 .*STANDBY" <<<"$out"
	gives 1 -i two reroute
	grep -q 'only the master' <<<"$out"
	[ "$(json '[.[].name] | join(",")' instances)" = opensm,two ]
	# The one with the lower priority hands over when it is told another.
	ctl -i two priority 14
	wait_for 30 state_is two MASTER
	wait_for 30 state_is opensm STANDBY
}

# Sweeps of this instance are told by the one monitor.
sweep_is_told() {
	"$CTL" -i "$1" sweep light >/dev/null 3>&-
	jq -r .instance told | grep -qx "$1"
}

state_is() {
	[ "$("$CTL" -j -i "$1" status 2>/dev/null | jq -r '.[0].state')" = "$2" ]
}

sees_other() {
	"$CTL" -j -i "$1" status | jq -e '.[0].other_managers | length == 1 and .[0].state == "STANDBY"' >/dev/null
}

@test "instances: those of the launcher and those that answer are one list" {
	start_up
	cat >run/instances.json <<-'END'
		{"rule": "numbered files", "instances": [
			{"name": "opensm", "state": "running", "pid": 1, "conf": "/etc/rdma/opensm.conf.1", "restarts": 2},
			{"name": "2", "state": "failed", "pid": null, "conf": "/etc/rdma/opensm.conf.2", "restarts": 0,
			 "status": "opensm.conf.2:3:1: error"}]}
	END
	gives 3 instances
	grep -qE '^opensm +gone|^opensm +running +MASTER +.* 2 +/etc/rdma/opensm.conf.1' <<<"$out"
	grep -qE '^2 +failed +- +.*opensm.conf.2:3:1: error' <<<"$out"
	[ "$("$CTL" -j instances | jq -r '[.[].state] | join(",")')" = running,failed ]
	# One that failed is no less there than one that answers, and the exit status says so.
	gives 3 status
	grep -q '^opensm: MASTER' <<<"$out"
	grep -q '^2: FAILED$' <<<"$out"
	grep -q 'opensm.conf.2:3:1: error' <<<"$out"
	[ "$("$CTL" -j status | jq -r '[.[].state] | join(",")')" = MASTER,FAILED ]
	gives 3 -i 2 status
	gives 0 -i opensm status
	gives 3 instances failing
	grep -q '^instance 2: opensm.conf.2:3:1: error (/etc/rdma/opensm.conf.2)' <<<"$out"
	gives 0 ports
	grep -q 'instance 2 does not run: opensm.conf.2:3:1: error' <<<"$out"
	# A launcher that was killed left this behind: the process is not there.
	echo '{"instances": [{"name": "9", "state": "running", "pid": 4194304, "conf": "c", "status": "MASTER"}]}' >run/instances.json
	gives 3 status
	grep -q '^9: GONE' <<<"$out"
	gives 0 instances failing
	echo '{"instances": 7' >run/instances.json
	gives 0 instances
	grep -q '^opensm' <<<"$out"
}

@test "strangers are refused; members of control_group look, and do not touch" {
	local status=0
	open_folder
	start_up
	as_nobody 65534 1 status
	grep -q 'uid 65534 may not look at opensm' <<<"$out"
	as_nobody 65534 1 sweep
	# Also where it looks for instances itself.
	out=$(as_other 65534 65534 env OPENSM_RUN_DIR="$OPEN" "$OPEN/opensmctl" topology 2>&1) && return 1
	grep -q 'uid 65534 may not look at opensm' <<<"$out"
	echo 'control_group 54321' >>opensm.conf
	"$CTL" -i "$OPEN/s.sock" reload
	wait_for 10 group_is 54321
	as_nobody 54321 0 status
	as_nobody 54321 0 topology
	as_nobody 54321 0 options all
	for words in sweep 'priority 3' 'loglevel 3' 'sweeping off' reroute reload check; do
		# shellcheck disable=SC2086
		as_nobody 54321 1 $words
		grep -q 'is for root and the user that runs opensm; you are uid 65534' <<<"$out"
	done
	[ "$("$CTL" -j -i "$OPEN/s.sock" priority | jq .priority)" = 0 ]
	as_nobody 65534 1 status
	grep -q 'members of group 54321' <<<"$out"
	# A user that follows events as a member does so no longer than the membership lasts.
	as_other 65534 54321 "$OPEN/opensmctl" -i "$OPEN/s.sock" monitor >followed.txt 2>&1 3>&- &
	BESIDE[member]=$!
	wait_for 10 is_followed
	sed -i 's/^control_group .*/control_group 54322/' opensm.conf
	"$CTL" -i "$OPEN/s.sock" reload
	wait "${BESIDE[member]}" || status=$?
	unset 'BESIDE[member]'
	[ "$status" -eq 3 ]
}

# is_followed: what happens now is told to the member.
is_followed() {
	"$CTL" -i "$OPEN/s.sock" sweep light >/dev/null 3>&- && grep -q sweep_done followed.txt
}

group_is() {
	[ "$("$CTL" -j -i "$OPEN/s.sock" options control_group | jq -r '.[0].value')" = "$1" ]
}

@test "a socket that is taken, cannot be, or is switched off costs the socket alone" {
	start_up
	mkdir -p two
	cp opensm.conf keep.conf
	echo "control_socket $WORK/run/opensm.sock" >>opensm.conf
	sm_beside two "${HOSTS[3]}"
	wait_for 20 grep -q 'no control socket at .*: another opensm listens there' two/opensm.log
	[ "$(json '.[0].pid' status)" = "$SM_PID" ]
	cp keep.conf opensm.conf
	echo "control_socket /proc/nowhere/x.sock" >>opensm.conf
	sm_beside three "${HOSTS[4]}"
	wait_for 20 grep -q 'no control socket at /proc/nowhere/x.sock' three/opensm.log
	cp keep.conf opensm.conf
	echo "control_socket off" >>opensm.conf
	sm_beside four "${HOSTS[5]}"
	wait_for 20 grep -q 'Entering STANDBY' four/opensm.log
	not grep -q 'control socket' four/opensm.log
	[ "$(json 'length' status)" = 1 ]
}

@test "hostile callers disturb no other" {
	start_up
	local before
	before=$(ups)
	python3 - "$WORK/run/opensm.sock" <<-'END'
		import json, socket, sys, time

		def call():
		    s = socket.socket(socket.AF_UNIX)
		    s.connect(sys.argv[1])
		    s.settimeout(20)
		    return s

		def answer(s):
		    text = b""
		    while not text.endswith(b"\0"):
		        piece = s.recv(65536)
		        if not piece:
		            break
		        text += piece
		    return text

		def ask(s, method, **more):
		    s.sendall(json.dumps({"method": "org.opensm." + method, **more}).encode() + b"\0")
		    return json.loads(answer(s)[:-1])

		def works():
		    assert ask(call(), "Status")["parameters"]["state"] == "MASTER"

		# Half a call, and gone; many of them.
		for i in range(200):
		    s = call()
		    s.sendall(b'{"method": "org.opensm.Sta')
		    s.close()
		works()
		# Three megabytes without an end; root may send two.
		s = call()
		try:
		    s.sendall(b"x" * (3 << 20))
		except OSError:
		    pass
		assert b"BadMessage" in answer(s)
		works()
		# Deep, and of every kind of nonsense.
		for text in (b"[" * 60000, b'{"a":' * 9000, b"\xff\xfe", b"7", b'""', b"{}", b"\x01" * 100):
		    s = call()
		    s.sendall(text + b"\0")
		    assert b'"error"' in answer(s), text[:20]
		works()
		# A thousand that connect and say nothing: while they do, and after, requests are answered. Those that were idle
		# for longest lose their places.
		crowd = []
		for i in range(1000):
		    crowd.append(call())
		    if i % 100 == 99:
		        works()
		gone = 0
		for s in crowd:
		    s.settimeout(0.0)
		    try:
		        gone += s.recv(4096) == b""
		    except BlockingIOError:
		        pass
		assert 930 <= gone < 1000, gone
		works()
		for s in crowd:
		    s.close()
		# Sixty that monitor: twelve are told that no more may, and there is a place for others.
		crowd, refused, end = [], set(), time.monotonic() + 30
		for i in range(60):
		    crowd.append(call())
		    crowd[-1].sendall(b'{"method": "org.opensm.Monitor", "more": true}\0')
		    works()
		while len(refused) < 12 and time.monotonic() < end:
		    for s in crowd:
		        s.settimeout(0.0)
		        try:
		            if b"Busy" in s.recv(65536):
		                refused.add(s)
		        except BlockingIOError:
		            pass
		works()
		assert len(refused) == 12, len(refused)
		for s in crowd:
		    s.close()
		# Asks for much, and reads nothing of it.
		s = call()
		for i in range(90):
		    s.sendall(b'{"method": "org.opensm.Options"}\0')
		works()
		s.close()
		works()
	END
	sm_alive
	ctl sweep
	[ "$(ups)" -gt "$before" ]
	# And nothing is left of them.
	[ "$(find "/proc/$SM_PID/fd" -mindepth 1 -lname 'socket:*' | wc -l)" -lt 12 ]
}

@test "the interface describes itself to clients of varlink" {
	start_up
	python3 - "$WORK/run/opensm.sock" >interface.varlink <<-'END'
		import json, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		s.sendall(b'{"method": "org.varlink.service.GetInterfaceDescription", "parameters": {"interface": "org.opensm"}}\0')
		text = b""
		while not text.endswith(b"\0"):
		    text += s.recv(65536)
		print(json.loads(text[:-1])["parameters"]["description"])
	END
	grep -q '^interface org.opensm$' interface.varlink
	[ "$(grep -c '^method [A-Z][A-Za-z]*(.*) -> (.*)$' interface.varlink)" -ge 20 ]
	[ "$(grep -c '^error [A-Z][A-Za-z]* (text: string)$' interface.varlink)" -ge 6 ]
	# What is neither is a comment or empty.
	not grep -vE '^(interface|method|error|#|$)' interface.varlink
}

@test "completion offers commands, their words, and names that the daemon knows" {
	start_up
	# shellcheck disable=SC2016
	complete_line() {
		env -i PATH="$PATH" OPENSM_RUN_DIR="$OPENSM_RUN_DIR" bash --norc -c '
			. "$1"
			shift
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_opensmctl
			printf "%s\n" "${COMPREPLY[@]}"' - "$abs_top_srcdir/config/completion/opensmctl" "$@"
	}
	[ "$(complete_line "$CTL" sta)" = status ]
	[ "$(complete_line "$CTL" re | sort | tr '\n' ' ')" = 'reload report reroute restore ' ]
	[ "$(complete_line "$CTL" '' | wc -l)" -ge 20 ]
	[ "$(complete_line "$CTL" sweep '' | tr '\n' ' ')" = 'heavy light ' ]
	[ "$(complete_line "$CTL" -j --js)" = --json ]
	[ "$(complete_line "$CTL" nodes --wi)" = --wide ]
	[ "$(complete_line "$CTL" topology --format ibn)" = ibnetdiscover ]
	[ "$(complete_line "$CTL" options sm_pri)" = sm_priority ]
	[ "$(complete_line "$CTL" -i op)" = opensm ]
	complete_line "$CTL" nodes '' | grep -qx "${HOSTS[1]}"
	[ "$(complete_line "$CTL" ports "${HOSTS[1]}/")" = "${HOSTS[1]}/1" ]
	[ "$(complete_line "$CTL" partitions show 0x)" = 0x7fff ]
	complete_line "$CTL" partitions add 0x5 '' | grep -qx "${HOSTS[1]}"
	ctl drain "${SWITCHES[-1]}" --why 'ticket 4711'
	[ "$(complete_line "$CTL" drain x --why t)" = 'ticket\ 4711' ]
	[ "$(complete_line "$CTL" restore "${SWITCHES[-1]:0:3}")" = "${SWITCHES[-1]}" ]
	ctl restore all
	# The other shells ask the same.
	PATH=${CTL%/*}:$PATH zsh -f -c 'words=(opensmctl options sm_pri) CURRENT=3; compadd() { print -r -- $offers }; . "$1"' - \
		"$abs_top_srcdir/config/completion/_opensmctl" | grep -x sm_priority
	PATH=${CTL%/*}:$PATH HOME=$PWD fish --no-config -c "source $abs_top_srcdir/config/completion/opensmctl.fish
		complete -C 'opensmctl options sm_pri'" | grep -x sm_priority
	complete_line "$CTL" -i opensm path "${HOSTS[0]}" '' | grep -qx "${HOSTS[1]}"
	# Without a daemon it says nothing, and does not hang.
	sm_stop
	[ "$(complete_line "$CTL" options sm_k)" = '' ]
}

@test "served: a cable that is pulled is told at once, and the port says why it is down" {
	up opensm h0
	: >events.json
	"$CTL" -j monitor link node >>events.json 3>&- &
	local pid=$!
	wait_for 10 followed 1
	# The connection may be there before it has asked for events: these begin behind the first change then.
	h3_is_told down false || {
		h3_is_told up true
		: >events.json
		h3_is_told down false
	}
	[ "$(jq -r 'select(.kind == "node") | .name' events.json)" = h3 ]
	jq -es 'map(select(.kind == "link")) | length == 1 and .[0].up == false and (.[0].ends | length == 2)' events.json >/dev/null
	kill "$pid"
	gives 1 nodes h3
	fabric link h3 1 up
	wait_for 20 node_is_there h3
	# It is known before it is served.
	wait_for 20 ctl path h0 h3
	grep -q '^reachable *yes' <<<"$out"
}

# h3_is_told STATE CAME: its cable is put so, and the monitor says that the host came, or not.
h3_is_told() {
	fabric link h3 1 "$1" && wait_for 10 grep -q "\"came\":$2" events.json
}

node_is_there() {
	ctl nodes "$1"
}

# watched FILE N: so many rounds are there.
watched() {
	[ "$(grep -c '^{' "$1" 2>/dev/null)" -ge "$2" ]
}

@test "--watch goes on over a restart of the daemon, says so, and ends when it is interrupted" {
	local watch got=0

	start_up
	"$CTL" priority --watch 1 -j >watch.json 2>watch.err 3>&- &
	watch=$!
	wait_for 10 watched watch.json 1
	kill "$SM_PID"
	wait "$SM_PID" || true
	wait_for 10 grep -q '"NoDaemon"' watch.json
	start_up
	wait_for 10 grep -q '"Restarted"' watch.json
	kill -INT "$watch"
	wait "$watch" || got=$?
	[ "$got" -eq 0 ]
	# A line for each round, and one for the absence.
	jq -es 'all(.time | test("^20.*Z$")) and (map(select(.exit_status == 3)) | length == 1) and
		(map(select(.exit_status == 0)) | all(.answer.priority == 0))' watch.json >/dev/null
	gives 2 monitor --watch
	gives 2 reroute --watch
}

@test "what is shown fits a terminal of 80 columns, and a file has all of it" {
	start_up
	cat >terminal.py <<-'END'
		import fcntl, os, pty, struct, sys, termios
		for words in sys.argv[2:]:
		    pid, fd = pty.fork()
		    if pid == 0:
		        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
		        os.execv(sys.argv[1], [sys.argv[1]] + words.split())
		    text = b""
		    try:
		        while more := os.read(fd, 65536):
		            text += more
		    except OSError:
		        pass
		    os.waitpid(pid, 0)
		    for line in text.decode().split("\r\n"):
		        if len(line) > 80:
		            print(f"{words}: {line}")
	END
	env -u COLUMNS python3 terminal.py "$CTL" status instances security nodes ports partitions managers alarms 'options all' \
		"routes ${SWITCHES[0]}" topology | tee wide.txt
	not grep -q . wide.txt
	[ "$("$CTL" security | wc -L)" -gt 100 ]
	[ "$("$CTL" security --wide | wc -L)" -gt 100 ]
}
