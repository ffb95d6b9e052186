/** Places outside the database that show a column. */
export type FieldPlace = 'v1' | 'alternate' | 'csv' | 'archive'

/**
 * Policy of one column. `invites/invite-fields.ts`, `members/member-fields.ts`, `assessments/assessment-fields.ts`, and
 * `assessments/question-fields.ts` decide it for every column, so that a new column doesn't compile before somebody has decided.
 * test/domain/field-policies.test.ts compares them with what the places show.
 */
export type FieldPolicy = {
  shownIn: readonly FieldPlace[]
  /** True if a copy has the same value: a retake of an invite, a copy of an assessment or question. */
  isCopied: boolean
}

export const showIn = (...shownIn: FieldPlace[]): FieldPolicy => ({ shownIn, isCopied: false })
export const showAndCopyIn = (...shownIn: FieldPlace[]): FieldPolicy => ({ shownIn, isCopied: true })

/** Names of the columns that a copy has, too. */
export const copiedFields = <Field extends string>(policies: Record<Field, FieldPolicy>): Field[] =>
  (Object.keys(policies) as Field[]).filter((field) => policies[field].isCopied)
