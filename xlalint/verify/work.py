"""What a child does with its job: set the hooks, run the user's code, take what was found through the stages, report."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from xlalint.isolation.channel import Channel
from xlalint.verify import hosted, jobs, members, notebook_program
from xlalint.verify.here import Here, leave, own_fault
from xlalint.verify.interpreter import Interpreter
from xlalint.verify.jobs import Job
from xlalint.verify.outputs import Outputs
from xlalint.verify.records import Environment, to_record
from xlalint.verify.taking import Taking
from xlalint.verify.training import Training


def main(job_file: str) -> None:
    """Do the job and leave without Python's shutdown, in which TensorFlow's threads may hang."""
    channel = Channel()
    job = jobs.read(job_file)
    sys.path.insert(0, job.first_path)
    sys.path += [folder for folder in _started_in(job) if folder not in sys.path]
    if job.cwd:
        os.chdir(job.cwd)
    sys.dont_write_bytecode = True  # no __pycache__ beside the user's files
    if job.kind == jobs.SERVER:
        members.serve(lambda: channel.emit({"kind": "serving"}))
    # The parent removes this folder, however this process ends.
    outputs = _outputs(Path(tempfile.gettempdir()), job)
    _Work(Here(job, channel, Interpreter()), outputs).do()
    channel.emit(to_record("environment", _environment()))
    channel.end()
    leave(0)


def _started_in(job: Job) -> Iterator[str]:
    """The folders that a program with these modules may be started in, from the inside out, as far as the folder that verify runs in:
    one of them says `from blocks import conv`, or `from models.net import Net` where folders have no `__init__.py`, or all have one.
    """
    for module in job.modules:
        file = Path(module.path)
        roots = [root for root in map(Path, job.roots) if root in file.parents]
        outermost = min(roots, key=lambda root: len(root.parts), default=file.parent)
        for folder in file.parents:
            yield str(folder)
            if folder == outermost:
                break


def _outputs(folder: Path, job: Job) -> Outputs:
    """Where this process writes: what it calls temporary, and what stands in for the user's own files."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    outputs = Outputs(folder / "outputs", map(Path, job.roots))
    outputs.start()
    return outputs


