"""The wait for a user who pays."""

import asyncio
import threading
import unittest
from typing import Any
from unittest import mock

from purser import Balance, PaymentRequiredError, ServiceApiError, TopUp
from purser import top_up as module
from purser.top_up import with_top_up, with_top_up_async
from vectors import VECTORS

LINK = "https://purser.test/topup/x"
WIRE = {
    "balanceMicros": "balance_micros",
    "reservedMicros": "reserved_micros",
    "spendCapMicros": "spend_cap_micros",
    "spentThisMonthMicros": "spent_this_month_micros",
    "status": "status",
}


def refusal(**fields: Any) -> PaymentRequiredError:
    return PaymentRequiredError(**{"code": "PAYMENT_REQUIRED", "message": "No.", "topup_url": LINK, **fields})


def busy(status: int = 429) -> ServiceApiError:
    return ServiceApiError(status=status, code="TOO_MANY_REQUESTS", message="")


FAILURES = {"402": refusal(), "offline": ConnectionError(), "429": busy()}


class Scene:
    """Refuses the first calls, and shows the wallet one look at a time; the last look repeats."""

    def __init__(self, looks: "list[Any]", error: Exception, refused: int = 1) -> None:
        self.looks, self.error, self.refused = looks, error, refused
        self.count = {"calls": 0, "looks": 0, "links": 0}

    def call(self) -> str:
        self.count["calls"] += 1
        if self.count["calls"] <= self.refused:
            raise self.error
        return "answer"

    def balance(self) -> Balance:
        look = self.looks[min(self.count["looks"], len(self.looks) - 1)]
        self.count["looks"] += 1
        if isinstance(look, Exception):
            raise look
        fields = {"balance_micros": 0, "reserved_micros": 0, "spend_cap_micros": None, "spent_this_month_micros": 0}
        told = {WIRE[name]: value for name, value in look.items()}
        rest = {"user_id": "anna", "available_micros": 0, "currency": "EUR", "status": "active"}
        return Balance(**{**rest, **fields, **told})

    def on_top_up(self, top_up: TopUp) -> None:
        assert top_up.topup_url == LINK
        self.count["links"] += 1

    def run(self, *, is_sandbox: bool = False, **options: Any) -> str:
        defaults = {"until": None, "stop": None, "wait_seconds": 10.0, "poll_seconds": 0.0, "on_top_up": self.on_top_up}
        return with_top_up(self.call, self.balance, is_sandbox=is_sandbox, **{**defaults, **options})

    def run_async(self, *, is_sandbox: bool = False, **options: Any) -> str:
        async def call() -> str:
            return self.call()

        async def balance() -> Balance:
            return self.balance()

        defaults = {"until": None, "wait_seconds": 10.0, "poll_seconds": 0.0, "on_top_up": self.on_top_up}
        given = {**defaults, **options}
        return asyncio.run(with_top_up_async(call, balance, is_sandbox=is_sandbox, **given))


