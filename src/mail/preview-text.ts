import type { ExampleName, TestedText } from '../domain/mails/member-emails.ts'
import type { Brand } from '../domain/ports/brand.ts'
import type { Links } from '../domain/ports/links.ts'
import { pageLinksFor } from '../domain/ports/page-links.ts'
import { daysAfter } from '../domain/time/days.ts'
import type { Scheme } from '../html/brand.ts'
import type { MailTexts } from '../locales/languages.ts'
import { DARK_QUERY } from './inline-styles.ts'
import type { Letter } from './letter.ts'
import { candidateLetters } from './letters/candidate-letters.ts'
import { type MailSettings, type Message, mailBrandOf, renderParts } from './message.ts'

const NAMES: Record<ExampleName, string | null> = {
  plain: 'Sam Rivera',
  long: 'Maximiliane Alexandra Freifrau von und zu Hohenstein-Wittgenstein-Sayn',
  arabic: 'محمد بن عبد الله الأنصاري',
  none: null,
}

/** @property scheme forced color scheme; undefined: the reader's preference. */
type Letterhead = { organization: Brand; zone: string; invitationText: string; scheme?: Scheme }
type MessageParts = Pick<Message, 'subject' | 'text' | 'html' | 'headers'>

/**
 * Renders a custom text for an invented candidate.
 *
 * @param options.url target of its links. @param options.now start of its day counts. @param options.isTest marks the subject as a test.
 */
export function previewText(
  { languages, links }: Pick<MailSettings, 'languages' | 'links'>,
  { organization, zone, invitationText, scheme, kind, assessment, language, who, subject, body }: Letterhead & TestedText,
  { url, now, isTest = false }: { url: string; now: Date; isTest?: boolean },
): MessageParts {
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
    submission: { at: now, byClock: false },
    url,
    unsubscribeUrl: url,
    links: pageLinksFor(organization, language),
    template: body === '' ? null : { subject, body },
  })
  if (isTest) return renderParts(t, markAsTest(t, letter), mailBrandOf(links, organization))
  // Relative, because the page may be open at any of the service's addresses, and its Content-Security-Policy allows this origin only.
  const ownLinks: Pick<Links, 'logoUrl'> = { logoUrl: (logo) => new URL(links.logoUrl(logo)).pathname }
  const { html, ...otherParts } = renderParts(t, letter, mailBrandOf(ownLinks, organization))
  return { ...otherParts, html: scheme ? html.replace(DARK_QUERY, scheme === 'dark' ? '@media all' : '@media not all') : html }
}

/** Marks the subject as a test. */
export const markAsTest = (t: MailTexts, letter: Letter): Letter => ({
  ...letter,
  subject: t.text('test.subject', { subject: letter.subject }),
})
