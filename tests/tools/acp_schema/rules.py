"""What a schema does not say: which definitions are used, how large a field may be, and where agents deviate."""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]

VERSIONS: Final = ("v1", "v2")

READ: Final[dict[str, tuple[str, ...]]] = {
    "v1": (
        "SessionNotification",
        "RequestPermissionRequest",
        "ReadTextFileRequest",
        "WriteTextFileRequest",
        "CreateTerminalRequest",
        "TerminalOutputRequest",
        "WaitForTerminalExitRequest",
        "KillTerminalRequest",
        "ReleaseTerminalRequest",
        "CreateElicitationRequest",
        "CompleteElicitationNotification",
        "InitializeResponse",
        "NewSessionResponse",
        "LoadSessionResponse",
        "ResumeSessionResponse",
        "ForkSessionResponse",
        "ListSessionsResponse",
        "SetSessionConfigOptionResponse",
        "PromptResponse",
        "SetSessionTitleResponse",
        "AuthStatusResponse",
        "AuthStatusUpdateNotification",
        "ListProvidersResponse",
    ),
    "v2": (
        "UpdateSessionNotification",
        "RequestPermissionRequest",
        "CreateElicitationRequest",
        "CompleteElicitationNotification",
        "InitializeResponse",
        "NewSessionResponse",
        "ResumeSessionResponse",
        "ListSessionsResponse",
        "SetSessionConfigOptionResponse",
        "PromptResponse",
        "SetSessionTitleResponse",
        "AuthStatusResponse",
        "AuthStatusUpdateNotification",
        "ListProvidersResponse",
    ),
}
"""What is decoded: everything that these lead to is bounded."""

SENT: Final[dict[str, tuple[str, ...]]] = {
    "v1": (
        "AuthenticateRequest",
        "LogoutRequest",
        "NewSessionRequest",
        "LoadSessionRequest",
        "ResumeSessionRequest",
        "ForkSessionRequest",
        "ListSessionsRequest",
        "CloseSessionRequest",
        "DeleteSessionRequest",
        "PromptRequest",
        "CancelNotification",
        "SetSessionModeRequest",
        "SetSessionModelRequest",
        "SetSessionConfigOptionRequest",
        "RequestPermissionResponse",
        "CreateElicitationResponse",
        "SetSessionTitleRequest",
        "ArchiveSessionRequest",
        "UnarchiveSessionRequest",
        "AuthStatusRequest",
        "ListProvidersRequest",
        "SetProviderRequest",
        "DisableProviderRequest",
    ),
    "v2": (
        "NewSessionRequest",
        "ResumeSessionRequest",
        "ListSessionsRequest",
        "CloseSessionRequest",
        "DeleteSessionRequest",
        "PromptRequest",
        "RequestPermissionResponse",
        "CreateElicitationResponse",
        "CancelToolCallRequest",
        "CancelTerminalRequest",
        "SetSessionTitleRequest",
        "ArchiveSessionRequest",
        "UnarchiveSessionRequest",
        "AuthStatusRequest",
        "ListProvidersRequest",
        "SetProviderRequest",
        "DisableProviderRequest",
    ),
}
"""What is built and encoded. A union here is one struct that has the members of all alternatives."""

# --- deviations from the stable schema ------------------------------------------------------------------------------

LIKE_V2: Final = (
    "BlobResourceContents",
    "CancelledPermissionOutcome",
    "ListSessionsRequest",
    "ListSessionsResponse",
    "RequestPermissionOutcome",
    "ResourceLink",
    "SessionInfo",
    "SessionInfoUpdate",
    "TextResourceContents",
)
"""Definitions of version 1 that are taken from version 2, which says the same or allows more: one class for both."""

UNSTABLE_MEMBERS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "v1": {
        "SessionCapabilities": ("fork", "systemPrompt", "title", "archive"),
        "AgentCapabilities": ("providers",),
        "AgentAuthCapabilities": ("status",),
        "McpCapabilities": ("acp",),
        "PromptResponse": ("usage",),
        "NewSessionRequest": ("systemPrompt",),
        "LoadSessionRequest": ("systemPrompt",),
        "ResumeSessionRequest": ("systemPrompt",),
    },
    "v2": {
        "SessionCapabilities": ("systemPrompt", "title", "archive"),
        "AgentCapabilities": ("providers",),
        "AgentAuthCapabilities": ("status",),
        "McpCapabilities": ("acp",),
        "IdleStateUpdate": ("usage",),
        "NewSessionRequest": ("systemPrompt",),
        "ResumeSessionRequest": ("systemPrompt",),
        "ListSessionsRequest": ("archived",),
        "SessionInfo": ("archived",),
    },
}
"""Members that only the unstable schema gives to a definition of the stable one."""

UNSTABLE_VARIANTS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "v1": {
        "SessionUpdate": (
            "session_message",
            "session_message_chunk",
            "subagent_update",
            "plan_update",
            "plan_removed",
        ),
        "McpServer": ("acp",),
    },
    "v2": {
        "SessionUpdate": ("session_message", "session_message_chunk", "subagent_update", "plan_removed"),
        "PlanUpdateContent": ("file", "markdown"),
        "StateUpdate": ("unknown",),
        "McpServer": ("acp",),
    },
}
"""Alternatives, by tag, that only the unstable schema gives to a union of the stable one."""

_MODELS: Final[Json] = {"properties": {"models": {"anyOf": [{"$ref": "#/$defs/SessionModelState"}, {"type": "null"}]}}}

