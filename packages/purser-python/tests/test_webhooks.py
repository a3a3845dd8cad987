"""Verification of webhook deliveries."""

import time
import unittest
from datetime import datetime, timezone
from unittest import mock

import purser
from vectors import VECTORS

SECRET = VECTORS["signed"]["secret"]
EVENT = VECTORS["signed"]["event"]


class WebhookTest(unittest.TestCase):
    def test_every_vector_is_decided_as_by_the_sdk(self) -> None:
        for case in VECTORS["webhooks"]:
            given = {"body": case["body"].encode(), "signature": case["signature"], "secret": case["secrets"]}
            if "toleranceSeconds" in case:
                given["tolerance_seconds"] = case["toleranceSeconds"]
            with self.subTest(case["name"]):
                if "reason" in case:
                    with self.assertRaises(purser.WebhookVerificationError) as raised:
                        purser.verify_webhook(**given, now_seconds=case["nowSeconds"])
                    self.assertEqual(raised.exception.reason, case["reason"])
                    self.assertNotRegex(str(raised.exception), "whsec_|[0-9a-f]{64}")
                    self.assertIsNone(raised.exception.__cause__)
                else:
                    event = purser.verify_webhook(**given, now_seconds=case["nowSeconds"])
                    self.assertEqual({"id": event.id, "type": event.type}, case["event"])

    def test_the_body_may_be_text_or_any_kind_of_bytes(self) -> None:
        signed = VECTORS["signed"]
        raw = signed["body"].encode()
        for body in (signed["body"], raw, bytearray(raw), memoryview(b"x" + raw)[1:]):
            event = purser.verify_webhook(
                body=body,
                signature=signed["headers"]["x-service-signature"],
                secret=SECRET,
                now_seconds=signed["seconds"],
            )
            self.assertEqual(
                event,
                purser.BalanceLowEvent(
                    id="evt_1",
                    created_at=datetime(2027, 1, 15, 8, tzinfo=timezone.utc),
                    app_id="app_1",
                    data=purser.BalanceLow("ännchen", 1, 2, "EUR"),
                ),
            )

    def test_an_event_of_a_later_version_keeps_its_data(self) -> None:
        sent = {**EVENT, "type": "wallet.renamed", "data": {"userId": "anna"}}
        delivery = purser.sign_test_payload(sent, secret=SECRET)
        event = purser.verify_webhook(
            body=delivery.body, signature=delivery.headers["x-service-signature"], secret=SECRET
        )
        assert isinstance(event, purser.UnknownEvent)
        self.assertEqual((event.type, event.data), ("wallet.renamed", {"userId": "anna"}))

    def test_the_delivery_made_for_endpoint_tests_is_the_one_that_the_service_makes(self) -> None:
        signed = VECTORS["signed"]
        body, headers = signed["body"].encode(), signed["headers"]
        event = purser.verify_webhook(
            body=body, signature=headers["x-service-signature"], secret=SECRET, now_seconds=signed["seconds"]
        )
        for given in (EVENT, event):
            made = purser.sign_test_payload(given, secret=SECRET, seconds=signed["seconds"], attempt=signed["attempt"])
            self.assertEqual((made.headers, made.body), (headers, body))

    def test_the_clock_is_used_unless_a_test_says_otherwise(self) -> None:
        made = purser.sign_test_payload(EVENT, secret=SECRET)
        signature = made.headers["x-service-signature"]
        self.assertEqual(purser.verify_webhook(body=made.body, signature=signature, secret=SECRET).id, "evt_1")
        later = mock.patch.object(time, "time", return_value=time.time() + 400)
        with later, self.assertRaises(purser.WebhookVerificationError):
            purser.verify_webhook(body=made.body, signature=signature, secret=SECRET)

    def test_digests_are_compared_in_constant_time_and_with_every_secret(self) -> None:
        signed = VECTORS["signed"]
        with mock.patch("hmac.compare_digest", side_effect=[True, False, False]) as compared:
            purser.verify_webhook(
                body=signed["body"],
                signature=signed["headers"]["x-service-signature"],
                secret=[SECRET, "a", "b"],
                now_seconds=signed["seconds"],
            )
        self.assertEqual(compared.call_count, 3)

    def test_nothing_is_verified_without_a_secret(self) -> None:
        for secret in ("", None, [], [SECRET, ""], [SECRET, None]):
            with self.assertRaisesRegex(ValueError, "^`secret` is missing.$"):
                purser.verify_webhook(body=b"", signature="", secret=secret)  # type: ignore[arg-type]
