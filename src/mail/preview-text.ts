import type { ExampleName, TestedText } from '../domain/mails/member-emails.ts'
import { daysAfter } from '../domain/values/days.ts'
import type { MailTexts } from '../locales/languages.ts'
import type { Letter } from './letter.ts'
import { candidateLetters } from './letters/to-candidates.ts'
import { type MailSettings, type Message, partsOf } from './message.ts'

const NAMES: Record<ExampleName, string | null> = {
  plain: 'Sam Rivera',
  long: 'Maximiliane Alexandra Freifrau von und zu Hohenstein-Wittgenstein-Sayn',
  arabic: 'محمد بن عبد الله الأنصاري',
  none: null,
}

/** What an example says besides the text, of the organization. */
type Letterhead = { organization: string; zone: string; invitationText: string }
type Parts = Pick<Message, 'subject' | 'text' | 'html' | 'headers'>

/**
 * A mail for no candidate, to see how a text looks.
 *
 * @param place.url where its links lead. @param place.now from when on its days are counted. @param place.isTest whether it is sent, which
 *   its subject says then.
 */
export function previewText(
  { languages }: Pick<MailSettings, 'languages'>,
  { organization, zone, invitationText, kind, assessment, language, who, subject, body }: Letterhead & TestedText,
  { url, now, isTest = false }: { url: string; now: Date; isTest?: boolean },
): Parts {
  const t = languages.mail(language, zone)
  const daysLeft = 7
  const letter = candidateLetters[kind](t, {
    organization,
    assessment: assessment ?? 'Customer support',
    recipientName: NAMES[who],
    customMessage: 'We look forward to hearing from you.\nMaya Okafor',
    invitationText,
    questionCount: 12,
    timeLimit: 2_700,
    requirements: ['camera', 'microphone'],
    invitedBy: 'Maya Okafor',
    expiresAt: daysAfter(now, daysLeft),
    daysLeft,
    handedIn: { at: now, byClock: false },
    url,
    unsubscribeUrl: url,
    template: body === '' ? null : { subject, body },
  })
  return partsOf(t, isTest ? testOf(t, letter) : letter)
}

/** A letter that is sent only to see how it looks. */
export const testOf = (t: MailTexts, letter: Letter): Letter => ({
  ...letter,
  subject: t.text('test.subject', { subject: letter.subject }),
})
