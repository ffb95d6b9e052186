import { builder } from './builder.ts'

/** Statements over the rows of all organizations. Who may import it is listed in .ci/dependency-rules.mjs. */
export const everyones = builder
