"""Which layers look at a text by which settings, and what a request's way owes to them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.extras import needed
from tests.unit.wiring.conftest import Play

from hybridge.core.errors import ConfigError
from hybridge.edge.english_names import EnglishNames
from hybridge.privacy.scan import detect
from hybridge.settings import parse
from hybridge.wiring.detection import Layers

PHONE = "(415) 555-2671"
BARE = "Ask Jennifer Walker"


def nothing(_package: str) -> object:
    return None


def settings(**privacy: Any) -> Any:
    return parse({"server": {"port": 0}, "privacy": privacy}, {})


@pytest.mark.anyio
@pytest.mark.parametrize(("layer", "extra"), [("chinese_names", "names"), ("secrets", "secrets")])
async def test_a_layer_without_its_extra_is_told_how_to_get_it(layer: str, extra: str) -> None:
    with pytest.raises(ConfigError) as told:
        await Layers(nothing).of(settings(layers=[layer]))
    assert str(told.value) == (
        f"privacy.layers: `{layer}` needs a package that is not installed; "
        f'pip install "hybridge[{extra}]", or take it off the list'
    )


def test_a_layer_that_does_not_exist_is_an_error_of_its_key() -> None:
    with pytest.raises(ConfigError, match=r"privacy\.layers"):
        settings(layers=["faces"])


@pytest.mark.anyio
async def test_by_itself_nothing_is_loaded_that_could_change_nothing() -> None:
    assert await Layers(nothing).of(settings()) is detect
    assert await Layers(nothing).of(settings(action="block")) is detect
    assert await Layers().of(settings(layers=[])) is detect


@pytest.mark.anyio
@pytest.mark.parametrize(
    "privacy",
    [{"types": {"PHONE": "allow"}}, {"action": "pseudonymise"}, {"layers": ["english_names"]}],
)
async def test_names_are_looked_for_where_they_could_or_where_asked(privacy: Any) -> None:
    look = await Layers(nothing).of(settings(**privacy))
    assert [finding.type for finding in look(BARE)] == ["PERSON"]


@pytest.mark.anyio
async def test_by_itself_secrets_are_looked_for_where_their_extra_is() -> None:
    needed("betterleaks", "secrets")
    look = await Layers().of(settings())
    assert look is not detect
    assert [finding.type for finding in look("shpat_" + "0123456789abcdef" * 2)] == ["SECRET"]


@pytest.mark.anyio
async def test_a_layer_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    layers, asked = Layers(nothing), settings(layers=["english_names"])
    await layers.of(asked)
    monkeypatch.setattr(EnglishNames, "__call__", lambda *_: iter(()))
    assert not (await layers.of(asked))(BARE)


@pytest.mark.anyio
async def test_a_house_keeps_a_name_here_beside_other_data_only(play: Play) -> None:
    privacy = {"types": {"PHONE": "allow"}, "layers": ["english_names"], "private_sessions": False}
    async with play(privacy=privacy) as scene:
        await scene.ask("c", BARE)
        await scene.ask("c", f"Call {PHONE}")
        await scene.ask("auto", f"{BARE}, phone {PHONE}")
        seen = [str(received.body) for received in scene.cloud.posts]
        assert any("Walker" in body for body in seen)
        assert any("2671" in body for body in seen)
        assert not any("Walker" in body and "2671" in body for body in seen)
