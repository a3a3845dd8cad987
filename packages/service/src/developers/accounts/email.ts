/** E-mails are compared in lower case: no mailbox provider gives two people addresses that differ only in case. */
export function normalisedEmail(email: string): string {
  return email.trim().toLowerCase();
}
