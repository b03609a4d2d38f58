"""The NUMA policy of a guest: that of its flavor or its image, for all its devices (rule C60).

A port's own policy beats it (``ports.request_of``), and it beats that of an alias (``parse_flavor``).
"""

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import NumaPolicy

FLAVOR_KEY = "hw:pci_numa_affinity_policy"
IMAGE_KEY = "hw_pci_numa_affinity_policy"


def guest_numa_policy(flavor: str | None, image: str | None) -> NumaPolicy | None:
    """The policy that both agree on, or that one of them names; None where neither does.

    Raises LanewayError(invalid_request) for a policy that does not exist, and where they differ.
    """
    of_flavor, of_image = _policy(FLAVOR_KEY, flavor), _policy(IMAGE_KEY, image)
    if of_flavor is not None and of_image is not None and of_flavor is not of_image:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"{IMAGE_KEY} of the image is {of_image}, and {FLAVOR_KEY} of the flavor is {of_flavor}; "
            "an image cannot change what its flavor says: leave one of them out, or write the same in both",
            {"flavor": str(of_flavor), "image": str(of_image)},
        )
    return of_flavor or of_image


def _policy(key: str, text: str | None) -> NumaPolicy | None:
    if not text:
        return None
    try:
        return NumaPolicy(text)
    except ValueError:
        message = f"{key}: there is no policy {text!r}; write one of {', '.join(NumaPolicy)}"
        raise LanewayError(ErrorCode.INVALID_REQUEST, message, {"place": key, "value": text}) from None
