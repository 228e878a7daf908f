// The sandbox as a moderation model: it flags what a directive names, and nothing else.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Moderated } from '../moderations/index.ts';
import { followDirectives } from './task-directives.ts';

type SandboxModeration = {
  readonly judged: readonly { readonly text: string; readonly hasImage: boolean }[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
};

type SandboxModerated =
  | { readonly kind: 'made'; readonly made: readonly Moderated[] }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

/** OpenAI's. */
const categories: readonly string[] = [
  'harassment',
  'harassment/threatening',
  'sexual',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm/intent',
  'self-harm/instructions',
  'self-harm',
  'sexual/minors',
  'violence',
  'violence/graphic',
];

type Flags = { readonly flags: readonly string[] };

const directives = {
  none: { flags: [] } as Flags,
  readers: {
    flag(value: string, draft: { flags: readonly string[] }) {
      if (!categories.includes(value)) return `needs one of ${categories.join(', ')}.`;
      draft.flags = [...draft.flags, value];
      return null;
    },
  },
  repeatable: 'flag',
};

/** Each text may have directives of its own. */
export async function moderateInSandbox(job: SandboxModeration): Promise<SandboxModerated> {
  const made: Moderated[] = [];
  for (const { text, hasImage } of job.judged) {
    const followed = await followDirectives<Flags>(text, job, directives);
    if (followed.kind === 'failure') return followed;
    const { flags } = followed.directives;
    const types = [...(text === '' ? [] : ['text']), ...(hasImage ? ['image'] : [])];
    const each = <Value>(valueOf: (category: string) => Value) =>
      Object.fromEntries(categories.map((category) => [category, valueOf(category)]));
    made.push({
      flagged: flags.length > 0,
      categories: each((category) => flags.includes(category)),
      category_scores: each((category) => (flags.includes(category) ? 0.99 : 0.01)),
      category_applied_input_types: each(() => types),
    });
  }
  return { kind: 'made', made };
}
