import { Text, type TextProps } from '@mantine/core';
import { shortUsdText, usdText } from './money-text.ts';

type Props = Omit<TextProps, 'children'> & {
  /** Whole microdollars. Null or undefined shows a dash. */
  readonly micros: number | null | undefined;
  /** Shows amounts from one dollar in whole cents. The tooltip has all digits. */
  readonly short?: boolean;
};

/** `<Money micros={123} />`: $0.000123 */
export function Money({ micros, short = false, ...text }: Props) {
  if (micros === null || micros === undefined) {
    return (
      <Text span inherit c="dimmed" {...text}>
        –
      </Text>
    );
  }
  const exact = usdText(micros);
  const shown = short ? shortUsdText(micros) : exact;
  return (
    <Text
      span
      inherit
      title={shown === exact ? undefined : exact}
      style={{ whiteSpace: 'nowrap' }}
      {...text}
    >
      {shown}
    </Text>
  );
}
