"""A local HTTP server that speaks as much of the hub's protocol as fetching files of models needs."""

import contextlib
import hashlib
import http.server
import json
import re
import threading
from dataclasses import dataclass, field

_RESOLVE = re.compile(r"/(?P<repo>[\w.-]+(?:/[\w.-]+)?)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_API = re.compile(r"/api/models/(?P<repo>[\w.-]+/[\w.-]+)(?:/(?P<what>revision|tree)/(?P<revision>[^/]+))?")
TOKEN = "hf_granted"


@dataclass
class Repo:
    files: dict[str, bytes]
    commit: str
    branches: tuple[str, ...] = ("main",)
    gated: bool = False
    private: bool = False


@dataclass
class Hub:
    """Repositories by name; ``log`` holds (method, path) of each request."""

    repos: dict[str, Repo] = field(default_factory=dict)
    log: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""
    content_url: str = ""

    def add(self, name: str, files: dict[str, bytes | str | dict], **facts) -> Repo:
        content = {
            file: json.dumps(value).encode()
            if isinstance(value, dict)
            else value.encode()
            if isinstance(value, str)
            else value
            for file, value in files.items()
        }
        commit = hashlib.sha1(repr((name, sorted(content.items()))).encode()).hexdigest()
        self.repos[name] = Repo(content, commit, **facts)
        return self.repos[name]

    def fetched(self, name: str) -> set[str]:
        """Names of the files of a repository that were asked for, by HEAD or GET."""
        found = [_RESOLVE.fullmatch(path) for _, path in self.log]
        return {match["file"] for match in found if match and match["repo"] == name}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self):
        self._answer()

    def do_GET(self):
        self._answer()

    def log_message(self, *args):
        pass

    def _answer(self):
        path = self.path.partition("?")[0]
        self.hub.log.append((self.command, path))
        if path.startswith("/content/"):
            self._content(path.rpartition("/")[2])
        elif match := _RESOLVE.fullmatch(path):
            self._resolve(match)
        elif match := _API.fullmatch(path):
            self._api(match)
        else:
            self._fail(404, "EntryNotFound")

    def _repo(self, match):
        """The repository that a path names, if its caller may see it; else answers and gives None."""
        repo = self.hub.repos.get(match["repo"])
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if repo is None or (repo.private and token != TOKEN):
            self._fail(401 if not token else 404, "RepoNotFound")
        elif repo.gated and token != TOKEN:
            self._fail(403 if token else 401, "GatedRepo")
        elif match["revision"] not in (None, repo.commit, *repo.branches):
            self._fail(404, "RevisionNotFound")
        else:
            return repo
        return None

    def _resolve(self, match):
        repo = self._repo(match)
        if repo is None:
            return
        content = repo.files.get(match["file"])
        if content is None:
            self._fail(404, "EntryNotFound", {"X-Repo-Commit": repo.commit})
        elif match["file"].endswith((".safetensors", ".bin")):
            # Large files are kept on another host: the hub redirects to it and names their hash and size.
            digest = hashlib.sha256(content).hexdigest()
            linked = {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(content))}
            location = {"Location": f"{self.hub.content_url}/content/{digest}", "X-Repo-Commit": repo.commit}
            self._send(302, b"", {**linked, **location})
        else:
            etag = hashlib.sha1(content).hexdigest()
            self._send(200, content, {"ETag": f'"{etag}"', "X-Repo-Commit": repo.commit})

    def _content(self, digest):
        for repo in self.hub.repos.values():
            for content in repo.files.values():
                if hashlib.sha256(content).hexdigest() == digest:
                    self._send(200, content, {"ETag": f'"{digest}"'})
                    return
        self._fail(404, "EntryNotFound")

    def _api(self, match):
        repo = self._repo(match)
        if repo is None:
            return
        if match["what"] == "tree":
            answer = [
                {"type": "file", "path": name, "size": len(data), "oid": ""}
                for name, data in repo.files.items()
            ]
        else:
            answer = {
                "id": match["repo"],
                "sha": repo.commit,
                "siblings": [{"rfilename": name} for name in repo.files],
            }
        self._send(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _fail(self, status, code, headers=None):
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": code, **(headers or {})})

    def _send(self, status, content, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextlib.contextmanager
def serving():
    """A hub on a free port of this machine, for as long as the context lasts."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        port = server.server_address[1]
        hub.url, hub.content_url = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
