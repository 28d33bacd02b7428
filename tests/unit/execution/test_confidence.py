"""R5, R22: the judge's bounds, its direction, and when a stream's beginning is enough."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.backend import BackendSpec
from hybridge.core.request import Message, Request, Tier
from hybridge.core.response import Token
from hybridge.execution import evidence, sureness
from hybridge.execution.confidence import CLEAR_TOKENS, FLAWED, Judge
from hybridge.execution.head import SHARED, Head, Model, Tree, shipped
from hybridge.execution.second import log_odds, same
from hybridge.execution.wanted import Wanted
from hybridge.learning.isotonic import Knots
from hybridge.learning.wordgrams import SKETCH

BOUND, HOLD = 0.7, 24
LOGPROBS = st.lists(st.floats(-12, 0), min_size=1, max_size=80)
JUDGE = Judge()
HEAD = shipped()


def asking(text: str) -> Wanted:
    return Wanted.of(Request("", "auto", (Message("user", text),), body={}))


PLAIN = asking("What is the capital of France?")
TEXTS = st.text(alphabet="abc 中文12.,\n`", max_size=200)
WANTED = st.sampled_from(
    [
        PLAIN,
        Wanted(),
        asking("把下面的句子翻译成英文：今天天气很好。"),
        asking("How many days are in 3 weeks? Just the number."),
        asking("Is this positive or negative? Answer with one word. I love it."),
    ]
)
SPECS = st.sampled_from(
    [None, *(BackendSpec("local", Tier.EDGE, "m", version=v) for v in ["", *HEAD.models])]
)
REASONS = st.sampled_from(["stop", "length", None])


def tokens(*probabilities: float) -> list[Token]:
    return [Token("word ", math.log(p)) for p in probabilities]


def judge(said: list[Token], text: str = "A sane sentence.", wanted: Wanted = PLAIN) -> float:
    confidence = JUDGE.confidence(said, text, finish_reason="stop", wanted=wanted, score=None)
    assert confidence is not None
    return confidence


def settled(said: list[Token], text: str = "A sane", wanted: Wanted = PLAIN) -> bool:
    return JUDGE.settled(said, text, hold_tokens=HOLD, wanted=wanted, bound=BOUND)


@pytest.mark.parametrize("length", [1, 3, 7])
def test_a_short_answer_of_likely_tokens_passes(length: int) -> None:
    assert judge(tokens(*[0.97] * length), "It is Paris." if length > 1 else "Paris") >= BOUND


@pytest.mark.parametrize("length", [1, 3, 8, 30])
def test_an_answer_of_unlikely_tokens_fails(length: int) -> None:
    assert judge(tokens(*[0.3] * length), "It is Paris." if length > 1 else "Paris") < BOUND


@given(LOGPROBS, TEXTS, WANTED, REASONS, SPECS, st.data())
def test_a_likelier_token_never_lowers_it_whoever_answered(
    logprobs: list[float],
    text: str,
    wanted: Wanted,
    reason: str | None,
    by: BackendSpec | None,
    data: st.DataObject,
) -> None:
    place = data.draw(st.integers(0, len(logprobs) - 1))
    better = [*logprobs]
    better[place] = data.draw(st.floats(logprobs[place], 0))
    before, after = (
        JUDGE.confidence(
            [Token("x", lp) for lp in said],
            text,
            finish_reason=reason,
            wanted=wanted,
            score=None,
            by=by,
        )
        for said in (logprobs, better)
    )
    assert before is not None
    assert after is not None
    assert after >= before - 1e-9


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40), TEXTS, WANTED, REASONS, SPECS)
def test_it_stays_between_nought_and_one_whatever_a_backend_sends(
    logprobs: list[float], text: str, wanted: Wanted, reason: str | None, by: BackendSpec | None
) -> None:
    said = [Token("x", logprob) for logprob in logprobs]
    told = JUDGE.confidence(said, text, finish_reason=reason, wanted=wanted, score=None, by=by)
    assert told is not None
    assert 0 < told < 1


def test_a_passage_of_doubt_counts_beyond_the_mean() -> None:
    low = sureness.NAMES.index("low")
    together = sureness.features([math.log(p) for p in [0.95] * 24 + [0.3] * 16])
    scattered = sureness.features([math.log(p) for p in ([0.95, 0.95, 0.3, 0.95, 0.3] * 8)])
    assert together[0] == pytest.approx(scattered[0])
    assert together[low] < scattered[low]


@given(LOGPROBS, TEXTS, WANTED, REASONS)
def test_evidence_is_finite_and_has_a_name(
    logprobs: list[float], text: str, wanted: Wanted, reason: str | None
) -> None:
    shown = evidence.features(logprobs, text, finish_reason=reason, wanted=wanted)
    assert len(shown) == len(evidence.NAMES)
    assert all(map(math.isfinite, shown))


def test_a_token_that_only_ends_the_answer_says_nothing() -> None:
    said = tokens(0.9, 0.9)
    assert judge([*said, Token("", math.log(0.01))]) == judge(said)


def toy(*trees: Tree, models: dict[str, Model] | None = None, **curves: Knots) -> Head:
    """A head whose log-odds are the trees' and whose curves are these, by version."""
    rise = Knots((-1.0, 1.0), (0.2, 0.8))
    every = {SHARED: rise} | curves
    rows = {version: {"en": curve, "zh": curve} for version, curve in every.items()}
    second = {"sample": {"agreed": [1.0, 1.0], "differed": [1.0, 0.0]}}
    return Head("toy", 0.0, trees, rows, models or {}, second)


