import type { ImportDocument, LanguageEntry, OrganizationEntry } from './format.ts'
import { type Check, type Found, matchRows, rowsIn } from './match.ts'

/** A language as it will be; without a name it keeps the one it has. */
export type Language = { id: string; code: string; name?: string }

type Merged = { path: string; row: { id?: string; code: string; name?: string } }

/**
 * Puts together what the organizations say of the languages, which they share, and adds the codes that they only use.
 * Reports what contradicts.
 */
export async function matchLanguages(check: Check, { organizations }: ImportDocument): Promise<Map<string, Language>> {
  const merged = new Map<string, Merged>()
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
  await matchRows(
    check,
    'languages',
    null,
    [...merged].map(([key, { path, row }]) => ({ path, row, key })),
  )
  return new Map([...merged].map(([code, { row }]) => [code, { ...row, id: check.ids.get(row)! }]))
}

/** The codes of an organization's languages, declared or used. */
export const codesOf = (organization: OrganizationEntry): Set<string> =>
  new Set([...(organization.languages ?? []).map(({ code }) => code), ...usedCodes(organization, '').map(({ code }) => code)])

function mergeLanguage(check: Check, merged: Map<string, Merged>, { path, row }: Found<LanguageEntry>, code: string): void {
  const earlier = merged.get(code)
  if (!earlier) {
    merged.set(code, { path, row: { ...row, code } })
    return
  }
  for (const field of ['id', 'name'] as const) {
    const value = row[field]
    if (value === undefined) continue
    earlier.row[field] ??= value
    if (earlier.row[field] !== value)
      check.report(`${path}.${field}`, `contradicts ${earlier.path}, which is of the same language`)
  }
}

function usedCodes(organization: OrganizationEntry | undefined, path: string): { path: string; code: string }[] {
  const codes = (list: readonly (string | null | undefined)[] | undefined, at: string) =>
    (list ?? []).flatMap((code) => (code ? [{ path: at, code }] : []))
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
