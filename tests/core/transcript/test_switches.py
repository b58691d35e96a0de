"""One list of what can be switched, whatever an agent offers and says; and what a user means in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from acp_nvim.acp.answers import Choice, ConfigOption, Opened, Selection
from acp_nvim.acp.updates import ConfigReplaced, ModeChanged
from acp_nvim.transcript.switches import NoSuchOptionError, Switch, Switches, find_switch, value_of

WORDS = some.sampled_from(["mode", "model", "a", "b", "c", "d"])
CHOICES = some.lists(WORDS, unique=True, max_size=4).map(lambda words: [Choice(word, word.upper()) for word in words])
SELECTIONS = some.none() | some.builds(Selection, WORDS, CHOICES)
OPTIONS = some.lists(
    some.one_of(
        some.builds(
            ConfigOption,
            config_id=WORDS,
            name=WORDS,
            kind=some.just("select"),
            current=WORDS,
            choices=CHOICES,
            category=some.none() | some.sampled_from(["mode", "model", "thought_level", "_mine"]),
        ),
        some.builds(
            ConfigOption,
            config_id=WORDS,
            name=WORDS,
            kind=some.just("boolean"),
            current=some.booleans(),
            category=some.none(),
        ),
        some.builds(ConfigOption, config_id=WORDS, name=WORDS, kind=some.just("_slider")),
    ),
    unique_by=lambda one: one.config_id,
    max_size=5,
)
UPDATES = some.lists(some.builds(ModeChanged, WORDS) | some.builds(ConfigReplaced, OPTIONS), max_size=6)


def select(config_id, current, *values, category=None):
    """Return an option that selects one of these values."""
    return ConfigOption(
        config_id=config_id,
        name=config_id.title(),
        kind="select",
        current=current,
        choices=[Choice(value, value.title()) for value in values],
        category=category,
    )


@given(SELECTIONS, SELECTIONS, OPTIONS, UPDATES)
def test_options_are_all_there_in_their_order_and_nothing_is_there_twice(modes, models, options, news):
    switches = Switches()
    switches.begin(Opened(modes=modes, models=models, options=options))
    for update in news:
        switches.take(update)
        options = update.options if isinstance(update, ConfigReplaced) else options
    ids = [one.switch_id for one in switches.all]
    assert [one.switch_id for one in switches.all if one.how == "option"] == [one.config_id for one in options]
    assert len(set(ids)) == len(ids)
    for how, selection in (("mode", modes), ("model", models)):
        old = [one for one in switches.all if one.how == how]
        is_new = any(how in (one.category, one.config_id) for one in options)
        assert len(old) <= (0 if is_new or selection is None else 1)
        assert sum(one.category == how for one in switches.all) <= max(1, sum(one.category == how for one in options))
    modes_shown = [one for one in switches.all if one.category == "mode" and isinstance(one.current, str)]
    if modes_shown:
        assert switches.mode == modes_shown[0].current
    assert [one.id for one in switches.views()] == ids


@given(SELECTIONS, SELECTIONS, OPTIONS, WORDS, WORDS | some.booleans())
def test_what_a_user_types_is_something_that_is_offered_or_refused_in_words(modes, models, options, what, value):
    switches = Switches()
    switches.begin(Opened(modes=modes, models=models, options=options))
    try:
        found = find_switch(switches.all, what)
        meant = value_of(found, value)
    except NoSuchOptionError:
        return
    assert what in (found.switch_id, found.category, found.name)
    assert meant in ([True, False] if found.kind == "boolean" else [one.value for one in found.choices])
    assert found.kind in ("select", "boolean")


def test_modes_in_the_old_words_are_offered_where_no_option_is_the_same():
    modes = Selection("ask", [Choice("ask", "Ask"), Choice("code", "Code")])
    switches = Switches()
    switches.begin(Opened(modes=modes, models=Selection("m", [Choice("m", "M")]), options=[select("x", "1", "1", "2")]))
    assert [(one.switch_id, one.how, one.current) for one in switches.all] == [
        ("mode", "mode", "ask"),
        ("model", "model", "m"),
        ("x", "option", "1"),
    ]
    switches.take(ModeChanged("code"))
    switches.take_model("n")
    assert (switches.mode, switches.model, switches.name_of("mode", "code")) == ("code", "n", "Code")


@pytest.mark.parametrize(
    "option", [select("mode", "ask", "x"), select("how", "ask", "ask", "code"), select("h", "ask", category="mode")]
)
def test_an_option_that_is_the_same_by_id_values_or_category_takes_the_place_of_modes(option):
    switches = Switches()
    switches.begin(Opened(modes=Selection("ask", [Choice("ask", "Ask"), Choice("code", "Code")]), options=[option]))
    assert [one.switch_id for one in switches.all] == [option.config_id]


def test_a_mode_told_in_the_old_words_changes_the_option_too_where_it_has_that_value():
    switches = Switches()
    options = [select("how", "ask", "ask", "code", category="mode")]
    switches.begin(Opened(modes=Selection("ask", [Choice("ask", "Ask")]), options=options))
    switches.take(ModeChanged("code"))
    assert switches.mode == "code"
    switches.take(ModeChanged("urn:other"))
    assert switches.mode == "code"


def test_without_a_mode_among_the_options_what_was_told_last_counts():
    switches = Switches()
    switches.begin(Opened())
    switches.take(ModeChanged("yolo"))
    assert switches.mode == "yolo"
    assert switches.all == []


@pytest.mark.parametrize(
    ("what", "found"),
    [("model", "engine"), ("engine", "engine"), ("ENGINE", "engine"), ("Effort level", "effort"), ("_mine", "x")],
)
def test_ids_categories_and_names_are_understood(what, found):
    switches = [
        Switch(switch_id="effort", name="Effort Level", kind="select", category="thought_level"),
        Switch(switch_id="engine", name="Engine", kind="select", category="model"),
        Switch(switch_id="second", name="Second", kind="select", category="model"),
        Switch(switch_id="x", name="X", kind="select", category="_mine"),
    ]
    assert find_switch(switches, what).switch_id == found


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_of_a_category_the_one_of_its_name_counts(order):
    switches = Switches()
    options = [select("provider", "p", "p", category="model"), select("model", "m", "m", "n", category="model")]
    switches.begin(Opened(options=options[::order]))
    assert (switches.model, switches.name_of("model", "n")) == ("m", "N")
    switches.take_model("n")
    assert switches.model == "n"
    switches.take(ConfigReplaced(options[:1]))
    assert switches.model == "p"


def test_a_name_of_several_values_is_not_guessed():
    switch = Switch(
        switch_id="m",
        name="M",
        kind="select",
        choices=[Choice("a/big", "Big"), Choice("b/big", "Big"), Choice("c", "C")],
    )
    assert value_of(switch, "b/big") == "b/big"
    assert value_of(switch, "c") == "c"
    with pytest.raises(NoSuchOptionError, match="a/big, b/big"):
        value_of(switch, "big")


@pytest.mark.parametrize(("words", "value"), [("on", True), ("OFF", False), ("yes", True), ("0", False), (True, True)])
def test_a_switch_is_on_or_off(words, value):
    assert value_of(Switch(switch_id="b", name="B", kind="boolean", current=False), words) is value


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        (Switch(switch_id="b", name="B", kind="boolean"), "on or off"),
        (Switch(switch_id="b", name="B", kind="select"), "no values"),
        (Switch(switch_id="b", name="B", kind="_slider"), "type '_slider'"),
        (Switch(switch_id="b", name="B", kind="select", choices=[Choice(f"v{n}", "V") for n in range(99)]), "87 more"),
    ],
)
def test_why_a_value_is_not_there(switch, words):
    with pytest.raises(NoSuchOptionError, match=words):
        value_of(switch, "maybe")