def spec(version: str) -> BackendSpec:
    return BackendSpec("local", Tier.EDGE, "tiny", version=version)


def told(judge: Judge, by: BackendSpec | None) -> float | None:
    return judge.confidence(
        tokens(0.9), "Paris", finish_reason="stop", wanted=PLAIN, score=None, by=by
    )


def test_each_tree_adds_what_the_answers_to_its_questions_say() -> None:
    tree = Tree((0, 2, 2), (0.5, 1.5, 9.0), (1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0))
    head = toy(tree, tree)
    summed = [head.log_odds([a, 9, b], version="", wanted=PLAIN) for a in (0, 1) for b in (1, 2)]
    assert summed == [2.0, 4.0, 6.0, 8.0]


def test_weights_that_were_measured_add_trees_and_words_of_their_own() -> None:
    tree = Tree((0, 0, 0), (0.5, 0.5, 0.5), (1.0, 0, 0, 0, 0, 0, 0, 2.0))
    chinese, worth = asking("法国的首都是哪里？"), np.arange(SKETCH, dtype=np.float32)
    head = toy(tree, models={"v1": Model((tree,), {"zh": 0.25}, {"zh": worth})})
    assert head.log_odds([1.0], version="v2", wanted=chinese) == 2.0
    assert head.log_odds([1.0], version="v1", wanted=PLAIN) == 4.0
    said = head.log_odds([1.0], version="v1", wanted=chinese)
    assert said == pytest.approx(4.25 + float(worth @ chinese.sketch))


def test_what_models_are_asked_well_raises_their_confidence() -> None:
    """Beyond what their answers show: small models can repeat, and do not know Chinese poems."""
    easy, hard = (
        np.mean([asking(text).sketch for text in some], axis=0)
        for some in (
            ["请重复：今天下雨了。", "请原样输出这句话：我在北京。", "照抄一遍：小猫睡着了。"],
            [
                "“床前明月光”的下一句是什么？",
                "古诗接龙，请接下一句：春眠不觉晓",
                "写出下一句：红豆生南国",
            ],
        )
    )
    worth = np.mean([model.wording["zh"] for model in HEAD.models.values()], axis=0)
    assert worth @ easy > worth @ hard + 0.05


def test_weights_that_were_measured_have_a_calibration_of_their_own() -> None:
    judge = Judge(toy(v1=Knots((0.0,), (0.31,))))
    assert told(judge, spec("v1")) == 0.31
    assert told(judge, spec("v2")) == told(judge, None) == 0.5


def test_comparisons_of_the_operator_hold_for_their_backend_and_version() -> None:
    judge = Judge(toy())
    judge.recalibrate({("local", "v1"): Knots((0.0, 1.0), (0.0, 0.5))})
    assert told(judge, spec("v1")) == 0.25
    assert told(judge, spec("v2")) == 0.5
    judge.recalibrate({})
    assert told(judge, spec("v1")) == 0.5


@given(st.floats(0, 1), st.floats(0, 1) | st.none(), st.sampled_from(["sample", "model"]))
def test_agreement_never_lowers_it_and_difference_never_raises_it(
    before: float, other: float | None, source: str
) -> None:
    def after(second: str) -> float:
        said = JUDGE.with_second(
            before, "Paris", second, wanted=PLAIN, source=source, second_confidence=other
        )
        assert said is not None
        return said

    assert 0 <= after("Lyon") <= before + 1e-6
    assert before - 1e-6 <= after("It is Paris.") <= 1


@pytest.mark.parametrize(
    ("second", "outcome", "sign"), [("Paris", "agreed", 1), ("Lyon", "differed", -1)]
)
@pytest.mark.parametrize("source", ["sample", "model"])
def test_a_second_answer_weighs_what_was_fitted_for_whoever_gave_it(
    source: str, second: str, outcome: str, sign: int
) -> None:
    def shift(sure: float) -> float:
        after = JUDGE.with_second(
            0.5, "Paris", second, wanted=PLAIN, source=source, second_confidence=sure
        )
        assert after is not None
        return log_odds(after)

    level, slope = HEAD.second[source][outcome]
    assert shift(0.9) == pytest.approx(sign * (level + slope * 0.9))
    assert shift(0.2) == pytest.approx(sign * (level + slope * 0.2))


