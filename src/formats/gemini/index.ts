// Gemini's generateContent, as the format of an upstream; no client speaks it.
import type { UpstreamFormat } from '../format.ts';
import { readAnswer } from './read-answer.ts';
import { readStream } from './read-stream.ts';
import { writeRequest } from './write-request.ts';

export const gemini: UpstreamFormat = { name: 'gemini', writeRequest, readAnswer, readStream };
