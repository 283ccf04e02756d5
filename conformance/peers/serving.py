"""Runs a tool on models that are named on stdin. It has the standard library alone: it runs in the environments of the tools."""

import importlib
import json
import os
import signal
import sys


def serve(module, run, longest):
    """Answers each line, such as `[MODEL, OUTPUT]`, with `[EXIT_CODE, PROCESSOR_SECONDS, MEGABYTES]` of `run(MODEL, OUTPUT)`.

    The module of the tool is imported once; each run is a process of its own, for at most so many seconds, since a tool may crash.
    """
    importlib.import_module(module)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(longest)
                run(*json.loads(line))
                code = 0
            finally:
                os._exit(code)
        _, status, usage = os.wait4(child, 0)
        answer = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
