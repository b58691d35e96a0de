"""What is run for a command: a program, or a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_nvim.terminals.command_line import ENVIRONMENT, command_to_run, in_words, shell_line


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set `$SHELL` to a program of the test."""
    path = program(tmp_path / "shells" / "zsh")
    monkeypatch.setenv("SHELL", path)
    return path


def program(path: Path) -> str:
    """A file that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def argv(command: str, args: list[str], cwd: Path, env: dict[str, str] | None = None) -> list[str]:
    """Return the arguments of the program that is run for a command."""
    return list(command_to_run(command, args, str(cwd), env or {}).argv)


def test_with_arguments_it_is_a_program_whatever_is_in_them(shell: str, tmp_path: Path) -> None:
    assert argv("echo", ["a b", "&&", "$HOME"], tmp_path) == ["echo", "a b", "&&", "$HOME"]
    assert argv("no such program", ["x"], tmp_path) == ["no such program", "x"]


def test_the_name_of_a_program_is_run_as_it_is(shell: str, tmp_path: Path) -> None:
    assert argv("ls", [], tmp_path) == ["ls"]


def test_a_program_with_blanks_in_its_path_is_one(shell: str, tmp_path: Path) -> None:
    spaced = program(tmp_path / "my tools" / "run && go")
    assert argv(spaced, [], tmp_path) == [spaced]
    assert argv("my tools/run && go", [], tmp_path) == ["my tools/run && go"]
    assert argv("my tools/run && go", [], tmp_path / "my tools") == [shell, "-c", "my tools/run && go"]


def test_a_program_is_looked_for_in_the_path_that_the_agent_sets(shell: str, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "mine")
    assert argv("mine", [], tmp_path) == [shell, "-c", "mine"]
    assert argv("mine", [], tmp_path, {"PATH": str(tmp_path / "bin")}) == ["mine"]


@pytest.mark.parametrize(
    "line", ["npm test && echo ok", "ls -la", "FOO=1 make", "exit 3", "(a; b) | c > d", "cd", " ls"]
)
def test_anything_else_is_a_line_for_the_users_shell(shell: str, tmp_path: Path, line: str) -> None:
    assert argv(line, [], tmp_path) == [shell, "-c", line]


def test_a_directory_is_no_program(shell: str, tmp_path: Path) -> None:
    assert argv(str(tmp_path), [], tmp_path) == [shell, "-c", str(tmp_path)]


@pytest.mark.parametrize("odd", [None, "", "zsh", "/no/such/zsh"])
def test_without_a_shell_of_the_users_it_is_bash_or_sh(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, odd: str | None
) -> None:
    monkeypatch.delenv("SHELL", raising=False)
    if odd is not None:
        monkeypatch.setenv("SHELL", odd)
    bash = program(tmp_path / "bin" / "bash")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert argv("a && b", [], tmp_path) == [bash, "-c", "a && b"]
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert argv("a && b", [], tmp_path) == ["/bin/sh", "-c", "a && b"]
    monkeypatch.chdir(tmp_path / "bin")
    monkeypatch.setenv("PATH", ".")  # a project's file is not the user's shell
    assert argv("a && b", [], tmp_path) == ["/bin/sh", "-c", "a && b"]


POSIX = ["sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "bash-5.2", "zsh-5.9", "ash", "yash", "zsh-static"]
OTHERS = ["fish", "fish-3.7", "nu", "elvish", "xonsh", "csh", "tcsh", "pwsh", "rc", "es", "ion", "mysh", "Sh", "-sh"]


@pytest.mark.parametrize("name", POSIX + OTHERS)
def test_only_a_shell_that_reads_lines_as_sh_does_runs_those_of_agents(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    users, bash = program(tmp_path / "users" / name), program(tmp_path / "bin" / "bash")
    monkeypatch.setenv("SHELL", users)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert argv("export A=1; echo $A", [], tmp_path)[0] == (users if name in POSIX else bash)


@pytest.mark.parametrize("name", ["fish", "zsh"])
def test_the_option_decides(shell: str, tmp_path: Path, name: str) -> None:
    wanted = program(tmp_path / "wanted" / name)
    assert list(command_to_run("a; b", [], str(tmp_path), {}, wanted).argv) == [wanted, "-c", "a; b"]
    assert list(command_to_run("ls", [], str(tmp_path), {}, wanted).argv) == ["ls"]


def test_the_surroundings_are_the_users_with_ours_and_then_the_agents_on_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "kept")
    monkeypatch.setenv("PAGER", "less")
    monkeypatch.setenv("COLUMNS", "7")
    env = command_to_run("ls", [], "/", {"TERM": "dumb", "KEPT_TOO": "x"}).env
    assert (env["KEPT"], env["KEPT_TOO"], env["PAGER"], env["TERM"]) == ("kept", "x", "cat", "dumb")
    assert "COLUMNS" not in env
    assert command_to_run("ls", [], "/", {}).env["TERM"] == ENVIRONMENT["TERM"]


@pytest.mark.parametrize(
    ("command", "args", "line", "words"),
    [
        ("npm test && x", [], "npm test && x", "npm test && x"),
        ("/bin/sh", ["-lc", "a; b"], "a; b", "a; b"),
        ("bash", ["-c", "a"], "a", "a"),
        ("bash", ["-c", "a", "name"], None, "bash -c a name"),
        ("bash", ["-x", "a"], None, "bash -x a"),
        ("python", ["-c", "a"], None, "python -c a"),
        ("git", ["commit", "-m", "two words"], None, "git commit -m 'two words'"),
    ],
)
def test_it_is_shown_as_a_user_would_type_it(command: str, args: list[str], line: str | None, words: str) -> None:
    assert shell_line(command, args) == line
    assert in_words(command, args) == words
