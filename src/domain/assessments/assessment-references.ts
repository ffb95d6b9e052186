import { sql } from '../../db/builder.ts'
import { type Context, inMode } from '../context.ts'
import type { Issue } from '../errors.ts'
import { caseKey } from '../text/fold-text.ts'
import { toStoredAddress } from '../validation/email-address.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import type { AssessmentInput } from './assessment-input.ts'
import type { Assessment } from './assessments.ts'

// Finds the rows that an assessment refers to by name, and locks them until they are referenced. Live and test data share
// assessments, so their tags are live.

type Found = { name: string; id: string }
type References = { languageIds: string[]; categoryIds: string[]; tagIds: string[]; clientIds: string[] }

/** Runs in the transaction of the change. @throws DomainError invalid, with an issue (rule `reference`) for each tag or client that is none. */
export async function resolveAssessmentReferences(
  ctx: Context,
  { languages, categories, tags, clients }: Pick<AssessmentInput, 'languages' | 'categories' | 'tags' | 'clients'>,
): Promise<References> {
  await addLanguages(ctx, languages)
  await addCategories(ctx, categories)
  const foundTags = await findTagNames(ctx, tags)
  const addresses = clients.map(toStoredAddress)
  const foundClients = await findAddresses(ctx, addresses)
  throwIfIssues([...findMissing('tags', tags, foundTags), ...findMissing('clients', addresses, foundClients)])
  return {
    languageIds: idsOf(await findCodes(ctx, languages)),
    categoryIds: idsOf(await findCategoryNames(ctx, categories)),
    tagIds: idsOf(foundTags),
    clientIds: idsOf(foundClients),
  }
}

/** Replaces the assessment's languages, categories, tags, and clients, in this order. */
export async function replaceReferences(
  { db, organization }: Context,
  assessmentId: string,
  { languageIds, categoryIds, tagIds, clientIds }: References,
): Promise<void> {
  const key = { organizationId: organization.id, assessmentId }
  await db.assessmentLanguage.deleteMany({ where: key })
  await db.assessmentCategory.deleteMany({ where: key })
  await db.assessmentTag.deleteMany({ where: key })
  await db.assessmentClient.deleteMany({ where: key })
  await db.assessmentLanguage.createMany({ data: languageIds.map((languageId, position) => ({ ...key, languageId, position })) })
  await db.assessmentCategory.createMany({ data: categoryIds.map((categoryId, position) => ({ ...key, categoryId, position })) })
  await db.assessmentTag.createMany({ data: tagIds.map((tagId, position) => ({ ...key, tagId, position })) })
  await db.assessmentClient.createMany({ data: clientIds.map((memberId, position) => ({ ...key, memberId, position })) })
}

/** The ids of what an assessment refers to. */
export const referencesOf = ({ languageIds, categoryIds, tagIds, clientIds }: Assessment): References => ({
  languageIds,
  categoryIds,
  tagIds,
  clientIds,
})

/** Adds the languages that are new. Always in the same order, so that two who add the same never wait for each other. */
export async function addLanguages({ db, deps }: Context, codes: string[]): Promise<void> {
  const data = [...new Set(codes)].sort().map((code) => ({ id: deps.newId(), code }))
  await db.language.createMany({ data, skipDuplicates: true })
}

async function addCategories({ db, deps, organization }: Context, names: string[]): Promise<void> {
  const data = [...new Set(names)].sort().map((name) => ({ id: deps.newId(), organizationId: organization.id, name }))
  await db.category.createMany({ data, skipDuplicates: true })
}

const wanted = (names: string[]) =>
  sql<{ name: string; position: string }>`unnest(${names}::text[]) with ordinality`.as<'wanted'>(sql`wanted (name, position)`)

const findCodes = ({ db }: Context, codes: string[]): Promise<Found[]> =>
  db
    .selectFrom('languages')
    .innerJoin(wanted(codes), 'wanted.name', 'languages.code')
    .select(['wanted.name', 'languages.id'])
    .orderBy('wanted.position')
    .forKeyShare('languages')
    .execute()

const findCategoryNames = (ctx: Context, names: string[]): Promise<Found[]> =>
  ctx.db
    .selectFrom('categories')
    .innerJoin(wanted(names), 'wanted.name', 'categories.name')
    .select(['wanted.name', 'categories.id'])
    .orderBy('wanted.position')
    .forKeyShare('categories')
    .execute()

const findTagNames = (ctx: Context, names: string[]): Promise<Found[]> =>
  inMode(ctx, 'live')
    .db.selectFrom('tags')
    .innerJoin(
      sql<{
        name: string
        key: string
        position: string
      }>`unnest(${names}::text[], ${names.map(caseKey)}::text[]) with ordinality`.as<'wanted'>(sql`wanted (name, key, position)`),
      'wanted.key',
      'tags.nameKey',
    )
    .select(['wanted.name', 'tags.id'])
    .orderBy('wanted.position')
    .forKeyShare('tags')
    .execute()

const findAddresses = (ctx: Context, addresses: string[]): Promise<Found[]> =>
  ctx.db
    .selectFrom('members')
    .innerJoin(wanted(addresses), (join) =>
      join.on(({ eb, fn }) => eb(fn<string>('address_key', ['members.email']), '=', fn<string>('address_key', ['wanted.name']))),
    )
    .select(['wanted.name', 'members.id'])
    .orderBy('wanted.position')
    .forKeyShare('members')
    .execute()

/** Two names may be one row's. */
const idsOf = (found: Found[]): string[] => [...new Set(found.map(({ id }) => id))]

function findMissing(field: string, names: string[], found: Found[]): Issue[] {
  const existingNames = new Set(found.map(({ name }) => name))
  return [...new Set(names)].flatMap((value): Issue[] => (existingNames.has(value) ? [] : [{ field, rule: 'reference', value }]))
}
