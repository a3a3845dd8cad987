"""Settings, requests and answers, with a transport in place of the network."""

import asyncio
import threading
import unittest
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from unittest import mock

from purser import AsyncPurser, HttpAnswer, HttpRequest, Purser, ServiceApiError
from vectors import VECTORS

BASE = "https://purser.test"
BALANCE = (
    b'{"userId":"anna","balanceMicros":9007199254740993,"reservedMicros":0,"availableMicros":1,"currency":"EUR",'
    b'"spendCapMicros":null,"spentThisMonthMicros":0,"status":"active","later":{}}'
)
USAGE = (
    b'{"userId":"anna","currency":"EUR","periodStart":"2026-11-01T00:00:00.000Z","periodEnd":"2026-12-01T00:00:00.000Z",'
    b'"requests":1,"promptTokens":2,"completionTokens":3,"totalTokens":5,"chargedMicros":4,'
    b'"models":[{"model":"m","requests":1,"promptTokens":2,"completionTokens":3,"chargedMicros":4}]}'
)


def client_that(body: bytes, status: int = 200) -> "tuple[Purser, list[HttpRequest]]":
    sent: list[HttpRequest] = []

    def transport(request: HttpRequest) -> HttpAnswer:
        sent.append(request)
        return HttpAnswer(status, {"x-correlation-id": "cor_1"}, body)

    return Purser(base_url=BASE, api_key="svc_live_x", transport=transport), sent


class SettingsTest(unittest.TestCase):
    def test_addresses_keys_and_users_are_accepted_and_refused_as_by_the_sdk(self) -> None:
        for kind in (Purser, AsyncPurser):
            for given, wanted in VECTORS["addresses"]["accepted"]:
                self.assertEqual(kind(base_url=given, api_key="k").for_user("anna").base_url, wanted)
            for given in [*VECTORS["addresses"]["refused"], None, 7]:
                with self.subTest(given), self.assertRaises(ValueError) as raised:
                    kind(base_url=given, api_key="k")
                self.assertNotIn("secret", repr(raised.exception))
            for given in [*VECTORS["keys"]["refused"], None]:
                with self.subTest(given), self.assertRaises(ValueError):
                    kind(base_url=BASE, api_key=given)
            purser = kind(base_url=BASE, api_key="k")
            for given in VECTORS["users"]["accepted"]:
                self.assertEqual(purser.for_user(given).user_id, given)
            for given in [*VECTORS["users"]["refused"], None, 7, True, ["anna"]]:
                with self.subTest(given), self.assertRaises(ValueError):
                    purser.for_user(given)

    def test_a_client_is_told_the_address_the_key_and_the_user(self) -> None:
        user = Purser(base_url=BASE, api_key="k").for_user("anna")
        headers = {"x-service-user": "anna"}
        settings = user.openai()
        self.assertEqual((settings["base_url"], settings["api_key"]), (f"{BASE}/v1", "k"))
        self.assertEqual(settings["default_headers"], headers)
        settings["default_headers"]["x-service-user"] = "eve"
        self.assertEqual(user.openai()["default_headers"], headers, "one client's settings are not another's")

    def test_logging_a_client_a_user_or_a_request_does_not_show_the_key(self) -> None:
        purser, sent = client_that(BALANCE)
        user = purser.for_user("anna")
        user.balance()
        self.assertNotIn("svc_live_x", repr([purser, user, user._access, sent, user._calls]))


