"""The requests of the Placement client, and what it makes of answers; ``services`` has the same with the real one."""

from collections.abc import Mapping, Sequence

import pytest

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.placement import Consumer, NewProvider, ResourceInventory, TreeChanges
from laneway.openstack.placement_client import MICROVERSION, PlacementClient
from laneway.openstack.service import Answer

ROOT, CARD, VM = "root-uuid", "card-uuid", "vm-uuid"
GPU = {"total": 1, "reserved": 0, "min_unit": 1, "max_unit": 1, "step_size": 1, "allocation_ratio": 1.0}


def provider(uuid: str, name: str, generation: int = 1) -> dict[str, object]:
    return {"uuid": uuid, "name": name, "generation": generation, "parent_provider_uuid": ROOT, "links": []}


class ScriptedHttp:
    """Answers by method and path; ``asked`` are the requests, in order."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.bodies: list[object] = []

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        assert dict(headers or {})["OpenStack-API-Version"] == f"placement {MICROVERSION}"
        asked = f"{method} {path}" + "".join(f"?{key}={value}" for key, value in query)
        self.asked.append(asked)
        self.bodies.append(body)
        answer = self.answers.get(asked, Answer(204))
        return answer if isinstance(answer, Answer) else Answer(200, answer)


IN_TREE = f"GET /resource_providers?in_tree={ROOT}"
TREE: dict[str, object] = {
    "GET /resource_providers?name=node-1": {"resource_providers": [provider(ROOT, "node-1")]},
    IN_TREE: {"resource_providers": [provider(ROOT, "node-1"), provider(CARD, "node-1_0000:3B:00.0")]},
    f"GET /resource_providers/{CARD}/inventories": {"inventories": {"CUSTOM_GPU": GPU}},
    f"GET /resource_providers/{CARD}/traits": {"traits": ["OWNER_NOVA"]},
    f"GET /resource_providers/{CARD}/allocations": {"allocations": {VM: {"resources": {"CUSTOM_GPU": 1}}}},
}


def error(status: int, **content: str) -> Answer:
    return Answer(status, {"errors": [content]})


def test_a_tree_is_read_whole() -> None:
    tree = PlacementClient(ScriptedHttp(TREE)).tree("node-1")
    assert tree is not None
    (card,) = tree.providers
    assert (tree.uuid, card.name, card.parent) == (ROOT, "node-1_0000:3B:00.0", ROOT)
    assert card.inventories == {"CUSTOM_GPU": ResourceInventory(total=1, max_unit=1)}
    assert card.traits == {"OWNER_NOVA"}
    assert card.allocations == {VM: {"CUSTOM_GPU": 1}}


def test_p17_of_a_provider_with_the_same_generation_only_the_allocations_are_read_again() -> None:
    """P17: to delete an allocation changes no generation, and everything else does."""
    http = ScriptedHttp(TREE)
    client = PlacementClient(http)
    first = client.tree("node-1")
    http.asked.clear()
    assert client.tree("node-1") == first
    assert http.asked == [*[*TREE][:2], f"GET /resource_providers/{CARD}/allocations"]
    http.answers[IN_TREE] = {"resource_providers": [provider(CARD, "node-1_0000:3B:00.0", generation=2)]}
    http.asked.clear()
    client.tree("node-1")
    assert len(http.asked) == 5


def test_a_host_that_is_not_there() -> None:
    assert (
        PlacementClient(ScriptedHttp({"GET /resource_providers?name=x": {"resource_providers": []}})).tree("x") is None
    )


def test_p17_a_provider_that_vanishes_while_the_tree_is_read_is_a_conflict() -> None:
    """P17."""
    answers = {**TREE, f"GET /resource_providers/{CARD}/traits": error(404, detail="No resource provider")}
    with pytest.raises(LanewayError, match="No resource provider") as caught:
        PlacementClient(ScriptedHttp(answers)).tree("node-1")
    assert caught.value.code is ErrorCode.PLACEMENT_CONFLICT


def test_p1_what_is_new_is_written_in_an_order_in_which_nothing_is_offered_half_done() -> None:
    """P1, P5: names before what has them, traits before what is offered."""
    http = ScriptedHttp(
        {
            "POST /resource_providers": {"generation": 0},
            f"PUT /resource_providers/{CARD}/traits": {"resource_provider_generation": 1},
        }
    )
    changes = TreeChanges(
        create=(NewProvider(uuid=CARD, name="node-1_0000:3B:00.0", parent=ROOT),),
        traits={CARD: frozenset({"OWNER_NOVA", "CUSTOM_BLUE"})},
        inventories={CARD: {"CUSTOM_GPU": ResourceInventory(total=1, max_unit=1)}},
        delete=("old-uuid",),
    )
    client = PlacementClient(http)
    client.apply(changes)
    assert http.asked == [
        "PUT /resource_classes/CUSTOM_GPU",
        "PUT /traits/CUSTOM_BLUE",
        "POST /resource_providers",
        f"PUT /resource_providers/{CARD}/traits",
        f"PUT /resource_providers/{CARD}/inventories",
        "DELETE /resource_providers/old-uuid",
    ]
    assert http.bodies[3:5] == [
        {"resource_provider_generation": 0, "traits": ["CUSTOM_BLUE", "OWNER_NOVA"]},
        {"resource_provider_generation": 1, "inventories": {"CUSTOM_GPU": GPU}},
    ]
    http.asked.clear()
    client.apply(changes)
    assert http.asked[0] == "POST /resource_providers", "names that were made once are not made again"


def test_p10_allocations_are_written_with_the_inventories_in_one_request() -> None:
    """P10."""
    http = ScriptedHttp({})
    consumer = Consumer(
        uuid=VM, generation=4, project="p", user="u", allocations={ROOT: {"VCPU": 1}, CARD: {"VGPU": 1}}
    )
    inventories = {CARD: {"VGPU": ResourceInventory(total=1, max_unit=1)}}
    PlacementClient(http).apply(TreeChanges(inventories=inventories, allocations=(consumer,), generations={CARD: 7}))
    assert http.asked == ["POST /reshaper"]
    assert http.bodies == [
        {
            "inventories": {CARD: {"resource_provider_generation": 7, "inventories": {"VGPU": GPU}}},
            "allocations": {
                VM: {
                    "allocations": {ROOT: {"resources": {"VCPU": 1}}, CARD: {"resources": {"VGPU": 1}}},
                    "project_id": "p",
                    "user_id": "u",
                    "consumer_generation": 4,
                }
            },
        }
    ]


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        pytest.param(
            error(409, detail="generation\nconflict "),
            ErrorCode.PLACEMENT_CONFLICT,
            "Placement has changed meanwhile: PUT /resource_providers/card-uuid/traits: generation conflict",
            id="a conflict",
        ),
        pytest.param(
            error(404, title="Not Found"),
            ErrorCode.PLACEMENT_CONFLICT,
            "Placement has changed meanwhile: PUT /resource_providers/card-uuid/traits: Not Found",
            id="a provider that is gone",
        ),
        pytest.param(
            error(400, detail="No such trait(s): HW_X."),
            ErrorCode.PLACEMENT_REFUSED,
            "Placement refuses PUT /resource_providers/card-uuid/traits with 400: No such trait(s): HW_X.",
            id="a request that is wrong",
        ),
        pytest.param(
            Answer(406, None, "<html>\n no such version</html>"),
            ErrorCode.PLACEMENT_REFUSED,
            "Placement refuses PUT /resource_providers/card-uuid/traits with 406: <html> no such version</html>",
            id="another server's words",
        ),
    ],
)
def test_p17_a_refusal_is_told_in_the_service_s_own_words(answer: Answer, code: ErrorCode, message: str) -> None:
    """P17."""
    http = ScriptedHttp({f"PUT /resource_providers/{CARD}/traits": answer})
    changes = TreeChanges(traits={CARD: frozenset({"OWNER_NOVA"})}, generations={CARD: 1})
    with pytest.raises(LanewayError) as caught:
        PlacementClient(http).apply(changes)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_a_refused_question_is_told() -> None:
    http = ScriptedHttp({"GET /resource_providers?name=node-1": error(400, detail="Invalid query string parameters")})
    with pytest.raises(LanewayError, match="with 400: Invalid query") as caught:
        PlacementClient(http).tree("node-1")
    assert caught.value.code is ErrorCode.PLACEMENT_REFUSED


def test_what_a_consumer_has_is_read_and_nothing_is_none() -> None:
    http = ScriptedHttp(
        {
            f"GET /allocations/{VM}": {
                "allocations": {CARD: {"generation": 1, "resources": {"VGPU": 1}}},
                "consumer_generation": 2,
                "project_id": "p",
                "user_id": "u",
            },
            "GET /allocations/other": {"allocations": {}},
        }
    )
    client = PlacementClient(http)
    assert client.consumer(VM) == Consumer(
        uuid=VM, generation=2, project="p", user="u", allocations={CARD: {"VGPU": 1}}
    )
    assert client.consumer("other") is None
