#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What options.def says of the effect of an option is so: what is effective is read somewhere beside the tables that
# every option is in, and what has no effect is read nowhere.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

# Read by its prefix: qos_*_high_limit and the like (plan/qos.c), actions of conditions (sm/health/).
by_prefix='^(qos_(ca_|sw0_|swe_|rtr_)?(high_limit|vlarb_high|vlarb_low|sl2vl)|hm_(ca|sw)_[a-z_]+_action)$'

states() {
	printf '%s\n' '#define OPENSM_CONF_DIR ""' '#define OPTION(name, c, t, d, r, f, cost, state, ...) @ name state' \
		'#include "conf/options.def"' | "${CC:-cc}" -E -P -I opensm - | sed 's/ *@ /\n@ /g' | sed -n 's/^@ //p'
}

# As a member (conf->name), or by a macro that makes one of it (OF(name)).
readers() {
	c_files opensm libvendor sim | grep -vE 'opensm/(conf/((cli|cli_rows|foreign|advise|value|write|options)\.[ch]|options\.def)|sm/answers/replica_config\.c)$' | tr '\n' '\0' |
		xargs -0 -r grep -hoE '(->|[.(,{]|CONF_ID_)[[:space:]]*[a-z][a-z0-9_]+\b' | sed -E 's/^CONF_ID_//; s/.*[^a-z0-9_]//' | sort -u
}

readers >"${TMPDIR:-/tmp}/readers.$$"
trap 'rm -f "${TMPDIR:-/tmp}/readers.$$"' EXIT
is_read() {
	[[ $1 =~ $by_prefix ]] || grep -qx "$1" "${TMPDIR:-/tmp}/readers.$$"
}

states | while read -r name state; do
	case $state in
	EFFECTIVE | OWN) is_read "$name" || echo "$name is $state, and nothing reads it" ;;
	LATER | NONE) is_read "$name" && echo "$name is $state, and something reads it" ;;
	esac
done | tap_none "options.def says the truth about effects"

# The keys of the peer that change nothing, whole; the page of each says why. NONE: not in the peer either. ALWAYS: what
# it asks for is so here. Another one needs a reason, and a place here.
without='connect_roots do_mesh_analysis max_reverse_hops qos_ca_max_vls qos_max_vls qos_rtr_max_vls qos_sw0_max_vls
	qos_swe_max_vls single_thread use_optimized_slvl use_ucast_cache'
states | while read -r name state; do
	case $state in
	EFFECTIVE | OWN) ! grep -qw "$name" <<<"$without" || echo "$name is $state, and in the list of those without effect" ;;
	LATER) echo "$name is LATER, and nothing is left for later" ;;
	*) grep -qw "$name" <<<"$without" || echo "$name is $state, and not in the list of those without effect" ;;
	esac
done | tap_none "the list of options without effect is whole"

# The help of an option, or of the one that it is joined to, has this.
helps() {
	printf '%s\n' '#define OPENSM_CONF_DIR ""' '#define OPTION(name, c, t, d, r, f, cost, state, section, help) @ name help' \
		'#include "conf/options.def"' | "${CC:-cc}" -E -P -I opensm - | tr '\n' ' ' | sed 's/ @ /\n/g; s/" *"//g'
}
helps >"${TMPDIR:-/tmp}/helps.$$"
trap 'rm -f "${TMPDIR:-/tmp}/readers.$$" "${TMPDIR:-/tmp}/helps.$$"' EXIT
for name in $without; do
	grep -E "^(@ )?$name " "${TMPDIR:-/tmp}/helps.$$" | grep -qE '"Accepted: |never used' ||
		echo "the help of $name does not say why it changes nothing"
done | tap_none "the page of each says why it changes nothing"

n=$(states | wc -l)
[ "$n" -ge 170 ] || echo "found $n options" | tap_none "options are found"
tap_done
