"""Recommendations for one, many and all users."""
import gc
import pickle
import threading

import numpy as np
import parsrec
import pytest


def pairs(answer):
    return list(zip(answer.items, answer.scores))


def test_one_user(model):
    answer = model.recommend("K02", ["1210"], k=4)
    assert len(answer) == 4 and answer.source == "model" and answer.unknown == []
    assert "1210" not in answer.items and set(answer.items) <= set(model.items)
    assert answer.scores == sorted(answer.scores, reverse=True)
    assert answer[0] == (answer.items[0], answer.scores[0]) == next(iter(answer))
    assert pairs(model.recommend("K02", ["Coffee beans"], k=4)) == pairs(answer)
    assert pairs(model.recommend("K02", "1210", k=4)) == pairs(answer)
    assert pairs(model.recommend("K02", [1210], k=4)) == pairs(answer)
    frame = answer.to_frame()
    assert list(frame["rank"]) == [1, 2, 3, 4] and list(frame["item"]) == answer.items


def test_the_filtered_way_gives_the_same(model):
    plain = model.recommend("K02", ["1210"], k=6)
    slow = model.recommend("K02", ["1210"], k=6, exclude=["1210"])
    assert pairs(plain) == pairs(slow)
    assert pairs(model.recommend(["K02"], ["1210"], k=6)[0]) == pairs(plain)


def test_all_items_and_more_than_before(model):
    assert len(model.recommend("K02", k=10)) == 10
    every = model.recommend("K02", k=1000)
    assert sorted(every.items) == sorted(model.items)
    assert len(model.recommend("K02", list(model.items)[:40] * 8, k=1000)) == 7
    with pytest.raises(parsrec.Error) as caught:
        model.recommend("K02", k=0)
    assert caught.value.name == "E_ARGUMENT"


def test_filters(model):
    first = model.recommend("K02").items
    assert first[0] not in model.recommend("K02", exclude=first[:2]).items
    assert sorted(model.recommend("K02", only=first[:2]).items) == sorted(first[:2])
    bakery = model.recommend("K02", categories="FOOD > BAKERY", k=50).items
    assert 0 < len(bakery) < 10
    rest = model.recommend("K02", exclude_categories=["FOOD > BAKERY"], k=50).items
    assert sorted(bakery + rest) == sorted(model.items)
    spread = model.recommend("K02", max_per_category=1, k=50).items
    assert len(spread) == 11
    with pytest.raises(parsrec.Error, match="no category"):
        model.recommend("K02", categories="SHOES")
    with pytest.raises(parsrec.Error, match="knows none of these"):
        model.recommend("K02", only=["zzz"])


def test_guests_and_unknown_things(model):
    assert model.recommend().source == "popular"
    assert model.recommend("nobody").source == "popular"
    assert model.recommend("nobody", ["1210"]).source == "anyone"
    answer = model.recommend("K02", ["zzz", "1210"], k=3)
    assert answer.unknown == ["zzz"] and pairs(answer) == pairs(model.recommend("K02", ["1210"], k=3))
    for call in (lambda: model.recommend("nobody", strict=True),
                 lambda: model.recommend("K02", ["zzz"], strict=True),
                 lambda: model.recommend(["nobody"], strict=True),
                 lambda: model.recommend(None, ["zzz"], strict=True)):
        with pytest.raises(parsrec.Error) as caught:
            call()
        assert caught.value.name == "E_NOT_FOUND"


def test_a_history_replaces_what_is_known(model):
    known, given = model.recommend("K02"), model.recommend("K02", history=["1280", "1077"])
    assert pairs(known) != pairs(given)


def test_reasons(model):
    why = model.recommend("K02", ["1210"], k=2, why=True).why
    assert list(why["because"]) == ["basket", "history", "user"] * 2
    assert why["basket_item"][0] == "1210" and why["sentence"][0].startswith("because of")


def test_all_users(model, data):
    answers = model.recommend(parsrec.ALL, k=5)
    assert len(answers) == data.info()["users"] == len(model.users)
    assert answers.items.shape == answers.scores.shape == (60, 5)
    for i, user in enumerate(model.users):
        assert pairs(answers[i]) == pairs(model.recommend(user, k=5))
    frame = answers.to_frame()
    assert len(frame["user"]) == 300 and list(frame["user"][:5]) == [model.users[0]] * 5
    assert set(answers.sources) == {"model"}


