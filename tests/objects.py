"""An object store on this machine: as much of S3's protocol, over HTTP, as reading needs.

Requests are answered as the documentation of S3 has it: HEAD and GET of an object, whole or a range of it, and
ListObjectsV2. Who asks with another key than `KEY` is refused.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

KEY, SECRET = "keeper", "qzhushed/up"


class Store:
    """A server whose buckets are folders.

    Attributes
    ----------
    root : Path
        The folder of the buckets.
    asked : list of (str, str)
        The method, and the path or what is listed, of every request.
    sent : int
        How many bytes of objects were sent.
    """

    def __init__(self, root: Path, port: int) -> None:
        self.root, self.port = root, port
        self.asked: list[tuple[str, str]] = []
        self.sent = 0

    def uri(self, path: str, key: str = KEY, **more: str) -> str:
        """The URI of something in the store, with the key, the secret and the address."""
        options = {"endpoint_override": f"127.0.0.1:{self.port}", "scheme": "http", "region": "here"} | more
        query = "&".join(f"{name}={quote(value)}" for name, value in options.items())
        return f"s3://{key}:{quote(SECRET, safe='')}@{path}?{query}"


@contextmanager
def serving(root: Path) -> Iterator[Store]:
    """A store whose buckets are the folders of `root`, until it is left."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.store = Store(root, server.server_address[1])  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.store  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def store(self) -> Store:
        return self.server.store  # type: ignore[attr-defined,no-any-return]

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        address = urlsplit(self.path)
        path, query = unquote(address.path).strip("/"), {name: v[0] for name, v in parse_qs(address.query).items()}
        self.store.asked.append((self.command, query.get("prefix", path)))
        if f"Credential={KEY}/" not in self.headers.get("Authorization", ""):
            return self._refuse(403, "AccessDenied")
        bucket = self.store.root / path.split("/")[0]
        if not bucket.is_dir():
            return self._refuse(404, "NoSuchBucket")
        if "list-type" in query:
            return self._send(200, self._listed(bucket, query), {"Content-Type": "application/xml"})
        if "/" not in path:
            return self._send(200, b"", {})
        file = self.store.root / path
        if not file.is_file():
            return self._refuse(404, "NoSuchKey")
        return self._object(file)

    def _object(self, file: Path) -> None:
        content = file.read_bytes()
        headers = {"ETag": '"1"', "Last-Modified": "Wed, 01 Jan 2025 00:00:00 GMT", "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        status = 200
        if asked:
            first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
            content, status = content[first : last + 1], 206
        self.store.sent += len(content) * (self.command == "GET")
        self._send(status, content, headers)

    def _listed(self, bucket: Path, query: dict[str, str]) -> bytes:
        prefix, mark = query.get("prefix", ""), query.get("delimiter", "")
        keys, folders = [], set()
        for file in sorted(path for path in bucket.rglob("*") if path.is_file()):
            key = file.relative_to(bucket).as_posix()
            if not key.startswith(prefix):
                continue
            rest = key[len(prefix) :]
            if mark and mark in rest:
                folders.add(prefix + rest.split(mark)[0] + mark)
            else:
                keys.append((key, file.stat().st_size))
        keys = keys[: int(query.get("max-keys", 1000))]
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size><LastModified>2025-01-01T00:00:00.000Z</LastModified>"
            "</Contents>"
            for key, size in keys
        )
        found += "".join(f"<CommonPrefixes><Prefix>{escape(p)}</Prefix></CommonPrefixes>" for p in sorted(folders))
        count = len(keys) + len(folders)
        return (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{bucket.name}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{count}</KeyCount>"
            f"<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
        ).encode()

    def _refuse(self, status: int, code: str) -> None:
        body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{code}</Message></Error>'
        self._send(status, body.encode(), {"Content-Type": "application/xml"})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""
