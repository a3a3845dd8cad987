/** E-mails are compared in lower case: no mailbox provider tells two people apart by it. */
export function normalisedEmail(email: string): string {
  return email.trim().toLowerCase();
}
