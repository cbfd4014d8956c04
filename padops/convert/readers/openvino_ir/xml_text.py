"""XML as a tree, without the parts of XML that can do harm."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from padops.convert.errors import PadopsError, library_errors


class _Builder(ElementTree.TreeBuilder):
    """Makes the tree; refuses a document type, which can define entities: files to read, and texts of any length."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise PadopsError(f"{self._path} has a document type ({name}), which no OpenVINO IR has")


def parse(content: bytes, path: Path) -> ElementTree.Element:
    """Parses the content of a file.

    Raises:
        PadopsError: It is not well-formed, or in an encoding that is not known, or has a document type.
    """
    with library_errors(str(path)):  # LookupError and ValueError: of encodings that Python or expat does not know
        try:
            return ElementTree.fromstring(content, ElementTree.XMLParser(target=_Builder(path)))
        except ElementTree.ParseError as error:
            raise PadopsError(
                f"{path} is not an OpenVINO IR, or is damaged: it is not well-formed XML: {error}"
            ) from None
