"""Many mutants in one source: each is an alternative that `mutant::is(number)` chooses when the program runs.

A mutant of `cargo mutants` is a place and a replacement. The syntax tree has what belongs to the place: the operands of an operator, the
pattern of an arm, the value beside a field. Mutants that cannot be chosen at run time are told apart by `why_not`.
"""

import bisect
import re
from collections import defaultdict, namedtuple
from functools import cached_property

import tree_sitter
import tree_sitter_rust

RUST = tree_sitter.Language(tree_sitter_rust.language())
# What is evaluated while compiling.
CONSTANTS = (
    "const_item",
    "static_item",
    "array_type",
    "const_block",
    "enum_variant",
    "attribute_item",
    "inner_attribute_item",
    "macro_invocation",
)
# The node of the syntax tree around the place of a mutant, and its field that is changed, if not all of it.
KINDS = {
    "BinaryOperator": (("binary_expression", "compound_assignment_expr"), None),
    "UnaryOperator": (("unary_expression",), None),
    "MatchArmGuard": (("match_pattern",), None),
    "MatchArm": (("match_arm",), "pattern"),
    "FnValue": (("function_item",), "body"),
    "StructField": (("field_initializer", "shorthand_field_initializer"), None),
}

# Bytes of the source that become another text, and the mutants that are in it.
Region = namedtuple("Region", "start end node mutants")


class Unfit(Exception):
    """A mutant that is not chosen at run time, and why."""


class Source:
    """A file and its mutants."""

    def __init__(self, path, text):
        self.path, self.data = path, text.encode()
        self.tree = tree_sitter.Parser(RUST).parse(self.data)
        self.mutants = defaultdict(list)
        self.constant_functions = {}

    def add(self, mutant):
        """Adds a mutant, or raises `Unfit`."""
        node = self.node_of(mutant)
        function = constant_context(node)
        if function is not None:
            self.constant_functions[mutant["number"]] = function
        self.mutants[(node.start_byte, node.end_byte, node.type)].append((node, mutant))

    def node_of(self, mutant):
        start, end = (self.byte_at(mutant["span"][side]) for side in ("start", "end"))
        # The place of a field ends after its comma.
        node = self.tree.root_node.descendant_for_byte_range(start, start + 1 if mutant["genre"] == "StructField" else end)
        kinds, field = KINDS[mutant["genre"]]
        while node and node.type not in kinds:
            node = node.parent
        node = node.child_by_field_name(field) if node and field else node
        if node is None:
            raise Unfit("no node of the syntax tree")
        if mutant["genre"] == "BinaryOperator" and node.child_by_field_name("operator").start_byte != start:
            raise Unfit("an operator between the parts of a let chain")
        return node

    def byte_at(self, place):
        line = self.lines[place["line"] - 1]
        text = self.data[line:].decode(errors="ignore")[: place["column"] - 1]
        return line + len(text.encode())

    @cached_property
    def lines(self):
        return [0, *(match.end() for match in re.finditer(b"\n", self.data))]

    def rendered(self):
        """The text with all mutants."""
        regions = []
        for (start, end, kind), entries in self.mutants.items():
            node, mutants = entries[0][0], [mutant for _, mutant in entries]
            if kind == "block":
                # What is put before the first statement.
                start = end = start + 1
            regions.append(Region(start, end, node, mutants))
        for function in {each.start_byte: each for each in self.constant_functions.values()}.values():
            modifiers = next(child for child in function.children if child.type == "function_modifiers")
            word = next(child for child in modifiers.children if child.type == "const")
            regions.append(Region(word.start_byte, word.end_byte, word, []))
        self.regions = sorted(regions, key=lambda region: (region.start, -region.end))
        return self.render(0, len(self.data))

    def render(self, start, end, outer=None):
        """The bytes of a range, with the mutants in it except those of `outer`."""
        parts, at = [], start
        first = bisect.bisect_left(self.regions, start, key=lambda region: region.start)
        for region in self.regions[first:]:
            if region.start >= end and not (region.start == end == start):
                break
            if region is outer or region.start < at or region.end > end:
                continue
            parts += [self.data[at : region.start], self.alternatives(region)]
            at = region.end
        return b"".join([*parts, self.data[at:end]])

    def alternatives(self, region):
        node = region.node
        match node.type:
            case "const":
                return b""
            case "block":
                forms = [(each, f"return {each['replacement']};".encode()) for each in region.mutants]
                return b" " + b" ".join(alternative(*form) for form in forms)
            case "binary_expression" | "compound_assignment_expr":
                left, right = (self.render_node(node.child_by_field_name(side), region) for side in ("left", "right"))
                operator = node.child_by_field_name("operator")
                forms = [(each, b"(%s) %s (%s)" % (left, each["replacement"].encode(), right)) for each in region.mutants]
                original = b"(%s) %s (%s)" % (left, self.data[operator.start_byte : operator.end_byte], right)
                return choice(forms, original)
            case "unary_expression":
                operand = self.render_node(node.children[1], region)
                operator = self.data[node.children[0].start_byte : node.children[0].end_byte]
                return choice([(each, b"(%s)" % operand) for each in region.mutants], b"%s(%s)" % (operator, operand))
            case "match_pattern":
                return self.arm(region)
            case _:
                return self.field(region)

    def render_node(self, node, outer):
        return self.render(node.start_byte, node.end_byte, outer)

    def arm(self, region):
        """The pattern of an arm with a guard: false if the arm is deleted, else what its mutants say, else its own."""
        condition = region.node.child_by_field_name("condition")
        pattern = self.data[region.start : region.end]
        guard = b"true"
        if condition is not None:
            pattern = self.data[region.start : condition.start_byte].rstrip().removesuffix(b"if").rstrip()
            guard = self.render_node(condition, region)
        for each in region.mutants:
            match each["replacement"]:
                case "true":
                    guard = b"(%s || (%s))" % (marked(each, chosen(each)), guard)
                case _:
                    guard = b"(%s && (%s))" % (marked(each, b"!" + chosen(each)), guard)
        return pattern + b" if " + guard

    def field(self, region):
        """A field that is the one of the base expression if it is deleted."""
        node = region.node
        fields, expression = node.parent, node.parent.parent
        base = next((child for child in fields.children if child.type == "base_field_initializer"), None)
        if base is None or expression.type != "struct_expression":
            raise Unfit("no base expression")
        base = self.data[base.start_byte : base.end_byte].lstrip(b".")
        name_node = expression.child_by_field_name("name")
        type_name = self.data[name_node.start_byte : name_node.end_byte]
        if node.type == "field_initializer":
            name_node, value_node = node.child_by_field_name("field"), node.child_by_field_name("value")
            name, value = self.data[name_node.start_byte : name_node.end_byte], self.render_node(value_node, region)
        else:
            name = value = self.data[node.start_byte : node.end_byte]
        (mutant,) = region.mutants
        form = b"{ let base: %s = %s; base.%s }" % (type_name, base, name)
        return name + b": " + choice([(mutant, form)], value)


