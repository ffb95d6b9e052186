import { violatedConstraint } from '../db/errors.ts'
import type { ServiceContext } from '../domain/context.ts'
import { expireAllDueInvites } from '../domain/invites/expire-due-invites.ts'
import { renameTestTags } from '../domain/tags/rename-test-tags.ts'
import { findDefinitionProblems, findRubricProblems, findSimultaneousProblems, writeDefinitions } from './definitions.ts'
import type { OrganizationEntry } from './format.ts'
import { wantInvite } from './invite-rows.ts'
import { wantApiKey } from './keys.ts'
import { codesOf } from './languages.ts'
import { KINDS, type Kind, rowsIn } from './match.ts'
import { type ImportPlan, planImport } from './plan-import.ts'
import { ImportError } from './problems.ts'
import type { ParsedDocument } from './read-document.ts'
import {
  type RowContext,
  wantAssessment,
  wantCategory,
  wantInstruction,
  wantLanguage,
  wantMember,
  wantOrganization,
  wantQuestion,
  wantTag,
  wantUser,
} from './rows.ts'
import { type OrganizationImport, type RowCounts, save, type WantedRow } from './save.ts'
import {
  deleteOldStructure,
  findStoredStructureProblems,
  findStructureProblems,
  type WrittenStructure,
  writeStructure,
} from './structure.ts'
import * as tables from './tables.ts'
import { longTransaction, withImportLock } from './transactions.ts'

export type GeneratedKey = { organization: string; name: string; key: string }
export type KeptKey = Omit<GeneratedKey, 'key'>
/** @property question id. */
export type KeptDefinition = { organization: string; question: string }
export type ImportSummary = {
  organizations: { id: string; name: string }[]
  counts: Record<Kind, RowCounts>
  /** Keys generated for entries without one. They are shown only here. */
  generatedKeys: GeneratedKey[]
  /** Existing keys that differ from the document. They are unchanged. */
  keptKeys: KeptKey[]
  /** Questions with a corrected answer key that differ from the document. Their definitions are unchanged. */
  keptDefinitions: KeptDefinition[]
}
export type ImportProgress = { organization: string; done: number; total: number }

export type ImportOptions = {
  /** True to overwrite status and timestamps of existing invites, which undoes what happened since. */
  overwriteProgress?: boolean
  onProgress?: (progress: ImportProgress) => void
  /** Called once if another import is running. This one waits for it. */
  onWait?: () => void
}

/** The database failed while writing an organization, which was rolled back. `summary` has those loaded before; the others were not tried. */
export class ImportInterrupted extends Error {
  readonly summary: ImportSummary
  constructor(message: string, summary: ImportSummary, options: ErrorOptions) {
    super(message, options)
    this.name = 'ImportInterrupted'
    this.summary = summary
  }
}

/**
 * Imports a document (import-format.md): validates all of it, then writes one organization per transaction. Importing it again changes nothing,
 * and undoes nothing that happened since. No mail is sent.
 *
 * @throws ImportError with all problems; nothing was written.
 * @throws ImportInterrupted if the database fails, or is changed concurrently.
 */
export const importDocument = (
  ctx: ServiceContext,
  reading: ParsedDocument,
  options: ImportOptions = {},
): Promise<ImportSummary> => withImportLock(ctx, options.onWait ?? (() => {}), () => checkAndLoad(ctx, reading, options))

async function checkAndLoad(
  ctx: ServiceContext,
  { document, problems }: ParsedDocument,
  options: ImportOptions,
): Promise<ImportSummary> {
  const checked = await longTransaction(ctx, (tx) => planImport(tx, ctx.deps.newId, document))
  const reportedPaths = new Set(problems.map(({ path }) => path))
  const invalid = [
    ...findDefinitionProblems(ctx, document),
    ...findRubricProblems(document),
    ...findSimultaneousProblems(document),
    ...findStructureProblems(ctx, document),
  ]
  const further = [...checked.problems, ...invalid]
  const allProblems = [...problems, ...further.filter(({ path }) => !reportedPaths.has(path))]
  if (allProblems.length > 0) throw new ImportError(allProblems)

  const summary: ImportSummary = { organizations: [], counts: noCounts(), generatedKeys: [], keptKeys: [], keptDefinitions: [] }
  const total = document.organizations.reduce((sum, organization) => sum + countRows(organization), 0)
  let importedRows = 0
  for (const [i, organization] of document.organizations.entries()) {
    const advance = (rows: number) => {
      importedRows += rows
      options.onProgress?.({ organization: organization.name, done: importedRows, total })
    }
    const part = await loadOrganization(ctx, checked.plan, organization, {
      ...options,
      advance,
      path: `organizations[${i}]`,
    }).catch((cause) => {
      throw cause instanceof ImportError && i === 0 ? cause : toInterruption(organization, summary, cause)
    })
    addSummary(summary, part)
  }
  return summary
}

async function loadOrganization(
  ctx: ServiceContext,
  plan: ImportPlan,
  organization: OrganizationEntry,
  {
    overwriteProgress = false,
    advance,
    path,
  }: Pick<ImportOptions, 'overwriteProgress'> & Pick<OrganizationImport, 'advance'> & { path: string },
): Promise<ImportSummary> {
  const counts = noCounts()
  const organizationId = plan.ids.get(organization)!
  const generatedKeys: GeneratedKey[] = []
  const keptKeys: KeptKey[] = []
  const keptDefinitions: KeptDefinition[] = []
  const onKept = (question: string) => void keptDefinitions.push({ organization: organization.name, question })
  const keys: OrganizationImport['keys'] = {
    onKey: (name, key) => void generatedKeys.push({ organization: organization.name, name, key }),
    onKeptKey: (name) => void keptKeys.push({ organization: organization.name, name }),
  }
  const run = { organizationId, now: ctx.deps.clock(), overwriteProgress, counts, keys, advance, listWrites: [] }
  // First expire due invites: otherwise this transaction could deadlock with lists and the sweep, which do the same.
  await expireAllDueInvites(ctx)
  await longTransaction(ctx, (tx) => writeOrganization(ctx, { ...run, tx, onKept, path }, plan, organization))
  return { organizations: [{ id: organizationId, name: organization.name }], counts, generatedKeys, keptKeys, keptDefinitions }
}

