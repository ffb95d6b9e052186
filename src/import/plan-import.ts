import type { Connection } from '../db/client.ts'
import { caseKey } from '../domain/text/fold-text.ts'
import { matchAccounts } from './accounts.ts'
import type { ImportDocument, OrganizationEntry } from './format.ts'
import { checkApiKeys } from './keys.ts'
import { type ImportedLanguage, matchLanguages } from './languages.ts'
import { createCheck, type FoundRow, type ImportCheck, keyWithin, matchRows, rowsIn } from './match.ts'
import type { ImportProblem } from './problems.ts'
import { checkPoints, checkReferences, checkRubricPoints } from './references.ts'

/** Matches between the document and the database. */
export type ImportPlan = {
  /** Ids by row of the document. */
  ids: Map<object, string>
  /** Account ids by member row. */
  accounts: Map<object, string>
  languages: Map<string, ImportedLanguage>
}

/** Checks a document against the database without writing. The plan is only valid if there are no problems. */
export async function planImport(
  db: Connection,
  newId: () => string,
  document: ImportDocument,
): Promise<{ plan: ImportPlan; problems: ImportProblem[] }> {
  const { check, problems } = createCheck(db, newId)
  const organizations = rowsIn(document.organizations, 'organizations')
  await matchRows(
    check,
    'organizations',
    null,
    organizations.map((found) => ({ ...found, key: found.row.name && caseKey(found.row.name) })),
  )
  const languages = await matchLanguages(check, document)
  for (const organization of organizations) await checkOrganization(check, organization)
  await checkApiKeys(check, document)
  const accounts = await matchAccounts(check, document)
  return { plan: { ids: check.ids, accounts, languages }, problems: problems() }
}

async function checkOrganization(check: ImportCheck, organization: FoundRow<OrganizationEntry>): Promise<void> {
  const { path, row } = organization
  const id = check.ids.get(row)!
  const find = <T extends object>(list: readonly T[] | undefined, name: string, keyOf: (row: Partial<T>) => string | undefined) =>
    rowsIn(list, `${path}.${name}`).map((found) => ({ ...found, key: keyOf(found.row) }))
  const name = (named: { name?: string }) => named.name

  const match = matchRows
  await match(check, 'apiKeys', id, find(row.apiKeys, 'apiKeys', name))
  const knownIds = {
    categories: await match(check, 'categories', id, find(row.categories, 'categories', name)),
    instructions: await match(
      check,
      'instructions',
      id,
      find(row.instructions, 'instructions', ({ title = '', body }) => (body === undefined ? undefined : `${title}\n${body}`)),
    ),
    members: await match(
      check,
      'members',
      id,
      find(row.members, 'members', ({ email }) => email?.toLowerCase()),
    ),
    tags: await match(
      check,
      'tags',
      id,
      find(row.tags, 'tags', (tag) => tag.name && caseKey(tag.name)),
    ),
    assessments: await match(check, 'assessments', id, find(row.assessments, 'assessments', name)),
  }
  const questions = rowsIn(row.assessments, `${path}.assessments`).flatMap((assessment) =>
    rowsIn(assessment.row.questions, `${assessment.path}.questions`).map((question) => ({
      ...question,
      key: keyWithin(check.ids.get(assessment.row), question.row.order),
    })),
  )
  await match(check, 'questions', id, questions)
  await match(
    check,
    'invites',
    id,
    find(row.invites, 'invites', ({ assessmentId, recipientEmail }) => keyWithin(assessmentId, recipientEmail?.toLowerCase())),
  )
  checkReferences(check, organization, knownIds)
  checkPoints(check, organization)
  await checkRubricPoints(check, organization)
}
