"""What a person is told of devices that are freed."""

from domain.hosts import allocate, function, opened, tracker
from laneway.cli.render.cleanup import cleanup_page
from laneway.cli.render.screen import PLAIN
from laneway.fleet.cleanup import plan_cleanup


def test_a_device_that_is_still_open_stays_blocked() -> None:
    host = tracker(function("0000:05:00.0"))
    allocate(host, "vm1")
    open_now = tracker(function("0000:05:00.0", opened_by=opened()), state=host.state)
    lines = cleanup_page(plan_cleanup(open_now, []), PLAIN, applied=True)
    assert lines[1].endswith("freed, and blocked as long as a process has it open")
