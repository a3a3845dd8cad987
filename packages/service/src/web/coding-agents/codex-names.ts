/**
 * The names of models that Codex CLI 0.171.0 knows. For one of these it sends tools in a form of its own, and for any other
 * name the plain form. The provider behind the name makes no difference.
 */
export const CODEX_NAMES: ReadonlySet<string> = new Set([
  'gpt-5.5',
  'gpt-5.6-sol',
  'gpt-5.6-terra',
  'gpt-5.6-luna',
  'gpt-6-sol',
  'gpt-6-luna',
  'gpt-6-astra',
  'gpt-6.1-sol',
  'gpt-6.1-terra',
  'gpt-6.2-sol',
  'gpt-6.2-astra',
]);
