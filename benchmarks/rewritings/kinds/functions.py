"""Functions in other places: in closures and classes, behind decorators, with their arguments packed."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from benchmarks.rewritings.kinds import syntax


@dataclass(frozen=True, slots=True)
class Function:
    """A function at the top of a program, to be written down again."""

    node: cst.FunctionDef
    program: cst.Module

    @property
    def name(self) -> str:
        return self.node.name.value

    @property
    def class_name(self) -> str:
        return "Own" + "".join(word.title() for word in self.name.split("_"))

    @property
    def parameters(self) -> list[str]:
        return syntax.parameters(self.node) or []

    @property
    def arguments(self) -> str:
        """As the function hands its own arguments on."""
        return ", ".join(self.parameters)

    def code(
        self, name: str = "", first: str = "", decorator: str | None = "", depth: int = 0
    ) -> str:
        """The definition, with another name, one more parameter, another decorator (None: without one), deeper inside."""
        node = self.node.with_changes(leading_lines=[])
        if name:
            node = node.with_changes(name=cst.Name(name))
        if first:
            params = [cst.Param(cst.Name(first)), *node.params.params]
            node = node.with_changes(params=node.params.with_changes(params=params))
        if decorator != "":
            node = node.with_changes(decorators=[], lines_after_decorators=[])
        text = self.program.code_for_node(node)
        if decorator:
            text = f"@{decorator}\n{text}"
        return textwrap.indent(text, "    " * depth)

    @property
    def compiling(self) -> str:
        """`tf.function(jit_compile=True)` of its decorator."""
        return self.program.code_for_node(self.node.decorators[0].decorator)

    @property
    def options(self) -> str:
        """`jit_compile=True` of that."""
        decorator = self.node.decorators[0].decorator
        if not isinstance(decorator, cst.Call):
            return ""
        return ", ".join(self.program.code_for_node(arg).rstrip(", ") for arg in decorator.args)

    @property
    def compiled(self) -> str:
        """`tf.function({}, jit_compile=True)`, with the function's place to be filled."""
        return f"tf.function({{}}{', ' if self.options else ''}{self.options})"


def is_entry(function: Function) -> bool:
    """Whether it is compiled by a decorator of its own, `tf.function`, and by that alone."""
    decorators = function.node.decorators
    if len(decorators) != 1 or syntax.parameters(function.node) is None:
        return False
    decorator = decorators[0].decorator
    called = decorator.func if isinstance(decorator, cst.Call) else decorator
    return syntax.dotted(called) == "tf.function" and "\n" not in function.compiling


def is_helper(function: Function) -> bool:
    """Whether it is a plain function that another one calls."""
    return (
        not function.node.decorators
        and function.node.asynchronous is None
        and syntax.parameters(function.node) is not None
        and syntax.names_in(function.program).count(function.name) > 0
        and function.name not in _rebound(function.program)
    )


def _rebound(program: cst.Module) -> set[str]:
    """The names that the top of a module assigns: `step = tf.function(step)`."""
    return {
        target.target.value
        for small in syntax.statements(program.body)
        if isinstance(small, cst.Assign)
        for target in small.targets
        if isinstance(target.target, cst.Name)
    }


def each(
    program: cst.Module,
    wanted: Callable[[Function], bool],
    text: Callable[[Function], str],
    code: str = "",
) -> cst.Module:
    """The program with other text for its functions, and with more code after its imports where there are any."""
    chosen = {
        name: function
        for name, node in syntax.top_functions(program).items()
        if wanted(function := Function(node, program))
    }
    if not chosen:
        return program
    parts = []
    for statement in program.body:
        name = statement.name.value if isinstance(statement, cst.FunctionDef) else ""
        if name in chosen:
            parts.append("\n\n" + text(chosen[name]))
        else:
            parts.append(program.code_for_node(statement))
    made = cst.parse_module("".join(parts))
    return syntax.with_helpers(made, code) if code else made


