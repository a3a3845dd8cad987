"""Idempotency keys and charges, with a stand-in for the HTTP client of `openai`."""

import asyncio
import unittest
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from purser import Charge
from purser.http_clients import ChatWatch, _async_class, _sync_class
from purser.retries import CALLS_MAX, FailedCalls, digest_of

URL = "https://purser.test/v1/chat/completions"
JSON = "application/json; charset=utf-8"
END = b": charge-micros=42 call-id=call_1\n\ndata: [DONE]\n\n"


class Request:
    def __init__(
        self, user: str = "anna", body: bytes = b"{}", url: str = URL, method: str = "POST", **headers: str
    ) -> None:
        self.url, self.method, self.content = url, method, body
        self.headers = {"x-service-user": user, **{name.replace("_", "-"): value for name, value in headers.items()}}


class Response:
    """`broken`: its headers arrive, and the rest of it does not."""

    def __init__(
        self,
        status: int = 200,
        kind: str = JSON,
        parts: "tuple[bytes, ...]" = (),
        broken: bool = False,
        **headers: str,
    ) -> None:
        self.is_success = status < 300
        self.headers = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        self._parts, self._broken = parts, broken

    def read(self) -> None:
        if self._broken:
            raise ConnectionError("broken")

    async def aread(self) -> None:
        self.read()

    def iter_bytes(self, chunk_size: "int | None" = None) -> Iterator[bytes]:
        yield from self._parts

    async def aiter_bytes(self, chunk_size: "int | None" = None) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part


class Scene:
    """Gives the answers in order, then success, and records the key of each call."""

    def __init__(self, *answers: "Response | Exception", on_charge: "Callable[[Charge], object] | None" = None) -> None:
        self.answers = list(answers)
        self.keys: list[str | None] = []
        self.watch = ChatWatch(frozenset({URL}), FailedCalls(), on_charge)
        scene = self

        class Client:
            def send(self, request: Any, **_: Any) -> Response:
                scene.keys.append(request.headers.get("idempotency-key"))
                answer = scene.answers.pop(0) if scene.answers else Response()
                if isinstance(answer, Exception):
                    raise answer
                return answer

        class AsyncClient(Client):
            async def send(self, request: Any, **options: Any) -> Response:  # type: ignore[override]
                return Client.send(self, request, **options)

        self.sync_client, self.async_client = _sync_class(Client)(), _async_class(AsyncClient)()
        self.sync_client.purser_watch = self.async_client.purser_watch = self.watch

    def call(self, request: "Request | None" = None) -> Any:
        return self.sync_client.send(request or Request(), stream=True)

    def call_async(self, request: "Request | None" = None) -> Any:
        return asyncio.run(self.async_client.send(request or Request()))

    def numbers(self) -> "list[int]":
        """Equal numbers are equal keys."""
        distinct = list(dict.fromkeys(self.keys))
        return [distinct.index(key) for key in self.keys]


