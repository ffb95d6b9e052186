import { sql } from '../../db/builder.ts'
import { anyOfIds, type SqlBool, scopeWhere } from '../../db/queries.ts'
import type { MediaFilePart, Prisma } from '../../generated/prisma/client.ts'
import { type ConsentText, findAgreedText } from '../brand/page-texts.ts'
import type { Context } from '../context.ts'
import { isSentTo } from '../erasure/collect-invites.ts'
import { readListIds } from '../erasure/erase-invites.ts'
import { type Erasure, toErasure } from '../erasure/erasures.ts'
import { findInviteEvents, type InviteEvent } from '../events/feed.ts'
import { fileOf, partOf } from '../files/media-keys.ts'
import { withCurrentStatus } from '../invites/expiry.ts'
import { type Invite, wholeInvite } from '../invites/invites.ts'
import { type Suppression, whereAddress } from '../invites/suppressions.ts'
import { rowLoader } from '../loaders/batch-loader.ts'
import { hmacsOfAddress } from '../secrets/address-hmacs.ts'
import type { GradingRound } from '../submissions/grading/graded-submission.ts'
import { findGrades } from '../submissions/grading/grades.ts'
import { findNotes, type ReleasedNote, toReleasedNote } from '../submissions/grading/notes.ts'

// Stored data about a candidate. Names and ids of members, API keys, and sessions are left out here: they belong to others.

/** Invites of one statement. */
const INVITES_AT_ONCE = 500
/** Events of an invite: more than any has. */
const MAX_EVENTS = 10_000

/**
 * Ids of the candidate's live and test invites in order of creation, in batches. Invites that are being erased are left out.
 *
 * @param address in lower case.
 */
export async function* readInviteIdsOfCandidate(ctx: Context, address: string): AsyncGenerator<string> {
  for (let last: string | undefined; ; ) {
    let page = ctx.db
      .selectFrom('invites')
      .where((eb) => isSentTo(eb, address))
      .where(({ not, exists, ref }) =>
        not(exists(ctx.db.selectFrom('erasedInvites').select('inviteId').where('inviteId', '=', ref('invites.id')))),
      )
    if (last !== undefined) page = page.where('invites.id', '>', last)
    const rows = await page.select('invites.id').orderBy('invites.id').limit(INVITES_AT_ONCE).execute()
    yield* rows.map(({ id }) => id)
    last = rows.at(-1)?.id
    if (rows.length < INVITES_AT_ONCE) return
  }
}

const findInvites = rowLoader(wholeInvite)

const orderColumns = {
  ...{ naturalKey: true, profileUrl: true, createdAt: true, cancelledAt: true, reportedStatus: true, reportedAt: true },
  connection: { select: { ats: true } },
} satisfies Prisma.AtsOrderSelect

/** @property tags their names. @property orders of recruiting systems. */
export type ArchivedInvite = {
  invite: Invite
  tags: string[]
  events: InviteEvent[]
  mails: Prisma.InviteEmailGetPayload<object>[]
  orders: Prisma.AtsOrderGetPayload<{ select: typeof orderColumns }>[]
  submissionIds: string[]
}

/** An invite with its history; undefined if it was deleted meanwhile. */
export async function readArchivedInvite(ctx: Context, id: string): Promise<ArchivedInvite | undefined> {
  const [found] = await findInvites(ctx, [id])
  if (!found) return undefined
  const { db, organization } = ctx
  const where = { organizationId: organization.id, inviteId: id }
  const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }]
  const invite = {
    ...withCurrentStatus(found, ctx.deps.clock()),
    assignedGraderId: null,
    createdById: null,
    createdByKeyId: null,
  }
  const tags = await db.inviteTag.findMany({ where, orderBy: { position: 'asc' }, select: { tag: { select: { name: true } } } })
  const submissions = await db.submission.findMany({ where, orderBy, select: { id: true } })
  return {
    invite,
    tags: tags.map(({ tag }) => tag.name),
    events: (await findInviteEvents(ctx, [id], MAX_EVENTS)).map(withoutOthers),
    mails: await db.inviteEmail.findMany({ where, orderBy }),
    orders: await db.atsOrder.findMany({ where, orderBy, select: orderColumns }),
    submissionIds: submissions.map((submission) => submission.id),
  }
}

/** Removes ids of other people: an event keeps only the kind of its actor, and that the grader changed. */
function withoutOthers({ actor, data, ...event }: InviteEvent): InviteEvent {
  const changes = data.changes?.assignedGraderId
    ? { changes: { ...data.changes, assignedGraderId: { before: null, after: null } } }
    : {}
  return { ...event, actor: { ...actor, id: null }, data: { ...data, ...changes } }
}

const submissionInclude = {
  paper: {
    orderBy: { number: 'asc' },
    include: {
      attempts: {
        include: { media: { include: { transcript: true } }, files: true },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      },
      scores: {
        orderBy: { keyNumber: 'desc' },
        take: 1,
        select: { keyNumber: true, points: true, dropped: true, createdAt: true },
      },
    },
  },
  media: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  notes: { orderBy: [{ at: 'asc' }, { id: 'asc' }], select: { kind: true, at: true } },
  releases: { orderBy: { version: 'desc' } },
  // Without the receivers' names.
  shares: {
    orderBy: { shareLinkId: 'asc' },
    select: {
      ...{ vote: true, comment: true, answeredAt: true },
      shareLink: { select: { shows: true, createdAt: true, expiresAt: true, revokedAt: true } },
    },
  },
} satisfies Prisma.SubmissionInclude

