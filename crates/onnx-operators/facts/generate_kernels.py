#!/usr/bin/env python3
"""Writes facts/kernels/onnxruntime.txt: the kernels for the CPU in the wheels of onnxruntime that PyPI has.

    python facts/generate_kernels.py                        writes the file
    python facts/generate_kernels.py --check [VERSION]...   exits 1 when the file differs from what these wheels say; all by default

The interpreter must have the onnx version that generate.py names. The wheels are installed into conformance/.cache/onnxruntimes.

The format:

    [versions]      version wheel                      a minor version, and the wheel of it that was read; oldest first
    [types]         name = type type ...               a set of types that several lines share, named after its first user
    [domain]        the domain whose operators follow
    Operator since,since,... versions variable=set ...

A line says that these versions have a kernel for these schemas of the operator, where the type of each type variable is in its set:
`@name`, or types joined by `|`. Other variables of the schema may have every type that ONNX allows. Several lines for one operator,
schema and version are alternatives. Versions are ranges over those of [versions]. How a node is matched to a line is in facts/kernels/README.md.

Three sections come last:

    [functions]     Operator 18-20,22 versions variable=set ... attribute=value input:name=value ...
    [limits]        Operator since,since,... versions attribute=value variable=set ...
    [failures]      the same

A line of the first says that the operator loads without a kernel in models of these opsets of ai.onnx, by the body with which ONNX defines
it, or its FLOAT16 with casts to FLOAT, if all conditions are true. A line of the second says that a node is refused in spite of a kernel if
they are. Both are measured by loading models. A line of the third says that a node loads and then fails, measured by running models. A
condition is true if an attribute has the value, stated or as its default, is stated (`*`) or absent (`-`); if an optional input or output is there
(`*`) or not (`-`); or if the type is in the set.

A wheel lists its kernels with the range of schemas that each serves, as a first version and a last one or none. A kernel without a last
version serves the schema of its first version only: onnxruntime cannot know what a later schema will mean.
"""

import argparse
import difflib
import itertools
import os
import pathlib
import re
import sys
from collections import defaultdict

import onnx
from generate import ONNX_VERSION, normal_type, type_rank
from onnx import defs

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
sys.path.append(str(ROOT / "conformance"))
os.environ.setdefault("RECAST", "recast")  # A conformance run says where it is; nothing here runs it.
from kernel_functions import CAST_LIKE, last_opset, loads_as_function, own_loads_as_function  # noqa: E402
from kernel_limits import failures_of, limits_of  # noqa: E402
from support.onnxruntimes import WHEEL_OF, Runtime, limits  # noqa: E402

TARGET = FOLDER / "kernels/onnxruntime.txt"
HEADER = "# Kernels for the CPU in the wheels of onnxruntime, written by facts/generate_kernels.py, which explains the format; do not edit.\n"
# Older wheels do not list their kernels.
VERSIONS = {version: wheel for version, wheel in WHEEL_OF.items() if version != "1.15"}
LARGEST_INLINE_SET = 3


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file is not up to date")
    arguments.add_argument("versions", nargs="*", choices=[[], *VERSIONS], metavar="VERSION", help=f"which to check: {', '.join(VERSIONS)}")
    options = arguments.parse_args()
    if onnx.__version__ != ONNX_VERSION:
        sys.exit(f"this script needs onnx {ONNX_VERSION}, not {onnx.__version__}")
    if not options.check:
        TARGET.write_text(render({version: facts_of(version) for version in VERSIONS}))
        return
    wrong = False
    present = parse(TARGET.read_text())
    for version in options.versions or VERSIONS:
        lines = [sorted(map(str_of, kernels.items())) for kernels in (present.get(version, {}), facts_of(version))]
        difference = list(difflib.unified_diff(*lines, TARGET.name, f"onnxruntime {VERSIONS[version]}", n=0, lineterm=""))
        sys.stdout.writelines(f"{line}\n" for line in difference)
        wrong |= bool(difference)
    sys.exit(wrong)


def str_of(kernel):
    (section, operator, numbers), rows = kernel
    return f"{section} {operator} {numbers} {sorted(rows)}"


