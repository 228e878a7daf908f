// Why automatic top-ups are paused, in words for people.

export const cardProblems = {
  declined: 'the bank declined the card',
  'authentication-required': 'the bank wants the owner of the card to confirm the payment',
  expired: 'the card has expired',
  refused: 'Stripe refused the payment',
  returned: 'a payment by card was refunded or disputed',
  'no-answer': 'Stripe gave no answer, and knows of no payment',
} as const;

export type CardProblem = keyof typeof cardProblems;
