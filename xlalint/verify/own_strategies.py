"""A script's own strategy on a machine that has less than it asks for, or another strategy in its place.

`adapt` lets MirroredStrategy have the devices that there are, and gives strategies of several workers the cluster that is
there, whatever $TF_CONFIG the script sets. `substitute` gives the script a strategy of ours.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xlalint.verify import choices, jobs, local_coordinator
from xlalint.verify.jobs import Job
from xlalint.verify.patching import Patches
from xlalint.verify.sites import user_site
from xlalint.verify.standin import Event

_Hear = Callable[[Event], None]
_Made = Callable[[Any], Any]


def adapt(job: Job, tf: Any, hear: _Hear, made: _Made) -> None:
    """Let the script make its own strategies here. `made` hears of each."""
    patches = Patches()
    config = os.environ.get("TF_CONFIG") if job.task else None
    for cls in _classes(tf, (jobs.MIRRORED, jobs.ONE_DEVICE, jobs.CENTRAL_STORAGE)):
        patches.wrap(cls, "__init__", functools.partial(_with_devices_here, tf, hear, made))
    for cls in _classes(tf, (jobs.MULTI_WORKER,)):
        patches.wrap(cls, "__init__", functools.partial(_with_cluster, config, made))
    if config is not None:
        for cls in _classes(tf, (jobs.PARAMETER_SERVER,)):
            patches.wrap(cls, "__init__", functools.partial(_with_servers, tf, config, made))
    else:
        _without_servers(tf, patches, hear)


def substitute(tf: Any, strategy: Any, made: _Made) -> None:
    """Let every strategy that the script makes be `strategy`.

    `isinstance` with TPUStrategy says that it is one, as scripts branch on that; of other classes it tells the truth, on which
    Keras relies.
    """
    patches = Patches()
    for name, kind in choices.KINDS.items():
        for class_name in kind.class_names:
            for owner in _owners(tf):
                original = getattr(owner, class_name, None)
                if original is not None:
                    taken = strategy.__class__ if name == jobs.STANDIN else original
                    patches.put(
                        owner, class_name, _giver(class_name, taken, lambda: made(strategy))
                    )
    if not _has_servers(strategy):
        local_coordinator.replace(tf, patches)


def _giver(class_name: str, taken: type[Any], give: Callable[[], Any]) -> type[Any]:
    """A class under a strategy's name; making one gives what `give` does, and instances of `taken` are its own."""

    class Meta(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, taken)

    def new(cls: type[Any], *args: Any, **kwargs: Any) -> Any:
        return give()

    return Meta(class_name, (), {"__new__": new})


def _classes(tf: Any, names: Iterable[str]) -> list[type[Any]]:
    found = [
        vars(owner)[class_name]
        for name in names
        for class_name in choices.KINDS[name].class_names
        for owner in _owners(tf)
        if class_name in vars(owner)
    ]
    return list(dict.fromkeys(found))


def _owners(tf: Any) -> tuple[Any, ...]:
    return tuple(
        owner
        for api in (tf, tf.compat.v1)
        for owner in (api.distribute, api.distribute.experimental)
    )


def _with_devices_here(tf: Any, hear: _Hear, made: _Made, init: Any) -> Any:
    """The constructor, given those of its devices that exist, or CPUs in their place."""

    @functools.wraps(init)
    def constructed(strategy: Any, *args: Any, **kwargs: Any) -> None:
        named = (kwargs[key] for key in _DEVICES if key in kwargs)
        given: Any = args[0] if args else next(named, None)
        here = _devices_here(tf, given)
        if here is not None:
            names = [given] if isinstance(given, str) else list(given)
            told = f"{', '.join(names)}: not on this machine; {', '.join(here)} instead"
            hear(Event("absent-devices", told, *user_site()))
            replaced: Any = here[0] if isinstance(given, str) else here
            args = (replaced, *args[1:]) if args else args
            kwargs = {key: replaced if key in _DEVICES else value for key, value in kwargs.items()}
        init(strategy, *args, **kwargs)
        made(strategy)

    return constructed


_DEVICES = ("devices", "device", "compute_devices")


def _devices_here(tf: Any, given: Any) -> list[str] | None:
    """CPUs for devices of which some are absent, one for one as far as they go; None where all are here, or none named."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        return None
    try:
        wanted = [tf.DeviceSpec.from_string(_full(name)) for name in names]
    except ValueError:
        return None  # TensorFlow words its own complaint
    here = {
        kind: len(tf.config.list_logical_devices(kind))
        for kind in {str(one.device_type) for one in wanted}
    }
    if all((one.device_index or 0) < here[str(one.device_type)] for one in wanted):
        return None
    cpus = len(tf.config.list_logical_devices("CPU"))
    return [f"CPU:{index}" for index in range(min(len(wanted), cpus))]


def _full(name: str) -> str:
    """`gpu:0` as DeviceSpec reads it."""
    return (
        name.upper().replace("/DEVICE:", "/device:")
        if name.startswith("/")
        else f"/device:{name.upper()}"
    )


def _with_cluster(config: str | None, made: _Made, init: Any) -> Any:
    """The constructor in the cluster that is there; without one it is a single worker."""

    @functools.wraps(init)
    def constructed(strategy: Any, *args: Any, **kwargs: Any) -> None:
        _set_config(config)
        kwargs.pop("cluster_resolver", None)
        init(strategy, *[one for one in args if not hasattr(one, "cluster_spec")], **kwargs)
        made(strategy)

    return constructed


def _with_servers(tf: Any, config: str, made: _Made, init: Any) -> Any:
    @functools.wraps(init)
    def constructed(strategy: Any, cluster_resolver: Any = None, *args: Any, **kwargs: Any) -> None:
        _set_config(config)
        resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        init(strategy, resolver, *args, **kwargs)
        made(strategy)

    return constructed


def _without_servers(tf: Any, patches: Patches, hear: _Hear) -> None:
    """ParameterServerStrategy where there is no cluster: one device, and a coordinator that runs each function at once."""

    def give() -> Any:
        told = "ParameterServerStrategy has no servers in this run: one device holds the variables and runs the steps"
        hear(Event("no-servers", told, *user_site()))
        return tf.distribute.OneDeviceStrategy("/cpu:0")

    for class_name in choices.KINDS[jobs.PARAMETER_SERVER].class_names:
        for owner in (tf.distribute, tf.distribute.experimental):
            original = getattr(owner, class_name, None)
            if original is not None:
                patches.put(owner, class_name, _giver(class_name, original, give))
    local_coordinator.replace(tf, patches)


def _set_config(config: str | None) -> None:
    if config is None:
        os.environ.pop("TF_CONFIG", None)
    else:
        os.environ["TF_CONFIG"] = config


def _has_servers(strategy: Any) -> bool:
    return hasattr(strategy, "_cluster_coordinator")
