#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What must hold of the model of the ledger holds at every state, with three managers.
exec "$(dirname "$0")/check" three
