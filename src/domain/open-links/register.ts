import { sql } from '../../db/builder.ts'
import { violatedConstraint } from '../../db/errors.ts'
import { type SqlBool, scopeWhere } from '../../db/queries.ts'
import type { OpenLink } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { isVisible } from '../text/visible-name.ts'
import { inTransaction } from '../transaction.ts'
import { checkText } from '../validation/checks.ts'
import { domainOf, isEmailAddress, toStoredAddress } from '../validation/email-address.ts'
import { MAX_VISITOR_NAME_LENGTH, MAX_WAITING, REGISTRATION_MS } from './limits.ts'

/** Fields of the form. */
export type RegistrationInput = { name: string; email: string; language: string }

export const NAME_PROBLEMS = ['missing', 'too_long', 'unprintable', 'like_link'] as const
export const EMAIL_PROBLEMS = ['missing', 'not_address', 'foreign_domain'] as const
export type RegistrationIssue =
  | { field: 'name'; problem: (typeof NAME_PROBLEMS)[number] }
  | { field: 'email'; problem: (typeof EMAIL_PROBLEMS)[number] }
  | { field: 'language'; problem: 'not_offered' }

/** Something that mail programs show as a link: `example.com`, `www.`, `https:`, an address. */
const LIKE_LINK = /[:/\\]{2}|www\.|[@＠﹫]|[\p{L}\p{N}][.。]\p{L}{2,}/iu
/** Control characters, line breaks, and marks that turn the direction of text. */
const UNPRINTABLE = /\p{Cc}|\p{Zl}|\p{Zp}|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/** The form as it is stored. */
export const readInput = ({ name, email, language }: RegistrationInput): RegistrationInput => ({
  name: name.trim(),
  email: toStoredAddress(email.trim()),
  language,
})

/** Problems of the form, in the order of its fields. @param languages codes that it offers. */
export function findRegistrationIssues(
  { name, email, language }: RegistrationInput,
  { emailDomains }: Pick<OpenLink, 'emailDomains'>,
  languages: readonly string[],
): RegistrationIssue[] {
  const nameProblem = findNameProblem(name)
  const emailProblem = findEmailProblem(email, emailDomains)
  return [
    ...(nameProblem ? [{ field: 'name' as const, problem: nameProblem }] : []),
    ...(emailProblem ? [{ field: 'email' as const, problem: emailProblem }] : []),
    ...(languages.includes(language) ? [] : [{ field: 'language' as const, problem: 'not_offered' as const }]),
  ]
}

function findNameProblem(name: string): (typeof NAME_PROBLEMS)[number] | null {
  if (name === '' || !isVisible(name)) return 'missing'
  if ([...name].length > MAX_VISITOR_NAME_LENGTH) return 'too_long'
  if (UNPRINTABLE.test(name) || checkText(name, MAX_VISITOR_NAME_LENGTH)) return 'unprintable'
  return LIKE_LINK.test(name) ? 'like_link' : null
}

function findEmailProblem(email: string, domains: readonly string[]): (typeof EMAIL_PROBLEMS)[number] | null {
  if (email === '') return 'missing'
  if (!isEmailAddress(email)) return 'not_address'
  return domains.length === 0 || domains.includes(domainOf(email)) ? null : 'foreign_domain'
}

/**
 * Stores a visitor's form until its mail is sent. A worker checks later whether the address is new, known, or over its limit, so that the
 * response time is the same for every address.
 *
 * @param proof identifies the solved proof of work; null: none. A proof that another form has used counts as none.
 */
export async function register(
  ctx: Context,
  { id: openLinkId }: Pick<OpenLink, 'id'>,
  input: RegistrationInput,
  { network, proof }: { network: string; proof: string | null },
): Promise<void> {
  const store = (unusedProof: string | null) =>
    inTransaction(ctx, async ({ db, deps, organization }) => {
      const createdAt = deps.clock()
      const expiresAt = new Date(createdAt.getTime() + REGISTRATION_MS)
      await db
        .insertInto('registrations')
        .values({ id: deps.newId(), openLinkId, ...input, network, proof: unusedProof, createdAt, expiresAt })
        .execute()
      await deps.queue.enqueueRegistrations(db, organization.id)
      deps.metrics.registered(unusedProof === null ? 'unproven' : 'proven')
    })
  await store(proof).catch(async (error) => {
    if (violatedConstraint(error) !== 'registrations_proof_key') throw error
    const sameForm = { ...scopeWhere(ctx), openLinkId, proof, email: input.email }
    if ((await ctx.db.registration.count({ where: sameForm })) === 0) await store(null)
  })
}

/**
 * True if too many registrations of the organization wait for their mails, and the network has one of them. A network without a waiting
 * registration is always served, so that nobody can shut others out.
 */
export async function mustWait({ db }: Context, { network, proof }: { network: string; proof: string | null }): Promise<boolean> {
  const waiting = db.selectFrom('registrations').where('state', '=', sql.lit('waiting' as const))
  const isThere = sql<SqlBool>`true`.as('isThere')
  const waitingFromNetwork = waiting.where('network', '=', network).select(isThere).limit(1)
  if (!(await waitingFromNetwork.executeTakeFirst())) return false
  const [rows, most] =
    proof === null
      ? [waiting.where('proof', 'is', null), MAX_WAITING.unproven]
      : [waiting.where('proof', 'is not', null), MAX_WAITING.proven]
  const last = rows
    .select(isThere)
    .offset(most - 1)
    .limit(1)
  return (await last.executeTakeFirst()) !== undefined
}
