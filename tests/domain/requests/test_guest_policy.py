"""The NUMA policy of flavor and image (rule C60)."""

import pytest

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.guest_policy import guest_numa_policy
from laneway.domain.requests.request import NumaPolicy


@pytest.mark.parametrize(
    ("flavor", "image", "policy"),
    [
        pytest.param(None, None, None, id="neither says anything"),
        pytest.param("socket", None, NumaPolicy.SOCKET, id="the flavor alone"),
        pytest.param(None, "required", NumaPolicy.REQUIRED, id="the image alone"),
        pytest.param("legacy", "legacy", NumaPolicy.LEGACY, id="both the same"),
        pytest.param("", "preferred", NumaPolicy.PREFERRED, id="an empty text says nothing"),
    ],
)
def test_one_policy_comes_of_both(flavor: str | None, image: str | None, policy: NumaPolicy | None) -> None:
    assert guest_numa_policy(flavor, image) is policy


@pytest.mark.parametrize(
    ("flavor", "image", "named"),
    [
        pytest.param("required", "legacy", "hw_pci_numa_affinity_policy of the image is legacy", id="they differ"),
        pytest.param("strict", None, "hw:pci_numa_affinity_policy: there is no policy 'strict'", id="an unknown one"),
        pytest.param("required", "Required", "there is no policy 'Required'", id="another case, as in nova"),
    ],
)
def test_what_cannot_be_is_refused(flavor: str | None, image: str | None, named: str) -> None:
    with pytest.raises(LanewayError) as refusal:
        guest_numa_policy(flavor, image)
    assert refusal.value.code is ErrorCode.INVALID_REQUEST
    assert named in refusal.value.message
