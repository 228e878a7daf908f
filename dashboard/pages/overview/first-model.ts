// Which model a first request is sent to.
import type { Output } from '../../api/client.ts';

type ChatModel = Output<'GET /accounts/:account/models'>['chat'][number];

/** The cheapest that the key may use and that can run: in test mode the sandbox runs them all. null: there is none. */
export function firstModel(
  models: readonly ChatModel[],
  { mode, allowed }: { readonly mode: 'live' | 'test'; readonly allowed: readonly string[] | null },
): string | null {
  const runnable = models.filter(
    (model) => model.price !== null && (mode === 'test' || model.is_live) && (allowed === null || allowed.includes(model.id)),
  );
  const priceOf = ({ price }: ChatModel) => (price ? price.base.input_micros + price.base.output_micros : 0);
  return runnable.toSorted((one, other) => priceOf(one) - priceOf(other))[0]?.id ?? null;
}
