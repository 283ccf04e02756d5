"""Checks the links of a rendered book: relative links lead to files, and their fragments to ids. book_links.py FOLDER"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links of a page, and the ids that links may name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def problem(pages, page, link):
    """Why a link is broken; none if it is not."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    file = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
    if not file.is_file():
        return "does not exist"
    is_missing = parts.fragment and file in pages and urllib.parse.unquote(parts.fragment) not in pages[file].ids
    return "has no such id" if is_missing else None


def main(folder):
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(pathlib.Path(folder).rglob("*.html"))}
    # 404.html has absolute links, and the table of contents is part of every page.
    checked = {path: page for path, page in pages.items() if path.name not in ("404.html", "toc.html")}
    broken = {(path.name, link, why) for path, page in checked.items() for link in page.links if (why := problem(pages, path, link))}
    for name, link, why in sorted(broken):
        print(f"{name}: link to {link}: {why}")
    print(f"{len(checked)} pages, {sum(len(page.links) for page in checked.values())} links, {len(broken)} broken")
    return bool(broken or not checked)


sys.exit(main(sys.argv[1]))
