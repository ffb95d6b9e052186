import type { Bounce } from '../../../domain/mails/classify-bounce.ts'

const WORDS: Record<Bounce, string> = {
  address: 'there is no such mailbox',
  temporary: 'the mailbox is full, or could not be reached',
  blocked: 'its server wants no mail from the service',
}

/** What it means that a mail came back. A newer release may know more. */
export const wordBounce = (bounce: string): string => (WORDS as Record<string, string>)[bounce] ?? bounce

/** The same with what the server said; empty for a mail that has not come back. */
export function wordReturn({
  bounce,
  bounceStatus,
  bounceReason,
}: Record<'bounce' | 'bounceStatus' | 'bounceReason', string | null>): string {
  if (bounce === null) return ''
  const said = bounceReason || bounceStatus
  return said ? `${wordBounce(bounce)} (“${said}”)` : wordBounce(bounce)
}