def _has_parameters(function: Function) -> bool:
    return bool(function.parameters)


# How a function is compiled


def compiled_by_a_call(program: cst.Module) -> cst.Module:
    """`step = tf.function(step, ...)` after the function, and no decorator."""
    return each(program, is_entry, lambda f: f.code(decorator=None) + "\n\n" + _compiling_call(f))


def compiled_under_another_name(program: cst.Module) -> cst.Module:
    """`step = tf.function(plain_step, ...)`, and no decorator."""

    def text(function: Function) -> str:
        plain = f"plain_{function.name}"
        call = f"{function.name} = {function.compiled.format(plain)}\n"
        return f"{function.code(name=plain, decorator=None)}\n\n{call}"

    return each(program, is_entry, text)


def compiled_at_the_end(program: cst.Module) -> cst.Module:
    """`step = tf.function(step, ...)` after all functions, in a file that runs none of them itself."""
    calls: list[str] = []

    def text(function: Function) -> str:
        calls.append(_compiling_call(function))
        return function.code(decorator=None)

    if any(isinstance(statement, cst.If) for statement in program.body):
        return program
    made = each(program, is_entry, text)
    more = cst.parse_module("\n\n" + "".join(calls)).body
    return made.with_changes(body=[*made.body, *more]) if calls else program


def _compiling_call(function: Function) -> str:
    return f"{function.name} = {function.compiled.format(function.name)}\n"


def compiled_by_a_partial(program: cst.Module) -> cst.Module:
    """`compiled = functools.partial(tf.function, ...)` is the decorator."""

    def text(function: Function) -> str:
        partial = function.compiled.format("").replace(
            "tf.function(", "functools.partial(tf.function"
        )
        return f"compiled = {partial}\n\n\n" + function.code(decorator="compiled")

    return each(program, is_entry, text, "import functools\n")


def compiled_by_a_decorator_of_its_own(program: cst.Module) -> cst.Module:
    """A decorator of the program calls tf.function, and hands back a function with functools.wraps."""

    def text(function: Function) -> str:
        decorator = f"compiled_{function.name}"
        return (
            f"def {decorator}(function):\n"
            f"    fast = {function.compiled.format('function')}\n\n"
            "    @functools.wraps(function)\n"
            "    def run(*args, **kwargs):\n"
            "        return fast(*args, **kwargs)\n\n"
            "    return run\n\n\n" + function.code(decorator=decorator)
        )

    return each(program, is_entry, text, "import functools\n")


def compiled_out_of_a_table(program: cst.Module) -> cst.Module:
    """Functions stand in a dictionary, and a comprehension compiles all of it."""

    def text(function: Function) -> str:
        name = function.name
        return (
            f"{function.code(decorator=None)}\n\n"
            f'STEPS_{name.upper()} = {{"{name}": {name}}}\n'
            f"FAST_{name.upper()} = {{n: {function.compiled.format('f')} for n, f in STEPS_{name.upper()}.items()}}\n"
            f'{name} = FAST_{name.upper()}["{name}"]\n'
        )

    return each(program, is_entry, text)


def compiled_in_a_factory(program: cst.Module) -> cst.Module:
    """A function makes the compiled one, and returns it."""

    def text(function: Function) -> str:
        name = function.name
        return (
            f"def make_{name}():\n{function.code(depth=1)}\n    return {name}\n\n\n"
            f"{name} = make_{name}()\n"
        )

    return each(program, is_entry, text)


def run_by_a_strategy(program: cst.Module) -> cst.Module:
    """The compiled function hands its work to strategy.run."""

    def text(function: Function) -> str:
        name, arguments = function.name, function.arguments
        return (
            f"{function.code(name=f'{name}_replica', decorator=None)}\n\n"
            f"@{function.compiling}\ndef {name}({_head(function)}):\n"
            f"    return STRATEGY.run({name}_replica, args=({arguments},))\n"
        )

    code = "STRATEGY = tf.distribute.MirroredStrategy(['CPU:0'])\n"
    return each(program, lambda f: is_entry(f) and _has_no_defaults(f), text, code)


