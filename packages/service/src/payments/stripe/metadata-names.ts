/** The names of our ids in a processor's metadata. They are how we recognise our own payments and refunds. */
export const CHECKOUT_NAME = 'purser_checkout';
export const REFUND_NAME = 'purser_refund';