type WholeSubmission = Prisma.SubmissionGetPayload<{ include: typeof submissionInclude }>

/** A grade without its grader. @property levels of the rubric, from 1. @property points null: not graded. */
export type ArchivedGrade = {
  questionNumber: number
  round: GradingRound
  points: number | null
  comment: string
  levels: readonly number[]
  gradedAt: Date
}

/** A note of a grader on a recorded answer, without the grader. */
export type ArchivedNote = ReleasedNote & { questionNumber: number; round: GradingRound; notedAt: Date }

/**
 * Everything that the candidate submitted, newest release first.
 *
 * @property grades the current grades by people.
 * @property ownConsent the organization's addition to the service's consent text.
 */
export type ArchivedSubmission = WholeSubmission & {
  grades: ArchivedGrade[]
  graderNotes: ArchivedNote[]
  ownConsent: ConsentText | null
}
export type ArchivedMedia = ArchivedSubmission['media'][number]

/** @returns null: it is gone since. */
export async function readArchivedSubmission(ctx: Context, id: string): Promise<ArchivedSubmission | null> {
  const where = { ...scopeWhere(ctx), id }
  const submission = await ctx.db.submission.findFirst({ where, include: submissionInclude })
  if (!submission) return null
  const grades = (await findGrades(ctx, id)).map(({ questionNumber, round, points, comment, levels, updatedAt: gradedAt }) => ({
    ...{ questionNumber, round, points, comment, levels, gradedAt },
  }))
  const graderNotes = (await findNotes(ctx, id)).map((note) => ({
    ...toReleasedNote(note),
    ...{ questionNumber: note.questionNumber, round: note.round, notedAt: note.createdAt },
  }))
  const ownConsent = await findAgreedText(ctx, submission)
  return { ...submission, graderId: null, secondGraderId: null, decidedById: null, grades, graderNotes, ownConsent }
}

const rowColumns = ['batchId', 'number', 'email', 'name', 'terms', 'state', 'issues', 'inviteId'] as const
/** A row of a list of candidates. */
export type ArchivedListRow = Pick<Prisma.InviteBatchRowGetPayload<object>, (typeof rowColumns)[number]>

function withoutGrader({ terms, issues, ...row }: ArchivedListRow): ArchivedListRow {
  const { assignedGraderId: _, ...termsWithoutGrader } = terms as Record<string, Prisma.JsonValue>
  const batchRows = (issues as { field?: string }[]).filter(({ field }) => field !== 'assignedGraderId')
  return { ...row, terms: termsWithoutGrader, issues: batchRows }
}

/** Data of the address outside of invites. @property erasures requests, which contain no address. */
export type DataOutsideInvites = {
  listRows: ArchivedListRow[]
  registrations: ArchivedRegistration[]
  suppressions: Suppression[]
  erasures: Erasure[]
}

const registrationColumns = [
  'email',
  'name',
  'language',
  'network',
  'state',
  'createdAt',
  'sentAt',
  'bounce',
  'expiresAt',
  'inviteId',
] as const
/** A form of an open link. */
export type ArchivedRegistration = Pick<Prisma.RegistrationGetPayload<object>, (typeof registrationColumns)[number]>

/** @param address in lower case. */
export async function readDataOutsideInvites(ctx: Context, address: string): Promise<DataOutsideInvites> {
  const { db, deps, organization } = ctx
  const listRows: ArchivedListRow[] = []
  for await (const ids of readListIds(ctx, deps.clock())) {
    const rows = ctx.db
      .selectFrom('inviteBatchRows')
      .where('batchId', '=', anyOfIds(ids))
      .where(({ ref }) => sql<SqlBool>`address_key(trim(${ref('email')})) = ${address}`)
    const found = (await rows.select(rowColumns).orderBy('batchId').orderBy('number').execute()) as ArchivedListRow[]
    listRows.push(...found.map(withoutGrader))
  }
  const batchRows = { organizationId: organization.id }
  const orderBy = { createdAt: 'asc' as const }
  const codes = hmacsOfAddress(deps.secretKeys, organization.id, address).map((code) => new Uint8Array(code))
  const erasures = await db.erasure.findMany({ where: { ...batchRows, addressHmac: { in: codes } }, orderBy })
  const registrations = db
    .selectFrom('registrations')
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('email')}) = ${address}`)
    .select(registrationColumns)
    .orderBy('createdAt')
    .orderBy('id')
  return {
    listRows,
    registrations: await registrations.execute(),
    suppressions: await db.suppression.findMany({
      where: { ...batchRows, ...whereAddress(deps, organization, address) },
      orderBy: { since: 'asc' },
    }),
    erasures: erasures.map((row) => ({ ...toErasure(row), actorId: null })),
  }
}

/**
 * File of a photo or recording. For a recording that could not be joined, the parts that arrived.
 *
 * @returns null if it is incomplete or deleted.
 */
export async function openArchivedMedia({ db, deps }: Context, media: ArchivedMedia): Promise<AsyncIterable<Uint8Array> | null> {
  if (media.state === 'ready') return deps.media.get(fileOf(media.key))
  if (media.state !== 'failed' || media.fileName !== null) return null
  const where = { organizationId: media.organizationId, mediaId: media.id }
  const parts = await db.mediaFilePart.findMany({ where, orderBy: [{ segment: 'asc' }, { number: 'asc' }] })
  return parts.length > 0 ? readThere(deps, media, parts) : null
}

async function* readThere(
  { media: store }: Context['deps'],
  { key }: ArchivedMedia,
  parts: MediaFilePart[],
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    const content = await store.get(partOf(key, part))
    if (content) yield* content
  }
}
