from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from pydantic import Field

from snellen import settings
from snellen.errors import BadSetting
from snellen.settings import SELECTS


@dataclass(frozen=True)
class Toy:
    count: Annotated[int, Field(ge=1, description="how many")] = 3
    parts: Annotated[tuple[str, ...], SELECTS] = ("a",)
    kind: Literal["x", "y"] = "x"
    share: float = 0.5
    flag: bool = False


def test_text_is_read_as_the_field_says():
    made = settings.make(
        Toy, {"count": "7", "parts": "b, c", "kind": "y", "share": ".25", "flag": "true"}, who="toy"
    )
    assert made == Toy(7, ("b", "c"), "y", 0.25, flag=True)
    assert settings.make(Toy, {"parts": ["d"]}, who="toy").parts == ("d",)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"cuont": 1}, "did you mean 'count'"),
        ({"zzz": 1}, "it has count, parts, kind, share, flag"),
        ({"count": 0}, "count: 0 is not at least 1"),
        ({"count": "many"}, "toy: count: 'many' is not a whole number"),
        ({"kind": "z"}, "kind: 'z' is not 'x' or 'y'"),
        ({"share": "half"}, "share: 'half' is not a number"),
        ({"flag": "perhaps"}, "flag: 'perhaps' is not true or false"),
        ({"parts": [1]}, r"parts: .*string \(found 1\)"),
    ],
)
def test_wrong_settings_are_explained(values, told):
    with pytest.raises(BadSetting, match=told):
        settings.make(Toy, values, who="toy")


def test_what_selects_items_does_not_shape_them():
    assert set(settings.shaping(Toy())) == {"count", "kind", "share", "flag"}


def test_help_comes_from_beside_the_field():
    first, second, third, *_ = settings.settings(Toy)
    assert (first.name, first.kind, first.default, first.help) == ("count", "int", 3, "how many")
    assert (second.kind, second.selects) == ("str,…", True)
    assert third.kind == "x|y"
