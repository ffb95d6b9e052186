import { type Static, Type } from '@sinclair/typebox'
import { STOPPED_MAILS, type StoppedMails } from '../../domain/events/event.ts'
import { type ListedSuppression, SUPPRESSION_REASONS } from '../../domain/invites/suppressions.ts'
import { DateTime, Email, isoTime, isoTimeOrNull, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

/** A blocked email address. */
export const SuppressionView = Type.Object(
  {
    id: Uuid(),
    address: Type.String({ description: 'In lower case; for an erased candidate `erased:` and a code' }),
    reason: StringEnum(SUPPRESSION_REASONS, {
      description:
        'bounce: the mailbox does not exist; full: the last mails bounced temporarily; complaint: a mail was marked as spam; manual: added by a member or key; unsubscribed: by the candidate',
    }),
    scope: StringEnum(STOPPED_MAILS, { description: 'reminders: only reminders and notices are stopped' }),
    since: DateTime(),
    until: Nullable(DateTime('null: until it is lifted')),
    emailId: Nullable(Uuid('Id of the mail that caused it')),
  },
  {
    [NAME]: 'Suppression',
    examples: [
      {
        id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e78',
        address: 'gone@example.com',
        reason: 'bounce',
        scope: 'all',
        since: '2026-03-02T09:30:00.000Z',
        until: null,
        emailId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e74',
      },
    ],
  },
)

export const presentSuppression = ({
  id,
  address,
  reason,
  scope,
  since,
  until,
  emailId,
}: ListedSuppression): Static<typeof SuppressionView> => ({
  ...{ id, address, reason: reason as Static<typeof SuppressionView>['reason'], scope: scope as StoppedMails },
  ...{ since: isoTime(since), until: isoTimeOrNull(until), emailId },
})

export const NewSuppressionBody = Type.Object(
  { address: Email('The address, in upper or lower case') },
  { [NAME]: 'NewSuppression', examples: [{ address: 'gone@example.com' }] },
)
