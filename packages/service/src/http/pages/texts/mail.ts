interface CodeMail {
  readonly operatorName: string;
  readonly appName: string | undefined;
  readonly code: string;
}

/** The mail with a one-time code. The code is not in the subject, which lock screens and logs of mail servers show. */
export function codeMail({ operatorName, appName, code }: CodeMail) {
  const asks = appName === undefined ? '' : `The app "${appName}" asks you to sign in. `;
  const body = [
    `${asks}Your code for ${operatorName} is:`,
    '',
    `    ${code}`,
    '',
    'It lasts ten minutes and works once, on the page that asked for it. Tell it to nobody.',
    'If it was not you, ignore this.',
    '',
  ].join('\n');
  return { subject: `Your code for ${operatorName}`, body };
}
