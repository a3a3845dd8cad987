import type { Html } from '#kernel/html.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { SANDBOX_TEXTS as TEXTS } from '#web/console-users/texts.ts';

/** Commands to copy that do what the page does. Keys and session tokens are named as variables: no page can show them. */
export function sandboxCode(publicUrl: string, appId: string): readonly Html[] {
  const user = `${publicUrl}/apps/${appId}/sandbox/users/test-user`;
  const asOwner = `-H "authorization: Bearer $SESSION_TOKEN" -H 'content-type: application/json'`;
  return [
    codeBlock({
      id: 'call-code',
      label: TEXTS.callCode,
      code: `curl ${publicUrl}/v1/chat/completions \\
  -H "authorization: Bearer $PURSER_TEST_KEY" -H 'x-service-user: test-user' \\
  -H 'content-type: application/json' \\
  -d '{"model": "sandbox/throttled", "messages": [{"role": "user", "content": "Hello"}]}'`,
    }),
    codeBlock({
      id: 'next-code',
      label: TEXTS.nextCode,
      code: `curl -X PUT ${user}/next \\
  ${asOwner} \\
  -d '{"outcome": "throttled"}'`,
    }),
    codeBlock({
      id: 'reset-code',
      label: TEXTS.resetCode,
      code: `curl -X POST ${user}/reset \\
  ${asOwner} \\
  -d '{"balanceMicros": 2000000, "spendCapMicros": 1000000}'`,
    }),
  ];
}
