import { setImmediate } from 'node:timers/promises'
import { sql } from '../../../db/builder.ts'
import type { InviteBatchRowState } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import type { Issue } from '../../errors.ts'
import {
  MAX_CODE_LENGTH,
  MAX_INVITE_TAGS,
  MAX_KEPT_CELL_LENGTH,
  MAX_LIST_CELL_LENGTH,
  MAX_MESSAGE_LENGTH,
  MAX_NAME_LENGTH,
} from '../../limits.ts'
import { splitText } from '../../lists/filters.ts'
import { GRADING_ROLES } from '../../members/graders.ts'
import { caseKey } from '../../text/fold-text.ts'
import { isEmailAddress, toStoredAddress } from '../../validation/email-address.ts'
import { truncateText } from '../../validation/uploaded-files.ts'
import { checkNewInvite, type NewInvite } from '../new-invite.ts'

/** Meanings of a list's columns. */
export type ListColumn = 'email' | 'name' | 'tags' | 'message' | 'days' | 'grader' | 'extraTime' | 'language'
/** One row of a list as it was given; missing cells are empty. @property fault why the row can't be read, with its line in the file. */
export type ListRow = Record<ListColumn, string> & { fault?: { problem: 'strayQuote' | 'unreadableCell'; line: number } }

/** Settings of an invite other than its recipient. */
export type BatchTerms = Omit<NewInvite, 'assessmentId' | 'recipientEmail' | 'recipientName'>

/** A row of a batch as it is stored. */
export type CheckedRow = {
  number: number
  state: InviteBatchRowState
  email: string
  name: string
  terms: BatchTerms
  issues: Issue[]
  repeats: number | null
  inviteId: string | null
}

/** Unknown tags that a row reports: all of them can be many times as long as the list. */
const MAX_UNKNOWN_TAGS = 3
/** Names in one cell, repeated ones included. 10,000 would fit, and block other requests for a tenth of a second per row. */
const MAX_TAG_PIECES = 10 * MAX_INVITE_TAGS
/** Rows that are checked before others' requests get their turn. */
const CHECKED_AT_ONCE = 200
/** Addresses that are looked up by one statement. */
const LOOKED_UP_AT_ONCE = 1_000

/**
 * Recipient in a row. @property own the row's own settings; its tags are added to those of the batch. @property unknown names that match
 * nothing.
 */
export type RecipientRow = { email: string; name: string; rowTerms: BatchTerms; unknown: Issue[] }

/** Looks up the tags and graders that rows of a list name: once for all rows, and not before one has such a name. */
export function createRowReader(ctx: Context, terms: BatchTerms): (rows: ListRow[]) => Promise<RecipientRow[]> {
  const tags = once(() => findTags(ctx))
  const graders = once(() => findGraders(ctx))
  return async (rows) => {
    const names: Names = {
      tags: rows.some((row) => row.tags) ? await tags() : new Map(),
      graders: rows.some((row) => row.grader) ? await graders() : new Map(),
    }
    const recipients: RecipientRow[] = []
    for (const [i, row] of rows.entries()) {
      const { rowTerms, issues: unknown } = readTerms(row, names, terms)
      const { fault } = row
      const faults: Issue[] = fault ? [{ field: 'list', rule: 'account', problem: fault.problem, limit: fault.line }] : []
      recipients.push({ email: row.email, name: row.name, rowTerms, unknown: [...faults, ...unknown] })
      if (i % CHECKED_AT_ONCE === 0) await setImmediate()
    }
    return recipients
  }
}

function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined
  return () => (found ??= find())
}

/** Context of the rows that are checked. @property firsts row numbers by address, of all rows checked before; checkRows adds to it. */
export type CheckContext = { firsts: Map<string, number>; assessmentId: string; terms: BatchTerms }

/** Determines each row's outcome. @param from number of the first row. */
export async function checkRows(ctx: Context, rows: RecipientRow[], from: number, setting: CheckContext): Promise<CheckedRow[]> {
  const { assessmentId } = setting
  const checked: CheckedRow[] = []
  for (const [i, row] of rows.entries()) {
    checked.push(checkRow(row, from + i, setting))
    if (i % CHECKED_AT_ONCE === 0) await setImmediate()
  }
  const ready = checked.filter(({ state }) => state === 'ready')
  const invited = await findInvited(
    ctx,
    assessmentId,
    ready.map(({ email }) => email.toLowerCase()),
  )
  for (const row of ready) {
    const inviteId = invited.get(row.email.toLowerCase())
    if (inviteId) Object.assign(row, { state: 'already', inviteId })
  }
  return checked
}

type Names = { tags: Map<string, string>; graders: Map<string, string> }

