/** A name of the domain in snake_case. */
export type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name

/** Names of this interface that are not the domain's names in snake_case. */
const names: Record<string, string> = {
  recipientEmail: 'email',
  questionReplayLimit: 'question_play_limit',
  answerRecordLimit: 'answer_record_limit',
  assessmentId: 'assessment',
  assignedGraderId: 'assigned_grader',
  tagIds: 'tags',
}

/** Converts a field of an error to this interface's name. Headers and names in snake_case stay unchanged. */
export const fieldName = (field: string): string =>
  Object.hasOwn(names, field) ? names[field]! : field.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
