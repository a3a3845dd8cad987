/** What the pages of coding agents say about each of them. */
export const AGENT_TEXTS = {
  heading: 'What to paste',
  agent: 'Coding agent',
  shell: 'In your shell, first',
  model: 'Model',
  guide: 'What each agent costs, and what it does without money',
  /** Stands for a key that cannot be shown again. */
  hidden: 'svc_live_...',
  codexKnown: 'Codex knows this name, and sends its tools in a form of its own for it. That works here too.',
  codexUnknown: 'Codex says that it has no metadata for this name. That does no harm.',
  codex:
    'Without money it tries six times in seven seconds, for free, and prints the link to pay. Go on with “codex resume --last”.',
  claudeCode:
    'Its address has no /v1. Without money it prints the link to pay; go on with “claude --continue”. The cost that it shows is by a price list of its own.',
  opencode:
    'This goes into opencode.json. The first prompt of a session is two calls, and both are charged: the small model writes a title.',
  cline: 'Choose these in the settings of Cline. The editor keeps the key.',
  clineKey: 'the key itself',
  continueDev:
    'The key goes into ~/.continue/.env, as PURSER_API_KEY=svc_live_... Without the role autocomplete, it makes no call while you type.',
  aider: 'The weak model writes commit messages, each with a call. With --no-auto-commits, there are none.',
} as const;
