import type { Html } from '#kernel/html.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { SANDBOX_TEXTS as TEXTS } from '#web/console-users/texts.ts';

/** Commands to copy that do what the page does, for automated tests. Keys are variables: no page can show them. */
export function sandboxCode(publicUrl: string): readonly Html[] {
  const asTester = `-H "authorization: Bearer $PURSER_TESTER_KEY" -H 'x-service-user: test-user' \\
  -H 'content-type: application/json'`;
  return [
    codeBlock({
      id: 'next-code',
      label: TEXTS.nextCode,
      code: `curl -X PUT ${publicUrl}/sandbox/next \\
  ${asTester} \\
  -d '{"outcome": "throttled"}'`,
    }),
    codeBlock({
      id: 'reset-code',
      label: TEXTS.resetCode,
      code: `curl -X POST ${publicUrl}/sandbox/reset \\
  ${asTester} \\
  -d '{"balanceMicros": 2000000, "spendCapMicros": 1000000}'`,
    }),
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
