import { sql } from '../../../db/builder.ts'
import type { Condition, Expression, Expressions, Rows, Scope, SqlBool } from '../../../db/queries.ts'
import { containing } from '../../../db/query.ts'
import { scopeOf, type TenantDb } from '../../../db/tenant-db.ts'
import type { InviteSource, InviteStatus } from '../../../generated/prisma/client.ts'
import { readWords } from '../../lists/filters.ts'
import type { Order } from '../../lists/page.ts'
import { INVITATION_KINDS } from '../../mails/candidate-mails.ts'
import { searchKey } from '../../text/fold-text.ts'
import { toStoredAddress } from '../../validation/email-address.ts'
import { hasStatusNow } from '../expiry.ts'

export type InviteOrder = Order<'sentAt' | 'status' | 'expiresAt' | 'createdAt'>
export type InviteFilter = {
  assessmentId?: string
  status?: InviteStatus
  /** Each word in the recipient's address or the assessment's name. */
  search?: string
  /** The recipient's address, in either case. */
  recipientEmail?: string
  /** Each word in the recipient's name or address. */
  recipient?: string
  /** A tag of the invite. */
  tagId?: string
  /** Id of the assigned grader. */
  assignedGraderId?: string
  /** Exact. */
  externalId?: string
  /** Any of these. */
  statuses?: InviteStatus[]
  /** Sent then or later. */
  sentFrom?: Date
  /** Sent before. */
  sentTo?: Date
  expiresFrom?: Date
  expiresTo?: Date
  /** Changed then or later, as far as that is committed. */
  updatedSince?: Date
  source?: InviteSource
  /** Pending, and the newest invitation email failed or came back. */
  isUndelivered?: true
  /** Invites of a list of candidates. */
  list?: { id: string; part: ListPart }
}
/**
 * Invites of a list. `invited`: the list created them. The others existed before for its addresses; `unnamed`: the list has their missing name;
 * `closed`: they can be reactivated.
 */
export type ListPart = 'invited' | 'unnamed' | 'closed'
/** As much of a filter as there are kept counts and orders for: not both an assessment and a tag. */
export type CountedFilter = Pick<InviteFilter, 'assessmentId' | 'status' | 'statuses' | 'tagId'>
/** Filters that the search by address index supports. */
export type SearchFilter = Pick<InviteFilter, (typeof SEARCHED)[number]>
const SEARCHED = ['assessmentId', 'status', 'search'] as const

type Rule<Value> = {
  /** SQL condition as of now. Filters by words may use the joined assessment. */
  condition: (eb: Expressions<'invites'>, value: Value, scope: { db: TenantDb; now: Date }) => Condition
  /** True if counters and an ordered index exist. */
  isCounted: boolean
  /** True if an index finds the few matches. */
  narrows: boolean
}

/** Rules of each filter. A forgotten one doesn't compile. */
const RULES: { [Field in keyof InviteFilter]-?: Rule<NonNullable<InviteFilter[Field]>> } = {
  assessmentId: { isCounted: true, narrows: false, condition: (eb, id) => eb('invites.assessmentId', '=', id) },
  status: { isCounted: true, narrows: false, condition: (eb, status, { now }) => hasStatusNow(eb, status, now) },
  tagId: { isCounted: true, narrows: true, condition: (eb, id, { db }) => eb('invites.id', 'in', taggedWith(eb, id, db)) },
  recipientEmail: {
    isCounted: false,
    narrows: true,
    condition: (eb, email) => sql`address_key(${eb.ref('invites.recipientEmail')}) = address_key(${toStoredAddress(email)})`,
  },
  assignedGraderId: { isCounted: false, narrows: true, condition: (eb, id) => eb('invites.assignedGraderId', '=', id) },
  externalId: { isCounted: false, narrows: true, condition: (eb, id) => eb('invites.externalId', '=', id) },
  statuses: {
    isCounted: true,
    narrows: false,
    condition: (eb, statuses, { now }) => eb.or(statuses.map((status) => hasStatusNow(eb, status, now)) as Expression<SqlBool>[]),
  },
  sentFrom: { isCounted: false, narrows: false, condition: (eb, from) => eb('invites.sentAt', '>=', from) },
  sentTo: { isCounted: false, narrows: false, condition: (eb, to) => eb('invites.sentAt', '<', to) },
  expiresFrom: { isCounted: false, narrows: false, condition: (eb, from) => eb('invites.expiresAt', '>=', from) },
  expiresTo: { isCounted: false, narrows: false, condition: (eb, to) => eb('invites.expiresAt', '<', to) },
  updatedSince: { isCounted: false, narrows: false, condition: (eb, since) => eb('invites.updatedAt', '>=', since) },
  source: { isCounted: false, narrows: false, condition: (eb, source) => eb('invites.source', '=', source) },
  isUndelivered: {
    isCounted: false,
    narrows: true,
    condition: (eb, _, { db, now }) =>
      eb.and([hasStatusNow(eb, 'pending', now), eb('invites.id', 'in', undeliveredInvites(db))] as Expression<SqlBool>[]),
  },
  list: {
    isCounted: false,
    narrows: true,
    condition: (eb, { id, part }, { db, now }) => {
      const rows = db.selectFrom('inviteBatchRows').where('batchId', '=', id).select('inviteId')
      if (part === 'invited') return eb('invites.id', 'in', rows.where('state', '=', 'invited'))
      const earlier = rows.where('state', '=', 'already')
      if (part === 'unnamed')
        return eb.and([
          hasStatusNow(eb, 'pending', now),
          eb('invites.recipientName', 'is', null),
          eb('invites.id', 'in', earlier.where('name', '<>', '')),
        ] as Expression<SqlBool>[])
      return eb.and([
        eb.or([hasStatusNow(eb, 'expired', now), hasStatusNow(eb, 'revoked', now)] as Expression<SqlBool>[]),
        eb('invites.declinedAt', 'is', null),
        eb('invites.id', 'in', earlier),
      ] as Expression<SqlBool>[])
    },
  },
  search: {
    isCounted: false,
    narrows: false,
    condition: (eb, text) =>
      eb.and(
        readWords(text).map(
          (word) =>
            sql<SqlBool>`(address_key(${eb.ref('invites.recipientEmail')}) like ${addressPattern(word)} or ${sql.ref('assessments.nameSearch')} like ${namePattern(word)})`,
        ),
      ),
  },
  recipient: {
    isCounted: false,
    narrows: false,
    condition: (eb, text, { db }) =>
      eb.and(readWords(text).map((word) => isOfRecipient(eb, scopeOf(db), word)) as Expression<SqlBool>[]),
  },
}

