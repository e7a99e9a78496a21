"""Whether the answers that a test got are what the server's own description says.
    described.py OPENAPI FOLDER     FOLDER/NUMBER.told has "METHOD PATH STATUS", FOLDER/NUMBER the body
Every status must be listed, and every field of a body described: one that is not is a problem, as is a missing
one that is required. Only the words of JSON Schema that the description uses are understood."""
import json
import pathlib
import re
import sys

document = json.load(open(sys.argv[1]))
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}


def is_a(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def merged(schema):
    """With what it refers to and with all parts of allOf in one."""
    while "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        schema = {**document["components"]["schemas"][name], **{k: v for k, v in schema.items() if k != "$ref"}}
    for part in schema.get("allOf", []):
        schema = {**merged(part), **{k: v for k, v in schema.items() if k != "allOf"}}
    return schema


def problem(schema, value, where):
    """The first thing in the value that the schema does not say; None if there is none."""
    schema = merged(schema)
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        found = [problem(choice, value, where) for choice in choices]
        return None if None in found else found[0]
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_a(value, name) for name in types):
        return f"{where} is {value!r}, not {types}"
    if isinstance(value, list):
        parts = [problem(schema.get("items", {}), v, f"{where}[{i}]") for i, v in enumerate(value)]
        return next((p for p in parts if p), None)
    if not isinstance(value, dict):
        return None
    missing = [name for name in schema.get("required", []) if name not in value]
    if missing:
        return f"{where} lacks {missing}"
    others = schema.get("additionalProperties", "properties" not in schema)
    for name, v in value.items():
        within = schema.get("properties", {}).get(name, others)
        if within is False:
            return f"{where}.{name} is not described"
        found = problem(within, v, f"{where}.{name}") if within is not True else None
        if found:
            return found
    return None


def operation(method, path):
    for pattern, methods in document["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path.split("?")[0]) and method.lower() in methods:
            return methods[method.lower()]
    return None


looked = 0
for told in sorted(pathlib.Path(sys.argv[2]).glob("*.told")):
    method, path, status = told.read_text().split("\n")[:3]
    of = operation(method, path)
    if of is None:
        continue
    looked += 1
    answer = of["responses"].get(status)
    content = next(iter(answer.get("content", {}).items()), ("", {})) if answer else None
    if answer is None:
        print(f"{method} {path}: status {status} is not described")
    elif content[0] == "application/json":
        found = problem(content[1]["schema"], json.loads(told.with_suffix("").read_bytes()), f"{method} {path} {status}: body")
        if found:
            print(found[:300])
if looked == 0:
    print("no answer was looked at")
