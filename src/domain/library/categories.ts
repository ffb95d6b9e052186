import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { checkName, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Maximum depth of a category. */
export const MAX_CATEGORY_DEPTH = 5
/** Bytes of a path: an index takes no more than 2,704. */
export const MAX_PATH_BYTES = 2_000
/** Categories in a list of choices. */
const MAX_LISTED = 500

export type LibraryCategory = { id: string; path: string }

/** Normalizes a category path, such as `Maths / Algebra`. Empty: no category. */
export const tidyPath = (path: string): string =>
  path
    .split('/')
    .map((name) => name.trim().replace(/\s+/g, ' '))
    .filter((name) => name !== '')
    .join(' / ')

/** In the order of their paths; the first 500. */
export const listCategories = ({ db, organization }: Context): Promise<LibraryCategory[]> =>
  db.libraryCategory.findMany({
    where: { organizationId: organization.id },
    select: { id: true, path: true },
    orderBy: { path: 'asc' },
    take: MAX_LISTED,
  })

/** Ids of a category and its descendants. */
export async function findCategoryAndBelow({ db, organization }: Context, id: string): Promise<string[]> {
  const scope = { organizationId: organization.id }
  const category = await db.libraryCategory.findFirst({ where: { ...scope, id }, select: { path: true } })
  if (!category) return []
  const descendants = await db.libraryCategory.findMany({
    where: { ...scope, path: { startsWith: `${category.path} / ` } },
    select: { id: true },
  })
  return [id, ...descendants.map((descendant) => descendant.id)]
}

/** Issues of a path, at `category`: a name that is too long, a tree that is too deep, or a path that is too long. */
export function findCategoryIssues(path: string): Issue[] {
  const tidied = tidyPath(path)
  if (tidied === '') return []
  const names = tidied.split(' / ')
  if (names.length > MAX_CATEGORY_DEPTH) return findIssues([['category', { rule: 'maxItems', limit: MAX_CATEGORY_DEPTH }]])
  const wrong = names.map((name) => checkName(name, MAX_NAME_LENGTH)).find((violation) => violation)
  const isLong = Buffer.byteLength(tidied) > MAX_PATH_BYTES
  return findIssues([['category', wrong ?? (isLong ? { rule: 'malformed', text: TOO_LONG } : undefined)]])
}

const TOO_LONG = 'The category is too long together with those above it. Use shorter names.'

/**
 * Finds or creates the category with a path.
 *
 * @param path names separated by slashes; empty: no category. @throws DomainError invalid, as findCategoryIssues.
 */
export async function resolveCategory({ db, deps, organization }: Context, path: string): Promise<string | null> {
  const tidied = tidyPath(path)
  if (tidied === '') return null
  throwIfIssues(findCategoryIssues(tidied))
  const found = await db.selectFrom('libraryCategories').where('path', '=', tidied).select('id').executeTakeFirst()
  if (found) return found.id
  const key = { organizationId: organization.id, path: tidied }
  const { id } = await db.libraryCategory.upsert({
    where: { organizationId_path: key },
    create: { ...key, id: deps.newId() },
    update: {},
  })
  return id
}
