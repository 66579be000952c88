"""The same statements in another order or form; lines that are split keep their number in each part."""

from __future__ import annotations

import libcst as cst
from libcst import matchers as m

from benchmarks.rewritings.kinds import syntax


def named_results(program: cst.Module) -> cst.Module:
    """What is returned gets a name first."""
    return program.visit(_NamedResults())


def named_conditions(program: cst.Module) -> cst.Module:
    """The condition of an `if` gets a name first."""
    return program.visit(_NamedConditions())


def arms_for_early_returns(program: cst.Module) -> cst.Module:
    """What comes after an arm that returns goes into `else`."""
    return program.visit(_Else())


def early_returns_for_arms(program: cst.Module) -> cst.Module:
    """`else` after an arm that returns is left out."""
    return program.visit(_NoElse())


def one_return(program: cst.Module) -> cst.Module:
    """Where both arms return, they assign, and the function returns at its end."""
    return program.visit(_OneReturn())


def ternaries(program: cst.Module) -> cst.Module:
    """Two arms that assign one name become an expression."""
    return program.visit(_Ternaries())


def negated_conditions(program: cst.Module) -> cst.Module:
    """`if not ...`, with the arms exchanged."""
    return program.visit(_Negated())


def augmented_assignments(program: cst.Module) -> cst.Module:
    """`x = x + y` becomes `x += y`, and the other way round."""
    return program.visit(_Augmented())


def name_scopes(program: cst.Module) -> cst.Module:
    """Bodies of functions stand in a tf.name_scope."""
    return program.visit(_Scopes("with tf.name_scope('scope'):\n    pass\n"))


def blocks_that_always_run(program: cst.Module) -> cst.Module:
    """Bodies of functions stand in `if True`."""
    return program.visit(_Scopes("if True:\n    pass\n"))


def blocks_with_handlers(program: cst.Module) -> cst.Module:
    """Bodies of functions stand in `try ... finally`."""
    return program.visit(_Scopes("try:\n    pass\nfinally:\n    pass\n"))


def counted_loops(program: cst.Module) -> cst.Module:
    """`for i in range(n)` becomes a `while` that counts."""
    return program.visit(_Counted())


def _assignment(name: str, value: cst.BaseExpression) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(cst.Name(name))], value)


def _line_like(
    line: cst.SimpleStatementLine, statement: cst.BaseSmallStatement
) -> cst.SimpleStatementLine:
    """A statement on a line of its own, with the number of another line."""
    return cst.SimpleStatementLine([statement], trailing_whitespace=line.trailing_whitespace)


class _NamedResults(cst.CSTTransformer):
    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        last = updated_node.body[-1]
        if len(updated_node.body) > 1 or not isinstance(last, cst.Return):
            return updated_node
        if last.value is None or isinstance(last.value, cst.Name):
            return updated_node
        first = _line_like(updated_node, _assignment("result", last.value))
        second = _line_like(updated_node, cst.Return(cst.Name("result")))
        return cst.FlattenSentinel(
            [first.with_changes(leading_lines=updated_node.leading_lines), second]
        )


class _NamedConditions(cst.CSTTransformer):
    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        if isinstance(updated_node.test, cst.Name) or not isinstance(
            updated_node.body, cst.IndentedBlock
        ):
            return updated_node
        # What a kind or None is asked for says of the arms, it says under that name alone.
        if syntax.holds(updated_node.test, (cst.NamedExpr,)) or _asks_for_a_kind(updated_node.test):
            return updated_node
        line = cst.SimpleStatementLine(
            [_assignment("is_asked", updated_node.test)],
            trailing_whitespace=updated_node.body.header,
        )
        return cst.FlattenSentinel([line, updated_node.with_changes(test=cst.Name("is_asked"))])

    def visit_If(self, node: cst.If) -> bool:
        """`elif` cannot be split in two."""
        return not isinstance(node.orelse, cst.If)


def _asks_for_a_kind(test: cst.BaseExpression) -> bool:
    asked = m.Call(m.Name("isinstance") | m.Name("callable") | m.Name("hasattr"))
    is_main = m.Name("__name__")
    return bool(m.findall(test, asked | is_main | m.Is() | m.IsNot()))


