import { sql } from '../../db/builder.ts'
import type { Expression, RawBuilder } from '../../db/queries.ts'

export const FORMER_MEMBER = 'a former member'
export const FORMER_GRADER = 'a former grader'
/** Takes the place of their name and address in what others have saved. */
export const ERASED_MEMBER = 'an erased member'

/** A member's address, or the placeholder for an erased member. */
export const addressOrFormer = (
  { email, erasedAt }: { email: Expression<unknown>; erasedAt: Expression<unknown> },
  former: string,
): RawBuilder<string> => sql`case when ${erasedAt} is null then ${email} else ${former} end`
