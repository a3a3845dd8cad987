"""The package against a running service. The repository's `npm test` starts one and says where it is."""

import asyncio
import json
import os
import unittest
import urllib.error
import urllib.request
from typing import Any

from purser import (
    AsyncPurser,
    PaymentRequiredError,
    Purser,
    ServiceApiError,
    TopUp,
    as_payment_required,
    refusal_of,
)

TOLD: dict[str, Any] = json.loads(os.environ.get("PURSER_TEST_SERVICE", "{}"))
WHY = "no service: PURSER_TEST_SERVICE does not say where it is"


def purser_by(key: str = "") -> Purser:
    return Purser(base_url=TOLD["url"], api_key=key or TOLD["liveKey"])


def ask(user: str, key: str = "") -> "dict[str, Any]":
    """A chat call without any client. Raises what `urllib` does."""
    request = urllib.request.Request(
        f"{TOLD['url']}/v1/chat/completions",
        json.dumps({"model": "echo", "messages": [{"role": "user", "content": "Hello"}]}).encode(),
        {
            "authorization": f"Bearer {key or TOLD['liveKey']}",
            "content-type": "application/json",
            **purser_by().for_user(user).headers,
        },
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        answer: dict[str, Any] = json.load(response)
        return {"callId": response.headers["x-service-call-id"], **answer}


def ask_or_refuse(user: str) -> dict[str, Any]:
    """The same, with what `refusal_of` makes of a refused answer."""
    try:
        return ask(user)
    except urllib.error.HTTPError as answer:
        with answer:
            refusal = refusal_of(answer.code, dict(answer.headers), answer.read())
    raise refusal or AssertionError("it was no refusal")


def pay(user: str) -> None:
    urllib.request.urlopen(TOLD["payUrl"] + user, timeout=10).close()


@unittest.skipUnless(TOLD, WHY)
class ServiceTest(unittest.TestCase):
    def test_a_user_is_charged_and_the_wallet_the_summary_and_the_receipt_agree(self) -> None:
        purser = purser_by()
        before = purser.balance("anna")
        call_id = ask("anna")["callId"]
        after = purser.balance("anna")
        receipt = purser.receipt("anna", call_id)
        self.assertEqual(before.balance_micros - after.balance_micros, receipt.charged_micros)
        self.assertGreater(receipt.charged_micros, 0)
        assert receipt.price is not None
        self.assertEqual((receipt.outcome, receipt.price.output_micros_per_million), ("answered", 4_000_000))
        self.assertEqual((after.currency, after.status, after.spend_cap_micros), ("EUR", "active", None))
        usage = purser.usage_summary("anna")
        self.assertEqual(sum(model.charged_micros for model in usage.models), usage.charged_micros)
        self.assertEqual(usage.charged_micros, after.spent_this_month_micros)
        self.assertEqual(purser.usage_summary("anna", month="2020-01").requests, 0)

    def test_async_calls_say_the_same(self) -> None:
        async def run() -> None:
            purser = AsyncPurser(base_url=TOLD["url"], api_key=TOLD["liveKey"])
            balance, usage = await asyncio.gather(purser.balance("capped"), purser.usage_summary("capped"))
            self.assertEqual((balance, usage), (purser_by().balance("capped"), purser_by().usage_summary("capped")))
            link = await purser.connect("new", redirect_uri=TOLD["redirectUri"])
            self.assertIn("/connect/", link.connect_url)
            with self.assertRaises(PaymentRequiredError):
                await purser.balance("nobody")

        asyncio.run(run())

    def test_a_link_to_connect_is_for_this_user(self) -> None:
        link = purser_by().connect("new", redirect_uri=TOLD["redirectUri"], state="s1", user_label="anna@app.test")
        self.assertRegex(link.connect_url, r"^https://purser\.test/connect/.+")
        self.assertIsNotNone(link.expires_at.tzinfo)

    def test_each_402_of_a_chat_call_has_its_code_and_its_link(self) -> None:
        for user, code, has_link in (
            ("nobody", "PAYMENT_REQUIRED", True),
            ("capped", "APP_SPEND_CAP_EXCEEDED", True),
            ("blocked", "WALLET_SUSPENDED", False),
        ):
            with self.assertRaises(urllib.error.HTTPError) as raised:
                ask(user)
            with raised.exception as answer:
                body = answer.read()
                found = refusal_of(answer.code, dict(answer.headers), body)
            assert isinstance(found, PaymentRequiredError)
            self.assertEqual((found.code, found.topup_url is not None), (code, has_link))
            self.assertRegex(found.correlation_id, "^cor_")
            known = as_payment_required(raised.exception)  # From its headers, because its body may be read only once.
            assert known is not None
            self.assertEqual((known.topup_url, known.correlation_id), (found.topup_url, found.correlation_id))

    def test_every_other_refusal_has_its_code(self) -> None:
        unknown = purser_by("svc_live_nobody")
        calls: list[tuple[Any, int, str]] = [
            (lambda: unknown.balance("anna"), 401, "UNAUTHORIZED"),
            (lambda: unknown.connect("anna", redirect_uri=TOLD["redirectUri"]), 401, "UNAUTHORIZED"),
            (lambda: unknown.usage_summary("anna"), 401, "UNAUTHORIZED"),
            (lambda: purser_by().connect("anna", redirect_uri="https://evil.test/"), 400, "BAD_REQUEST"),
            (lambda: purser_by().usage_summary("anna", month="2026-13"), 400, "BAD_REQUEST"),
            (lambda: purser_by().receipt("anna", "0199"), 404, "NOT_FOUND"),
        ]
        for call, status, code in calls:
            with self.assertRaises(ServiceApiError) as raised:
                call()
            self.assertEqual((raised.exception.status, raised.exception.code), (status, code))
            self.assertRegex(raised.exception.correlation_id, "^cor_")
        with self.assertRaises(ServiceApiError) as raised:
            unknown.balance("anna", correlation_id="mine-1")
        self.assertEqual(raised.exception.correlation_id, "mine-1")

    def test_a_refused_call_waits_until_the_user_has_paid_and_is_made_once_more(self) -> None:
        user = purser_by().for_user("pays-in-sync-code")
        links: list[str] = []

        def on_top_up(top_up: TopUp) -> None:
            links.append(top_up.topup_url)
            pay(user.user_id)

        answer = user.with_top_up(
            lambda: ask_or_refuse(user.user_id), on_top_up=on_top_up, wait_seconds=10, poll_seconds=0
        )
        self.assertEqual((answer["object"], len(links)), ("chat.completion", 1))
        self.assertLess(user.balance().balance_micros, 1_000_000)

    def test_an_async_call_waits_for_the_payment_too(self) -> None:
        async def run() -> None:
            user = AsyncPurser(base_url=TOLD["url"], api_key=TOLD["liveKey"]).for_user("pays-in-async-code")
            answer = await user.with_top_up(
                lambda: asyncio.to_thread(ask_or_refuse, user.user_id),
                on_top_up=lambda _: None,
                until=lambda _: asyncio.to_thread(pay, user.user_id),
            )
            self.assertEqual(answer["object"], "chat.completion")

        asyncio.run(run())

    def test_a_test_key_has_no_balance_and_nothing_waits_for_its_money(self) -> None:
        sandbox = purser_by(TOLD["testKey"])
        self.assertEqual(sandbox.usage_summary("anna").requests, 0)
        with self.assertRaises(PaymentRequiredError) as raised:
            sandbox.balance("anna")
        with self.assertRaises(PaymentRequiredError):
            sandbox.for_user("anna").with_top_up(lambda: sandbox.balance("anna"), on_top_up=self.fail)
        self.assertEqual(raised.exception.code, "PAYMENT_REQUIRED")
