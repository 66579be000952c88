"""Compilations are counted from TensorFlow's own log, by phase."""

from __future__ import annotations

from xlalint.verify.compilelog import CompileLog

LINE = (
    "I0000 00:00:1795250672.1 4641 device_compilation_profiler.cc:93] Compiled {name} {count} times, "
    "compile time: 141283 us, cumulative: 282566 us"
)


def test_each_compilation_counts_in_the_phase_it_happened_in() -> None:
    log = CompileLog()
    log.line(LINE.format(name="__inference_warm_up_3", count=1))
    log.line("xlalint-phase: run")
    for count in (1, 2, 3):
        log.line(LINE.format(name="__inference_step_73", count=count))
    log.line("Epoch 1/2: loss 3.4")
    log.line(LINE.format(name="__inference_evaluate_8", count=1))
    log.line("xlalint-phase: targets")
    log.line(LINE.format(name="__inference_step_99", count=1))
    assert log.during("run") == {"step": 3, "evaluate": 1}
    assert log.during("targets") == {"step": 1}
    assert log.during("never") == {}


def test_a_function_traced_anew_is_the_same_function() -> None:
    log = CompileLog()
    log.line("xlalint-phase: run")
    log.line(LINE.format(name="__inference_step_73", count=1))
    log.line(LINE.format(name="__inference_step_112", count=1))
    assert log.during("run") == {"step": 2}