class _Work:
    def __init__(self, here: Here, outputs: Outputs) -> None:
        self._here = here
        self._outputs = outputs
        self._taking = Taking(here)

    def do(self) -> None:
        installed = self._here.watch()
        if self._here.job.kind == jobs.SCRIPT:
            self._taking.verify(self._training(self._script))
        elif self._here.job.kind == jobs.MODULES:
            self._modules()
        elif self._here.job.kind == jobs.ALONE:
            self._alone()
        elif self._here.job.kind == jobs.PROOF:
            self._prove()
        else:
            self._entry()
        for failure in installed.failures:
            self._here.note(f"{failure.library} is watched in part: {failure.error}")

    def _training(self, run: Callable[[], None]) -> Iterator[Any]:
        """Run a program that trains; the programs that it called."""
        return Training(self._here, self._outputs).of(run)

    def _script(self) -> None:
        sys.argv[:] = self._here.job.argv
        if self._here.job.is_module:
            runpy.run_module(self._here.job.run, run_name="__main__", alter_sys=True)
        elif self._here.job.has_ipython:
            notebook_program.run(self._here.job.run, hosted.names())
        else:
            runpy.run_path(self._here.job.run, run_name="__main__")

    # Functions

    def _modules(self) -> None:
        for module in self._here.job.modules:
            loaded = self._here.imported(module.name, module.path)
            if loaded is None:
                continue
            from xlalint.verify import found

            self._taking.verify(
                found.in_module(loaded, module.path, self._taking.begin, self._here.job.skip)
            )

    def _alone(self) -> None:
        """Functions that nothing calls."""
        loaded = self._sealed_module(self._taking.verify)
        if loaded is None:
            return
        from xlalint.verify import found
        from xlalint.verify.alone import drive

        (module,) = self._here.job.modules
        self._taking.verify(
            found.in_module(loaded, module.path, self._taking.begin, self._here.job.skip)
        )
        for wanted in self._here.job.wanted:
            is_known = wanted.identity in self._here.job.skip
            if not is_known and not self._taking.has_run(wanted):
                self._taking.search(drive.programs(wanted, loaded, self._watch()), wanted)

    def _sealed_module(self, use: Callable[[Iterator[Any]], None]) -> Any:
        """The job's module, None where its import fails; `use` is given the programs that it calls if it does work when it is
        imported. What is called from now on has made-up inputs, which must do no harm: hence the seal."""
        from xlalint.verify.alone.seal import Seal

        # Behind the seal, numba finds no place beside the module for what `@njit(cache=True)` compiles, and fails the import.
        os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / "numba"))
        seal = Seal(str(Path.cwd()))
        seal.close()
        (module,) = self._here.job.modules
        if self._here.job.does_work:
            loaded = self._import_as_script(module, use)
        else:
            loaded = self._here.imported(module.name, module.path)
        if loaded is not None:
            importlib.import_module("tensorflow")
            seal.let_nothing_start()
        return loaded

    def _prove(self) -> None:
        """Functions as they are, and as fixes rewrite them."""
        captured: list[Any] = []
        loaded = self._sealed_module(captured.extend)
        if loaded is None:
            return
        from xlalint.verify.proving.drive import Prover

        (module,) = self._here.job.modules
        folder = Path(tempfile.gettempdir()) / "rewritten"
        text = Path(module.path).read_bytes().decode("utf-8-sig")
        prover = Prover(loaded, text, folder, self._watch(), captured)
        for wanted in self._here.job.wanted:
            own = [
                one
                for one in self._here.job.rewrites
                if one.function == (wanted.line, wanted.qualname)
                and one.id not in self._here.job.skip
            ]
            if own:
                self._prove_those(prover, wanted, own)

    def _prove_those(self, prover: Any, wanted: Any, rewrites: Sequence[Any]) -> None:
        """The rewrites of one function."""
        from xlalint.fixes.proof import NOT_RUNNABLE, Proof
        from xlalint.verify.alone import drive

        place = (wanted.qualname, wanted.path, wanted.line, drive.ALONE)
        self._taking.begin(wanted.identity, *place)
        self._here.channel.emit({"kind": "stage", "stage": jobs.INPUTS, "so_far": None})
        try:
            scenes, why = self._here.contained(lambda: prover.scenes(wanted))
        except Exception as error:  # a fault of ours must not cost the other functions
            scenes, why = [], own_fault(error)
        self._here.channel.emit({"kind": "ended"})
        for rewrite in rewrites:
            self._taking.begin(rewrite.id, *place)
            self._here.channel.emit({"kind": "stage", "stage": jobs.PROOF, "so_far": None})
            try:
                prove = partial(prover.prove, rewrite, scenes)
                proof = self._here.contained(prove) if scenes else Proof(NOT_RUNNABLE, why)
            except Exception as error:
                proof = Proof(NOT_RUNNABLE, own_fault(error))
            self._here.channel.emit({"kind": "proof", "id": rewrite.id, "proof": proof.as_dict()})

    def _watch(self) -> Any:
        from xlalint.verify.alone import drive

        return drive.Watch(
            self._here.converted,
            self._here.runs,
            frozenset(self._here.job.avoid),
            lambda inputs: self._here.channel.emit({"kind": "try", "inputs": inputs}),
        )

    def _import_as_script(self, module: Any, use: Callable[[Iterator[Any]], None]) -> Any:
        """Import a module that trains when it is imported: for some steps, its calls captured as a script's are."""
        spec = importlib.util.spec_from_file_location(module.name, module.path)
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module.name] = loaded
        vars(loaded).update(hosted.names() if self._here.job.has_ipython else {})
        loader = spec.loader
        use(self._training(lambda: loader.exec_module(loaded)))
        return loaded

    def _entry(self) -> None:
        from xlalint.verify import found

        name = self._here.job.entry.partition(":")[0]
        if self._here.imported(name, name) is None:
            return
        try:
            entry = found.entry(self._here.job.entry, self._here.job.inputs)
        except found.EntryError as error:
            self._here.channel.emit(
                {"kind": "broken", "what": self._here.job.entry, "message": str(error)}
            )
            return
        if isinstance(entry, found.Training):
            self._taking.verify(self._training(entry.run))
        else:
            self._taking.verify(iter([entry]))


def _environment() -> Environment:
    def version(module: str) -> str:
        loaded = sys.modules.get(module)
        return str(getattr(loaded, "__version__", "")) if loaded is not None else ""

    return Environment(
        platform.python_version(), version("tensorflow"), version("keras"), version("tf_keras")
    )
