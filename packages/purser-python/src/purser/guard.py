"""Turns a chat client's exception for a 402 into a ``PaymentRequiredError``."""

from __future__ import annotations

from types import TracebackType

from .failure import as_payment_required


class guard:  # noqa: N801 - used like a function, as `contextlib.suppress` is.
    """Turns a chat client's exception for a 402 into a ``PaymentRequiredError``. Every other one passes unchanged.

    It serves sync and async code. Put all of the reading of a stream into it::

        with guard():
            answer = client.chat.completions.create(model=model, messages=messages)
    """

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception):
            return
        found = as_payment_required(error)
        if found is None or found is error:
            return
        try:
            raise found
        finally:
            # The client's exception holds the request, and so the prompt: error reports would take it along.
            found.__context__ = None
            found.__cause__ = None
