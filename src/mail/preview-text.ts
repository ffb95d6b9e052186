import type { Links } from '../domain/context.ts'
import type { ExampleName, TestedText } from '../domain/mails/member-emails.ts'
import type { Brand } from '../domain/ports/brand.ts'
import { pageLinksFor } from '../domain/ports/page-links.ts'
import { daysAfter } from '../domain/time/days.ts'
import type { Scheme } from '../html/brand.ts'
import type { MailTexts } from '../locales/languages.ts'
import { DARK_QUERY } from './inline-styles.ts'
import type { Letter } from './letter.ts'
import { candidateLetters } from './letters/to-candidates.ts'
import { type MailSettings, type Message, mailBrandOf, partsOf } from './message.ts'

const NAMES: Record<ExampleName, string | null> = {
  plain: 'Sam Rivera',
  long: 'Maximiliane Alexandra Freifrau von und zu Hohenstein-Wittgenstein-Sayn',
  arabic: 'محمد بن عبد الله الأنصاري',
  none: null,
}

/**
 * What an example says besides the text, of the organization.
 *
 * @property scheme as which of them it is shown, whatever the reader's program prefers; undefined: as that does.
 */
type Letterhead = { organization: Brand; zone: string; invitationText: string; scheme?: Scheme }
type Parts = Pick<Message, 'subject' | 'text' | 'html' | 'headers'>

/**
 * A mail for no candidate, to see how a text looks.
 *
 * @param place.url where its links lead. @param place.now from when on its days are counted. @param place.isTest whether it is sent, which
 *   its subject says then.
 */
export function previewText(
  { languages, links }: Pick<MailSettings, 'languages' | 'links'>,
  { organization, zone, invitationText, scheme, kind, assessment, language, who, subject, body }: Letterhead & TestedText,
  { url, now, isTest = false }: { url: string; now: Date; isTest?: boolean },
): Parts {
  const t = languages.mail(language, zone)
  const daysLeft = 7
  const letter = candidateLetters[kind](t, {
    organization: organization.name,
    assessment: assessment ?? 'Customer support',
    recipientName: NAMES[who],
    customMessage: 'We look forward to hearing from you.\nMaya Okafor',
    message: '',
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
    links: pageLinksFor(organization, language),
    template: body === '' ? null : { subject, body },
  })
  if (isTest) return partsOf(t, testOf(t, letter), mailBrandOf(links, organization))
  // By whatever address the service is looked at: its policy lets in nothing of another.
  const ownLinks: Pick<Links, 'logoUrl'> = { logoUrl: (logo) => new URL(links.logoUrl(logo)).pathname }
  const { html, ...others } = partsOf(t, letter, mailBrandOf(ownLinks, organization))
  return { ...others, html: scheme ? html.replace(DARK_QUERY, scheme === 'dark' ? '@media all' : '@media not all') : html }
}

/** A letter that is sent only to see how it looks. */
export const testOf = (t: MailTexts, letter: Letter): Letter => ({
  ...letter,
  subject: t.text('test.subject', { subject: letter.subject }),
})
