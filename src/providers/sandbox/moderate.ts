// The sandbox as a moderation model: it flags what a directive names, and nothing else.
import type { Moderated } from '../moderations/index.ts';
import { followDirectives, type Playing } from './task-directives.ts';

type SandboxModeration = Playing & {
  readonly judged: readonly { readonly text: string; readonly hasImage: boolean }[];
};

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

/** Each text may have directives of its own. Throws UpstreamBroken. */
export async function moderateInSandbox(job: SandboxModeration): Promise<readonly Moderated[]> {
  const made: Moderated[] = [];
  for (const { text, hasImage } of job.judged) {
    const { flags } = (await followDirectives<Flags>(text, job, directives)).directives;
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
  return made;
}
