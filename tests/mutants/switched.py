"""Sources in which every mutant is there at once, and the environment says which one counts.

A function with mutants becomes a `match` on the number of the mutant: one arm for each, with its body
changed, and the body as it is for all other numbers. So thousands of mutants are one build. Never
changes a line that cargo-mutants did not change, and never touches the tree it reads from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

# Which mutant counts; none without it.
VARIABLE = "ZAFFRE_MUTANT"

SWITCH = f"""
extern crate std as switch_std;
pub use switch_std::boxed as switch_boxed;
/// Which mutant counts.
pub fn switch_mutant() -> u32 {{
    static WHICH: switch_std::sync::OnceLock<u32> = switch_std::sync::OnceLock::new();
    let read = || switch_std::env::var("{VARIABLE}").ok().and_then(|text| text.parse().ok());
    *WHICH.get_or_init(|| read().unwrap_or(0))
}}
"""

# What may hold a brace that is none: comments, texts and characters.
OPAQUE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|"""
    r"""b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^'\\\n])'""",
    re.S,
)

Span = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """One change, as cargo-mutants lists it."""

    number: int
    name: str
    package: str
    file: str
    function: dict[str, Any] | None
    span: dict[str, Any]
    replacement: str

    @classmethod
    def of(cls, number: int, listed: dict[str, Any]) -> Mutant:
        """From its JSON."""
        return cls(number, listed["name"], listed["package"], listed["file"],
                   listed.get("function"), listed["span"], listed["replacement"])

    def boxed(self) -> str | None:
        """What its function's iterators have in common, if that is what it returns."""
        returned = (self.function or {}).get("return_type", "")
        found = re.fullmatch(r"-> impl (Iterator<.*>)", returned)
        return f"crate::switch_boxed::Box<dyn {found[1]} + '_>" if found else None

    def fits_a_switch(self) -> bool:
        """A constant cannot ask which mutant counts, and two types cannot be one."""
        if self.function is None:
            return False
        return "impl " not in self.function["return_type"] or self.boxed() is not None


@dataclass
class Source:
    """A file and its mutants."""

    text: str
    mutants: list[Mutant]
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.starts = [0] + [at + 1 for at, char in enumerate(self.text) if char == "\n"]
        self.bare = OPAQUE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), self.text)

    def span(self, span: dict[str, Any]) -> Span:
        """Where it starts and ends in the text."""
        def at(place: dict[str, int]) -> int:
            return self.starts[place["line"] - 1] + place["column"] - 1
        return at(span["start"]), at(span["end"])

    def body(self, function: Span) -> Span:
        """The function's block, found from its end."""
        depth = 0
        for at in range(function[1] - 1, function[0], -1):
            depth += {"}": 1, "{": -1}.get(self.bare[at], 0)
            if depth == 0:
                return at, function[1]
        raise ValueError(f"no body before {function[1]}")

    def changed(self, mutant: Mutant) -> str:
        """The whole file with this mutant alone."""
        start, end = self.span(mutant.span)
        return f"{self.text[:start]}{mutant.replacement} {self.text[end:]}"

    def switched(self, left_out: set[int]) -> str:
        """The file with a switch in each function, except for the mutants left out."""
        functions: dict[Span, list[Mutant]] = {}
        for mutant in self.mutants:
            if mutant.number not in left_out and mutant.function is not None:
                functions.setdefault(self.span(mutant.function["span"]), []).append(mutant)
        return self._between(0, len(self.text), functions)

    def _between(self, start: int, end: int, functions: dict[Span, list[Mutant]]) -> str:
        made = []
        for function in sorted(functions):
            if function[0] < start or function[1] > end:
                continue  # Inside another one, which has it in its own body.
            mutants, body = functions[function], self.body(function)
            head = self.bare[function[0]:body[0]]
            # A constant function cannot read the environment; most are not used in constants.
            found = re.search(r"\bconst\s+(?=(unsafe\s+)?fn\b)", head)
            cut = (found.start(), found.end()) if found else (0, 0)
            made.append(self.text[start:function[0] + cut[0]])
            made.append(self.text[function[0] + cut[1]:body[0]])
            made.append("{ match crate::switch_mutant() {\n")
            for mutant in mutants:
                place = self.span(mutant.span)
                inner = self.text[body[0]:place[0]] + mutant.replacement + " "
                inner += self.text[place[1]:body[1]]
                made.append(f"{mutant.number}u32 => {mark('START', mutant.number)}\n")
                made.append(f"{wrapped(inner, mutant)}\n{mark('END', mutant.number)}\n")
            made.append(f"_ =>\n{wrapped(self._between(*body, functions), mutants[0])}\n}} }}")
            start = body[1]
        made.append(self.text[start:end])
        return "".join(made)


def wrapped(body: str, mutant: Mutant) -> str:
    """A body as the function returns it: iterators of several types as one."""
    kind = mutant.boxed()
    return f"{{ crate::switch_boxed::Box::new({body}) as {kind} }}" if kind else body


def mark(what: str, number: int) -> str:
    """A comment by which lines of a mutant are known."""
    return f"/*MUTANT {what} {number}*/"


def lines_of(text: str) -> dict[int, int]:
    """Which mutant each line belongs to."""
    found: dict[int, int] = {}
    now = None
    for number, line in enumerate(text.split("\n"), 1):
        marked = re.search(r"/\*MUTANT (START|END) (\d+)\*/", line)
        if marked:
            now = int(marked[2]) if marked[1] == "START" else None
        elif now is not None:
            found[number] = now
    return found
