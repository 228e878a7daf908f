// Revenue, cost and margin by day, and the revenue of the days before. Loads lazily, as all charts.
import '@mantine/charts/styles.layer.css';
import { LineChart } from '@mantine/charts';
import { tickText } from '../../../parts/chart-rows.ts';
import { shortUsdText, usdText } from '../../../parts/money-text.ts';
import type { DayRow } from './day-rows.ts';

const series = [
  { name: 'revenue', label: 'Revenue', color: '#4d76e4' },
  { name: 'cost', label: 'Cost', color: '#e0a030' },
  { name: 'margin', label: 'Margin', color: '#1d9e8d' },
  { name: 'before', label: 'Revenue before', color: '#7c8798', strokeDasharray: '5 5' },
];

export function MarginChart({ rows }: { readonly rows: readonly DayRow[] }) {
  return (
    <LineChart
      h={260}
      data={[...rows]}
      dataKey="day"
      series={series}
      valueFormatter={shortUsdText}
      curveType="linear"
      withDots={rows.length === 1}
      withLegend
      legendProps={{ verticalAlign: 'bottom' }}
      tickLine="none"
      gridAxis="x"
      strokeDasharray="3 3"
      xAxisProps={{ tickFormatter: tickText, minTickGap: 24 }}
      yAxisProps={{ width: 72, tickFormatter: usdText, allowDecimals: false }}
      tooltipProps={{ labelFormatter: (day) => (typeof day === 'string' ? tickText(day) : day) }}
      tooltipAnimationDuration={80}
      lineProps={{ isAnimationActive: false }}
    />
  );
}