/** Writes tables in the order of their references. */
async function writeOrganization(
  ctx: ServiceContext,
  run: OrganizationImport & { onKept: (questionId: string) => void; path: string },
  plan: ImportPlan,
  organization: OrganizationEntry,
): Promise<void> {
  const { tx, organizationId, now, overwriteProgress, keys, onKept, path } = run
  const place = (entry: object): RowContext => ({ id: plan.ids.get(entry)!, organizationId, now })
  const wantRows = <E extends object, T>(
    entries: readonly E[] | undefined,
    want: (entry: E, place: RowContext) => WantedRow<T>,
  ) => (entries ?? []).map((entry) => want(entry, place(entry)))
  const languages = new Map([...plan.languages].map(([code, { id }]) => [code, id]))

  await save(run, tables.organizations, wantRows([organization], wantOrganization), 'organizations')
  await save(
    run,
    tables.languages,
    [...codesOf(organization)].map((code) => wantLanguage(plan.languages.get(code)!)),
    'languages',
  )
  await save(run, tables.categories, wantRows(organization.categories, wantCategory), 'categories')
  await save(run, tables.instructions, wantRows(organization.instructions, wantInstruction), 'instructions')

  const accounts = await save(
    run,
    tables.users,
    (organization.members ?? []).map((entry) => wantUser(entry, { id: plan.accounts.get(entry)!, now })),
  )
  const members = wantRows(organization.members, (entry, context) => {
    const userId = plan.accounts.get(entry)!
    return { ...wantMember(entry, context, userId, languages), isTouched: accounts.has(userId) }
  })
  await save(run, tables.members, members, 'members')
  await save(
    run,
    tables.apiKeys,
    wantRows(organization.apiKeys, (entry, context) => wantApiKey(entry, context, keys)),
    'apiKeys',
  )
  const tagNames = (organization.tags ?? []).map(({ name }) => name)
  await renameTestTags({ db: tx, deps: ctx.deps, organization: { id: organizationId } }, tagNames)
  await save(run, tables.tags, wantRows(organization.tags, wantTag), 'tags')
  await save(
    run,
    tables.assessments,
    wantRows(organization.assessments, (entry, context) => wantAssessment(entry, context, languages)),
    'assessments',
  )

  const definitions = await writeDefinitions(ctx, { tx, organizationId, plan, onKept }, organization)
  const structures = new Map<string, WrittenStructure>()
  const target = { tx, organizationId }
  for (const assessment of organization.assessments ?? []) {
    const assessmentId = plan.ids.get(assessment)!
    structures.set(assessmentId, await writeStructure({ ...target, newId: ctx.deps.newId, assessmentId }, assessment))
  }
  const questions = (organization.assessments ?? []).flatMap((assessment) => {
    const assessmentId = plan.ids.get(assessment)!
    const structurePlace = { assessmentId, structure: structures.get(assessmentId)! }
    return wantRows(assessment.questions, (entry, context) =>
      wantQuestion(entry, context, { ...structurePlace, definition: definitions.get(entry) }),
    )
  })
  await save(run, tables.questions, questions, 'questions')
  for (const [assessmentId, structure] of structures) await deleteOldStructure({ ...target, assessmentId }, structure)
  const assessments = rowsIn(organization.assessments, `${path}.assessments`)
  const problems = await findStoredStructureProblems(ctx, { ...target, ids: plan.ids }, assessments)
  if (problems.length > 0) throw new ImportError(problems)
  const invites = wantRows(organization.invites, (entry, context) => wantInvite(entry, context, { overwriteProgress }))
  await save(run, tables.invites, invites, 'invites')
  for (const write of run.listWrites) await write()
}

function toInterruption({ name }: OrganizationEntry, summary: ImportSummary, cause: unknown): ImportInterrupted {
  const constraint = violatedConstraint(cause)
  const meanwhile = constraint && `the database was changed by somebody else meanwhile (${constraint})`
  const message = `${name} could not be loaded, and nothing of it was written`
  return new ImportInterrupted(message, summary, { cause: meanwhile ? new Error(meanwhile, { cause }) : cause })
}

const noCounts = () =>
  Object.fromEntries(KINDS.map((kind) => [kind, { created: 0, updated: 0, unchanged: 0 }])) as ImportSummary['counts']

function addSummary(summary: ImportSummary, part: ImportSummary): void {
  summary.organizations.push(...part.organizations)
  summary.generatedKeys.push(...part.generatedKeys)
  summary.keptKeys.push(...part.keptKeys)
  summary.keptDefinitions.push(...part.keptDefinitions)
  for (const kind of KINDS) {
    for (const count of ['created', 'updated', 'unchanged'] as const) summary.counts[kind][count] += part.counts[kind][count]
  }
}

/** Number of rows that `save` will count. */
function countRows(organization: OrganizationEntry): number {
  const { categories, instructions, apiKeys, tags, members, assessments, invites } = organization
  const lists = [categories, instructions, apiKeys, tags, members, assessments, invites]
  const questions = (assessments ?? []).map((assessment) => assessment.questions)
  return 1 + codesOf(organization).size + [...lists, ...questions].reduce((sum, list) => sum + (list?.length ?? 0), 0)
}
