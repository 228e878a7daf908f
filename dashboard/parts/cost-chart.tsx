// Stacked bars of the cost per day. Loads lazily: the chart library is larger than the rest of the
// page.
import '@mantine/charts/styles.layer.css';
import { BarChart } from '@mantine/charts';
import type { Output } from '../api/client.ts';
import { chartRows, seriesColor, seriesLabel, tickText } from './chart-rows.ts';
import { usdText } from './money-text.ts';

type Costs = Output<'GET /accounts/:account/analytics'>;

type Props = {
  readonly costs: Costs;
  readonly height: number;
  /** The series overlap, so they stand side by side. */
  readonly overlap: boolean;
};

export function CostChart({ costs, height, overlap }: Props) {
  const series = costs.series.map((one, index) => ({
    name: `s${index}`,
    label: seriesLabel(one),
    color: seriesColor(one, index),
  }));
  return (
    <BarChart
      h={height}
      type={overlap ? 'default' : 'stacked'}
      data={chartRows(costs)}
      dataKey="day"
      series={series}
      valueFormatter={usdText}
      tickLine="none"
      gridAxis="x"
      withLegend={false}
      strokeDasharray="3 3"
      xAxisProps={{ tickFormatter: tickText, minTickGap: 24 }}
      yAxisProps={{ width: 72, tickFormatter: usdText, allowDecimals: false }}
      tooltipProps={{ labelFormatter: (day) => (typeof day === 'string' ? tickText(day) : day) }}
      tooltipAnimationDuration={80}
      barProps={{ maxBarSize: 28, isAnimationActive: false }}
    />
  );
}
