"""The devices of a host in numbers."""

from collections import Counter
from datetime import datetime

from laneway.contracts.agent_status import DeviceCounts
from laneway.domain.device import Status
from laneway.domain.tracking.host_view import HostView


def count_devices(host: HostView, at: datetime) -> DeviceCounts:
    """How many tracked devices have each status, in the order of ``Status``; what none has is left out."""
    statuses = {address: host.status_of(address) for address in host.addresses()}
    counts = Counter(statuses.values())
    blocked = [a for a, status in statuses.items() if status is Status.AVAILABLE and host.blocked_by(a)]
    return DeviceCounts(
        counted_at=at,
        by_status={str(status): counts[status] for status in Status if counts[status]},
        blocked=len(blocked),
    )