PATCHES: Final[dict[str, dict[str, Json]]] = {
    "v1": {
        # Models of a session were replaced by configuration options and left the schema; older agents have only them.
        "NewSessionResponse": _MODELS,
        "LoadSessionResponse": _MODELS,
        "ResumeSessionResponse": _MODELS,
        "ForkSessionResponse": _MODELS,
        "SessionModelState": {
            "properties": {
                "availableModels": {"type": "array", "items": {"$ref": "#/$defs/ModelInfo"}},
                "currentModelId": {"type": "string"},
            },
            "required": ["availableModels", "currentModelId"],
        },
        "ModelInfo": {
            "properties": {
                "modelId": {"type": "string"},
                "name": {"type": "string"},
                "description": {"type": ["string", "null"]},
            },
            "required": ["modelId", "name"],
        },
        "SetSessionModelRequest": {
            "properties": {"sessionId": {"type": "string"}, "modelId": {"type": "string"}},
            "required": ["sessionId", "modelId"],
        },
        # A state of version 1 has no background work, and why it is idle is only shown.
        "StateUpdate": {
            "properties": {
                "state": {"type": "string"},
                "stopReason": {"type": ["string", "null"]},
                "error": {"anyOf": [{"$ref": "#/$defs/Error"}, {"type": "null"}]},
            },
            "required": ["state"],
            "anyOf": [],
        },
    },
    "v2": {
        # Some agents send version 1's two texts instead of the changes.
        "Diff": {
            "properties": {
                "path": {"$ref": "#/$defs/AbsolutePath"},
                "oldText": {"type": ["string", "null"]},
                "newText": {"type": "string"},
            },
            "required": [],
            "anyOf": [{"required": ["changes"]}, {"required": ["path", "newText"]}],
        },
    },
}
"""Changes of definitions: `properties` are added (None: removed), other keywords replaced; new definitions."""

# --- bounds of what is read (`acp_nvim.acp.fields`) -----------------------------------------------------------------

TEXTS: Final[dict[str, str]] = {
    **dict.fromkeys(("AbsolutePath", "path", "oldPath", "cwd", "additionalDirectories"), "Path"),
    **dict.fromkeys(("uri", "url", "baseUrl", "SessionListCursor", "cursor", "nextCursor"), "Uri"),
    **dict.fromkeys(("name", "PlanEntry.content", "ElicitationSchema.required"), "Name"),
    **dict.fromkeys(("AvailableCommand.name", "Command.name", "ElicitationSchema.properties"), "Id"),
    **dict.fromkeys(("command", "args", "env", "EnvVariable.name", "value"), "Argument"),
    **dict.fromkeys(("const", "default", "enum", "ElicitationContentValue"), "Value"),
    **dict.fromkeys(("MediaType", "mimeType", "lastModified", "updatedAt", "version", "currency", "signal"), "Word"),
    **dict.fromkeys(
        ("priority", "status", "stopReason", "type", "sizes", "format", "PromptResponse.stopReason"), "Word"
    ),
    **dict.fromkeys(("TerminalOutput.data", "TerminalOutputChunk.data"), "Output"),
    **dict.fromkeys(("data", "blob"), "Data"),
    **dict.fromkeys(("oldText", "newText", "DiffPatch.text"), "DiffText"),
    "WriteTextFileRequest.content": "FileText",
    "PlanMarkdown.content": "Text",
    "pattern": "Pattern",
    "text": "Text",
    "title": "Title",
}
"""The bounded type of a text, by "Definition.property", property, or the definition of the text itself.

Else one whose definition or property ends in "Id" is an `Id`, an enumeration is a `Word`, and the rest are `Words`.
"""

LISTS: Final[dict[str, str]] = {
    "content": "cut(limits.CONTENT_ITEMS)",
    "summary": "cut(limits.CONTENT_ITEMS)",
    "entries": "cut(limits.PLAN_ENTRIES)",
    "locations": "cut(limits.LOCATIONS)",
    "changes": "cut(limits.DIFF_CHANGES)",
    "availableCommands": "cut(limits.COMMANDS)",
    "availableModes": "cut(limits.MODES)",
    "availableModels": "cut(limits.MODELS)",
    "configOptions": "cut(limits.CONFIG_OPTIONS)",
    "sessions": "cut(limits.SESSIONS)",
    "additionalDirectories": "cut(limits.DIRECTORIES)",
    "authMethods": "cut(limits.AUTH_METHODS)",
    "accounts": "cut(limits.AUTH_METHODS)",
    "providers": "cut(limits.AUTH_METHODS)",
    "audience": "cut(limits.ICONS)",
    "icons": "cut(limits.ICONS)",
    "sizes": "cut(limits.ICONS)",
    "options": "cut(limits.MODELS)",
    "RequestPermissionRequest.options": "exact(limits.OPTIONS)",
    "background": "exact(limits.BACKGROUND)",
    "args": "exact(limits.ARGUMENTS)",
    "env": "exact(limits.VARIABLES)",
    "properties": "exact(limits.FORM_FIELDS)",
    "required": "exact(limits.FORM_FIELDS)",
    "enum": "exact(limits.FORM_CHOICES)",
    "oneOf": "exact(limits.FORM_CHOICES)",
    "anyOf": "exact(limits.FORM_CHOICES)",
    "default": "exact(limits.FORM_CHOICES)",
}
"""The bound of a list or a map, by "Definition.property" or property; else it is cut at `limits.ENTRIES`."""
