#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What managers do in the simulator is a walk of the model of the ledger.
exec "$(dirname "$0")/check" lives
