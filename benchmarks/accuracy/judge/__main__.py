"""Judge check's findings on a package by compiling small calls of its functions.

    xlalint check --no-cache --format json --exit-zero PACKAGE_FOLDER > findings.json
    TF_USE_LEGACY_KERAS=1 python benchmarks/accuracy/judge PROGRAMS --findings findings.json --root FOLDER [--only WORD]

Runs in an environment where the package can be imported. PROGRAMS is a module of benchmarks/accuracy/judge/programs.
Prints one line per program, then writes verdicts and misses as tab-separated lines to --output.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from compiler import Judgement, judge
from program import Program
from verdicts import Package, judged, missed


def main() -> int:
    """Judge all programs of one module."""
    arguments = _arguments()
    programs = importlib.import_module(f"programs.{arguments.programs}").programs
    package = Package(programs.package, arguments.root)
    findings = _findings(arguments.findings, programs.package)
    lines = []
    for program in programs.all:
        if arguments.only in program.name:
            lines += _judge_one(program, package, findings)
            arguments.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", help="module of benchmarks/accuracy/judge/programs")
    parser.add_argument("--findings", type=Path, required=True, help="JSON report of xlalint check")
    parser.add_argument("--root", type=Path, required=True, help="folder that holds the package")
    parser.add_argument("--output", type=Path, required=True, help="file for verdicts and misses")
    parser.add_argument("--only", default="", help="programs whose name holds this")
    return parser.parse_args()


def _findings(report: Path, name: str) -> list[dict[str, object]]:
    """The report's findings, paths cut to start with the package's folder."""
    found = json.loads(report.read_text(encoding="utf-8"))["findings"]
    findings = [finding for finding in found if f"/{name}/" in f"/{finding['path']}"]
    for finding in findings:
        # Packages often lie in a folder of the same name, so the last one counts.
        finding["path"] = name + "/" + ("/" + finding["path"]).rsplit(f"/{name}/", 1)[-1]
    return findings


def _judge_one(program: Program, package: Package, findings: list[dict[str, object]]) -> list[str]:
    try:
        call = program.make()
        said = judge(call)
    except Exception as error:
        print(
            f"{program.name}: could not build: {type(error).__name__}: {str(error)[:300]}",
            flush=True,
        )
        return [
            f"build\t{program.name}\t{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        ]
    lines = [
        "\t".join(
            (
                f"{package.name}",
                v.path,
                str(v.line),
                v.code,
                v.severity,
                v.verdict,
                v.program,
                v.evidence,
            )
        )
        for v in judged(package, program.name, said, findings)
        if v.code not in call.not_judged
    ]
    miss = missed(package, program.name, said, findings)
    # Without a place, such as for an argument of strings, the failure may well be what a finding says.
    is_said = miss is not None and miss.place == "?" and any("\tright\t" in line for line in lines)
    if miss is not None and not is_said:
        lines.append(f"miss\t{miss.program}\t{miss.stage}\t{miss.place}\t{miss.message}")
    print(f"{program.name}: {_words(said)}", flush=True)
    for line in lines:
        print(f"    {line}", flush=True)
    return lines


def _words(said: Judgement) -> str:
    stages = (
        ("eager", said.eager),
        ("trace", said.traced),
        ("compile", said.compiled),
        ("gradient", said.gradient),
    )
    words = [
        f"{name} {'ok' if o.is_ok else 'FAILS: ' + o.message}"
        for name, o in stages
        if o is not None
    ]
    return "; ".join(words) + ("" if said.agrees is not False else "; OTHER NUMBERS THAN EAGER")


if __name__ == "__main__":
    sys.exit(main())
