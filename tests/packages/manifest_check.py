#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""manifest_check.py FILE: whether each document is what the Kubernetes API takes, by the schemas of python3-kubernetes
(unknown names, types, what is required), and whether its parts fit each other: mounts and volumes, selectors and labels,
configuration and ConfigMap, the promises of an unprivileged container. One line for each fault; exit status 1."""
import re
import sys

import yaml
from kubernetes.client import models

KINDS = {"Namespace": "V1Namespace", "ConfigMap": "V1ConfigMap", "DaemonSet": "V1DaemonSet"}
SCALARS = {"str": str, "int": int, "bool": bool, "float": (int, float)}
faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def check(value, kind, where):
    """`kind` as the client's openapi_types has it."""
    generic = re.match(r"(list|dict)[\[(](?:str, )?(.*)[\])]$", kind)
    if generic and generic[1] == "list":
        if not isinstance(value, list):
            return fault(where, "a list is expected")
        for i, each in enumerate(value):
            check(each, generic[2], f"{where}[{i}]")
    elif generic:
        if not isinstance(value, dict):
            return fault(where, "an object is expected")
        for key, each in value.items():
            # Quantities and numbers are texts in the client, either in YAML.
            if generic[2] == "str" and where.endswith((".limits", ".requests")) and isinstance(each, int):
                continue
            check(each, generic[2], f"{where}.{key}")
    elif kind == "object":  # a number or a text
        if not isinstance(value, (int, str)):
            fault(where, "a number or a text is expected")
    elif kind in SCALARS:
        if not isinstance(value, SCALARS[kind]) or (kind == "int" and isinstance(value, bool)):
            fault(where, f"{kind} is expected, found {value!r}")
    else:
        check_object(value, getattr(models, kind), where)
    return None


def check_object(value, model, where):
    if not isinstance(value, dict):
        fault(where, "an object is expected")
        return
    names = {json: python for python, json in model.attribute_map.items()}
    known = {}
    for key, each in value.items():
        if key not in names:
            fault(where, f"there is no {key!r}")
            continue
        known[names[key]] = each
        check(each, model.openapi_types[names[key]], f"{where}.{key}")
    try:
        model(**known)
    except (ValueError, TypeError) as error:  # what is required and not there
        fault(where, str(error))


def check_fit(documents):
    """What no schema says."""
    by_kind = {d["kind"]: d for d in documents}
    work = by_kind["DaemonSet"]
    spec = work["spec"]["template"]["spec"]
    labels = work["spec"]["template"]["metadata"]["labels"]
    if not work["spec"]["selector"]["matchLabels"].items() <= labels.items():
        fault("DaemonSet", "the selector does not match the labels of its pods")
    volumes = {v["name"] for v in spec["volumes"]}
    for container in spec["containers"]:
        mounts = container["volumeMounts"]
        if {m["name"] for m in mounts} != volumes:
            fault("DaemonSet", "volumes and mounts differ")
        for path in ("/etc/rdma", "/var/cache/opensm", "/run/opensm", "/tmp"):
            if path not in {m["mountPath"] for m in mounts}:
                fault("DaemonSet", f"nothing is mounted on {path}")
        secure = container["securityContext"]
        if (secure.get("allowPrivilegeEscalation") is not False or not secure.get("readOnlyRootFilesystem")
                or secure["capabilities"] != {"drop": ["ALL"]} or secure.get("privileged")):
            fault("DaemonSet", "the container is not unprivileged, or its root not read-only")
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if container.get(probe, {}).get("exec", {}).get("command", [""])[0] != "opensmctl":
                fault("DaemonSet", f"{probe} does not ask opensmctl")
    if not spec["securityContext"].get("runAsNonRoot") or not spec["securityContext"].get("runAsUser"):
        fault("DaemonSet", "the pod may run as root")
    named = {v["configMap"]["name"] for v in spec["volumes"] if "configMap" in v}
    if named != {by_kind["ConfigMap"]["metadata"]["name"]}:
        fault("DaemonSet", "another ConfigMap is mounted than the one that is here")
    for document in documents:
        if document["kind"] != "Namespace" and \
                document["metadata"].get("namespace") != by_kind["Namespace"]["metadata"]["name"]:
            fault(document["kind"], "not in the namespace")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        documents = [d for d in yaml.safe_load_all(file) if d]
    for document in documents:
        if document.get("kind") not in KINDS:
            fault(str(document.get("kind")), "not a kind that is expected here")
        else:
            check_object(document, getattr(models, KINDS[document["kind"]]), document["kind"])
    if not faults:
        check_fit(documents)
    for line in faults:
        print(line)
    return 1 if faults or not documents else 0


sys.exit(main())
