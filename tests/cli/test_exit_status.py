"""Every code has an exit status, and one that the contract knows."""

import pytest

from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.domain.errors import ErrorCode

CONTRACT = {0, 1, 2, 69, 70, 77, 78}


@pytest.mark.parametrize("code", ErrorCode)
def test_every_error_code_has_an_exit_status_of_the_contract(code: ErrorCode) -> None:
    assert EXIT_STATUS[code] in CONTRACT - {0}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        pytest.param(ErrorCode.DOES_NOT_FIT, 1, id="a claim that does not fit is a no"),
        pytest.param(ErrorCode.INVALID_ADDRESS, 2, id="an address that is none is a usage error"),
        pytest.param(ErrorCode.HOST_UNREACHABLE, 69, id="a host that cannot be read"),
        pytest.param(ErrorCode.DATABASE_UNREACHABLE, 69, id="a database that cannot be reached"),
        pytest.param(ErrorCode.INTERNAL_ERROR, 70, id="a fault of ours"),
        pytest.param(ErrorCode.NO_PERMISSION, 77, id="no permission"),
        pytest.param(ErrorCode.INVALID_DEVICE_SPEC, 78, id="a device spec that is wrong"),
        pytest.param(ErrorCode.INVALID_ALIAS, 78, id="an alias that is wrong"),
        pytest.param(ErrorCode.INVALID_CONFIG, 78, id="a config that is wrong"),
    ],
)
def test_the_status_says_what_kind_of_failure_it_was(code: ErrorCode, status: int) -> None:
    assert EXIT_STATUS[code] == status


def test_yes_is_no_failure() -> None:
    assert ExitStatus(0) is ExitStatus.YES
    assert ExitStatus.YES not in EXIT_STATUS.values()
