"""Every way in which recast writes a model: by the command, the Python module and a fleet.

Each takes a command, its options as the Python module has them, the model and an empty folder, and returns the path of the model that was
written. An error is an exception. The package `onnx_recast` is imported where it is used: other checks do not need it.
"""

import subprocess

from support.common import RECAST


def run_recast(verb, options, model, *arguments, **streams):
    """Runs the command with the options of the Python module."""
    flags = [str(part) for name, value in options.items() for part in flag(name, value)]
    done = subprocess.run([RECAST, verb, model, *flags, "--quiet", *arguments], stderr=subprocess.PIPE, **streams)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.decode().strip()[:600]}")
    return done.stdout


def flag(name, value):
    """An option of the command."""
    if value is True:
        return [f"--{name.replace('_', '-')}"]
    return [f"--{name.replace('_', '-')}", ",".join(value) if isinstance(value, list) else value]


def to_file(verb, options, model, folder):
    run_recast(verb, options, model, "-o", folder / "model.onnx")
    return folder / "model.onnx"


def beside_the_model(verb, options, model, folder):
    run_recast(verb, options, model, "-o", model.parent / "output.onnx")
    return model.parent / "output.onnx"


def to_stdout(verb, options, model, folder):
    with open(folder / "model.onnx", "wb") as file:
        run_recast(verb, options, model, "-o", "-", "--external-data", "inline", stdout=file)
    return folder / "model.onnx"


def to_pipe(verb, options, model, folder):
    data = run_recast(verb, options, model, "-o", "-", "--external-data", "inline", stdout=subprocess.PIPE)
    (folder / "model.onnx").write_bytes(data)
    return folder / "model.onnx"


def in_place(verb, options, model, folder):
    run_recast(verb, options, model, "--in-place")
    return model


def to_folder(verb, options, model, folder):
    run_recast(verb, options, model, "--out-dir", folder)
    return folder / "model.onnx"


def to_data_file(verb, options, model, folder):
    run_recast(verb, options, model, "-o", folder / "model.onnx", "--external-data", "saved.data")
    return folder / "model.onnx"


def python_path(verb, options, model, folder):
    python_function(verb)(model, output=folder / "model.onnx", **options)
    return folder / "model.onnx"


def python_bytes(verb, options, model, folder):
    result = python_function(verb)(model.read_bytes(), base_dir=model.parent, external_data="inline", **options)
    (folder / "model.onnx").write_bytes(result.model)
    return folder / "model.onnx"


def python_function(verb):
    import onnx_recast

    return {"fold": onnx_recast.fold, "precision": onnx_recast.convert_precision}[verb]


def by_fleet(verb, options, model, folder):
    from onnx_recast import fleet

    step = {"fold": fleet.fold, "precision": fleet.precision}[verb](**options)
    job = fleet.Job(step, str(model.parent), str(folder / "models"))
    totals = fleet.run(job, str(folder / "manifest"), workers=1)
    if totals.outcomes != {"ok": 1}:
        raise RuntimeError(f"outcomes {totals.outcomes}")
    return folder / "models" / "model.onnx"


WAYS = {
    "file": to_file,
    "beside the model": beside_the_model,
    "stdout into a file": to_stdout,
    "stdout into a pipe": to_pipe,
    "in place": in_place,
    "folder": to_folder,
    "data file": to_data_file,
    "Python path": python_path,
    "Python bytes": python_bytes,
    "fleet": by_fleet,
}
