// Stacked bars of the cost per day. Loads lazily: the chart library is larger than the rest of the
// page.
import '@mantine/charts/styles.layer.css';
import { BarChart } from '@mantine/charts';
import type { Output } from '../../api/client.ts';
import { shortUsdText, usdText } from '../../parts/money-text.ts';
import { chartColors, chartRows, seriesLabel, tickText } from './chart-rows.ts';

type Costs = Output<'GET /accounts/:account/overview/costs'>;

export function CostChart({ costs }: { readonly costs: Costs }) {
  const series = costs.series.map((one, index) => ({
    name: `s${index}`,
    label: seriesLabel(one),
    color: chartColors[index % chartColors.length]!,
  }));
  return (
    <BarChart
      h={260}
      type="stacked"
      data={chartRows(costs)}
      dataKey="day"
      series={series}
      valueFormatter={usdText}
      tickLine="none"
      gridAxis="x"
      withLegend={false}
      strokeDasharray="3 3"
      xAxisProps={{ tickFormatter: tickText, minTickGap: 24 }}
      yAxisProps={{ width: 72, tickFormatter: shortUsdText, allowDecimals: false }}
      tooltipProps={{ labelFormatter: (day) => (typeof day === 'string' ? tickText(day) : day) }}
      tooltipAnimationDuration={80}
      barProps={{ maxBarSize: 28, isAnimationActive: false }}
    />
  );
}
