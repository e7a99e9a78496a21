"""Training with progress and Ctrl-C, evaluation, comparison, maps, what-if, the scikit-learn face."""
import os
import signal
import sys
import threading
import types

import numpy as np
import parsrec
import pytest
from conftest import SMALL


# ---- training ----

def test_training_reports(model):
    assert model.report["epochs"] == 2 and model.report["best_epoch"] in (1, 2)
    history = model.report["history"]
    assert list(history["number"]) == [1, 2] and history["loss"][1] < history["loss"][0]


def test_training_is_repeatable(model, data):
    again = parsrec.train(data, epochs=2, settings=SMALL, threads=2, baselines=False)
    assert again.path.read_bytes() == model.path.read_bytes()


def test_progress_is_shown(data, capsys):
    parsrec.train(data, epochs=1, settings=SMALL, baselines=False, progress=True)
    assert "epoch 1  loss" in capsys.readouterr().err


def test_progress_may_stop_the_run(data, tmp_path):
    seen = []

    def stop(p):
        seen.append(p)
        return p.stage == "training" and p.done > 0

    with pytest.raises(parsrec.Error) as caught:
        parsrec.train(data, epochs=3, settings=SMALL, baselines=False, path=tmp_path / "m", progress=stop)
    assert caught.value.name == "E_STOPPED" and seen[-1].total > 0
    resumed = parsrec.train(data, resume=tmp_path / "m.ckpt", path=tmp_path / "m", baselines=False)
    whole = parsrec.train(data, epochs=3, settings=SMALL, baselines=False)
    assert resumed.path.read_bytes() == whole.path.read_bytes()