class _InBlocks(cst.CSTTransformer):
    """Rewrites the statements of every block inside functions."""

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = self.rewritten(list(updated_node.body))
        return updated_node.with_changes(body=body)

    def rewritten(self, body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        raise NotImplementedError


def _assigned(statement: cst.BaseStatement) -> tuple[str | None, cst.BaseExpression | None]:
    """The name and the value, where a statement assigns one name."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        only = statement.body[0]
        if isinstance(only, cst.Assign) and len(only.targets) == 1:
            target = only.targets[0].target
            if isinstance(target, cst.Name) and not isinstance(only.value, cst.Tuple):
                return target.value, only.value
    return None, None


def _returns(block: cst.BaseSuite) -> bool:
    """Whether a block ends in `return`."""
    last = block.body[-1] if block.body else None
    if isinstance(last, cst.SimpleStatementLine):
        return isinstance(last.body[-1], cst.Return)
    return False


class _Else(_InBlocks):
    def rewritten(self, body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        for index, statement in enumerate(body[:-1]):
            if isinstance(statement, cst.If) and statement.orelse is None:
                if _returns(statement.body) and not isinstance(body[index + 1], cst.FunctionDef):
                    rest = cst.IndentedBlock(self.rewritten(body[index + 1 :]))
                    return [*body[:index], statement.with_changes(orelse=cst.Else(rest))]
        return body


class _NoElse(_InBlocks):
    def rewritten(self, body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        made: list[cst.BaseStatement] = []
        for statement in body:
            orelse = statement.orelse if isinstance(statement, cst.If) else None
            if isinstance(orelse, cst.Else) and isinstance(statement, cst.If):
                if _returns(statement.body) and isinstance(orelse.body, cst.IndentedBlock):
                    made += [statement.with_changes(orelse=None), *orelse.body.body]
                    continue
            made.append(statement)
        return made


class _OneReturn(_InBlocks):
    def rewritten(self, body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        if len(body) > 1 and isinstance(body[-2], cst.If) and body[-2].orelse is None:
            condition, last = body[-2], body[-1]
            if _returns(condition.body) and _returns(cst.IndentedBlock([last])):
                first = self.without_return(condition.body.body)
                second = self.without_return([last])
                if first and second:
                    made = condition.with_changes(
                        body=condition.body.with_changes(body=first),
                        orelse=cst.Else(cst.IndentedBlock(second)),
                    )
                    line = cst.parse_statement("return result\n")
                    return [*body[:-2], made, line]
        return body

    @staticmethod
    def without_return(body: object) -> list[cst.BaseStatement] | None:
        """The statements, of which the last one gives `result` its value."""
        *others, last = list(body)  # type: ignore[call-overload]
        returned = last.body[-1] if len(last.body) == 1 else None
        if not isinstance(returned, cst.Return) or returned.value is None:
            return None
        line = _line_like(last, _assignment("result", returned.value))
        return [*others, line.with_changes(leading_lines=last.leading_lines)]


class _Ternaries(cst.CSTTransformer):
    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.BaseStatement:
        arms = [updated_node.body, updated_node.orelse and updated_node.orelse.body]
        values = [
            _assigned(arm.body[0])  # type: ignore[arg-type]
            for arm in arms
            if isinstance(arm, cst.IndentedBlock) and len(arm.body) == 1
        ]
        if isinstance(updated_node.orelse, cst.If) or len(values) != 2:
            return updated_node
        (name, yes), (other, no) = values
        if name is None or name != other or yes is None or no is None:
            return updated_node
        choice = cst.IfExp(updated_node.test, _in_parentheses(yes), _in_parentheses(no))
        header = updated_node.body.header  # type: ignore[union-attr]
        return cst.SimpleStatementLine([_assignment(name, choice)], trailing_whitespace=header)

    def visit_If(self, node: cst.If) -> bool:
        return not isinstance(node.orelse, cst.If)


def _in_parentheses(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, (cst.Name, cst.Call, cst.Attribute, cst.Subscript)):
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


class _Negated(cst.CSTTransformer):
    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:
        orelse = updated_node.orelse
        if not isinstance(orelse, cst.Else) or not isinstance(orelse.body, cst.IndentedBlock):
            return updated_node
        if not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        test = cst.UnaryOperation(cst.Not(), _in_parentheses(updated_node.test))
        first = orelse.body.with_changes(header=updated_node.body.header)
        second = updated_node.body.with_changes(header=orelse.body.header)
        return updated_node.with_changes(
            test=test, body=first, orelse=orelse.with_changes(body=second)
        )


_AUGMENTED: dict[type[cst.BaseBinaryOp], type[cst.BaseAugOp]] = {
    cst.Add: cst.AddAssign,
    cst.Subtract: cst.SubtractAssign,
    cst.Multiply: cst.MultiplyAssign,
    cst.Divide: cst.DivideAssign,
}


class _Augmented(cst.CSTTransformer):
    def leave_Assign(
        self, original_node: cst.Assign, updated_node: cst.Assign
    ) -> cst.BaseSmallStatement:
        value, target = updated_node.value, updated_node.targets[0].target
        if not isinstance(value, cst.BinaryOperation) or len(updated_node.targets) > 1:
            return updated_node
        kind = _AUGMENTED.get(type(value.operator))
        if kind is None or not target.deep_equals(value.left):
            return updated_node
        return cst.AugAssign(target, kind(), value.right)

    def leave_AugAssign(
        self, original_node: cst.AugAssign, updated_node: cst.AugAssign
    ) -> cst.BaseSmallStatement:
        kinds = {augmented: plain for plain, augmented in _AUGMENTED.items()}
        kind = kinds.get(type(updated_node.operator))
        if kind is None or not m.matches(updated_node.target, m.Name() | m.Attribute()):
            return updated_node
        right = _in_parentheses(updated_node.value)
        value = cst.BinaryOperation(updated_node.target, kind(), right)  # type: ignore[arg-type]
        return cst.Assign([cst.AssignTarget(updated_node.target)], value)


class _Scopes(cst.CSTTransformer):
    """Puts the bodies of functions into a compound statement, whose own lines are new."""

    def __init__(self, around: str) -> None:
        self.around = around

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        body = updated_node.body
        if not isinstance(body, cst.IndentedBlock) or updated_node.name.value.startswith("__"):
            return updated_node
        has_docstring = updated_node.get_docstring() is not None
        first, rest = body.body[:has_docstring], body.body[has_docstring:]
        if not rest or not m.findall(updated_node, m.Name("tf")):
            return updated_node
        around = cst.parse_statement(self.around).with_changes(body=cst.IndentedBlock(rest))
        return updated_node.with_changes(body=body.with_changes(body=[*first, around]))


class _Counted(cst.CSTTransformer):
    def leave_For(
        self, original_node: cst.For, updated_node: cst.For
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        target, iterated = updated_node.target, updated_node.iter
        if not m.matches(iterated, m.Call(m.Name("range"), [m.Arg(keyword=None)])):
            return updated_node
        if not isinstance(target, cst.Name) or target.value == "_":
            return updated_node
        body = updated_node.body
        if not isinstance(body, cst.IndentedBlock) or syntax.holds(body, (cst.Continue,)):
            return updated_node
        bound = cst.ensure_type(iterated, cst.Call).args[0].value
        test = syntax.expression("{i} < {bound}", i=target, bound=_in_parentheses(bound))
        start = cst.SimpleStatementLine(
            [_assignment(target.value, cst.Integer("0"))], trailing_whitespace=body.header
        )
        step = cst.parse_statement(f"{target.value} += 1\n")
        loop = cst.While(test, body.with_changes(body=[*body.body, step]), updated_node.orelse)
        return cst.FlattenSentinel([start, loop])


REWRITINGS = (
    named_results,
    named_conditions,
    arms_for_early_returns,
    early_returns_for_arms,
    one_return,
    ternaries,
    negated_conditions,
    augmented_assignments,
    name_scopes,
    blocks_that_always_run,
    blocks_with_handlers,
    counted_loops,
)
