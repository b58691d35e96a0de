"""Which writes always need the user: whatever git, an editor, a shell or an agent would run afterwards."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.limits import PATCH_CHARS
from acp_nvim.workspace.guarded_files import GuardedFiles
from acp_nvim.workspace.guarded_names import GUARDED, why_guarded, why_named
from acp_nvim.workspace.roots import Roots
from tests.support.examples import examples


def git(directory: Path, *words: str) -> None:
    """Run git there without any configuration."""
    alone = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": str(directory)}
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    subprocess.run(
        ["git", *who, *words], cwd=directory, env={**os.environ, **alone}, check=True, stdout=subprocess.DEVNULL
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a repository, and a home without configuration."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    made = tmp_path / "project"
    made.mkdir()
    git(made, "init", "-q")
    return made


def is_guarded(project: Path, path: Path | str, *more: Path) -> bool:
    """Whether an agent that works in `project` has to ask for it."""
    given = os.path.join(project, path)
    real = os.path.realpath(given)
    return GuardedFiles(Roots([str(project), *map(str, more)])).why_asked(given, real) is not None


GUARDED_PATHS = [
    *(".git/config", ".git/hooks/pre-commit", ".git/info/attributes", ".git", "x/.git/config", "a/b/.git", ".git/x/y"),
    *(
        ".GIT/config",
        ".Git/config",
        ".git./config",
        ".git /config",
        "git~1/config",
        "GIT~1/config",
        ".git::$DATA/config",
    ),
    *(
        ".g\u200cit/config",
        ".gi\ufefft/config",
        "\uff0egit/config",
        ".git/modules/sub/config",
        ".git/worktrees/w/config",
    ),
    *(
        "./x/../.git/config",
        ".gitmodules",
        "sub/.gitmodules",
        ".gitconfig",
        ".husky/pre-commit",
        ".githooks/post-merge",
    ),
    *("lefthook.yml", ".pre-commit-config.yaml", ".nvim.lua", "sub/.nvim.lua", ".NVIM.lua", ".nvimrc", ".exrc"),
    *(".lazy.lua", ".vim/coc-settings.json", ".vscode/tasks.json", ".vscode/settings.json", "x.code-workspace"),
    *(".idea/workspace.xml", ".devcontainer/devcontainer.json", ".devcontainer.json", ".envrc", ".mise.toml"),
    *("mise.local.toml", ".config/mise/config.toml", ".claude/settings.json", ".mcp.json", ".cursor/mcp.json"),
    *(
        "opencode.jsonc",
        ".gemini/settings.json",
        ".github/hooks/x.json",
        ".npmrc",
        ".yarnrc.yml",
        ".yarn/releases/y.cjs",
    ),
    *("node_modules/.bin/eslint", ".venv/bin/python", "venv/pyvenv.cfg", "sitecustomize.py", "x.pth", ".cargo/config"),
    *(".g\u00adit/config", ".gi\u200bt/config", ".\u2060git/x", ".git\ufe0f/x", ".g\U000e0020it", ".env\u200brc"),
    *(".hg/hgrc", ".exrc.lua", ".nlsp-settings/lua_ls.json", ".helix/languages.toml", "x.sublime-project", ".jj/repo"),
    *(
        "eslint.config.mjs",
        "web/.prettierrc.js",
        "rust-toolchain.toml",
        "build.rs",
        ".pnp.cjs",
        ".terraform/x",
        ".ssh/rc",
    ),
    *("lefthook-local.yml", "flake.nix", "mise/config.toml", ".pdbrc", ".zshenv", ".config/fish/config.fish"),
    *("gradle/wrapper/gradle-wrapper.properties", ".mvn/extensions.xml", ".gdbinit", "x/HEAD", "x/head"),
]
ORDINARY = [
    *("a.py", "src/.gitignore", ".gitattributes", ".github/workflows/ci.yml", "git/config", ".gitx/config", "x.git.py"),
    *("objects/a.py", "refs/b.py", "config", "hooks/pre-commit", "Makefile", "package.json", "src/head/index.ts"),
    *("HEAD.md", "gradle/libs.toml", "nvim.lua", ".env", "docs/vscode/tasks.json", "a..b", "...", "x/ .py", "mise.py"),
    *(
        "config/mise/a",
        "build.py",
        "eslint.py",
        "agents.md",
        "AGENTS.md",
        "CLAUDE.md",
        ".clauderules",
        "commondir",
        "x/commondir",
    ),
]


@pytest.mark.parametrize("path", GUARDED_PATHS)
def test_what_makes_programs_run_is_guarded(project: Path, path: str) -> None:
    assert is_guarded(project, path)


@pytest.mark.parametrize("path", ORDINARY)
def test_what_does_not_is_ordinary(project: Path, path: str) -> None:
    assert not is_guarded(project, path)


@pytest.mark.parametrize("name", [name for one in GUARDED for name in one.globs])
def test_each_name_of_the_table_counts_at_any_depth_with_all_below_it(project: Path, name: str) -> None:
    name = name.replace("*", "x")
    for path in (name, f"a/b/{name}", f"a/{name}/b/c"):
        assert is_guarded(project, path)
        assert is_guarded(project, path.upper())


def test_each_reason_can_end_a_sentence() -> None:
    assert all(one.why and one.why[-1].isalpha() for one in GUARDED)


SPELLINGS = {
    **dict.fromkeys([".git", ".GIT", ".gIt", ".git ", ".git..", "git~1", "GIT~3", ".git:x", ".\u200dgit"], True),
    **dict.fromkeys(["git", ".gitt", "..git", "git~x", " .git", ".g.it", "x.git", "git.~1"], False),
}


@settings(max_examples=examples(150))
@given(
    st.lists(st.sampled_from(["a", "b.py", "src", "x y"]), max_size=3),
    st.lists(st.sampled_from(["a", "config", "hooks"]), max_size=3),
    st.sampled_from(sorted(SPELLINGS)),
)
def test_git_is_found_wherever_it_stands_in_a_path(above: list[str], below: list[str], name: str) -> None:
    assert (why_guarded([*above, name, *below]) is not None) == SPELLINGS[name]


@pytest.mark.parametrize("piece", [" ", "a ", "(mise.", "x.git ", "*.p "])
def test_long_texts_take_linear_time(piece: str) -> None:
    assert why_named(piece * (PATCH_CHARS // len(piece))) is None  # a minute, if it did not
    assert why_named(piece * 1000 + ", .git/config") is not None


def test_symbolic_links_are_seen_through(project: Path, tmp_path: Path) -> None:
    (project / "harmless").symlink_to(".git/config")
    (project / "folder").symlink_to(".git")
    (project / "chain").symlink_to("folder")
    (project / "new").symlink_to(".git/hooks/not-there-yet")
    assert all(is_guarded(project, path) for path in ("harmless", "folder/x", "chain/hooks/y", "new"))
    (tmp_path / "elsewhere").mkdir()
    (project / ".vscode").symlink_to(tmp_path / "elsewhere")
    assert is_guarded(project, ".vscode/tasks.json", tmp_path / "elsewhere")


def test_what_a_guarded_name_leads_to_is_guarded(project: Path) -> None:
    for name in ("tools", "agents", "src"):
        (project / name).mkdir()
    (project / ".nvim.lua").symlink_to("tools/nvim.lua")
    (project / ".claude").symlink_to("agents")
    assert is_guarded(project, "tools/nvim.lua")
    assert is_guarded(project, "agents/settings.json")
    assert not is_guarded(project, "tools/other.lua")


def test_a_repository_by_another_name_is_one(project: Path) -> None:
    git(project, "init", "-q", "--bare", "box")
    git(project, "init", "-q", "--separate-git-dir", str(project / "apart"), "other")
    for path in ("box/config", "box/hooks/x", "box/new/deep", "apart/config", "apart/worktrees/x/config"):
        assert is_guarded(project, path)
    assert not is_guarded(project, "other/file")
    git(project / "other", "commit", "-q", "--allow-empty", "-m", "x")
    git(project / "other", "worktree", "add", "-q", str(project / "box" / "tree"))
    assert not is_guarded(project, "box/tree/file")
    assert is_guarded(project, "box/tree/.git")


def test_a_directory_cannot_be_made_a_repository(project: Path) -> None:
    made = project / "made"
    made.mkdir()
    assert not is_guarded(project, "made/config")
    assert is_guarded(project, "made/HEAD")
    (made / "HEAD").write_text("ref: refs/heads/main\n")
    assert not is_guarded(project, "made/objects/x")
    (made / "objects").mkdir()
    assert is_guarded(project, "made/refs/heads/x")
    assert is_guarded(project, "made/commondir")
    (made / "refs").mkdir()
    assert is_guarded(project, "made/config")


def test_a_linked_work_tree_and_a_submodule(project: Path, tmp_path: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "x")
    git(project, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = tmp_path / "linked"
    assert is_guarded(linked, ".git")
    assert is_guarded(linked, project / ".git" / "config", project)
    assert is_guarded(linked, project / ".git" / "worktrees" / "linked" / "config.worktree", project)
    assert not is_guarded(linked, "a.py")
    git(project, "submodule", "--quiet", "add", str(linked), "sub")
    for path in ("sub/.git", ".git/modules/sub/config", ".gitmodules"):
        assert is_guarded(project, path)
    assert not is_guarded(project, "sub/a.py")


def test_a_work_tree_below_a_guarded_directory_is_a_project(project: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "x")
    tree = project / ".claude" / "worktrees" / "w"
    git(project, "worktree", "add", "-q", str(tree))
    (tree / "sub").mkdir()
    for root in (tree, tree / "sub"):
        assert not is_guarded(root, "a.py")
        assert is_guarded(root, ".claude/settings.json")
    assert is_guarded(project, ".claude/worktrees/w/a.py")
    (project / ".claude" / "hooks").mkdir()
    assert is_guarded(project / ".claude" / "hooks", "x.sh")
    assert is_guarded(project / ".git" / "hooks", "pre-commit")


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_COMMON_DIR", "GIT_CONFIG_GLOBAL"])
def test_what_the_environment_names(project: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert not is_guarded(project, "mine/config")
    monkeypatch.setenv(name, str(project / "mine"))
    assert is_guarded(project, "mine/config")
    assert is_guarded(project, "mine")


CONFIGURATIONS = [
    ("[core]\n\thooksPath = scripts/hooks\n", "scripts/hooks/pre-commit"),
    ('[core] hookspath="scripts/hooks" # ours\n', "scripts/hooks/pre-commit"),
    ("[core]\n\tHooksPath = \\\nscripts/hooks\n", "scripts/hooks/pre-commit"),
    ("[core]\n\tfsmonitor = scripts/watch --now\n", "scripts/watch"),
    ('[filter "x"]\n\tclean = sh scripts/clean.sh %f\n', "scripts/clean.sh"),
    ('[diff "x"]\n\ttextconv = "./scripts/conv"\n', "scripts/conv"),
    ("[alias]\n\tx = y\n[credential]\n\thelper = !scripts/secret get\n", "scripts/secret"),
    ("[include]\n\tpath = ../team.cfg\n", "team.cfg"),
    ('[filter "x]y"] clean = sh clean.sh %f\n', "clean.sh"),
    ("[alias]\n\tlook = !scripts/look\n", "scripts/look"),
    ("[pager]\n\tdiff = scripts/page\n", "scripts/page"),
    ("[interactive]\n\tdiffFilter = scripts/colour\n", "scripts/colour"),
    ('[remote "o"]\n\tuploadpack = scripts/pack\n', "scripts/pack"),
    ("[init]\n\ttemplateDir = template\n", "template/hooks/post-checkout"),
    ('[difftool "x"]\n\tpath = scripts/tool\n', "scripts/tool"),
    ('[includeIf "gitdir:/"]\n\tpath = ../team.cfg\n', "team.cfg"),
]


@pytest.mark.parametrize(("text", "path"), CONFIGURATIONS)
def test_what_the_configuration_of_git_names(project: Path, text: str, path: str) -> None:
    assert not is_guarded(project, path)
    with (project / ".git" / "config").open("a") as file:
        file.write(text)
    assert is_guarded(project, path)
    assert not is_guarded(project, "scripts/other")


def test_words_of_a_program_that_name_directories_guard_nothing(project: Path) -> None:
    (project / "store").mkdir()
    with (project / ".git" / "config").open("a") as file:
        file.write("[credential]\n\thelper = store\n[alias]\n\tst = status\n")
    assert not is_guarded(project, "store/a.py")
    assert not is_guarded(project, "status")


def test_a_virtual_environment_by_another_name_is_one(project: Path) -> None:
    (project / "env" / "bin").mkdir(parents=True)
    assert not is_guarded(project, "env/bin/python")
    (project / "env" / "pyvenv.cfg").touch()
    assert is_guarded(project, "env/bin/python")
    assert not is_guarded(project / "env" / "bin", "a.py")  # a project that lies in one


def test_a_file_with_another_name_may_be_a_guarded_one(project: Path) -> None:
    os.link(project / ".git" / "config", project / "notes.txt")
    assert is_guarded(project, "notes.txt")
    (project / ".git" / "config").unlink()
    assert not is_guarded(project, "notes.txt")


def test_names_that_a_path_leaves_again_count(project: Path) -> None:
    (project / "a" / "b").mkdir(parents=True)
    (project / "links").symlink_to("a/b")
    assert is_guarded(project, ".git/../a.py")
    assert is_guarded(project, "links/../../.git/x")
    assert not is_guarded(project, "links/../c.py")
    (project / "a" / ".envrc").symlink_to("b/c.py")
    assert is_guarded(project, "links/../.envrc")


def test_configuration_in_other_places(project: Path, tmp_path: Path) -> None:
    (project / "team.cfg").write_text(
        "[core]\n hooksPath = more/hooks\n[include]\n path = ../team.cfg\n path = team.cfg\n"
    )
    (tmp_path / "home" / ".gitconfig").write_text(
        f"[include]\npath = {project}/team.cfg\n[core]\nhooksPath = dot-hooks\n"
    )
    assert is_guarded(project, "dot-hooks/x")
    assert is_guarded(project, "more/hooks/x")
    git(project, "init", "-q", "inner")
    with (project / "inner" / ".git" / "config").open("a") as file:
        file.write("[core]\nhooksPath = own\n")
    assert is_guarded(project, "inner/own/x")
    assert not is_guarded(project, "own/x")


def test_strange_files_in_gits_place_keep_nobody_waiting(project: Path) -> None:
    (project / ".git" / "config").unlink()
    os.mkfifo(project / ".git" / "config")
    os.mkfifo(project / ".git" / "commondir")
    assert not is_guarded(project, "a.py")
    assert is_guarded(project, ".git/config")


def test_where_there_is_no_repository_names_count_anyway(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert is_guarded(tmp_path / "plain", ".git/config")
    assert is_guarded(tmp_path / "plain", tmp_path / "outside" / ".nvim.lua")
    assert not is_guarded(tmp_path / "plain", "a.py")
    assert not is_guarded(tmp_path / "plain", tmp_path / "outside" / "a.py")


def test_what_the_mcp_servers_of_a_project_run(project: Path) -> None:
    (project / ".mcp.json").write_text(
        '{"mcpServers": {"a": {"command": "./run.sh"}, "b": {"command": "node", "args": ["dist/server.js", "."]},'
        ' "c": {"command": "python", "args": ["-m", "tool"]}, "d": {"command": "./link.sh"}, "e": {"url": "./x.sh"}}}'
    )
    (project / "lib").mkdir()
    (project / "lib" / "real.sh").write_text("")
    (project / "link.sh").symlink_to("lib/real.sh")
    for name in (
        "run.sh",
        "RUN.sh",
        "x/../run.sh",
        "dist/server.js",
        "tool/deep/x.py",
        "tool.py",
        "lib/real.sh",
        "link.sh",
    ):
        assert is_guarded(project, name), name
    for name in ("run.shx", "lib/run.sh", "dist/other.js", "src/a.py", "x.sh", "new/file"):
        assert not is_guarded(project, name), name
    for text in (
        "",
        "5",
        "[]",
        "{",
        '{"mcpServers": 5}',
        '{"mcpServers": {"a": 5, "b": {"args": [[["./run.sh"]]]}}}',
        "[" * 9999,
    ):
        (project / ".mcp.json").write_text(text)
        assert not is_guarded(project, "dist/server.js"), text