@pytest.mark.parametrize("second", ["", "I'm sorry, I can't help with that."])
def test_a_flawed_second_answer_changes_nothing(second: str) -> None:
    assert JUDGE.with_second(0.5, "Paris", second, wanted=PLAIN) == 0.5
    assert JUDGE.with_second(None, "Paris", "Paris", wanted=PLAIN) is None


@pytest.mark.parametrize(
    ("one", "other", "asked", "expected"),
    [
        ("Paris", "The capital of France is Paris.", PLAIN, True),
        ("The capital is Lyon.", "The capital of France is Paris.", PLAIN, False),
        ("北京", "中国的首都是北京。", asking("中国的首都是哪里？"), True),
        ("上海。", "中国的首都是北京。", asking("中国的首都是哪里？"), False),
        ("12", "3 weeks have 12 days, no: 21", asking("How many days? Only the number."), False),
        ("21", "21 days", asking("How many days are there? Only the number."), True),
        ("是", "是的，没错。", asking("只回答“是”或“否”：鲸是哺乳动物吗？"), True),
        ("Yes", "No", asking("Is it? Answer yes or no."), False),
        ("a", "A cat sat.", PLAIN, False),
    ],
)
def test_short_answers_are_the_same_in_a_sentence(
    one: str, other: str, asked: Wanted, expected: bool
) -> None:
    assert same(one, other, asked) is expected
    assert same(other, one, asked) is expected


def test_weights_that_were_measured_have_a_say_of_their_own_as_a_second() -> None:
    own = {"agreed": [2.0, 0.0], "differed": [3.0, 0.0]}
    head = toy(models={"v1": Model((), {}, {}, own), "v2": Model((), {}, {})})
    assert head.of_second("model", "v1") == own
    assert head.of_second("model", "v2") is None
    assert head.of_second("sample", "v1") == head.second["sample"]

    def after(second: str, version: str) -> float | None:
        return Judge(head).with_second(
            0.5, "Paris", second, wanted=PLAIN, source="model", version=version
        )

    assert after("Paris", "v1") == pytest.approx(1 / (1 + math.exp(-2)))
    assert after("Lyon", "v1") == pytest.approx(1 / (1 + math.exp(3)))
    assert after("Paris", "v2") == 0.5


def test_a_flaw_outweighs_sure_tokens() -> None:
    assert judge(tokens(*[0.99] * 30), "I'm sorry, I can't help with that.") == FLAWED < BOUND


@pytest.mark.parametrize(("text", "expected"), [("A sane sentence.", None), ("", FLAWED)])
def test_without_probabilities_only_a_flaw_is_known(text: str, expected: float | None) -> None:
    said = JUDGE.confidence([], text, finish_reason="stop", wanted=PLAIN, score=None)
    assert said == expected


def test_a_beginning_is_enough_after_the_held_tokens() -> None:
    assert not settled(tokens(*[0.6] * (HOLD - 1)))
    assert settled(tokens(*[0.6] * HOLD))


def test_a_clearly_good_beginning_is_let_go_early() -> None:
    sure = toy(Tree((0, 0, 0), (4.0, 9.0, 9.0), (-1.0, 0, 0, 0, 1.0, 0, 0, 0)))
    judge = Judge(sure)

    def is_settled(said: list[Token]) -> bool:
        return judge.settled(said, "A sane", hold_tokens=HOLD, wanted=PLAIN, bound=0.6)

    assert not is_settled(tokens(*[0.999] * (CLEAR_TOKENS - 1)))
    assert is_settled(tokens(*[0.999] * CLEAR_TOKENS))
    assert not is_settled(tokens(*[0.9] * CLEAR_TOKENS)), "above the bound, but not clearly"


def test_a_visible_flaw_settles_it_at_once() -> None:
    assert settled(tokens(0.9), "我无法回答这个问题")


def test_json_is_held_to_its_end() -> None:
    assert not settled(tokens(*[0.99] * 200), '{"a": ', Wanted("json"))


def test_without_probabilities_as_much_text_is_held() -> None:
    assert not settled([], "short")
    assert settled([], "A longer beginning, which is long enough for some two dozen tokens or so.")


def test_the_shipped_head_names_its_data_and_its_figures() -> None:
    asset = json.loads(files("hybridge.execution").joinpath("assets/confidence.json").read_text())
    assert asset["version"] == HEAD.version
    assert "questions.jsonl.gz" in asset["source"]["data"]
    for group, figures in asset["figures_on_folds_0_and_1"].items():
        assert figures["ece"] < 0.05, group
        assert figures["auroc"] > (0.65 if group == "smollm2-135m zh" else 0.799), group


def test_a_head_for_other_features_is_refused() -> None:
    text = files("hybridge.execution").joinpath("assets/confidence.json").read_text()
    asset = json.loads(text) | {"features": ["length"]}
    with pytest.raises(ValueError, match="other features"):
        Head.of(asset)
