/** What an operator sets of this interface. */
export type AlternateSettings = {
  /** Path under which the interface stands. */
  prefix: string
  /** Days until an invite made here expires: its body has no field for that. */
  expiresInDays: number
  /** Whether assigned_grader may not be null. */
  graderRequired: boolean
}
