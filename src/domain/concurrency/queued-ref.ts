import { anyOf } from '../../db/query.ts'

/** Row that a job is about. */
export type QueuedRef = { id: string; organizationId: string }

/** Filter of the rows of several jobs. */
export const rowsOf = (refs: QueuedRef[]) => ({
  id: anyOf(refs.map(({ id }) => id)),
  organizationId: anyOf([...new Set(refs.map(({ organizationId }) => organizationId))]),
})
