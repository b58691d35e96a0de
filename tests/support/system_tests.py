"""Which tests are of `make system`, not of `make test`: those that need a real clock or the machine, with reasons."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, tuple[str, ...]]] = {
    # programs of others
    "talks with the protocol's official SDKs, in Python and node": ("peers/",),
    "lets the official client of MCP start the real relay": (
        "core/mcp/test_eras.py::test_a_client_lists_and_calls_the_tools",
        "core/mcp/test_eras.py::test_a_client_with_a_handshake_is_told_when_the_list_changes",
        "core/mcp/test_eras.py::test_errors_are_told_in_words",
        "core/mcp/test_progress.py::test_a_call_that_waits_for_the_user_tells_of_progress",
    ),
    "waits for what real language servers find": ("nvim/test_after_turn.py", "nvim/test_language_tools.py"),
    # installing and building
    "installs with the real pip": ("tools/test_install.py", "tools/test_install_ways.py"),
    "asks the machine's node for its version": ("tools/test_setup_peers.py",),
    "builds archives of the whole repository, with git and tar": ("tools/test_release.py",),
    "runs builds in the background of the whole plugin": ("nvim/test_build.py",),
    "films the demo on a screen, which pauses for real seconds": ("tools/test_picture.py",),
    # several programs that race on purpose
    "plays random sequences of agents, users, git and kills": ("attribution/",),
    "plays random sequences of a user who types while agents and other programs write": ("workspace/",),
    "plays random sequences of decisions, renames and restores with real git": (
        "core/review/test_ledger_properties.py",
        "core/review/test_restore_properties.py::test_to_go_back_and_to_undo_that_gives_every_byte",
        "core/review/test_restore_properties.py::test_to_reject_all_gives_every_byte_and_to_keep_all_changes_none",
        "core/review/test_restore_properties.py::test_what_the_user_has_changed_since_stays",
        "core/snapshots/test_hidden_files.py::test_wherever_directories_go",
        "core/snapshots/test_round_trip.py",
    ),
    "plays random layouts, commands and names in a real Neovim": (
        "lua/test_follow_typing.py::test_any_commands_one_after_the_other",
        "lua/test_layouts.py::test_any_layout",
        "lua/test_layouts_kept.py::test_what_was_readable_stays_so_in_any_layout",
        "nvim/test_any_name.py::test_any_name",
    ),
    "lets every task and event fail while another agent, a process, streams": (
        "core/session/test_isolated_tasks.py",
        "core/session/test_isolation.py",
    ),
    "lets agents talk at once": ("nvim/test_fair_shares.py", "nvim/test_many_sessions.py"),
    "lets several programs do the same at once": (
        "core/permissions/test_store.py::test_two_hosts_at_once_lose_nothing",
        "core/process/test_group.py::test_one_that_is_just_starting_a_program_is_found",
        "core/session/test_terminals.py::test_a_hundred_run_at_once_and_each_has_its_own_output_and_end",
        "core/test_file_time.py::test_a_file_that_is_being_emptied_has_no_earlier_time",
    ),
    # signals
    "ends processes by signals, within real seconds of grace": (
        "core/process/test_stopping.py",
        "core/terminals/test_terminal.py",
        "nvim/test_conversation.py::test_cancel_with_a_bang_ends_an_agent_that_does_not_listen",
    ),
    "kills or stops the host, or the guard, and looks for processes that are left": (
        "core/process/test_forked_guard.py",
        "core/process/test_guard.py",
        "nvim/test_endings.py",
        "nvim/test_escaping.py",
        "nvim/test_killed.py",
        "nvim/test_attribution.py",
    ),
    "kills the host": (
        "nvim/test_at_address.py::test_the_agent_sees_the_end_of_the_editor",
        "nvim/test_config.py::test_a_mode_outlives_the_host",
        "nvim/test_failures.py::test_turns_that_end_with_the_host_are_told_of",
        "nvim/test_queue.py::test_equal_prompts_keep_their_own_selections_whenever_the_host_dies",
        "nvim/test_queue.py::test_what_waits_stays_when_the_host_dies_and_goes_out_with_the_next_prompt",
        "nvim/test_review_comments.py::test_the_host_dies_while_it_has_the_comments",
        "nvim/test_subagents.py::test_they_are_over_with_the_host",
    ),
    "kills Neovims, whose files the next ones read": (
        "nvim/test_kept.py",
        "nvim/test_review_restart.py",
        "nvim/test_stored_comments.py",
    ),
    "kills or stops an agent": (
        "core/session/test_agent_ends.py::test_what_it_said_before_the_last_message_does_not_explain_a_kill",
        "core/session/test_agent_ends.py::test_what_it_said_since_its_last_message_is_told_after_a_kill",
        "core/session/test_shared_hang.py::test_a_forced_cancel_ends_the_process_and_names_the_chat",
        "core/session/test_shared_hang.py::test_the_chat_is_named_by_its_title",
        "core/session/test_shared_hang.py::test_the_second_chat_gives_up_and_the_first_one_stays",
        "core/session/test_terminals.py::test_with_the_agent_all_of_its_terminals_end",
        "nvim/test_failures.py::test_what_was_queued_when_an_agent_died_is_not_forgotten",
        "nvim/test_hundred_permissions.py",
        "nvim/test_permission_float.py::test_twenty_at_once_from_two_sessions_leave_the_screen",
        "nvim/test_preview.py::test_it_goes_with_whoever_would_do_it",
    ),
    "kills a program while it writes": (
        "core/snapshots/test_hosts.py::test_hosts_that_are_killed",
        "core/workspace/test_disk_killed.py",
    ),
    "kills a server": ("core/transports/test_tcp.py::test_a_server_that_is_killed_ends_the_connection",),
    # processes, memory and clocks of the machine
    "looks for processes that are left": (
        "agents/test_demo_end.py",
        "agents/test_scripted_process.py",
        "core/session/test_agent_ends.py::test_children_of_a_dead_agent_are_ended",
        "core/session/test_left_commands.py",
        "core/session/test_terminals.py::test_grandchildren_end_with_their_terminal",
        "nvim/test_demo.py::test_the_demo_opens_a_chat_and_leaves_nothing",
        "nvim/test_harness.py::test_close_after_neovim_was_killed",
        "nvim/test_harness.py::test_close_fails_when_something_is_left_and_ends_it",
        "nvim/test_harness.py::test_close_leaves_no_process",
        "nvim/test_harness.py::test_neovim_dies_with_the_tests",
        "nvim/test_terminals.py::test_what_runs_when_neovim_is_left_does_not_outlive_it",
    ),
    "reads the memory map of a real host": ("nvim/test_heap.py",),
    "waits for the clock of the file system": (
        "core/test_file_time.py::test_a_tick_divides_what_is_changed_before_and_after_it",
    ),
    "has to connect within real milliseconds": (
        "core/mcp/test_listener.py::test_many_clients_without_a_token_do_not_keep_others_out_for_long",
        "core/transports/test_tcp.py::test_of_several_addresses_the_first_that_answers_is_taken",
    ),
    "measures time": (
        "core/terminals/test_screen.py::test_time_is_linear",
        "nvim/test_harness.py::test_ping_of_an_idle_neovim_is_quick",
        "nvim/test_harness.py::test_ping_sees_a_stall",
    ),
}
"""What tests do for that they are here; below `tests`: folders (`folder/`), files, and `file::test` with all its cases.

A test is here if it can be red by chance: it waits for real seconds, sends signals, looks for processes, lets several
programs race, or needs programs of others; or if it plays random sequences with processes, which takes long. A test
that only uses an agent that is a process is not here for that."""

SYSTEM: Final = {f"tests/{entry}": reason for reason, entries in REASONS.items() for entry in entries}
WHOLE: Final = tuple(entry for entry in SYSTEM if "::" not in entry)


def is_system(test: str) -> bool:
    """Whether a test is of the system gate; `test` is its node id."""
    return test.startswith(WHOLE) or test.partition("[")[0] in SYSTEM


def may_have(name: str, gate: str) -> bool:
    """Whether a file may have tests of a gate, `test` or `system`; `name` is its path from the repository."""
    if gate == "test":
        return not name.startswith(WHOLE)
    return name.startswith(WHOLE) or any(entry.startswith(f"{name}::") for entry in SYSTEM)
