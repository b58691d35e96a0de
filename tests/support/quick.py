"""Which tests `make quick` leaves to `make test`: those that take longest, by the processor time of their files.

It takes none of `make system` (`system_tests.py`), either.
"""

from __future__ import annotations

from typing import Final

QUICK: Final = ("tests/core/", "tests/lua/")
"""Folders with quick tests. All others start hosts and agents, or programs that were brought."""

SLOW: Final = frozenset(
    f"tests/{name}.py"
    for name in (
        # random sequences, and each case of many
        "core/acp/schema/test_broken",
        "core/acp/schema/test_bounds",
        "core/acp/schema/test_received",
        "core/acp/schema/test_whole_requests",
        "core/jsonrpc/test_any_stream",
        "core/jsonrpc/test_bounded_sizes",
        "core/jsonrpc/test_cut_requests",
        "core/acp/test_git_diff",
        "core/permissions/test_asked_commands",
        "core/permissions/test_bash_runs",
        "core/permissions/test_input_paths",
        "core/permissions/test_shells_agree",
        "core/review/test_ledger_properties",
        "core/review/test_restore_properties",
        "core/session/test_wide_numbers",
        "core/session/test_any_permissions",
        "core/session/test_progress",
        "core/snapshots/test_round_trip",
        "core/traffic/test_masking",
        "core/traffic/test_recorded_pieces",
        "core/traffic/test_secret_table",
        "core/workspace/test_merge",
        "core/workspace/test_merge_attributes",
        "lua/test_any_language_answer",
        "lua/test_file_check",
        "lua/test_any_links",
        "lua/test_follow_typing",
        "lua/test_language_answers",
        "lua/test_restored_windows",
        "lua/test_window_buffers",
        # many processes, or waits for the clock of a file system
        "core/acp/test_tool_call",
        "core/review/test_in_each_others_place",
        "core/review/test_moved_directories",
        "core/review/test_users_renames",
        "core/process/test_forked_guard",
        "core/replay/test_recordings_live",
        "core/review/test_users_work",
        "core/session/test_at_address",
        "core/session/test_command_permissions",
        "core/session/test_context",
        "core/session/test_elicitations",
        "core/session/test_remote_agent",
        "core/session/test_fair_shares",
        "core/session/test_git_contents",
        "core/session/test_connecting",
        "core/session/test_grants",
        "core/session/test_guarded_writes",
        "core/session/test_hundred_permissions",
        "core/session/test_isolated_tasks",
        "core/session/test_isolation",
        "core/session/test_newness",
        "core/session/test_open_terminals",
        "core/session/test_opening",
        "core/session/test_outside_access",
        "core/session/test_permission_rules",
        "core/session/test_review",
        "core/session/test_review_kept",
        "core/session/test_review_modes",
        "core/session/test_outside_files",
        "core/session/test_review_trouble",
        "core/session/test_sign_in",
        "core/session/test_start_fails",
        "core/session/test_terminals",
        "core/session/test_removed_repository",
        "core/session/test_wire",
        "core/session/test_renamed_directories",
        "core/snapshots/test_directories",
        "core/snapshots/test_earlier_rules",
        "core/snapshots/test_hosts",
        "core/snapshots/test_nested_repositories",
        "core/snapshots/test_kept_objects",
        "core/snapshots/test_permissions",
        "core/snapshots/test_pins",
        "core/snapshots/test_users_index",
        "core/terminals/test_terminal",
        "core/test_file_time",
        "core/transports/test_tcp",
        "core/transports/test_websocket",
        "core/workspace/test_disk_killed",
        # screens
        "lua/test_markdown_screen",
        "lua/test_review_screen",
        "lua/test_review_ui_screen",
        "lua/test_screen",
        "lua/test_screen_calls",
        "lua/test_screen_chat_windows",
        "lua/test_screen_folds",
    )
)
"""Files of these folders that take two seconds and more: without them the rest takes 3 minutes on two processors."""


def is_quick(name: str) -> bool:
    """Whether `make quick` runs the tests of a file; `name` is its path from the repository."""
    return name.startswith(QUICK) and name not in SLOW
