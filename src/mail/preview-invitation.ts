import type { Links } from '../domain/context.ts'
import type { Brand } from '../domain/values/brand.ts'
import { daysAfter } from '../domain/values/days.ts'
import type { Scheme } from '../html/brand.ts'
import { DARK_QUERY } from './inline-styles.ts'
import { invitation } from './letters/invitation.ts'
import { type MailSettings, type Message, mailBrandOf, partsOf } from './message.ts'

/** Names that are hard to say, by what is hard about them. */
const NAMES = {
  plain: 'Sam Rivera',
  long: 'Maximiliane Alexandra Freifrau von und zu Hohenstein-Wittgenstein-Sayn',
  arabic: 'محمد بن عبد الله الأنصاري',
  none: null,
}
type Asked = {
  organization: Brand
  /** Of the language that is previewed. */
  language: string
  zone: string
  invitationText: string
  template: { subject: string; body: string } | null
  who: keyof typeof NAMES
  /** As which of them it is shown, whatever the reader's program prefers; undefined: as that does. */
  scheme?: Scheme
}

/** How an invitation would look. It is for nobody: its link leads to the service's entrance. @param now from when on its days are counted. */
export function previewInvitation(
  { languages, links }: Pick<MailSettings, 'languages' | 'links'>,
  { organization, language, zone, invitationText, template, who, scheme }: Asked,
  { url, now }: { url: string; now: Date },
): Pick<Message, 'subject' | 'text' | 'html'> {
  const t = languages.mail(language, zone)
  const daysLeft = 7
  const facts = {
    organization: organization.name,
    assessment: 'Customer support',
    recipientName: NAMES[who],
    customMessage: 'We look forward to hearing from you.\nMaya Okafor',
    invitationText,
    questionCount: 12,
    timeLimit: 2_700,
    requirements: ['camera', 'microphone'] as const,
    invitedBy: 'Maya Okafor',
    expiresAt: daysAfter(now, daysLeft),
    daysLeft,
    url,
    template,
  }
  // By whatever address the service is looked at: its policy lets in nothing of another.
  const ownLinks: Pick<Links, 'logoUrl'> = { logoUrl: (logo) => new URL(links.logoUrl(logo)).pathname }
  const { subject, text, html } = partsOf(t, invitation(t, facts), mailBrandOf(ownLinks, organization))
  return { subject, text, html: scheme ? html.replace(DARK_QUERY, scheme === 'dark' ? '@media all' : '@media not all') : html }
}
