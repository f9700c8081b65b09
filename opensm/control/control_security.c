// SPDX-License-Identifier: BSD-2-Clause
/* The security checklist as a document. */
#include "api/security.h"
#include "control/control_internal.h"
#include "util/mem.h"

static void put_check(struct json_object *o, unsigned number, const struct security_check *c)
{
	json_add_int(o, "number", number);
	json_add_str(o, "name", c->name);
	json_add_str(o, "verdict", security_verdict_name(c->verdict));
	json_add_str(o, "present", c->present);
	json_add_str(o, "advice", c->verdict == SECURITY_PASS ? NULL : c->advice);
}

struct json_object *control_security(const struct daemon_api *api, struct json_object *parameters,
				     struct control_error *err)
{
	const struct conf *conf = api->sm ? sm_conf(api->sm) : api->conf;
	struct json_object *o = json_object_new_object(), *checks, *ports;
	struct security s;

	security_judge(api, SECURITY_WITH_FILES, &s);
	json_add_str(o, "profile", conf->security_profile);
	json_add_int(o, "passed", security_count(&s, SECURITY_PASS));
	json_add_int(o, "failed", security_count(&s, SECURITY_FAIL));
	json_add_int(o, "unknown", security_count(&s, SECURITY_UNKNOWN));
	checks = json_add_array(o, "checks");
	for (unsigned i = 0; i < SECURITY_CHECKS; i++)
		put_check(json_append_object(checks), i + 1, &s.checks[i]);
	json_add_int(o, "n_ports", s.n_ports);
	ports = json_add_array(o, "ports");
	for (unsigned i = 0; i < MIN(s.n_ports, SECURITY_PORTS_MAX); i++)
		json_append_str(ports, s.ports[i]);
	return o;
}
