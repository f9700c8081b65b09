// SPDX-License-Identifier: BSD-2-Clause
/* Rows of bits, each stored once and known by its number: sets of rules. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct qos_rows;

struct qos_rows *qos_rows_new(unsigned words);
struct qos_rows *qos_rows_free(struct qos_rows *r); /* NULL is fine; returns NULL */
/* The number of an equal row, which may be a new one. */
uint32_t qos_rows_put(struct qos_rows *r, const uint64_t *row);
/* The row with this number; valid until the next qos_rows_put(). */
const uint64_t *qos_rows_at(const struct qos_rows *r, uint32_t number);
size_t qos_rows_bytes(const struct qos_rows *r);
