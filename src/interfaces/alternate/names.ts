/** The names this interface has for the domain's fields that an error can be about. */
const names: Record<string, string> = {
  assessmentId: 'assessment',
  assignedGraderId: 'assigned_grader',
  tagIds: 'tags',
}

export const fieldName = (domainField: string): string => names[domainField] ?? domainField
