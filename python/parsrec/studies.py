"""Training, evaluation and comparison."""
from __future__ import annotations

import ctypes
import json
import pathlib
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _abi as abi
from ._frames import rows, table
from ._library import Call, Epoch, Handle, ProgressLike, choice, library, text, words
from .dataset import Dataset, Path, _Folder, plain
from .model import Model, _Report, setting_words

PROTOCOLS = ("remaining", "next", "basket")
SPLITS = ("test", "valid")


def train(dataset: Dataset, model: str = "parsrec", *, epochs: int = 0,
          settings: Optional[Mapping[str, Any]] = None, preset: Optional[str] = None,
          config: Optional[Path] = None, patience: int = 0, seed: int = 1, threads: int = 0,
          path: Optional[Path] = None, resume: Optional[Path] = None, baselines: bool = True,
          keep_checkpoint: bool = False, progress: ProgressLike = None,
          on_epoch: Any = None) -> Model:
    """Trains a model and returns it.

    :param model: parsrec, sasrec, bert4rec, or a counting model: pop, personal, recent, markov, mix.
    :param epochs: 0: as the settings say.
    :param settings: ``{"dim.user": 32}``; ``parsrec train --print-config`` lists them.
    :param preset: ``"paper"``; None: the defaults.
    :param config: a file of settings.
    :param patience: stop after this many epochs without improvement; 0: never.
    :param path: the model file; None: a temporary one, removed with the model.
    :param resume: a checkpoint to resume from. A run that was stopped leaves ``path`` + ".ckpt".
    :param baselines: compare the model with counting models at the end.
    :param progress: True shows it; a function gets :class:`parsrec.Progress` and stops the run by
        returning a true value.
    :param on_epoch: gets a :class:`parsrec.Epoch` after each epoch.
    :raises KeyboardInterrupt: after Ctrl-C. With ``path``, the checkpoint is written before.

    ``model.report`` has the epochs, the best one and the verdict against counting.
    """
    options = library.parsrec_train_default()
    options.model = None if resume is not None else text(model)
    options.preset, options.config_path, options.resume = text(preset), text(config), text(resume)
    options.set, options.set_count = words(setting_words(settings))
    options.epochs, options.patience, options.seed, options.threads = epochs, patience, seed, threads
    options.skip_baselines, options.keep_checkpoint = not baselines, keep_checkpoint
    folder = _Folder() if path is None else None
    target = folder.path / "model.st" if folder is not None else pathlib.Path(path)  # type: ignore[arg-type]
    report, epochs_seen = abi.parsrec_train_report(), []

    def keep(epoch: Epoch) -> Any:
        epochs_seen.append(epoch)
        return on_epoch(epoch) if on_epoch is not None else None

    Call(progress, keep).run(library.parsrec_train, dataset._handle.pointer, text(target),
                             ctypes.byref(options), ctypes.byref(report))
    out = Model(target)
    out._folder = folder  # type: ignore[attr-defined]
    out.report = plain(report)
    names = Epoch._fields[:-1]
    out.report["history"] = table({n: [getattr(e, n) for e in epochs_seen] for n in names})
    buffer = ctypes.create_string_buffer(2048)
    library.parsrec_baselines_text(ctypes.byref(report.baselines), buffer, len(buffer))
    out.report["baselines"] = buffer.value.decode("utf-8", "replace")
    return out


# ---- evaluation ----

def _eval_options(protocol: str, split: str, negatives: Optional[int], full: bool, k: Sequence[int],
                  exclude_seen: bool, seed: Optional[int], threads: int) -> Any:
    options = library.parsrec_eval_default()
    options.protocol = choice("protocol", protocol, PROTOCOLS)
    options.split = choice("split", split, SPLITS)
    if full or (negatives is None and protocol == "basket"):
        options.negatives = 0
    elif negatives is not None:
        options.negatives = negatives
    if not 0 < len(k) <= abi.CUTOFFS_MOST:
        raise ValueError("k must be 1 to %d cutoffs" % abi.CUTOFFS_MOST)
    options.k[: len(k)] = list(k)
    options.k_count = len(k)
    options.exclude_seen, options.threads = exclude_seen, threads
    if seed is not None:
        options.seed = seed
    return options


class Evaluation:
    """Measures of a model. ``evaluation["NDCG@10"]`` is a value of the first protocol."""

    def __init__(self, reports: Iterable[Any], protocols: Sequence[str]):
        #: One row per protocol and measure, with a 95 % confidence interval over users.
        self.frame: Any = rows([
            dict(protocol=protocol, measure=m.name.decode() + ("@%d" % m.k if m.k else ""),
                 value=m.value, low=m.low, high=m.high, random=m.random, repeat=m.repeat, fresh=m.fresh)
            for protocol, report in zip(protocols, reports) if report.users > 0
            for m in report.measures[: report.measure_count]])
        #: Users, baskets, steps and fingerprint of each protocol.
        self.reports: Dict[str, Dict[str, Any]] = {p: plain(r) for p, r in zip(protocols, reports)}

    def value(self, measure: str, protocol: Optional[str] = None) -> float:
        """One value, by the name of the measure: "HR@10"."""
        frame = self.frame
        for p, m, v in zip(frame["protocol"], frame["measure"], frame["value"]):
            if m == measure and protocol in (None, p):
                return float(v)
        raise KeyError(measure)

    def __getitem__(self, measure: str) -> float:
        return self.value(measure)

    def __repr__(self) -> str:
        return "<parsrec.Evaluation: %s>" % ", ".join(
            "%s, %d users" % (p, r["users"]) for p, r in self.reports.items())


