import type { Language } from '../../src/locales/languages.ts'
import { partsOf } from '../../src/mail/message.ts'
import { join, reset } from '../../src/mail/templates/account.ts'
import { invitation } from '../../src/mail/templates/invitation.ts'
import { webhookDisabled, webhookFailing } from '../../src/mail/templates/webhook.ts'

const expiresAt = new Date('2026-12-21T09:12:00Z')
const url = 'https://assess.example.org/i/AbCdEfGh0123456789'

/** What others have written, or are called. */
export const WRITTEN = {
  organization: 'Northwind Talent',
  assessment: 'Customer support, second line',
  recipientName: 'Sam Rivera',
  customMessage: 'We look forward to hearing you.\nMaya',
  invitationText: 'Northwind Ltd, 1 Harbour Street, Cork',
  name: 'Maya Okafor',
  host: 'hooks.northwind.example',
  url,
}
const { organization, assessment, recipientName, customMessage, invitationText, name, host } = WRITTEN

/** A mail of each kind, with all and with nothing that it can say. */
export function renderEveryMail({ mail: t }: Language) {
  const bare = {
    organization,
    assessment,
    recipientName: null,
    customMessage: '',
    invitationText: '',
    questionCount: 0,
    timeLimit: 0,
    invitedBy: null,
  }
  const full = {
    organization,
    assessment,
    recipientName,
    customMessage,
    invitationText,
    questionCount: 12,
    timeLimit: 2_700,
    invitedBy: name,
  }
  const webhook = { name, organization, host, failingSince: expiresAt, isGone: false }
  return {
    invitation: partsOf(t, invitation, { ...full, url, expiresAt }),
    'invitation-bare': partsOf(t, invitation, { ...bare, url, expiresAt }),
    join: partsOf(t, join, { name, organization, url, expiresAt }),
    reset: partsOf(t, reset, { name, organization, url, expiresAt }),
    'webhook-failing': partsOf(t, webhookFailing, webhook),
    'webhook-disabled': partsOf(t, webhookDisabled, webhook),
    'webhook-gone': partsOf(t, webhookDisabled, { ...webhook, failingSince: null, isGone: true }),
  }
}
