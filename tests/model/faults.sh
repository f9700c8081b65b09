#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Faults that are put back into the models of the ledger are found, and traces are walks or are not.
exec "$(dirname "$0")/check" faults traces
