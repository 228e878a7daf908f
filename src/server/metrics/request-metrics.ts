// Metrics of the requests of clients. A client cannot make label values: a path without a route is
// `none`, and models are those of the catalogue.
import type { ActiveRuns } from '../../gateway/active-runs.ts';
import { Counts } from '../../lib/counts.ts';
import { Timings } from '../../lib/timings.ts';
import type { Overload } from '../overload.ts';
import type { RecordRequest } from '../record-request.ts';
import { countsMetric, single, timingsMetric, type Metric } from './metric.ts';

/** Bucket bounds in seconds, from a millisecond to the longest answers. */
const durationBuckets = [
  0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800,
];
const modelBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];

export class RequestMetrics {
  readonly #requests = new Counts();
  readonly #durations = new Timings(durationBuckets);
  readonly #firstTokens = new Timings(modelBuckets);
  readonly #answers = new Timings(modelBuckets);
  readonly #replayed = new Counts();
  readonly #rateLimited = new Counts();

  readonly record: RecordRequest = ({ route, status, tookMs, fields }) => {
    const { mode, model, provider, errorCode = '', cache, firstByteMs, costMicros } = fields;
    this.#durations.note(tookMs, route ?? 'none');
    this.#requests.add(1, route ?? 'none', String(status), errorCode);
    if (errorCode === 'rate_limit_exceeded') {
      const { rateLimit = 'other', rateLimitScope = 'other' } = fields;
      this.#rateLimited.add(1, rateLimit, rateLimitScope);
    }
    if (mode === undefined || model === undefined) return;
    if (cache) this.#replayed.add(1, mode, model, cache);
    if (provider === undefined) return;
    if (firstByteMs !== undefined) this.#firstTokens.note(firstByteMs, model, provider);
    if (costMicros !== undefined) this.#answers.note(tookMs, model, provider);
  };

  list({ runs, overload }: { runs: ActiveRuns; overload: Overload }): readonly Metric[] {
    return [
      countsMetric(
        {
          name: 'requests_total',
          help: 'Requests that were answered, by route, status and the code of the error.',
        },
        ['route', 'status', 'error_code'],
        this.#requests,
      ),
      timingsMetric(
        {
          name: 'request_duration_seconds',
          help: 'From the first byte of the request to the last of the answer.',
        },
        ['route'],
        this.#durations,
      ),
      timingsMetric(
        {
          name: 'first_token_seconds',
          help: 'From the arrival of a request to the first piece of its streamed answer.',
        },
        ['model', 'provider'],
        this.#firstTokens,
      ),
      timingsMetric(
        {
          name: 'answer_duration_seconds',
          help: 'From the arrival of a charged request to the end of its answer.',
        },
        ['model', 'provider'],
        this.#answers,
      ),
      countsMetric(
        {
          name: 'replayed_total',
          help: 'Requests answered with the stored answer of an earlier one, free of charge.',
        },
        ['mode', 'model', 'cache'],
        this.#replayed,
      ),
      countsMetric(
        {
          name: 'rate_limited_total',
          help: 'Requests refused by a rate limit of a key, an account or an address.',
        },
        ['limit', 'scope'],
        this.#rateLimited,
      ),
      single({
        name: 'active_requests',
        type: 'gauge',
        help: 'Charged requests under way.',
        value: () => runs.count,
      }),
      {
        name: 'overloaded',
        type: 'gauge',
        help: '1 while new charged requests are refused for this reason.',
        aggregator: 'max',
        read: () =>
          ['lag', 'memory'].map((reason) => ({
            labels: { reason },
            value: Number(overload.reason === reason),
          })),
      },
    ];
  }
}
