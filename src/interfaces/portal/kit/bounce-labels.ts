import type { Bounce } from '../../../domain/mails/classify-bounce.ts'

const WORDS: Record<Bounce, string> = {
  address: 'there is no such mailbox',
  temporary: 'the mailbox is full, or could not be reached',
  blocked: 'its server rejects emails from this service',
}

/** A bounce code that a newer release added is shown as it is. */
export const labelBounce = (bounce: string): string => (WORDS as Record<string, string>)[bounce] ?? bounce

/** The bounce with the mail server's response; empty if the mail did not bounce. */
export function formatBounce({
  bounce,
  bounceStatus,
  bounceReason,
}: Record<'bounce' | 'bounceStatus' | 'bounceReason', string | null>): string {
  if (bounce === null) return ''
  const response = bounceReason || bounceStatus
  return response ? `${labelBounce(bounce)} (“${response}”)` : labelBounce(bounce)
}
