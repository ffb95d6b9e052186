import { sql } from '../db/builder.ts'
import { anyOfIds } from '../db/queries.ts'
import { unscoped } from '../db/unscoped.ts'
import type { ImportDocument, LanguageEntry, OrganizationEntry } from './format.ts'
import { type FoundRow, type ImportCheck, rowsIn } from './match.ts'

/** @property name undefined: unchanged. */
export type ImportedLanguage = { id: string; code: string; name?: string }

type MergedLanguage = { path: string; row: { id?: string; code: string; name?: string } }

/**
 * Merges the languages of all organizations, which share them, and adds codes that are used without being declared. The code identifies a
 * language; the document's id only applies to new ones. Reports contradictions.
 */
export async function matchLanguages(
  check: ImportCheck,
  { organizations }: ImportDocument,
): Promise<Map<string, ImportedLanguage>> {
  const merged = new Map<string, MergedLanguage>()
  for (const { path, row } of rowsIn(organizations, 'organizations')) {
    const declared = new Map<string, string>()
    for (const language of rowsIn(row.languages, `${path}.languages`)) {
      const { code } = language.row
      if (code === undefined) continue
      const twin = declared.get(code)
      if (twin !== undefined) check.report(`${language.path}.code`, `is taken by ${twin}`)
      else mergeLanguage(check, merged, language, code)
      declared.set(code, language.path)
    }
  }
  for (const { path, code } of organizations.flatMap((organization, index) =>
    usedCodes(organization, `organizations[${index}]`),
  )) {
    if (!merged.has(code)) merged.set(code, { path, row: { code } })
  }
  return assignIds(check, [...merged.values()])
}

async function assignIds(check: ImportCheck, merged: MergedLanguage[]): Promise<Map<string, ImportedLanguage>> {
  const codes = merged.map(({ row }) => row.code)
  const ids = merged.flatMap(({ row }) => row.id ?? [])
  const existing = await unscoped(check.db)
    .selectFrom('languages')
    .select(['id', 'code'])
    .where(({ eb, or }) => or([eb('code', '=', sql<string>`any(${codes}::text[])`), eb('id', '=', anyOfIds(ids))]))
    .execute()
  const idByCode = new Map(existing.map(({ id, code }) => [code, id]))
  const codeById = new Map(existing.map(({ id, code }) => [id, code]))
  const languages = new Map<string, ImportedLanguage>()
  for (const { path, row } of merged) {
    const id = idByCode.get(row.code) ?? row.id ?? check.newId()
    const holder = codeById.get(id) ?? row.code
    if (holder !== row.code) check.report(`${path}.id`, `is the id of the language ${holder}`)
    codeById.set(id, row.code)
    languages.set(row.code, { ...row, id })
  }
  return languages
}

/** Codes of an organization's languages, declared or used. */
export const codesOf = (organization: OrganizationEntry): Set<string> =>
  new Set([...(organization.languages ?? []).map(({ code }) => code), ...usedCodes(organization, '').map(({ code }) => code)])

function mergeLanguage(
  check: ImportCheck,
  merged: Map<string, MergedLanguage>,
  { path, row }: FoundRow<LanguageEntry>,
  code: string,
): void {
  const earlier = merged.get(code)
  if (earlier?.row.name !== undefined && row.name !== undefined && earlier.row.name !== row.name)
    check.report(`${path}.name`, `contradicts ${earlier.path}, which is of the same language`)
  merged.set(code, { path: earlier?.path ?? path, row: { ...row, ...earlier?.row, code } })
}

function usedCodes(organization: OrganizationEntry | undefined, path: string): { path: string; code: string }[] {
  const codes = (list: readonly (string | null | undefined)[] | undefined, codesPath: string) =>
    (list ?? []).flatMap((code) => (code ? [{ path: codesPath, code }] : []))
  return [
    ...rowsIn(organization?.members, `${path}.members`).flatMap((member) =>
      codes(member.row.gradingLanguages, `${member.path}.gradingLanguages`),
    ),
    ...rowsIn(organization?.assessments, `${path}.assessments`).flatMap((assessment) => [
      ...codes(assessment.row.languages, `${assessment.path}.languages`),
      ...rowsIn(assessment.row.questions, `${assessment.path}.questions`).flatMap((question) =>
        codes([question.row.sourceLanguage, question.row.targetLanguage], question.path),
      ),
    ]),
  ]
}
