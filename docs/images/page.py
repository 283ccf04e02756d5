"""Takes page-light.png and page-dark.png of web/dist/recast.html, which web/build makes: BROWSER=PROGRAM python docs/images/page.py

Needs playwright, see web/tests/requirements.txt. BROWSER is a Chromium.
"""

import os
import pathlib

from playwright.sync_api import sync_playwright

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=os.environ["BROWSER"], args=["--no-sandbox"])
    for colour in ["light", "dark"]:
        page = browser.new_page(viewport={"width": 1120, "height": 1000}, color_scheme=colour)
        page.goto((ROOT / "web/dist/recast.html").as_uri() + "#task=lint")
        page.set_input_files("#files", ROOT / "models/fp8_qdq.onnx")
        page.wait_for_selector("#list .row")
        page.screenshot(path=FOLDER / f"page-{colour}.png")
