import { isDeepStrictEqual } from 'node:util'
import type { Connection } from '../db/client.ts'
import { findDefinitionIssues, isCorrected, readDefinitionWithKey, writeVersion } from '../domain/assessments/define-question.ts'
import { findRubricIssues, maximumOf } from '../domain/assessments/rubric.ts'
import { canBeSimultaneous } from '../domain/assessments/simultaneous.ts'
import { type Context, enterOrganization, type ServiceContext } from '../domain/context.ts'
import type { Issue } from '../domain/errors.ts'
import { inBatches } from './batches.ts'
import type { ImportDocument, OrganizationEntry, QuestionEntry } from './format.ts'
import { rowsIn } from './match.ts'
import type { ImportPlan } from './plan-import.ts'
import type { ImportProblem } from './problems.ts'
import type { WrittenDefinition } from './rows.ts'

// Definitions of automatically scored questions. They are rows of their own, which questions refer to.

const questionsIn = (document: ImportDocument) =>
  rowsIn(document.organizations, 'organizations')
    .flatMap(({ path, row }) => rowsIn(row.assessments, `${path}.assessments`))
    .flatMap(({ path, row }) => rowsIn(row.questions, `${path}.questions`))

/** Validates the rubrics of a document. Points may be left out, because the rubric makes them. */
export const findRubricProblems = (document: ImportDocument): ImportProblem[] =>
  questionsIn(document).flatMap(({ path, row: { rubric, points } }) =>
    rubric
      ? findRubricIssues({ rubric, points: points ?? maximumOf(rubric) }).flatMap((issue) =>
          'text' in issue ? [{ path: `${path}.${issue.field}`, message: `is not valid: ${issue.text}` }] : [],
        )
      : [],
  )

/** Validates the definitions of a document. */
export const findDefinitionProblems = (service: ServiceContext, document: ImportDocument): ImportProblem[] =>
  questionsIn(document).flatMap(({ path, row: { responseType, definition } }) =>
    definition && responseType !== undefined
      ? findDefinitionIssues(service, { responseType, ...definition }).map((issue) => toProblem(path, issue))
      : [],
  )

/** Validates the questions of a document that are recorded while their prompt plays. */
export const findSimultaneousProblems = (document: ImportDocument): ImportProblem[] =>
  questionsIn(document).flatMap(({ path, row: { simultaneous, responseType = '', audioUrl = '', videoUrl = '' } }) =>
    simultaneous && !canBeSimultaneous({ responseType, audioUrl, videoUrl })
      ? [{ path: `${path}.simultaneous`, message: 'needs an answer by audio or video, and one prompt that the service stores' }]
      : [],
  )

function toProblem(path: string, issue: Issue): ImportProblem {
  if (issue.field === 'responseType') return { path: `${path}.responseType`, message: 'is none that can have a definition here' }
  const issueText =
    'text' in issue ? issue.text.slice(`${issue.field}: `.length) : 'must have no text that the database does not take'
  return { path: `${path}.definition.${issue.field}`, message: issueText }
}

const BATCH = 1_000

type WriteContext = { tx: Connection; organizationId: string; plan: ImportPlan; onKept: (questionId: string) => void }

/**
 * Writes the definitions of an organization's questions, unless they are unchanged. A definition with a corrected answer key is kept.
 *
 * @param context.onKept called for a kept definition that differs from the document's. @returns the result by question row.
 */
export async function writeDefinitions(
  service: ServiceContext,
  { tx, organizationId, plan, onKept }: WriteContext,
  organization: OrganizationEntry,
): Promise<Map<QuestionEntry, WrittenDefinition>> {
  const writtenDefinitions = new Map<QuestionEntry, WrittenDefinition>()
  const row = await tx.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const ctx = enterOrganization({ ...service, db: tx, actor: { kind: 'operator' } }, row)
  const questions = (organization.assessments ?? []).flatMap((assessment) => assessment.questions ?? [])
  for (const batch of inBatches(questions, BATCH)) {
    const ids = batch.map((entry) => plan.ids.get(entry)!)
    const existing = await tx.question.findMany({
      where: { organizationId, id: { in: ids } },
      select: { id: true, versionId: true, responseType: true },
    })
    const byId = new Map(existing.map((question) => [question.id, question]))
    for (const entry of batch) {
      const becomes = await writeOne(ctx, entry, byId.get(plan.ids.get(entry)!), onKept)
      if (becomes) writtenDefinitions.set(entry, becomes)
    }
  }
  return writtenDefinitions
}

type CurrentQuestion = { id: string; versionId: string | null; responseType: string }

/** @returns undefined if the question keeps its definition. */
async function writeOne(
  ctx: Context,
  { responseType, definition }: QuestionEntry,
  current: CurrentQuestion | undefined,
  onKept: WriteContext['onKept'],
): Promise<WrittenDefinition | undefined> {
  const versionId = current?.versionId ?? null
  if (!definition)
    return current && versionId && current.responseType !== responseType ? { versionId: null, isChanged: true } : undefined
  const wanted = { responseType, ...definition }
  if (!current || !versionId || !(await isCorrected(ctx, versionId))) return writeVersion(ctx, versionId, wanted)
  const stored = await readDefinitionWithKey(ctx, versionId)
  if (!isDeepStrictEqual(stored, wanted)) onKept(current.id)
  return { responseType: stored.responseType, isChanged: false }
}
