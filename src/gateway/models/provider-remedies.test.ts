import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remedyFor } from './provider-remedies.ts';

/** As the vendors say it: recorded, or from public reports. */
const said: readonly (readonly [remedy: RegExp | null, words: string])[] = [
  [/clock/, 'Signature expired: 20261127T120000Z is now earlier than 20261127T121500Z'],
  [/clock/, 'Signature not yet current: 20261127T121500Z is still later than 20261127T120500Z'],
  [/clock/, 'AADSTS700024: Client assertion is not within its valid time range.'],
  [
    /clock/,
    'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.',
  ],
  [/`region`/, 'Credential should be scoped to a valid region.'],
  [/`region`/, 'The model is not supported in this region.'],
  [
    /inference profile/,
    'Invocation of model ID x with on-demand throughput isn’t supported. Retry your request with the ID of an inference profile that contains this model.',
  ],
  [/Enable the model/, 'You don’t have access to the model with the specified model ID.'],
  [/Enable the model/, 'The API deployment for this resource does not exist.'],
  [
    /Enable the model/,
    'Publisher Model `projects/p/locations/us-central1/publishers/anthropic/models/x` was not found or your project does not have access to it.',
  ],
  [
    /API in the project/,
    'Vertex AI API has not been used in project 123 before or it is disabled.',
  ],
  [/quota/, 'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests'],
  [/quota/, 'Too many tokens per day, please wait before trying again.'],
  [null, 'AADSTS7000215: Invalid client secret provided.'],
  [null, 'The security token included in the request is invalid.'],
];

for (const [remedy, words] of said)
  test(`${words.slice(0, 60)}: ${remedy?.source ?? 'nothing'} helps`, () => {
    const found = remedyFor(words);
    if (remedy) assert.match(found!, remedy);
    else assert.equal(found, null);
  });