def _has_no_defaults(function: Function) -> bool:
    return _has_parameters(function) and all(p.default is None for p in function.node.params.params)


# Functions in functions


def in_a_closure(program: cst.Module) -> cst.Module:
    """The body of the compiled function is a function inside it."""

    def text(function: Function) -> str:
        inner = function.code(name="run", decorator=None, depth=1)
        head = f"@{function.compiling}\ndef {function.name}({_head(function)}):\n"
        return f"{head}{inner}\n    return run({function.arguments})\n"

    return each(program, is_entry, text)


def in_decorated_helpers(program: cst.Module) -> cst.Module:
    """Helpers have a decorator of the program's that uses functools.wraps."""
    code = (
        "import functools\n\n\ndef counted(function):\n"
        "    @functools.wraps(function)\n"
        "    def run(*args, **kwargs):\n"
        "        return function(*args, **kwargs)\n\n"
        "    return run\n\n\n"
    )
    return each(program, is_helper, lambda f: f.code(decorator="counted"), code)


def in_tables_of_helpers(program: cst.Module) -> cst.Module:
    """Helpers are called out of a dictionary."""

    def text(function: Function) -> str:
        return f'{function.code()}\n\nTABLE_{function.name.upper()} = {{"it": {function.name}}}\n'

    return _calling(program, text, lambda f: f'TABLE_{f.name.upper()}["it"]')


def by_getattr(program: cst.Module) -> cst.Module:
    """Helpers are static methods of a class, called through getattr."""

    def text(function: Function) -> str:
        method = function.code(decorator="staticmethod", depth=1)
        return f"class {function.class_name}:\n{method}"

    return _calling(program, text, lambda f: f'getattr({f.class_name}, "{f.name}")')


def _head(function: Function) -> str:
    """The parameters with their defaults, as code."""
    code = function.program.code_for_node(function.node.params)
    return " ".join(line.partition("#@")[0].strip() for line in code.splitlines())


class _Callers(cst.CSTTransformer):
    """Puts another expression for the helpers where they are called."""

    def __init__(self, others: dict[str, str]) -> None:
        self.others = others

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        other = self.others.get(syntax.dotted(updated_node.func) or "")
        return (
            updated_node.with_changes(func=cst.parse_expression(other)) if other else updated_node
        )


def _calling(
    program: cst.Module,
    text: Callable[[Function], str],
    called: Callable[[Function], str],
    code: str = "",
) -> cst.Module:
    """The program with its helpers written otherwise, and called so; their old names stay, for the footer."""
    others = {
        name: called(function)
        for name, node in syntax.top_functions(program).items()
        if is_helper(function := Function(node, program))
    }
    if not others:
        return program
    other_calls = program.visit(_Callers(others))

    def with_old_name(function: Function) -> str:
        made = text(function)
        defined = f"def {function.name}(" in made.replace("    def", "")
        return made if defined else f"{made}\n\n{function.name} = {others[function.name]}\n"

    return each(other_calls, lambda f: f.name in others, with_old_name, code)


# Functions in classes


def as_static_methods(program: cst.Module) -> cst.Module:
    """Helpers are static methods."""

    def text(function: Function) -> str:
        method = function.code(decorator="staticmethod", depth=1)
        return f"class {function.class_name}:\n{method}"

    return _calling(program, text, lambda f: f"{f.class_name}.{f.name}")


def as_class_methods(program: cst.Module) -> cst.Module:
    """Helpers are class methods."""

    def text(function: Function) -> str:
        method = function.code(first="cls", decorator="classmethod", depth=1)
        return f"class {function.class_name}:\n{method}"

    return _calling(program, text, lambda f: f"{f.class_name}.{f.name}")