def facts_of(version):
    """{(domain, operator, since-version), or (`functions`, operator, opsets): {alternative}} of a version; an alternative is a tuple of
    (type variable, types)."""
    with Runtime(version) as runtime:
        later = list(later_schemas(runtime))
        kernels = kernels_of(runtime, later)
        return kernels | functions_of(runtime, kernels) | refusals_of(runtime, later)


def kernels_of(runtime, later):
    kernels, schemas = runtime.kernels()
    found = defaultdict(list)
    for domain, operator, since, inputs, outputs in schemas:
        if not is_known(domain, operator, since):
            continue
        allowed = {} if domain == "com.microsoft" else allowed_types(domain, operator, since)
        formals = {name: kind for name, kind in inputs + outputs}
        for each in kernels:
            if each[:2] == [domain, operator] and serves(each, since):
                constraints = constraints_of(each[4], formals, allowed)
                if all(constraints.values()):
                    found[domain, operator, since].append(constraints)
        if found[domain, operator, since]:
            found[domain, operator, since] = alternatives(found[domain, operator, since], allowed)
    found = {key: value for key, value in found.items() if value}
    return found | {(*key, since): found[*key, before] for *key, since, before in later if (*key, before) in found}


def later_schemas(runtime):
    """[(domain, operator, since-version, the one before)]: a version loads the opset of the schema, but does not know it, and takes the one
    before."""
    known = {tuple(schema[:3]) for schema in runtime.kernels()[1]}
    for domain, operator, since in SCHEMAS:
        if domain == "" and since <= limits(runtime.version)[0] and (domain, operator, since) not in known:
            older = [each[2] for each in known if each[:2] == (domain, operator) and each[2] < since]
            if older:
                yield domain, operator, since, max(older)


def functions_of(runtime, kernels):
    limit = limits(runtime.version)[0]

    def has_kernel(operator, since, types):
        known = kernels.get(("", operator, since), ())
        return any(all(types.get(name, kinds[0]) in kinds for name, kinds in alternative) for alternative in known)

    found = defaultdict(list)
    for operator, opsets, types, conditions in [*loads_as_function(runtime, limit, has_kernel), *own_loads_as_function(runtime, has_kernel)]:
        types = {} if operator == "SequenceMap" else types  # Its body may compute anything.
        found[FUNCTIONS, operator, number_ranges(opsets), conditions].append({name: {kind} for name, kind in types.items()})
    rows = defaultdict(set)
    for (*key, conditions), types in found.items():
        rows[tuple(key)] |= {(*alternative, *absent(*key[1:], alternative, conditions)) for alternative in alternatives(types, {})}
    return rows | cast_like(kernels, limit)


def absent(operator, opsets, alternative, conditions):
    """The conditions, and that the optional inputs are absent whose type no model with an alternative had."""
    schema = SCHEMAS.get(("", operator, by_number(opsets)[0]))
    if schema is None:
        return conditions
    names = dict(alternative).keys() | dict(conditions).keys()
    variables = {each.type_param_str for each in schema.type_constraints} - names
    optional = {f"input:{each.name}" for each in schema.inputs if each.option == each.option.Optional and each.type_str in variables}
    return sorted([*conditions, *((name, ("-",)) for name in optional - names)])


def cast_like(kernels, limit):
    """The rows of CastLike, whose body is Cast."""
    opsets = defaultdict(list)
    for since, last in ranges_of(CAST_LIKE):
        for cast, last_cast in ranges_of("Cast"):
            if max(since, cast) <= min(last, last_cast, limit) and ("", "Cast", cast) in kernels:
                opsets[frozenset(kernels["", "Cast", cast])] += range(max(since, cast), min(last, last_cast) + 1)
    return {(FUNCTIONS, CAST_LIKE, number_ranges(numbers)): set(sets) for sets, numbers in opsets.items()}


def ranges_of(name):
    """[(first, last)] opset of each schema of an operator of ai.onnx."""
    return [(since, last_opset(schema)) for (domain, operator, since), schema in SCHEMAS.items() if (domain, operator) == ("", name)]


