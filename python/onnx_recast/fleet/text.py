"""Text that is safe to print: names come from models and from storage."""

from __future__ import annotations


def shown(text: object) -> str:
    """Return one line without control characters, which could move the cursor or change the order of the text."""
    return "".join(char if char.isprintable() else _escaped(char) for char in str(text))


def plain(error: BaseException) -> str:
    """Return the text of an error, without the source code of its causes, which obstore adds."""
    return str(error).partition("\n\nDebug source:")[0]


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"