def as_methods(program: cst.Module) -> cst.Module:
    """Helpers are methods of an object that is made once."""

    def text(function: Function) -> str:
        method = function.code(first="self", depth=1)
        made = f"{function.class_name.upper()} = {function.class_name}()\n"
        return f"class {function.class_name}:\n{method}\n\n{made}"

    return _calling(program, text, lambda f: f"{f.class_name.upper()}.{f.name}")


def as_callable_objects(program: cst.Module) -> cst.Module:
    """Helpers are objects with `__call__`."""
    return _objects(program, is_helper, "", "__call__")


def as_callable_modules(program: cst.Module) -> cst.Module:
    """Helpers are tf.Modules with `__call__`."""
    return _objects(program, is_helper, "(tf.Module)", "__call__")


def as_methods_of_new_objects(program: cst.Module) -> cst.Module:
    """Helpers are methods of objects that are made for each call."""

    def text(function: Function) -> str:
        return f"class {function.class_name}:\n{function.code(first='self', depth=1)}"

    return _calling(program, text, lambda f: f"{f.class_name}().{f.name}")


def compiled_methods(program: cst.Module) -> cst.Module:
    """Compiled functions are methods, with their decorators."""
    return _objects(program, is_entry, "", "step")


def compiled_methods_of_modules(program: cst.Module) -> cst.Module:
    """Compiled functions are methods of tf.Modules."""
    return _objects(program, is_entry, "(tf.Module)", "__call__")


def _objects(
    program: cst.Module, wanted: Callable[[Function], bool], bases: str, method: str
) -> cst.Module:
    def text(function: Function) -> str:
        code = function.code(name=method, first="self", depth=1)
        made = f"{function.class_name}()" + ("" if method == "__call__" else f".{method}")
        return f"class {function.class_name}{bases}:\n{code}\n\n{function.name} = {made}\n"

    return each(program, wanted, text)


def methods_that_heirs_fill_in(program: cst.Module) -> cst.Module:
    """The compiled method of a base class calls one that the heir defines."""

    def text(function: Function) -> str:
        name, arguments = function.class_name, function.arguments
        return (
            f"class {name}Base:\n    @{function.compiling}\n"
            f"    def step(self, {_head(function)}):\n        return self.work({arguments})\n\n"
            f"    def work(self, {_head(function)}):\n        raise NotImplementedError\n\n\n"
            f"class {name}({name}Base):\n{function.code(name='work', first='self', decorator=None, depth=1)}\n\n"
            f"{function.name} = {name}().step\n"
        )

    return each(program, lambda f: is_entry(f) and _has_parameters(f), text)


def methods_that_heirs_call(program: cst.Module) -> cst.Module:
    """The compiled method of an heir calls super()."""

    def text(function: Function) -> str:
        name, arguments = function.class_name, function.arguments
        return (
            f"class {name}Base:\n{function.code(name='step', first='self', decorator=None, depth=1)}\n\n"
            f"class {name}({name}Base):\n    @{function.compiling}\n"
            f"    def step(self, {_head(function)}):\n        return super().step({arguments})\n\n\n"
            f"{function.name} = {name}().step\n"
        )

    return each(program, lambda f: is_entry(f) and _has_parameters(f), text)


def as_keras_layers(program: cst.Module) -> cst.Module:
    """What is compiled without AutoGraph is the `call` of a layer, compiled from outside."""

    def text(function: Function) -> str:
        name, call = function.class_name, function.code("call", "self", None, 1)
        return (
            f"class {name}(tf.keras.layers.Layer):\n{call}\n\n"
            f"{function.name} = {function.compiled.format(f'{name}()')}\n"
        )

    return each(program, lambda f: is_entry(f) and _is_unconverted(f), text)


def as_keras_models(program: cst.Module) -> cst.Module:
    """What is compiled without AutoGraph is a method that the `call` of a model calls."""

    def text(function: Function) -> str:
        name, head, arguments = function.class_name, _head(function), function.arguments
        return (
            f"class {name}(tf.keras.Model):\n"
            f"    def call(self, {head}):\n        return self.work({arguments})\n\n"
            f"{function.code(name='work', first='self', decorator=None, depth=1)}\n\n"
            f"{function.name} = {function.compiled.format(f'{name}()')}\n"
        )

    return each(program, lambda f: is_entry(f) and _is_unconverted(f), text)


