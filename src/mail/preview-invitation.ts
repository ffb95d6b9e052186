import { daysAfter } from '../domain/values/days.ts'
import { invitation } from './letters/invitation.ts'
import { type MailSettings, type Message, partsOf } from './message.ts'

/** Names that are hard to say, by what is hard about them. */
const NAMES = {
  plain: 'Sam Rivera',
  long: 'Maximiliane Alexandra Freifrau von und zu Hohenstein-Wittgenstein-Sayn',
  arabic: 'محمد بن عبد الله الأنصاري',
  none: null,
}
type Asked = {
  organization: string
  /** Of the language that is previewed. */
  language: string
  zone: string
  invitationText: string
  template: { subject: string; body: string } | null
  who: keyof typeof NAMES
}

/** How an invitation would look. It is for nobody: its link leads to the service's entrance. @param now from when on its days are counted. */
export function previewInvitation(
  { languages }: Pick<MailSettings, 'languages'>,
  { organization, language, zone, invitationText, template, who }: Asked,
  { url, now }: { url: string; now: Date },
): Pick<Message, 'subject' | 'text' | 'html'> {
  const t = languages.mail(language, zone)
  const daysLeft = 7
  const facts = {
    organization,
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
  return partsOf(t, invitation(t, facts))
}