class KeyTest(unittest.TestCase):
    def both(self, act: "Callable[[str], None]") -> None:
        for name in ("call", "call_async"):
            with self.subTest(name):
                act(name)

    def test_a_call_keeps_its_key_until_it_is_answered(self) -> None:
        def act(name: str) -> None:
            scene = Scene(ConnectionError(), TimeoutError(), *(Response(status) for status in (409, 429, 402, 504)))
            call = getattr(scene, name)
            for _ in range(2):
                self.assertRaises(OSError, call)
            for _ in range(6):
                call()
            self.assertEqual(scene.numbers(), [0, 0, 0, 0, 0, 0, 0, 1])
            uuid.UUID(scene.keys[0])

        self.both(act)

    def test_an_answer_that_breaks_off_counts_as_lost_and_a_stream_does_not(self) -> None:
        def act(name: str) -> None:
            scene = Scene(Response(broken=True), Response(kind="text/event-stream", broken=True))
            call = getattr(scene, name)
            self.assertRaises(ConnectionError, call)
            call()
            call()
            self.assertEqual(scene.numbers(), [0, 0, 1])

        self.both(act)

    def test_equal_calls_that_failed_together_have_a_key_each(self) -> None:
        scene = Scene(Response(402), ConnectionError(), Response(402))
        keys = [scene.watch.failed.key_of(b"call") for _ in range(2)]
        for key in keys:
            scene.watch.failed.remember(b"call", key)
        self.assertEqual([scene.watch.failed.key_of(b"call") for _ in range(2)], keys)
        self.assertNotIn(scene.watch.failed.key_of(b"call"), keys)

    def test_another_user_body_or_path_makes_another_call(self) -> None:
        scene = Scene(ConnectionError())
        self.assertRaises(ConnectionError, scene.call)
        scene.call(Request("eve"))
        scene.call(Request(body=b'{"messages":[]}'))
        scene.call(Request(url="https://purser.test/v1/models", method="GET"))
        scene.call()
        self.assertEqual(scene.numbers(), [0, 1, 2, 3, 0])
        self.assertIsNone(scene.keys[3])

    def test_the_apps_own_key_is_left_alone(self) -> None:
        scene = Scene(ConnectionError())
        own = Request(idempotency_key="mine")
        self.assertRaises(ConnectionError, scene.call, own)
        scene.call(own)
        scene.call()
        self.assertEqual((scene.keys[:2], scene.keys[2] == "mine"), (["mine", "mine"], False))

    def test_the_oldest_of_ten_thousand_failed_calls_is_forgotten_first(self) -> None:
        failed = FailedCalls()
        calls = [digest_of("anna", URL, b"%d" % index) for index in range(CALLS_MAX + 1)]
        for call in calls:
            failed.remember(call, "key")
        self.assertEqual([failed.key_of(call) == "key" for call in (calls[0], calls[1])], [False, True])


class CloseTest(unittest.TestCase):
    def test_a_client_that_nobody_holds_any_more_closes_its_connections(self) -> None:
        closed: list[str] = []

        class Client:
            def close(self) -> None:
                closed.append("sync")

            async def aclose(self) -> None:
                closed.append("async")

        async def drop() -> None:
            _async_class(Client)()
            await asyncio.sleep(0)

        _sync_class(Client)()
        asyncio.run(drop())
        _async_class(Client)()  # Without an event loop there is nothing that could close it.
        self.assertEqual(closed, ["sync", "async"])


class ChargeTest(unittest.TestCase):
    def test_the_charge_of_a_plain_answer_is_in_its_headers(self) -> None:
        charges: list[Charge] = []
        told: dict[str, Any] = {"x_service_charge_micros": "9007199254740993", "x_service_call_id": "call_1"}
        scene = Scene(
            Response(402), Response(**told), Response(**told, x_service_replayed="true"), on_charge=charges.append
        )
        for call in (scene.call, scene.call, scene.call_async):
            call()
        self.assertEqual(charges, [Charge("call_1", 9007199254740993, False), Charge("call_1", 9007199254740993, True)])

    def test_the_charge_of_a_stream_is_known_when_its_end_has_been_read(self) -> None:
        stream = b'data: {"choices":[]}\n\n' + END
        pieces = [stream[index : index + 1] for index in range(len(stream))]
        response = b'event: response.completed\ndata: {"type":"response.completed"}\n\n' + END.replace(b"data: [DONE]\n\n", b"")
        for parts in ((stream,), (b"x" * 5_000 + b"\n", END), tuple(pieces), (response,)):
            charges: list[Charge] = []
            answers = [Response(kind="text/event-stream", parts=parts, x_service_call_id="call_1") for _ in "12"]
            scene = Scene(*answers, on_charge=charges.append)
            self.assertEqual(b"".join(scene.call().iter_bytes()), b"".join(parts))

            async def read(response: Any) -> bytes:
                return b"".join([part async for part in response.aiter_bytes()])

            self.assertEqual(asyncio.run(read(scene.call_async())), b"".join(parts))
            self.assertEqual(charges, [Charge("call_1", 42, False)] * 2)

    def test_a_stream_that_breaks_off_or_quotes_a_charge_says_none(self) -> None:
        charges: list[Charge] = []
        for parts in (
            (b"\n" + END[:-1],),
            (b"\n" + END + b"more",),
            (b'data: "' + (b"\n" + END).replace(b"\n", b"\\n"),),
        ):
            scene = Scene(
                Response(kind="text/event-stream", parts=parts, x_service_call_id="call_1"), on_charge=charges.append
            )
            list(scene.call().iter_bytes())
        self.assertEqual(len(charges), 0)
