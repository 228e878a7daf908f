// Sells a model's answer in Gemini's format. Its streams have two forms, which the path chooses.
import { withArrayStreams } from '../../formats/gemini/array-stream.ts';
import { clientFormats, upstreamFormats } from '../../formats/registry.ts';
import { isObject } from '../../lib/json.ts';
import type { Endpoint } from '../stages.ts';
import { modelEndpoint } from './model-sale.ts';

const inEvents = modelEndpoint(clientFormats.gemini);
const inArray = modelEndpoint(withArrayStreams(clientFormats.gemini, upstreamFormats.gemini));

/** Throws ApiError 400 or 404. */
export const geminiEndpoint: Endpoint = (gateway, incoming) => {
  const isArray = isObject(incoming.body) && incoming.body.alt === 'json';
  return (isArray ? inArray : inEvents)(gateway, incoming);
};
