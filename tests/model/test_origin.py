"""What records are named by."""

from __future__ import annotations

import pytest

from steelyard.model.origin import of_path, of_submission, replaced_by, submission, unversioned


def test_a_submission_is_known_by_its_whole_name() -> None:
    assert submission(of_submission("toy.zip", 12)) == ("toy.zip", 12, 12, None)
    assert of_submission("toy.zip", 12, 12) == of_submission("toy.zip", 12)
    named = of_submission("toy.zip", 15, 12)
    assert (submission(named), unversioned(named)) == (("toy.zip", 12, 15, None), of_submission("toy.zip", 12))
    for replaced in (of_submission("toy.zip", n, 12, 17) for n in (12, 15)):
        assert (replaced_by(replaced), unversioned(replaced)) == (17, of_submission("toy.zip", 12))
    assert replaced_by(named) is None
    for path in ("", "toy.zip", "mine (submission 2)", "/mine/toy.zip (submission 2)", "./toy.zip (submission 2)",
                 "my toy.zip (submission 2)", "toy.zip (submission 2 of line )", "toy.zip (submission 2, replaced by )",
                 "toy.zip (submission 2)\n", "toy.zip (submission ٢)"):  # fmt: skip
        assert submission(path) is None, path


@pytest.mark.parametrize("path", ["toy", "/a/toy.zip", "mine (submission 2)"])
def test_a_path_is_named_as_its_user_does(path: str) -> None:
    assert of_path(path) == path


def test_a_path_that_a_submission_could_have_is_told_apart() -> None:
    for path in ("toy.zip (submission 2)", "toy.zip (submission 3 of line 2)", "toy.zip (submission 2, replaced by 3)",
                 "my toy.zip (submission 2)", "toy.ZIP (Submission \n)"):  # fmt: skip
        named = of_path(path)
        assert named == f"./{path}"
        assert submission(named) is None
        assert of_path(named) == named
