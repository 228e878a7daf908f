// Estimates a request's input tokens, for its hold, its rate limit and our own counts.
import type { ClientRequest } from '../../formats/format.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { ImageVendor } from '../../lib/image-tokens.ts';
import { estimateInputTokens, withText, type InputEstimate } from '../../lib/tokens.ts';
import type { ChosenRoute } from '../routing/route.ts';

type Prompt = Pick<ClientRequest, 'body' | 'addedText' | 'addedTokens' | 'prompts'>;
type Target = { readonly model: Pick<Model, 'ownedBy'>; readonly routes: readonly ChosenRoute[] };

export function estimateInput(
  { body, addedText, addedTokens: added = 0, prompts = 1 }: Prompt,
  target: Target,
): InputEstimate {
  const options = { imageVendor: imageVendorOf(target), opened: openedNames(target) };
  const listed = { upper: added, likely: added, most: added };
  const estimate = withText(estimateInputTokens(body, options), listed);
  return addedText === undefined
    ? estimate
    : withText(estimate, estimateInputTokens(addedText), prompts);
}

/**
 * Returns the last names of the field paths that the operator allows on any route: `hologram` of
 * `messages.content.hologram`.
 */
function openedNames({ routes }: Target): ReadonlySet<string> {
  return new Set(
    routes.flatMap(({ passFields }) =>
      [...passFields].map((path) => path.slice(path.lastIndexOf('.') + 1)),
    ),
  );
}

/**
 * Returns whose rule counts images: the model's maker, wherever the model runs. For other makers,
 * the highest of all three counts.
 */
function imageVendorOf({ model, routes }: Target): ImageVendor {
  const kinds = new Set(routes.map((route) => route.kind.kind));
  const [kind = ''] = kinds;
  if (routes.some(({ isSandbox }) => isSandbox)) return 'sandbox';
  return (
    vendors[model.ownedBy.toLowerCase()] ??
    (kinds.size === 1 ? vendors[kind] : undefined) ??
    'unknown'
  );
}

const vendors: Readonly<Record<string, ImageVendor | undefined>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
};
