import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentLines, keyLine } from '../../packages/service/src/web/coding-agents/agent-lines.ts';
import { blocksOf } from '../support/sdk-package.ts';

test('ON-06 the guide for coding agents has the lines of the pages', () => {
  const facts = { publicUrl: 'https://purser.example', model: 'large', smallModel: 'small' };
  const shown = blocksOf('docs/guides/coding-agents.md').map(({ heading, code }) => [heading, code.trim()]);
  const lines = agentLines(facts).map(({ label, code }) => [label, code]);
  assert.deepEqual(shown, [['For coding agents', keyLine('svc_live_...')], ...lines]);
});