def test_ctrl_c_stops_cleanly(data, tmp_path):
    def press(p):
        if p.stage == "training" and p.done > 0:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        parsrec.train(data, epochs=50, settings=SMALL, path=tmp_path / "m", progress=press)
    assert (tmp_path / "m.ckpt").exists() and not (tmp_path / "m").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_without_a_callback(data, tmp_path):
    timer = threading.Timer(.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        parsrec.train(data, epochs=100000, settings=SMALL, path=tmp_path / "m")
    timer.join()
    assert (tmp_path / "m.ckpt").exists()


def test_an_exception_in_a_callback_arrives(data):
    def fail(_):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        parsrec.train(data, epochs=1, settings=SMALL, progress=fail)
    with pytest.raises(LookupError, match="mine"):
        parsrec.train(data, epochs=5, settings=SMALL, on_epoch=fail)


def test_a_setting_may_be_true_or_false(data):
    made = parsrec.train(data, epochs=1, settings=dict(SMALL, mix=False), baselines=False)
    assert made.info()["settings"]["mix"] == "off"


def test_wrong_settings_get_the_sentence(data):
    with pytest.raises(parsrec.Error, match="dim.usr") as caught:
        parsrec.train(data, settings={"dim.usr": 3})
    assert caught.value.name == "E_CONFIG"
    with pytest.raises(parsrec.Error, match="parsrek"):
        parsrec.train(data, "parsrek")


def test_baselines_speak(data):
    made = parsrec.train(data, "pop")
    assert "NDCG@10" in made.report["baselines"]


# ---- evaluation ----

def test_evaluate(model, data):
    found = parsrec.evaluate(model)
    assert set(found.frame["protocol"]) == {"remaining", "next", "basket"}
    assert 0 < found["NDCG@10"] < 1
    assert found.value("Recall@10", "basket") > found.value("Recall@1", "basket")
    again = parsrec.evaluate(model, data, protocol="remaining", threads=2)
    assert again["NDCG@10"] == found["NDCG@10"] and again.reports["remaining"]["users"] == 60
    full = parsrec.evaluate(model, protocol="next", full=True, k=[3])
    assert full.reports["next"]["negatives"] == 0 and full["HR@3"] > 0
    with pytest.raises(KeyError):
        full["HR@10"]
    with pytest.raises(ValueError, match="protocol must be one of"):
        parsrec.evaluate(model, protocol="last")


def test_compare(data, tmp_path):
    found = parsrec.compare(data, ["pop", "personal"], folder=tmp_path, only_listed=True)
    assert (tmp_path / "report.html").exists()
    assert [m["model"] for m in found.models] == ["pop", "personal"]
    assert "NDCG@10" in str(found) and "<html" in found.to_html() and "|" in found.to_markdown()
    rows = [v for m, p, n, v in zip(*(found.frame[c] for c in ("model", "protocol", "measure", "value")))
            if (m, p, n) == ("personal", "remaining", "NDCG@10")]
    assert rows == [found.models[1]["metrics"]["NDCG@10"]]
    assert found.to_dict()


# ---- maps and what-if ----

def test_explain(model):
    found = model.explain(maps=["drop", "lift"], groups=["everybody", "user:K02"])
    assert found.groups[:2] == ["everybody", "user:K02"] and found.maps == ["drop", "lift"]
    lift = np.asarray(found.map("lift"))
    assert lift.shape == (len(found.names),) * 2 == (11, 11)
    assert np.nanmax(lift) > 0
    relations = found.relations("lift")
    assert set(relations["verdict"]) == {"confirmed"} and len(relations["sentence"]) > 0
    assert found.relations("lift", confirmed=False)["verdict"][0] != "confirmed"
    assert found.to_dict() and "<html" in found.to_html() and "everybody" in str(found)
    with pytest.raises(KeyError):
        found.map("attention")
    with pytest.raises(ValueError, match="group must be one of"):
        found.map("lift", "nobody")


def test_explain_saves(quick, data, tmp_path):
    quick.explain(data, items=True, top=4, maps="lift").save(tmp_path / "maps")
    assert (tmp_path / "maps" / "report.html").exists()


def test_maps_have_names(model):
    pandas = pytest.importorskip("pandas")
    found = model.explain(maps="lift").map()
    assert isinstance(found, pandas.DataFrame) and list(found.index) == list(found.columns)


def test_whatif(model, tmp_path):
    found = model.whatif(drop="category=FOOD > BAKERY", draws=2, resamples=20)
    frame = found.frame
    assert {"scenario", "category", "before", "after", "change"} <= set(frame)
    assert set(frame["question"]) == {"rechoice"} and "line" in set(frame["kind"])
    assert "total" in set(frame["kind"]) and set(frame["estimator"]) == {"rollout"}
    assert {"rollout", "expected"} <= set(found.estimators["estimator"])
    found.save(tmp_path / "answer")
    assert (tmp_path / "answer" / "report.csv").exists()
    assert found.to_dict() and "BAKERY" in str(found)
    with pytest.raises(parsrec.Error):
        model.whatif(drop="category=SHOES")


# ---- kinds of frames ----

class PolarsFrame(dict):
    """What the package needs of a polars frame, which Debian does not have: a dict of columns."""

    def __init__(self, columns):
        for name, values in columns.items():
            assert not (isinstance(values, np.ndarray) and values.dtype == object)
        super().__init__(columns)


def test_kinds_of_frames(quick, monkeypatch):
    try:
        parsrec.set_frames("numpy")
        assert isinstance(quick.recommend(["K02"]).to_frame(), dict)
        assert isinstance(quick.explain(maps="lift").map(), np.ndarray)
        monkeypatch.setitem(sys.modules, "polars", types.SimpleNamespace(DataFrame=PolarsFrame))
        parsrec.set_frames("polars")
        assert isinstance(quick.recommend(["K02"]).to_frame(), PolarsFrame)
        found = quick.explain(maps="lift")
        assert list(found.map()) == [""] + found.names
        assert parsrec.evaluate(quick, protocol="next")["MRR"] > 0
        with pytest.raises(ValueError, match="frames must be"):
            parsrec.set_frames("excel")
    finally:
        parsrec.set_frames("auto")


# ---- the face of scikit-learn ----

def test_recommender(frame, data):
    face = parsrec.Recommender("markov", user="user", threads=1)
    with pytest.raises(ValueError, match="not fitted"):
        face.predict(["K01"])
    assert face.fit(frame) is face
    items = face.predict(["K01", "K02"], k=3)
    assert items.shape == (2, 3) and items.dtype == object
    assert len(face.recommend(k=2)) == 60
    assert 0 < face.score() < 1 and 0 < face.score(data) < 1
    copy = parsrec.Recommender(**face.get_params())
    assert copy.get_params() == face.get_params()
    assert copy.set_params(model="pop").model == "pop"
    with pytest.raises(ValueError, match="no parameter 'size'"):
        copy.set_params(size=3)
