"""What the library makes of ``padops/rules/``."""

from __future__ import annotations

from cpp_builds import ROOT

from padops.runtime.provider_rules import CONDITIONS


def test_the_library_has_every_condition() -> None:
    """It evaluates each by its name."""
    code = (ROOT / "padops" / "csrc" / "core" / "provider_rules.cpp").read_text(encoding="utf-8")
    assert [when for when in CONDITIONS if f'when == "{when}"' not in code] == []
