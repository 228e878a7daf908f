import { encode } from 'uqr';

type Props = {
  readonly text: string;
  /** Label for screen readers. */
  readonly label: string;
};

const sizePixels = 188;
/** Quiet zone in modules, as scanners require. */
const border = 4;

/**
 * Draws the code in the browser, so that the secret reaches no other server. Always dark on light,
 * for cameras.
 */
export function QrCode({ text, label }: Props) {
  const { data, size } = encode(text, { border });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return (
    <svg
      width={sizePixels}
      height={sizePixels}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      style={{ borderRadius: 8 }}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