function checkRow(
  { rowTerms, unknown, ...cells }: RecipientRow,
  number: number,
  { firsts, assessmentId, terms }: CheckContext,
): CheckedRow {
  const row = { ...cells, email: toStoredAddress(cells.email) }
  const recipient = { recipientEmail: row.email, recipientName: row.name || null }
  const issues = [...checkNewInvite({ assessmentId, ...recipient, ...terms, ...rowTerms }), ...unknown]
  // Rejected values are stored long enough to be found in the list.
  const name = truncateText(row.name, MAX_NAME_LENGTH * 2)
  const storedRow = { number, email: truncateText(row.email, MAX_KEPT_CELL_LENGTH), name, repeats: null, inviteId: null }
  const address = row.email.toLowerCase()
  const first = firsts.get(address)
  if (first !== undefined) return { ...storedRow, state: 'repeated', terms: {}, issues: [], repeats: first }
  if (isEmailAddress(row.email)) firsts.set(address, number)
  // A row that lacks only tags keeps its terms: the tags can be created.
  if (issues.length > 0) return { ...storedRow, state: 'invalid', terms: lacksOnlyTags(issues) ? rowTerms : {}, issues }
  return { ...storedRow, state: 'ready', terms: rowTerms, issues: [] }
}

const lacksOnlyTags = (issues: Issue[]): boolean => issues.every(({ field, rule }) => field === 'tagIds' && rule === 'reference')

/** Settings of one row. Its tags are added to the tags of all rows. */
function readTerms(
  { tags, message, days, grader, extraTime, language }: ListRow,
  names: Names,
  everybody: BatchTerms,
): { rowTerms: BatchTerms; issues: Issue[] } {
  const rowTerms: BatchTerms = {}
  const issues: Issue[] = []
  const find = (field: string, idsByKey: Map<string, string>, name: string, key: string): string[] => {
    const id = idsByKey.get(key)
    if (!id) issues.push({ field, rule: 'reference', value: truncateText(name, MAX_KEPT_CELL_LENGTH) })
    return id ? [id] : []
  }
  const pieces = tags.length > MAX_LIST_CELL_LENGTH ? [] : tags.split(TAG_SEPARATOR, MAX_TAG_PIECES + 1)
  const isTooLong = tags.length > MAX_LIST_CELL_LENGTH || pieces.length > MAX_TAG_PIECES
  const wanted = isTooLong ? [] : splitTags(tags)
  if (isTooLong) issues.push({ field: 'tagIds', rule: 'maxItems', limit: MAX_INVITE_TAGS })
  const tagIds = wanted.flatMap((name) => find('tagIds', names.tags, name, caseKey(name)))
  if (wanted.length > 0 && issues.length <= MAX_UNKNOWN_TAGS) rowTerms.tagIds = [...(everybody.tagIds ?? []), ...tagIds]
  issues.splice(MAX_UNKNOWN_TAGS)
  if (grader) {
    const address = toStoredAddress(grader)
    rowTerms.assignedGraderId = find('assignedGraderId', names.graders, address, address.toLowerCase())[0] ?? null
  }
  if (message) rowTerms.customMessage = truncateText(message, 2 * MAX_MESSAGE_LENGTH + 1)
  if (extraTime) rowTerms.extraTimePercent = readWholeNumber(extraTime.replace(/ ?%$/, ''))
  if (language) rowTerms.language = truncateText(language, MAX_CODE_LENGTH)
  if (days) rowTerms.expiresInDays = readWholeNumber(days)
  return { rowTerms, issues }
}

/** Invalid numbers become -1, which no range allows. */
const readWholeNumber = (text: string): number => (/^\d{1,10}$/.test(text) ? Number(text) : -1)

const TAG_SEPARATOR = /[,;|]/
const splitTags = (text: string): string[] => [...new Set(splitText(text, TAG_SEPARATOR))]

/** Ids of the tags that the context sees, by the key of their names. */
async function findTags(ctx: Context): Promise<Map<string, string>> {
  const tags = await ctx.db.selectFrom('tags').select(['id', 'nameKey']).execute()
  return new Map(tags.map(({ id, nameKey }) => [nameKey, id]))
}

/** Ids of the members who may grade, by email address in lower case. */
async function findGraders({ db, organization }: Context): Promise<Map<string, string>> {
  const graders = await db.member.findMany({
    where: { organizationId: organization.id, status: 'active', roles: { hasSome: [...GRADING_ROLES] } },
    select: { id: true, email: true },
  })
  return new Map(graders.map(({ id, email }) => [email.toLowerCase(), id]))
}

/** Ids of existing invites to the assessment, by address in lower case. */
async function findInvited(ctx: Context, assessmentId: string, emails: string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let i = 0; i < emails.length; i += LOOKED_UP_AT_ONCE) {
    const rows = await invitesTo(ctx, assessmentId, emails.slice(i, i + LOOKED_UP_AT_ONCE)).execute()
    for (const { id, email } of rows) found.set(email, id)
  }
  return found
}

const invitesTo = (ctx: Context, assessmentId: string, emails: string[]) =>
  ctx.db
    .selectFrom('invites')
    .where('assessmentId', '=', assessmentId)
    .where((eb) => eb(eb.fn<string>('address_key', ['recipientEmail']), '=', sql<string>`any(${emails}::text[])`))
    .select((eb) => ['id', eb.fn<string>('address_key', ['recipientEmail']).as('email')])
    .orderBy('attempt')
