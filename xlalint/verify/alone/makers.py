"""Objects that functions and constructors ask for: configurations with small sizes, layers, instances of the user's classes."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import itertools
import re
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xlalint.verify.alone import signatures
from xlalint.verify.alone.lazy import Lazy, resolved
from xlalint.verify.alone.scenes import Scene
from xlalint.verify.alone.usage import Usage

# Sizes that fit each other: 2 heads of 8, 16 features, at most 64 positions and words.
_SMALL: tuple[tuple[str, int], ...] = (
    (r"(num|n)_?(attention_|key_value_|kv_|query_)?heads?|.*(num|n)_.*heads|n_?head|attention_heads|num_heads", 2),
    (r"(num|n)_(hidden_|encoder_|decoder_|transformer_)?layers?|(encoder|decoder)_layers|n_layer|depth|num_hidden_groups|num_blocks|.*_num_layers|num_layers_.*", 2),
    (r"(encoder_|decoder_)?(intermediate|ffn|inner|mlp|feed_?forward)_(size|dim)|d_ff|n_inner|dim_feedforward", 32),
    (r"hidden_(size|dim)|d_model|n_embd|dim|embedding_size|emb_dim|embed_dim|word_embed_proj_dim|d_embed|model_dim|projection_dim|hidden_dims?|d_embedding", 16),
    (r"(vocab|vocabulary)_size|n_vocab|num_embeddings", 64),
    (r"max_(position_embeddings|length|seq_len\w*|sequence_length)|n_positions|n_ctx|max_.*positions|seq_length", 64),
    (r"head_dim|d_kv|d_head|key_dim|value_dim|attention_head_size|kv_size|head_size", 8),
    (r"(type_vocab|num_labels|num_classes)(_size)?", 2),
    (r"image_size|img_size|input_size", 32),
    (r"patch_size", 8),
    (r"num_channels|in_channels|channels", 3),
)  # fmt: skip
_SIZES = tuple((re.compile(pattern), size) for pattern, size in _SMALL)
_TRIES = 12
_DEPTH = 2


class Making:
    """Makes what candidates need, for one function in one scene. `module` is where to look for classes of configurations."""

    def __init__(
        self, scene: Scene, module: Any, owner: type | None = None, depth: int = 0
    ) -> None:
        self._scene = scene
        self._module = module
        self._owner = owner
        self._depth = depth
        self._sizes: dict[str, int] = {}

    def dimensions(self, names: Sequence[str]) -> tuple[int, ...]:
        for name in names:
            if name not in self._sizes:
                # Small and unlike each other, so that a mix-up shows.
                self._sizes[name] = int(name) if name.isdigit() else 4 + len(self._sizes)
        return tuple(self._sizes[name] for name in names)

    def layer(self) -> Any:
        keras = _keras_of(self._module)
        return Lazy("Dense(4)", lambda: keras.layers.Dense(4))

    def by_name(self, name: str) -> list[Any]:
        """Objects of Keras for constructors: a layer to wrap, a model, an optimizer."""
        keras = _keras_of(self._module)
        if re.search(r"layer|augmentation|cell|block|module", name):
            made: list[Any] = [self.layer()]
            if "cell" in name:
                made.insert(0, Lazy("SimpleRNNCell(4)", lambda: keras.layers.SimpleRNNCell(4)))
            return [*made, [self.layer()]]
        if re.search(r"model|network|backbone|encoder|decoder|generator|discriminator|net$", name):
            return [Lazy("a model of one Dense layer", functools.partial(_small_model, keras))]
        if "optimizer" in name:
            return [Lazy("SGD()", lambda: keras.optimizers.SGD(0.01))]
        if "loss" in name:
            return [Lazy("MeanSquaredError()", lambda: keras.losses.MeanSquaredError())]
        return []

    def configs(self, name: str) -> list[Any]:
        """Configurations of the class that the owner, the module or its package knows, with small sizes."""
        classes = [getattr(self._owner, "config_class", None), *_config_classes(self._module)]
        made = [config for cls in classes if inspect.isclass(cls) for config in self._config(cls)]
        return made[:2]

    def instances(self, cls: type, name: str) -> list[Any]:
        """An instance of `cls`, if values are found with which it can be made."""
        if "onfig" in cls.__name__ or dataclasses.is_dataclass(cls):
            made = self._config(cls)
            if made:
                return made
        if inspect.isabstract(cls) or self._depth >= _DEPTH:
            return []
        if cls.__module__.partition(".")[0] in (
            "tensorflow",
            "keras",
            "tf_keras",
        ) and cls.__name__ in ("Layer", "Model"):
            return self.by_name(cls.__name__.lower())
        arguments = self._arguments(cls)
        return (
            []
            if arguments is None
            else [Lazy(f"{cls.__name__}(...)", lambda: cls(**resolved(arguments)))]
        )

    def objects(self, name: str, usage: Usage) -> list[Any]:
        """An object with the attributes that are asked of it, each a small number where the name says so."""
        if not usage.fields and not usage.keys:
            return []
        return [Lazy(f"an object with {', '.join(sorted(usage.fields)[:4])}", lambda: Answering())]

    def _config(self, cls: type) -> list[Any]:
        try:
            parameters = signatures.parameters_of(signatures.constructor_of(cls), is_method=True)
        except (TypeError, ValueError):
            return []
        small = {one.name: size for one in parameters if (size := _size(one.name)) is not None}
        required = {
            one.name: value
            for one in parameters
            if not one.has_default and one.name not in small
            for value in self._candidates(one)[:1]
        }
        for arguments in ({**required, **small}, required):
            try:
                cls(**resolved(arguments))
            except Exception:
                continue
            return [
                Lazy(
                    f"{cls.__name__} with small sizes",
                    functools.partial(_small_config, cls, arguments),
                )
            ]
        return []

    def _arguments(self, cls: type) -> dict[str, Any] | None:
        try:
            required = [
                one
                for one in signatures.parameters_of(signatures.constructor_of(cls), is_method=True)
                if not one.has_default
            ]
        except (TypeError, ValueError):
            return None
        options = [self._candidates(one) for one in required]
        for values in itertools.islice(_one_at_a_time(options), _TRIES):
            arguments = {one.name: value for one, value in zip(required, values, strict=True)}
            try:
                cls(**resolved(arguments))
            except Exception:
                continue
            return arguments
        return None

    def _candidates(self, parameter: Any) -> list[Any]:
        from xlalint.verify.alone import guesses

        inner = Making(self._scene, self._module, None, self._depth + 1)
        return guesses.candidates(
            dataclasses.replace(parameter, is_setting=True), self._scene, inner
        ) or [None]


def _one_at_a_time(options: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """All first choices, then one other choice at a time."""
    if not all(options):
        return
    first = tuple(choice[0] for choice in options)
    yield first
    for index, choice in enumerate(options):
        for other in choice[1:]:
            yield (*first[:index], other, *first[index + 1 :])


def _size(name: str) -> int | None:
    return next((size for pattern, size in _SIZES if pattern.fullmatch(name)), None)


def _small_config(cls: type, arguments: dict[str, Any]) -> Any:
    return _shrunk(cls(**resolved(arguments)))


def _shrunk(config: Any) -> Any:
    """`config` with small sizes wherever it has larger ones."""
    for name in list(getattr(config, "__dict__", {})):
        size = _size(name)
        value = getattr(config, name, None)
        if size is not None and type(value) is int and value > size:
            try:
                setattr(config, name, size)
            except (AttributeError, TypeError, ValueError):
                continue
    return config


class Answering(types.SimpleNamespace):
    """Stands for a configuration of which only the attributes that are read are known."""

    def __getattr__(self, name: str) -> Any:
        from xlalint.verify.alone.guesses import setting_of

        if name.startswith("__"):
            raise AttributeError(name)
        size = _size(name)
        value = size if size is not None else setting_of(name)
        setattr(self, name, value)
        return value

    def __getitem__(self, name: str) -> Any:
        return getattr(self, str(name))

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, str(name))


def _config_classes(module: Any) -> list[type]:
    """Classes named *Config in a module: those imported there, the most specific name first."""
    found = [
        value
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and re.search(r"(Config|Configuration|HParams|Params|Settings)$", name)
    ]
    generic = {"PretrainedConfig", "Config", "BaseConfig"}
    return sorted(found, key=lambda cls: (cls.__name__ in generic, cls.__name__))


def _keras_of(module: Any) -> Any:
    """The Keras that the module itself uses."""
    for value in vars(module).values():
        name = getattr(value, "__name__", "")
        if isinstance(value, types.ModuleType) and name.partition(".")[0] == "tf_keras":
            return importlib.import_module("tf_keras")
        bases = getattr(value, "__mro__", ())
        if any(base.__module__.partition(".")[0] == "tf_keras" for base in bases):
            return importlib.import_module("tf_keras")
    return importlib.import_module("tensorflow").keras


def _small_model(keras: Any) -> Any:
    return keras.Sequential([keras.layers.Dense(4)])


Maker = Callable[[Scene], Making]
