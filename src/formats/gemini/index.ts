// Gemini's generateContent, for upstreams; no client speaks it.
import { readBilledAnswer } from '../billed-answer.ts';
import type { UpstreamFormat } from '../format.ts';
import { inputCount } from './count-tokens.ts';
import { readAnswer } from './read-answer.ts';
import { readStream } from './read-stream.ts';
import { mayThink } from './thinking-config.ts';
import { readUsage } from './usage.ts';
import { toolNames } from './tools.ts';
import { writeRequest } from './write-request.ts';

export const gemini: UpstreamFormat = {
  name: 'gemini',
  toolNames,
  writeRequest,
  // It has no field for a user or a cache.
  hideUsers: (body) => body,
  mayThink,
  readAnswer,
  readBilledAnswer: (body) =>
    readBilledAnswer(body, 'candidates', ({ usageMetadata }) => readUsage(usageMetadata)),
  readStream,
  inputCount,
};
