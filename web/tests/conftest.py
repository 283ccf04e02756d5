"""The page in a browser. BROWSER is a Chromium, PAGE the file recast.html, RECAST the command, AXE the file axe.min.js."""

import os
import pathlib
import subprocess
import sys
from urllib.parse import urlencode

import pytest
from playwright.sync_api import sync_playwright

PAGE, RECAST = pathlib.Path(os.environ["PAGE"]).resolve(), pathlib.Path(os.environ["RECAST"]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / ".ci"))
JOBS = ["look", "lint", "fold", "convert", "precision", "diff", "cast"]


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=os.environ["BROWSER"], args=["--no-sandbox"])


class Opened:
    """The page, and what it must not do: requests, errors on the console, dialogs."""

    def __init__(self, page, fragment=""):
        self.page, self.faults = page, []
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: request.url.startswith((PAGE.as_uri(), "blob:")) or self.faults.append(f"request: {request.url}"))
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(PAGE.as_uri() + fragment)

    def open(self, *files):
        """Chooses files, and waits for the first look at them."""
        self.page.set_input_files("#files", files)
        return self.wait()

    def choose(self, job):
        self.page.click(f"#tab-{job}")

    def go(self, job, **values):
        """Opens the address of a task with these options, and with the defaults of the others."""
        stated = {"task": job, **{key.replace("_", "-"): str(value).lower() if isinstance(value, bool) else value for key, value in values.items()}}
        self.page.evaluate("fragment => { location.hash = fragment; }", urlencode(stated))
        self.page.wait_for_selector(f"#tab-{job}[aria-selected=true]")

    def set(self, **values):
        """Sets fields of the task by their options."""
        for key, value in values.items():
            field = self.page.locator(f"#field-{key.replace('_', '-')}")
            if isinstance(value, bool):
                field.set_checked(value)
            elif field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(value)
            else:
                field.fill(value)

    def run(self):
        self.page.click("#run")
        return self.wait()

    def wait(self):
        """Waits for the end of a run; returns the exit code of the command."""
        self.page.wait_for_selector('#status:text-matches("^(Done|Failed|Cancelled)")', timeout=60_000)
        code = self.page.locator("#code")
        return int(code.get_attribute("data-value")) if code.count() else None

    def saved(self):
        """The files that the page offers to save."""
        files = {}
        for button in self.page.locator("button.save").all():
            with self.page.expect_download() as download:
                button.click()
            files[button.inner_text().removeprefix("Save ").strip()] = pathlib.Path(download.value.path()).read_bytes()
        return files

    def text(self):
        return self.page.inner_text("#page")


@pytest.fixture
def opened(browser):
    """Opens the page; when the test ends, it must have done nothing that it must not do."""
    pages = []

    def opened(fragment="", **options):
        context = browser.new_context(**options)
        pages.append(Opened(context.new_page(), fragment))
        return pages[-1]

    yield opened
    for page in pages:
        page.page.context.close()
    assert [fault for page in pages for fault in page.faults] == []


def recast(folder, *arguments):
    return subprocess.run([RECAST, *map(str, arguments)], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def model(tmp_path):
    """Writes a model given as ONNX text."""

    def write(text, name="model.onnx"):
        source = tmp_path / "source.onnxtxt"
        source.write_text(text)
        done = recast(tmp_path, "fold", source, "--passes", "none", "-o", name)
        assert done.returncode == 0, done.stderr
        return tmp_path / name

    return write
