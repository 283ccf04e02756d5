"""Folders of this machine, listed without the client of storages, which gives up at the first name that it refuses."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Obstacle: TypeAlias = Literal["bad-name", "link-loop", "not-a-file", "not-readable"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of a listing, or what stands in its place."""

    path: str
    """Path in the storage, without a slash in front."""
    size: int = 0
    """Length in bytes."""
    obstacle: Obstacle | None = None
    """Why it cannot be read, as a stable code."""
    message: str = ""
    """The same as text."""


def walk(root: str) -> Iterator[Entry]:
    """Return the files of a folder and of those beneath it, in the same order each time; nothing if it does not exist.

    Links are followed, except those to a folder that contains them. Each of these, and each file and folder that cannot
    be read, is an entry that states the reason.
    """
    try:
        about = os.stat(root)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return
    folders: list[tuple[str, tuple[tuple[int, int], ...]]] = [(root, ((about.st_dev, about.st_ino),))]
    while folders:
        folder, enclosing = folders.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda one: one.name)
        except FileNotFoundError:
            continue  # It was removed meanwhile.
        except OSError as error:
            yield _unreadable(folder + "/", error)
            continue
        beneath: list[tuple[str, tuple[tuple[int, int], ...]]] = []
        for one in entries:
            try:
                about = one.stat()
            except OSError as error:
                yield _unreadable(one.path, error)
                continue
            if not stat.S_ISDIR(about.st_mode):
                yield _file(one.path, about)
            elif (identity := (about.st_dev, about.st_ino)) in enclosing:
                message = "is a link to a folder that contains it"
                yield Entry(_shown(one.path) + "/", obstacle="link-loop", message=message)
            else:
                beneath.append((one.path, (*enclosing, identity)))
        folders += reversed(beneath)


def _file(path: str, about: os.stat_result) -> Entry:
    if not stat.S_ISREG(about.st_mode):
        # To open a pipe would wait for its other end.
        return Entry(_shown(path), obstacle="not-a-file", message="is not a file")
    if not is_unicode(path):
        return Entry(_shown(path), about.st_size, "bad-name", "the name is not UTF-8")
    return Entry(path.lstrip("/"), about.st_size)


def _unreadable(path: str, error: OSError) -> Entry:
    reasons = {errno.ENOENT: "is a link to a file that does not exist", errno.ELOOP: "is a link to itself"}
    reason = reasons.get(error.errno or 0) or f"cannot be read: {error.strerror}"
    return Entry(_shown(path), obstacle="not-readable", message=reason)


def is_unicode(text: str) -> bool:
    """Whether a path, as Python decodes it, has no bytes that are not UTF-8."""
    return text.isascii() or not any("\udc80" <= char <= "\udcff" for char in text)


def escaped(text: str) -> str:
    r"""Return a path as Unicode, which is all that tables store: bytes that are not UTF-8 are written as ``\xff``."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _shown(path: str) -> str:
    return escaped(path).lstrip("/")
