import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { rawStatement } from '../../db/statements.ts'
import { DEFAULT, insertFromSelect, timestamp, uuid } from '../../db/writes.ts'
import { type Context, inMode } from '../context.ts'
import type { NoticeKind } from '../mails/candidate-mails.ts'

// One-time notices to candidates, if the organization or, with precedence, the assessment enables them.

type Switches = {
  organization: { candidateMails: readonly string[] }
  assessment: { submittedMail: boolean | null; releasedMail: boolean | null }
}
const COLUMNS = { submitted: 'submittedMail', released: 'releasedMail' } as const satisfies Record<NoticeKind, string>

export const isNoticeEnabled = (kind: NoticeKind, { organization, assessment }: Switches): boolean =>
  assessment[COLUMNS[kind]] ?? organization.candidateMails.includes(kind)

/**
 * Queues a notice email if the organization has enabled it.
 *
 * @param noticeKey key of the notice: the same key is sent once.
 */
export async function queueNotice(ctx: Context, inviteId: string, kind: NoticeKind, noticeKey = ''): Promise<void> {
  const { db, deps } = ctx
  const isOn = ctx.db
    .selectFrom('organizations')
    .select(({ ref }) => sql<boolean>`${kind}::text = any(${ref('organizations.candidateMails')})`.as('isOn'))
  const invite = inMode(ctx, 'all')
    .db.selectFrom('invites')
    .innerJoin(inMode(ctx, 'all').db.table('assessments'), 'assessments.id', 'invites.assessmentId')
    .where('invites.id', '=', inviteId)
    .where(({ ref }) => sql<SqlBool>`coalesce(${ref(`assessments.${COLUMNS[kind]}`)}, (${isOn}))`)
  const now = deps.clock()
  const insertion = insertFromSelect(db, 'inviteEmails', invite, (eb) => ({
    id: uuid(deps.newId()),
    organizationId: eb.ref('invites.organizationId'),
    inviteId: eb.ref('invites.id'),
    kind: eb.val<string>(kind),
    dedupeKey: eb.val<string>(noticeKey === '' ? kind : `${kind}:${noticeKey}`),
    linkVersion: eb.ref('invites.linkVersion'),
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
    ...DEFAULT_COLUMNS,
  }))
    .onConflict((conflict) =>
      conflict.columns(['organizationId', 'inviteId', 'dedupeKey']).where('dedupeKey', 'is not', null).doNothing(),
    )
    .returning(['inviteEmails.id', 'inviteEmails.organizationId'])
  const queued = await insertion.execute()
  if (queued.length > 0) await rawStatement(db, await deps.queue.invitationEmailJobs(queued, { isPatient: true })).execute()
}

const DEFAULT_COLUMNS = {
  templateId: DEFAULT,
  language: DEFAULT,
  message: DEFAULT,
  state: DEFAULT,
  attempts: DEFAULT,
  failure: DEFAULT,
  reason: DEFAULT,
  sentAt: DEFAULT,
  delayedUntil: DEFAULT,
  bouncedAt: DEFAULT,
  bounce: DEFAULT,
  bounceStatus: DEFAULT,
  bounceReason: DEFAULT,
  complainedAt: DEFAULT,
} as const
