/** To a page of the dashboard, as whoever is now signed in: loaded afresh, so that nothing is known of before. Never returns. */
export function enter(next: string): Promise<never> {
  location.replace(next);
  return new Promise(() => {});
}