def choice(forms, original):
    return b"(%s else { %s })" % (b" else ".join(alternative(*form) for form in forms), original)


def alternative(mutant, form):
    return b"if %s { %s }" % (chosen(mutant), marked(mutant, form))


def chosen(mutant):
    return b"crate::mutant::is(%d)" % mutant["number"]


def marked(mutant, form):
    """A form between comments by which `mutants_at` finds it."""
    return b"/*<%d*/%s/*%d>*/" % (mutant["number"], form, mutant["number"])


def mutants_at(data, spans):
    """The numbers of the mutants that an error of the compiler is about: those around its spans, else in
    their lines, their match or their function."""
    marks = [(int(mark[1]), mark.start(), data.index(b"/*%s>*/" % mark[1], mark.start())) for mark in re.finditer(rb"/\*<(\d+)\*/", data)]
    around = [(end - start, number) for number, start, end in marks for first, last in spans if start < first and last <= end]
    if around:
        return {min(around)[1]}
    lines = [(data.rfind(b"\n", 0, first) + 1, data.find(b"\n", last)) for first, last in spans]
    tree = tree_sitter.Parser(RUST).parse(data)
    wider = ([node_around(tree, span, kind) for span in spans] for kind in ("match_expression", "function_item"))
    return next(filter(None, (inside(marks, ranges) for ranges in (lines, *wider))), set())


def inside(marks, ranges):
    return {number for number, start, end in marks for first, last in ranges if first <= start and end <= last}


def node_around(tree, span, kind):
    node = tree.root_node.descendant_for_byte_range(*span)
    while node and node.type != kind:
        node = node.parent
    return (node.start_byte, node.end_byte) if node else span


def constant_context(node):
    """The `const fn` that the node is in, which may have to become a function; raises `Unfit` in other constants."""
    while node := node.parent:
        if node.type == "closure_expression":
            return None
        if node.type in CONSTANTS:
            raise Unfit("evaluated while compiling")
        if node.type == "function_item":
            modifiers = [child for child in node.children if child.type == "function_modifiers"]
            return node if any(word.type == "const" for each in modifiers for word in each.children) else None
    return None
