// Gemini's generateContent, as the format of an upstream; no client speaks it.
import { readBilledAnswer } from '../billed-answer.ts';
import type { UpstreamFormat } from '../format.ts';
import { readAnswer } from './read-answer.ts';
import { readStream } from './read-stream.ts';
import { mayThink } from './thinking-config.ts';
import { readUsage } from './usage.ts';
import { writeRequest } from './write-request.ts';

export const gemini: UpstreamFormat = {
  name: 'gemini',
  writeRequest,
  mayThink,
  readAnswer,
  readBilledAnswer: (body) => readBilledAnswer(body, 'candidates', ({ usageMetadata }) => readUsage(usageMetadata)),
  readStream,
};
