"""A member that is missing or of the wrong type is refused by its name; a tag that nobody knows is not refused."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from acp_nvim.acp import decoding
from tests.core.acp.schema.generator import BATCH, EXAMPLES, Instance, Maker, Site
from tests.core.acp.schema.json_values import RANDOMS
from tests.core.acp.schema.known import WITHIN, ours
from tests.core.acp.schema.shapes import JSON_TYPES, Shapes, shapes
from tests.core.acp.schema.test_received import DEFINITIONS, check

WRONG = {"null": None, "boolean": True, "integer": 7, "number": 7.5, "string": "odd", "array": [], "object": {}}
TRIES = 400
"""Instances, until one must have had something to change."""


def has_members(version: str, name: str) -> bool:
    """Whether instances of the definition are made of objects."""
    accepted = shapes(version).accepted(shapes(version).definitions[name])
    return accepted != JSON_TYPES and not accepted.isdisjoint({"object", "array"})


def breakable(known: Shapes, site: Site) -> list[tuple[str, list[Any]]]:
    """The members of an object that can be broken, each with values of types that it must not have."""
    members = []
    for name, schema in site.members.items():
        accepted = known.accepted(schema)
        wrong = [value for kind, value in WRONG.items() if kind not in accepted]
        if name in site.value and name not in site.tags and wrong:
            members.append((name, wrong))
    return members


def broken(known: Shapes, maker: Maker, random: Random, whole: str) -> tuple[Instance, str]:
    """An instance with one wrong member, and the name of that."""
    for _ in range(TRIES):
        found = maker.instance(whole)
        choices = [(site, *member) for site in found.sites for member in breakable(known, site)]
        if choices:
            site, name, wrong = random.choice(choices)
            if name in site.required and random.randrange(2):
                del site.value[name]
            else:
                site.value[name] = random.choice(wrong)
            return found, name
    raise AssertionError(f"nothing to break in {TRIES} instances of {whole}")


def with_unknown_tag(maker: Maker, random: Random, whole: str) -> Instance:
    """An instance in which one tag is a word that no schema knows."""
    for _ in range(TRIES):
        found = maker.instance(whole)
        choices = [(site, tag) for site in found.sites for tag in sorted(site.tags & site.value.keys())]
        if choices:
            site, tag = random.choice(choices)
            site.value[tag] = random.choice(("odd", "acp_nvim/unknown", "", "_x/y"))
            return found
    raise AssertionError(f"no tag in {TRIES} instances of {whole}")


@pytest.mark.parametrize(("version", "name"), [one for one in DEFINITIONS if has_members(*one)])
@settings(max_examples=EXAMPLES)
@given(random=RANDOMS)
def test_a_wrong_member_is_named(version: str, name: str, random: Random) -> None:
    known, whole = shapes(version), WITHIN.get(name, name)
    maker = Maker(known, random, through=name)
    for _ in range(BATCH):
        found, member = broken(known, maker, random, whole)
        with pytest.raises(msgspec.ValidationError) as raised:
            decoding.decode(msgspec.json.encode(found.value), ours(version, whole))
        words = str(raised.value)
        assert member in words, found.value
        assert "acp_nvim" not in words, found.value
        assert "original" not in words, found.value


@pytest.mark.parametrize(
    ("version", "name"),
    [(version, name) for version, name in DEFINITIONS if shapes(version).has_tags(WITHIN.get(name, name))],
)
@settings(max_examples=EXAMPLES)
@given(random=RANDOMS)
def test_what_has_an_unknown_tag_is_kept_as_it_came(version: str, name: str, random: Random) -> None:
    whole = WITHIN.get(name, name)
    maker = Maker(shapes(version), random, through=name)
    for _ in range(BATCH):
        check(version, whole, with_unknown_tag(maker, random, whole))
