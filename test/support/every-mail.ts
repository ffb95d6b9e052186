import { REMINDER_KINDS } from '../../src/domain/mails/candidate-mails.ts'
import { DIGESTS } from '../../src/domain/mails/member-emails.ts'
import type { MailTexts } from '../../src/locales/languages.ts'
import type { MailBrand } from '../../src/mail/letter.ts'
import { memberInvitation, passwordReset } from '../../src/mail/letters/account.ts'
import { notices, reminder } from '../../src/mail/letters/automatic.ts'
import { digest } from '../../src/mail/letters/digests.ts'
import { invitation, reactivated, resent, withdrawn } from '../../src/mail/letters/invitation.ts'
import { security } from '../../src/mail/letters/security.ts'
import { webhookDisabled, webhookFailing } from '../../src/mail/letters/webhook.ts'
import { renderParts } from '../../src/mail/message.ts'
import { markAsTest } from '../../src/mail/preview-text.ts'

const expiresAt = new Date('2026-12-21T09:12:00Z')
const url = 'https://assess.example.org/i/AbCdEfGh0123456789AbCdEfGh0123456789AbCdEfGh0123456789'

/** User-written texts and names. */
export const WRITTEN = {
  organization: 'Northwind Talent',
  assessment: 'Customer support, second line',
  recipientName: 'Sam Rivera',
  customMessage: 'We look forward to hearing you.\nMaya',
  invitationText: 'Northwind Ltd, 1 Harbour Street, Cork',
  name: 'Maya Okafor',
  host: 'hooks.northwind.example',
  url,
  unsubscribeUrl: url.replace('/i/', '/u/'),
  imprint: 'https://northwind.example/imprint',
  contact: 'https://northwind.example/contact',
}
/** An organization's own mail template. */
export const OWN = {
  subject: 'Your next step at {{ organization }}',
  body: 'Dear {{ candidate_name | default: "candidate" }},\n\nthank you for your **interest**. The next step takes {{ time_limit }}:\n\n- quiet room\n- [our advice](https://northwind.example/advice)\n\n{{ message }}\n\n{{ link }}\n\nUntil {{ expires_at }}, which is {{ expires_in }}.\nThe team of {{ organization }}',
}
/** Template of a mail without a button. */
const OWN_RECEIPT = 'Dear {{ candidate_name }},\n\nwe have had your answers since {{ submitted_at }}.'
const { organization, assessment, recipientName, customMessage, invitationText, name, host } = WRITTEN

/** Renders a mail of each kind, some with all optional parts and some with none. @param brand look of the mails. */
export function renderEveryMail(t: MailTexts, brand?: MailBrand) {
  const bare = {
    organization,
    assessment,
    recipientName: null,
    customMessage: '',
    message: '',
    invitationText: '',
    questionCount: 0,
    timeLimit: 0,
    requirements: [],
    invitedBy: null,
    url,
    expiresAt,
    daysLeft: 7,
    submission: null,
    unsubscribeUrl: WRITTEN.unsubscribeUrl,
    links: [],
    template: null,
  }
  const full = {
    ...bare,
    recipientName,
    customMessage,
    invitationText,
    questionCount: 12,
    timeLimit: 2_700,
    requirements: ['camera', 'microphone', 'screen', 'id_photo', 'face_photo'] as const,
    links: [
      { link: 'imprint', url: WRITTEN.imprint },
      { link: 'contact', url: WRITTEN.contact },
    ] as const,
    invitedBy: name,
  }
  const own = { subject: OWN.subject, body: OWN.body }
  const byItself = { ...full, submission: { at: expiresAt, byClock: false } }
  const withoutGrader = [
    { language: 'eu', count: 12 },
    { language: null, count: 1 },
  ]
  const figures = { name, organization, count: 12, fresh: 3, withoutGrader: [], url }
  const webhook = { name, organization, host, failingSince: expiresAt, isGone: false }
  const facts = {
    name,
    organization,
    at: expiresAt,
    address: '203.0.113.7',
    browser: 'Firefox, Windows',
    person: 'Sam Rivera',
    called: 'Work phone',
    before: 'grader',
    after: 'admin, grader',
    until: expiresAt,
    forgot: url,
    log: url,
    home: url,
  }
  const letters = {
    invitation: invitation(t, full),
    'invitation-bare': invitation(t, bare),
    'in-own-words': invitation(t, { ...full, template: own }),
    'test-of-a-text': markAsTest(t, invitation(t, full)),
    resent: resent(t, full),
    reactivated: reactivated(t, full),
    withdrawn: withdrawn(t, { ...full, message: customMessage }),
    join: memberInvitation(t, { name, organization, url, expiresAt }),
    reset: passwordReset(t, { name, organization, url, expiresAt }),
    ...Object.fromEntries(REMINDER_KINDS.map((kind) => [kind, reminder(kind)(t, byItself)])),
    submitted: notices.submitted(t, byItself),
    'submitted-by-clock': notices.submitted(t, { ...byItself, submission: { at: expiresAt, byClock: true } }),
    released: notices.released(t, byItself),
    'reminder-in-own-words': reminder('not_started')(t, { ...byItself, template: own }),
    'receipt-in-own-words': notices.submitted(t, { ...byItself, template: { ...own, body: OWN_RECEIPT } }),
    ...Object.fromEntries(
      DIGESTS.map((kind) => [kind, digest(kind)(t, kind === 'grading_digest' ? { ...figures, withoutGrader } : figures)]),
    ),
    'security-own': security(t, 'factor_added', facts),
    'security-admins': security(t, 'key_made', facts),
    'security-retention': security(t, 'retention_changed', facts),
    'security-text': security(t, 'text_changed', facts),
    'security-text-removed': security(t, 'text_changed', { ...facts, called: '' }),
    'security-page-words': security(t, 'page_words_changed', facts),
    'security-linked': security(t, 'identity_linked', facts),
    'security-secret': security(t, 'secret_ending', { ...facts, address: null, browser: null, person: null }),
    'security-domain': security(t, 'domain_failing', { ...facts, address: null, browser: null, person: null }),
    'security-domain-lost': security(t, 'domain_lost', { ...facts, address: null, browser: null, person: null }),
    'security-roles': security(t, 'roles_changed', { ...facts, address: null, browser: null, person: null }),
    'organization-ending': security(t, 'organization_ending', facts),
    'organization-ending-soon': security(t, 'organization_ending_soon', { ...facts, address: null, browser: null, person: null }),
    'organization-kept': security(t, 'organization_kept', facts),
    'owner-offered': security(t, 'owner_offered', facts),
    'ownership-offer-made': security(t, 'ownership_offer_made', facts),
    'ownership-offer-taken': security(t, 'ownership_offer_taken', facts),
    'security-guessed': security(t, 'wrong_passwords', facts),
    'webhook-failing': webhookFailing(t, webhook),
    'webhook-disabled': webhookDisabled(t, webhook),
    'webhook-gone': webhookDisabled(t, { ...webhook, failingSince: null, isGone: true }),
  }
  return Object.fromEntries(Object.entries(letters).map(([kind, letter]) => [kind, renderParts(t, letter, brand)]))
}