def evaluate(model: Model, dataset: Optional[Dataset] = None, *,
             protocol: Union[None, str, Sequence[str]] = None, split: str = "test",
             negatives: Optional[int] = None, full: bool = False, k: Sequence[int] = (1, 5, 10),
             exclude_seen: bool = False, seed: Optional[int] = None, threads: int = 0,
             progress: ProgressLike = None) -> Evaluation:
    """Evaluates a model on sessions that it has not seen (docs/evaluation.md).

    :param dataset: None: the data in the model file.
    :param protocol: remaining, next, basket, or several; None: all three.
    :param split: test (the last session of each user) or valid (the one before).
    :param negatives: sampled items; None: 100, and with basket all items.
    :param full: rank against the whole catalogue.
    """
    protocols = list(PROTOCOLS) if protocol is None else [protocol] if isinstance(protocol, str) else list(protocol)
    options = (abi.parsrec_eval_options * len(protocols))(*[
        _eval_options(p, split, negatives, full, k, exclude_seen, seed, threads) for p in protocols])
    reports = (abi.parsrec_eval_report * len(protocols))()
    Call(progress).run(library.parsrec_eval_several, model._handle.pointer, model._data(dataset), options,
                       len(protocols), reports)
    return Evaluation(reports, protocols)


# ---- comparison ----

class Comparison(_Report):
    """Models side by side, with paired tests."""

    _text = library.parsrec_comparison_text

    def __init__(self, handle: Handle, folder: pathlib.Path, keep: Any):
        self._handle = handle
        self._keep = keep
        #: Models and reports.
        self.folder = folder
        #: One dict per model, as ``parsrec compare --json`` prints them.
        self.models: List[Dict[str, Any]] = json.loads(self._as(abi.TEXT_JSON_MODELS))
        #: One row per model, protocol and measure, with a 95 % confidence interval over users.
        self.frame: Any = rows([
            dict(model=one["model"], protocol=protocol, measure=measure, value=value, low=low, high=high)
            for one in self.models for protocol, report in _protocols(one)
            for measure, value in report["metrics"].items()
            for low, high in [report["intervals"].get(measure) or (None, None)]])

    def to_markdown(self) -> str:
        """The report as Markdown."""
        return self._as(abi.TEXT_MARKDOWN)

    def __repr__(self) -> str:
        return "<parsrec.Comparison: %s>" % ", ".join(str(m.get("model")) for m in self.models)


def _protocols(one: Dict[str, Any]) -> List[Any]:
    """Names and reports of the protocols in which a model was evaluated."""
    several = one.get("protocols") or {one["protocol"]: one}
    return [(name, report) for name, report in several.items() if report]


def compare(dataset: Dataset, models: Union[str, Iterable[str]], *, folder: Optional[Path] = None,
            epochs: int = 0, patience: int = 0, seed: int = 1, seeds: int = 0, jobs: int = 1,
            measure: Optional[str] = None, protocol: Optional[str] = None, split: str = "test",
            negatives: Optional[int] = None, full: bool = False, k: Sequence[int] = (1, 5, 10),
            exclude_seen: bool = False, only_listed: bool = False, retrain: bool = False,
            threads: int = 0, progress: ProgressLike = None) -> Comparison:
    """Trains and evaluates models alike (docs/compare.md).

    :param models: entries such as ``pop``, ``parsrec:epochs=5`` or ``old=@FILE``.
    :param folder: for models and reports; the same folder resumes a run. None: a temporary one.
    :param seeds: trainings of each learning model; 0: three, or one if the other two would take more than ten
        minutes.
    :param only_listed: do not add personal, recent, markov and mix.
    The other arguments are those of :func:`train` and :func:`evaluate`.
    """
    options = library.parsrec_compare_default()
    listed = models if isinstance(models, str) else ",".join(models)
    options.models, options.measure = text(listed), text(measure)
    options.epochs, options.patience, options.seed, options.seeds = epochs, patience, seed, seeds
    options.jobs, options.only_listed, options.retrain = jobs, only_listed, retrain
    how = [_eval_options(p, split, negatives, full, k, exclude_seen, None, threads)
           for p in (PROTOCOLS if protocol is None else [protocol])]
    options.eval = how[0]
    others = (abi.parsrec_eval_options * max(1, len(how) - 1))(*how[1:])
    options.others, options.other_count = others, len(how) - 1
    keep = _Folder() if folder is None else None
    target = keep.path if keep is not None else pathlib.Path(folder)  # type: ignore[arg-type]
    pointer = ctypes.c_void_p()
    Call(progress).run(library.parsrec_compare, ctypes.byref(pointer), text(dataset.path), text(target),
                       ctypes.byref(options))
    return Comparison(Handle(pointer.value, library.parsrec_comparison_free), target, (keep, dataset))
