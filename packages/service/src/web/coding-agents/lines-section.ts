import { type Html, html } from '#kernel/text/html.ts';
import { codeBlock, codeTabs, linkLine, section } from '#web/components/parts.ts';
import { agentLines, keyLine } from '#web/coding-agents/agent-lines.ts';
import type { AgentModels } from '#web/coding-agents/agent-models.ts';
import { AGENT_TEXTS as TEXTS } from '#web/coding-agents/texts.ts';

interface LinesSection {
  readonly publicUrl: string;
  /** The key, or what stands for it once it cannot be shown any more. */
  readonly apiKey: string;
  readonly models: AgentModels;
  /** What to know before, and the choice of a model if the page has one. */
  readonly before: readonly (Html | undefined)[];
  /** Says that there is no model to name. */
  readonly none: string;
}

/** Where the guide for people who run coding agents is. */
export const AGENTS_GUIDE = '/guides/coding-agents';

/** The lines to paste for each agent, of which the reader chooses one. */
export function linesSection({ publicUrl, apiKey, models, before, none }: LinesSection): Html {
  const { model, smallModel = model } = models;
  if (model === undefined || smallModel === undefined) {
    return section({ id: 'lines', heading: TEXTS.heading, body: [html`<p>${none}</p>`] });
  }
  const blocks = agentLines({ publicUrl, model, smallModel });
  return section({
    id: 'lines',
    heading: TEXTS.heading,
    body: [
      ...before,
      codeBlock({ id: 'shell', label: TEXTS.shell, code: keyLine(apiKey) }),
      codeTabs('agent', TEXTS.agent, blocks),
      linkLine(AGENTS_GUIDE, TEXTS.guide),
    ],
  });
}
