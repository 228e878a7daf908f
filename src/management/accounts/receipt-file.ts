// The receipt of a credit, as PDF.
import type { FastifyReply } from 'fastify';
import { noSuch } from '../../canonical/errors.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { findCardPayment } from '../../domain/billing/receipt.ts';
import type { Receipt } from '../../domain/billing/receipt-pdf.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { findCredit } from '../../domain/ledger/reports/queries.ts';
import { micros } from '../../lib/money.ts';
import type { ManagementContext } from '../context.ts';

/** Throws ApiError 404 when the account has no such live credit, or it was for nothing. */
export async function sendReceipt(
  context: ManagementContext,
  reply: FastifyReply,
  { accountId, entryId }: { readonly accountId: string; readonly entryId: string },
): Promise<FastifyReply> {
  const receipt = await readReceipt(context, { accountId, entryId });
  // Loaded on first use: the library is large.
  const { receiptPdf } = await import('../../domain/billing/receipt-pdf.ts');
  return reply
    .header('content-type', 'application/pdf')
    .header('content-disposition', `attachment; filename="receipt-${receipt.number}.pdf"`)
    .send(Buffer.from(await receiptPdf(receipt)));
}

async function readReceipt(
  { database, gateway }: ManagementContext,
  { accountId, entryId }: { readonly accountId: string; readonly entryId: string },
): Promise<Receipt & { readonly number: string }> {
  const ledgerId = ledgerIdOf(accountId, 'live');
  const credit = await findCredit(database.read, { ledgerId, entryId });
  if (!credit) throw noSuch('payment in this account');
  const card = await findCardPayment(database.read, entryId);
  const [account] = await findAccounts(database.read, [accountId]);
  const { billing, service } = gateway.config;
  const { amountMicros, createdAtMs } = credit;
  const returned = card?.returnedMicros ?? 0;
  const number = numberOf(accountId, credit.number);
  return {
    number,
    title: card ? 'Receipt' : 'Confirmation of credit',
    seller: billing.seller.length > 0 ? billing.seller : [service.name],
    facts: [
      ['Date', `${new Date(createdAtMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`],
      ['Number', number],
      ['Account', account?.name ?? ''],
      ['Account ID', accountId],
      ['Method', card ? `Card, by Stripe (${card.id})` : 'Credited by the operator'],
      ...(card || !credit.note ? [] : ([['Note', credit.note]] as const)),
    ],
    amounts: [
      ['Prepaid credit', amountMicros],
      ...(card && card.feeMicros > 0 ? ([['Card fee', card.feeMicros]] as const) : []),
    ],
    total: card ? ['Paid', card.paidMicros] : ['Credited', amountMicros],
    later: returned > 0 ? [['Refunded or disputed since', micros(0 - returned)]] : [],
    note: billing.receipt_note,
    createdAtMs,
  };
}

/** The end of the account's id, which is random, tells the receipts of accounts apart. */
function numberOf(accountId: string, number: number): string {
  return `${accountId.slice(-8).toUpperCase()}-${String(number).padStart(4, '0')}`;
}
