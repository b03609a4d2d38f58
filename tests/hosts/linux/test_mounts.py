"""Tables of mounts and of swap."""

from hosts.host_tree import HostTreeBuilder
from laneway.hosts.linux.mounts import Mount, parse_mountinfo, parse_mounts, parse_swaps, read_mounts, unescaped
from laneway.hosts.linux.tree import HostTree

ROOT_LINE = "27 1 259:2 / / rw,relatime shared:1 master:3 - ext4 /dev/nvme0n1p2 rw\n"
ROOT = Mount("259:2", "/", "ext4", "/dev/nvme0n1p2")


def test_mountinfo_with_any_number_of_optional_fields() -> None:
    text = (
        ROOT_LINE + "30 27 0:31 /@home /home rw - btrfs /dev/my\\040disk rw\n31 27 0:5 / /x\\134y rw - tmpfs none rw\n"
    )
    assert parse_mountinfo(text) == (
        ROOT,
        Mount("0:31", "/home", "btrfs", "/dev/my disk"),
        Mount("0:5", "/x\\y", "tmpfs", "none"),
    )


def test_lines_of_another_form_are_left_out() -> None:
    assert parse_mountinfo("\nnonsense\n1 2 3:4 / /a rw - ext4\n1 2 - ext4 /dev/a rw\n") == ()
    assert parse_mounts("/dev/sda1 /\n\n") == ()


def test_the_old_table_tells_no_numbers() -> None:
    assert parse_mounts("/dev/sda1 /a\\040b ext4 rw 0 0\n") == (Mount(None, "/a b", "ext4", "/dev/sda1"),)


def test_mounts_of_this_process_and_of_process_1_are_one_list(host: HostTreeBuilder) -> None:
    host.write("proc/self/mountinfo", ROOT_LINE)
    host.write("proc/1/mountinfo", ROOT_LINE + "28 27 8:1 / /srv rw - xfs /dev/sda1 rw\n")
    assert read_mounts(HostTree(host.root)) == (ROOT, Mount("8:1", "/srv", "xfs", "/dev/sda1"))


def test_swap_files_add_nothing() -> None:
    text = (
        "Filename Type Size Used Priority\n/swap.img file 1 0 -2\n/dev/dm-1 partition 1 0 -3\n"
        "/dev/sda2\\040(deleted) partition 1 0 -4\nnonsense\n"
    )
    assert parse_swaps(text) == ("/dev/dm-1", "/dev/sda2")


def test_escapes_of_the_kernel() -> None:
    assert unescaped(r"/a\040b\011c\012d\134e") == "/a b\tc\nd\\e"
    assert unescaped(r"/a\134040b") == r"/a\040b"
