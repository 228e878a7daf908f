// A line of a row's figures by day, as small as its text.
import classes from './charts.module.css';
import { linePath } from './layout.ts';
import { colors } from './series.ts';

const width = 88;
const height = 22;

type Props = {
  /** `Cost by day` */
  readonly label: string;
  /** Null or empty: not known. */
  readonly values: readonly number[] | null | undefined;
  readonly format: (value: number) => string;
};

/** `<Sparkline label="Cost by day" values={[3, 0, 5]} format={usdText} />` */
export function Sparkline({ label, values, format }: Props) {
  if (!values || !values.some((value) => value !== 0)) return '–';
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const step = (width - 4) / Math.max(values.length - 1, 1);
  const places = values.map((value, index) => ({
    x: 2 + index * step,
    y: 2 + ((high - value) / (high - low)) * (height - 4),
  }));
  const text = `${label}: first ${format(values[0]!)}, last ${format(values.at(-1)!)}, at most ${format(high)}`;
  return (
    <svg className={classes.spark} width={width} height={height} role="img" aria-label={text}>
      <path
        d={values.length === 1 ? `M2 2H${width - 2}` : linePath(places)}
        fill="none"
        stroke={colors[0]}
        strokeWidth={1.5}
        strokeLinejoin="round"
      />
    </svg>
  );
}
