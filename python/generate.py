#!/usr/bin/env python3
"""Write kir/rules.py, a function for each rule and each property, from `kir schema`.

    python3 python/generate.py        # KIR names the program, else it is on the path
    python3 python/generate.py --check  # fail if the file is not what would be written

The tests run --check, so that the package cannot lag behind the program.
"""

import json
import keyword
import pathlib
import sys
import textwrap

# The module alone: the package needs what this writes.
sys.path.insert(0, str(pathlib.Path(__file__).parent / "kir"))

import _program  # noqa: E402
import _values  # noqa: E402

# What may stand without its key, in this order. Other keys that must be there come next,
# and what may be left out is written with its key.
FIRST = {
    "amount": ["of"], "group": ["of"], "limit": ["attribute"], "limits": ["file"],
    "constituents": ["file"], "ratio": ["of", "to"], "near": ["recipe"], "needs": ["if", "then"],
    "if": ["used", "then"], "block": ["of", "total", "rules"], "learn": ["label"], "forest": ["label"],
    "process": ["label"], "model": ["file"], "blend": ["attribute"], "preference": ["pairs"],
    "document": ["topics", "words"], "markowitz": ["returns", "covariance"], "program": ["command"],
    "likeness": ["to"], "novelty": ["to"],
}

HEAD = '''"""Rules and objectives: a function for each that writes what a problem file would say.

Written by python/generate.py from `kir schema`: do not edit it. Names that Python keeps for
itself end in an underscore: `if_`, `is_`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._values import Objective, Rule, given

Which = str | Sequence[Any] | Mapping[str, Any]
"""Ingredients: a name, in which a star stands for any text, a list, or {attribute: value}."""

'''


def type_of(schema, definitions):
    """Return the annotation of what a schema allows."""
    ref = schema.get("$ref", "")
    if ref.endswith("/which"):
        return {"Which"}
    if ref.endswith("/rule"):
        return {"Mapping[str, Any]"}
    if ref:
        return type_of(definitions[ref.rsplit("/", 1)[1]], definitions)
    if "const" in schema:
        return {type(schema["const"]).__name__}
    if "enum" in schema:
        return {type(schema["enum"][0]).__name__}
    if "anyOf" in schema:
        return set().union(*(type_of(s, definitions) for s in schema["anyOf"])) - {"None"}
    kinds = {"string": "str", "number": "float", "integer": "int", "boolean": "bool",
             "array": "Sequence[Any]", "object": "Mapping[str, Any]", "null": "None"}
    types = schema.get("type", ["object"])
    return {kinds[t] for t in ([types] if isinstance(types, str) else types)}


def annotation(schema, definitions, key=""):
    if key in _values.FILED:
        return "Any"  # a path or a table
    types = type_of(schema, definitions)
    if "float" in types:
        types.discard("int")
    if types >= {"str", "float", "bool"}:
        types -= {"float", "bool"}  # text may be written as it stands; Python has str for that
        types |= {"float"}
    return " | ".join(sorted(types)) + " | None"


def identifier(key):
    return key + "_" if keyword.iskeyword(key) else key


def quoted(name):
    return json.dumps(name)


def sentence(text):
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def function(kind, schema, definitions, result):
    """Return the text of a function for a kind of rule or property."""
    definition = schema
    ref = schema.get("$ref", "")
    if ref:
        definition = definitions[ref.rsplit("/", 1)[1]]
    weight = ", weight: float | None = None" if result == "Objective" else ""
    extra = ", weight=weight" if result == "Objective" else ""
    lines = [sentence(schema.get("description", kind))]
    about = definition.get("description", "") if definition is not schema else ""
    if ref.endswith("/which"):
        signature = "*of: Which"
        body = f"    return {result}({quoted(kind)}, of[0] if len(of) == 1 else list(of)"
    elif "properties" not in definition:
        signature = f"value: {annotation(definition, definitions).removesuffix(' | None')}"
        if weight:
            signature += ", *"
        body = f"    return {result}({quoted(kind)}, value"
    else:
        keys = definition["properties"]
        required = definition.get("required", [])
        first = [k for k in FIRST.get(kind, []) if k in keys]
        first += [k for k in required if k not in first]
        rest = [k for k in keys if k not in first]
        arguments, default = [], ""
        for k in first:
            if k not in required:
                default = " = None"  # from here on Python wants one
            kept = annotation(keys[k], definitions, k)
            arguments.append(f"{identifier(k)}: {kept if default else kept.removesuffix(' | None')}{default}")
        if rest or weight:
            arguments.append("*")
        arguments += [f"{identifier(k)}: {annotation(keys[k], definitions, k)} = None" for k in rest]
        signature = ", ".join(arguments)
        if about:
            lines.append(sentence(about))
        lines += [""] + [f"{identifier(k)}: {keys[k].get('description', '').strip()}" for k in first + rest]
        pairs = ", ".join(f"{quoted(k)}: {identifier(k)}" for k in first + rest)
        body = filled(f"    return {result}({quoted(kind)}, given({{", pairs, "})")
    if weight:
        lines += ([""] if "" not in lines else []) + ["weight: how much the objective counts. Default: 1."]
    text = []
    for line in lines:
        text += textwrap.wrap(line, 92, subsequent_indent="    " if ": " in line and line != lines[0] else "") or [""]
    doc = "\n    ".join(text).replace("\\", "\\\\").replace("\n    \n", "\n\n")
    head = f"def {identifier(kind)}("
    call = filled(head, f"{signature}{weight}", f") -> {result}:")
    return (call + "\n"
            f'    """{doc}\n    """\n{body}{extra})\n')


def filled(head, arguments, tail):
    """Return a call with as many arguments in a line as it has room for."""
    lines = [head]
    for argument in arguments.split(", "):
        argument += ", "
        if len(lines[-1]) + len(argument) + len(tail) > 110:
            lines.append(" " * len(head))
        lines[-1] += argument
    return "\n".join(line.rstrip() for line in lines).rstrip(", ") + tail


def generated():
    schema = json.loads(_program.run(["schema"]).out)
    definitions = schema["$defs"]
    parts, names = [], []
    for result, home in (("Rule", "rule"), ("Objective", "property")):
        for kind, value in definitions[home]["properties"].items():
            if kind == "weight":
                continue
            names.append(identifier(kind))
            parts.append(function(kind, value, definitions, result))
    parts.append('def within_book(of: Which = "*") -> Rule:\n'
                 '    """Keep to the doses that the known recipes have: amount(of, within="book")."""\n'
                 '    return amount(of, within="book")\n')
    names.append("within_book")
    listed = "\n".join(textwrap.wrap(", ".join(quoted(n) for n in sorted(names)), 92, initial_indent="    ", subsequent_indent="    "))
    return HEAD + f"__all__ = [\n{listed},\n]\n\n\n" + "\n\n".join(parts)


def main():
    path = pathlib.Path(__file__).parent / "kir" / "rules.py"
    text = generated()
    if "--check" in sys.argv[1:]:
        if path.read_text(encoding="utf-8") != text:
            sys.exit("python/kir/rules.py is not what kir schema says: run python3 python/generate.py")
        return
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