type Field = keyof InviteFilter
/** Filters by words are set only if they contain a word. */
const isGiven = (filter: InviteFilter, field: Field): boolean =>
  filter[field] !== undefined && !((field === 'search' || field === 'recipient') && readWords(filter[field]).length === 0)
const fieldsOf = (filter: InviteFilter): Field[] => (Object.keys(RULES) as Field[]).filter((field) => isGiven(filter, field))

/** True if counters exist for every set filter. */
export const isCountable = (filter: InviteFilter): boolean => fieldsOf(filter).every((field) => RULES[field].isCounted)
/** True for a search whose other filters the address index supports. */
export const isSearch = (filter: InviteFilter): boolean =>
  isGiven(filter, 'search') && fieldsOf(filter).every((field) => SEARCHED.some((searched) => searched === field))
/** True if an index finds the few matches of one set filter. */
export const isNarrow = (filter: InviteFilter): boolean => fieldsOf(filter).some((field) => RULES[field].narrows)

/** The organization's invites that meet all given filters, as of now. */
export function matchingInvites(db: TenantDb, filter: InviteFilter, now: Date): Rows<'invites'> {
  const invites = db.selectFrom('invites')
  const fields = fieldsOf(filter)
  const named = invites.innerJoin(db.table('assessments'), 'assessments.id', 'invites.assessmentId')
  const rows = (fields.includes('search') ? named : invites) as Rows<'invites'>
  const scope = { db, now }
  return fields.reduce((found, field) => found.where((eb) => RULES[field].condition(eb, filter[field] as never, scope)), rows)
}

/** Ids of invites whose newest invitation email failed or came back. The partial index invite_emails_undelivered_idx finds the emails. */
export const undeliveredInvites = (db: TenantDb) =>
  db
    .selectFrom('inviteEmails as mail')
    .where('mail.kind', 'in', [...INVITATION_KINDS])
    .where(sql<SqlBool>`(mail.state = 'failed' or mail.bounced_at is not null)`)
    .where(sql<SqlBool>`(mail.state <> 'failed' or mail.failure is distinct from 'obsolete')`)
    .where(({ not, exists }) =>
      not(
        exists(
          db
            .selectFrom('inviteEmails as later')
            .select('later.id')
            .where(sql<SqlBool>`later.invite_id = mail.invite_id`)
            .where('later.kind', 'in', [...INVITATION_KINDS])
            .where(sql<SqlBool>`(later.created_at, later.id) > (mail.created_at, mail.id)`),
        ),
      ),
    )
    .select('mail.inviteId')

const taggedWith = (eb: Expressions<'invites'>, tagId: string, db: TenantDb) =>
  eb.selectFrom(db.table('inviteTags')).select('inviteTags.inviteId').where('inviteTags.tagId', '=', tagId)

/** Shorter words are in no index of parts. */
const GRAM_LENGTH = 3
export const isIndexed = (word: string): boolean => [...word].length >= GRAM_LENGTH

/** A word as addresses are folded when they are stored. Accents tell addresses apart. */
export const addressWord = (word: string): string => word.normalize('NFC').toLowerCase()
export const addressPattern = (word: string): string => containing(addressWord(word))
/** For keys of names that are searched, which have no accents. */
export const namePattern = (word: string): string => containing(searchKey(word))

/** True if the recipient's name or address contains the word. Trigram indexes find candidates. */
function isOfRecipient(eb: Expressions<'invites'>, { organization }: Pick<Scope, 'organization'>, word: string): Condition {
  const [email, name] = [eb.ref('invites.recipientEmail'), eb.ref('invites.recipientNameSearch')]
  const inAddress = sql<SqlBool>`address_key(${email}) like ${addressPattern(word)}`
  const inName = sql<SqlBool>`${name} like ${namePattern(word)}`
  // Folding may make a word shorter.
  const [addressLetters, nameLetters] = [addressWord(word), searchKey(word)]
  if (!isIndexed(addressLetters) || !isIndexed(nameLetters)) return sql`(${inAddress} or ${inName})`
  const organizationId = eb.ref('invites.organizationId')
  const grams = (text: string) => sql`address_grams(${organization.id}::uuid, ${text})`
  return sql`((${inAddress} and address_grams(${organizationId}, ${email}) @> ${grams(addressLetters)})
    or (${inName} and address_grams(${organizationId}, ${name}) @> ${grams(nameLetters)}))`
}
