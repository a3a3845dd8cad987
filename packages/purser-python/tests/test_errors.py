"""Errors: from raw answers, and from the exceptions of clients."""

import json
import pickle
import unittest
from typing import Any

import purser
from purser import (
    HttpAnswer,
    PaymentRequiredError,
    Purser,
    ServiceApiError,
    Transport,
    as_payment_required,
    guard,
    refusal_of,
)
from vectors import VECTORS

LINK = "https://purser.test/topup/x"
ERROR = {"code": "APP_SPEND_CAP_EXCEEDED", "message": "No.", "correlationId": "cor_1", "topupUrl": LINK}
TOLD = {"x-correlation-id": "cor_2", "x-service-topup-url": LINK}


class Refused(Exception):
    """An exception with the given attributes, as a client raises it."""

    def __init__(self, cause: "BaseException | None" = None, **attributes: Any) -> None:
        super().__init__("refused")
        self.__cause__ = cause
        vars(self).update(attributes)


class Response:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def fields_of(error: Any) -> "dict[str, Any]":
    found = {"code": error.code, "message": error.message, "correlationId": error.correlation_id}
    link = getattr(error, "topup_url", None)
    return found if link is None else {**found, "topupUrl": link}


def always(answer: HttpAnswer) -> Transport:
    return lambda _: answer


class AnswerTest(unittest.TestCase):
    def test_every_vector_is_read_as_by_the_sdk(self) -> None:
        for case in VECTORS["answers"]:
            answer = HttpAnswer(case["status"], case["headers"], case["body"].encode())
            client = Purser(base_url="https://purser.test", api_key="k", transport=always(answer))
            wanted = {name: case[name] for name in ("code", "message", "correlationId", "topupUrl") if name in case}
            with self.subTest(case["name"]):
                with self.assertRaises(getattr(purser, case["error"])) as raised:
                    client.balance("anna")
                self.assertEqual(fields_of(raised.exception), wanted)
                self.assertEqual(raised.exception.status, case["status"])
                for body in (case["body"], case["body"].encode()):
                    found = refusal_of(case["status"], case["headers"], body)
                    self.assertEqual((type(found).__name__, fields_of(found)), (case["error"], wanted))

    def test_an_answer_that_is_no_refusal_is_none(self) -> None:
        self.assertIsNone(refusal_of(200, {}, b'{"error":{"code":"PAYMENT_REQUIRED"}}'))


class ExceptionTest(unittest.TestCase):
    def assert_found(self, error: object, correlation_id: str = "cor_1", code: str = ERROR["code"]) -> None:
        found = as_payment_required(error)
        assert found is not None
        self.assertEqual((found.code, found.topup_url, found.correlation_id), (code, LINK, correlation_id))

    def test_a_402_is_found_in_the_exceptions_and_responses_of_clients(self) -> None:
        text = json.dumps({"error": {**ERROR, "topupUrl": None}, "topupUrl": LINK})
        refused = Refused(status_code=402, body=ERROR)
        for error in (
            refused,
            Refused(body=ERROR),  # In the middle of a stream there is no status.
            Refused(status_code=402, body={"error": ERROR}),
            Refused(response=Response(status_code=402, headers={}, text=text)),
            Response(status_code=402, headers={}, text=text),
            Refused(cause=refused),
            Refused(cause=Refused(cause=refused)),
            Refused(exceptions=[ValueError(), refused]),
            # The headers alone do not say the code.
            Refused(cause=refused, status_code=402, litellm_response_headers=TOLD),
        ):
            with self.subTest(vars(error)):
                self.assert_found(error)

    def test_headers_supply_what_the_402_itself_leaves_out(self) -> None:
        for error in (
            Refused(status_code=402, litellm_response_headers=TOLD),
            Refused(status=402, headers=TOLD),
            Refused(response=Response(status_code=402, headers=TOLD)),
            Response(status=402, headers=TOLD),
        ):
            self.assert_found(error, "cor_2", "PAYMENT_REQUIRED")

    def test_a_value_that_is_not_a_payment_error_is_never_taken_for_one(self) -> None:
        circle = Refused()
        circle.__cause__ = circle
        for error in (None, 402, "402", {}, [], circle, ValueError("402"), Refused(status_code="402"), object()):
            self.assertIsNone(as_payment_required(error))

    def test_a_402_of_another_service_is_left_as_it_is(self) -> None:
        self.assertIsNone(as_payment_required(Refused(status_code=402, body={"code": "card_declined"})))
        self.assertIsNone(as_payment_required(Refused(status_code=402)))

    def test_an_error_in_the_apps_own_handler_of_a_402_stays_that_error(self) -> None:
        with self.assertRaises(KeyError), guard():
            try:
                raise Refused(status_code=402, body=ERROR)
            except Refused:
                raise KeyError("a mistake") from None

    def test_an_exception_whose_properties_raise_is_searched_all_the_same(self) -> None:
        class Unread:
            status_code = 402
            headers = TOLD

            @property
            def text(self) -> str:
                raise RuntimeError("not read")

        self.assert_found(Refused(response=Unread()), "cor_2", "PAYMENT_REQUIRED")


class GuardTest(unittest.TestCase):
    def test_a_402_becomes_a_payment_required_error_without_the_clients_exception(self) -> None:
        with self.assertRaises(PaymentRequiredError) as raised, guard():
            raise Refused(status_code=402, body=ERROR, request="the prompt")
        self.assertIsNone(raised.exception.__context__)
        self.assertIsNone(raised.exception.__cause__)

    def test_every_other_exception_passes_unchanged(self) -> None:
        for other in (ValueError("other"), PaymentRequiredError(code="PAYMENT_REQUIRED", message="")):
            with self.assertRaises(type(other)) as raised, guard():
                raise other
            self.assertIs(raised.exception, other)
        for leaving in (KeyboardInterrupt, GeneratorExit):
            with self.assertRaises(leaving), guard():
                raise leaving

    def test_it_does_not_touch_the_result(self) -> None:
        with guard():
            answer = "answer"
        self.assertEqual(answer, "answer")


class ErrorTest(unittest.TestCase):
    def test_errors_travel_between_processes(self) -> None:
        for error in (
            PaymentRequiredError(code="PAYMENT_REQUIRED", message="No.", correlation_id="cor_1", topup_url=LINK),
            ServiceApiError(status=401, code="UNAUTHORIZED", message="No.", correlation_id="cor_1"),
            purser.WebhookVerificationError("stale", "Old."),
        ):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), vars(again), str(again)), (type(error), vars(error), str(error)))

    def test_a_link_is_not_shown_in_logs(self) -> None:
        error = PaymentRequiredError(code="PAYMENT_REQUIRED", message="No.", topup_url=LINK)
        self.assertNotIn(LINK, f"{error} {error!r}")
