// SPDX-License-Identifier: BSD-2-Clause
/*
 * SMP headers: building requests, turning them into responses, saying what a status means.
 * Nothing here sends; that is mad/.
 */
#include "ib/mad.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define BASE_VERSION 1
#define SMP_CLASS_VERSION_1 1

int dr_path_extend(const struct dr_path *path, uint8_t port, struct dr_path *ret)
{
	if (path->length >= IB_MAX_HOPS)
		return -E2BIG;
	*ret = *path;
	ret->length++;
	ret->hop[ret->length] = port;
	return 0;
}

char *dr_path_str(const struct dr_path *path, char ret[DR_PATH_STRLEN])
{
	size_t len = 1;

	memcpy(ret, "0", 2);
	/* 1 + 63 * ",254" is 253 characters: it fits. */
	for (unsigned i = 1; i <= path->length && i <= IB_MAX_HOPS; i++)
		len += (size_t)snprintf(ret + len, DR_PATH_STRLEN - len, ",%u", path->hop[i]);
	return ret;
}

static void build(uint8_t *mad, uint8_t mgmt_class, const struct smp_head *head,
		  const uint8_t *payload)
{
	memset(mad, 0, MAD_SIZE);
	ib_put(mad, SMP_BASE_VERSION, BASE_VERSION);
	ib_put(mad, SMP_CLASS, mgmt_class);
	ib_put(mad, SMP_CLASS_VERSION, SMP_CLASS_VERSION_1);
	ib_put(mad, SMP_METHOD, head->method);
	ib_put(mad, SMP_TID, head->tid);
	ib_put(mad, SMP_ATTR_ID, head->attr);
	ib_put(mad, SMP_ATTR_MOD, head->mod);
	ib_put(mad, SMP_M_KEY, head->m_key);
	if (payload)
		memcpy(mad + SMP_DATA, payload, SMP_DATA_SIZE);
}

void smp_build_dr(uint8_t mad[MAD_SIZE], const struct smp_head *head, const struct dr_path *path,
		  const uint8_t *payload)
{
	unsigned hops = MIN(path->length, IB_MAX_HOPS);

	build(mad, MAD_CLASS_SMI_DR, head, payload);
	ib_put(mad, SMP_HOP_COUNT, hops);
	ib_put(mad, SMP_DR_SLID, LID_PERMISSIVE);
	ib_put(mad, SMP_DR_DLID, LID_PERMISSIVE);
	memcpy(mad + SMP_INITIAL_PATH + 1, path->hop + 1, hops);
}

void smp_build_lid(uint8_t mad[MAD_SIZE], const struct smp_head *head, const uint8_t *payload)
{
	build(mad, MAD_CLASS_SMI_LID, head, payload);
}

void smp_make_response(uint8_t mad[MAD_SIZE], uint16_t status, const uint8_t *payload)
{
	bool trap = ib_get(mad, SMP_METHOD) == MAD_TRAP;

	ib_put(mad, SMP_METHOD, trap ? MAD_TRAP_REPRESS : MAD_GET_RESP);
	ib_put(mad, SMP_STATUS, status);
	/* The D bit exists in directed-route SMPs only (14.2.1.2); TrapRepress is a request. */
	ib_put(mad, SMP_DIRECTION, !trap && ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR);
	if (payload)
		memcpy(mad + SMP_DATA, payload, SMP_DATA_SIZE);
}

const char *mad_method_name(unsigned method)
{
	static const char *const names[] = {
		[MAD_GET] = "Get",
		[MAD_SET] = "Set",
		[MAD_SEND] = "Send",
		[MAD_TRAP] = "Trap",
		[MAD_REPORT] = "Report",
		[MAD_TRAP_REPRESS] = "TrapRepress",
		[MAD_SA_GET_TABLE] = "GetTable",
		[MAD_SA_GET_TRACE_TABLE] = "GetTraceTable",
		[MAD_SA_GET_MULTI] = "GetMulti",
		[MAD_SA_DELETE] = "Delete",
		[MAD_GET_RESP] = "GetResp",
		[MAD_REPORT_RESP] = "ReportResp",
	};

	return method < ARRAY_SIZE(names) && names[method] ? names[method] : "unknown method";
}

/* Bits 4:2 of the status are a code, bits 1:0 flags, bits 15:8 belong to the class (13.4.7). */
const char *mad_status_name(unsigned status)
{
	switch (status & MAD_STATUS_BAD_VALUE) {
	case 0:
		break;
	case MAD_STATUS_BAD_VERSION:
		return "unsupported class or version";
	case MAD_STATUS_BAD_METHOD:
		return "unsupported method";
	case MAD_STATUS_BAD_METHOD_ATTR:
		return "unsupported method or attribute";
	case MAD_STATUS_BAD_VALUE:
		return "invalid field";
	default:
		return "reserved status";
	}
	if (status & MAD_STATUS_BUSY)
		return "busy";
	if (status & MAD_STATUS_REDIRECT)
		return "redirected";
	return status & 0x7F00 ? "class-specific error" : "ok";
}
