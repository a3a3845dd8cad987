import type { AppId } from '#kernel/values/ids.ts';
import type { Html } from '#kernel/text/html.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { SANDBOX_TEXTS as TEXTS } from '#web/console/users/texts.ts';

/** Commands to copy that do what the page does, for automated tests. Tokens and keys are variables: no page can show them. */
export function sandboxCode(publicUrl: string, appId: AppId): readonly Html[] {
  const address = `${publicUrl}/apps/${appId}/sandbox`;
  const asTest = `-H "authorization: Bearer $PURSER_TEST_TOKEN"`;
  return [
    codeBlock({
      id: 'reset-code',
      label: TEXTS.resetCode,
      code: `curl -X POST ${address}/users/test-user/reset \\
  ${asTest} -H 'content-type: application/json' \\
  -d '{"balanceMicros": 2000000, "spendCapMicros": 1000000}'`,
    }),
    codeBlock({ id: 'list-code', label: TEXTS.listCode, code: `curl ${address} ${asTest}` }),
    codeBlock({
      id: 'call-code',
      label: TEXTS.callCode,
      code: `curl ${publicUrl}/v1/chat/completions \\
  -H "authorization: Bearer $PURSER_TEST_KEY" -H 'x-service-user: test-user' \\
  -H 'content-type: application/json' \\
  -d '{"model": "sandbox/throttled", "messages": [{"role": "user", "content": "Hello"}]}'`,
    }),
  ];
}
