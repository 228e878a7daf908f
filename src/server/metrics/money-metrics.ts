// Metrics of money: whole microdollars, as the ledger booked them, so that sums agree with the books
// to the microdollar.
import type { Meter } from '../../gateway/meter.ts';
import { countsMetric, type Metric } from './metric.ts';

const labels = ['mode', 'model', 'provider'];

export function moneyMetrics({ charged, upstreamCost, losses, tokens }: Meter): readonly Metric[] {
  return [
    countsMetric(
      {
        name: 'charged_micros_total',
        help: 'Microdollars charged to accounts; with mode live, the revenue.',
      },
      labels,
      charged,
    ),
    countsMetric(
      {
        name: 'upstream_cost_micros_total',
        help: 'Microdollars that the charged requests cost the operator.',
      },
      labels,
      upstreamCost,
    ),
    countsMetric(
      {
        name: 'loss_micros_total',
        help: 'Microdollars that nobody paid: calls that failed, and cost beyond what balance and caps had room for.',
      },
      [...labels, 'reason'],
      losses,
    ),
    countsMetric(
      { name: 'tokens_total', help: 'Tokens of charged requests.' },
      ['mode', 'model', 'direction'],
      tokens,
    ),
  ];
}
