"""The journal of a host: what it remembers, and what it does with files that are not its own."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from domain.hosts import at, function, pf, vf
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import (
    Action,
    Clean,
    LinkState,
    Plan,
    Prepare,
    Release,
    SetVfCount,
    Step,
    Unfinished,
    VfSettings,
)
from laneway.interfaces.journal import Hold, JournalState, PreparedDevice, VfCount
from laneway.store.journal import VERSION, SqliteJournal, journal_path

CARD = at("0000:3b:00.0")
SOUND = at("0000:3b:00.1")
SETTINGS = VfSettings(mac="02:00:00:00:00:01", vlan=7, trust=True, spoof_check=False, link_state=LinkState.AUTO)


def step(target: str, address: str = "0000:3b:00.0") -> Step:
    return Step(kind="write", address=at(address), target=target, value="vfio-pci", found="", undo="\n", summary="why")


PLAN = Plan(action=Prepare(recorded=function("0000:3b:00.0")), steps=(step("a"), step("b")), boot_id="one")
STATE = JournalState(
    boot_id="one",
    steps=(step("a"), step("c", "0000:3b:00.1"), step("b")),
    taken={CARD: Hold(holders=frozenset({CARD, SOUND}), driver="vfio-pci"), SOUND: Hold()},
    prepared={
        CARD: PreparedDevice(
            recorded=pf("0000:3b:00.0"),
            consumer="vm",
            boot_id="one",
            vf_settings=SETTINGS,
            placeholders=(vf("0000:3b:02.0", "0000:3b:00.0"),),
        )
    },
    kept=frozenset({SOUND}),
    vf_counts={CARD: VfCount(recorded=pf("0000:3b:00.0"), count=4, autoprobe=False)},
    fatal_errors={CARD: 3},
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return journal_path(tmp_path / "state" / "laneway.db")


def test_it_stands_beside_the_database(path: Path) -> None:
    assert path.name == "laneway.journal.db"


def test_to_look_makes_no_file(path: Path) -> None:
    with SqliteJournal(path) as journal:
        assert journal.state() == JournalState()
        assert journal.unfinished() is None
    assert not path.parent.exists()


def test_what_was_kept_is_there_for_the_next_process(path: Path) -> None:
    with SqliteJournal(path) as journal:
        journal.keep(STATE)
        journal.keep(replace(STATE, fatal_errors={}))
        journal.keep(STATE)
    with SqliteJournal(path) as journal:
        assert journal.state() == STATE


def test_nobody_else_may_read_it(path: Path) -> None:
    with SqliteJournal(path) as journal:
        journal.keep(STATE)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "action",
    [
        Prepare(
            recorded=pf("0000:3b:00.0"),
            attach=Attach.MACVTAP,
            binding=Binding.LIBVIRT,
            siblings=frozenset({CARD, SOUND}),
            live_migratable=True,
            may_be_in_use=True,
            vf_settings=SETTINGS,
        ),
        Release(address=CARD, taken=(step("a"), step("b")), keep=True),
        SetVfCount(address=CARD, count=4, autoprobe=True),
        Clean(address=CARD, cleaning=Cleaning(kind=CleaningKind.COMMAND, command=("scrub", "{address}"), seconds=5)),
    ],
    ids=lambda action: type(action).__name__,
)
def test_a_plan_that_has_begun_is_unfinished_until_it_ends(path: Path, action: Action) -> None:
    plan = Plan(action=action, steps=(step("a"), step("b")), boot_id="one")
    with SqliteJournal(path) as journal:
        journal.keep(STATE)
        journal.begin(plan)
        assert journal.unfinished() == Unfinished(plan=plan, begun=())
        journal.step(step("b"))
        journal.step(step("a"))
    with SqliteJournal(path) as journal:
        assert journal.unfinished() == Unfinished(plan=plan, begun=(step("b"), step("a")))
        assert journal.state() == STATE
        journal.keep(JournalState())
        assert journal.unfinished() is None


def test_the_steps_of_some_functions_keep_their_order() -> None:
    assert STATE.steps_of({CARD}) == (step("a"), step("b"))
    assert STATE.steps_of({CARD, SOUND}) == STATE.steps


def write_text(path: Path) -> None:
    path.write_text("this is no database, and it is longer than the header of one" * 4)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_database_of_others(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE plan (mine TEXT)")


def break_documents(path: Path) -> None:
    with SqliteJournal(path) as journal:
        journal.keep(STATE)
        journal.begin(PLAN)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE state SET document = '{}'")
        connection.execute("""UPDATE plan SET document = '{"action":"paint","of":{},"steps":[],"boot_id":null}'""")


def break_pages(path: Path) -> None:
    with SqliteJournal(path) as journal:
        journal.keep(STATE)
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes(len(content) - 100))


@pytest.mark.parametrize("read", [SqliteJournal.state, SqliteJournal.unfinished], ids=["state", "unfinished"])
@pytest.mark.parametrize("spoil", [write_text, make_folder, make_database_of_others, break_documents, break_pages])
def test_a_file_that_is_no_journal_is_refused_with_a_remedy(
    path: Path, spoil: Callable[[Path], None], read: Callable[[SqliteJournal], object]
) -> None:
    path.parent.mkdir()
    spoil(path)
    with SqliteJournal(path) as journal, pytest.raises(LanewayError, match="moving it away") as caught:
        read(journal)
    assert caught.value.code is ErrorCode.DATABASE_UNREACHABLE
    assert str(path) in caught.value.message


def test_a_journal_of_a_later_version_is_not_touched(path: Path) -> None:
    with SqliteJournal(path) as journal:
        journal.keep(STATE)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    with SqliteJournal(path) as journal, pytest.raises(LanewayError, match="install the Laneway that wrote it"):
        journal.state()
    assert path.read_bytes() == before


def test_a_plan_cannot_begin_while_another_is_under_way(path: Path) -> None:
    with SqliteJournal(path) as journal:
        journal.begin(PLAN)
        with pytest.raises(LanewayError, match="UNIQUE"):
            journal.begin(PLAN)
        assert journal.unfinished() == Unfinished(plan=PLAN, begun=())
