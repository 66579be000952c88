"""What is told of programs by their HLO text."""

from __future__ import annotations

from textwrap import dedent

from xlalint.verify import hlo

_PROGRAM = dedent(
    """\
    %body.3 (arg.4: f32[4]) -> f32[4] {
      %arg.4 = f32[4]{0} parameter(0)
      %_0.4 = f32[] constant(0), metadata={op_type="Const" op_name="gru/zeros_like/_0" source_line=10}
      %_0.5 = f32[4]{0} broadcast(f32[] %_0.4), dimensions={}
      ROOT %add.6 = f32[4]{0} add(f32[4]{0} %arg.4, f32[4]{0} %_0.5)
    }
    """
)


def test_constants_that_are_named_by_a_counter_make_no_other_program() -> None:
    again = _PROGRAM.replace("%_0.", "%_1.").replace("zeros_like/_0", "zeros_like/_1")
    assert again != _PROGRAM
    assert hlo.same_program(_PROGRAM, again)


def test_other_numbers_or_other_operands_make_another_program() -> None:
    assert not hlo.same_program(_PROGRAM, _PROGRAM.replace("constant(0)", "constant(1)"))
    doubled = _PROGRAM.replace(
        "f32[4]{0} %arg.4, f32[4]{0} %_0.5", "f32[4]{0} %arg.4, f32[4]{0} %arg.4"
    )
    assert doubled != _PROGRAM
    assert not hlo.same_program(_PROGRAM, doubled)
