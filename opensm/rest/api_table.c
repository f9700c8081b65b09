// SPDX-License-Identifier: BSD-2-Clause
/* Which operation is at which path. */
#include "rest/api_internal.h"

const struct rest_endpoint rest_endpoints[] = {
	{ REST_GET, "/openapi.json", REST_READ, false, &api_openapi },

	{ REST_GET, "/page", REST_READ, false, &api_page },

	{ REST_GET, "/app/ufm_version", REST_READ, false, &api_version },
	{ REST_GET, "/app/smconf", REST_READ, false, &api_smconf },
	{ REST_PUT, "/app/smconf", REST_ADMIN, true, &api_set_smconf },

	{ REST_GET, "/resources/ports", REST_READ, false, &api_ports },
	{ REST_GET, "/resources/ports/{port}", REST_READ, false, &api_port },
	{ REST_GET, "/resources/systems", REST_READ, false, &api_systems },
	{ REST_GET, "/resources/links", REST_READ, false, &api_links },
	{ REST_GET, "/resources/vports", REST_READ, false, &api_vports },

	/* Words stand before {}. */
	{ REST_GET, "/resources/pkeys/last_updated", REST_READ, false, &api_last_updated },
	{ REST_PUT, "/resources/pkeys/qos_conf", REST_TENANT, true, &api_configure },
	{ REST_POST, "/resources/pkeys/add", REST_TENANT, true, &api_create },
	{ REST_POST, "/resources/pkeys/hosts", REST_TENANT, true, &api_add_hosts },
	{ REST_DELETE, "/resources/pkeys/{pkey}/guids/{guids}", REST_TENANT, true,
	  &api_remove_listed },
	{ REST_DELETE, "/resources/pkeys/{pkey}/hosts/{hosts}", REST_TENANT, true,
	  &api_remove_hosts },
	{ REST_GET, "/resources/pkeys", REST_READ, false, &api_pkeys },
	{ REST_POST, "/resources/pkeys", REST_TENANT, true, &api_add_guids },
	{ REST_PUT, "/resources/pkeys", REST_TENANT, true, &api_set_guids },
	{ REST_GET, "/resources/pkeys/{pkey}", REST_READ, false, &api_pkey },
	{ REST_DELETE, "/resources/pkeys/{pkey}", REST_TENANT, true, &api_delete },
	/* Names of old. */
	{ REST_POST, "/actions/add_guids_to_pkey", REST_TENANT, true, &api_add_guids },
	{ REST_POST, "/actions/remove_guids_from_pkey", REST_TENANT, true, &api_remove_guids },
	{ REST_GET, "/actions/get_all_pkeys", REST_READ, false, &api_pkeys },

	{ REST_GET, "/app/unhealthy_ports", REST_READ, false, &api_unhealthy },
	{ REST_GET, "/app/unhealthy_ports/{port}", REST_READ, false, &api_unhealthy_one },
	{ REST_PUT, "/app/unhealthy_ports", REST_ADMIN, true, &api_set_unhealthy },
	{ REST_GET, "/resources/isolated_ports", REST_READ, false, &api_isolated },
	{ REST_POST, "/actions", REST_ADMIN, true, &api_actions },
	{ REST_GET, "/alarms", REST_READ, false, &api_alarms },
	{ REST_GET, "/app/alarms", REST_READ, false, &api_alarms },
	{ REST_GET, "/jobs", REST_READ, false, &api_jobs },
	{ REST_GET, "/jobs/{number}", REST_READ, false, &api_job },
	{ REST_GET, "/static_topology/sm_topology_file", REST_READ, false, &api_topology },
	{ REST_POST, "/static_topology/sm_topology_file", REST_ADMIN, true, &api_set_topology },
	{ REST_PUT, "/static_topology/sm_topology_file", REST_ADMIN, true, &api_set_topology },
	{ 0 },
};