def refusals_of(runtime, later):
    limit = limits(runtime.version)[0]
    casts = [
        (operator, since, allowed_types("", operator, since)["T2"])
        for domain, operator, since in SCHEMAS
        if domain == "" and operator in ("Cast", CAST_LIKE) and 19 <= since <= limit
    ]
    unknown = [
        (operator, since, {name: ("*",)})
        for domain, operator, since, before in later
        for name in sorted(set(SCHEMAS[domain, operator, since].attributes) - set(SCHEMAS[domain, operator, before].attributes))
    ]
    return rows_of(LIMITS, limits_of(runtime, limit, casts) + unknown) | rows_of(FAILURES, failures_of(runtime, limit, allowed_types))


def rows_of(section, found):
    rows = defaultdict(set)
    for operator, since, condition in found:
        words = ((name, tuple(ordered(values)) if isinstance(values, set) else values) for name, values in condition.items())
        rows[section, operator, since].add(tuple(words))
    return rows


def number_ranges(numbers):
    """`18-20,22` of such numbers."""
    found = []
    for number in sorted(numbers):
        if found and found[-1][-1] + 1 == number:
            found[-1][-1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


FUNCTIONS, LIMITS, FAILURES = "functions", "limits", "failures"


def is_known(domain, operator, since):
    """Whether facts/operators.txt, facts/onnxruntime.txt or facts/microsoft.txt have a schema."""
    return operator in MICROSOFT if domain == "com.microsoft" else (domain, operator, since) in SCHEMAS or (operator, since) in OWN


SCHEMAS = {(schema.domain, schema.name, schema.since_version): schema for schema in defs.get_all_schemas_with_history()}
MICROSOFT = {line.split()[0] for line in (FOLDER / "microsoft.txt").read_text().splitlines() if not line.startswith("#")}


def own_schemas():
    """{(operator, since-version): {type variable: types}} of facts/onnxruntime.txt, without deprecated versions."""
    found, key = {}, None
    for line in (FOLDER / "onnxruntime.txt").read_text().splitlines():
        if line.startswith("  types: "):
            sets = (text.split(" = ") for text in line.removeprefix("  types: ").split(", "))
            found[key] = {name: set(kinds.split("|")) for name, kinds in sets}
        elif line and line[0] not in "# [":
            name, since, *_ = line.split(":")[0].split()
            key = name, int(since)
            if " deprecated" in line:
                key = None
    return {key: types for key, types in found.items() if key}


OWN = own_schemas()


def allowed_types(domain, operator, since):
    if domain == "" and (operator, since) in OWN:
        # Kernels whose statistics have a type that the schema excludes run nodes without statistics.
        return {name: kinds | {"float16"} if name == "U" else kinds for name, kinds in OWN[operator, since].items()}
    constraints = SCHEMAS[domain, operator, since].type_constraints
    return {each.type_param_str: {normal_type(kind) for kind in each.allowed_type_strs} for each in constraints}


def serves(kernel, since):
    _, _, start, end, _ = kernel
    return start <= since <= (start if end is None else end)


def constraints_of(types, formals, allowed):
    """{type variable: types}: a wheel names type variables, or inputs and outputs."""
    constraints = {}
    for name, kinds in types.items():
        variable = name if name in formals.values() else formals[name]
        # facts/operators.txt has no sparse tensors; the one operator with them takes nothing else.
        kinds = {normal_type(kind) if "sparse" not in kind else ANY for kind in kinds}
        if "(" in variable:  # A type and not a variable: without it, the kernel serves no node.
            constraints[variable] = kinds & {normal_type(variable)}
        else:
            constraints[variable] = constraints.get(variable, kinds) & kinds & allowed.get(variable, kinds)
    return constraints


def alternatives(kernels, allowed):
    """The kernels as few sets of types: those that differ in one variable are one."""
    variables = sorted({variable for kernel in kernels for variable in kernel if "(" not in variable})
    rows = sorted({tuple(tuple(ordered(kernel.get(each, allowed.get(each, {ANY})))) for each in variables) for kernel in kernels})
    while (pair := next(mergeable(rows), None)) is not None:
        first, second, at = pair
        rows = [row for row in rows if row not in (first, second)]
        rows.append((*first[:at], tuple(ordered({*first[at], *second[at]})), *first[at + 1 :]))
        rows.sort()
    every = {variable: tuple(ordered(kinds)) for variable, kinds in allowed.items()}
    rows = [[(name, tuple(kind for kind in kinds if kind != ANY)) for name, kinds in zip(variables, row)] for row in rows]
    return {tuple((name, kinds) for name, kinds in row if kinds not in (every.get(name), ())) for row in rows}


def mergeable(rows):
    for number, first in enumerate(rows):
        for second in rows[number + 1 :]:
            different = [at for at, kinds in enumerate(first) if kinds != second[at]]
            if len(different) == 1:
                yield first, second, different[0]


def ordered(types):
    """Types in the order of facts/operators.txt."""
    return sorted(types, key=lambda kind: type_rank(kind) if kind[0].isalpha() else ())


ANY = "*"


def render(kernels):
    lines = defaultdict(lambda: defaultdict(list))
    for key in sorted({key for version in kernels.values() for key in version}, key=lambda key: (*key[:2], by_number(str(key[2])))):
        domain, operator, since = key
        versions = defaultdict(list)
        for version, known in kernels.items():
            for alternative in known.get(key, ()):
                versions[alternative].append(version)
        for alternative, present in versions.items():
            lines[domain, operator][ranges(present), alternative].append(since)
    names, body, domain = {}, [], None
    last = ["", FUNCTIONS, LIMITS, FAILURES]
    for (next_domain, operator), rows in sorted(lines.items(), key=lambda line: (last.index(line[0][0]) if line[0][0] in last else 0, line[0])):
        if next_domain != domain:
            domain = next_domain
            body += ["", f"[{domain or 'ai.onnx'}]"]
        for (versions, alternative), numbers in sorted(rows.items(), key=order_of_row):
            prefix = f"{operator}-{by_number(str(numbers[0]))[0]}"
            words = [f"{name}={set_reference(kinds, names, f'{prefix}.{name}', versions)}" for name, kinds in alternative]
            body.append(" ".join([operator, ",".join(map(str, numbers)), versions, *words]))
    head = [HEADER, "[versions]", *(f"{version} {VERSIONS[version]}" for version in kernels), "", "[types]"]
    return "\n".join([*head, *(f"{name} = {' '.join(kinds)}" for kinds, name in names.items()), *body]) + "\n"


def order_of_row(row):
    (versions, alternative), numbers = row
    return [by_number(str(each)) for each in numbers], by_number(versions), alternative


def by_number(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def ranges(versions):
    """`1.16-1.20,1.23` of the versions that have a kernel."""
    known, found = list(VERSIONS), []
    for version in versions:
        if found and known.index(found[-1][-1]) + 1 == known.index(version):
            found[-1].append(version)
        else:
            found.append([version])
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found)


def set_reference(kinds, names, name, versions):
    if len(kinds) <= LARGEST_INLINE_SET:
        return "|".join(kinds)
    if kinds not in names:
        first = f"{name}:{versions.partition('-')[0]}"
        free = (each for each in itertools.chain([name, first], map((first + "-{}").format, itertools.count(2))) if each not in names.values())
        names[kinds] = next(free)
    return f"@{names[kinds]}"


def parse(text):
    """{version: what `kernels_of` gives}."""
    found, names, section = defaultdict(lambda: defaultdict(set)), {}, None
    for line in text.splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif section == "types" and line:
            name, _, kinds = line.partition(" = ")
            names[f"@{name}"] = tuple(kinds.split())
        elif section not in (None, "versions") and line:
            operator, sinces, versions, *words = line.split()
            sets = (word.split("=") for word in words)
            alternative = tuple((name, names.get(kinds) or tuple(kinds.split("|"))) for name, kinds in sets)
            for version in versions_in(versions):
                if section == FUNCTIONS:
                    found[version][section, operator, sinces].add(alternative)
                    continue
                for since in sinces.split(","):
                    found[version]["" if section == "ai.onnx" else section, operator, int(since)].add(alternative)
    return found


def versions_in(text):
    known = list(VERSIONS)
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from known[known.index(first) : known.index(last or first) + 1]


if __name__ == "__main__":
    main()