def test_many_users(model):
    users = ["K02", "nobody", None, "K01"]
    baskets = [["1210"], [], ["zzz"], ["1280", "Coffee beans"]]
    answers = model.recommend(users, k=3, baskets=baskets, threads=2)
    assert list(answers.sources) == ["model", "popular", "popular", "model"]
    assert answers.unknown == ["zzz"] and list(answers.users) == users
    for i in (0, 3):
        assert pairs(answers[i]) == pairs(model.recommend(users[i], baskets[i], k=3))
    short = model.recommend(np.array(["K02", "K01"]), k=4, only=["1210", "1280"])
    assert list(short.counts) == [2, 2] and short.items[0, 2] is None and np.isnan(short.scores[0, 3])
    assert len(short.to_frame()["user"]) == 4
    guests = model.recommend(baskets=[["1210"], ["1280"]], k=2)
    assert list(guests.sources) == ["anyone", "anyone"]
    with pytest.raises(ValueError, match="1 baskets for 2 users"):
        model.recommend(["K01", "K02"], baskets=[[]])
    assert len(model.recommend([], k=3)) == 0


def test_users_of_pandas(model):
    pandas = pytest.importorskip("pandas")
    answers = model.recommend(pandas.Series(["K02", "K01"]), k=3)
    assert isinstance(answers.to_frame(), pandas.DataFrame)


def test_tables_without_pandas(model, no_pandas):
    frame = model.recommend(["K02"], k=3).to_frame()
    assert isinstance(frame, dict) and list(frame["rank"]) == [1, 2, 3]


def test_threads_share_a_model(model):
    expected = {user: pairs(model.recommend(user)) for user in model.users[:20]}
    wrong = []

    def ask():
        for _ in range(20):
            for user, answer in expected.items():
                if pairs(model.recommend(user)) != answer:
                    wrong.append(user)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_files_and_names(model, data, tmp_path):
    loaded = model.save(tmp_path / "shop.model")
    assert pairs(parsrec.Model.load(tmp_path / "shop.model").recommend("K02")) == pairs(loaded.recommend("K02"))
    assert loaded.info()["kind"] == "parsrec" and loaded.info()["settings"]["dim.user"] == "8"
    assert model.item_names(["1210"]) == ["Coffee beans"] and len(model.item_names()) == 47
    with pytest.raises(parsrec.Error) as caught:
        parsrec.Model.load(data.path)
    assert caught.value.name == "E_FORMAT"


def test_a_counting_model_keeps_its_data(frame):
    counted = parsrec.Model.count(parsrec.Dataset.from_frame(frame), "pop")
    gc.collect()
    assert counted.recommend("K01", k=2).items == ["1210", "1028"]
    with pytest.raises(ValueError, match="has no file"):
        counted.save("x")
    with pytest.raises(parsrec.Error):
        parsrec.Model.count(parsrec.Dataset.from_frame(frame), "sasrec")


def test_a_scratch_outlives_its_model_object(frame):
    made = parsrec.Model.count(parsrec.Dataset.from_frame(frame), "pop")
    made.recommend("K01")
    own = made._local.own
    del made
    gc.collect()
    assert own.handle.pointer


def test_arrays_and_generators_are_lists_too(model):
    plain = pairs(model.recommend("K02", ["1210", "1280"], k=3))
    assert pairs(model.recommend("K02", np.array(["1210", "1280"]), k=3)) == plain
    assert pairs(model.recommend("K02", (i for i in ["1210", "1280"]), k=3)) == plain
    assert pairs(model.recommend(np.str_("K02"), ("1210", "1280"), k=3)) == plain
    two = model.recommend("K02", only=np.array(["1210", "1280"]), exclude=np.array([]))
    assert sorted(two.items) == ["1210", "1280"]
    with pytest.raises(parsrec.Error, match="knows none of these"):
        model.recommend("K02", only=(i for i in ["zzz"]))


def test_models_are_pickled_by_path(model, data, frame):
    assert pairs(pickle.loads(pickle.dumps(model)).recommend("K02")) == pairs(model.recommend("K02"))
    assert pickle.loads(pickle.dumps(data)).checksum == data.checksum
    with pytest.raises(TypeError, match="without a file cannot be pickled"):
        pickle.dumps(parsrec.Model.count(data, "pop"))


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(parsrec.Error(50, "a sentence")))
    assert (error.status, str(error), error.name) == (50, "a sentence", "E_INPUT")
