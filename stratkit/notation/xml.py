"""XML as simple as log files need it: no document types, no entities, a fixed shallow tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn
from xml.parsers import expat

from stratkit.errors import InputError


@dataclass(slots=True)
class Element:
    """An element of a log.

    name         its tag
    line         where it begins
    attributes   by name
    text         of one without children
    """

    name: str
    line: int
    attributes: dict[str, str]
    text: str = ""

    @property
    def where(self) -> str:
        """Its place in messages."""
        return f"line {self.line}"


class _Reader:
    """Collects the elements; refuses what the tree does not have room for."""

    def __init__(self, children: Mapping[str, Sequence[str]]) -> None:
        self.children, self.elements = children, list[Element]()
        self.path: list[Element] = []
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = lambda name: self.path.pop()
        parser.CharacterDataHandler = self.text
        # Entities can only be declared in a document type, so without one there are none to expand.
        parser.StartDoctypeDeclHandler = self.doctype

    @property
    def where(self) -> str:
        return f"line {self.parser.CurrentLineNumber}"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self.path[-1].name if self.path else ""
        if name not in self.children.get(parent, ()):
            inside = f" in <{parent}>" if parent else ""
            raise InputError(f"unknown element{inside}", where=self.where, text=name)
        element = Element(name, self.parser.CurrentLineNumber, attributes)
        self.elements.append(element)
        self.path.append(element)

    def text(self, text: str) -> None:
        if self.path and self.path[-1].name not in self.children:
            self.path[-1].text += text

    def doctype(self, name: str, *_: object) -> NoReturn:
        what = "a document type, and so perhaps entities: refused"
        raise InputError(what, where=self.where, text=name)


def parse_xml(data: bytes, children: Mapping[str, Sequence[str]]) -> list[Element]:
    """The elements in the order in which they begin; raises `InputError`.

    `children` names the elements that each element may hold; "" is the document itself.
    """
    reader = _Reader(children)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise InputError(what, where=f"line {error.lineno}") from None
    except (LookupError, ValueError) as error:  # an encoding that Python lacks or cannot use
        raise InputError(f"not readable as XML: {error}", where=reader.where) from None
    return reader.elements
