"""Which backend of a tier comes first (R8)."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.backend import BackendSpec, Price
from hybridge.core.request import Tier
from hybridge.routing.candidate import Candidate
from hybridge.routing.choose import Weights, rank


def backend(
    name: str, latency_s: float | None = None, usd: float | None = 1.0, *, away: bool = True
) -> Candidate:
    price = None if usd is None else Price(Decimal(str(usd)), Decimal(str(usd)))
    spec = BackendSpec(name, Tier.CLOUD, name, leaves_device=away, price=price)
    return Candidate(spec, latency_s=latency_s)


def order(*candidates: Candidate, weights: Weights | None = None) -> str:
    ranked = rank(candidates, weights) if weights else rank(candidates)
    return "".join(candidate.name for candidate in ranked)


def test_faster_cheaper_nearer() -> None:
    assert order(backend("a", 2.0), backend("b", 1.0)) == "ba"
    assert order(backend("a", usd=5), backend("b", usd=1)) == "ba"
    assert order(backend("a"), backend("b", away=False)) == "ba"


def test_equals_keep_their_order() -> None:
    assert order(backend("a"), backend("b"), backend("c")) == "abc"
    assert order(backend("c", 1.0), backend("a", 1.0)) == "ca"


def test_an_unmeasured_latency_is_neither_fast_nor_slow() -> None:
    assert order(backend("slow", 9.0), backend("new"), backend("fast", 1.0)) == "fastnewslow"


def test_an_unknown_price_is_not_free() -> None:
    assert order(backend("unknown", usd=None), backend("known", usd=50)) == "knownunknown"
    assert order(backend("a", usd=None), backend("b", usd=None)) == "ab"


def test_weights_decide_between_concerns() -> None:
    fast, cheap = backend("fast", 1.0, 9), backend("cheap", 2.0, 1)
    assert order(cheap, fast) == "fastcheap"
    assert order(fast, cheap, weights=Weights(latency=0.1, cost=0.9)) == "cheapfast"


candidates = st.lists(
    st.builds(
        backend,
        st.text("abc", min_size=1),
        st.none() | st.floats(0, 10),
        st.none() | st.integers(0, 100),
    ),
    max_size=5,
)


@given(candidates)
def test_nobody_is_lost_and_ranking_again_changes_nothing(field: list[Candidate]) -> None:
    once = rank(field)
    assert sorted(map(id, once)) == sorted(map(id, field))
    assert rank(once) == once
