export type AlternateSettings = {
  /** Path under which the interface stands. */
  prefix: string
  /** Days until an invite made here expires: its body has no field for that. */
  expiresInDays: number
  /** True if assigned_grader must not be null. */
  graderRequired: boolean
}
