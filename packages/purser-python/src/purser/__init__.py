"""For apps whose users pay for their own model calls through Purser.

Settings for stock chat clients, errors that say what to do, links to pay and connect, balances, and webhook
verification.
"""

from .async_client import AsyncPurser, AsyncPurserUser
from .charge import Charge
from .client import Purser, PurserUser
from .errors import ErrorCode, PaymentCode, PaymentRequiredError, PurserError, ServiceApiError, WebhookVerificationError
from .failure import as_payment_required, refusal_of
from .guard import guard
from .top_up import TopUp
from .transport import AsyncTransport, HttpAnswer, HttpRequest, Transport
from .version import VERSION as __version__
from .webhooks import TestDelivery, sign_test_payload, verify_webhook
from .wire import (
    Balance,
    BalanceLow,
    BalanceLowEvent,
    ConnectionCreated,
    ConnectionCreatedEvent,
    ConnectLink,
    ModelUsage,
    Receipt,
    ReceiptPrice,
    ReceiptTier,
    ReceiptTokens,
    TopupCompleted,
    TopupCompletedEvent,
    UnknownEvent,
    UsageSummary,
    WebhookEvent,
)

__all__ = [
    "AsyncPurser",
    "AsyncPurserUser",
    "AsyncTransport",
    "Balance",
    "BalanceLow",
    "BalanceLowEvent",
    "Charge",
    "ConnectLink",
    "ConnectionCreated",
    "ConnectionCreatedEvent",
    "ErrorCode",
    "HttpAnswer",
    "HttpRequest",
    "ModelUsage",
    "PaymentCode",
    "PaymentRequiredError",
    "Purser",
    "PurserError",
    "PurserUser",
    "Receipt",
    "ReceiptPrice",
    "ReceiptTier",
    "ReceiptTokens",
    "ServiceApiError",
    "TestDelivery",
    "TopUp",
    "TopupCompleted",
    "TopupCompletedEvent",
    "Transport",
    "UnknownEvent",
    "UsageSummary",
    "WebhookEvent",
    "WebhookVerificationError",
    "__version__",
    "as_payment_required",
    "guard",
    "refusal_of",
    "sign_test_payload",
    "verify_webhook",
]