def _is_unconverted(function: Function) -> bool:
    """Whether AutoGraph has nothing to convert: Keras converts nothing."""
    kinds = (cst.If, cst.While, cst.For, cst.IfExp, cst.BooleanOperation, cst.Assert)
    unconverted = "autograph=False" in function.compiling
    return _has_parameters(function) and (unconverted or not syntax.holds(function.node, kinds))


def settings_in_init(program: cst.Module) -> cst.Module:
    """Parameters with defaults that no call gives are attributes of a callable object, set in `__init__`."""
    calls = _keywords_and_places(program)

    def is_wanted(function: Function) -> bool:
        settings = _settings(function)
        most = len(function.parameters) - len(settings)
        return (
            is_helper(function)
            and bool(settings)
            and all(n <= most and not given & set(settings) for n, given in calls[function.name])
        )

    def text(function: Function) -> str:
        settings = _settings(function)
        own = [p for p in function.node.params.params if p.default is not None]
        head = ", ".join(
            f"{p.name.value}={program.code_for_node(p.default)}" for p in own if p.default
        )
        kept = [p for p in function.node.params.params if p.default is None]
        shorter = function.node.with_changes(params=function.node.params.with_changes(params=kept))
        attributes = {name: f"self.{name}" for name in settings}
        node = shorter.with_changes(body=shorter.body.visit(_Attributes(attributes)))
        lines = "".join(f"        self.{name} = {name}\n" for name in settings)
        call = Function(node, program).code(name="__call__", first="self", depth=1)
        return (
            f"class {function.class_name}:\n    def __init__(self, {head}):\n{lines}\n{call}\n\n"
            f"{function.name} = {function.class_name}()\n"
        )

    return each(program, is_wanted, text)


def _settings(function: Function) -> list[str]:
    """The parameters with defaults that the body does not assign to."""
    params = function.node.params.params
    return [p.name.value for p in params if p.default is not None]


def _keywords_and_places(program: cst.Module) -> dict[str, list[tuple[int, set[str]]]]:
    """Of each call by name: how many arguments are given by place, and which by keyword."""
    found: dict[str, list[tuple[int, set[str]]]] = {n: [] for n in syntax.top_functions(program)}

    class Calls(cst.CSTVisitor):
        def visit_Call(self, node: cst.Call) -> None:
            name = syntax.dotted(node.func) or ""
            keywords = {arg.keyword.value for arg in node.args if arg.keyword}
            found.setdefault(name, []).append((len(node.args) - len(keywords), keywords))

    program.visit(Calls())
    return found


class _Attributes(cst.CSTTransformer):
    """Puts attributes of `self` for names; keywords of calls and attributes of other things keep theirs."""

    def __init__(self, others: dict[str, str]) -> None:
        self.others = others

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return not isinstance(node.value, cst.Name) or node.value.value in self.others

    def visit_Arg(self, node: cst.Arg) -> bool:
        return True

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        other = self.others.get(updated_node.value)
        return cst.parse_expression(other) if other else updated_node


# How arguments come in


def arguments_in_a_dictionary(program: cst.Module) -> cst.Module:
    """The compiled function takes one dictionary."""
    return _packed(
        program,
        lambda f: "",
        lambda f: "{" + ", ".join(f'"{name}": {name}' for name in f.parameters) + "}",
        '{name} = inputs["{name}"]',
    )


def arguments_in_a_tuple(program: cst.Module) -> cst.Module:
    """The compiled function takes one tuple."""
    return _packed(
        program,
        lambda f: "",
        lambda f: "(" + "".join(f"{name}, " for name in f.parameters) + ")",
        "",
    )


