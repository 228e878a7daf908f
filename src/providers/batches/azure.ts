// Azure OpenAI's batches: OpenAI's, below another path, of models that are deployed for them.
// https://learn.microsoft.com/azure/foundry/openai/how-to/batch (read 2026-11-30)
import { makeFailure } from '../../canonical/make-failure.ts';
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { BatchHost, HostCalls } from './host.ts';
import { openAiBatches } from './openai.ts';

const root = '/openai/v1';
const lookMs = 5_000;
const looksMax = 120;
/** Another try would be refused, too. */
const refused = makeFailure(400, 'The file of the batch was refused.');

const openAi = openAiBatches({
  // The shortest that it takes.
  keptSeconds: 14 * 86_400,
  // For Responses, too: it looks at the lines.
  endpoint: '/chat/completions',
});

/** Addresses with a version have no path here, so our own queue runs their lines. */
export const azureBatches: BatchHost = {
  ...openAi,
  addressOf: (path) => ({ path: root + path }),
  hasOwnModels: true,
  paths: /^\/openai\/v1\/(?:responses|chat\/completions)$/,
  writeLine: (customId, path, body) => openAi.writeLine(customId, path.slice(root.length), body),
  async upload(calls, sent) {
    const fileId = await openAi.upload!(calls, sent);
    const path = openAi.filePath!(fileId);
    try {
      await untilProcessed(calls, path);
    } catch (error) {
      await calls.call('DELETE', path).catch(() => {});
      throw error;
    }
    return fileId;
  },
};

/** A batch of a file that it still reads is refused. */
async function untilProcessed(calls: HostCalls, path: string): Promise<void> {
  for (let look = 0; look < looksMax; look += 1) {
    const { status } = await calls.call('GET', path);
    if (status === 'processed') return;
    if (status === 'error') throw new UpstreamBroken(refused);
    await calls.pause(lookMs);
  }
  throw unreadable('the file of the batch is not ready after ten minutes');
}
