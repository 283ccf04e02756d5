"""Which mutants the tests of Rust find.

Each test runs alone without a mutant, and lists the mutants whose place it reaches. A mutant is then tried with the tests that reach it,
the fastest first, until one fails or does not end. Tests that fail without a mutant do not count; those that fail only since the list is
written, for instance since they count system calls, do.
"""

import json
import os
import shutil
import subprocess
import time
from collections import defaultdict, namedtuple
from multiprocessing.pool import ThreadPool

from mutants.build import CRATES, ROOT, cargo, source_files

JOBS = 2
LONGEST_ALONE = 300  # Seconds.
# A mutant may take some times as long as the tests do without it.
SLOWEST, LEAST_SECONDS = 10, 30
# The tests of one process take about as long.
FIRST_SECONDS, GROWTH = 0.5, 3
# These select one test only, or all of them.
ONE_BY_ONE = ("cases", "limits")

Test = namedtuple("Test", "binary name")


class TestBench:
    def __init__(self, folder):
        self.folder, self.source = folder, folder / "source"
        self.mutants = [each for each in json.loads((folder / "mutants.json").read_text()) if "why_not" not in each]

    def compile(self):
        """The test programs by name."""
        packages = [option for crate in CRATES for option in ("--package", crate)]
        arguments = ("test", "--no-run", *packages, "--message-format", "json")
        done = cargo(self.source, self.folder, *arguments, stdout=subprocess.PIPE, text=True, check=True)
        artifacts = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        programs = {each["target"]["name"]: each["executable"] for each in artifacts if each.get("executable") and each["profile"]["test"]}
        (self.folder / "programs.json").write_text(json.dumps(programs))
        # Some tests read the source.
        for path in source_files():
            shutil.copy(path, self.source / path.relative_to(ROOT))
        for folder in CRATES.values():
            (self.source / folder / "mutant.rs").unlink()

    def reach(self):
        """Runs each test alone."""
        programs = json.loads((self.folder / "programs.json").read_text())
        tests = [Test(name, test) for name, program in programs.items() for test in self.names(program)]
        print(len(tests), "tests", flush=True)
        (self.folder / "tests").mkdir(exist_ok=True)
        waiting = [(index, test) for index, test in enumerate(tests) if not self.path_of(index).is_file()]
        with ThreadPool(JOBS) as pool:
            pool.map(self.reach_one, waiting, chunksize=1)
        for row in self.rows():
            if row["code"] != 0:
                print("fails without a mutant:", row["test"], row["code"])

    def path_of(self, index):
        return self.folder / f"tests/{index}.json"

    def rows(self):
        """The tests that were run, their times, and the mutants that they reach."""
        return [json.loads(path.read_text()) for path in (self.folder / "tests").glob("*.json")]

    def names(self, program):
        listed = subprocess.run([program, "--list", "--format", "terse"], cwd=self.source, stdout=subprocess.PIPE, text=True, check=True)
        return [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]

    def reach_one(self, numbered):
        index, test = numbered
        reached = self.folder / f"reached-test-{index}"
        reached.touch()
        # Some tests run as another user.
        reached.chmod(0o666)
        start = time.monotonic()
        code = self.run(test.binary, [test.name], LONGEST_ALONE, MUTANTS_REACHED=str(reached))
        seconds = time.monotonic() - start
        if code != 0:
            code = self.run(test.binary, [test.name], LONGEST_ALONE)
        numbers = sorted({int(line) for line in reached.read_text().split()})
        reached.unlink()
        self.path_of(index).write_text(json.dumps({"test": test, "code": code, "seconds": seconds, "reached": numbers}))

    def run(self, binary, names, seconds, **environment):
        """The exit code; none if the process had to be killed."""
        program = json.loads((self.folder / "programs.json").read_text())[binary]
        command = ["nice", "-n", "15", program, "--exact", *names, "--test-threads", "1"]
        environment = {**os.environ, "RUST_BACKTRACE": "0", "CARGO_MANIFEST_DIR": str(self.source), **environment}
        process = subprocess.Popen(
            command, cwd=self.source, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            # With what the test has started.
            os.killpg(process.pid, 9)
            process.wait()
            return None

    def try_mutant(self, mutant, rows):
        """The test that finds a mutant, or none of those that reach it."""
        number, start = mutant["number"], time.monotonic()
        result = {"number": number, "name": mutant["name"], "tests": len(rows), "caught": None}
        for binary, batch in batches(rows):
            seconds = max(LEAST_SECONDS, SLOWEST * sum(row["seconds"] for row in batch))
            code = self.run(binary, [row["test"][1] for row in batch], seconds, MUTANT=str(number))
            if code != 0:
                result["caught"] = {"binary": binary, "names": [row["test"][1] for row in batch], "code": code}
                break
        (self.folder / "caught").mkdir(exist_ok=True)
        (self.folder / f"caught/{number}.json").write_text(json.dumps(result))
        words = "caught by" if result["caught"] else "SURVIVES"
        where = f"{result['caught']['binary']} {result['caught']['names'][0]}" if result["caught"] else ""
        print(number, mutant["name"], f"({len(rows)} tests, {time.monotonic() - start:.0f} s)", words, where, flush=True)


def batches(rows):
    """Tests by processes: the fastest first, and more of them the longer no test has failed."""
    limit, waiting, total = FIRST_SECONDS, defaultdict(list), 0
    for row in sorted(rows, key=lambda row: row["seconds"]):
        binary = row["test"][0]
        if binary in ONE_BY_ONE:
            yield binary, [row]
            continue
        waiting[binary].append(row)
        total += row["seconds"]
        if total > limit:
            yield from waiting.items()
            limit, waiting, total = limit * GROWTH, defaultdict(list), 0
    yield from waiting.items()


def compile_tests(folder):
    TestBench(folder).compile()


def reach_all(folder):
    TestBench(folder).reach()


def try_all(folder, numbers=()):
    bench = TestBench(folder)
    rows = [row for row in bench.rows() if row["code"] == 0]
    reaching = defaultdict(list)
    for row in rows:
        for number in row["reached"]:
            reaching[number].append(row)
    waiting = [each for each in bench.mutants if each["number"] in numbers] if numbers else bench.mutants
    waiting = [each for each in waiting if numbers or not (folder / f"caught/{each['number']}.json").is_file()]
    with ThreadPool(JOBS) as pool:
        pool.starmap(bench.try_mutant, [(mutant, reaching[mutant["number"]]) for mutant in waiting], chunksize=1)
