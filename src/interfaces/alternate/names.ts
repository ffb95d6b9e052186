/** The names this interface has for the domain's fields that an error can be about. */
const names: Record<string, string> = {
  recipientEmail: 'email',
  questionReplayLimit: 'question_play_limit',
  answerRecordLimit: 'answer_record_limit',
  assessmentId: 'assessment',
  assignedGraderId: 'assigned_grader',
  tagIds: 'tags',
}

export const fieldName = (domainField: string): string => names[domainField] ?? domainField
