// How many tokens a request's input will be: what its hold, its minute's tokens and our own counts are made from.
import type { Model } from '../catalog/model.ts';
import type { ImageVendor } from '../lib/image-tokens.ts';
import { estimateInputTokens, type InputEstimate } from '../lib/tokens.ts';
import type { ChosenRoute } from './route.ts';

type Target = { readonly model: Pick<Model, 'ownedBy'>; readonly routes: readonly ChosenRoute[] };

export function estimateInput(body: unknown, target: Target): InputEstimate {
  return estimateInputTokens(body, { imageVendor: imageVendorOf(target), opened: openedNames(target) });
}

/** The last names of the paths that the operator has opened on any route: `hologram` of `messages.content.hologram`. */
function openedNames({ routes }: Target): ReadonlySet<string> {
  return new Set(routes.flatMap(({ passFields }) => [...passFields].map((path) => path.slice(path.lastIndexOf('.') + 1))));
}

/** Images are counted by the model that looks at them, wherever it runs; where its maker is none of the three, as all its providers do. */
function imageVendorOf({ model, routes }: Target): ImageVendor {
  const kinds = new Set(routes.map((route) => (route.transport === 'sandbox' ? route.transport : route.kind.kind)));
  const [kind = ''] = kinds;
  if (kind === 'sandbox') return 'sandbox';
  return vendors[model.ownedBy.toLowerCase()] ?? (kinds.size === 1 ? vendors[kind] : undefined) ?? 'unknown';
}

const vendors: Readonly<Record<string, ImageVendor | undefined>> = { anthropic: 'anthropic', openai: 'openai', google: 'google' };