def arguments_in_a_named_tuple(program: cst.Module) -> cst.Module:
    """The compiled function takes a typing.NamedTuple."""

    def code(function: Function) -> str:
        fields = "".join(f"    {name}: tf.Tensor\n" for name in function.parameters)
        return f"class {function.class_name}(NamedTuple):\n{fields}\n\n"

    more = "from typing import NamedTuple\n"
    return _packed(program, code, _made_by_class, "{name} = inputs.{name}", more, _class_of)


def arguments_in_a_dataclass(program: cst.Module) -> cst.Module:
    """A dataclass is made inside, and handed to the rest of the function."""

    def code(function: Function) -> str:
        fields = "".join(f"    {name}: tf.Tensor\n" for name in function.parameters)
        return f"@dataclasses.dataclass\nclass {function.class_name}:\n{fields}\n\n"

    def text(function: Function) -> str:
        lines = "".join(f"    {name} = inputs.{name}\n" for name in function.parameters)
        made = _made_by_class(function)
        return (
            code(function)
            + _with_first_lines(
                function, "inputs", lines, f"{function.name}_of", None, function.class_name
            )
            + f"\n\n@{function.compiling}\ndef {function.name}({_head(function)}):\n"
            + f"    return {function.name}_of({made})\n"
        )

    return each(program, lambda f: is_entry(f) and _has_parameters(f), text, "import dataclasses\n")


def _made_by_class(function: Function) -> str:
    return f"{function.class_name}({', '.join(f'{n}={n}' for n in function.parameters)})"


def _class_of(function: Function) -> str:
    return function.class_name


def _packed(
    program: cst.Module,
    before: Callable[[Function], str],
    packed: Callable[[Function], str],
    line: str,
    code: str = "",
    annotation: Callable[[Function], str] = lambda function: "",
) -> cst.Module:
    def text(function: Function) -> str:
        lines = "".join(f"    {line.format(name=name)}\n" for name in function.parameters)
        if not line:
            lines = f"    {function.arguments}, = inputs\n"
        body = _with_first_lines(
            function,
            "inputs",
            lines,
            f"{function.name}_of",
            function.compiling,
            annotation(function),
        )
        head = f"\n\ndef {function.name}({_head(function)}):\n"
        return f"{before(function)}{body}{head}    return {function.name}_of({packed(function)})\n"

    return each(program, lambda f: is_entry(f) and _has_parameters(f), text, code)


def _with_first_lines(
    function: Function,
    parameter: str,
    lines: str,
    name: str,
    decorator: str | None,
    annotation: str,
) -> str:
    """The definition with one parameter, and with these lines where its body begins."""
    node = function.node
    written = cst.Annotation(cst.Name(annotation)) if annotation else None
    params = cst.Parameters([cst.Param(cst.Name(parameter), written)])
    block = cst.ensure_type(
        cst.parse_module(f"def f():\n{lines}").body[0], cst.FunctionDef
    ).body.body
    body = node.body.with_changes(body=[*block, *node.body.body])
    return Function(node.with_changes(params=params, body=body), function.program).code(
        name=name, decorator=decorator
    )


REWRITINGS = (
    compiled_by_a_call,
    compiled_under_another_name,
    compiled_at_the_end,
    compiled_by_a_partial,
    compiled_by_a_decorator_of_its_own,
    compiled_out_of_a_table,
    compiled_in_a_factory,
    run_by_a_strategy,
    in_a_closure,
    in_decorated_helpers,
    in_tables_of_helpers,
    by_getattr,
    as_static_methods,
    as_class_methods,
    as_methods,
    as_methods_of_new_objects,
    as_callable_objects,
    as_callable_modules,
    compiled_methods,
    compiled_methods_of_modules,
    methods_that_heirs_fill_in,
    methods_that_heirs_call,
    as_keras_layers,
    as_keras_models,
    settings_in_init,
    arguments_in_a_dictionary,
    arguments_in_a_tuple,
    arguments_in_a_named_tuple,
    arguments_in_a_dataclass,
)