class RequestTest(unittest.TestCase):
    def test_every_call_names_the_app_and_the_user(self) -> None:
        purser, sent = client_that(b"{}", 401)
        calls: list[Any] = [
            lambda: purser.balance("anna", correlation_id="mine"),
            lambda: purser.usage_summary("anna", month="2026-01", correlation_id="mine"),
            lambda: purser.receipt("anna", "a/b?c", correlation_id="mine"),
            lambda: purser.connect("anna", redirect_uri="https://app.test/", state="é", correlation_id="mine"),
        ]
        for call in calls:
            self.assertRaises(ServiceApiError, call)
        self.assertEqual(
            [(request.method, request.url, request.body) for request in sent],
            [
                ("GET", f"{BASE}/balance", None),
                ("GET", f"{BASE}/usage/summary?month=2026-01", None),
                ("GET", f"{BASE}/calls/a%2Fb%3Fc", None),
                ("POST", f"{BASE}/connect", b'{"redirectUri": "https://app.test/", "state": "\\u00e9"}'),
            ],
        )
        for request in sent:
            self.assertEqual(
                [request.headers[name] for name in ("authorization", "x-service-user", "x-correlation-id")],
                ["Bearer svc_live_x", "anna", "mine"],
            )

    def test_amounts_are_exact_and_times_are_times(self) -> None:
        balance = client_that(BALANCE)[0].balance("anna")
        self.assertEqual((balance.balance_micros, balance.spend_cap_micros), (9007199254740993, None))
        usage = client_that(USAGE)[0].usage_summary("anna")
        self.assertEqual(usage.period_start, datetime(2026, 11, 1, tzinfo=timezone.utc))
        self.assertEqual([model.charged_micros for model in usage.models], [4])

    def test_an_answer_that_is_not_of_the_service_is_reported_as_such(self) -> None:
        for body in (
            b"<h1>Welcome</h1>",
            b"{}",
            b"[]",
            b"\xff",
            BALANCE.replace(b'"EUR"', b"1"),
            BALANCE.replace(b":1,", b":true,"),
            b"[" * 100_000,
        ):
            with self.assertRaises(ServiceApiError) as raised:
                client_that(body)[0].balance("anna")
            self.assertEqual(
                (raised.exception.code, raised.exception.message, raised.exception.correlation_id),
                ("UNKNOWN", f"The server at {BASE} is not Purser.", "cor_1"),
            )
            self.assertIsNone(raised.exception.__context__)

    def test_async_calls_are_the_same(self) -> None:
        async def transport(request: HttpRequest) -> HttpAnswer:
            return HttpAnswer(200, {}, USAGE if "usage" in request.url else BALANCE)

        async def run() -> None:
            purser = AsyncPurser(base_url=BASE, api_key="k", transport=transport)
            user = purser.for_user("anna")
            self.assertEqual(await purser.balance("anna"), client_that(BALANCE)[0].balance("anna"))
            self.assertEqual(await user.usage_summary(month="2026-01"), client_that(USAGE)[0].usage_summary("anna"))
            with self.assertRaises(ServiceApiError):
                await user.connect(redirect_uri="https://app.test/")

        asyncio.run(run())


class Elsewhere(BaseHTTPRequestHandler):
    """Redirects, breaks off, and answers with too much."""

    def do_GET(self) -> None:
        if self.path.endswith("/balance"):
            self.send_response(302)
            self.send_header("location", "/stolen")
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("content-length", "99")
            self.end_headers()
            self.wfile.write(b"{")

    def log_message(self, *_: object) -> None:
        pass


class TransportTest(unittest.TestCase):
    def test_no_redirect_is_followed_and_a_broken_connection_is_an_os_error(self) -> None:
        with HTTPServer(("127.0.0.1", 0), Elsewhere) as server, mock.patch.dict("os.environ", no_proxy="127.0.0.1"):
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            try:
                purser = Purser(base_url=f"http://127.0.0.1:{server.server_port}", api_key="k", timeout_seconds=5)
                with self.assertRaises(ServiceApiError) as raised:
                    purser.balance("anna")
                self.assertEqual((raised.exception.status, raised.exception.code), (302, "UNKNOWN"))
                with self.assertRaises(OSError):
                    purser.usage_summary("anna")
            finally:
                server.shutdown()
        with self.assertRaises(OSError):
            purser.balance("anna")
