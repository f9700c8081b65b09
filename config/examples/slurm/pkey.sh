# SPDX-License-Identifier: BSD-2-Clause
# Settings of the Slurm scripts beside this file, and what they share. Sourced by bash.
# shellcheck shell=bash

# P_Keys of jobs: PKEY_COUNT of them from PKEY_FIRST, the job id in turn. None of them may be in partitions.conf, nor be used
# by anything else. More than there are jobs between the start of one and the end of the longest.
PKEY_FIRST=0x1000
PKEY_COUNT=20000

# For the scripts that speak REST: opensm-rest, a token of a user with the right tenant (mode 0600, of SlurmUser), and the
# certificate that opensm-rest shows or the authority that has signed it; without that file the system's authorities count.
REST_URL=https://opensm-rest.example:8443
REST_TOKEN_FILE=/etc/slurm/opensm-rest.token
REST_CA=/etc/slurm/opensm-rest.pem

# Seconds after which a manager that is busy or away, or a device that does not confirm, is not asked again.
PATIENCE=60

# Settings of this site instead of those above.
# shellcheck source=/dev/null
[ ! -e "${PKEY_SETTINGS:=/etc/slurm/opensm-pkey.conf}" ] || . "$PKEY_SETTINGS"

# job_pkey: the P_Key of this job, as 0x1a2b.
job_pkey() {
	printf '0x%04x\n' $((PKEY_FIRST + SLURM_JOB_ID % PKEY_COUNT))
}

# The partition has this name, so that a P_Key that another job still has is never taken for this one's.
job_name() {
	printf 'slurm_%d\n' "$SLURM_JOB_ID"
}

fail() {
	printf '%s: job %s: %s\n' "${0##*/}" "${SLURM_JOB_ID:-?}" "$*" >&2
	exit 1
}

# keep_idle REASON: the nodes get no job until an administrator has looked, and the script ends.
keep_idle() {
	scontrol update NodeName="$SLURM_JOB_NODELIST" State=DRAIN Reason="P_Key $(job_pkey) of job $SLURM_JOB_ID: $1" || true
	fail "$1; its nodes are drained"
}

# rest_leave: the partition of this job goes, by REST. True: no device has its P_Key any more. One that is not in the table may
# be on devices still, of a removal that was not confirmed: 404 is answered when none is left.
rest_leave() {
	rest "200 404" DELETE "/resources/pkeys/$(job_pkey)" >/dev/null
}

# rest STATUS METHOD PATH [BODY]: sends it, again while the manager is busy or away, or a device has not confirmed; its answer
# on stdout. STATUS may be several, "200 404". False: the status is another one, or there is none.
rest() {
	local want=$1 got answer body=() ca=()
	[ $# -lt 4 ] || body=(-H 'Content-Type: application/json' --data-binary "$4")
	[ ! -e "$REST_CA" ] || ca=(--cacert "$REST_CA")
	# The token goes in by stdin: arguments are seen by every user of the host.
	answer=$(printf 'header = "Authorization: Basic %s"\n' "$(cat "$REST_TOKEN_FILE")" |
		curl -sS --globoff --config - "${ca[@]}" --connect-timeout 5 --max-time 20 --retry 30 --retry-delay 2 \
			--retry-max-time "$PATIENCE" --retry-connrefused -w '\n%{http_code}' -X "$2" "${body[@]}" "$REST_URL/ufmRestV3$3") || return 1
	got=${answer##*$'\n'}
	answer=${answer%$'\n'*}
	printf '%s\n' "$answer"
	[[ " $want " = *" $got "* ]] || {
		printf '%s %s: status %s: %s\n' "$2" "$3" "$got" "$answer" >&2
		return 1
	}
}
