"""`${NAME}` in the file: the environment's value in its place, or a line that says what is missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import ConfigError
from hybridge.settings import load
from hybridge.settings.variables import Variables

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)


@pytest.fixture
def loaded(tmp_path):
    def from_text(text: str, **environ: str):
        path = tmp_path / "hybridge.yaml"
        path.write_text(text)
        return load(path, environ)

    return from_text


@pytest.fixture
def refused(loaded, tmp_path):
    def from_text(text: str, **environ: str) -> str:
        with pytest.raises(ConfigError) as caught:
            loaded(text, **environ)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return from_text


def test_it_stands_for_any_value(loaded):
    settings = loaded(
        "server: {port: '${PORT}', report_in_body: '${REPORT}'}\n"
        "edge: {backends: [{name: e, engine: openai, model: m, base_url: 'http://${HOST}:1/v1'}]}\n",
        PORT="9000",
        REPORT="false",
        HOST="127.0.0.1",
    )
    assert (settings.server.port, settings.server.report_in_body) == (9000, False)
    assert settings.edge.backends[0].base_url == "http://127.0.0.1:1/v1"


@pytest.mark.parametrize("environ", [{}, {"NO_SUCH": ""}])
def test_one_that_is_not_set_is_named_with_its_line(refused, environ):
    said = refused("server:\n  port: ${NO_SUCH}\n", **environ)
    assert said == "hybridge.yaml:2:3: server.port: environment variable NO_SUCH is not set"


def test_a_name_that_is_none(refused):
    assert "`${not a name}` names no environment variable" in refused(
        "server: {host: '${not a name}'}\n"
    )


def test_two_dollars_stand_for_themselves(loaded):
    text = "cloud: {backends: [{name: c, model: 'a-$${B}-${C}', base_url: 'http://h/v1'}]}\n"
    assert loaded(text, C="c").cloud.backends[0].model == "a-${B}-c"


def test_a_value_from_the_environment_is_not_repeated(refused):
    assert "s3cret" not in refused("server: {port: '${PORT}'}\n", PORT="s3cret")


def test_what_the_environment_holds_is_not_read_again(loaded):
    text = "cloud: {backends: [{name: c, model: '${M}', base_url: 'http://h/v1'}]}\n"
    assert loaded(text, M="${HOME}").cloud.backends[0].model == "${HOME}"


@given(st.text().filter(lambda text: "${" not in text))
def test_other_texts_stay_as_they_are(text):
    variables = Variables({})
    assert variables.fill({"key": [text]}) == {"key": [text]}
    assert not variables.missing
    assert not variables.written


@given(NAMES, st.text(min_size=1), st.text().filter(lambda t: "${" not in t and t[-1:] != "$"))
def test_every_reference_is_replaced(name, value, around):
    variables = Variables({name: value})
    assert variables.fill(f"{around}${{{name}}}") == around + value
    assert list(variables.written.values()) == [f"{around}${{{name}}}"]
