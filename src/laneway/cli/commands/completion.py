"""``laneway completion``: the script that makes a shell complete command lines."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.streams import write


@laneway_command(
    "completion",
    Example("laneway completion bash > /etc/bash_completion.d/laneway", "For all users of bash"),
    Example('laneway completion zsh > "${fpath[1]}/_laneway"', "For zsh"),
    Example("laneway completion fish > ~/.config/fish/completions/laneway.fish", "For fish"),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(settings: Settings, shell: str) -> int:
    """Print the script that makes a shell complete commands, options and their values."""
    from click.shell_completion import get_completion_class

    from laneway.cli import COMPLETION_VARIABLE, PROGRAM, root

    script = get_completion_class(shell)
    assert script is not None
    text = script(root, {}, PROGRAM, COMPLETION_VARIABLE).source()
    if settings.as_json:
        output.write_json({"schema": "laneway.completion/1", "shell": shell, "script": text})
    else:
        write(text)
    return ExitStatus.YES
