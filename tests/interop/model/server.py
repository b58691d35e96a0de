"""The server: finds the dialect by the path, and sends what the scene says, at its pace."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

from tests.interop.model import anthropic_messages, chat_completions, gemini, responses
from tests.interop.model.scenes import reply

DIALECTS = (anthropic_messages, chat_completions, responses, gemini)
MODELS = ("fake-model", "other-model")


class ModelServer:
    """Answers on a port of loopback until it is closed; `turns` are (scene, model) of all that had a scene.

    `last_body` is what was asked last in a scene, as JSON.
    """

    def __init__(self) -> None:
        self.last_body = ""
        self.over = threading.Event()
        self.turns: list[tuple[str, str]] = []
        self.strange: list[str] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port of the server."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """End all answers and the server."""
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    owner: ModelServer

    def handle_error(self, *_: Any) -> None:
        """An agent that leaves in the middle is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """List the models; nothing else can be got."""
        models = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in MODELS]
        if self.path.split("?")[0].endswith("/models"):
            self._whole({"object": "list", "data": models, "models": [], "has_more": False})
        else:
            self._whole({"error": {"message": "not here"}}, 404)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Answer a question to the model."""
        body = self._body()
        path = self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            return self._whole({"input_tokens": 1000, "totalTokens": 1000})
        dialect = next((one for one in DIALECTS if path.endswith(one.PATH) or one.PATH in path.split(":")[-1]), None)
        if dialect is None or body is None:
            self.server.owner.strange.append(path)
            return self._whole({"error": {"message": "not here"}}, 404)
        if dialect is gemini:
            body["model"] = path.rsplit("/", 1)[-1].split(":")[0]
        return self._answer(dialect, body, bool(body.get("stream")) or "stream" in path.split(":")[-1])

    def _body(self) -> dict[str, Any] | None:
        length = self.headers.get("content-length")
        raw = self.rfile.read(int(length)) if length else b"".join(iter(self._chunk, b""))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _answer(self, dialect: ModuleType, body: dict[str, Any], streamed: bool) -> None:
        asked = dialect.parse(body)
        name, answer = reply(asked)
        if name:
            self.server.owner.turns.append((name, asked.model))
            self.server.owner.last_body = json.dumps(body)
        if not streamed:
            return self._whole(dialect.whole(asked, answer, body))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event, data in dialect.stream(asked, answer):
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode())
            self.wfile.flush()
            if self.server.owner.over.wait(answer.pause):
                return None
        return None

    def _whole(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
