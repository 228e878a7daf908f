// The widths at which the layout changes: `sm` and `md` of the theme. Style sheets repeat them.
import { useMediaQuery } from '@mantine/hooks';

/** Below 700 pixels: tables are cards, and the navigation covers the page. */
export const useIsPhone = () => useIsScreen('(max-width: 43.74em)');

/** From 1000 pixels on, there is room beside the content. */
export const useIsWide = () => useIsScreen('(min-width: 62.5em)');

/** Known before the first paint. */
function useIsScreen(query: string): boolean {
  return useMediaQuery(query, undefined, { getInitialValueInEffect: false });
}
