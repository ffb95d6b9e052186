export type AlternateSettings = {
  /** Path prefix of the interface. */
  prefix: string
  /** Days until an invite of this interface expires, because its body has no field for that. */
  expiresInDays: number
  /** True if assigned_grader must not be null. */
  graderRequired: boolean
}
