// A model in the configuration of a test gateway, for tests that are not about limits and prices.

/** A dollar and two per million tokens, unless `fields` say otherwise. */
export function modelOf(routes: readonly object[], fields: object = {}) {
  return {
    routes,
    max_input_tokens: 100_000,
    max_output_tokens: 8_000,
    prices: { input: 1, output: 2 },
    ...fields,
  };
}
