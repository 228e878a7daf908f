import { Text, Tooltip, type TextProps } from '@mantine/core';
import { createContext, useContext } from 'react';
import { fixedUsdText, shortUsdText, usdText } from './money-text.ts';

type Props = Omit<TextProps, 'children'> & {
  /** Whole microdollars. Null or undefined shows a dash. */
  readonly micros: number | null | undefined;
  /** Shows whole cents, for headlines. Hover or focus shows all digits. */
  readonly short?: boolean;
};

const DigitsContext = createContext<number | undefined>(undefined);

/** The number of decimals of all amounts in a column. */
export const Digits = DigitsContext.Provider;

/** `<Money micros={123} />`: $0.000123 */
export function Money({ micros, short = false, ...text }: Props) {
  const digits = useContext(DigitsContext);
  if (micros === null || micros === undefined) {
    return (
      <Text span inherit c="dimmed" {...text}>
        –
      </Text>
    );
  }
  const exact = usdText(micros);
  const shown = short
    ? shortUsdText(micros)
    : digits === undefined
      ? exact
      : fixedUsdText(micros, digits);
  const isRounded = shown !== exact && short;
  const amount = (
    <Text
      span
      inherit
      style={{ whiteSpace: 'nowrap' }}
      // A headline can be focused; the amounts of a long table would be too many stops.
      tabIndex={isRounded && digits === undefined ? 0 : undefined}
      {...text}
    >
      {shown}
    </Text>
  );
  return isRounded ? <Tooltip label={exact}>{amount}</Tooltip> : amount;
}
