"""Assignment problems of the size of real hosts, and some that are made to be hard."""

from collections.abc import Hashable
from random import Random

from domain.assignment_problems import Draft, problem_of, relate
from laneway.domain.assignment.problem import AssignmentConstraint, AssignmentProblem
from laneway.domain.requests.request import ConstraintKind

PFS = 16
VFS = 64


class SriovHost:
    """A host with 16 PFs of 64 VFs, of which some are held, and what a claim of eight requests finds there."""

    def __init__(self, random: Random) -> None:
        self.random = random
        nodes = random.choice([1, 2, 2, 4])
        self.networks = random.choice([1, 2, 4])
        self.guest = random.choice([None, {0}, {0}, {0, 1}])
        orderly = random.random() < 0.5
        self.node = [i * nodes // PFS if orderly else random.randrange(nodes) for i in range(PFS)]
        self.network = [i % self.networks if orderly else random.randrange(self.networks) for i in range(PFS)]
        self.trusted = [not orderly and random.random() < 0.4 for _ in range(PFS)]
        self.held = [random.randint(1, VFS) if random.random() < 0.3 else 0 for _ in range(PFS)]
        self.has_pf = [random.random() < 0.9 for _ in range(PFS)]
        self.requests = [self._request(random.choice([0, 1, 3])) for _ in range(8)]
        self.counts = [random.choice([1, 1, 1, 2, 2, 3, 4]) for _ in range(8)]
        self.constraints = [self._constraint() for _ in range(random.choice([0, 0, 1, 1, 2]))]

    def _request(self, pfs: int) -> tuple[str, int | None, bool, str]:
        kind = self.random.choices(["vf", "pf", "any"], [6, pfs, 0.3])[0]
        network = self.random.choice([None, *[self.random.randrange(self.networks)] * 2])
        policy = self.random.choice(["required", "legacy", "preferred"])
        return kind, network, self.random.random() < 0.1, policy

    def _constraint(self) -> tuple[str, AssignmentConstraint]:
        attribute = self.random.choice(["numa_node", "parent", "parent", "pcie_root", "physical_network"])
        requests = tuple(sorted(self.random.sample(range(8), self.random.randint(2, 4))))
        return attribute, AssignmentConstraint(self.random.choice(list(ConstraintKind)), requests)

    def problem(self) -> AssignmentProblem:
        drafts: list[Draft] = []
        for i in range(PFS):
            if self.has_pf[i]:
                drafts.append(self._draft(i, "pf", 1, offered=not self.held[i]))
            if self.held[i] < VFS:
                drafts.append(self._draft(i, "vf", VFS - self.held[i], offered=True))
                if self.has_pf[i]:
                    relate(drafts, len(drafts) - 2, len(drafts) - 1, exclude=True)
        return problem_of(drafts, self.counts, [constraint for _, constraint in self.constraints])

    def _draft(self, i: int, kind: str, size: int, *, offered: bool) -> Draft:
        away = self.guest is not None and self.node[i] not in self.guest
        return Draft(
            size,
            offered,
            tuple(self._serves(i, kind, *request) if offered else None for request in self.requests),
            away,
            11 + 10 * (self.node[i] // 2) if away else 0,
            values=tuple(self._value(i, kind, attribute) for attribute, _ in self.constraints),
        )

    def _serves(self, i: int, kind: str, wanted: str, network: int | None, trusted: bool, policy: str) -> int | None:
        if wanted not in ("any", kind) or network not in (None, self.network[i]) or trusted > self.trusted[i]:
            return None
        if policy != "preferred" and self.guest is not None and self.node[i] not in self.guest:
            return None
        return (network is None) + (not trusted and self.trusted[i])

    def _value(self, i: int, kind: str, attribute: str) -> frozenset[Hashable] | None:
        if attribute == "parent":
            return frozenset({i}) if kind == "vf" else None
        return frozenset({{"numa_node": self.node[i], "pcie_root": i // 2}.get(attribute, self.network[i])})


def sriov_problem(seed: int) -> AssignmentProblem:
    return SriovHost(Random(seed)).problem()


def pairs_of_groups(seed: int) -> AssignmentProblem:
    """40 groups of two devices that only some requests can use, at costs that are all different."""
    random = Random(seed)
    drafts: list[Draft] = []
    for _ in range(40):
        drafts += (
            Draft(1, serves=tuple(random.choice([None, random.randint(0, 9)]) for _ in range(8))) for _ in range(2)
        )
        relate(drafts, len(drafts) - 2, len(drafts) - 1)
    return problem_of(drafts, [4] * 8)


def crowded(seed: int) -> AssignmentProblem:
    """Eight requests for four of 32 devices each, and some of the requests have too few to share."""
    random = Random(seed)
    serves = [tuple(0 if random.random() < 0.3 else None for _ in range(8)) for _ in range(32)]
    return problem_of([Draft(1, serves=one) for one in serves], [4] * 8)


def tangled_values(seed: int) -> AssignmentProblem:
    """Five distinct constraints over devices that have several values of each."""
    random = Random(seed)
    constraints = [
        AssignmentConstraint(ConstraintKind.DISTINCT, tuple(sorted(random.sample(range(8), 4)))) for _ in range(5)
    ]
    drafts = [
        Draft(
            2,
            serves=tuple(random.choice([None, 0, 1, 2]) for _ in range(8)),
            values=tuple(frozenset(random.sample(range(20), random.randint(1, 3))) for _ in constraints),
        )
        for _ in range(24)
    ]
    return problem_of(drafts, [2] * 8, constraints)


def matched_pairs(seed: int, pairs: int = 4, roots: int = 16) -> AssignmentProblem:
    """A GPU and a VF on one PCIe root, several times over: too many ways to try each."""
    random = Random(seed)
    requests = range(2 * pairs)
    constraints = [AssignmentConstraint(ConstraintKind.MATCH, (2 * i, 2 * i + 1)) for i in range(pairs)]
    drafts: list[Draft] = []
    for root in range(roots):
        values = (frozenset[Hashable]({root}),) * pairs
        gpu = tuple(0 if request % 2 == 0 else None for request in requests)
        nic = tuple(0 if request % 2 else None for request in requests)
        drafts += (Draft(1, serves=gpu, values=values) for _ in range(random.randint(0, 2)))
        drafts += [Draft(1, serves=(None,) * len(requests), values=values), Draft(8, serves=nic, values=values)]
        relate(drafts, len(drafts) - 2, len(drafts) - 1, exclude=True)
    return problem_of(drafts, [1] * len(requests), constraints)