class TopUpTest(unittest.TestCase):
    def setUp(self) -> None:
        # The shortest pause is part of the promise; see the test of it.
        patch = mock.patch.object(module, "_POLL_SECONDS_MIN", 0.001)
        patch.start()
        self.addCleanup(patch.stop)

    def both(self, make: Any, act: Any) -> None:
        """The sync wait and the async one."""
        for name in ("run", "run_async"):
            with self.subTest(name):
                scene = make()
                act(scene, getattr(scene, name))

    def test_every_vector_is_waited_for_as_by_the_sdk(self) -> None:
        for case in VECTORS["topUps"]:
            looks = [FAILURES[look] if isinstance(look, str) else look for look in case["looks"]]

            def act(scene: Scene, run: Any) -> None:
                self.assertEqual(run(), "answer")
                self.assertEqual(scene.count, {"calls": 2, "looks": len(scene.looks), "links": 1})

            with self.subTest(case["name"]):
                self.both(lambda: Scene(looks, refusal(code=case["code"])), act)  # noqa: B023

    def test_a_call_refused_again_although_other_calls_have_ended_keeps_waiting(self) -> None:
        held = {"balanceMicros": 9, "reservedMicros": 8}
        looks = [held, {"balanceMicros": 8}, {"balanceMicros": 8}, {"balanceMicros": 20}]

        def act(scene: Scene, run: Any) -> None:
            self.assertEqual(run(), "answer")
            self.assertEqual(scene.count, {"calls": 3, "looks": 4, "links": 1})

        self.both(lambda: Scene(looks, refusal(), 2), act)

    def test_a_second_refusal_is_the_result(self) -> None:
        def act(scene: Scene, run: Any) -> None:
            self.assertRaises(PaymentRequiredError, run)
            self.assertEqual(scene.count, {"calls": 2, "looks": 2, "links": 1})

        self.both(lambda: Scene([{}, {"balanceMicros": 5}], refusal(), 2), act)

    def test_nothing_waits_without_a_link_for_another_error_and_for_sandbox_money(self) -> None:
        for error, is_sandbox in (
            (refusal(code="WALLET_SUSPENDED", topup_url=None), False),
            (ValueError("other"), False),
            (refusal(), True),
        ):

            def act(scene: Scene, run: Any) -> None:
                with self.assertRaises(type(error)) as raised:  # noqa: B023
                    run(is_sandbox=is_sandbox)  # noqa: B023
                self.assertIs(raised.exception, error)  # noqa: B023
                self.assertEqual(scene.count, {"calls": 1, "looks": 0, "links": 0})

            self.both(lambda: Scene([{}], error), act)  # noqa: B023

    def test_when_the_time_is_up_the_refusal_is_raised(self) -> None:
        error = refusal()

        def act(scene: Scene, run: Any) -> None:
            for until in (None, threading.Event() if run == scene.run else lambda _: asyncio.sleep(60)):
                with self.assertRaises(PaymentRequiredError) as raised:
                    run(wait_seconds=0.03, until=until)
                self.assertIs(raised.exception, error)

        self.both(lambda: Scene([{}], error, 2), act)

    def test_a_look_that_is_refused_for_good_ends_the_wait(self) -> None:
        def act(scene: Scene, run: Any) -> None:
            with self.assertRaises(ServiceApiError) as raised:
                run()
            self.assertEqual(raised.exception.status, 401)

        self.both(lambda: Scene([{}, busy(401)], refusal()), act)

    def test_an_app_that_cannot_show_the_link_ends_the_wait(self) -> None:
        def broken(_: TopUp) -> None:
            raise LookupError("no window")

        self.both(lambda: Scene([{}], refusal()), lambda _, run: self.assertRaises(LookupError, run, on_top_up=broken))

    def test_the_balance_is_read_at_most_four_times_a_second(self) -> None:
        for poll_seconds, looks in ((0, 2), (-1, 2), (float("-inf"), 2), (float("nan"), 1), (float("inf"), 1)):
            scene = Scene([{}], refusal())
            with mock.patch.object(module, "_POLL_SECONDS_MIN", 0.02):
                self.assertRaises(PaymentRequiredError, scene.run, poll_seconds=poll_seconds, wait_seconds=0.03)
            self.assertLessEqual(scene.count["looks"], looks)  # The first look comes before the link is shown.
        self.assertEqual(module.POLL_SECONDS, 3)

    def test_an_event_of_the_app_is_waited_for_instead_of_the_balance(self) -> None:
        for is_sandbox in (False, True):
            scene, paid = Scene([{}], refusal()), threading.Event()
            threading.Timer(0.01, paid.set).start()
            self.assertEqual(scene.run(until=paid, is_sandbox=is_sandbox), "answer")
            self.assertEqual(scene.count, {"calls": 2, "looks": 0, "links": 1})

    def test_stop_ends_the_wait(self) -> None:
        for until in (None, threading.Event()):
            scene, stop = Scene([{}], refusal()), threading.Event()
            stop.set()
            with mock.patch.object(module, "_STOP_SECONDS", 0.001):
                self.assertRaises(PaymentRequiredError, scene.run, stop=stop, until=until, poll_seconds=60)
            self.assertEqual(scene.count["calls"], 1)

    def test_an_async_app_is_asked_for_its_own_signal_before_the_link_is_shown(self) -> None:
        for is_sandbox in (False, True):
            scene, order = Scene([{}], refusal()), []

            async def until(top_up: TopUp) -> None:
                order.append(top_up.topup_url)  # noqa: B023

            async def on_top_up(_: TopUp) -> None:
                await asyncio.sleep(0)
                order.append("shown")  # noqa: B023

            self.assertEqual(scene.run_async(until=until, on_top_up=on_top_up, is_sandbox=is_sandbox), "answer")
            self.assertEqual((order, scene.count["looks"]), ([LINK, "shown"], 0))

    def test_an_async_app_that_cannot_show_the_link_leaves_nothing_behind(self) -> None:
        ended: list[bool] = []

        async def until(_: TopUp) -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(True)

        async def on_top_up(_: TopUp) -> None:
            await asyncio.sleep(0)
            raise LookupError("no window")

        async def run() -> None:
            scene = Scene([{}], refusal())

            async def call() -> str:
                return scene.call()

            async def balance() -> Balance:
                return scene.balance()

            options = {"is_sandbox": False, "wait_seconds": None, "poll_seconds": None}
            with self.assertRaises(LookupError):
                await with_top_up_async(call, balance, on_top_up=on_top_up, until=until, **options)  # type: ignore[arg-type]
            await asyncio.sleep(0)
            self.assertEqual((ended, len(asyncio.all_tasks())), ([True], 1))

        asyncio.run(run())

    def test_a_cancelled_task_leaves_nothing_behind(self) -> None:
        ended = []

        async def until(_: TopUp) -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(True)

        async def run() -> None:
            async def call() -> str:
                raise refusal()

            async def balance() -> Balance:
                raise AssertionError

            waiting = asyncio.ensure_future(
                with_top_up_async(
                    call,
                    balance,
                    is_sandbox=False,
                    on_top_up=lambda _: None,
                    until=until,
                    wait_seconds=None,
                    poll_seconds=None,
                )
            )
            await asyncio.sleep(0.01)
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            self.assertEqual((ended, len(asyncio.all_tasks())), ([True], 1))

        asyncio.run(run())
