"""Python functions in processes of their own."""

import multiprocessing
import os
import pickle
import signal

LONGEST = 60  # Seconds.


def in_processes(function, items, chunksize=1, restart_after=None):
    """The results of a function on all cores, in any order; a process ends after `restart_after` chunks, and a new one takes its place."""
    with multiprocessing.Pool(os.cpu_count(), maxtasksperchild=restart_after) as pool:
        yield from pool.imap_unordered(function, items, chunksize)


def in_child(function, seconds=LONGEST):
    """The result of a function; none if it ends the process, as onnxruntime does on some nodes that are not valid."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(seconds)
            with os.fdopen(writer, "wb") as file:
                pickle.dump(function(), file)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None
