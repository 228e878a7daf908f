// A request for a moderation, by the input token. Most models of that type are free, and still limited,
// recorded and tried at their routes.
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { parseModerationRequest } from '../../domain/tasks/moderation-request.ts';
import { listUrlMedia } from '../../formats/url-media.ts';
import type { JsonObject } from '../../lib/json.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { moderates, readModerations } from '../../providers/moderations/index.ts';
import { moderateInSandbox } from '../../providers/sandbox/moderate.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { sendTask } from './task-call.ts';
import { inputToken, sizeBy } from './task-price.ts';
import { taskEndpoint } from './task-sale.ts';

export const moderationEndpoint = taskEndpoint({
  type: 'moderation',
  endpoint: 'moderations',
  read: parseModerationRequest,
  hostOf: ({ kind }) => moderates(kind) || null,
  measure({ judged }) {
    const texts = judged.map(({ text }) => text);
    const estimate = estimateInputTokens(texts);
    return {
      prompt: () => texts.join('\n'),
      tokens: estimate.likely,
      sizeAs: () => sizeBy('inputTokens', inputToken, estimate),
    };
  },
  async call({ chosen }, { gateway: { clock }, request: { input, judged }, size, sending }) {
    const { signal } = sending;
    const counted = { count: size.likely, isEstimate: !chosen.isSandbox };
    if (chosen.isSandbox)
      return { made: await moderateInSandbox({ judged, signal, clock }), ...counted };
    if (chosen.provider.isInside) refuseAddresses({ input }, chosen.provider.passFields);
    const call = { path: '/moderations', body: { model: chosen.upstreamModel, input } };
    const made = readModerations((await sendTask(sending, call)).body);
    if (made?.length === judged.length) return { made, ...counted };
    throw unreadable('the answer does not have a result for each input');
  },
  ignoredAt: () => [],
  answer: (results, { model }) => ({
    body: { id: newIdWithPrefix('modr'), model: model.id, results },
  }),
});

/** The operator's own server must not fetch from where it stands. Throws UpstreamBroken. */
function refuseAddresses(body: JsonObject, opened: ReadonlySet<string>): void {
  const { images, other } = listUrlMedia(body, opened);
  if (images.length > 0 || other !== null)
    throw new UpstreamBroken(
      makeFailure(
        400,
        'An image must hold its data here, in base64 or as a data: URL, not an address.',
      ),
    );
}
